// Misuses, a case each: an #ifdef MISUSE, or certain flags, make it one. Never compiled as a whole: check_refusals.py.

// case: another_platform
// expect: markers need 64-bit Linux
// alone
#ifdef MISUSE
#undef __linux__
#endif
#include <adaptyst/region.hpp>

void f() { ADAPTYST_REGION("solve"); }

// case: copy_handle
// expect: deleted|is private
#include <adaptyst/region.hpp>

#include <utility>

void f() {
  adaptyst::region_handle handle = ADAPTYST_HANDLE_BEGIN("solve");
#ifdef MISUSE
  adaptyst::region_handle two = handle;
#else
  adaptyst::region_handle two = std::move(handle);
#endif
  two.end();
}

// case: copy_operation
// expect: deleted|is private
#include <adaptyst/operation.hpp>

#include <utility>

void f(const adaptyst::device& gpu) {
  adaptyst::operation operation = adaptyst::submit("solve", gpu, 0, adaptyst::operation_kind::kernel);
#ifdef MISUSE
  adaptyst::operation two = operation;
#else
  adaptyst::operation two = std::move(operation);
#endif
  two.complete(1, 2);
}

// case: next_without_phases
// expect: adaptyst_phases
#include <adaptyst/region.hpp>

void f() {
#ifdef MISUSE
#else
  ADAPTYST_PHASES("load");
#endif
  ADAPTYST_NEXT("compute");
}

// case: next_in_a_callee
// expect: adaptyst_phases
#include <adaptyst/region.hpp>

void callee() {
#ifdef MISUSE
  ADAPTYST_NEXT("compute");
#endif
}
void f() {
  ADAPTYST_PHASES("load");
  callee();
}

// case: two_phases_in_a_scope
// expect: redeclaration|redefinition
#include <adaptyst/region.hpp>

void f() {
  ADAPTYST_PHASES("load");
#ifdef MISUSE
  ADAPTYST_PHASES("compute");
#endif
}

// case: disabled_next_without_phases
// expect: adaptyst_phases
// flags: -DADAPTYST_DISABLE
#include <adaptyst/region.hpp>

void f() {
#ifdef MISUSE
#else
  ADAPTYST_PHASES("load");
#endif
  ADAPTYST_NEXT("compute");
}

// case: disabled_copy_handle
// expect: deleted|is private
// flags: -DADAPTYST_DISABLE
#include <adaptyst/adaptyst.hpp>

#include <utility>

void f() {
  adaptyst::region_handle handle = ADAPTYST_HANDLE_BEGIN("solve");
#ifdef MISUSE
  adaptyst::region_handle two = handle;
#else
  adaptyst::region_handle two = std::move(handle);
#endif
  two.end();
}

// case: disabled_end_with_argument
// expect: no matching function|too many arguments|no matching member
// flags: -DADAPTYST_DISABLE
#include <adaptyst/adaptyst.hpp>

void f() {
  adaptyst::region_handle handle = ADAPTYST_HANDLE_BEGIN("solve");
#ifdef MISUSE
  handle.end(1);
#else
  handle.end();
#endif
}

// case: disabled_fields_unknown_member
// expect: ADAPTYST_FIELDS\(load, \.\.\.\) lists cels, which is no member
// flags: -DADAPTYST_DISABLE
#include <adaptyst/payload.hpp>

struct load {
  int cells;
#ifdef MISUSE
  ADAPTYST_FIELDS(load, cells, cels);
#else
  ADAPTYST_FIELDS(load, cells);
#endif
};

void f() { ADAPTYST_REGION("solve", load{}); }

// case: disabled_metric_of_a_text
// expect: static_cast|cast from
// flags: -DADAPTYST_DISABLE
#include <adaptyst/adaptyst.hpp>

void f() {
  ADAPTYST_METRIC("residual", 0.5);
#ifdef MISUSE
  ADAPTYST_METRIC("residual", "half");
#endif
}

// case: disabled_name_is_a_number
// expect: error
// flags: -DADAPTYST_DISABLE
#include <adaptyst/adaptyst.hpp>

