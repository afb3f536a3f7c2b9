// Stacks as text: the largest part of long lists.
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <numeric>

#include "../analyse/levels/fields.hpp"
#include "../support/text.hpp"
#include "forms.hpp"
#include "text_table.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::size_t usual_lines = 20;  // of a list, without --verbose

std::string name_of(const stack_layer& layer) {
  return layer.shape.empty() ? layer.type : layer.type + " " + layer.shape;
}

using columns_list = std::vector<table_column>;
using cells = std::vector<table_cell>;

columns_list time_columns() { return {{"CALLS"}, {"TIME", column_kind::number, 0, 0, "ns"}}; }

columns_list amount_columns() { return {{"BYTES"}, {"FLOP"}, {"FLOP/BYTE"}, {"GFLOP/s"}}; }

columns_list roofline_columns() { return {{"%ROOF"}, {"BOUND", column_kind::text}}; }

// Names have the columns that figures leave free.
text_table make_table(const char* heading, std::initializer_list<columns_list> parts) {
  columns_list all = {{heading, column_kind::name, 25}};
  for (const columns_list& part : parts) all.insert(all.end(), part.begin(), part.end());
  return text_table(std::move(all));
}

// An amount that is unknown for some of the regions is a lower limit.
table_cell amount_cell(std::optional<double> amount, std::optional<double> share_of_time) {
  table_cell made = count_cell(amount);
  if (amount && share_of_time && *share_of_time < 1) made.words = "≥" + made.words;
  return made;
}

cells make_time(const stack_work& of) { return {count_cell(of.calls), time_cell(of.total_ns)}; }

cells make_amounts(const stack_work& of) {
  return {amount_cell(of.bytes, of.bytes_share()), amount_cell(of.flops, of.flops_share()), digits_cell(of.intensity()),
          digits_cell(of.gflops_per_s())};
}

bool has_amounts(const stack_work& of) { return of.bytes || of.flops; }

cells make_roofline(const std::optional<roofline>& of) {
  if (!of) return {"—", "—"};
  return {percent_cell(of->share), to_string(of->bound)};
}

