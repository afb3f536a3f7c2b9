// A host whose probes have semaphores, and that includes <sys/sdt.h> after us.
#include <adaptyst/adaptyst.hpp>

#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

extern "C" {
__extension__ unsigned short host_guarded_semaphore __attribute__((unused, section(".probes")));
}

int main(int count, char**) {
  ADAPTYST_REGION("region");
  STAP_PROBE2(host, guarded, count, 2);
  return 0;
}
