// Code with ROCTX: the calls are declared here as the published header declares them.
#include <adaptyst/region.hpp>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

extern "C" {
void roctxMarkA(const char* message);
int roctxRangePushA(const char* message);
int roctxRangePop();
std::uint64_t roctxRangeStartA(const char* message);
void roctxRangeStop(std::uint64_t id);
__attribute__((visibility("default"))) void annotate();
}

void annotate() {
  errno = 77;
  char name[16];
  for (int at = 0; at != 30; ++at) {
    std::snprintf(name, sizeof name, "step %d", at % 2);
    roctxRangePushA(name);
    std::memset(name, '?', sizeof name - 1);
    {
      ADAPTYST_REGION("own");
      roctxRangePushA("leaf");
      roctxMarkA("mark");
      roctxRangePop();
    }
    const std::uint64_t first = roctxRangeStartA("transfer");
    const std::uint64_t second = roctxRangeStartA("overlapping");
    std::thread([=] {
      roctxRangeStop(first);
      roctxRangeStop(second);
    }).join();
    roctxRangePop();
  }
  std::printf("errno %d\n", errno);
  std::printf("%d ", roctxRangePushA("a"));
  std::printf("%d ", roctxRangePushA(std::string(10'000, 'n').c_str()));
  std::printf("%d ", roctxRangePop());
  std::printf("%d ", roctxRangePop());
  std::printf("%d\n", roctxRangePop());
  roctxRangePushA("crossed");
  {
    ADAPTYST_REGION("own");
    roctxRangePop();
  }
  roctxRangePushA(nullptr);
  roctxRangePop();
  const std::uint64_t twice = roctxRangeStartA("twice");
  roctxRangeStop(twice);
  roctxRangeStop(twice);
}
