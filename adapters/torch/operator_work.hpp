// Number of floating-point operations of a torch operator, from the shapes of its tensors. docs/torch.md has the
// formulas.
#ifndef ADAPTYST_ADAPTERS_TORCH_OPERATOR_WORK_HPP
#define ADAPTYST_ADAPTERS_TORCH_OPERATOR_WORK_HPP

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace adaptyst::torch_adapter {

struct shape {
  const std::int64_t* sizes = nullptr;
  std::size_t dimensions = 0;
  bool is_present = false;  // false: missing argument, or no tensor

  double count() const noexcept;  // of elements
};

enum class operator_kind : std::uint8_t {
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
operator_kind find_operator_kind(std::string_view name) noexcept;

constexpr std::size_t max_operands = 3;

// A multiplication and an addition count as two. NaN: unknown operator, or shapes do not fit.
double count_flops(operator_kind kind, const shape (&operands)[max_operands], double output_count) noexcept;

}  // namespace adaptyst::torch_adapter

#endif
