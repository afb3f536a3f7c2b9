// A stand-in for Kokkos: loads the library and calls it as Kokkos does. No kernel is run.
#ifndef ADAPTYST_TESTS_KOKKOS_STAND_IN_HPP
#define ADAPTYST_TESTS_KOKKOS_STAND_IN_HPP

#include <dlfcn.h>
#include <tools_interface.h>

#include <cstring>
#include <string>

#include "catch.hpp"

namespace support {

// Bytes that are something else as soon as the call is over.
class passing_name {
 public:
  explicit passing_name(const char* text) : text_(text) {}
  ~passing_name() { std::memset(text_.data(), '?', text_.size()); }
  passing_name(const passing_name&) = delete;
  passing_name& operator=(const passing_name&) = delete;
  const char* get() const { return text_.c_str(); }

 private:
  std::string text_;
};

constexpr std::uint32_t device_id(std::uint32_t type, std::uint32_t number, std::uint32_t instance) {
  return (type << 24) | (number << 17) | instance;
}

inline kokkos_space space(const std::string& name) {
  kokkos_space made{};
  name.copy(made.name, sizeof made.name);  // all 64 bytes may be used
  return made;
}

class kokkos_stand_in {
 public:
  kokkos_stand_in() : library_(dlopen(ADAPTYST_TEST_KOKKOS, RTLD_NOW)) {
    INFO((library_ == nullptr ? dlerror() : ""));
    REQUIRE(library_ != nullptr);
    call<void (*)(int, std::uint64_t, std::uint32_t, void*)>("kokkosp_init_library")(0, 20240906, 0, nullptr);
    kokkos_settings settings{};
    settings.requires_global_fencing = true;  // as Kokkos has it
    call<void (*)(std::uint32_t, kokkos_settings*)>("kokkosp_request_tool_settings")(1, &settings);
    fences = settings.requires_global_fencing;
  }
  ~kokkos_stand_in() { dlclose(library_); }
  kokkos_stand_in(const kokkos_stand_in&) = delete;
  kokkos_stand_in& operator=(const kokkos_stand_in&) = delete;

  template <class Function>
  Function call(const char* name) const {
    void* const found = dlsym(library_, name);
    INFO(name);
    REQUIRE(found != nullptr);
    return reinterpret_cast<Function>(found);
  }

  std::uint64_t begin(const char* what, const char* name, std::uint32_t device) const {
    const passing_name passing(name);
    std::uint64_t number = ~std::uint64_t{0};
    call<void (*)(const char*, std::uint32_t, std::uint64_t*)>(("kokkosp_begin_" + std::string(what)).c_str())(
        passing.get(), device, &number);
    return number;
  }
  void end(const char* what, std::uint64_t number) const {
    call<void (*)(std::uint64_t)>(("kokkosp_end_" + std::string(what)).c_str())(number);
  }

  void push(const char* name) const {
    const passing_name passing(name);
    call<void (*)(const char*)>("kokkosp_push_profile_region")(passing.get());
  }
  void pop() const { call<void (*)()>("kokkosp_pop_profile_region")(); }
  void event(const char* name) const {
    const passing_name passing(name);
    call<void (*)(const char*)>("kokkosp_profile_event")(passing.get());
  }

  std::uint32_t create_section(const char* name) const {
    const passing_name passing(name);
    std::uint32_t number = 0;
    call<void (*)(const char*, std::uint32_t*)>("kokkosp_create_profile_section")(passing.get(), &number);
    return number;
  }
  void section(const char* what, std::uint32_t number) const {
    call<void (*)(std::uint32_t)>(("kokkosp_" + std::string(what) + "_profile_section").c_str())(number);
  }

  void allocate(const char* in, std::uint64_t bytes) const { data("kokkosp_allocate_data", in, bytes); }
  void deallocate(const char* in, std::uint64_t bytes) const { data("kokkosp_deallocate_data", in, bytes); }

  void begin_copy(const char* destination, const char* to_label, const char* from, const char* from_label,
                  std::uint64_t bytes) const {
    const passing_name target(to_label);
    const passing_name source(from_label);
    call<decltype(&kokkosp_begin_deep_copy)>("kokkosp_begin_deep_copy")(space(destination), target.get(), nullptr,
                                                                        space(from), source.get(), nullptr, bytes);
  }
  void end_copy() const { call<void (*)()>("kokkosp_end_deep_copy")(); }

  bool fences = false;

 private:
  void data(const char* function, const char* in, std::uint64_t bytes) const {
    const passing_name label("x");
    call<decltype(&kokkosp_allocate_data)>(function)(space(in), label.get(), this, bytes);
  }

  void* library_;
};

}  // namespace support

#endif
