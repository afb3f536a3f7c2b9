// Functions whose names need demangling.
#include <string>

namespace flow {

[[gnu::used, gnu::noinline]] int compute_flux(int x) {
  __asm__ volatile("" : "+r"(x) : : "memory");
  return x;
}
[[gnu::used, gnu::noinline]] int compute_flux(double x) { return compute_flux(static_cast<int>(x)) + 1; }

struct grid {
  int cells = 0;
  [[gnu::used, gnu::noinline]] int operator[](int at) const { return compute_flux(at) + cells; }
  [[gnu::used, gnu::noinline]] grid& operator*=(int factor) {
    cells = compute_flux(cells) * factor;
    return *this;
  }
};

template <class T>
[[gnu::used, gnu::noinline]] T twice(T x) {
  __asm__ volatile("" : "+m"(x) : : "memory");
  return x + x;
}

[[gnu::used, gnu::noinline]] std::string tagged(int x) { return std::to_string(compute_flux(x)); }

}  // namespace flow

int main(int count, char**) {
  flow::grid g;
  g *= count;
  return flow::compute_flux(2.5) + g[count] + flow::twice(count) + static_cast<int>(flow::twice(1.5)) +
         static_cast<int>(flow::tagged(count).size());
}