void f() {
  ADAPTYST_REGION("solve");
#ifdef MISUSE
  ADAPTYST_REGION(42);
#endif
}

// case: disabled_offload_to_a_number
// expect: error
// flags: -DADAPTYST_DISABLE
#include <adaptyst/adaptyst.hpp>

void f(const adaptyst::device& gpu) {
  ADAPTYST_OFFLOAD("solve", gpu);
#ifdef MISUSE
  ADAPTYST_OFFLOAD("solve", 0);
#endif
}

// case: disabled_offload_with_two_payloads
// expect: error
// flags: -DADAPTYST_DISABLE
#include <adaptyst/adaptyst.hpp>

struct load {
  double flops;
};

void f(const adaptyst::device& gpu) {
  ADAPTYST_OFFLOAD("solve", gpu, load{1});
#ifdef MISUSE
  ADAPTYST_OFFLOAD("solve", gpu, load{1}, load{2});
#endif
}

// case: disabled_offload_without_device
// expect: error
// flags: -DADAPTYST_DISABLE
#include <adaptyst/adaptyst.hpp>

void f(const adaptyst::device& gpu) {
  ADAPTYST_OFFLOAD("solve", gpu);
#ifdef MISUSE
  ADAPTYST_OFFLOAD("solve");
#endif
}

// case: disabled_submit_to_a_number
// expect: submit
// flags: -DADAPTYST_DISABLE
#include <adaptyst/adaptyst.hpp>

void f(const adaptyst::device& gpu) {
  adaptyst::submit("solve", gpu, 0, adaptyst::operation_kind::kernel).complete(1, 2);
#ifdef MISUSE
  adaptyst::submit("solve", 0, 0, adaptyst::operation_kind::kernel).complete(1, 2);
#endif
}

// case: disabled_unknown_name
// expect: unknown
// flags: -DADAPTYST_DISABLE
#include <adaptyst/adaptyst.hpp>

void f() {
  const char* const name = "solve";
  ADAPTYST_REGION(name);
#ifdef MISUSE
  ADAPTYST_REGION(unknown);
#endif
}

// case: disabled_wrong_payload_value
// expect: narrowing|cannot be narrowed|invalid conversion|cannot initialize|cannot convert
// flags: -DADAPTYST_DISABLE
#include <adaptyst/adaptyst.hpp>

struct load {
  double flops;
};

void f() {
  ADAPTYST_REGION("solve", load{1.0});
#ifdef MISUSE
  ADAPTYST_REGION("solve", load{"one"});
#endif
}

// case: fields_seventeen
// expect: ADAPTYST_FIELDS\(load, \.\.\.\) takes at most 16 members
#include <adaptyst/payload.hpp>

struct load {
  const char *a, *b, *c, *d, *e, *f, *g, *h, *i, *j, *k, *l, *m, *n, *o, *p;
#ifdef MISUSE
  const char* q;
  ADAPTYST_FIELDS(load, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q);
#else
  ADAPTYST_FIELDS(load, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);
#endif
};

void f() { ADAPTYST_REGION("solve", load{}); }

// case: fields_unknown_member
// expect: ADAPTYST_FIELDS\(load, \.\.\.\) lists cels, which is no member
#include <adaptyst/payload.hpp>

struct load {
  int cells;
};
#ifdef MISUSE
ADAPTYST_FIELDS(load, cels);
#else
ADAPTYST_FIELDS(load, cells);
#endif

void f() { ADAPTYST_REGION("solve", load{}); }

// case: fields_with_container
// expect: members of a payload are numbers, enumerations, const char\* or std::string_view; convert
#include <adaptyst/payload.hpp>

#include <vector>

struct load {
  std::vector<int> cells;
  int count;
#ifdef MISUSE
  ADAPTYST_FIELDS(load, count, cells);
#else
  ADAPTYST_FIELDS(load, count);
#endif
};

void f() { ADAPTYST_REGION("solve", load{}); }

// case: fields_with_nine_numbers
// expect: a payload has at most 8 numbers
#include <adaptyst/payload.hpp>

