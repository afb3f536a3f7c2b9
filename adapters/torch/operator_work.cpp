#include "operator_work.hpp"

#include <limits>

namespace adaptyst::torch_adapter {

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

double last_size(const shape& of) noexcept {
  return of.dimensions != 0 ? static_cast<double>(of.sizes[of.dimensions - 1]) : unknown;
}

// Number of weights for each element of one side: the weight has its outputs first, or its inputs if it is transposed.
double weights_of_one(const shape& weight) noexcept {
  return weight.is_present && weight.dimensions > 1 && weight.sizes[0] > 0
             ? weight.count() / static_cast<double>(weight.sizes[0])
             : unknown;
}

}  // namespace

double shape::count() const noexcept {
  double product = 1;
  for (std::size_t at = 0; at != dimensions; ++at) product *= static_cast<double>(sizes[at]);
  return product;
}

double count_flops(operator_kind kind, const shape (&operands)[max_operands], double output_count) noexcept {
  const double added = operands[2].is_present ? output_count : 0;  // the bias
  switch (kind) {
    case operator_kind::biasless_convolution:
    case operator_kind::fourth_bias_convolution:
    case operator_kind::generic_convolution:
    case operator_kind::convolution: return 2 * output_count * weights_of_one(operands[1]) + added;
    case operator_kind::transposed_convolution:
      return operands[0].is_present ? 2 * operands[0].count() * weights_of_one(operands[1]) + added : unknown;
    case operator_kind::linear:
      return operands[1].is_present ? 2 * output_count * last_size(operands[1]) + added : unknown;
    case operator_kind::matmul: return operands[0].is_present ? 2 * output_count * last_size(operands[0]) : unknown;
    case operator_kind::addmm:
      return operands[1].is_present ? 2 * output_count * last_size(operands[1]) + output_count : unknown;
    case operator_kind::unknown: break;
  }
  return unknown;
}

}  // namespace adaptyst::torch_adapter
