#include "stack.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

#include "../../support/levels.hpp"
#include "../roofline.hpp"

namespace adaptyst::lib {

namespace {

using path = std::vector<std::string>;

std::size_t find_label(const std::string& name) {
  const std::size_t bracket = name.rfind(" [");
  return bracket != std::string::npos && name.back() == ']' ? bracket : std::string::npos;
}

std::string type_of(const std::string& name) { return name.substr(0, find_label(name)); }

std::string shape_of(const std::string& name) {
  const std::size_t bracket = find_label(name);
  return bracket == std::string::npos ? "" : name.substr(bracket + 2, name.size() - bracket - 3);
}

// From "batch=8" in the label of a region, or of the nearest region around it with such a label.
std::optional<double> find_batch(const path& of) {
  for (auto name = of.rbegin(); name != of.rend(); ++name) {
    const std::string label = "," + shape_of(*name);
    const std::size_t at = label.find(",batch=");
    if (at == std::string::npos) continue;
    const double batch = std::strtod(label.c_str() + at + 7, nullptr);
    if (batch > 0 && std::isfinite(batch)) return batch;
  }
  return std::nullopt;
}

bool is_below(const path& inner, const path& outer) {
  return inner.size() >= outer.size() && std::equal(outer.begin(), outer.end(), inner.begin());
}

// The deepest of these rows that contains `inner`.
template <class Rows>
std::optional<std::size_t> find_around(const Rows& rows, const path& inner) {
  std::optional<std::size_t> found;
  for (std::size_t at = 0; at != rows.size(); ++at)
    if (is_below(inner, rows[at]->path) && (!found || rows[at]->path.size() > rows[*found]->path.size())) found = at;
  return found;
}

void add(std::optional<double>& to, const std::optional<double>& addend) {
  if (addend) to = to.value_or(0) + *addend;
}

void add(stack_work& to, const stack_work& work) {
  add(to.bytes, work.bytes);
  add(to.flops, work.flops);
  to.bytes_ns += work.bytes_ns;
  to.flops_ns += work.flops_ns;
  to.calls += work.calls;
  to.total_ns += work.total_ns;
}

// The mean per run: work that only some runs did has a lower weight.
stack_work work_of(const levelled_region& region) {
  const double share = region.share_of_runs();
  const auto weighed = [share](const std::optional<double>& amount) {
    return amount ? std::optional(*amount * share) : std::nullopt;
  };
  const double total_ns = region.total_ns.value * share;
  return {region.calls * share,        total_ns,
          weighed(region.bytes),       weighed(region.flops),
          region.bytes ? total_ns : 0, region.flops ? total_ns : 0};
}

// `calls`: of the model.
stack_work per_call(const stack_work& work, double calls) {
  if (!(calls > 0)) return work;
  const auto divided = [calls](const std::optional<double>& amount) {
    return amount ? std::optional(*amount / calls) : std::nullopt;
  };
  return {work.calls / calls,  work.total_ns / calls, divided(work.bytes),
          divided(work.flops), work.bytes_ns / calls, work.flops_ns / calls};
}

// Uses the time of the same row, so that all figures of a row agree.
std::optional<roofline> find_roofline(const levels_result& from, const levelled_region& row, const stack_work& work) {
  if (!from.ceilings || row.device != "host") return std::nullopt;
  return compute_roofline(work.flops, work.bytes, work.total_ns, *from.ceilings, row.threads);
}

struct sorted_rows {
  std::vector<const levelled_region*> models, layers, kernels;
};

sorted_rows sort_rows(const levels_result& from) {
  sorted_rows made;
  bool has_model = false;
  for (const levelled_region& region : from.regions) has_model = has_model || region.at == level::model;
  for (const levelled_region& region : from.regions) {
    const bool is_host = region.device == "host";
    const bool is_model = has_model ? region.at == level::model : find_batch({region.path.back()}).has_value();
    if (is_host && is_model && region.at <= level::model) made.models.push_back(&region);
  }
  std::stable_sort(made.models.begin(), made.models.end(), [](const levelled_region* a, const levelled_region* b) {
    return find_batch(a->path).value_or(0) < find_batch(b->path).value_or(0);
  });
  for (const levelled_region& region : from.regions) {
    if (!made.models.empty() && !find_around(made.models, region.path)) continue;
    const bool is_host = region.device == "host";
    if (is_host && region.at == level::layer) made.layers.push_back(&region);
    else if (is_host ? region.at == level::library : region.at >= level::layer) made.kernels.push_back(&region);
  }
  return made;
}

// Removes what submits work to devices and waits for it: calls of device interfaces, and calls of libraries in layers
// that have work on devices.
void remove_submissions(sorted_rows& rows) {
  std::set<std::size_t> on_devices;
  for (const levelled_region* const kernel : rows.kernels)
    if (const auto layer = find_around(rows.layers, kernel->path); layer && kernel->device != "host")
      on_devices.insert(*layer);
  const auto is_submission = [&](const levelled_region* kernel) {
    if (kernel->device != "host") return false;
    if (is_device_call(kernel->path.back())) return true;
    const std::optional<std::size_t> layer = find_around(rows.layers, kernel->path);
    return layer && on_devices.count(*layer) != 0;
  };
  rows.kernels.erase(std::remove_if(rows.kernels.begin(), rows.kernels.end(), is_submission), rows.kernels.end());
}

// Regions of level library without the bytes and flops of the regions that they call.
std::vector<stack_work> find_own_work(const std::vector<const levelled_region*>& kernels) {
  std::vector<stack_work> made;
  std::vector<const levelled_region*> on_host;
  std::vector<std::size_t> numbers;
  for (const levelled_region* const kernel : kernels) {
    if (kernel->device == "host") {
      on_host.push_back(kernel);
      numbers.push_back(made.size());
    }
    made.push_back(work_of(*kernel));
  }
  for (const levelled_region* const region : on_host) {
    path around = region->path;
    around.pop_back();
    const std::optional<std::size_t> caller = find_around(on_host, around);
    if (!caller) continue;
    stack_work& own = made[numbers[*caller]];
    own.total_ns = std::max(0.0, own.total_ns - work_of(*region).total_ns);
    if (region->flops) {
      own.bytes.reset();
      own.flops.reset();
    }
    own.bytes_ns = own.bytes ? own.total_ns : 0;
    own.flops_ns = own.flops ? own.total_ns : 0;
  }
  return made;
}

template <class Rows>
void sort_by_time(Rows& rows) {
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.work.total_ns > b.work.total_ns; });
}

