// Number of floating-point operations of a torch operator, from the shapes of its tensors. docs/torch.md has the
// formulas.
#ifndef ADAPTYST_ADAPTERS_TORCH_OPERATOR_WORK_HPP
#define ADAPTYST_ADAPTERS_TORCH_OPERATOR_WORK_HPP

#include <adaptyst/adapter/torch_operators.hpp>
#include <cstddef>
#include <cstdint>

namespace adaptyst::torch_adapter {

struct shape {
  const std::int64_t* sizes = nullptr;
  std::size_t dimensions = 0;
  bool is_present = false;  // false: missing argument, or no tensor

  double count() const noexcept;  // of elements
};

using operator_kind = torch_operator_kind;

constexpr std::size_t max_operands = 3;

// A multiplication and an addition count as two. NaN: unknown operator, or shapes do not fit.
double count_flops(operator_kind kind, const shape (&operands)[max_operands], double output_count) noexcept;

}  // namespace adaptyst::torch_adapter

#endif
