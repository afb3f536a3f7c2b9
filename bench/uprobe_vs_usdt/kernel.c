/* The work between two events: explicit steps of heat conduction on a rod that fits into the first-level cache. */
#include <stddef.h>

#include "functions.h"

enum { cells = 64 };

/* Hot at one end, lest all of it cools down to numbers that are too small to be quick. */
static double rod[2][cells + 2] = {{1}, {1}};

void study_kernel(size_t steps) {
  size_t step;
  for (step = 0; step != steps; ++step) {
    const double* from = rod[step % 2];
    double* to = rod[1 - step % 2];
    int at;
    for (at = 1; at <= cells; ++at) to[at] = from[at] + 0.25 * (from[at - 1] - 2 * from[at] + from[at + 1]);
  }
}