void add_types(stack_result& to) {
  std::map<std::pair<std::size_t, std::string>, stack_type> types;
  struct sums {
    double executed = 0, total_ns = 0;
  };
  std::map<std::size_t, sums> of_models;
  for (const stack_layer& layer : to.layers) {
    stack_type& made = types[{layer.model, layer.type}];
    made.type = layer.type;
    made.model = layer.model;
    ++made.layers;
    made.executed += layer.executed;
    add(made.work, layer.work);
    of_models[layer.model].executed += layer.executed;
    of_models[layer.model].total_ns += layer.work.total_ns;
  }
  for (auto& [key, type] : types) {
    const sums& all = of_models[type.model];
    type.share_of_layers = all.executed > 0 ? type.executed / all.executed : 0;
    if (all.total_ns > 0) type.share_of_time = type.work.total_ns / all.total_ns;
    to.types.push_back(std::move(type));
  }
  sort_by_time(to.types);
}

void add_kernel_names(stack_result& to) {
  using model_and_name = std::pair<std::size_t, std::string>;
  std::map<model_and_name, stack_kernel_name> names;
  std::map<model_and_name, std::set<std::size_t>> layers;
  for (const stack_kernel& kernel : to.kernels) {
    stack_kernel_name& made = names[{kernel.model, kernel.name}];
    made.name = kernel.name;
    made.model = kernel.model;
    add(made.work, kernel.work);
    if (kernel.layer) layers[{kernel.model, kernel.name}].insert(*kernel.layer);
  }
  for (auto& [key, kernel_name] : names) {
    kernel_name.layers = layers[key].size();
    to.kernel_names.push_back(std::move(kernel_name));
  }
  sort_by_time(to.kernel_names);
}

