// ADAPTYST_BENCH_SITES markers, each in a function of its own, in one ELF object.
#include <adaptyst/region.hpp>
#include <utility>

#include "measure.hpp"

namespace bench {

namespace {

template <std::size_t>
void site() {
  ADAPTYST_REGION("one of many");
}

template <std::size_t... Number>
std::size_t touch(std::index_sequence<Number...>) {
  using function = void (*)();
  static constexpr function all[] = {&site<Number>...};
  for (const function call_site : all) call_site();
  return sizeof...(Number);
}

}  // namespace

std::size_t touch_many_sites() { return touch(std::make_index_sequence<ADAPTYST_BENCH_SITES>()); }

}  // namespace bench