struct load {
  int a, b, c, d, e, f, g, h, i;
#ifdef MISUSE
  ADAPTYST_FIELDS(load, a, b, c, d, e, f, g, h, i);
#else
  ADAPTYST_FIELDS(load, a, b, c, d, e, f, g, h);
#endif
};

void f() { ADAPTYST_REGION("solve", load{}); }

// case: handle_dropped
// expect: nodiscard|unused-result
#include <adaptyst/region.hpp>

void f() {
#ifdef MISUSE
  ADAPTYST_HANDLE_BEGIN("solve");
#else
  ADAPTYST_HANDLE_BEGIN("solve").end();
#endif
}

// case: metric_of_a_text
// expect: static_cast|cast from
#include <adaptyst/metric.hpp>

void f() {
  ADAPTYST_METRIC("residual", 0.5);
#ifdef MISUSE
  ADAPTYST_METRIC("residual", "half");
#endif
}

// case: name_is_a_number
// expect: to_text
#include <adaptyst/region.hpp>

void f() {
  ADAPTYST_REGION("solve");
#ifdef MISUSE
  ADAPTYST_REGION(42);
#endif
}

// case: new_scope
// expect: deleted function|explicitly marked deleted|explicitly deleted|is deleted|deleted definition
#include <adaptyst/region.hpp>

void f() {
#ifdef MISUSE
  new adaptyst::detail::scope<>(0);
#endif
}

// case: new_scopes
// expect: deleted function|explicitly marked deleted|explicitly deleted|is deleted|deleted definition
#include <adaptyst/region.hpp>

void f() {
#ifdef MISUSE
  new adaptyst::detail::scope<>[1] { adaptyst::detail::scope<>(0) };
#endif
}

// case: no_boost_pfr
// expect: payloads need Boost.PFR, from Boost 1.75 on
// without: pfr
// alone
#ifdef MISUSE
#include <adaptyst/payload.hpp>
#else
#include <adaptyst/region.hpp>
#endif

void f() { ADAPTYST_REGION("solve"); }

// case: offload_to_a_number
// expect: begin_offload
#include <adaptyst/offload.hpp>

void f(const adaptyst::device& gpu) {
  ADAPTYST_OFFLOAD("solve", gpu);
#ifdef MISUSE
  ADAPTYST_OFFLOAD("solve", 0);
#endif
}

// case: offload_with_two_payloads
// expect: adaptyst: ADAPTYST_OFFLOAD\(name, device\) or \(name, device, payload\)
#include <adaptyst/offload.hpp>
#include <adaptyst/payload.hpp>

struct load {
  double flops;
};

void f(const adaptyst::device& gpu) {
  ADAPTYST_OFFLOAD("solve", gpu, load{1});
#ifdef MISUSE
  ADAPTYST_OFFLOAD("solve", gpu, load{1}, load{2});
#endif
}

// case: offload_without_device
// expect: begin_offload
#include <adaptyst/offload.hpp>

void f(const adaptyst::device& gpu) {
  ADAPTYST_OFFLOAD("solve", gpu);
#ifdef MISUSE
  ADAPTYST_OFFLOAD("solve");
#endif
}

// case: older_standard
// expect: the headers are C\+\+17: compile with -std=c\+\+17
// misuse: -std=c++14
// alone
#include <adaptyst/region.hpp>

void f() { ADAPTYST_REGION("solve"); }

// case: older_standard_of_collector
// expect: the headers are C\+\+17: compile with -std=c\+\+17
// misuse: -std=c++14
// alone
#include <adaptyst/collector.hpp>
#include <adaptyst/profile.hpp>

adaptyst::profile f() { return adaptyst::collector("report=none").stop(); }

// case: operation_dropped
// expect: nodiscard|unused-result
#include <adaptyst/operation.hpp>

void f(const adaptyst::device& gpu) {
#ifdef MISUSE
  adaptyst::submit("solve", gpu, 0, adaptyst::operation_kind::kernel);
#else
  adaptyst::submit("solve", gpu, 0, adaptyst::operation_kind::kernel).complete(1, 2);
#endif
}

