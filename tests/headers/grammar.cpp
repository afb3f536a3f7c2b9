// Markers in every place where the language lets a statement or an expression stand. Compiled with strict warnings,
// awake and disabled.
#include <adaptyst/adaptyst.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "own_recorder.hpp"

namespace grammar {

struct load {
  std::uint64_t bytes;
  double flops;
};

// Lists of members behind a type, in it, and where members are private, or called like what a macro might use.
struct listed {
  const char* of;
  int visit;
};
ADAPTYST_FIELDS(listed, of, visit);

template <class T>
struct generic_list {
  T type;
  ADAPTYST_FIELDS(generic_list, type);
};

class closed_list {
 public:
  ADAPTYST_FIELDS(closed_list, pass_);

 private:
  int pass_ = 1;
};

const adaptyst::device gpu{adaptyst::device_kind::gpu, 0, "a GPU"};
constexpr adaptyst::device constant{adaptyst::device_kind::fpga, 1, "constant"};

template <class T>
T in_template(T value) {
  ADAPTYST_REGION("in template");
  ADAPTYST_METRIC("value", value);
  return value;
}

template <int Depth>
int recursive_template() {
  ADAPTYST_FUNCTION();
  if constexpr (Depth > 0) {
    ADAPTYST_REGION("if constexpr");
    return 1 + recursive_template<Depth - 1>();
  } else {
    ADAPTYST_MARK("bottom");
    return 0;
  }
}

inline int inlined() {
  ADAPTYST_FUNCTION();
  return 1;
}

struct with_members {
  with_members() { ADAPTYST_REGION("constructor"); }
  ~with_members() { ADAPTYST_REGION("destructor"); }
  int operator()(int value) const {
    ADAPTYST_FUNCTION();
    return value;
  }
  static int shared() {
    ADAPTYST_FUNCTION();
    return 2;
  }
  template <class T>
  auto generic(T value) const -> T {
    ADAPTYST_REGION("generic member", load{sizeof value, 1});
    return value;
  }
};

// Without braces, and with an else that must stay with its if.
int branches(bool yes) {
  if (yes) ADAPTYST_MARK("yes");
  else ADAPTYST_MARK("no");
  if (yes) ADAPTYST_METRIC("branch", 1);
  else ADAPTYST_METRIC("branch", 0.5F);
  for (int i = 0; i != 2; ++i) ADAPTYST_MARK("in for");
  do ADAPTYST_MARK("in do");
  while (false);
  switch (yes ? 1 : 0) {
    case 0: ADAPTYST_MARK("case 0"); break;
    default: ADAPTYST_MARK("default");
  }
  return yes ? 1 : 0;
}

// Several on one line, some within one another; equal names do not clash.
void one_line() {
  // clang-format off
  { ADAPTYST_REGION("outer"); { ADAPTYST_REGION("outer"); { ADAPTYST_REGION("outer"); ADAPTYST_REGION("beside"); } } }
  ADAPTYST_REGION("first"); ADAPTYST_REGION("second"); ADAPTYST_FUNCTION(); ADAPTYST_MARK("a"); ADAPTYST_MARK("b");
  // clang-format on
}

int lambdas() {
  int captured = 3;
  const auto by_reference = [&] {
    ADAPTYST_REGION("lambda");
    return captured;
  };
  const auto generic = [](auto value) {
    ADAPTYST_FUNCTION();
    ADAPTYST_METRIC("generic lambda", value);
    return value;
  };
  const auto with_handle = [captured]() mutable {
    adaptyst::region_handle handle = ADAPTYST_HANDLE_BEGIN("in lambda", load{static_cast<std::uint64_t>(captured), 0});
    handle.end();
    return ++captured;
  };
  auto copy = with_handle;
  return by_reference() + generic(1) + static_cast<int>(generic(2.0)) + copy();
}

// All that a name may be.
void names(const std::string& text, std::string_view view, const char* pointer) {
  ADAPTYST_REGION(text);
  ADAPTYST_REGION(view);
  ADAPTYST_REGION(pointer);
  ADAPTYST_REGION(text + " and more");
  ADAPTYST_REGION(std::string(3, 'x'));
  ADAPTYST_REGION(
      "pasted "
      "literal");
  ADAPTYST_REGION(("in parentheses"));
  ADAPTYST_REGION(R"(raw)");
  ADAPTYST_REGION((std::string_view{"braces, and a comma", 6}));  // as any macro's argument
#define GRAMMAR_NAME "from a macro"
  ADAPTYST_REGION(GRAMMAR_NAME);
  static const char array[] = "an array";
  ADAPTYST_REGION(array);
  ADAPTYST_MARK(text);
  ADAPTYST_METRIC(view, text.size());
}

void buffers() {
  char buffer[32] = "in a buffer";
  buffer[20] = '!';  // behind the end
  ADAPTYST_REGION(buffer);
  ADAPTYST_MARK(buffer);
  ADAPTYST_METRIC(buffer, 1);
  ADAPTYST_HANDLE_BEGIN(buffer).end();
  ADAPTYST_BEGIN(buffer);
  ADAPTYST_END();
  auto fill = adaptyst::submit(buffer, gpu, 1, adaptyst::operation_kind::fill);
  const auto started = adaptyst::now_ns() + 1'000'000;
  fill.complete(started, started + 1'000'000);
  ADAPTYST_OFFLOAD(buffer, gpu);
  ADAPTYST_REGION(buffer, load{1, 1});
}

void devices(int queue) {
  ADAPTYST_OFFLOAD("offload", gpu);
  ADAPTYST_OFFLOAD("offload with payload", constant, load{1, 2});
  const std::string name = "named at run time";
  ADAPTYST_OFFLOAD(name, (adaptyst::device{adaptyst::device_kind::other, 2, "temporary"}));
  adaptyst::operation first = adaptyst::submit("kernel", gpu, queue, adaptyst::operation_kind::kernel);
  adaptyst::operation second = adaptyst::submit(name, gpu, &queue, adaptyst::operation_kind::copy_to, load{3, 4});
  first = std::move(second);
  first.complete(1, 2);
  adaptyst::operation().complete(0, 0);
}

void begin_pair() { ADAPTYST_BEGIN("pair"); }

void pairs() {
  begin_pair();
  if (constant.index() == 1) ADAPTYST_MARK("in pair");
  else ADAPTYST_BEGIN("never");
  ADAPTYST_END();
}

adaptyst::region_handle returned() { return ADAPTYST_HANDLE_BEGIN("returned"); }

void handles() {
  auto handle = ADAPTYST_HANDLE_BEGIN("handle");
  adaptyst::region_handle moved = std::move(handle);
  moved.end();
  moved.end();
  adaptyst::region_handle none;
  none.end();
  returned().end();
  std::vector<adaptyst::region_handle> several;
  for (int i = 0; i != 3; ++i) several.push_back(ADAPTYST_HANDLE_BEGIN("several"));
  for (adaptyst::region_handle& each : several) each.end();
}

void lists() {
  struct local_list {
    double names;
    ADAPTYST_FIELDS(local_list, names);
  };
  ADAPTYST_REGION("list", listed{"text", 1});
  ADAPTYST_REGION("list", generic_list<float>{1});
  ADAPTYST_REGION("list", closed_list{});
  ADAPTYST_HANDLE_BEGIN("list", local_list{1}).end();
}

void phases(bool more) {
  ADAPTYST_PHASES("first phase", load{1, 1});
  if (more) ADAPTYST_NEXT("second phase");
  else ADAPTYST_NEXT("never");
  const std::string name = "third phase";
  for (int at = 0; at != 2; ++at) ADAPTYST_NEXT(name, load{2, 2});
  const auto in_lambda = [&] { ADAPTYST_NEXT("in lambda, a phase"); };
  in_lambda();
  struct local {
    static void callee() { ADAPTYST_PHASES("of a callee"); }
  };
  local::callee();
}

// A device, a payload and a name that only markers use must not be reported as unused when markers are nothing.
void only_for_markers(int count) {
  const adaptyst::device local{adaptyst::device_kind::gpu, 3, "local"};
  const load amount{static_cast<std::uint64_t>(count), 1};
  const std::string name = "only for markers";
  const double residual = 0.5;
  ADAPTYST_OFFLOAD(name, local, amount);
  ADAPTYST_METRIC("residual", residual);
  const auto captured = [residual, &local] {
    ADAPTYST_METRIC("captured", residual);
    ADAPTYST_OFFLOAD("captured", local);
  };
  captured();
}

int evaluations = 0;
load evaluated() {
  ++evaluations;
  return {1, 1};
}
double number() {
  ++evaluations;
  return 1;
}
std::string name() {
  ++evaluations;
  return "evaluated";
}

// Seven expressions that must run once each, or not at all.
void evaluate_all() {
  ADAPTYST_REGION("payload", evaluated());
  ADAPTYST_REGION(name());
  ADAPTYST_OFFLOAD("offload", gpu, evaluated());
  ADAPTYST_METRIC("metric", number());
  ADAPTYST_MARK(name());
  ADAPTYST_HANDLE_BEGIN("handle", evaluated()).end();
  ADAPTYST_METRIC(name(), 1);
}

void everything() {
  in_template(1);
  in_template(2.5);
  in_template(static_cast<unsigned char>(3));
  recursive_template<2>();
  inlined();
  {
    const with_members object;
    object(1);
    object.generic(1L);
  }
  with_members::shared();
  branches(true);
  branches(false);
  one_line();
  lambdas();
  names("text", "view", "pointer");
  names("text", "view", nullptr);
  buffers();
  devices(1);
  pairs();
  handles();
  lists();
  phases(true);
  only_for_markers(1);
}

}  // namespace grammar

