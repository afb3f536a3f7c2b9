"""Simulated profiles: every number is drawn by chance, with a seed. Their mechanism and their hosts are named so."""
import hashlib
import math
import random

from profiles import completed

CUTS = (0, 3, 7, 11, 15, 19, 24, 29, 34, 40, 46, 52, 59)


def bucket(ns):
    """As include/adaptyst/detail/histogram.h has it."""
    if ns < 64:
        return ns
    octave = ns.bit_length() - 7
    part = (ns >> octave) & 63
    return 64 + octave * 13 + max(at for at, cut in enumerate(CUTS) if cut <= part)


def id_of(*path):
    return hashlib.sha256("\x1f".join(path).encode()).hexdigest()[:16]


def draw(chance, mean_ns, count, spread=0.1):
    """Durations of events."""
    return [max(1, int(mean_ns * math.exp(chance.gauss(0, spread)))) for _ in range(count)]


def region(path, durations, self_ns=None, device=0, line=1, kind="region", attributes=None, **other):
    counts = {}
    for ns in durations:
        counts[bucket(ns)] = counts.get(bucket(ns), 0) + 1
    ordered = sorted(durations)
    quantile = lambda q: ordered[max(0, math.ceil(q * len(ordered)) - 1)]
    total = sum(ordered)
    return {"name": path[-1], "id": id_of(*path, str(device)), "parent": id_of(*path[:-1], "0") if len(path) > 1 else None,
            "site": {"file": "solver/main.cpp", "line": line, "function": "run(grid&)"}, "kind": kind, "device": device, "threads": 1,
            "count": len(ordered), "total_ns": total, "self_ns": total if self_ns is None else self_ns, "min_ns": ordered[0],
            "max_ns": ordered[-1], "p50_ns": quantile(0.5), "p90_ns": quantile(0.9), "p99_ns": quantile(0.99),
            "histogram": sorted(map(list, counts.items())), "attributes": attributes or {}, "overhead_ns": None, **other}


def host(observed_ns):
    return {"id": 0, "kind": "cpu", "index": 0, "name": "host", "observed_ns": observed_ns, "busy_ns": observed_ns * 9 // 10,
            "kernel_ns": None, "copy_ns": None, "exposed_copy_ns": None, "idle_ns": observed_ns - observed_ns * 9 // 10,
            "queue_wait_ns": None, "utilisation": 0.9, "late": 0, "skipped": 0}


def gpu(index, observed_ns, kernel, exposed=0.03, launch=0.05, copy=0.06):
    """Fractions of the time observed; the rest it starves."""
    part = lambda fraction: int(observed_ns * fraction)
    busy = part(kernel) + part(exposed)
    waits = {"total_ns": 1000, "p50_ns": 10, "p99_ns": 10, "histogram": [[10, 100]]}
    return {"id": index + 1, "kind": "gpu", "index": index, "name": "simulated device", "observed_ns": observed_ns, "busy_ns": busy,
            "kernel_ns": part(kernel), "copy_ns": part(copy), "exposed_copy_ns": part(exposed), "other_ns": 0,
            "idle_ns": observed_ns - busy, "launch_idle_ns": part(launch), "starved_ns": observed_ns - busy - part(launch), "unused_ns": 0,
            "awaited_ns": None, "overlap": None, "work_ns": busy, "concurrency": 1.0, "operations": 2000, "queues": 1,
            "queue_wait_ns": 1000, "queue_wait": waits, "launch_latency": waits, "bytes_to": None, "bytes_from": None, "flops": None,
            "clock": None, "utilisation": busy / observed_ns, "late": 0, "skipped": 0}


def profile(regions, devices, observed_ns, **process):
    count = sum(row["count"] for row in regions)
    made = {"schema": 1, "engine": "inline", "mechanism": "simulated: numbers drawn by chance", "reason": "an example", "version": "0.1.0",
            "date": "2026-11-02T09:30:00Z", "devices": devices, "regions": regions,
            "accounting": {"begun": count, "ended": count, "open": 0, "lost": {}, "unmatched": 0, "unnamed": 0, "overhead_ns": 60.0 * count},
            "process": {"pid": 4000, "command": "/opt/solver/bin/solver", "host": "simulated0", "duration_ns": observed_ns,
                        "arguments": ["solver", "--mesh", "wing.h5", "--steps", "200"], "started": "2026-11-02T09:30:00Z", "threads": 1, **process}}
    return completed(made)


