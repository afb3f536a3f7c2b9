// A recursive parser; limits bound its depth and the cost of the search.
#include "region_graph.hpp"

#include <fmt/format.h>

#include <adaptyst/detail/error.hpp>
#include <algorithm>
#include <iterator>

namespace adaptyst::lib {

namespace {

constexpr std::size_t max_bytes = std::size_t{1} << 16U, max_regions = 256, max_levels = 16, max_branches = 8;

class chain_parser {
 public:
  explicit chain_parser(const std::string& text) : text_(text) {}

  region_graph parse() {
    std::vector<std::size_t> branches = parse_branches(0);
    if (at_ != text_.size()) refuse("a parenthesis closes that was not opened", "remove it, or open it");
    made_.root = branches.front();
    if (branches.size() > 1) {
      made_.root = made_.series.size();
      made_.series.push_back({{0, std::move(branches)}});
      made_.has_branches = true;
    }
    for (const std::vector<region_graph::part>& parts : made_.series)
      for (std::size_t at = 1; at < parts.size(); ++at)
        if (!parts[at - 1].branches.empty() && !parts[at].branches.empty())
          throw error("the chain has two blocks of branches without a region between them", "chain", 0,
                      "name the region that joins the first branches");
    return std::move(made_);
  }

 private:
  [[noreturn]] void refuse(const std::string& what, const std::string& hint) const {
    throw error(fmt::format("the chain is not readable at character {}: {}", at_ + 1, what), "chain", 0, hint);
  }

  void skip_spaces() {
    while (at_ != text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char wanted) {
    skip_spaces();
    if (at_ == text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  std::vector<std::size_t> parse_branches(std::size_t level) {
    std::vector<std::size_t> made;
    do {
      if (made.size() == max_branches)
        refuse(fmt::format("more than {} branches in a block", max_branches), "join some branches in one region");
      made.push_back(parse_series(level));
    } while (take('|'));
    return made;
  }

  std::size_t parse_series(std::size_t level) {
    std::vector<region_graph::part> parts;
    do parse_part(parts, level);
    while (take(','));
    made_.series.push_back(std::move(parts));
    return made_.series.size() - 1;
  }

  void parse_part(std::vector<region_graph::part>& parts, std::size_t level) {
    skip_spaces();
    if (!is_group()) {
      parts.push_back({parse_name(), {}});
      return;
    }
    if (level == max_levels) refuse(fmt::format("more than {} levels of parentheses", max_levels), "nest fewer");
    ++at_;
    std::vector<std::size_t> branches = parse_branches(level + 1);
    if (!take(')')) refuse("a ')' is missing", "close each parenthesis");
    if (branches.size() == 1) {
      std::vector<region_graph::part>& inner = made_.series[branches.front()];
      std::move(inner.begin(), inner.end(), std::back_inserter(parts));
      inner.clear();
    } else {
      parts.push_back({0, std::move(branches)});
      made_.has_branches = true;
    }
  }

  // Whether a '(' groups: the text after its ')' is not a part of a name, as in "(anonymous namespace)::f".
  bool is_group() const {
    if (at_ == text_.size() || text_[at_] != '(') return false;
    std::size_t open = 0, end = at_;
    for (; end != text_.size(); ++end) {
      if (text_[end] == '(') ++open;
      else if (text_[end] == ')' && --open == 0) break;
    }
    if (end == text_.size()) refuse("a ')' is missing", "close each parenthesis");
    const std::size_t next = text_.find_first_not_of(' ', end + 1);
    return next == std::string::npos || text_[next] == ',' || text_[next] == '|' || text_[next] == ')';
  }

  std::size_t parse_name() {
    const std::size_t begin = at_;
    std::size_t open = 0;
    for (; at_ != text_.size(); ++at_) {
      const char c = text_[at_];
      if (open == 0 && (c == ',' || c == '|' || c == ')')) break;
      if (c == '(') ++open;
      if (c == ')') --open;
    }
    std::string name = text_.substr(begin, at_ - begin);
    name.erase(name.find_last_not_of(' ') + 1);
    if (open != 0) refuse("a ')' is missing in a name", "close each parenthesis");
    if (name.empty()) refuse("a region has no name", "write it as in load,(fft|filter,scale),reduce");
    if (made_.names.size() == max_regions) refuse(fmt::format("more than {} regions", max_regions), "name fewer");
    made_.names.push_back(std::move(name));
    return made_.names.size() - 1;
  }

  const std::string& text_;
  std::size_t at_ = 0;
  region_graph made_;
};

bool needs_parser(const std::string& element) {
  return element.find('|') != std::string::npos || (!element.empty() && element.front() == '(');
}

}  // namespace

region_graph parse_chain(const std::vector<std::string>& elements) {
  std::size_t bytes = 0;
  for (const std::string& element : elements) bytes += element.size() + 1;
  if (bytes > max_bytes || elements.size() > max_bytes)
    throw error(fmt::format("the chain has more than {} bytes", max_bytes), "chain", 0, "name fewer regions");
  region_graph made;
  if (std::any_of(elements.begin(), elements.end(), needs_parser)) {
    const std::string text = fmt::format("{}", fmt::join(elements, ","));
    return chain_parser(text).parse();
  }
  if (elements.size() > max_regions)
    throw error(fmt::format("the chain has more than {} regions", max_regions), "chain", 0, "name fewer regions");
  made.names = elements;
  made.series.emplace_back();
  for (std::size_t region = 0; region != elements.size(); ++region) made.series.front().push_back({region, {}});
  return made;
}

}  // namespace adaptyst::lib