int main() {
  support::expectations expect;
  grammar::everything();
  grammar::evaluate_all();
  expect.equal("evaluated while nothing listens", static_cast<unsigned>(grammar::evaluations), 0);

  const support::own_recorder recorder;
  grammar::everything();
  grammar::evaluate_all();
  const unsigned on = support::markers_are_compiled ? 1 : 0;
  expect.equal("evaluated while something listens", static_cast<unsigned>(grammar::evaluations), 7 * on);
  expect.equal("in template", recorder.count({"in template"}), 3 * on);
  expect.equal("recursion",
               recorder.count(
                   {"recursive_template", "if constexpr", "recursive_template", "if constexpr", "recursive_template"}),
               on);
  expect.equal("inlined", recorder.count({"inlined"}), on);
  expect.equal("constructor", recorder.count({"constructor"}), on);
  expect.equal("destructor", recorder.count({"destructor"}), on);
  expect.equal("operator()", recorder.count({"operator()"}), 3 * on);  // the member, and two of the generic lambda
  expect.equal("generic member", recorder.count({"generic member"}), on);
  expect.equal("yes", recorder.count({"yes"}), on);
  expect.equal("no", recorder.count({"no"}), on);
  expect.equal("in for", recorder.count({"in for"}), 4 * on);
  expect.equal("in do", recorder.count({"in do"}), 2 * on);
  expect.equal("case 0", recorder.count({"case 0"}), on);
  expect.equal("default", recorder.count({"default"}), on);
  expect.equal("branch", recorder.count({"branch"}), 2 * on);
  expect.equal("outer", recorder.count({"outer", "outer", "outer", "beside"}), on);
  expect.equal("one line", recorder.count({"first", "second", "one_line", "a"}), on);
  expect.equal("lambda", recorder.count({"lambda"}), on);
  expect.equal("pair", recorder.count({"pair"}), on);
  expect.equal("in pair", recorder.count({"pair", "in pair"}), on);
  expect.equal("handle in lambda", recorder.count({"in lambda"}), on);
  expect.equal("names",
               recorder.count({"text", "view", "pointer", "text and more", "xxx", "pasted literal", "in parentheses",
                               "raw", "braces", "from a macro", "an array", "text"}),
               on);
  expect.equal("no name", recorder.count({"text", "view", "", "text and more"}), on);
  expect.equal("text in a buffer", recorder.count({"in a buffer"}), on);
  expect.equal("texts in buffers", recorder.count({"in a buffer", "in a buffer"}), 6 * on);
  expect.equal("payload below a buffer", recorder.count({"in a buffer", "in a buffer", "in a buffer"}), on);
  expect.equal("offload", recorder.count({"offload", "offload with payload", "named at run time"}), on);
  expect.equal("handles", recorder.count({"handle"}) + recorder.count({"returned"}) + recorder.count({"several"}),
               5 * on);
  expect.equal("lists", recorder.count({"list", "list", "list", "list"}), on);
  expect.equal("phases",
               recorder.count({"first phase"}) + recorder.count({"second phase"}) + recorder.count({"third phase"}),
               4 * on);
  expect.equal("phase of a callee", recorder.count({"in lambda, a phase", "of a callee"}), on);
  expect.equal("only for markers", recorder.count({"only for markers", "captured"}),
               2 * on);  // the metric, the offload
  return expect.result();
}
