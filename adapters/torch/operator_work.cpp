#include "operator_work.hpp"

#include <limits>

namespace adaptyst::torch_adapter {

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

struct known_operator {
  std::string_view name;
  operator_kind kind;
};

constexpr known_operator known[] = {
    {"aten::conv1d", operator_kind::convolution},
    {"aten::conv2d", operator_kind::convolution},
    {"aten::conv3d", operator_kind::convolution},
    {"aten::convolution", operator_kind::generic_convolution},
    {"aten::_convolution", operator_kind::generic_convolution},
    {"aten::convolution_overrideable", operator_kind::generic_convolution},
    {"aten::mkldnn_convolution", operator_kind::convolution},
    {"aten::cudnn_convolution", operator_kind::biasless_convolution},
    {"aten::thnn_conv2d", operator_kind::fourth_bias_convolution},
    {"aten::_slow_conv2d_forward", operator_kind::fourth_bias_convolution},
    {"aten::slow_conv3d", operator_kind::fourth_bias_convolution},
    {"aten::conv_transpose1d", operator_kind::transposed_convolution},
    {"aten::conv_transpose2d", operator_kind::transposed_convolution},
    {"aten::conv_transpose3d", operator_kind::transposed_convolution},
    {"aten::linear", operator_kind::linear},
    {"aten::mkldnn_linear", operator_kind::linear},
    {"aten::matmul", operator_kind::matmul},
    {"aten::mm", operator_kind::matmul},
    {"aten::bmm", operator_kind::matmul},
    {"aten::mv", operator_kind::matmul},
    {"aten::dot", operator_kind::matmul},
    {"aten::addmm", operator_kind::addmm},
    {"aten::baddbmm", operator_kind::addmm},
    {"aten::addmv", operator_kind::addmm},
};

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

operator_kind find_operator_kind(std::string_view name) noexcept {
  for (const known_operator& one : known)
    if (one.name == name) return one.kind;
  return operator_kind::unknown;
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
