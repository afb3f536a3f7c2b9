/* A library of C that a Python program calls: its regions are below those of Python. */
#include <adaptyst/adaptyst.h>

double work_below(int steps);

double work_below(int steps) {
  double sum = 0;
  for (int step = 0; step != steps; ++step) {
    ADAPTYST_REGION("step in C");
    for (int at = 0; at != 1000; ++at) sum += 1.0 / (at + 1 + step);
  }
  return sum;
}
