// Floating-point operations by formula, against loops that count each multiplication and addition.
#include "operator_work.hpp"

#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "catch.hpp"

namespace {

using namespace adaptyst::torch_adapter;
using sizes = std::vector<std::int64_t>;

shape make_shape(const sizes& from) { return {from.data(), from.size(), true}; }

double count(operator_kind kind, const sizes& a, const sizes& b, bool has_third, double outputs) {
  const sizes third{1};
  const shape operands[max_operands] = {make_shape(a), make_shape(b), has_third ? make_shape(third) : shape{}};
  return count_flops(kind, operands, outputs);
}

std::int64_t draw(std::mt19937& random, std::int64_t from, std::int64_t to) {
  return std::uniform_int_distribution<std::int64_t>(from, to)(random);
}

TEST_CASE("a convolution takes what its loops take, padding included") {
  std::mt19937 random(18);
  for (int at = 0; at != 50; ++at) {
    const std::int64_t images = draw(random, 1, 3), groups = draw(random, 1, 3), from = groups * draw(random, 1, 3),
                       to = groups * draw(random, 1, 3), kernel = draw(random, 1, 3), stride = draw(random, 1, 2),
                       side = draw(random, 4, 7), out = (side - kernel) / stride + 1;
    double flops = 0, outputs = 0;
    for (std::int64_t image = 0; image != images; ++image)
      for (std::int64_t channel = 0; channel != to; ++channel)
        for (std::int64_t pixel = 0; pixel != out * out; ++pixel) {
          ++outputs;
          for (std::int64_t input = 0; input != from / groups; ++input)
            for (std::int64_t weight = 0; weight != kernel * kernel; ++weight) flops += 2;
          flops += 1;  // the bias
        }
    const sizes input{images, from, side, side}, weight{to, from / groups, kernel, kernel};
    CHECK(count(operator_kind::convolution, input, weight, true, outputs) == flops);
    CHECK(count(operator_kind::convolution, input, weight, false, outputs) == flops - outputs);
    // Transposed, each element of the input goes into as many products.
    const sizes small{images, to, out, out};
    CHECK(count(operator_kind::transposed_convolution, small, weight, false, 0) == flops - outputs);
  }
}

TEST_CASE("products take what their loops take") {
  std::mt19937 random(19);
  for (int at = 0; at != 50; ++at) {
    const std::int64_t batch = draw(random, 1, 3), rows = draw(random, 1, 5), inner = draw(random, 1, 5),
                       columns = draw(random, 1, 5);
    double flops = 0;
    for (std::int64_t each = 0; each != batch * rows * columns; ++each)
      for (std::int64_t term = 0; term != inner; ++term) flops += 2;
    const auto outputs = static_cast<double>(batch * rows * columns);
    CHECK(count(operator_kind::matmul, {batch, rows, inner}, {batch, inner, columns}, false, outputs) == flops);
    CHECK(count(operator_kind::linear, {batch * rows, inner}, {columns, inner}, false, outputs) == flops);
    CHECK(count(operator_kind::linear, {batch * rows, inner}, {columns, inner}, true, outputs) == flops + outputs);
  }
  CHECK(count(operator_kind::matmul, {7}, {7}, false, 1) == 14);
  const sizes added{4}, left{2, 3}, right{3, 4};
  const shape operands[max_operands] = {make_shape(added), make_shape(left), make_shape(right)};
  CHECK(count_flops(operator_kind::addmm, operands, 8) == 2 * 2 * 3 * 4 + 8);
}

TEST_CASE("what is not known is not 0") {
  const shape none[max_operands] = {};
  for (const operator_kind kind :
       {operator_kind::unknown, operator_kind::convolution, operator_kind::generic_convolution,
        operator_kind::biasless_convolution, operator_kind::fourth_bias_convolution,
        operator_kind::transposed_convolution, operator_kind::linear, operator_kind::matmul, operator_kind::addmm})
    CHECK(std::isnan(count_flops(kind, none, 8)));
  CHECK(std::isnan(count(operator_kind::convolution, {1, 1, 4, 4}, {0, 1, 3, 3}, false, 0)));
  CHECK(std::isnan(count(operator_kind::matmul, {}, {}, false, 1)));
  CHECK(adaptyst::find_torch_operator("aten::conv2d") == operator_kind::convolution);
  // Of these alone the seventh argument tells whether it is transposed: of cuDNN's, it is "benchmark".
  CHECK(adaptyst::find_torch_operator("aten::convolution") == operator_kind::generic_convolution);
  CHECK(adaptyst::find_torch_operator("aten::cudnn_convolution") == operator_kind::biasless_convolution);
  CHECK(adaptyst::find_torch_operator("aten::thnn_conv2d") == operator_kind::fourth_bias_convolution);
  CHECK(adaptyst::find_torch_operator("aten::conv2") == operator_kind::unknown);
  CHECK(adaptyst::find_torch_operator("aten::relu_") == operator_kind::unknown);
}

}  // namespace
