"""An export of Nsight Systems for timelines: simulated, and named so. Threads launch kernels and copies on two devices."""
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "traces"))
import nsys_export

PROCESS = 4321
THREADS = (11, 12, 13, 14)


def make_trace(file, intervals, names=("advect", "diffuse", "project", "reduce", "halo_pack", "halo_unpack")):
    """About so many intervals: of 100, 49 are calls, 49 what they launched, and 2 ranges around them. Returns how many."""
    chance = random.Random(7)
    export = nsys_export.Export(file)
    ids = [export.string(name) for name in names]
    launch, copy = export.string("cudaLaunchKernel_v7000"), export.string("cudaMemcpyAsync_v3020")
    step = export.string("step")
    kernels, copies, calls, ranges = [], [], [], []
    for place, thread in enumerate(THREADS):
        now, free, correlation = 1_000_000 + 977 * place, 1_000_000, 10_000_000 * (place + 1)
        begin = now
        for number in range(intervals * 49 // 100 // len(THREADS)):
            now += int(chance.lognormvariate(8, 0.5))
            took = int(chance.lognormvariate(8, 0.3))
            correlation += chance.choice((1, 1, 1, 2))
            is_copy = number % 25 == 0
            calls.append({"start": now, "end": now + took, "globalTid": nsys_export.global_tid(PROCESS, thread), "correlationId": correlation,
                          "nameId": copy if is_copy else launch})
            start = max(free, now + took // 2) + chance.randrange(500, 1500)
            free = start + int(chance.lognormvariate(8.5, 0.6))
            work = {"start": start, "end": free, "deviceId": place % 2, "contextId": 1, "streamId": 7 + place, "correlationId": correlation,
                    "globalPid": nsys_export.global_pid(PROCESS)}
            if is_copy:
                copies.append(dict(work, bytes=1 << chance.randrange(10, 22), copyKind=1))
            else:
                kernels.append(dict(work, demangledName=chance.choice(ids), shortName=ids[0]))
            now += took
            if number % 25 == 24:
                ranges.append({"start": begin, "end": now, "eventType": 59, "globalTid": nsys_export.global_tid(PROCESS, thread), "textId": step, "text": None})
                begin = now
    for table, rows in (("CUPTI_ACTIVITY_KIND_KERNEL", kernels), ("CUPTI_ACTIVITY_KIND_MEMCPY", copies), ("CUPTI_ACTIVITY_KIND_RUNTIME", calls),
                        ("NVTX_EVENTS", ranges)):
        export.rows(table, rows)
    export.finish()
    return sum(map(len, (kernels, copies, calls, ranges)))


MARKUP = "</script><script>alert(1)</script><!--"


def make_windows(file):
    """200 ms of kernels on two devices, of which those of the second take three times as long from 120 to 123 ms."""
    chance = random.Random(11)
    export = nsys_export.Export(file)
    for device in range(2):
        spans, now = [], 0
        while now < 200_000_000:
            took = int(chance.lognormvariate(10, 0.1)) * (3 if device == 1 and 120_000_000 <= now < 123_000_000 else 1)
            spans.append((now, now + took, chance.choice(("advect", "project", MARKUP))))
            now += took + chance.randrange(1000, 3000)
        export.kernels(spans, device=device, context=device + 1)
    export.finish()