def rank(number, steps=200, slow_rank=None, starved_device=None, long_tail=False):
    """One rank of a solver with a device for each of four ranks of a node. The requested faults are in it."""
    chance = random.Random(1000 + number)
    times = {"advect": 12e6 * (1.7 if number == slow_rank else 1), "assemble": 4e6, "precondition": 3e6, "iterate": 7e6, "output": 1.2e6}
    drawn = {name: draw(chance, mean, steps, 0.03) for name, mean in times.items()}
    if long_tail:
        drawn["output"] = [ns * (60 if at % 25 == 24 else 1) for at, ns in enumerate(drawn["output"])]
    waits = draw(chance, 0.5e6 if number == slow_rank else 8.9e6, steps, 0.05)
    reduce = draw(chance, 0.4e6, steps, 0.1)
    kernels = draw(chance, 5e6, steps, 0.05)
    solve = [sum(all_of) + 200000 for all_of in zip(drawn["assemble"], drawn["precondition"], drawn["iterate"], reduce)]
    exchange = [ns + 300000 for ns in waits]
    step = [sum(all_of) + 400000 for all_of in zip(drawn["advect"], solve, exchange, drawn["output"])]
    observed = sum(step) + 150000000
    device = 1 + number % 4
    amounts = lambda bytes_each, flops_each: {name: {"count": steps, "sum": each * steps, "min": each, "max": each, "metrics": 0, "per_second": None}
                                              for name, each in (("bytes", bytes_each), ("flops", flops_each)) if each}
    rows = [region(["step"], step, 400000 * steps, line=40),
            region(["step", "advect"], drawn["advect"], line=52, attributes=amounts(48e6, 96e6)),
            region(["step", "solve"], solve, 200000 * steps, line=61),
            region(["step", "solve", "assemble"], drawn["assemble"], line=75, attributes=amounts(16e6, 8e6)),
            region(["step", "solve", "precondition"], drawn["precondition"], line=81),
            region(["step", "solve", "iterate"], drawn["iterate"], line=88, attributes=amounts(64e6, 40e6)),
            region(["step", "solve", "iterate", "smooth"], kernels, kind="kernel", device=device, line=93),
            region(["step", "solve", "iterate", "residual"], draw(chance, 0.6e6, steps), kind="copy_from", device=device, line=97,
                   attributes=amounts(2e6, 0)),
            region(["step", "solve", "MPI_Allreduce"], reduce, kind="function"),
            region(["step", "exchange"], exchange, 300000 * steps, line=110),
            region(["step", "exchange", "MPI_Waitall"], waits, kind="function"),
            region(["step", "output"], drawn["output"], line=130)]
    devices = [host(observed)] + [gpu(index, observed, 0.12 if index == starved_device else 0.74) if index == number % 4 else
                                  {**gpu(index, 1, 0), "observed_ns": 0, "busy_ns": 0, "idle_ns": 0, "starved_ns": 0, "utilisation": None, "operations": 0}
                                  for index in range(4)]
    used = observed * 9 // 10
    threads = [{"tid": 40000 + 10 * number + at, "name": name, "alive_ns": observed, "on_cpu_ns": on, "runnable_ns": observed // 50,
                "last_cpu": 8 * (number % 4) + at} for at, (name, on) in enumerate((("solver", used * 3 // 4), ("worker", used // 4)))]
    made = profile(rows, devices, observed, pid=4000 + number, host=f"simulated{number // 4}", rank=number, parent=3999, cpu_ns=used,
                   thread_list=threads)
    made["machines"] = [machine(f"simulated{number // 4}")]
    return made


def machine(host):
    """Two sockets with two memory nodes each, and a device at each node."""
    return {"host": host, "sockets": 2, "cores": 32, "cpus": 32,
            "nodes": [{"node": at, "socket": at // 2, "cpus": f"{8 * at}-{8 * at + 7}", "memory_bytes": 64 << 30} for at in range(4)],
            "devices": [{"kind": "gpu", "address": f"0000:{at + 1}1:00.0", "id": "1234:5678", "node": at} for at in range(4)]}


def stacks(region_id, frames):
    """Of a region: (name, depth, on a core, blocked, waiting), in ms."""
    return {"region": region_id, "frames": [dict(zip(("name", "depth", "on_cpu_ns", "blocked_ns", "waiting_ns"), (name, depth, *(ms * 10**6 for ms in parts))))
                                            for name, depth, *parts in frames]}


def with_stacks(profile):
    """The same profile with samples that were taken in `advect` and outside of all regions."""
    advect = next(row["id"] for row in profile["regions"] if row["name"] == "advect")
    usage = {"samples": 2000, "observed_ns": 2_006_000_000, "lost": {}, "cost_ns": 1e6}
    frames = [("advect(grid&)", 0, 100, 0, 0), ("flux(cell const&)", 1, 900, 0, 0), ("limit<minmod>(double)", 2, 600, 0, 0),
              ("page_fault_[k]", 2, 50, 0, 30), ("(others)", 1, 20, 0, 0), ("std::mutex::lock()", 0, 0, 300, 0), ("futex_wait_[k]", 1, 0, 150, 0)]
    outside = [("main", 0, 20, 0, 0), ("read_mesh(</script><b>)", 1, 80, 40, 0)]
    return {**profile, "samples": usage, "stacks": [stacks(None, outside), stacks(advect, frames)]}


def many_rows(regions=200, devices=8, events=100):
    """A tree of regions with an operation of each on each device."""
    chance = random.Random(7)
    names = ["advect", "diffuse", "project", "correct", "limit", "exchange", "smooth", "restrict", "prolong", "reduce"]
    rows, paths = [], []
    for number in range(regions):
        path = (paths[(number - 1) // 4] if number else []) + [f"{names[number % len(names)]} {number}"]
        paths.append(path)
    for number, path in enumerate(paths):
        durations = draw(chance, 1e9 / events / (1 + len(path)) ** 2, events, 0.4)
        rows.append(region(path, durations, sum(durations) // 2, line=10 + number))
    for path in paths:
        for device in range(1, devices + 1):
            rows.append(region(path + ["kernel"], draw(chance, chance.uniform(1e4, 1e6), events, 0.4), kind="kernel", device=device, line=500))
    observed = 40 * 10**9
    return profile(rows, [host(observed)] + [gpu(index, observed, chance.uniform(0.3, 0.9)) for index in range(devices)], observed)
