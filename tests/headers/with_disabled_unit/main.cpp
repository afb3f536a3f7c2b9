// A unit with markers and a unit without, as when a library was compiled with -DADAPTYST_DISABLE, in one program.
#include <adaptyst/adaptyst.hpp>

#include <vector>

#include "own_recorder.hpp"

unsigned long long disabled_unit();

namespace {

// Code that writes beyond a handle or an operation that is smaller than it believes is caught here.
struct guarded_handle {
  unsigned long long before = 0x5151515151515151;
  adaptyst::region_handle handle;
  unsigned long long after = 0x5151515151515151;
};
struct guarded_operation {
  unsigned long long before = 0x5151515151515151;
  adaptyst::operation operation;
  unsigned long long after = 0x5151515151515151;
};

const adaptyst::device gpu{adaptyst::device_kind::gpu, 0, "gpu"};

}  // namespace

int main() {
  support::expectations expect;
  const support::own_recorder recorder;
  {
    ADAPTYST_REGION("enabled");
    guarded_handle guarded;
    guarded.handle = ADAPTYST_HANDLE_BEGIN("handle");
    guarded.handle.end();
    guarded_operation guarded_submission;
    guarded_submission.operation = adaptyst::submit("kernel", gpu, 0, adaptyst::operation_kind::kernel);
    guarded_submission.operation.complete(adaptyst::now_ns() + 1'000'000, adaptyst::now_ns() + 2'000'000);
    expect.equal("memory behind a handle", guarded.after, guarded.before);
    expect.equal("memory behind an operation", guarded_submission.after, guarded_submission.before);
  }
  {
    // The compiler makes the functions of this vector in both units, the linker keeps one set.
    ADAPTYST_REGION("vector");
    std::vector<adaptyst::region_handle> several;
    for (int i = 0; i != 5; ++i) several.push_back(ADAPTYST_HANDLE_BEGIN("element"));
    for (adaptyst::region_handle& handle : several) handle.end();
  }
  expect.equal("memory in the disabled unit", disabled_unit(), 0);
  expect.equal("enabled", recorder.count({"enabled"}), 1);
  expect.equal("handle", recorder.count({"enabled", "handle"}), 1);
  expect.equal("elements of a vector", recorder.count({"vector", "element"}), 5);
  expect.equal("kernel", recorder.count({"enabled", "kernel"}), 1);
  expect.equal("disabled", recorder.count({"disabled"}), 0);
  return expect.result();
}