cells join(std::initializer_list<cells> parts) {
  cells all;
  for (const cells& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

// Absent parts have no figure.
table_cell time_or_none(double ns, bool is_present) { return time_cell(is_present ? std::optional(ns) : std::nullopt); }

// The first lines of a long list, which have most time.
std::string first_lines(const text_table& table, std::size_t all, std::size_t most, const screen& on) {
  return table.text(on) + (all > most ? fmt::format("… and {} more, with --verbose\n", all - most) : "");
}

// Rows of several models need their names.
columns_list model_column(const stack_result& result) {
  if (result.models.size() < 2) return {};
  return {{"MODEL", column_kind::text, 0, 24}};
}
cells name_model(const stack_result& result, std::size_t model) {
  if (result.models.size() < 2) return {};
  return {model != result.models.size() ? printable(result.models[model].name) : "in none"};
}

void add_models(const stack_result& result, const screen& on, std::string& to) {
  if (result.models.empty()) return;
  text_table table({{"MODEL", column_kind::name, 24},
                    {"BATCH"},
                    {"LATENCY", column_kind::number, 0, 0, "ns"},
                    {"PER ITEM", column_kind::number, 0, 0, "ns"},
                    {"ITEMS/s"},
                    {"LAYERS"},
                    {"KERNELS", column_kind::number, 0, 0, "ns"},
                    {"FLOP"},
                    {"GFLOP/s"},
                    {"KNOWN"}});
  for (const stack_model& model : result.models)
    table.add({printable(model.name), digits_cell(model.batch), time_cell(model.latency_ns),
               time_cell(model.item_latency_ns), digits_cell(model.items_per_s), count_cell(model.executed),
               time_or_none(model.kernels.total_ns, model.kernels.calls > 0),
               amount_cell(model.kernels.flops, model.kernels.flops_share()), digits_cell(model.kernels.gflops_per_s()),
               percent_cell(model.kernels.flops ? model.kernels.flops_share() : std::nullopt)});
  to += "\nMODELS: latency and throughput against batch, kernels (A1, A15)\n" + table.text(on);
  bool is_found = false, is_compared = false;
  for (const stack_model& model : result.models) {
    is_compared = is_compared || model.is_optimal_batch;
    if (!model.is_optimal_batch.value_or(false)) continue;
    is_found = true;
    to += fmt::format("optimal batch: {} ({})\n", format_number(*model.batch), printable(model.name));
  }
  if (is_compared && !is_found) to += "optimal batch: larger than the measured ones\n";
}

// The numbers of the `most` longest of `all` rows, in their order.
template <class Time>
std::vector<std::size_t> find_longest(std::size_t all, std::size_t most, const Time& time_of) {
  std::vector<std::size_t> made(all);
  std::iota(made.begin(), made.end(), std::size_t{0});
  std::stable_sort(made.begin(), made.end(), [&](std::size_t a, std::size_t b) { return time_of(a) > time_of(b); });
  made.resize(std::min(most, all));
  return made;
}

// The time of layers in a call of each model, at its index; the last one: without a model.
std::vector<double> sum_layers(const stack_result& result) {
  std::vector<double> made(result.models.size() + 1);
  for (const stack_layer& layer : result.layers) made[layer.model] += layer.work.total_ns;
  return made;
}

void add_layers(const stack_result& result, std::size_t most, const screen& on, std::string& to) {
  text_table times = make_table("LAYER", {time_columns(),
                                          {{"%TIME"},
                                           {"KERNELS", column_kind::number, 0, 0, "ns"},
                                           {"DEVICE", column_kind::number, 0, 0, "ns"},
                                           {"OTHER", column_kind::number, 0, 0, "ns"}},
                                          model_column(result)});
  text_table amounts = make_table("LAYER", {amount_columns(), roofline_columns(), model_column(result)});
  const std::vector<double> whole = sum_layers(result);
  bool has_any = false;
  for (const std::size_t at : find_longest(result.layers.size(), most,
                                           [&](std::size_t number) { return result.layers[number].work.total_ns; })) {
    const stack_layer& layer = result.layers[at];
    const std::string name = printable(name_of(layer));
    const double all = whole[layer.model];
    times.add(join({{name},
                    make_time(layer.work),
                    {percent_cell(all > 0 ? std::optional(layer.work.total_ns / all) : std::nullopt),
                     time_or_none(layer.kernels.total_ns, layer.kernels.calls > 0),
                     time_or_none(layer.device_ns, layer.device_ns > 0), signed_time_cell(layer.other_ns)},
                    name_model(result, layer.model)}));
    amounts.add(
        join({{name}, make_amounts(layer.work), make_roofline(layer.roofline), name_model(result, layer.model)}));
    has_any = has_any || has_amounts(layer.work);
  }
  to += "\nLAYERS: shape, latency, kernels against other time (A2, A3, A13, A14)\n" +
        first_lines(times, result.layers.size(), most, on);
  if (has_any)
    to += "\nLAYERS: memory, flops, roofline (A4, A11, A12)\n" + first_lines(amounts, result.layers.size(), most, on);
}

// The layers of a model as executed; of a long list, the longest layers.
void add_pass(const stack_result& result, const stack_pass& pass, std::size_t most, const screen& on, std::string& to) {
  text_table table({{"#"},
                    {"LAYER", column_kind::name, 25},
                    {"TIME", column_kind::number, 0, 0, "ns"},
                    {"±", column_kind::number, 0, 0, "time_ns"},
                    {"BYTES"},
                    {"FLOP"},
                    {"KERNELS", column_kind::number, 0, 0, "ns"},
                    {"DEVICE", column_kind::number, 0, 0, "ns"},
                    {"OTHER", column_kind::number, 0, 0, "ns"}});
  std::vector<std::size_t> rows =
      find_longest(pass.layers.size(), most, [&](std::size_t number) { return pass.layers[number].latency_ns.value; });
  std::sort(rows.begin(), rows.end());
  for (const std::size_t at : rows) {
    const executed_layer& layer = pass.layers[at];
    const stack_layer& kind = result.layers[layer.layer];
    const auto of_call = [&](const std::optional<double>& amount) {
      return count_cell(amount && kind.executed > 0 ? std::optional(*amount / kind.executed) : std::nullopt);
    };
    table.add({std::to_string(at + 1), printable(name_of(kind)), time_cell(layer.latency_ns.value),
               time_cell(layer.latency_ns.error), of_call(kind.work.bytes), of_call(kind.work.flops),
               time_cell(layer.other_ns ? layer.kernels_ns : std::nullopt),
               time_or_none(layer.device_ns.value_or(0), layer.device_ns.value_or(0) > 0),
               signed_time_cell(layer.other_ns)});
  }
  const bool has_model = pass.model != result.models.size();
  to += fmt::format("\nLAYERS AS EXECUTED{}{}: means of {} {} (A2 to A4, A13)\n", has_model ? " in " : "",
                    has_model ? printable(result.models[pass.model].name) : "", pass.passes,
                    pass.passes == 1 ? "pass" : "passes") +
        table.text(on);
  if (rows.size() < pass.layers.size())
    to += fmt::format("… and {} shorter ones, with --verbose\n", pass.layers.size() - rows.size());
}

void add_types(const stack_result& result, std::size_t most, const screen& on, std::string& to) {
  text_table times = make_table("TYPE", {{{"LAYERS"}, {"%"}}, time_columns(), {{"%TIME"}}, model_column(result)});
  text_table amounts = make_table("TYPE", {amount_columns(), model_column(result)});
  bool has_any = false;
  for (std::size_t at = 0; at != std::min(most, result.types.size()); ++at) {
    const stack_type& type = result.types[at];
    const std::string name = printable(type.type);
    times.add(join({{name, count_cell(type.executed), percent_cell(type.share_of_layers)},
                    make_time(type.work),
                    {percent_cell(type.share_of_time)},
                    name_model(result, type.model)}));
    amounts.add(join({{name}, make_amounts(type.work), name_model(result, type.model)}));
    has_any = has_any || has_amounts(type.work);
  }
  to += "\nTYPES OF LAYERS: how many, latency (A5, A6)\n" + first_lines(times, result.types.size(), most, on);
  if (has_any) to += "\nTYPES OF LAYERS: memory, flops (A7)\n" + first_lines(amounts, result.types.size(), most, on);
}

void add_kernels(const stack_result& result, std::size_t most, const screen& on, std::string& to) {
  const columns_list layer_column = {{"LAYER", column_kind::text, 0, 26}};
  text_table times = make_table("KERNEL", {time_columns(), layer_column});
  text_table amounts = make_table("KERNEL", {amount_columns(), roofline_columns(), layer_column});
  bool has_any = false;
  for (std::size_t at = 0; at != std::min(most, result.kernels.size()); ++at) {
    const stack_kernel& kernel = result.kernels[at];
    const std::string name = printable(kernel.name);
    const cells layer = {kernel.layer ? printable(name_of(result.layers[*kernel.layer])) : "in none"};
    times.add(join({{name}, make_time(kernel.work), layer}));
    amounts.add(join({{name}, make_amounts(kernel.work), make_roofline(kernel.roofline), layer}));
    has_any = has_any || has_amounts(kernel.work);
  }
  to += "\nKERNELS: latency and their layer (A8)\n" + first_lines(times, result.kernels.size(), most, on);
  if (has_any)
    to += "\nKERNELS: memory, flops, roofline (A8, A9)\n" + first_lines(amounts, result.kernels.size(), most, on);
  text_table names = make_table("KERNEL", {{{"LAYERS"}}, time_columns(), model_column(result)});
  text_table amounts_of_names = make_table("KERNEL", {amount_columns(), model_column(result)});
  has_any = false;
  for (std::size_t at = 0; at != std::min(most, result.kernel_names.size()); ++at) {
    const stack_kernel_name& name = result.kernel_names[at];
    names.add(join(
        {{printable(name.name), std::to_string(name.layers)}, make_time(name.work), name_model(result, name.model)}));
    amounts_of_names.add(join({{printable(name.name)}, make_amounts(name.work), name_model(result, name.model)}));
    has_any = has_any || has_amounts(name.work);
  }
  to += "\nKERNELS BY NAME: latency (A10)\n" + first_lines(names, result.kernel_names.size(), most, on);
  if (has_any)
    to += "\nKERNELS BY NAME: memory, flops (A10)\n" +
          first_lines(amounts_of_names, result.kernel_names.size(), most, on);
}

}  // namespace

std::string to_table(const stack_result& result, const screen& on, bool is_verbose) {
  const std::size_t most = is_verbose ? std::numeric_limits<std::size_t>::max() : usual_lines;
  std::string made;
  add_models(result, on, made);
  for (const stack_pass& pass : result.passes) add_pass(result, pass, most, on, made);
  if (!result.layers.empty()) {
    add_layers(result, most, on, made);
    add_types(result, most, on, made);
  }
  if (!result.kernels.empty()) add_kernels(result, most, on, made);
  const char* const usual_legend =
      "figures are of a call of the model; a kernel ran on a device, or is a region of level library; —: unknown; ≥: "
      "unknown for some regions; more: --verbose";
  const char* const full_legend =
      "figures are of a call of the model, or of a run for layers without a model; #: position in the order of "
      "execution; a kernel is what runs on a device, or, on the host, a region of level library, without those that it calls; each "
      "figure is from the runs of its own level, so OTHER, a difference of two, may be below 0; %ROOF: of what the host "
      "can attain with these FLOP/BYTE, where its ceilings are known; "
      "KNOWN: share of KERNELS with known FLOP; ≥: FLOP or BYTES of some regions are unknown; optimal "
      "batch: the least that, doubled, adds at most 5 % of ITEMS/s; —: unknown, and not 0";
  made += "\n" + wrapped(is_verbose ? full_legend : usual_legend, on.columns) + "\n";
  return made.erase(0, 1);
}

}  // namespace adaptyst::lib
