// Turns the calls of torch before and after each operator and scope (at::RecordFunction) into regions. docs/torch.md
//
// Torch passes inputs only to callbacks that request them, and then copies them for each operator. Without an attached
// tool, these callbacks are therefore disabled. Another callback, which torch calls for one operator of a thousand,
// checks whether a tool is attached; the other operators only pay a decrement.
#include <ATen/record_function.h>

#include <adaptyst/adapter/callback_region.hpp>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>

#include "../name_cache.hpp"
#include "operator_work.hpp"

namespace adaptyst::torch_adapter { namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

// The rules of lib/support/levels.cpp contain these names.
constexpr source_place scope_place{"", "torch scope", 0};
constexpr source_place operator_place{"", "torch operator", 0};
constexpr source_place nested_place{"", "torch operator within another", 0};

constexpr const char* number_names[] = {"bytes", "flops"};

// Number for this thread. Also counted without an attached tool, as far as callbacks are called.
thread_local unsigned open_operators = 0;

struct open_scope : at::ObserverContext {
  callback_region region;
};

struct open_operator : at::ObserverContext {
  callback_region region;
  bool is_counted = false;
  operator_kind kind = operator_kind::unknown;
  std::int64_t sizes[max_operands][8] = {};
  shape operands[max_operands];
  double input_bytes = 0;
  const void* first_data = nullptr;
  bool is_in_place = false;
};

// Tensors without memory of their own kind (sparse, in another library's layout) have an unknown number of bytes.
double count_bytes(const at::Tensor& tensor) {
  if (!tensor.defined()) return 0;
  if (tensor.layout() != at::kStrided) return unknown;
  return static_cast<double>(tensor.numel()) * static_cast<double>(tensor.element_size());
}

double count_bytes(const c10::IValue& value) {
  if (value.isTensor()) return count_bytes(value.toTensor());
  double sum = 0;
  if (value.isTensorList())
    for (const at::Tensor& tensor : value.toTensorVector()) sum += count_bytes(tensor);
  return sum;
}

double count_elements(const c10::IValue& value) {
  return value.isTensor() && value.toTensor().defined() ? static_cast<double>(value.toTensor().numel()) : unknown;
}

const void* find_data(const c10::IValue& value) {
  if (!value.isTensor() || !value.toTensor().defined() || !value.toTensor().has_storage()) return nullptr;
  return value.toTensor().storage().data();
}

void keep_operands(c10::ArrayRef<const c10::IValue> inputs, open_operator& to) {
  constexpr std::size_t bias = 2, late_bias = 3;
  for (std::size_t at = 0; at != max_operands; ++at) {
    const std::size_t from = at == bias && to.kind == operator_kind::fourth_bias_convolution ? late_bias : at;
    if (from >= inputs.size() || !inputs[from].isTensor() || !inputs[from].toTensor().defined()) continue;
    const c10::IntArrayRef sizes = inputs[from].toTensor().sizes();
    shape& made = to.operands[at];
    if (sizes.size() > std::size(to.sizes[at])) continue;
    std::copy(sizes.begin(), sizes.end(), to.sizes[at]);
    made = {to.sizes[at], sizes.size(), true};
  }
  constexpr std::size_t transposed = 6;
  if (to.kind == operator_kind::generic_convolution && inputs.size() > transposed && inputs[transposed].isBool() &&
      inputs[transposed].toBool())
    to.kind = operator_kind::transposed_convolution;
}

struct text_writer {
  char* at;
  std::size_t room;