// As in XSP: the least batch that, doubled, gives at most 5 % more items per second. Between two measured batches the gain
// of a doubling is the geometric mean.
void mark_optimal_batches(std::vector<stack_model>& models) {
  constexpr double least_gain = 1.05;
  std::map<std::string, std::map<double, stack_model*>> by_batch;
  for (stack_model& model : models)
    if (model.batch && model.items_per_s) by_batch[type_of(model.name)].emplace(*model.batch, &model);
  for (auto& [name, batches] : by_batch) {
    if (batches.size() < 2) continue;
    bool is_found = false;
    for (auto at = batches.begin(); at != batches.end(); ++at) {
      const auto next = std::next(at);
      bool is_optimal = false;
      if (!is_found && next != batches.end()) {
        const double doublings = std::log2(next->first / at->first);
        is_optimal = std::pow(*next->second->items_per_s / *at->second->items_per_s, 1 / doublings) <= least_gain;
      }
      at->second->is_optimal_batch = is_optimal;
      is_found = is_found || is_optimal;
    }
  }
}

std::optional<double> share_of(double part, double all) {
  return all > 0 ? std::optional(std::min(1.0, part / all)) : std::nullopt;
}

}  // namespace

std::optional<double> stack_work::bytes_share() const { return share_of(bytes_ns, total_ns); }
std::optional<double> stack_work::flops_share() const { return share_of(flops_ns, total_ns); }

std::optional<double> stack_work::intensity() const {
  if (!flops || !bytes || !(*bytes > 0)) return std::nullopt;
  if (flops_ns != total_ns || bytes_ns != total_ns) return std::nullopt;
  return *flops / *bytes;
}

std::optional<double> stack_work::gflops_per_s() const {
  if (!flops || !(flops_ns > 0)) return std::nullopt;
  return *flops / flops_ns;
}

std::optional<double> stack_work::gbytes_per_s() const {
  if (!bytes || !(bytes_ns > 0)) return std::nullopt;
  return *bytes / bytes_ns;
}

stack_result analyse_stack(const levels_result& from) {
  sorted_rows rows = sort_rows(from);
  remove_submissions(rows);
  stack_result made;
  for (const levelled_region* const region : rows.models) {
    stack_model model;
    model.path = region->path;
    model.name = region->path.back();
    model.batch = find_batch(region->path);
    if (region->per_call_ns) model.latency_ns = region->per_call_ns->value;
    if (model.batch && model.latency_ns > 0) {
      model.item_latency_ns = model.latency_ns / *model.batch;
      model.items_per_s = 1e9 / *model.item_latency_ns;
    }
    made.models.push_back(std::move(model));
  }
  mark_optimal_batches(made.models);
  std::vector<double> model_calls;
  for (const levelled_region* const region : rows.models) model_calls.push_back(work_of(*region).calls);
  for (const levelled_region* const region : rows.layers) {
    stack_layer layer;
    layer.model = find_around(rows.models, region->path).value_or(rows.models.size());
    layer.path = region->path;
    layer.type = type_of(region->path.back());
    layer.shape = shape_of(region->path.back());
    layer.work = work_of(*region);
    layer.roofline = find_roofline(from, *region, layer.work);
    if (layer.model != rows.models.size()) layer.work = per_call(layer.work, model_calls[layer.model]);
    layer.executed = layer.work.calls;
    if (layer.model != rows.models.size()) {
      stack_model& model = made.models[layer.model];
      ++model.layers;
      model.executed += layer.executed;
    }
    made.layers.push_back(std::move(layer));
  }
  const std::vector<stack_work> own_work = find_own_work(rows.kernels);
  for (std::size_t at = 0; at != rows.kernels.size(); ++at) {
    const levelled_region* const region = rows.kernels[at];
    const std::optional<std::size_t> model = find_around(rows.models, region->path);
    stack_kernel kernel{
        find_around(rows.layers, region->path), region->path.back(), region->device,
        model.value_or(rows.models.size()),     own_work[at],        find_roofline(from, *region, own_work[at])};
    if (model) kernel.work = per_call(kernel.work, model_calls[*model]);
    if (kernel.layer) {
      stack_layer& around = made.layers[*kernel.layer];
      add(around.kernels, kernel.work);
      if (kernel.device != "host") around.device_ns += kernel.work.total_ns;
    }
    if (model) add(made.models[*model].kernels, kernel.work);
    made.kernels.push_back(std::move(kernel));
  }
  for (stack_layer& layer : made.layers)
    if (layer.kernels.calls > 0) layer.other_ns = layer.work.total_ns - layer.kernels.total_ns;
  sort_by_time(made.kernels);
  add_types(made);
  add_kernel_names(made);
  return made;
}

}  // namespace adaptyst::lib
