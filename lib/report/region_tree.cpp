// Builds a tree from the list of regions, sorts siblings, and chooses which nodes are shown.
#include "region_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "../profile/unmarked.hpp"
#include "../support/text.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::size_t root = 0;

struct node {
  std::string name;
  std::size_t parent = root;
  std::size_t depth = 0;
  std::vector<const region*> rows;
  std::map<std::string, std::size_t> below;
  double time_ns = 0;
  double key = 0;  // of the order in which rows are shown
  bool is_shown = true;

  bool has_ended() const {
    return std::any_of(rows.begin(), rows.end(), [](const region* row) { return row->count != 0; });
  }
  std::size_t lines() const { return std::max<std::size_t>(rows.size(), 1); }
};

double find_key(const node& node, region_order order) {
  double key = 0;
  for (const region* const row : node.rows) {
    const auto count = static_cast<double>(row->count);
    switch (order) {
      case region_order::self: key += static_cast<double>(row->self_ns); break;
      case region_order::calls: key += count; break;
      case region_order::mean:
        if (row->count != 0) key = std::max(key, static_cast<double>(row->total_ns) / count);
        break;
      case region_order::p99: key = std::max(key, static_cast<double>(row->quantile_ns(0.99).value_or(0))); break;
      default: return node.time_ns;
    }
  }
  return order == region_order::time || order == region_order::name ? node.time_ns : key;
}

class tree {
 public:
  tree(const profile& profile, const table_options& how) : of_(profile), how_(how), nodes_(1) {
    for (const region& row : profile.regions) {
      std::size_t at = root;
      for (const std::string& name : row.path) at = child(at, name);
      if (at != root) nodes_[at].rows.push_back(&row);
    }
    sum_up();
    cut();
  }

  // With a stack of its own: a path may be 4097 deep, and the thread's stack small.
  shown_regions shown() const {
    shown_regions made;
    std::vector<std::size_t> stack = below(root);
    while (!stack.empty()) {
      const node& current = nodes_[stack.back()];
      const std::vector<std::size_t> nested = below(stack.back());
      stack.pop_back();
      if (current.is_shown) {
        made.nodes.push_back({current.name, current.depth, current.rows});
      } else {
        made.left_out += current.lines();
        for (const region* const row : current.rows)
          if (is_host_time(row->kind)) made.left_out_ns += row->self_ns;
      }
      stack.insert(stack.end(), nested.begin(), nested.end());
    }
    return made;
  }

 private:
  std::size_t child(std::size_t parent, const std::string& name) {
    const auto [found, is_new] = nodes_[parent].below.try_emplace(name, nodes_.size());
    const std::size_t at = found->second;
    if (!is_new) return at;
    const std::size_t depth = parent == root ? 0 : nodes_[parent].depth + 1;
    nodes_.emplace_back();
    nodes_.back().name = name;
    nodes_.back().parent = parent;
    nodes_.back().depth = depth;
    return at;
  }

  // Children stand behind their parents. A region that has not ended counts with the time of what is nested in it.
  void sum_up() {
    for (std::size_t at = nodes_.size(); at-- != 1;) {
      node& current = nodes_[at];
      for (const region* const row : current.rows) current.time_ns += static_cast<double>(row->total_ns);
      for (const auto& [name, nested] : current.below) {
        if (current.has_ended()) break;
        current.time_ns += nodes_[nested].time_ns;
        current.key = std::max(current.key, nodes_[nested].key);
      }
      current.key = std::max(current.key, find_key(current, how_.sort));
    }
  }

  // The last of them is shown first.
  std::vector<std::size_t> below(std::size_t parent) const {
    std::vector<std::size_t> all;
    all.reserve(nodes_[parent].below.size());
    for (const auto& [name, nested] : nodes_[parent].below) all.push_back(nested);
    if (how_.sort != region_order::name)
      std::stable_sort(all.begin(), all.end(),
                       [this](std::size_t a, std::size_t b) { return nodes_[a].key > nodes_[b].key; });
    std::reverse(all.begin(), all.end());
    return all;
  }

  void cut() {
    const double least_ns = how_.least_share * static_cast<double>(compute_wall_ns(of_));
    const std::size_t deepest = how_.depth.value_or(table_options::usual_depth);
    std::size_t lines = 0;
    for (std::size_t at = 1; at != nodes_.size(); ++at)
      nodes_[at].is_shown = (deepest == 0 || nodes_[at].depth < deepest) && nodes_[at].time_ns >= least_ns;
    for (std::size_t at = nodes_.size(); at-- != 1;) {  // with what it is nested in
      if (!nodes_[at].is_shown) continue;
      nodes_[nodes_[at].parent].is_shown = true;
      lines += nodes_[at].lines();
    }
    if (rows() != 0 && lines > rows()) keep_greatest();
  }

  std::size_t rows() const { return how_.rows.value_or(table_options::usual_rows); }

  void keep_greatest() {
    std::vector<std::size_t> all;
    for (std::size_t at = 1; at != nodes_.size(); ++at)
      if (nodes_[at].is_shown) all.push_back(at);
    std::stable_sort(all.begin(), all.end(),
                     [this](std::size_t a, std::size_t b) { return nodes_[a].key > nodes_[b].key; });
    for (const std::size_t at : all) nodes_[at].is_shown = false;
    std::size_t lines = 0;
    for (const std::size_t at : all) {
      if (lines >= rows()) break;
      lines += nodes_[at].lines();
      for (std::size_t around = at; around != root && !nodes_[around].is_shown; around = nodes_[around].parent)
        nodes_[around].is_shown = true;
    }
  }

  const profile& of_;
  const table_options& how_;
  std::vector<node> nodes_;
};

// "4,051"
std::string grouped(std::size_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

}  // namespace

shown_regions regions_to_show(const profile& profile, const table_options& how) { return tree(profile, how).shown(); }

std::string left_out_text(const profile& profile, const shown_regions& shown) {
  if (shown.left_out == 0) return {};
  const std::uint64_t wall_ns = compute_wall_ns(profile);
  const std::string share =
      wall_ns != 0 ? fmt::format(", {} of the run",
                                 percent(static_cast<double>(shown.left_out_ns) / static_cast<double>(wall_ns)))
                   : "";
  return fmt::format("… {} more row{}{} (`adaptyst report --top 0 --depth 0` has all)", grouped(shown.left_out),
                     shown.left_out == 1 ? "" : "s", share);
}

}  // namespace adaptyst::lib
