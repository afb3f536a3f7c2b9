// The functions of OpenCL that ours stand before.
#ifndef ADAPTYST_ADAPTERS_OPENCL_NEXT_HPP
#define ADAPTYST_ADAPTERS_OPENCL_NEXT_HPP

#include <dlfcn.h>

namespace adaptyst::interposer {

// This library is linked with OpenCL's, so there always is one.
template <class Function>
Function* next(const char* name) noexcept {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace adaptyst::interposer

// Within one of ours: the function that it stands for.
#define ADAPTYST_NEXT(function)                                                                               \
  ([]() noexcept {                                                                                            \
    static decltype(&::function) const found = ::adaptyst::interposer::next<decltype(::function)>(#function); \
    return found;                                                                                             \
  }())

// What is seen from outside, and stands before OpenCL's function of that name.
#define ADAPTYST_STANDS_FOR extern "C" __attribute__((visibility("default")))

#endif
