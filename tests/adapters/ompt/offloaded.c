/* Offloads to two devices, and prints what should be seen of it: target regions, kernels, bytes to and from devices. */
#include <omp.h>
#include <stdio.h>

enum { repeats = 5, n = 1000 };

static long long targets, kernels, to, from;

static void data_region(double* a, double* b) {
#pragma omp target data map(to : a[:n]) map(from : b[:n])
  {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < n; ++i) b[i] = 2 * a[i];
#pragma omp target update from(b[:n / 2])
#pragma omp target update to(a[:n / 4])
  }
  targets += 5; /* enter, target, update twice, exit */
  kernels += 1;
  to += n * sizeof *a + n / 4 * sizeof *a;
  from += n * sizeof *b + n / 2 * sizeof *b;
}

static void unstructured(double* a) {
#pragma omp target enter data map(to : a[:n]) device(1)
#pragma omp target map(tofrom : a[:n]) device(1)
  a[0] += 1;
#pragma omp target exit data map(from : a[:n]) device(1)
  targets += 3;
  kernels += 1;
  to += n * sizeof *a;
  from += n * sizeof *a;
}

static void not_waited_for(double* a) {
#pragma omp target map(tofrom : a[:n]) nowait
  a[1] += 1;
#pragma omp taskwait
  targets += 1;
  kernels += 1;
  to += n * sizeof *a;
  from += n * sizeof *a;
}

int main(void) {
  static double a[n], b[n];
  for (int turn = 0; turn != repeats; ++turn) {
    data_region(a, b);
    unstructured(a);
    not_waited_for(a);
  }
  if (a[0] != repeats || a[1] != repeats) return 3;
  printf("%lld %lld %lld %lld %d\n", targets, kernels, to, from, omp_get_num_devices());
  return 0;
}
