// The same headers in two units of a program and in a shared library next to it.
#include "own_recorder.hpp"
#include "shared.hpp"

int main() {
  support::expectations expect;
  const unsigned on = support::markers_are_compiled ? 1 : 0;
  for (int round = 0; round != 2; ++round) {
    {
      ADAPTYST_REGION("asleep");
      other_unit();
      library();
    }
    const support::own_recorder recorder;
    {
      ADAPTYST_REGION("main");
      shared_template(1);
      other_unit();
      library();
      ADAPTYST_OFFLOAD("shared device", shared_gpu);
    }
    begun_in_library().end();
    expect.equal("asleep", recorder.count({"asleep"}), 0);
    expect.equal("main", recorder.count({"main"}), on);
    expect.equal("other unit", recorder.count({"main", "other unit"}), on);
    expect.equal("shared inline", recorder.count({"main", "shared template", "shared inline"}), on);
    expect.equal("in the other unit", recorder.count({"main", "other unit", "shared template", "shared inline"}), on);
    expect.equal("in the library", recorder.count({"main", "library", "shared template", "shared inline"}), on);
    expect.equal("library", recorder.count({"main", "library"}), on);
    expect.equal("device", recorder.count({"main", "shared device"}), on);
    expect.equal("device in the library", recorder.count({"main", "library", "shared device"}), on);
    expect.equal("handle from the library", recorder.count({"begun in library"}), on);
    expect.equal("events", recorder.begun(), 12 * on);
  }
  return expect.result();
}
