"""Ceilings: measured and kept by doctor, held against regions by report; a file that is of no use is refused, and why."""
import json
import socket

import command
from command import adaptyst, hand_made, region, require, require_equal, run_all, written


def rates(gbytes_per_s, double_gflops, single_gflops):
    def repeated(best):
        return {"best": best, "median": best, "worst": best, "n": 3}
    return {"gbytes_per_s": repeated(gbytes_per_s), "double_gflops": repeated(double_gflops),
            "single_gflops": repeated(single_gflops), "array_bytes": 4096}


def ceilings(host="node1", **other):
    """By hand: one thread attains 8 GB/s and 16 GFLOP/s, all four 12 and 48."""
    made = {"schema": 1, "host": host, "cpu": "made by hand", "measured": "2026-11-25T01:00:00Z", "cpus": 4,
            "instructions": "avx2", "cache_bytes": 4096, "seconds": 1.5, "counting": "by hand", "disturbed": False,
            "one_thread": rates(8, 16, 32), "all_cpus": rates(12, 48, 96), "devices": None, **other}
    return written("ceilings.json", made)


def amount(sum_of_all):
    return {"count": 1, "sum": sum_of_all, "min": sum_of_all, "max": sum_of_all}


def profile(*regions, host="node1"):
    made = hand_made(*regions)
    made["process"]["host"] = host
    return written("run.json", made)


def stencil(flops, bytes_moved, **other):
    """A call of 50 ns."""
    amounts = {"flops": flops, "bytes": bytes_moved}
    return region(["stencil"], 50, attributes={key: amount(value) for key, value in amounts.items() if value is not None}, **other)


def roofline_of(file, *options):
    done = adaptyst("report", file, "--format", "json", *options)
    require_equal((done.status, done.err), (0, ""))
    return json.loads(done.out)["regions"][0].get("roofline")


def test_what_is_measured_is_kept():
    done = adaptyst("doctor", "--measure-ceilings", "--format", "json", "--ceilings", "measured.json")
    require_equal((done.status, done.err), (0, ""))
    kept = (command.directory / "measured.json").read_text(encoding="utf-8")
    require_equal(kept, done.out)
    found = json.loads(kept)
    require_equal(found["host"], socket.gethostname())
    for of in ("one_thread", "all_cpus"):
        for rate in ("gbytes_per_s", "double_gflops", "single_gflops"):
            ceiling = found[of][rate]
            require(0 < ceiling["worst"] <= ceiling["median"] <= ceiling["best"] and ceiling["n"] >= 2, rate, ceiling)
    require(roofline_of(profile(stencil(100, 200), host=found["host"]), "--ceilings", "measured.json"), "a roofline")


def test_a_region_is_held_against_them():
    file = profile(stencil(100, 200))  # 0.5 FLOP/B: 8 GB/s allow 4 GFLOP/s; 2 are attained, with 4 GB/s
    found = roofline_of(file, "--ceilings", ceilings())
    require_equal(found, {"ai": 0.5, "gflops": 2, "gbytes_per_s": 4, "attainable_gflops": 4, "share": 0.5, "bound": "memory",
                          "threads": 1})
    shown = adaptyst("report", file, "--ceilings", "ceilings.json")
    require("50.0% of 4 GFLOP/s that one thread can attain, bound by memory" in " ".join(shown.out.split()), shown.out)
    file = profile(stencil(400, 100))  # 4 FLOP/B: 32 would be possible, and the peak is 16; 8 are attained
    found = roofline_of(file, "--ceilings", "ceilings.json")
    require_equal((found["attainable_gflops"], found["share"], found["bound"]), (16, 0.5, "compute"))
    found = roofline_of(file, "--ceilings", "ceilings.json", "--precision", "single")
    require_equal((found["attainable_gflops"], found["share"]), (32, 0.25))
    found = roofline_of(profile(stencil(100, 200, threads=4)), "--ceilings", "ceilings.json")  # a quarter of 12 GB/s each
    require_equal((found["attainable_gflops"], found["threads"]), (1.5, 4))


def test_unknown_amounts_have_no_roofline():
    file = ceilings()
    for flops, bytes_moved in ((100, None), (None, 200), (100, 0), (0, 200)):
        require_equal(roofline_of(profile(stencil(flops, bytes_moved)), "--ceilings", file), None)


def test_a_file_of_no_use_is_refused_and_why():
    run = profile(stencil(100, 200))

    def refused(file, *reasons):
        done = adaptyst("report", run, "--ceilings", file)
        require_equal((done.status, done.out), (2, ""))
        for reason in (*reasons, "adaptyst doctor --measure-ceilings"):
            require(reason in done.err, reason, done.err)

    refused(ceilings("node2"), "of no use here", "they are of node2, and the figures of node1")
    whole = ceilings().read_text(encoding="utf-8")
    damaged = command.directory / "damaged.json"
    damaged.write_text(whole[:len(whole) // 2], encoding="utf-8")
    refused(damaged, "damaged.json holds no ceilings")
    refused(ceilings(cpus=0), "holds no ceilings", "cpus")
    refused(ceilings(one_thread=rates(0, 16, 32)), "holds no ceilings", "one_thread")
    refused(run, "run.json holds no ceilings")
    refused("none.json", "none.json")


run_all(globals())
