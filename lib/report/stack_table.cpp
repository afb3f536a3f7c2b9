// For people: of long lists the part that takes longest.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "../support/text.hpp"
#include "stack_forms.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::size_t max_lines = 20;

std::string format_rate(const std::optional<double>& value, std::size_t width) {
  return right(value ? fmt::format("{:.3g}", *value) : "—", width);
}

std::string format_work(const stack_work& of) {
  return fmt::format("{} {} {} {} {} {}", right(format_number(of.calls), 8), right(duration(of.total_ns), 8),
                     right(of.bytes ? format_number(*of.bytes) : "—", 9),
                     right(of.flops ? format_number(*of.flops) : "—", 9), format_rate(of.intensity(), 9),
                     format_rate(of.gflops_per_s(), 8));
}

const std::string work_title = fmt::format("{} {} {} {} {} {}", right("CALLS", 8), right("TIME", 8), right("BYTES", 9),
                                           right("FLOP", 9), right("FLOP/BYTE", 9), right("GFLOP/s", 8));

std::string name_of(const stack_layer& layer) {
  return layer.shape.empty() ? layer.type : layer.type + " " + layer.shape;
}

std::string format_roofline(const std::optional<roofline>& of) {
  return fmt::format("{} {}", right(of ? fmt::format("{:.1f}", 100 * of->share) : "—", 6),
                     right(of ? to_string(of->bound) : "—", 7));
}

const std::string roofline_title = fmt::format("{} {}", right("%ROOF", 6), right("BOUND", 7));

void add_rest(std::size_t all, std::string& to) {
  if (all > max_lines) to += fmt::format("… and {} more, in JSON\n", all - max_lines);
}

void add_models(const stack_result& result, std::string& to) {
  if (result.models.empty()) return;
  to += fmt::format("\nMODELS: latency and throughput against batch, kernels (A1, A15)\n{} {} {} {} {} {} {}\n",
                    fitted("MODEL", 24), right("BATCH", 6), right("LATENCY", 9), right("PER ITEM", 9),
                    right("ITEMS/s", 8), right("LAYERS", 7), right("KERNELS", 9));
  for (const stack_model& one : result.models)
    to += fmt::format("{} {} {} {} {} {} {}\n", cut_in_middle(printable(one.name), 24), format_rate(one.batch, 6),
                      right(duration(one.latency_ns), 9),
                      right(one.item_latency_ns ? duration(*one.item_latency_ns) : "—", 9),
                      format_rate(one.items_per_s, 8), right(fmt::format("{}", one.layers), 7),
                      right(one.kernels.calls > 0 ? duration(one.kernels.total_ns) : "—", 9));
}

void add_layers(const stack_result& result, std::size_t room, std::string& to) {
  std::vector<std::size_t> order(result.layers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return result.layers[a].work.total_ns > result.layers[b].work.total_ns;
  });
  to += fmt::format(
      "\nLAYERS: shape, latency, memory, roofline, kernels against other time (A2 to A4, A11 to A14)\n{} {} {} {} {} "
      "{}\n",
      fitted("LAYER", room), work_title, roofline_title, right("KERNELS", 8), right("DEVICE", 8), right("OTHER", 9));
  for (std::size_t at = 0; at != std::min(max_lines, order.size()); ++at) {
    const stack_layer& one = result.layers[order[at]];
    const std::string other =
        one.other_ns ? (*one.other_ns < 0 ? "-" : "") + duration(std::max(*one.other_ns, -*one.other_ns)) : "—";
    to += fmt::format("{} {} {} {} {} {}\n", cut_in_middle(printable(name_of(one)), room), format_work(one.work),
                      format_roofline(one.roofline),
                      right(one.kernels.calls > 0 ? duration(one.kernels.total_ns) : "—", 8),
                      right(one.device_ns > 0 ? duration(one.device_ns) : "—", 8), right(other, 9));
  }
  add_rest(order.size(), to);
}

void add_types(const stack_result& result, std::size_t room, std::string& to) {
  to += fmt::format("\nTYPES OF LAYERS: how many, latency, memory (A5 to A7)\n{} {} {} {} {}\n", fitted("TYPE", room),
                    right("LAYERS", 7), right("%", 5), right("%TIME", 6), work_title);
  for (std::size_t at = 0; at != std::min(max_lines, result.types.size()); ++at) {
    const stack_type& one = result.types[at];
    to += fmt::format(
        "{} {:7} {:5.1f} {} {}\n", cut_in_middle(printable(one.type), room), one.layers, 100 * one.share_of_layers,
        right(one.share_of_time ? fmt::format("{:.1f}", 100 * *one.share_of_time) : "—", 6), format_work(one.work));
  }
  add_rest(result.types.size(), to);
}

void add_kernels(const stack_result& result, std::size_t room, std::string& to) {
  to += fmt::format("\nKERNELS: with their roofline, and where they stand (A8, A9)\n{} {} {} LAYER\n",
                    fitted("KERNEL", room), work_title, roofline_title);
  for (std::size_t at = 0; at != std::min(max_lines, result.kernels.size()); ++at) {
    const stack_kernel& one = result.kernels[at];
    const std::string layer = one.layer ? name_of(result.layers[*one.layer]) : "in none";
    to += fmt::format("{} {} {} {}\n", cut_in_middle(printable(one.name), room), format_work(one.work),
                      format_roofline(one.roofline), printable(layer));
  }
  add_rest(result.kernels.size(), to);
  to += fmt::format("\nKERNELS BY NAME (A10)\n{} {} {}\n", fitted("KERNEL", room), right("LAYERS", 7), work_title);
  for (std::size_t at = 0; at != std::min(max_lines, result.kernel_names.size()); ++at) {
    const stack_kernel_name& one = result.kernel_names[at];
    to += fmt::format("{} {:7} {}\n", cut_in_middle(printable(one.name), room), one.layers, format_work(one.work));
  }
  add_rest(result.kernel_names.size(), to);
}

}  // namespace

std::string to_table(const stack_result& result, std::size_t screen) {
  const std::size_t room = screen > 130 ? std::min<std::size_t>(60, screen - 105) : 25;
  std::string made;
  add_models(result, made);
  if (!result.layers.empty()) {
    add_layers(result, room, made);
    add_types(result, room, made);
  }
  if (!result.kernels.empty()) add_kernels(result, room, made);
  made +=
      "\n" +
      wrapped(
          "a kernel is what runs on a device, or, on the host, a region of level library, without those that it calls; "
          "each figure is from the runs of its own level, so OTHER, a difference of two, may be below 0; %ROOF: of "
          "what the host "
          "can attain with these FLOP/BYTE, where its ceilings are known; —: not "
          "known, and not 0",
          screen) +
      "\n";
  return made.erase(0, 1);
}

}  // namespace adaptyst::lib
