"""Cost of a region of Python, idle and recorded, next to that of a memoryview in a `with` statement: python_regions.py [STEPS]

Prints python_memoryview_ns, python_region_idle_ns, python_region_idle_over_memoryview, python_region_ns: medians of rounds in turns.
The recorder is that of a collector in this process, which has no overhead budget.
"""
import statistics
import sys
import time

import adaptyst

ROUNDS = 201
steps = int(sys.argv[1]) if len(sys.argv) > 1 else 4_000  # shorter than a time slice: other processes disturb few rounds
data = b"0123456789"


def use_memoryview(count):
    """ns of one memoryview in a `with` statement."""
    begin = time.perf_counter_ns()
    for _ in range(count):
        with memoryview(data):
            pass
    return (time.perf_counter_ns() - begin) / count


def use_region(count):
    """ns of one region."""
    begin = time.perf_counter_ns()
    for _ in range(count):
        with adaptyst.region("region"):
            pass
    return (time.perf_counter_ns() - begin) / count


def use_numbers(count):
    """ns of one region with a number."""
    begin = time.perf_counter_ns()
    for at in range(count):
        with adaptyst.region("region with a number", bytes=at):
            pass
    return (time.perf_counter_ns() - begin) / count


assert adaptyst.markers_missing is None, adaptyst.markers_missing
for warm in (use_memoryview, use_region, use_numbers):
    warm(steps // 10)
idle = [(use_memoryview(steps), use_region(steps)) for _ in range(ROUNDS)]
with adaptyst.collector(engine="inline", overhead="none", report="none") as running:
    assert running.error is None, running.error
    use_region(steps // 10)
    recorded = [(use_memoryview(steps), use_region(steps), use_numbers(steps)) for _ in range(ROUNDS)]
print("python_memoryview_ns", statistics.median(memoryview_ns for memoryview_ns, _ in idle))
print("python_region_idle_ns", statistics.median(region_ns for _, region_ns in idle))
print("python_region_idle_over_memoryview", statistics.median(region_ns / memoryview_ns for memoryview_ns, region_ns in idle))
print("python_region_ns", statistics.median(region_ns for _, region_ns, _ in recorded))
print("python_region_over_memoryview_ns", statistics.median(region_ns - memoryview_ns for memoryview_ns, region_ns, _ in recorded))
print("python_region_with_number_ns", statistics.median(numbers_ns for *_, numbers_ns in recorded))
