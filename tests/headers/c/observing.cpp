// Wakes the markers of all units and libraries, and looks at what they have recorded.
#include <adaptyst/metric.hpp>

#include "own_recorder.hpp"
#include "unit.h"

namespace {
void of_cpp() { ADAPTYST_REGION("scope of C++"); }
}  // namespace

int main() {
  const support::own_recorder recorder;
  support::expectations expect;
  {
    ADAPTYST_REGION("around");
    in_library(of_cpp);
  }
  const bool computes = grammar("name", 1.5, 3) == 1;
  expect.equal("the program computes what it should", computes ? 1 : 0, 1);
  const unsigned times = support::markers_are_compiled ? 1 : 0;
  expect.equal("one tree", recorder.count({"around", "pair of the library", "scope of the library", "scope of C++"}),
               times);
  expect.equal("pair", recorder.count({"name", "offload", "wait", "pair"}), times);
  expect.equal("mark", recorder.count({"name", "offload", "wait", "pair", "mark"}), times);
  expect.equal("handle", recorder.count({"name", "offload", "wait", "handle"}), times);
  expect.equal("scopes in an inline function",
               recorder.count({"name", "offload", "wait", "inlined", "one literal of two", "another"}),
               2 * times + 4 * times);
  expect.equal("phases", recorder.count({"name", "offload", "wait", "third phase"}), 2 * times);
  return expect.result();
}
