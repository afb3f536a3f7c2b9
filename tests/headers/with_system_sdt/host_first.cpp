// A host with probes of its own, without semaphores, that has included <sys/sdt.h> before us.
#include <sys/sdt.h>

#include <adaptyst/adaptyst.hpp>

int main(int count, char**) {
  ADAPTYST_REGION("region");
  STAP_PROBE2(host, plain, count, 2);
  return 0;
}
