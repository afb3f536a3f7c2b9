// A host with probes of its own, without semaphores, that includes <sys/sdt.h> after us.
#include <adaptyst/adaptyst.hpp>

#include <sys/sdt.h>

int main(int count, char**) {
  ADAPTYST_REGION("region");
  STAP_PROBE2(host, plain, count, 2);
  return 0;
}
