"""adaptyst advise: which device for which region, from hand-made profiles in which the answer is known."""
import csv
import json

from command import adaptyst, hand_made, region, require, require_equal, run_all, written

# ns, below 64 so that buckets are exact: the host takes rows / 10, the card 20 whatever the input.
LEARNT = (50, 100, 200, 400, 600)


def profile(rows, chain="step", **metadata):
    made = hand_made(region(["run", "step"], *[rows // 10] * 20), region(["run", "step", "step"], *[20] * 20, device=1, kind="offload"))
    made["regions"][1]["id"] = "0000000000000007"
    made["devices"].append({**made["devices"][0], "id": 1, "kind": "gpu", "name": "card"})
    made["metadata"] = {"chain": chain, "rows": str(rows), **metadata}
    return made


def profiles():
    return [written(f"{rows}.json", profile(rows)) for rows in LEARNT]


def advise(*arguments):
    done = adaptyst("advise", *arguments, "--format", "json")
    return done.status, json.loads(done.out)


def find_device(best):
    return [stage["device"] for stage in best["stages"]]


def test_each_input_that_was_profiled():
    status, advice = advise(*profiles())
    require_equal(status, 0)
    require_equal(advice["parameters"]["features"], ["rows"])
    found = [find_device(case["best"]) for case in advice["inputs"]]
    del found[2]  # of 200 rows both take 20
    require_equal(found, [["host"], ["host"], ["card"], ["card"]])


def test_an_input_that_was_not():
    files = profiles()
    for rows, device, provenance in ((150, "host", "interpolated"), (300, "card", "interpolated"), (900, "card", "extrapolated")):
        status, advice = advise(*files, "--for", f"rows={rows}")
        require_equal(status, 0)
        require_equal(find_device(advice["inputs"][0]["best"]), [device])
        costs = {cost["device"]: cost for cost in advice["inputs"][0]["costs"]}
        require_equal(costs["host"]["provenance"], provenance)
        require_equal(costs["host"]["n"], 100)
        require(abs(costs["host"]["ns"] - rows / 10) < 0.1, costs)


def test_a_table_for_people():
    done = adaptyst("advise", *profiles(), "--for", "rows=900")
    require_equal((done.status, done.err), (0, ""))
    for part in ("step on card", "EXTRAPOLATED", "best by latency", "from 5 profiles", "CV: mean error of the regression; "):
        require(part in done.out, part, done.out)
    verbose = " ".join(adaptyst("advise", *profiles(), "--for", "rows=900", "--verbose").out.split())
    require("each input is predicted by the others" in verbose and "more: --verbose" not in verbose, verbose)


def test_alternatives():
    files = profiles()
    _, advice = advise(*files)
    for case, rows in zip(advice["inputs"], LEARNT):
        others = {other["name"]: other for other in case["alternatives"]}
        require_equal(list(others), ["host only", "card only", "best static"])
        best = min(rows / 10, 20)
        # 270 ns in all on the host, 100 on the card: the card is the best static choice.
        for name, ns in (("host only", rows / 10), ("card only", 20), ("best static", 20)):
            require_equal(others[name]["mapping"]["latency_ns"], ns)
            require(abs(others[name]["ratio"] - ns / best) < 1e-9, name, others)
    done = adaptyst("advise", *files, "--for", "rows=300")
    require("SPEED-UP (95 %)" in done.out, done.out)
    lines = {line.strip()[:9]: line for line in done.out.splitlines()}
    require("1.5 x (1.5 … 1.5)" in lines["host only"], done.out)
    require("1 x (1 … 1)" in lines["card only"], done.out)
    rows = list(csv.DictReader(adaptyst("advise", *files, "--for", "rows=300", "--format", "csv").out.splitlines()))
    require_equal([row["mapping"] for row in rows], ["", "", "advised", "host only", "card only", "best static"])
    for name in ("ratio", "ratio_low", "ratio_high"):
        require(abs(float(rows[3][name]) - 1.5) < 1e-6, name, rows[3])
    status, advice = advise(*files, "--for", "rows=600", "--devices", "card=0")
    require_equal([other["name"] for other in advice["inputs"][0]["alternatives"]], ["host only", "best static"])


def branched(**metadata):
    """load and reduce on the host; fft, filter and scale take 50 there and 20 on the card."""
    rows = [region(["run", name], *[50] * 20) for name in ("load", "fft", "filter", "scale", "reduce")]
    rows += [region(["run", name], *[20] * 20, device=1, kind="offload") for name in ("fft", "filter", "scale")]
    made = hand_made(*rows)
    for at, row in enumerate(made["regions"]):
        row["id"] = f"{at + 16:016x}"
    made["devices"].append({**made["devices"][0], "id": 1, "kind": "gpu", "name": "card"})
    made["metadata"] = metadata
    return made


def test_branches():
    chain = "load,(fft|filter,scale),reduce"
    # Both branches on a single card: 60. With two cards, or one branch on the host: 40 or 50.
    with_chain, without = written("with.json", branched(chain=chain)), written("without.json", branched())
    for arguments in ((with_chain,), (without, "--chain", chain)):
        for devices, ns, on in ((1, 150, ["host", "host", "card", "host"]), (2, 140, ["host", "card", "card", "host"]),
                                (0, 250, ["host"] * 4)):
            status, advice = advise(*arguments, "--devices", f"card={devices}")
            best = advice["inputs"][0]["best"]
            require_equal((status, best["latency_ns"], find_device(best)), (0, ns, on))
            require_equal([stage["regions"] for stage in best["stages"]], [["load"], ["fft"], ["filter", "scale"], ["reduce"]])
            require_equal([stage.get("lane") for stage in best["stages"]], [None, 1, 2, None] if devices else [None] * 4)
            require_equal(advice["parameters"]["branches"], chain)
            others = {other["name"]: other["ratio"] for other in advice["inputs"][0]["alternatives"]}
            require_equal(sorted(others), ["best static", "host only"])
            require(abs(others["host only"] - 250 / ns) < 1e-9, others)
    done = adaptyst("advise", with_chain)
    require("load on host | fft on host (lane 1) | filter, scale on card (lane 2) | reduce on host" in done.out, done.out)


def test_energy_and_limits():
    files = profiles()
    watts = ("--watts", "host=10", "--watts", "card=100:0")
    for objective, rows, device in (("energy", 600, "host"), ("latency", 600, "card")):
        require_equal(find_device(advise(*files, "--for", f"rows={rows}", "--objective", objective, *watts)[1]["inputs"][0]["best"]),
                      [device])
    status, advice = advise(*files, "--for", "rows=600", "--devices", "card=0")
    require_equal((status, find_device(advice["inputs"][0]["best"])), (0, ["host"]))
    status, advice = advise(*files, "--for", "rows=600", "--min-throughput", "1e9")
    require_equal((status, advice["inputs"][0]["best"]), (1, None))
    require("infeasible" in advice["inputs"][0]["reason"], advice)


def test_what_is_refused():
    files = profiles()
    for arguments, part in (
            ((*files, "--for", "density=1"), "has no feature 'density'"),
            ((*files, "--chain", "step,sort"), "'sort' was measured on no device"),
            ((*files, "--objective", "energy"), "advice on energy needs the power"),
            ((*files, "--watts", "fpga=3"), "have no device 'fpga'"),
            ((*files, "--chain", "step,(step|"), "')' is missing"),
            ((*files, "--chain", "(" * 70000 + "|"), "more than 65536 bytes"),
            ((written("branched.json", branched(chain="load,(fft|filter)")), "--pipelined"), "cannot be pipelined"),
            ((*files, "--for", "rows"), "write it as in rows=4096"),
            ((*files, "--watts", "card=3:4"), "write it as in gpu=300"),
            ((written("other.json", profile(7, chain="sort")), *files), "different chains")):
        done = adaptyst("advise", *arguments)
        require_equal(done.status, 2)
        require(part in done.err, part, done.err)


run_all(dict(globals()))
