// A host whose probes have semaphores, as dtrace -h makes them, and that has included <sys/sdt.h> before us.
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

#include <adaptyst/adaptyst.hpp>

extern "C" {
__extension__ unsigned short host_guarded_semaphore __attribute__((unused, section(".probes")));
}

int main(int count, char**) {
  ADAPTYST_REGION("region");
  STAP_PROBE2(host, guarded, count, 2);
  return 0;
}