  void add(std::string_view text) {
    const std::size_t bytes = std::min(text.size(), room - 1);
    std::copy_n(text.data(), bytes, at);
    at[bytes] = '\0';
    at += bytes;
    room -= bytes;
  }
  void add(const shape& of) {
    for (std::size_t dimension = 0; dimension != of.dimensions; ++dimension) {
      if (dimension != 0) add("x");
      char digits[24];
      add({digits, static_cast<std::size_t>(
                       std::snprintf(digits, sizeof digits, "%lld", static_cast<long long>(of.sizes[dimension])))});
    }
    if (of.dimensions == 0) add("1");
  }
};

// The shapes that distinguish layers with one name: of the input, and of the weight. Limited by the room of the table;
// further shapes share a row.
const char* find_label(const open_operator& of) {
  static adapters::name_cache labels;
  const std::size_t first = first_operand(of.kind);
  const bool has_weight = of.kind != operator_kind::unknown && of.operands[first + 1].is_present;
  const std::size_t last = first + static_cast<std::size_t>(has_weight);
  if (!of.operands[first].is_present) return "";
  std::uint64_t key = 1 + static_cast<std::uint64_t>(has_weight);
  for (std::size_t at = first; at <= last; ++at) {
    key = detail::mix(key ^ of.operands[at].dimensions);
    for (std::size_t size = 0; size != of.operands[at].dimensions; ++size)
      key = detail::mix(key ^ static_cast<std::uint64_t>(of.operands[at].sizes[size]));
  }
  const char* const label = labels.find(key != 0 ? key : 1, [&](auto& text) {
    text_writer writer{text, sizeof text};
    writer.add("shape=");
    writer.add(of.operands[first]);
    if (!has_weight) return;
    writer.add(",weight=");
    writer.add(of.operands[last]);
  });
  return label != nullptr ? label : "";
}

// In-place operators: "aten::add_", but not "aten::__and__".
bool is_in_place(std::string_view name) noexcept {
  return name.size() > 2 && name.back() == '_' && name[name.size() - 2] != '_';
}

void read_inputs(const at::RecordFunction& function, std::string_view name, open_operator& to) {
  to.kind = find_torch_operator(name);
  to.is_in_place = is_in_place(name);
  const c10::ArrayRef<const c10::IValue> inputs = function.inputs();
  keep_operands(inputs, to);
  for (const c10::IValue& input : inputs) to.input_bytes += count_bytes(input);
  if (!inputs.empty()) to.first_data = find_data(inputs[0]);
}

// An operator with a result that shares the memory of its first argument (view, reshape, disabled dropout) moves no
// bytes.
void write_numbers(const at::RecordFunction& function, const open_operator& of, double (&numbers)[2]) {
  const std::vector<c10::IValue>& outputs = function.outputs();
  double bytes = of.input_bytes;
  for (const c10::IValue& output : outputs) bytes += count_bytes(output);
  const bool is_view =
      !of.is_in_place && outputs.size() == 1 && of.first_data != nullptr && find_data(outputs[0]) == of.first_data;
  numbers[0] = outputs.empty() ? unknown : is_view ? 0 : bytes;
  numbers[1] = outputs.size() == 1 ? count_flops(of.kind, of.operands, count_elements(outputs[0])) : unknown;
}

at::CallbackHandle scopes, operators, sampled;
std::atomic<bool> are_enabled{false};

void enable(bool wanted) {
  if (are_enabled.exchange(wanted) == wanted) return;
  if (wanted) {
    at::disableCallback(sampled);
    at::reenableCallback(scopes);
    at::reenableCallback(operators);
  } else {
    at::disableCallback(scopes);
    at::disableCallback(operators);
    at::reenableCallback(sampled);
  }
}

bool check_enabled() {
  if (detail::is_enabled()) return true;
  enable(false);
  return false;
}

std::unique_ptr<at::ObserverContext> begin_scope(const at::RecordFunction& function) {
  if (!check_enabled()) return nullptr;
  auto open = std::make_unique<open_scope>();
  open->region = callback_region::begin(function.name(), scope_place);
  return open;
}

void end_scope(const at::RecordFunction&, at::ObserverContext* context) {
  if (auto* const open = static_cast<open_scope*>(context)) open->region.end();
}

std::unique_ptr<at::ObserverContext> begin_operator(const at::RecordFunction& function) {
  if (!check_enabled()) return nullptr;
  auto open = std::make_unique<open_operator>();
  const char* const name = function.name();
  const bool is_nested = open_operators++ != 0;
  const source_place& place = is_nested ? nested_place : operator_place;
  // Shapes and labels take longer than all else: they are not read for levels that this run does not record.
  detail::site marker{nullptr, 0, place.file, place.function, place.line, ADAPTYST_SITE_CALLBACK, nullptr};
  if (detail::is_beyond(marker.record, detail::to_text(name), 0)) return open;
  try {
    read_inputs(function, name, *open);
  } catch (...) {  // a tensor with an unreadable shape
    open->input_bytes = unknown;
    open->operands[0] = {};
  }
  region_numbers with{number_names, open->kind != operator_kind::unknown ? 2U : 1U, ""};
  if (!is_nested) with.label = find_label(*open);
  open->region = callback_region::begin(name, with, place);
  return open;
}

void end_operator(const at::RecordFunction& function, at::ObserverContext* context) {
  auto* const open = static_cast<open_operator*>(context);
  if (open == nullptr) return;
  if (open_operators != 0) --open_operators;
  if (open->region.number() == 0) return;
  double numbers[2] = {unknown, unknown};
  try {
    write_numbers(function, *open, numbers);
  } catch (...) {}
  open->region.end(numbers);
}

std::unique_ptr<at::ObserverContext> follow_collector(const at::RecordFunction&) {
  if (detail::is_enabled()) enable(true);
  return nullptr;
}

}}  // namespace adaptyst::torch_adapter

extern "C" __attribute__((visibility("default"))) void adaptyst_torch_start() {
  using namespace adaptyst::torch_adapter;
  using scope = at::RecordScope;
  scopes = at::addGlobalCallback(
      at::RecordFunctionCallback(begin_scope, end_scope).scopes({scope::USER_SCOPE, scope::TORCHSCRIPT_FUNCTION}));
  operators = at::addGlobalCallback(at::RecordFunctionCallback(begin_operator, end_operator)
                                        .needsInputs(true)
                                        .needsOutputs(true)
                                        .scopes({scope::FUNCTION, scope::BACKWARD_FUNCTION}));
  sampled = at::addGlobalCallback(
      at::RecordFunctionCallback(follow_collector).samplingProb(0.001).scopes({scope::FUNCTION, scope::USER_SCOPE}));
  are_enabled = true;
  if (adaptyst::detail::is_enabled()) at::disableCallback(sampled);
  else enable(false);
}
