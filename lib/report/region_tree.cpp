// Builds a tree from the list of regions, sorts siblings, and chooses the shown nodes.
#include "region_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "../model/memory_spaces.hpp"
#include "../model/unmarked.hpp"
#include "../support/text.hpp"
#include "parts.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::size_t root = 0;

struct node {
  std::string name;
  std::size_t parent = root;
  std::size_t depth = 0;
  const region* row = nullptr;
  std::vector<std::size_t> below;
  double time_ns = 0;
  double key = 0;  // for the order of rows
  bool is_shown = true;

  bool has_ended() const { return row != nullptr && row->count != 0; }
};

double find_key(const node& node, region_order order) {
  if (node.row == nullptr) return order == region_order::time || order == region_order::name ? node.time_ns : 0;
  const region& row = *node.row;
  switch (order) {
    case region_order::self: return static_cast<double>(row.self_ns);
    case region_order::calls: return static_cast<double>(row.count);
    case region_order::mean:
      return row.count != 0 ? static_cast<double>(row.total_ns) / static_cast<double>(row.count) : 0;
    case region_order::p99: return static_cast<double>(row.quantile_ns(0.99).value_or(0));
    default: return node.time_ns;
  }
}

// A row is listed below the row with the id of its parent, because siblings may have the same name. A parent that is
// not in the profile, because it has not ended, has a node without a row.
class tree {
 public:
  tree(const profile& profile, const table_options& how) : of_(profile), how_(how), nodes_(1) {
    const std::vector<memory_space> spaces = list_memory_spaces(profile);  // they have a line
    for (const region& row : profile.regions)
      if (!row.path.empty() && !is_metric_of(spaces, row)) add(row);
    name_places();
    sum_up();
    cut();
  }

  // Without recursion: a path may be 4097 deep, and the thread's stack small.
  shown_regions shown() const {
    shown_regions made;
    std::vector<std::size_t> stack = below(root);
    while (!stack.empty()) {
      const node& current = nodes_[stack.back()];
      const std::vector<std::size_t> nested = below(stack.back());
      stack.pop_back();
      if (current.is_shown) {
        made.nodes.push_back({current.name, current.depth, current.row});
      } else {
        ++made.left_out;
        if (current.row != nullptr && is_host_time(current.row->kind)) made.left_out_ns += current.row->self_ns;
      }
      stack.insert(stack.end(), nested.begin(), nested.end());
    }
    return made;
  }

 private:
  std::size_t make_node(std::size_t parent, const std::string& name) {
    const std::size_t made = nodes_.size();
    const std::size_t depth = parent == root ? 0 : nodes_[parent].depth + 1;
    nodes_.push_back({name, parent, depth, nullptr, {}});
    nodes_[parent].below.push_back(made);
    by_name_.try_emplace({parent, name}, made);
    return made;
  }

  // The node of this id below `parent`: found by its id, or made for its name before its id was read. 0: there is none.
  std::size_t find_node(std::size_t parent, const std::string& name, std::uint64_t id) {
    if (const auto entry = by_id_.find(id); entry != by_id_.end() && id != 0) return entry->second;
    const auto open = open_by_name_.find({parent, name});
    const std::size_t found = open != open_by_name_.end() ? open->second : make_node(parent, name);
    if (open != open_by_name_.end()) open_by_name_.erase(open);
    if (id != 0) by_id_.emplace(id, found);
    return found;
  }

  std::size_t find_parent(const region& row) {
    if (const auto entry = by_id_.find(row.parent); entry != by_id_.end() && row.parent != 0) return entry->second;
    std::size_t at = root;
    for (std::size_t level = 0; level + 1 < row.path.size(); ++level) {
      const bool is_last = level + 2 == row.path.size();
      if (is_last && row.parent != 0) return find_node(at, row.path[level], row.parent);
      const auto entry = by_name_.find({at, row.path[level]});
      if (entry != by_name_.end()) {
        at = entry->second;
        continue;
      }
      const std::size_t made = make_node(at, row.path[level]);
      open_by_name_[{at, row.path[level]}] = made;
      at = made;
    }
    return at;
  }

  void add(const region& row) {
    const std::size_t parent = find_parent(row);
    std::size_t at = find_node(parent, row.path.back(), row.id);
    if (nodes_[at].row != nullptr) at = make_node(nodes_[at].parent, row.path.back());  // another device's
    nodes_[at].row = &row;
  }

  void name_places() {
    const std::vector<std::string> places = list_places(of_);
    for (node& node : nodes_)
      if (node.row != nullptr)
        if (const std::string& place = places[static_cast<std::size_t>(node.row - of_.regions.data())]; !place.empty())
          node.name += fmt::format(" ({})", place);
  }

