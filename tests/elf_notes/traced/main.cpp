#include "own_recorder.hpp"
#include "units.hpp"

namespace {

void run() {
  ADAPTYST_REGION("main");
  in_all_units();
  in_template<1>();
  second_unit();
  third_unit();
  ADAPTYST_MARK("mark");
}

}  // namespace

int main() {
  support::expectations expect;
  run();
  const support::own_recorder recorder;
  for (int i = 0; i != 100; ++i) run();
  const unsigned on = support::markers_are_compiled ? 100 : 0;
  expect.equal("main", recorder.count({"main"}), on);
  expect.equal("function", recorder.count({"main", "in_all_units"}), on);
  expect.equal("metric", recorder.count({"main", "template", "number"}), on);
  expect.equal("mark", recorder.count({"main", "mark"}), on);
  expect.equal("second unit", recorder.count({"main", "second unit", "in_all_units"}), on);
  expect.equal("handle", recorder.count({"main", "second unit", "handle"}), on);
  expect.equal("offload", recorder.count({"main", "third unit", "offload"}), on);
  expect.equal("operation", recorder.count({"main", "third unit", "kernel"}), on);
  expect.equal("events", recorder.begun(), 14 * on);
  return expect.result();
}
