#include "executed_layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "../../support/text.hpp"

namespace adaptyst::lib {

namespace {

constexpr auto none = std::numeric_limits<std::uint32_t>::max();

struct model_call {
  std::uint32_t thread = 0;
  std::size_t model = 0;
  std::uint64_t begin_ns = 0, end_ns = 0;
};

struct layer_call {
  std::uint32_t thread = 0;
  std::size_t model = 0;
  std::uint32_t layer = 0;     // an index into stack_result::layers
  std::uint32_t call = none;   // of the model
  std::uint32_t place = none;  // an index into all positions of all models
  std::uint64_t begin_ns = 0, end_ns = 0;
};

// The calls [first, last) of a sorted list.
struct pass_calls {
  std::size_t model = 0, first = 0, last = 0;
};

using sequence = std::vector<std::uint32_t>;

struct running_mean {
  std::size_t count = 0;
  double mean = 0, squares = 0;

  void add(double value) {
    ++count;
    const double distance = value - mean;
    mean += distance / static_cast<double>(count);
    squares += distance * (value - mean);
  }
  estimate result() const {
    estimate made;
    made.value = mean;
    made.count = count;
    const auto n = static_cast<double>(count);
    if (count > 1) made.error = std::sqrt(squares / (n - 1) / n);
    return made;
  }
};

struct position {
  running_mean latency;
  double kernels_ns = 0, device_ns = 0;
  bool has_kernels = false;
};

template <class Rows>
std::vector<std::uint32_t> find_rows(const timed_layers& from, const Rows& rows) {
  std::map<std::vector<std::string>, std::uint32_t> by_path;
  for (std::size_t at = 0; at != rows.size(); ++at) by_path.emplace(rows[at].path, static_cast<std::uint32_t>(at));
  std::vector<std::uint32_t> made;
  made.reserve(from.paths.size());
  for (const std::vector<std::string>& path : from.paths) {
    const auto found = by_path.find(path);
    made.push_back(found != by_path.end() ? found->second : none);
  }
  return made;
}

bool is_complete(const timed_layers& from, const timed_layers::scope& call) {
  return call.end_ns < from.complete_until_ns[call.thread];
}

// Sorted by thread and model, then by begin.
std::vector<model_call> list_models(const timed_layers& from, const stack_result& in) {
  const std::vector<std::uint32_t> rows = find_rows(from, in.models);
  std::vector<model_call> made;
  for (const timed_layers::scope& call : from.models)
    if (rows[call.path] != none && is_complete(from, call))
      made.push_back({call.thread, rows[call.path], call.begin_ns, call.end_ns});
  std::sort(made.begin(), made.end(), [](const model_call& a, const model_call& b) {
    return std::tie(a.thread, a.model, a.begin_ns, a.end_ns) < std::tie(b.thread, b.model, b.begin_ns, b.end_ns);
  });
  return made;
}

std::vector<layer_call> list_layers(const timed_layers& from, const std::vector<std::uint32_t>& rows,
                                    const stack_result& in) {
  std::vector<layer_call> made;
  for (const timed_layers::scope& call : from.layers)
    if (rows[call.path] != none && is_complete(from, call))
      made.push_back(
          {call.thread, in.layers[rows[call.path]].model, rows[call.path], none, none, call.begin_ns, call.end_ns});
  // If layers nest, the outer one is first.
  std::sort(made.begin(), made.end(), [](const layer_call& a, const layer_call& b) {
    return std::tie(a.thread, a.model, a.begin_ns, b.end_ns) < std::tie(b.thread, b.model, b.begin_ns, a.end_ns);
  });
  return made;
}

sequence sequence_of(const std::vector<layer_call>& layers, const pass_calls& pass) {
  sequence made;
  made.reserve(pass.last - pass.first);
  for (std::size_t at = pass.first; at != pass.last; ++at) made.push_back(layers[at].layer);
  return made;
}

// The calls [first, last) of one thread have no model. `is_whole`: they are all calls of the thread.
void add_repetitions(const std::vector<layer_call>& layers, bool is_whole, std::size_t model, std::size_t first,
                     std::size_t last, std::vector<pass_calls>& to) {
  const std::size_t period = find_period(sequence_of(layers, {model, first, last}));
  if (!is_whole && period == last - first) return;
  for (; last - first >= period; first += period) to.push_back({model, first, first + period});
}

// Finds the model call of each layer, and removes layers outside of such calls. Returns the number of removed layers on
// threads with all their records.
std::size_t find_model_calls(const timed_layers& from, const std::vector<model_call>& models, std::size_t no_model,
                             std::vector<layer_call>& layers) {
  std::size_t outside = 0;
  for (layer_call& layer : layers) {
    if (layer.model == no_model) continue;
    const auto is_after = [](const layer_call& of, const model_call& call) {
      return std::tie(of.thread, of.model, of.begin_ns) < std::tie(call.thread, call.model, call.begin_ns);
    };
    const auto next = std::upper_bound(models.begin(), models.end(), layer, is_after);
    if (next != models.begin()) {
      const model_call& call = *std::prev(next);
      if (call.thread == layer.thread && call.model == layer.model && layer.end_ns <= call.end_ns)
        layer.call = static_cast<std::uint32_t>(next - models.begin());
    }
    if (layer.call == none && from.complete_until_ns[layer.thread] == timed_layers::always) ++outside;
  }
  const auto has_no_call = [no_model](const layer_call& layer) {
    return layer.model != no_model && layer.call == none;
  };
  layers.erase(std::remove_if(layers.begin(), layers.end(), has_no_call), layers.end());
  return outside;
}

std::vector<pass_calls> find_passes(const timed_layers& from, const std::vector<layer_call>& layers,
                                    std::size_t no_model) {
  std::vector<pass_calls> made;
  for (std::size_t first = 0, last = 0; first != layers.size(); first = last) {
    const auto key = [](const layer_call& of) { return std::tie(of.thread, of.model, of.call); };
    while (last != layers.size() && key(layers[last]) == key(layers[first])) ++last;
    const bool is_whole = from.complete_until_ns[layers[first].thread] == timed_layers::always;
    if (layers[first].model == no_model) add_repetitions(layers, is_whole, no_model, first, last, made);
    else made.push_back({layers[first].model, first, last});
  }
  return made;
}

// The most frequent sequence of a model, and the passes.
struct chosen_sequence {
  const sequence* layers = nullptr;
  std::size_t passes = 0, other_passes = 0;
};

using sequence_counts = std::map<std::size_t, std::map<sequence, std::pair<std::size_t, std::size_t>>>;

// For each model, the sequences with their numbers of passes and their first passes.
sequence_counts count_sequences(const std::vector<layer_call>& layers, const std::vector<pass_calls>& passes) {
  sequence_counts made;
  for (std::size_t at = 0; at != passes.size(); ++at)
    ++made[passes[at].model]
          .try_emplace(sequence_of(layers, passes[at]), std::pair<std::size_t, std::size_t>(0, at))
          .first->second.first;
  return made;
}

chosen_sequence choose_sequence(const std::map<sequence, std::pair<std::size_t, std::size_t>>& counts) {
  chosen_sequence made;
  std::size_t earliest = 0;
  for (const auto& [layers, entry] : counts) {
    const auto& [count, first] = entry;
    made.other_passes += count;
    if (made.layers != nullptr && (count < made.passes || (count == made.passes && first > earliest))) continue;
    made.layers = &layers;
    made.passes = count;
    earliest = first;
  }
  made.other_passes -= made.passes;
  return made;
}

// Adds the kernels to the positions of the layer calls that submitted them. Sorts `layers` in another order.
void add_kernels(const timed_layers& from, const std::vector<std::uint32_t>& rows, std::vector<layer_call>& layers,
                 std::vector<position>& positions) {
  const auto by_layer = [](const layer_call& a, const layer_call& b) {
    return std::tie(a.thread, a.layer, a.begin_ns) < std::tie(b.thread, b.layer, b.begin_ns);
  };
  std::sort(layers.begin(), layers.end(), by_layer);
  for (const timed_layers::kernel& kernel : from.kernels) {
    const std::uint32_t layer = rows[kernel.layer];
    if (layer == none) continue;
    layer_call wanted;
    wanted.thread = kernel.thread;
    wanted.layer = layer;
    wanted.begin_ns = kernel.submitted_ns;
    const auto after = std::upper_bound(layers.begin(), layers.end(), wanted, by_layer);
    if (after == layers.begin()) continue;
    const layer_call& call = *std::prev(after);
    if (call.thread != kernel.thread || call.layer != layer || call.end_ns < kernel.submitted_ns) continue;
    if (call.place == none) continue;
    position& at = positions[call.place];
    const auto duration_ns = static_cast<double>(kernel.duration_ns);
    at.has_kernels = true;
    at.kernels_ns += duration_ns;
    if (kernel.is_on_device) at.device_ns += duration_ns;
  }
}

std::string name_model(const stack_result& of, std::size_t model) {
  return model != of.models.size() ? printable(of.models[model].name) : "layers without a model";
}

std::vector<stack_pass> make_passes(const sequence_counts& counts, const stack_result& in,
                                    std::vector<std::string>& remarks) {
  std::vector<stack_pass> made;
  for (const auto& [model, of_model] : counts) {
    const chosen_sequence chosen = choose_sequence(of_model);
    if (chosen.layers->size() > max_pass_layers) {
      remarks.push_back(fmt::format("{}: a pass has {} layers, and their order is not listed: the limit is {}",
                                    name_model(in, model), chosen.layers->size(), max_pass_layers));
      continue;
    }
    stack_pass pass;
    pass.model = model;
    pass.passes = chosen.passes;
    pass.other_passes = chosen.other_passes;
    for (const std::uint32_t layer : *chosen.layers) pass.layers.push_back({layer, {}, {}, {}, {}});
    if (pass.other_passes != 0)
      remarks.push_back(fmt::format("{}: {} of {} passes execute another sequence of layers, and are in no mean",
                                    name_model(in, model), pass.other_passes, pass.passes + pass.other_passes));
    made.push_back(std::move(pass));
  }
  return made;
}

}  // namespace

std::size_t find_period(const std::vector<std::uint32_t>& values) {
  // The prefix function of Knuth, Morris and Pratt.
  std::vector<std::size_t> border(values.size(), 0);
  for (std::size_t at = 1; at < values.size(); ++at) {
    std::size_t length = border[at - 1];
    while (length != 0 && values[length] != values[at]) length = border[length - 1];
    border[at] = length + (values[length] == values[at] ? 1 : 0);
  }
  if (values.empty()) return 0;
  const std::size_t period = values.size() - border.back();
  return 2 * period <= values.size() ? period : values.size();
}

void add_passes(const timed_layers& from, stack_result& to, std::vector<std::string>& remarks) {
  const std::vector<std::uint32_t> rows = find_rows(from, to.layers);
  std::vector<layer_call> layers = list_layers(from, rows, to);
  const std::size_t outside = find_model_calls(from, list_models(from, to), to.models.size(), layers);
  const std::vector<pass_calls> passes = find_passes(from, layers, to.models.size());
  const sequence_counts counts = count_sequences(layers, passes);
  to.passes = make_passes(counts, to, remarks);
  std::vector<position> positions;
  std::map<std::size_t, std::pair<sequence, std::size_t>> listed;  // by model: layers, number of the first position
  for (const stack_pass& pass : to.passes) {
    sequence of_pass;
    for (const executed_layer& layer : pass.layers) of_pass.push_back(static_cast<std::uint32_t>(layer.layer));
    listed[pass.model] = {std::move(of_pass), positions.size()};
    positions.resize(positions.size() + pass.layers.size());
  }
  for (const pass_calls& pass : passes) {
    const auto found = listed.find(pass.model);
    if (found == listed.end()) continue;
    const auto& [wanted, first] = found->second;
    const auto is_same = [](std::uint32_t layer, const layer_call& call) { return layer == call.layer; };
    const auto begin = layers.begin() + static_cast<std::ptrdiff_t>(pass.first);
    const auto end = layers.begin() + static_cast<std::ptrdiff_t>(pass.last);
    if (!std::equal(wanted.begin(), wanted.end(), begin, end, is_same)) continue;
    for (std::size_t at = pass.first; at != pass.last; ++at) {
      layers[at].place = static_cast<std::uint32_t>(first + at - pass.first);
      positions[layers[at].place].latency.add(static_cast<double>(layers[at].end_ns - layers[at].begin_ns));
    }
  }
  add_kernels(from, rows, layers, positions);
  std::set<std::uint32_t> unlinked;
  for (const std::uint32_t path : from.unlinked_layers) unlinked.insert(rows[path]);
  std::size_t place = 0;
  for (stack_pass& pass : to.passes)
    for (executed_layer& layer : pass.layers) {
      const position& at = positions[place++];
      layer.latency_ns = at.latency.result();
      if (!from.has_kernels || unlinked.count(static_cast<std::uint32_t>(layer.layer)) != 0) continue;
      const auto count = static_cast<double>(pass.passes);
      layer.device_ns = at.device_ns / count;
      // Calls of libraries then submit the work, and are no kernels.
      layer.kernels_ns = at.device_ns > 0 ? layer.device_ns : at.kernels_ns / count;
      if (at.has_kernels) layer.other_ns = layer.latency_ns.value - *layer.kernels_ns;
    }
  if (outside != 0)
    remarks.push_back(fmt::format(
        "{} calls of layers are not within a call of their model on their thread, and have no place in the order",
        outside));
}

}  // namespace adaptyst::lib
