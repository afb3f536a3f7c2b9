"""Heat that spreads on a plate: Python drives, C++ computes (kernel.cpp), and their regions are one tree.

    adaptyst run -- python3 heat.py ./heat_kernel.so
"""
import array
import ctypes
import sys

import adaptyst

ROWS = COLUMNS = 400


@adaptyst.function
def time_step(kernel, now, following):
    """One step; returns the greatest change of a cell."""
    with adaptyst.region("update", cells=ROWS * COLUMNS):
        change = kernel.spread((ctypes.c_double * len(now)).from_buffer(now), (ctypes.c_double * len(now)).from_buffer(following),
                               ctypes.c_size_t(ROWS), ctypes.c_size_t(COLUMNS))
    adaptyst.metric("greatest change", change)
    return change


def main():
    """200 steps."""
    kernel = ctypes.CDLL(sys.argv[1])
    kernel.spread.restype = ctypes.c_double
    with adaptyst.region("initialise"):
        now, following = (array.array("d", bytes(8 * ROWS * COLUMNS)) for _ in range(2))
        now[ROWS // 2 * COLUMNS + COLUMNS // 2] = 1.0
    for _ in range(200):
        time_step(kernel, now, following)
        now, following = following, now
    print(f"heat: {sum(now):.6f}")


main()