  // Children come after their parents. An open region counts with the time of its nested regions.
  void sum_up() {
    for (std::size_t at = nodes_.size(); at-- != 1;) {
      node& current = nodes_[at];
      if (current.row != nullptr) current.time_ns = static_cast<double>(current.row->total_ns);
      if (!current.has_ended())
        for (const std::size_t nested : current.below) {
          current.time_ns += nodes_[nested].time_ns;
          current.key = std::max(current.key, nodes_[nested].key);
        }
      current.key = std::max(current.key, find_key(current, how_.sort));
    }
  }

  // The children of a node in reverse order, for a stack: the last is shown first.
  std::vector<std::size_t> below(std::size_t parent) const {
    std::vector<std::size_t> all = nodes_[parent].below;
    std::stable_sort(all.begin(), all.end(), [this](std::size_t a, std::size_t b) {
      const node &left = nodes_[a], &right = nodes_[b];
      if (how_.sort != region_order::name && left.key != right.key) return left.key > right.key;
      return left.name < right.name;
    });
    std::reverse(all.begin(), all.end());
    return all;
  }

  void cut() {
    const double least_ns = how_.least_share * static_cast<double>(compute_wall_ns(of_));
    const std::size_t deepest = how_.depth.value_or(how_.verbose ? 0 : table_options::usual_depth);
    std::size_t lines = 0;
    for (std::size_t at = 1; at != nodes_.size(); ++at)
      nodes_[at].is_shown = (deepest == 0 || nodes_[at].depth < deepest) && nodes_[at].time_ns >= least_ns;
    for (std::size_t at = nodes_.size(); at-- != 1;) {  // with its parents
      if (!nodes_[at].is_shown) continue;
      nodes_[nodes_[at].parent].is_shown = true;
      ++lines;
    }
    if (rows() != 0 && lines > rows()) keep_greatest();
  }

  std::size_t rows() const { return how_.rows.value_or(how_.verbose ? 0 : table_options::usual_rows); }

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
      ++lines;
      for (std::size_t around = at; around != root && !nodes_[around].is_shown; around = nodes_[around].parent)
        nodes_[around].is_shown = true;
    }
  }

  const profile& of_;
  const table_options& how_;
  std::vector<node> nodes_;
  std::unordered_map<std::uint64_t, std::size_t> by_id_;
  std::map<std::pair<std::size_t, std::string>, std::size_t> by_name_, open_by_name_;  // first below a node
};

// "main.cpp:12"; whole: with folder and function, for places that would otherwise be equal.
std::string place_text(const source_location& site, bool is_whole) {
  if (site.file.empty()) return {};
  const std::string file = is_whole ? site.file : site.file.substr(site.file.rfind('/') + 1);
  std::string made = site.line != 0 ? fmt::format("{}:{}", file, site.line) : file;
  if (is_whole && !site.function.empty()) made += " in " + site.function;
  return made;
}

}  // namespace

std::vector<std::string> list_places(const profile& profile) {
  using siblings = std::tuple<std::uint64_t, std::vector<std::string>, std::string>;
  std::map<siblings, std::vector<std::size_t>> alike;
  for (std::size_t at = 0; at != profile.regions.size(); ++at) {
    const region& row = profile.regions[at];
    if (row.path.empty()) continue;
    // Without an id of the parent, the path identifies the row.
    std::vector<std::string> above;
    if (row.parent == 0) above.assign(row.path.begin(), row.path.end() - 1);
    alike[{row.parent, std::move(above), row.path.back()}].push_back(at);
  }
  std::vector<std::string> made(profile.regions.size());
  for (const auto& [of, rows] : alike) {
    const auto spell = [&, &rows = rows](bool is_whole) {
      std::set<std::string> all;
      for (const std::size_t at : rows) all.insert(made[at] = place_text(profile.regions[at].site, is_whole));
      return all.size();
    };
    if (rows.size() == 1) continue;
    const std::size_t different = spell(true);
    if (different == 1 || spell(false) == different) {
      if (different == 1)
        for (const std::size_t at : rows) made[at].clear();
      continue;
    }
    spell(true);
  }
  return made;
}

shown_regions regions_to_show(const profile& profile, const table_options& how) { return tree(profile, how).shown(); }

std::string left_out_text(const profile& profile, const shown_regions& shown) {
  if (shown.left_out == 0) return {};
  const std::uint64_t wall_ns = compute_wall_ns(profile);
  const std::string share = wall_ns != 0 && shown.left_out_ns != 0
                                ? fmt::format(", {} of the run", percent(static_cast<double>(shown.left_out_ns) /
                                                                         static_cast<double>(wall_ns)))
                                : "";
  return fmt::format("… {} more row{}{} (`adaptyst report -v` shows all)", format_count(shown.left_out),
                     shown.left_out == 1 ? "" : "s", share);
}

}  // namespace adaptyst::lib
