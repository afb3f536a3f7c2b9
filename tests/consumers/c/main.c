#include <adaptyst/adaptyst.h>
#ifdef WITH_COLLECTOR
#include <adaptyst/collector.h>
#endif

static void work(double* sum) {
  ADAPTYST_REGION("outside");
  ADAPTYST_METRIC("bytes", sizeof *sum);
  *sum += 1;
}

int main(void) {
  double sum = 0;
#ifdef WITH_COLLECTOR
  adaptyst_start(NULL);
#endif
  for (int times = 0; times != 42; ++times) work(&sum);
#ifdef WITH_COLLECTOR
  adaptyst_stop();
#endif
  return sum == 42 ? 0 : 1;
}
