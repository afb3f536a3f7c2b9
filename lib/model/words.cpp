// Tables of enumerations and their words, in both directions.
#include "words.hpp"

#include <charconv>

#include "../support/text.hpp"

namespace adaptyst { inline namespace v1 {

namespace {

constexpr std::string_view one_of = "1 of ";

static_assert(lib::words<region_kind>.size() == static_cast<std::size_t>(region_kind::metric) + 1);
static_assert(lib::words<device_kind>.size() == static_cast<std::size_t>(device_kind::other) + 1);
static_assert(lib::words<clock_id>.size() == static_cast<std::size_t>(clock_id::device) + 1);
static_assert(lib::words<loss_reason>.size() == static_cast<std::size_t>(loss_reason::other) + 1);
static_assert(lib::words<level>.size() == static_cast<std::size_t>(level::hardware) + 1);
static_assert(lib::words<flop_precision>.size() == static_cast<std::size_t>(flop_precision::single_precision) + 1);
static_assert(lib::words<roofline_bound>.size() == static_cast<std::size_t>(roofline_bound::compute) + 1);
static_assert(lib::words<finding_kind>.size() == static_cast<std::size_t>(finding_kind::heap_growth) + 1);
static_assert(lib::words<finding_unit>.size() == static_cast<std::size_t>(finding_unit::bytes) + 1);
static_assert(lib::words<next_step>.size() == static_cast<std::size_t>(next_step::free_memory) + 1);
static_assert(lib::words<advice_objective>.size() == static_cast<std::size_t>(advice_objective::balanced) + 1);
static_assert(lib::words<cost_provenance>.size() == static_cast<std::size_t>(cost_provenance::extrapolated) + 1);

}  // namespace

const char* to_string(region_kind kind) { return lib::word_at(kind); }
const char* to_string(device_kind kind) { return lib::word_at(kind); }
const char* to_string(clock_id clock) { return lib::word_at(clock); }
const char* to_string(loss_reason reason) { return lib::word_at(reason); }
const char* to_string(level which) { return lib::word_at(which); }
const char* to_string(flop_precision precision) { return lib::word_at(precision); }
const char* to_string(roofline_bound bound) { return lib::word_at(bound); }
const char* to_string(finding_kind kind) { return lib::word_at(kind); }
const char* to_string(finding_unit unit) { return lib::word_at(unit); }
const char* to_string(next_step step) { return lib::word_at(step); }
const char* to_string(change_verdict what) { return lib::word_at(what); }
const char* to_string(compared_time which) { return lib::word_at(which); }
const char* to_string(setting_kind what) { return lib::word_at(what); }
const char* to_string(advice_objective objective) { return lib::word_at(objective); }
const char* to_string(execution_mode execution) { return lib::word_at(execution); }
const char* to_string(cost_provenance provenance) { return lib::word_at(provenance); }
const char* to_string(comparison_method how) { return lib::word_at(how); }

std::string to_string(const budget_step& step) {
  if (step.is_in_kernel) return "kernel";
  return step.one_of == 1 ? "recorder" : std::string(one_of) + std::to_string(step.one_of);
}

}}  // namespace adaptyst::v1

namespace adaptyst::lib {

std::optional<budget_step> step_from_word(std::string_view word) {
  if (word == "kernel") return budget_step{true, 1};
  if (word == "recorder") return budget_step{false, 1};
  if (word.substr(0, one_of.size()) != one_of) return std::nullopt;
  const char* const end = word.data() + word.size();
  budget_step made;
  const auto [stop, failed] = std::from_chars(word.data() + one_of.size(), end, made.one_of);
  const bool spelled =
      failed == std::errc{} && stop == end && made.one_of != 0 && to_string(made) == word;  // no "1 of 064"
  return spelled ? std::optional(made) : std::nullopt;
}

std::string list_losses(const losses& all) {
  std::string list;
  for (const auto& [reason, count] : by_word(all))
    list += (list.empty() ? "" : ", ") + format_count(count) + " " + reason;
  return list;
}

std::string device_label(const std::optional<device_kind>& kind, std::uint32_t index, bool is_host) {
  if (is_host) return "host";
  const auto word = [&] {
    if (!kind) return "?";
    if (kind == device_kind::cpu) return "ocl";
    return kind == device_kind::accelerator ? "acc" : to_string(*kind);
  };
  return word() + std::to_string(index);
}

std::string device_label(const profile& in, std::uint32_t device) {
  if (device >= in.devices.size()) return "?";
  return device_label(in.devices[device].kind, in.devices[device].index, in.is_host(device));
}

std::string place_label(region_kind kind, const std::string& device) {
  const bool is_operation = kind == region_kind::kernel || kind == region_kind::copy_to ||
                            kind == region_kind::copy_from || kind == region_kind::fill || kind == region_kind::other;
  return is_operation ? "~ " + device : device;
}

std::string named_device(const std::string& label, const std::string& name) {
  return label == name ? label : label + "  " + printable(name);
}

}  // namespace adaptyst::lib
