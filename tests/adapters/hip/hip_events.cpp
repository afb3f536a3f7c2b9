// <adaptyst/hip.hpp> with AMD's runtime, and no device: nothing is observed, and nothing breaks. With one it is not tested.
#include <adaptyst/adaptyst.hpp>
#include <adaptyst/hip.hpp>

#include "collecting.hpp"

TEST_CASE("without a device nothing is tracked, and errors stay as they were") {
  int devices = 0;
  const hipError_t answer = hipGetDeviceCount(&devices);
  if (answer == hipSuccess && devices != 0) {
    WARN("skipped: there is a device");
    return;
  }
  const hipError_t before = hipGetLastError();  // without a device HIP 5.2 does not forget that there is none
  adaptyst::collector collector(support::options());
  for (int at = 0; at != 3; ++at) {
    ADAPTYST_REGION("step");
    adaptyst::hip::tracked t =
        adaptyst::hip::track("kernel", nullptr, adaptyst::operation_kind::kernel, adaptyst::work{1000});
    CHECK_FALSE(t);
    t.end();
  }
  adaptyst::hip::collect();
  CHECK(hipPeekAtLastError() == before);
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  CHECK(support::find(profile, {"step"}).count == 3);
  CHECK(profile.regions.size() == 1);
}