// case: payload_in_handle_without_header
// expect: a marker with a payload needs #include <adaptyst/payload.hpp>
#include <adaptyst/region.hpp>

struct load {
  double flops;
};

adaptyst::region_handle f() {
#ifdef MISUSE
  return ADAPTYST_HANDLE_BEGIN("solve", load{1});
#else
  return ADAPTYST_HANDLE_BEGIN("solve");
#endif
}

// case: payload_in_offload_without_header
// expect: a marker with a payload needs #include <adaptyst/payload.hpp>
#include <adaptyst/offload.hpp>

struct load {
  double flops;
};

void f(const adaptyst::device& gpu) {
  ADAPTYST_OFFLOAD("solve", gpu);
#ifdef MISUSE
  ADAPTYST_OFFLOAD("solve", gpu, load{1});
#endif
}

// case: payload_in_submit_without_header
// expect: a marker with a payload needs #include <adaptyst/payload.hpp>
#include <adaptyst/operation.hpp>

struct load {
  double flops;
};

adaptyst::operation f(const adaptyst::device& gpu) {
#ifdef MISUSE
  return adaptyst::submit("solve", gpu, 0, adaptyst::operation_kind::kernel, load{1});
#else
  return adaptyst::submit("solve", gpu, 0, adaptyst::operation_kind::kernel);
#endif
}

// case: payload_is_a_number
// expect: a payload is an aggregate
#include <adaptyst/payload.hpp>

struct load {
  int cells;
};

void f(int cells) {
#ifdef MISUSE
  ADAPTYST_REGION("solve", cells);
#else
  ADAPTYST_REGION("solve", load{cells});
#endif
}

// case: payload_not_an_aggregate
// expect: a payload is an aggregate: a struct without constructors, bases or private members
#include <adaptyst/payload.hpp>

struct load {
#ifdef MISUSE
  explicit load(double value) : flops(value) {}
#endif
  double flops;
};

void f() { ADAPTYST_REGION("solve", load{1}); }

// case: payload_with_container
// expect: members of a payload are numbers, enumerations, const char\* or std::string_view; convert
#include <adaptyst/payload.hpp>

#include <vector>

struct load {
#ifdef MISUSE
  std::vector<int> cells;
#else
  std::size_t cells;
#endif
};

void f() { ADAPTYST_REGION("solve", load{}); }

// case: payload_with_nine_numbers
// expect: a payload has at most 8 numbers
#include <adaptyst/payload.hpp>

struct load {
  int a, b, c, d, e, f, g, h;
#ifdef MISUSE
  int one_too_many;
#endif
};

void f() { ADAPTYST_REGION("solve", load{}); }

// case: payload_with_pointer
// expect: members of a payload are numbers, enumerations, const char\* or std::string_view; convert
#include <adaptyst/payload.hpp>

struct load {
#ifdef MISUSE
  const double* field;
#else
  const char* field;
#endif
};

void f() { ADAPTYST_REGION("solve", load{nullptr}); }

// case: payload_without_header
// expect: a marker with a payload needs #include <adaptyst/payload.hpp>
#include <adaptyst/region.hpp>

struct load {
  double flops;
};

void f() {
  ADAPTYST_REGION("solve");
#ifdef MISUSE
  ADAPTYST_REGION("solve", load{1});
#endif
}

// case: region_with_two_payloads
// expect: adaptyst: ADAPTYST_REGION\(name\) or \(name, payload\)
#include <adaptyst/payload.hpp>

struct load {
  double flops;
};

void f() {
  ADAPTYST_REGION("solve", load{1});
#ifdef MISUSE
  ADAPTYST_REGION("solve", load{1}, load{2});
#endif
}

// case: second_argument_of_mark
// expect: macro
#include <adaptyst/metric.hpp>

void f() {
  ADAPTYST_MARK("restart");
#ifdef MISUSE
  ADAPTYST_MARK("restart", 1);
#endif
}
