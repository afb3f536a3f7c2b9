// The parts of levels, and of the analyses across the stack; docs/levels.md explains the figures.
#ifndef ADAPTYST_LIB_ANALYSE_LEVELS_FIELDS_HPP
#define ADAPTYST_LIB_ANALYSE_LEVELS_FIELDS_HPP

#include "../../model/fields.hpp"
#include "levels.hpp"
#include "stack.hpp"

namespace adaptyst::lib {

// A result with its settings, and the stack if requested.
struct levels_report {
  const levels_result& of;
  const levels_settings& how;
  std::optional<stack_result> stack{};
};

namespace listed {

constexpr auto fields(type<estimate>) {
  return list("estimate", "A figure over several runs.",
              value("mean", &estimate::value, always, "The mean; over runs, it is trimmed."),
              value("error", &estimate::error, always, "Standard error of the mean; null: one value."),
              value("n", &estimate::count, always, "Number of runs or passes."));
}

// Absent without runs.
inline std::optional<estimate> omit_without_runs(const std::optional<estimate>& from) {
  return from && from->count != 0 ? from : std::nullopt;
}

constexpr auto fields(type<levelled_summary>) {
  using of = levelled_summary;
  return list("level_summary", "Results of the runs recorded down to one level.",
              follows(
                  "level", [](const of& item) { return level_name(item.which); }, always, "Name of the level."),
              follows(
                  "number", [](const of& item) { return static_cast<unsigned>(item.which); }, always,
                  "Number of the level, from the application."),
              value("runs", &of::runs, always, "Runs recorded down to this level."),
              value("regions", &of::regions, always, "Regions of this level."),
              value("events", &of::events, always, "Mean number of events of this level in a run."),
              follows(
                  "run_ns", [](const of& item) { return omit_without_runs(item.run_ns); }, always,
                  "Time from the first observation to the end, summed over processes."),
              follows(
                  "overhead_ns", [](const of& item) { return omit_without_runs(item.overhead_ns); }, always,
                  "Difference to the runs one level higher; null for the highest."),
              follows(
                  "overhead_percent",
                  [](const of& item, const levels_report& all) -> std::optional<double> {
                    double above_ns = 0;  // of the next higher level
                    for (const of& other : all.of.levels)
                      if (other.which < item.which) above_ns = other.run_ns.value;
                    if (!item.overhead_ns || above_ns <= 0) return std::nullopt;
                    return 100 * item.overhead_ns->value / above_ns;
                  },
                  always, "overhead_ns relative to the time of those runs, in percent."));
}

constexpr auto fields(type<levelled_region>) {
  using of = levelled_region;
  return list(
      "levelled_region", "A call path on a device, from the runs recorded down to its level.",
      value("path", &of::path, always, "Names from the root of the thread."),
      follows(
          "level", [](const of& item) { return level_name(item.at); }, always, "Name of the level."),
      value("device", &of::device, always, "The name in the report: \"host\", \"gpu0\", \"acc0\", \"ocl0\"."),
      value("calls", &of::calls, always, "Mean number of calls in a run."),
      value("calls_vary", &of::calls_vary, always, "true if the calls differ between runs."),
      value("runs", &of::runs, always, "Runs that contain it."),
      follows(
          "total_ns", [](const of& item) { return omit_without_runs(item.total_ns); }, always, "Time in a run."),
      follows(
          "per_call_ns", [](const of& item) { return omit_without_runs(item.per_call_ns); }, always,
          "Time per call; null: no calls."),
      follows(
          "overhead_ns", [](const of& item) { return omit_without_runs(item.overhead_ns); }, always,
          "Additional time in runs recorded one level deeper."),
      value("roofline", &of::roofline, sometimes, "Absent for a device, and if flops, bytes or ceilings are unknown."));
}

constexpr auto fields(type<stack_work>) {
  using of = stack_work;
  return list("work", "The sum of several regions in a call of their model; without a model, in a run.",
              value("calls", &of::calls, always, "Mean number of calls."),
              value("total_ns", &of::total_ns, always, "Time of the regions."),
              value("bytes", &of::bytes, always, "Bytes of the regions with known bytes; null: none of them."),
              follows("bytes_share", &of::bytes_share, always, "Share of total_ns of these regions."),
              value("flops", &of::flops, always, "Flops of the regions with known flops; null: none of them."),
              follows("flops_share", &of::flops_share, always, "Share of total_ns of these regions."),
              follows("intensity", &of::intensity, always, "Flops per byte; null: not known for each region."),
              follows("gflops_per_s", &of::gflops_per_s, always, "10^9 operations per second, of these regions."),
              follows("gbytes_per_s", &of::gbytes_per_s, always, "10^9 bytes per second, of these regions."));
}

constexpr auto fields(type<stack_model>) {
  using of = stack_model;
  return list(
      "model", "A model, for the analyses A1, A13 and A15.",
      value("name", &of::name, always, "The name in its marker."),
      value("batch", &of::batch, always, "Items per call."),
      value("latency_ns", &of::latency_ns, always, "Time of a call."),
      value("item_latency_ns", &of::item_latency_ns, always, "Time of an item."),
      value("items_per_s", &of::items_per_s, always, "Items per second."),
      value("is_optimal_batch", &of::is_optimal_batch, sometimes,
            "true for the least batch that, doubled, adds at most 5 % of items_per_s. Absent for a single batch."),
      value("layers", &of::layers, always, "Number of different layers."),
      value("executed", &of::executed, always, "Layers in a call of the model."),
      value("kernels", &of::kernels, always, "The sum of its kernels."));
}

// Null: no model.
inline std::optional<std::size_t> model_index(std::size_t model, const levels_report& all) {
  return model != all.stack->models.size() ? std::optional(model) : std::nullopt;
}

constexpr auto fields(type<stack_layer>) {
  using of = stack_layer;
  return list("layer", "A layer, for the analyses A2, A3, A4, and A11 to A14.",
              follows(
                  "model", [](const of& item, const levels_report& all) { return model_index(item.model, all); },
                  always, "Index into \"models\"; null: no model."),
              value("executed", &of::executed, always, "Calls in a call of the model; no model: in a run."),
              value("type", &of::type, always, "The name in its marker."),
              value("shape", &of::shape, always, "The shape of its data."),
              value("work", &of::work, always, "Its work."),
              value("kernels", &of::kernels, always, "The sum of its kernels."),
              value("device_ns", &of::device_ns, always, "Time of kernels on devices."),
              value("other_ns", &of::other_ns, always, "The rest of its time; null: no kernels."),
              value("roofline", &of::roofline, sometimes, "The roofline of its work. Absent if unknown."));
}

constexpr auto fields(type<stack_type>) {
  using of = stack_type;
  return list("layer_type", "A type of layers of a model, for the analyses A5, A6 and A7.",
              value("type", &of::type, always, "The type of the layers."),
              follows(
                  "model", [](const of& item, const levels_report& all) { return model_index(item.model, all); },
                  always, "Index into \"models\"; null: no model."),
              value("layers", &of::layers, always, "Number of different layers."),
              value("executed", &of::executed, always, "Layers in a call of their model."),
              value("share_of_layers", &of::share_of_layers, always, "Share of the executed layers of the model."),
              value("share_of_time", &of::share_of_time, always, "Share of the time of all layers of the model."),
              value("work", &of::work, always, "Work of these layers."));
}

constexpr auto fields(type<stack_kernel>) {
  using of = stack_kernel;
  return list(
      "kernel", "A kernel, for the analyses A8 and A9.", value("name", &of::name, always, "The name of the kernel."),
      value("layer", &of::layer, always, "Index into \"layers\"; null: no layer."),
      value("device", &of::device, always, "The name in the report: \"host\", \"gpu0\", \"acc0\", \"ocl0\"."),
      value("work", &of::work, always, "Its work."),
      value("roofline", &of::roofline, sometimes, "The roofline of its work. Absent for devices, and if unknown."));
}

constexpr auto fields(type<stack_kernel_name>) {
  using of = stack_kernel_name;
  return list("kernel_name", "All kernels of a name in a model, for the analysis A10.",
              value("name", &of::name, always, "The name of the kernels."),
              follows(
                  "model", [](const of& item, const levels_report& all) { return model_index(item.model, all); },
                  always, "Index into \"models\"; null: no model."),
              value("layers", &of::layers, always, "Number of layers that contain it."),
              value("work", &of::work, always, "Work of these kernels."));
}

constexpr auto fields(type<executed_layer>) {
  using of = executed_layer;
  return list(
      "executed_layer", "A layer at its position in a pass. Means over the passes.",
      value("layer", &of::layer, always, "Index into \"layers\", which has type, shape, bytes and flops."),
      value("latency_ns", &of::latency_ns, always, "Time of the layer; n: passes."),
      value("kernels_ns", &of::kernels_ns, always, "Time of its kernels; null: not linked to calls of the layer."),
      value("device_ns", &of::device_ns, always, "Time of its kernels on devices; null: as for kernels_ns."),
      value("other_ns", &of::other_ns, always, "latency_ns minus kernels_ns; null: also without kernels."));
}

constexpr auto fields(type<stack_pass>) {
  using of = stack_pass;
  return list(
      "pass",
      "The layers of a model in their order of execution. A pass is a call of the model with at least one layer; without a model, the "
      "shortest sequence of layers that repeats.",
      follows(
          "model", [](const of& item, const levels_report& all) { return model_index(item.model, all); }, always,
          "Index into \"models\"; null: no model."),
      value("passes", &of::passes, always, "Passes with this sequence, the most frequent of the model."),
      value("other_passes", &of::other_passes, always, "Passes with another sequence, which are in no mean."),
      value("layers", &of::layers, always, "In the order of execution."));
}

constexpr auto fields(type<stack_result>) {
  using of = stack_result;
  return list("stack", "The analyses A1 to A15 across the stack.", value("models", &of::models, always, "All models."),
              value("layers", &of::layers, always, "In the order of regions."),
              value("types", &of::types, always, "By time, longest first."),
              value("kernels", &of::kernels, always, "By time, longest first."),
              value("kernel_names", &of::kernel_names, always, "By time, longest first."),
              value("passes", &of::passes, always, "For each model; empty: the input has no times of calls."));
}

constexpr auto fields(type<levels_report>) {
  using of = levels_report;
  return list(
      "levels", "The time of each level of a program. Times are in ns. Unknown values are null.",
      follows(
          "schema", [](const of&) { return 1U; }, always, "The version of this description."),
      object("parameters", always, "How the levels were measured.",
             follows(
                 "command", [](const of& all) -> auto& { return all.how.command; }, always,
                 "The program and its arguments; empty: a trace."),
             follows(
                 "traces", [](const of& all) -> auto& { return all.how.traces; }, always,
                 "The traces that were read instead of running a program."),
             follows(
                 "repeat", [](const of& all) { return all.how.if_run(all.how.repeat); }, always,
                 "Runs per level; null: a trace."),
             follows(
                 "trim", [](const of& all) { return all.of.trim; }, always, "Share of runs omitted at each end."),
             follows(
                 "engine", [](const of& all) { return all.how.if_run(all.how.engine); }, always,
                 "The engine of the runs; null: a trace."),
             follows(
                 "overhead", [](const of& all) { return all.how.if_run(all.how.overhead); }, always,
                 "The option overhead; null: a trace."),
             follows(
                 "rules", [](const of& all) -> auto& { return all.how.rules; }, always, "Levels set by the user.")),
      follows(
          "levels", [](const of& all) -> auto& { return all.of.levels; }, always, "Levels, highest first."),
      follows(
          "regions", [](const of& all) -> auto& { return all.of.regions; }, always, "Parents before children."),
      follows(
          "ceilings", [](const of& all) -> auto& { return all.of.ceilings; }, sometimes,
          "Ceilings of the machine. Absent if unknown."),
      value("stack", &of::stack, sometimes, "Absent: not requested."),
      follows(
          "remarks", [](const of& all) -> auto& { return all.of.remarks; }, always, "Limits of the figures."));
}

}  // namespace listed
}  // namespace adaptyst::lib

#endif
