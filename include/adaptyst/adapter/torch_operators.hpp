// Operators of torch with a weight or a second factor, for the adapter and for readers of torch's traces.
#ifndef ADAPTYST_ADAPTER_TORCH_OPERATORS_HPP
#define ADAPTYST_ADAPTER_TORCH_OPERATORS_HPP

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace adaptyst { inline namespace v1 {

enum class torch_operator_kind : std::uint8_t {
  unknown,
  convolution,              // input, weight, bias
  generic_convolution,      // the same; argument 7: is transposed
  transposed_convolution,   // input, weight, bias
  biasless_convolution,     // input, weight
  fourth_bias_convolution,  // input, weight, bias (argument 4)
  linear,                   // input, weight, bias
  matmul,                   // left, right
  addmm,                    // addend, left, right
};

// By the operator's name, such as "aten::conv2d".
inline torch_operator_kind find_torch_operator(std::string_view name) noexcept {
  struct known_operator {
    std::string_view name;
    torch_operator_kind kind;
  };
  static constexpr known_operator listed_operators[] = {
      {"aten::conv1d", torch_operator_kind::convolution},
      {"aten::conv2d", torch_operator_kind::convolution},
      {"aten::conv3d", torch_operator_kind::convolution},
      {"aten::convolution", torch_operator_kind::generic_convolution},
      {"aten::_convolution", torch_operator_kind::generic_convolution},
      {"aten::convolution_overrideable", torch_operator_kind::generic_convolution},
      {"aten::mkldnn_convolution", torch_operator_kind::convolution},
      {"aten::cudnn_convolution", torch_operator_kind::biasless_convolution},
      {"aten::thnn_conv2d", torch_operator_kind::fourth_bias_convolution},
      {"aten::_slow_conv2d_forward", torch_operator_kind::fourth_bias_convolution},
      {"aten::slow_conv3d", torch_operator_kind::fourth_bias_convolution},
      {"aten::conv_transpose1d", torch_operator_kind::transposed_convolution},
      {"aten::conv_transpose2d", torch_operator_kind::transposed_convolution},
      {"aten::conv_transpose3d", torch_operator_kind::transposed_convolution},
      {"aten::linear", torch_operator_kind::linear},
      {"aten::mkldnn_linear", torch_operator_kind::linear},
      {"aten::matmul", torch_operator_kind::matmul},
      {"aten::mm", torch_operator_kind::matmul},
      {"aten::bmm", torch_operator_kind::matmul},
      {"aten::mv", torch_operator_kind::matmul},
      {"aten::dot", torch_operator_kind::matmul},
      {"aten::addmm", torch_operator_kind::addmm},
      {"aten::baddbmm", torch_operator_kind::addmm},
      {"aten::addmv", torch_operator_kind::addmm},
  };
  for (const known_operator& listed : listed_operators)
    if (listed.name == name) return listed.kind;
  return torch_operator_kind::unknown;
}

// The position of the input, or of the left factor. The weight, or the right factor, is the next operand.
constexpr std::size_t first_operand(torch_operator_kind kind) noexcept {
  return kind == torch_operator_kind::addmm ? 1 : 0;
}

}}  // namespace adaptyst::v1

#endif
