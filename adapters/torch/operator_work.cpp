#include "operator_work.hpp"

#include <limits>

namespace adaptyst::torch_adapter {

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

struct known_operator {
  std::string_view name;
  work kind;
};

constexpr known_operator known[] = {
    {"aten::conv1d", work::convolution},
    {"aten::conv2d", work::convolution},
    {"aten::conv3d", work::convolution},
    {"aten::convolution", work::any_convolution},
    {"aten::_convolution", work::any_convolution},
    {"aten::convolution_overrideable", work::any_convolution},
    {"aten::mkldnn_convolution", work::convolution},
    {"aten::cudnn_convolution", work::plain_convolution},
    {"aten::thnn_conv2d", work::late_bias_convolution},
    {"aten::_slow_conv2d_forward", work::late_bias_convolution},
    {"aten::slow_conv3d", work::late_bias_convolution},
    {"aten::conv_transpose1d", work::transposed_convolution},
    {"aten::conv_transpose2d", work::transposed_convolution},
    {"aten::conv_transpose3d", work::transposed_convolution},
    {"aten::linear", work::linear},
    {"aten::mkldnn_linear", work::linear},
    {"aten::matmul", work::product},
    {"aten::mm", work::product},
    {"aten::bmm", work::product},
    {"aten::mv", work::product},
    {"aten::dot", work::product},
    {"aten::addmm", work::sum_with_product},
    {"aten::baddbmm", work::sum_with_product},
    {"aten::addmv", work::sum_with_product},
};

double last_size(const shape& of) noexcept {
  return of.dimensions != 0 ? static_cast<double>(of.sizes[of.dimensions - 1]) : unknown;
}

// Number of weights for each element of one side: the weight has its outputs first, or its inputs if it is transposed.
double weights_of_one(const shape& weight) noexcept {
  return weight.is_there && weight.dimensions > 1 && weight.sizes[0] > 0
             ? weight.count() / static_cast<double>(weight.sizes[0])
             : unknown;
}

}  // namespace

double shape::count() const noexcept {
  double product = 1;
  for (std::size_t at = 0; at != dimensions; ++at) product *= static_cast<double>(sizes[at]);
  return product;
}

work find_work(std::string_view name) noexcept {
  for (const known_operator& one : known)
    if (one.name == name) return one.kind;
  return work::unknown;
}

double count_flops(work kind, const shape (&operands)[max_operands], double output_count) noexcept {
  const double added = operands[2].is_there ? output_count : 0;  // the bias
  switch (kind) {
    case work::plain_convolution:
    case work::late_bias_convolution:
    case work::any_convolution:
    case work::convolution: return 2 * output_count * weights_of_one(operands[1]) + added;
    case work::transposed_convolution:
      return operands[0].is_there ? 2 * operands[0].count() * weights_of_one(operands[1]) + added : unknown;
    case work::linear: return operands[1].is_there ? 2 * output_count * last_size(operands[1]) + added : unknown;
    case work::product: return operands[0].is_there ? 2 * output_count * last_size(operands[0]) : unknown;
    case work::sum_with_product:
      return operands[1].is_there ? 2 * output_count * last_size(operands[1]) + output_count : unknown;
    case work::unknown: break;
  }
  return unknown;
}

}  // namespace adaptyst::torch_adapter
