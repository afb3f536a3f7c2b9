// Trees of frames, without recursion: a file may contain a tree of any depth.
#include "stack_trees.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace adaptyst::lib {

namespace {

struct amounts {
  std::uint64_t on_cpu_ns = 0, blocked_ns = 0, waiting_ns = 0;

  std::uint64_t sum() const { return on_cpu_ns + blocked_ns + waiting_ns; }
  void add(const amounts& more) {
    on_cpu_ns += more.on_cpu_ns;
    blocked_ns += more.blocked_ns;
    waiting_ns += more.waiting_ns;
  }
};

}  // namespace

struct stack_trees::node {
  amounts own;
  std::map<std::string, std::unique_ptr<node>> callees;

  node& callee(const std::string& name) {
    std::unique_ptr<node>& found = callees[name];
    if (!found) found = std::make_unique<node>();
    return *found;
  }
  ~node() {
    std::vector<std::unique_ptr<node>> left;
    const auto take = [&](node& from) {
      for (auto& [name, callee] : from.callees) left.push_back(std::move(callee));
      from.callees.clear();
    };
    take(*this);
    while (!left.empty()) {
      const std::unique_ptr<node> removed = std::move(left.back());
      left.pop_back();
      take(*removed);
    }
  }
  node() = default;
  node(const node&) = delete;
  node& operator=(const node&) = delete;
};

stack_trees::stack_trees() = default;
stack_trees::~stack_trees() = default;
stack_trees::stack_trees(stack_trees&&) noexcept = default;
stack_trees& stack_trees::operator=(stack_trees&&) noexcept = default;

void stack_trees::add(std::uint64_t region, const std::vector<std::string>& frames, thread_state state,
                      std::uint64_t ns) {
  if (frames.empty() || ns == 0) return;
  std::unique_ptr<node>& root = roots_[region];
  if (!root) root = std::make_unique<node>();
  node* at = root.get();
  for (const std::string& name : frames) at = &at->callee(name);
  (state == thread_state::on_cpu    ? at->own.on_cpu_ns
   : state == thread_state::blocked ? at->own.blocked_ns
                                    : at->own.waiting_ns) += ns;
}

void stack_trees::add(const std::vector<region_stacks>& all) {
  for (const region_stacks& stacks : all) {
    std::unique_ptr<node>& root = roots_[stacks.region];
    if (!root) root = std::make_unique<node>();
    std::vector<node*> above{root.get()};
    for (const sampled_frame& frame : stacks.frames) {
      above.resize(std::min<std::size_t>(frame.depth + std::size_t{1}, above.size()));
      node& here = above.back()->callee(frame.name);
      here.own.add({frame.on_cpu_ns, frame.blocked_ns, frame.waiting_ns});
      above.push_back(&here);
    }
  }
}

// A frame in the list of all frames.
struct stack_trees::place {
  const node* of;
  const std::string* name;
  std::uint64_t region;
  std::size_t parent;  // index in `places`; its own index: no parent
  std::uint32_t depth;
  amounts all;
  bool is_other;  // the frame or one of its callers is "(others)"
  bool is_kept = false;
};

// Callers precede their callees; siblings are in the order of the list.
std::vector<stack_trees::place> stack_trees::list_places() const {
  std::vector<place> places;
  for (const auto& [region, root] : roots_) {
    std::vector<std::tuple<const node*, const std::string*, std::size_t, std::uint32_t>> left;
    const auto push = [&](const node& from, std::size_t parent, std::uint32_t depth) {
      for (auto callee = from.callees.rbegin(); callee != from.callees.rend(); ++callee)
        left.emplace_back(callee->second.get(), &callee->first, parent, depth);
    };
    push(*root, std::size_t(-1), 0);
    while (!left.empty()) {
      const auto [frame, name, parent, depth] = left.back();
      left.pop_back();
      const std::size_t here = places.size();
      const bool is_outermost = parent == std::size_t(-1);
      const bool is_other = *name == other_frames || (!is_outermost && places[parent].is_other);
      places.push_back({frame, name, region, is_outermost ? here : parent, depth, frame->own, is_other});
      push(*frame, here, depth + 1);
    }
  }
  for (std::size_t at = places.size(); at-- != 0;)
    if (places[at].parent != at) places[places[at].parent].all.add(places[at].all);
  return places;
}

std::vector<region_stacks> stack_trees::list(std::size_t max_frames) const {
  std::vector<place> places = list_places();

  // A caller has at least the time of its callees, and precedes them.
  std::vector<std::size_t> by_time;
  for (std::size_t at = 0; at != places.size(); ++at)
    if (!places[at].is_other && places[at].all.sum() != 0) by_time.push_back(at);
  std::stable_sort(by_time.begin(), by_time.end(),
                   [&](std::size_t a, std::size_t b) { return places[a].all.sum() > places[b].all.sum(); });
  by_time.resize(std::min(by_time.size(), max_frames));
  for (const std::size_t at : by_time) places[at].is_kept = true;

  // The omitted amounts below a frame or region.
  std::map<std::size_t, amounts> others;
  std::map<std::uint64_t, amounts> others_of_regions;
  for (std::size_t at = 0; at != places.size(); ++at) {
    const place& position = places[at];
    const bool is_outermost = position.parent == at;
    if (position.is_kept || position.all.sum() == 0 || (!is_outermost && !places[position.parent].is_kept)) continue;
    (is_outermost ? others_of_regions[position.region] : others[position.parent]).add(position.all);
  }

  std::vector<region_stacks> made;
  std::vector<std::size_t> open;  // kept frames with callees that are being listed
  const auto put = [&](const std::string& name, std::uint32_t depth, const amounts& own) {
    made.back().frames.push_back({name, depth, own.on_cpu_ns, own.blocked_ns, own.waiting_ns});
  };
  const auto close_to = [&](std::uint32_t depth) {
    while (!open.empty() && places[open.back()].depth >= depth) {
      if (const auto rest = others.find(open.back()); rest != others.end())
        put(other_frames, places[open.back()].depth + 1, rest->second);
      open.pop_back();
    }
  };
  const auto end_region = [&] {
    if (made.empty()) return;
    close_to(0);
    if (const auto rest = others_of_regions.find(made.back().region); rest != others_of_regions.end())
      put(other_frames, 0, rest->second);
  };
  for (std::size_t at = 0; at != places.size(); ++at) {
    const place& position = places[at];
    if (position.all.sum() == 0) continue;
    if (made.empty() || made.back().region != position.region) {
      end_region();
      made.push_back({position.region, {}});
    }
    if (!position.is_kept) continue;
    close_to(position.depth);
    put(*position.name, position.depth, position.of->own);
    open.push_back(at);
  }
  end_region();
  return made;
}

}  // namespace adaptyst::lib
