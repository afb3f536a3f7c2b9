#!/usr/bin/env python3
"""Runs every benchmark and writes a flat object of numbers. Usage: run.py BUILD_DIR OUTPUT.json [PART…]

PART is a name of the table at the end. With parts, the other figures in OUTPUT.json stay. The file is written after each part.
A part that fails is named at the end, and the exit status is 1. The machine's name goes into OUTPUT.txt. What is compared is
measured alternately. A missing peer is named, and its keys are absent."""
import json
import os
import pathlib
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import traceback

build = pathlib.Path(sys.argv[1]).resolve()
output = pathlib.Path(sys.argv[2])
source = pathlib.Path(__file__).resolve().parent.parent
programs = build / "bench"
figures = {}
missing = []
ROUNDS = 5


def run(*command, **options):
    return subprocess.run([str(c) for c in command], check=True, text=True, stdout=subprocess.PIPE, **options).stdout


def read_figures(text):
    found = {}
    for line in text.splitlines():
        if line.startswith("not measured: "):
            missing.append(line.removeprefix("not measured: "))
        elif line:
            key, value = line.split()
            found[key] = float(value)
    return found


def measure(*command, **options):
    return read_figures(run(*command, **options))


def alternately(key, ours, peer, ratio_key, ours_key):
    """Medians of both, and of the ratio of ours to theirs, round by round."""
    pairs = [(ours(), peer()) for _ in range(ROUNDS)]
    figures[key] = statistics.median(b for _, b in pairs)
    figures[ratio_key] = statistics.median(a / b for a, b in pairs)
    print(f"  {ours_key} / {key}: " + ", ".join(f"{a:.3g}/{b:.4g}" for a, b in pairs), file=sys.stderr)


def idle_instructions():
    """Instructions that a marker adds, counted by callgrind: what no noise can touch."""
    if not shutil.which("valgrind"):
        return missing.append("idle_instructions: valgrind")
    steps = 100000
    counts = {}
    with tempfile.TemporaryDirectory() as scratch:
        for label in ("idle", "plain"):
            file = pathlib.Path(scratch) / label
            run("valgrind", "--tool=callgrind", f"--callgrind-out-file={file}", programs / "adaptyst_bench", label, steps,
                stderr=subprocess.DEVNULL)
            counts[label] = int(re.search(r"^(?:summary|totals): (\d+)", file.read_text(), re.M).group(1))
    figures["idle_instructions"] = round((counts["idle"] - counts["plain"]) / steps, 2)


def idle_site_bytes():
    """Bytes that a marker adds to the hot code of its function; the cold part is a symbol of its own."""
    sizes = {}
    for line in run("nm", "-S", programs / "adaptyst_bench").splitlines():
        words = line.split()
        if len(words) == 4 and words[3] in ("bench_with_region", "bench_without_region"):
            sizes[words[3]] = int(words[1], 16)
    figures["idle_site_bytes"] = sizes["bench_with_region"] - sizes["bench_without_region"]


def header_compile():
    """What including region.hpp adds to the compilation of nothing: header-only, and with the markers linked."""
    with tempfile.TemporaryDirectory() as scratch:
        with_header = pathlib.Path(scratch) / "with.cpp"
        without = pathlib.Path(scratch) / "without.cpp"
        with_header.write_text("#include <adaptyst/region.hpp>\n")
        without.write_text("")

        def compile_ms(file, *flags):
            begin = time.perf_counter()
            run("g++", "-std=c++17", "-O2", f"-I{source / 'include'}", *flags, "-c", file, "-o", "/dev/null")
            return (time.perf_counter() - begin) * 1e3

        for key, flags in [("header_compile_ms", []), ("linked_header_compile_ms", ["-DADAPTYST_LINK_MARKERS"])]:
            figures[key] = statistics.median(compile_ms(with_header, *flags) - compile_ms(without) for _ in range(25))


def against_bpftrace():
    if not shutil.which("bpftrace") or os.geteuid() != 0 or "ebpf_region_ns" not in figures:
        return missing.append("bpftrace_pair_ns: bpftrace, root and the ebpf engine")
    classic = programs / "adaptyst_bench_classic"
    script = f"""usdt:{classic}:bench:begin {{ @start[tid] = nsecs; }}
        usdt:{classic}:bench:end /@start[tid]/ {{ @ns = hist(nsecs - @start[tid]); @total = sum(nsecs - @start[tid]);
        @count = count(); delete(@start[tid]); }}"""

    def others():
        text = run("bpftrace", "-e", script, "-c", classic, stderr=subprocess.DEVNULL)
        return float(re.search(r"bpftrace_pair_ns (\S+)", text).group(1))

    alternately("bpftrace_pair_ns", lambda: measure(programs / "adaptyst_bench", "ebpf")["ebpf_region_ns"], others,
                "ebpf_over_bpftrace", "ebpf_region_ns")


def against_lttng():
    program = programs / "adaptyst_bench_lttng"
    if not program.exists() or not shutil.which("lttng"):
        return missing.append("lttng_pair_ns: lttng-tools and liblttng-ust-dev")
    with tempfile.TemporaryDirectory() as scratch:
        environment = dict(os.environ, LTTNG_HOME=scratch, HOME=scratch)
        daemon = subprocess.Popen(["lttng-sessiond", "--no-kernel"], env=environment, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        lttng = lambda *arguments: run("lttng", *arguments, env=environment, stderr=subprocess.DEVNULL)
        try:
            for _ in range(100):
                if subprocess.run(["lttng", "list"], env=environment, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL).returncode == 0:
                    break
                time.sleep(0.1)
            # In memory, newest kept: no disk in what is measured, and no event is discarded early.
            lttng("create", "bench", "--snapshot", f"--output={scratch}/trace")
            lttng("enable-event", "--userspace", "adaptyst_bench:*")
            lttng("start")
            peer = lambda: read_figures(run(program, env=environment))["lttng_pair_ns"]
            alternately("lttng_pair_ns", lambda: measure(programs / "adaptyst_bench", "inline")["inline_region_ns"], peer,
                        "inline_over_lttng", "inline_region_ns")
            alternately("lttng_pair_ns", lambda: measure(programs / "adaptyst_bench", "trace")["trace_event_ns"], peer,
                        "trace_over_lttng", "trace_event_ns")
            lttng("destroy", "bench")
        finally:
            daemon.terminate()
            daemon.wait()


def opencl():
    program = programs / "adaptyst_bench_opencl"
    if not program.exists():
        return missing.append("opencl_…: ocl-icd-opencl-dev")
    try:
        figures.update(measure(program))
    except subprocess.CalledProcessError:
        missing.append("opencl_…: no OpenCL device (Debian: pocl-opencl-icd)")


def kokkos():
    program = programs / "adaptyst_bench_kokkos"
    if not program.exists():
        return missing.append("kokkos_…: the adapter was not built")
    figures.update(measure(program))


def heap():
    """A program that allocates 10^6 times a second: with its allocations sampled and without, in turns; and with each counted."""
    observed, program = build / "tools" / "adaptyst", programs / "adaptyst_bench_heap"
    if not program.exists() or not observed.exists():
        return missing.append("heap_…: the adapter or the command was not built")
    pin = ["taskset", "-c", str(max(os.sched_getaffinity(0)))]
    times = lambda memory: read_figures(run(observed, "run", "--engine", "inline", "--format", "none", "--with", "none", "--memory", memory,
                                            "--", *pin, program))
    rounds = [(times("heap"), times("none"), times("exact-heap")) for _ in range(3 * ROUNDS)]
    figures["heap_sampled_overhead_percent"] = 100 * (statistics.median(a["loop_ns"] / b["loop_ns"] for a, b, _ in rounds) - 1)
    figures["heap_all_malloc_ns"] = statistics.median(all["pair_ns"] - b["pair_ns"] for _, b, all in rounds) / 2
    print("  loop sampled / without, ns: " + ", ".join(f"{a['loop_ns']:.0f}/{b['loop_ns']:.0f}" for a, b, _ in rounds), file=sys.stderr)


def annotations(interface):
    program = programs / f"adaptyst_bench_{interface}"
    if not program.exists():
        return missing.append(f"{interface}_…: the adapter was not built")
    figures.update(measure(program))


def openmp():
    """What the adapter adds to a parallel loop of 100 us, and to nothing else: one process with it, one without, in turns."""
    observed = build / "tools" / "adaptyst"
    if not shutil.which("clang++") or not (build / "adapters" / "libadaptyst-ompt.so").exists() or not observed.exists():
        return missing.append("ompt_parallel_overhead_percent: clang, libomp-dev and libcli11-dev")
    with tempfile.TemporaryDirectory() as scratch:
        program = pathlib.Path(scratch) / "parallel_loop"
        run("clang++", "-std=c++17", "-O2", "-fopenmp", source / "bench/adapters/parallel_loop.cpp", "-o", program)
        environment = dict(os.environ, OMP_NUM_THREADS=str(os.cpu_count()), OMP_PROC_BIND="true", OMP_WAIT_POLICY="active")
        loop = lambda *words: read_figures(run(*words, env=environment, stderr=subprocess.DEVNULL))
        steps = int(loop(program)["steps"])
        with_it = lambda: loop(observed, "run", "--engine", "inline", "--format", "none", "--with", "openmp", "--", program,
                               steps)["loop_ns"]
        without = lambda: loop(program, steps)["loop_ns"]
        pairs = [(with_it(), without()) for _ in range(3 * ROUNDS)]
        figures["ompt_parallel_overhead_percent"] = 100 * (statistics.median(a / b for a, b in pairs) - 1)
        print("  loop with / without the OpenMP adapter, us: " + ", ".join(f"{a / 1e3:.2f}/{b / 1e3:.2f}" for a, b in pairs),
              file=sys.stderr)


def torch():
    """What a network's inference takes longer with its layers looked at: one process with the adapter, one without, in turns."""
    observed, program = build / "tools" / "adaptyst", build / "examples" / "resnet_inference"
    if not (build / "adapters" / "libadaptyst-torch.so").exists() or not program.exists() or not observed.exists():
        return missing.append("torch_layer_overhead_percent: the adapter or the example was not built (Debian: libtorch-dev)")
    pin = ["taskset", "-c", str(max(os.sched_getaffinity(0)))]

    def inference_ns(scratch, *words):
        file = pathlib.Path(scratch) / "profile.json"
        run(*pin, observed, "run", "--engine", "inline", "--overhead", "none", "--format", "none", f"--output={file}", *words,
            "--", program, "--batches", "1,4,16", "--repeat", "5")
        regions = json.loads(file.read_text())["regions"]
        return sum(region["total_ns"] for region in regions if region.get("parent") is None and region["name"].startswith("inference"))

    with tempfile.TemporaryDirectory() as scratch:
        pairs = [(inference_ns(scratch, "--with", "torch", "--level", "layer"), inference_ns(scratch, "--with", "none", "--level", "application"))
                 for _ in range(3 * ROUNDS)]
    figures["torch_layer_overhead_percent"] = 100 * (statistics.median(a / b for a, b in pairs) - 1)
    print("  inference with / without layers, ms: " + ", ".join(f"{a / 1e6:.0f}/{b / 1e6:.0f}" for a, b in pairs), file=sys.stderr)


def levels():
    """What looking at all levels adds to a program with markers on three of them: the deepest level and the highest, in turns."""
    program = programs / "adaptyst_bench_levelled"
    if not (build / "tools" / "adaptyst").exists():
        return missing.append("levels_overhead_percent: the command was not built (Debian: libcli11-dev)")
    with tempfile.TemporaryDirectory() as scratch:
        file = pathlib.Path(scratch) / "profile.json"

        def work_ns(level):
            run(build / "tools" / "adaptyst", "run", "--engine", "inline", "--overhead", "none", "--format", "none", f"--output={file}",
                "--with", "none", "--level", "step=model", "--level", "layer=layer", "--level", level, "--", program, "20000", "0")
            return next(region["total_ns"] for region in json.loads(file.read_text())["regions"] if region.get("parent") is None)

        pairs = [(work_ns("layer"), work_ns("application")) for _ in range(3 * ROUNDS)]
    figures["levels_overhead_percent"] = 100 * (statistics.median(a / b for a, b in pairs) - 1)


def unprivileged_samples():
    """What a program loses that is sampled without privileges, with regions of 10 us; and the observer's time for a stack."""
    command, program = build / "tools" / "adaptyst", programs / "adaptyst_bench"
    if not command.exists():
        return missing.append("sample_unprivileged_…: built without the command")
    as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all",
                 "--bounding-set=-all"] if os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)

        def work_ns(*options, samples=None):
            done = run(*as_nobody, command, "run", "--engine=inline", "--overhead=none", "--format=none",
                       f"--output={folder}/p.json", *options, "--", program, "work", env={**os.environ, "HOME": folder})
            made = json.loads((pathlib.Path(folder) / "p.json").read_text())
            if options and made.get("samples") is None:
                raise PermissionError("perf_event_open")
            if samples is not None:
                samples.append(made["samples"])
            return read_figures(done)["work_ns"]

        sampled, copied = (["--context=samples", f"--stacks={stacks}"] for stacks in ("frame-pointers", "dwarf"))
        timers = ["--samples=timer", "--sample-frequency=250"]
        if (build / "adapters/libadaptyst-timer.so").exists():
            pairs = [(work_ns(*timers), work_ns()) for _ in range(15)]
            figures["sample_timer_overhead_percent"] = 100 * (statistics.median(a / b for a, b in pairs) - 1)
        else:
            missing.append("sample_timer_overhead_percent: ADAPTYST_WITH_TIMER")
        copies = []
        try:
            turns = [(work_ns(*sampled), work_ns(), work_ns(*copied, samples=copies)) for _ in range(15)]
        except PermissionError:
            return missing.append("sample_unprivileged_…: the kernel permits no samples")
    figures["sample_unprivileged_overhead_percent"] = 100 * (statistics.median(a / b for a, b, _ in turns) - 1)
    figures["sample_copies_overhead_percent"] = 100 * (statistics.median(c / b for _, b, c in turns) - 1)
    if all("unwinding_ns" in samples for samples in copies):
        figures["dwarf_unwind_us"] = statistics.median(one["unwinding_ns"] / one["samples"] for one in copies) / 1e3
    else:
        missing.append("dwarf_unwind_us: built without libdw")


def languages():
    figures.update(measure(programs / "adaptyst_bench_languages"))
    if "fortran_region_over_c_ns" not in figures:
        missing.append("fortran_…: gfortran")
    if not (build / "python/adaptyst").is_dir():
        return missing.append("python_…: ADAPTYST_BUILD_PYTHON")
    # Debian's Python, for which the package is built.
    figures.update(measure(shutil.which("python3", path="/usr/bin") or "python3", "-B", source / "bench/languages/python_regions.py",
                           env={**os.environ, "PYTHONPATH": str(build / "python")}))


def rank_merge():
    """Profiles of simulated ranks, merged by two threads; the greatest number is held against the linear merge."""
    for ranks in (1024, 16384, 131072):
        linear = ["linear"] if ranks == 131072 else []
        got = measure(programs / "adaptyst_bench_rank_merge", ranks, *linear)
        figures[f"mpi_merge_{ranks}_peak_mib"] = got["peak_mib"]
        print(f"  {ranks} simulated ranks merged: {got['seconds']:.1f} s, core {got['core_kib']:.1f} KiB, "
              f"details {got['details_kib']:.0f} KiB, at most {got['peak_mib']:.0f} MiB", file=sys.stderr)
    figures["mpi_merge_131072_s"] = got["seconds"]
    figures["mpi_message_kib_200_regions"] = got["core_kib"]
    figures["mpi_details_kib_131072"] = got["details_kib"]


def advice():
    """The search on simulated costs; and how far what is advised is from the best mapping of a pipeline, measured here."""
    figures.update(measure(programs / "adaptyst_bench_advise"))
    if not (build / "examples" / "where_to_run").exists() or not (build / "tools" / "adaptyst").exists():
        return missing.append("advisor_regret_percent: ocl-icd-opencl-dev and libcli11-dev")
    with tempfile.TemporaryDirectory() as scratch:
        result = pathlib.Path(scratch) / "advice.json"
        try:
            run(source / "scripts" / "measure-advice", build, result)
        except subprocess.CalledProcessError:
            return missing.append("advisor_regret_percent: no OpenCL device (Debian: pocl-opencl-icd)")
        got = json.loads(result.read_text())
        figures["advisor_regret_percent"] = got["advisor_regret_percent"]
        for case in got["inputs"]:
            print(f"  {case['rows']} rows, density {case['density']}: advised {case['advised']}, best {case['best']}, "
                  f"regret {case['regret_percent']:.1f} %", file=sys.stderr)


def mpi_calls():
    """What `--with mpi` adds to a stencil on two ranks, and to a call: with it and without, in turns."""
    observed = build / "tools" / "adaptyst"
    if not shutil.which("mpicc.openmpi") or not (build / "adapters" / "libadaptyst-openmpi.so").exists() or not observed.exists():
        return missing.append("mpi_overhead_percent: libopenmpi-dev, openmpi-bin and libcli11-dev")
    with tempfile.TemporaryDirectory() as scratch:
        program = pathlib.Path(scratch) / "mpi_calls"
        run("mpicc.openmpi", "-O3", source / "bench/adapters/mpi_calls.c", "-o", program)
        environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        launcher = ["mpirun.openmpi", "-n", "2", "--bind-to", "core"]
        ours = [observed, "run", "--engine", "inline", "--format", "none", "--with", "mpi", "--"]
        seconds = lambda before, *words: read_figures(run(*launcher, *before, program, *words, env=environment,
                                                          stderr=subprocess.DEVNULL))["seconds"]
        try:
            pairs = [(seconds(ours, "stencil", 2000), seconds([], "stencil", 2000)) for _ in range(3 * ROUNDS)]
        except subprocess.CalledProcessError:
            return missing.append("mpi_overhead_percent: two processors")
        figures["mpi_overhead_percent"] = 100 * (statistics.median(a / b for a, b in pairs) - 1)
        print("  stencil with / without the MPI adapter, s: " + ", ".join(f"{a:.3f}/{b:.3f}" for a, b in pairs), file=sys.stderr)
        steps, calls = 200_000, 4  # of a round trip
        pairs = [(seconds(ours, "ping_pong", steps), seconds([], "ping_pong", steps)) for _ in range(ROUNDS)]
        figures["mpi_call_overhead_ns"] = 1e9 / steps / calls * statistics.median(a - b for a, b in pairs)
        figures["mpi_ping_pong_ns"] = 1e9 / steps * statistics.median(b for _, b in pairs)


def page():
    """How large the page of a profile is, simulated: 200 regions on a host and 8 devices, and ten times the events in them."""
    command = programs.parent / "tools" / "adaptyst"
    if not command.exists():
        return missing.append("page_…: the command was not built")
    sys.path.insert(0, str(source / "tests" / "support"))
    import simulated_run
    with tempfile.TemporaryDirectory() as scratch:
        def size(name, **how):
            profile = pathlib.Path(scratch) / f"{name}.json"
            profile.write_text(json.dumps(simulated_run.many_rows(**how)))
            run(command, "report", profile, "--output", profile.with_suffix(".html"))
            return profile.with_suffix(".html").stat().st_size

        once, longer = size("once", events=200), size("longer", events=2000)
        figures["page_kib_200_regions"] = once / 1024
        figures["page_growth_10x_percent"] = 100 * (longer / once - 1)
        figures["page_shell_kib"] = size("empty", regions=0, devices=0) / 1024


def automatic_adapters():
    """What `adaptyst run` takes to find out which adapters a command needs: in turns with `--with none`."""
    command = programs.parent / "tools" / "adaptyst"
    if not command.exists():
        return missing.append("auto_start_ms: the command was not built")
    words = ["sh", "-c", f"true || python3 -c 'import torch'; true || {command} --version"]

    def ms(choice):
        begin = time.perf_counter()
        run(command, "run", "--engine=inline", "--format=none", f"--with={choice}", "--", *words)
        return (time.perf_counter() - begin) * 1e3

    figures["auto_start_ms"] = statistics.median(ms("auto") - ms("none") for _ in range(25))


def timeline_page():
    """A timeline of 10^6 simulated intervals in a headless browser: from opening the file until the first picture is on the
    screen, and from a zoom until what it shows is."""
    command = programs.parent / "tools" / "adaptyst"
    for folder in ("support", "page"):
        sys.path.insert(0, str(source / "tests" / folder))
    import chromium
    if not command.exists() or "convert" not in run(command, "help"):
        return missing.append("page_…_1e6: the command was not built, or without SQLite")
    import simulated_trace
    with tempfile.TemporaryDirectory() as scratch:
        trace, page = pathlib.Path(scratch) / "trace.sqlite", pathlib.Path(scratch) / "trace.html"
        count = simulated_trace.make_trace(trace, 1_005_000)
        assert count >= 1_000_000, count
        begin = time.perf_counter()
        run(command, "convert", trace, "-o", page, stderr=subprocess.DEVNULL)
        figures["page_write_s_1e6"] = time.perf_counter() - begin
        figures["page_kib_1e6"] = page.stat().st_size / 1024
        if chromium.find() is None:
            return missing.append("page_first_picture_ms_1e6, page_zoom_ms_1e6: chromium")
        with chromium.Chromium(seconds=300) as browser:
            firsts = []
            for _ in range(ROUNDS):
                browser.open(page)
                firsts.append(browser.value("performance.getEntriesByName('first picture')[0].startTime"))
            figures["page_first_picture_ms_1e6"] = statistics.median(firsts)
            zooms = browser.value("""(async () => {
                const shown = document.getElementById("timeline").timeline, times = [];
                for (const middle of [0.37, 0.5, 0.81])
                  for (const part of [1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.003, 0.001, 0.0001]) {
                    const begin = performance.now();
                    shown.show(shown.range * (middle - part / 2), shown.range * (middle + part / 2));
                    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
                    times.push(performance.now() - begin);
                  }
                return times;
            })()""")
            figures["page_zoom_ms_1e6"] = statistics.median(zooms)
            print(f"  first picture, ms: {firsts}; zooms, ms: {[round(zoom, 1) for zoom in zooms]}", file=sys.stderr)


def traces():
    """What an event of a timeline costs whoever writes the file: as an event log, a Chrome trace, a store."""
    with tempfile.TemporaryDirectory() as scratch:
        figures.update(measure(programs / "adaptyst_bench_trace_writers", scratch))
    figures.update(measure(programs / "adaptyst_bench_profile_writers"))


def variability():
    """A simulated export of 20 M kernels and 5 M copies, by one thread, by two ranks, by pandas, by a scan with SQLite alone; then
    an export with 8 M kernels and 2 M copies in a random order."""
    adaptyst = build / "tools" / "adaptyst"
    python = "/usr/bin/python3"  # Debian's, which sees Debian's pandas
    if subprocess.run([python, "-c", "import pandas"], check=False, stderr=subprocess.DEVNULL).returncode != 0:
        return missing.append("variability_…: pandas (Debian: python3-pandas)")
    folder = source / "bench" / "variability"
    kernels, copies = (int(word) for word in os.environ.get("ADAPTYST_BENCH_VARIABILITY", "20000000 5000000").split())

    def seconds(*words, **options):
        begin = time.monotonic()
        run(*words, **options)
        return time.monotonic() - begin

    with tempfile.TemporaryDirectory() as scratch:
        file, result = pathlib.Path(scratch) / "simulated.sqlite", pathlib.Path(scratch) / "result.json"
        ranks = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2"]
        run(python, folder / "generate.py", file, kernels, copies)
        ours = ["variability", "--window=10ms", f"--output={result}", file]
        scan = ("SELECT sum(start + \"end\" + deviceId + contextId + globalPid + demangledName) FROM CUPTI_ACTIVITY_KIND_KERNEL; "
                "SELECT sum(start + \"end\" + deviceId + contextId + globalPid + copyKind) FROM CUPTI_ACTIVITY_KIND_MEMCPY")
        turns = []
        for _ in range(3):
            own = seconds(adaptyst, *ours, "--threads=1")
            peak = json.loads(result.read_text())["ranks"][0]["peak_rss"]
            turns.append((own, seconds(python, folder / "with_pandas.py", file),
                          seconds("sqlite3", file, scan) if shutil.which("sqlite3") else None,
                          seconds(*ranks, adaptyst, *ours, stderr=subprocess.DEVNULL)
                          if shutil.which("mpirun") and os.cpu_count() > 1 else None))
        rows = kernels + copies
        figures["variability_rows_per_s"] = statistics.median(rows / own for own, *_ in turns)
        figures["variability_over_pandas"] = statistics.median(pandas / own for own, pandas, *_ in turns)
        figures["variability_peak_mib"] = peak / 2**20
        if os.cpu_count() > 1:
            figures["variability_two_threads_rows_per_s"] = rows / statistics.median(seconds(adaptyst, *ours, "--threads=2") for _ in range(3))
        if turns[0][2] is not None:
            figures["variability_over_sqlite_scan"] = statistics.median(own / scan_only for own, _, scan_only, _ in turns)
        if turns[0][3] is not None:
            figures["variability_two_ranks_speedup"] = statistics.median(own / two for own, *_, two in turns)
            # What keeps it from 2, whatever ranks do: the start and end of MPI, of a trace with hardly a row, and that two
            # programs side by side, which have nothing to do with each other, are slower than one of them alone.
            few = pathlib.Path(scratch) / "few.sqlite"
            run(python, folder / "generate.py", few, 1000, 100)
            started = statistics.median(seconds(*ranks, adaptyst, "variability", few, stderr=subprocess.DEVNULL) for _ in range(3))
            side_by_side = []
            for _ in range(3):
                begin = time.monotonic()
                both = [subprocess.Popen([adaptyst, "variability", "--window=10ms", "--threads=1", file], stdout=subprocess.DEVNULL)
                        for _ in range(2)]
                if any([process.wait() for process in both]):
                    raise RuntimeError("one of two analyses side by side failed")
                side_by_side.append(time.monotonic() - begin)
            alone = statistics.median(own for own, *_ in turns)
            concurrent = statistics.median(side_by_side) / alone
            figures["variability_mpi_start_s"] = started
            figures["variability_side_by_side_slowdown"] = concurrent
            figures["variability_two_ranks_best_speedup"] = alone / (started + alone * concurrent / 2)
        else:
            missing.append("variability_two_ranks_speedup: mpirun and two processors")
        file.unlink()
        shuffled = pathlib.Path(scratch) / "shuffled.sqlite"
        run(python, folder / "generate.py", shuffled, 2 * kernels // 5, 2 * copies // 5, "--shuffled")
        taken = statistics.median(seconds(adaptyst, "variability", "--window=10ms", "--threads=1", f"--output={result}", shuffled)
                                  for _ in range(3))
        figures["variability_shuffled_rows_per_s"] = (2 * kernels // 5 + 2 * copies // 5) / taken
        figures["variability_shuffled_peak_mib"] = json.loads(result.read_text())["ranks"][0]["peak_rss"] / 2**20
        launches = kernels // 20
        kineto = pathlib.Path(scratch) / "simulated.json"
        run(python, folder / "generate_kineto.py", kineto, launches)
        figures["kineto_read_rows_per_s"] = 5 * launches / seconds(adaptyst, "variability", "--window=10ms", "--threads=1", f"--output={result}", kineto)
        rocpd = pathlib.Path(scratch) / "simulated.db"
        run(python, folder / "generate_rocpd.py", rocpd, kernels // 20, copies // 20)
        figures["rocpd_rows_per_s"] = (kernels // 20 + copies // 20) / statistics.median(
            seconds(adaptyst, "variability", "--window=10ms", "--threads=1", f"--output={result}", rocpd) for _ in range(3))
        rocpd.unlink()
        store = pathlib.Path(scratch) / "store.sqlite"
        small = pathlib.Path(scratch) / "small.sqlite"
        run(python, folder / "generate.py", small, 800_000, 200_000)
        taken = statistics.median(seconds(adaptyst, "convert", small, "-o", store, stderr=subprocess.DEVNULL) for _ in range(3))
        figures["convert_rows_per_s"] = 1_000_000 / taken
        print("  simulated export; one thread, pandas, SQLite's scan, two ranks, s: "
              + "; ".join(", ".join("-" if entry is None else f"{entry:.1f}" for entry in turn) for turn in turns), file=sys.stderr)


def markers():
    for part in ([], ["budget"], ["nested"], ["fine"]):
        figures.update(measure(programs / "adaptyst_bench", *part))


def kernel():
    if not measure(programs / "adaptyst_bench", "ebpf").get("ebpf_region_ns"):
        return missing.append("attach_…, detach_…, context_…: eBPF is not permitted here")
    for part in ("context", "samples", "attach", "memory"):
        figures.update(measure(programs / "adaptyst_bench", part))
    figures.update(measure(programs / "adaptyst_bench_10000_sites", "attach"))
    figures.update(measure(programs / "adaptyst_bench_outside"))


def study():
    program = programs / "uprobe_vs_usdt" / "adaptyst_bench_uprobe_vs_usdt"
    if not program.exists():
        return missing.append("study_…: written for x86-64 with eBPF")
    if len(chosen) > 1 and "ebpf_region_ns" not in figures:
        return missing.append("study_…: eBPF is not permitted here")
    for key in [key for key in figures if key.startswith("study_")]:
        del figures[key]
    figures.update(measure(program))
    # Notes, instruction and a run without an observer; 77: no compiler or no qemu.
    aarch64 = subprocess.run([sys.executable, "-B", source / "tests/elf_notes/check_notes.py", source, "g++", "aarch64"],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if aarch64.returncode == 77:
        missing.append("study_aarch64_passed: " + aarch64.stdout.strip())
    elif aarch64.returncode != 0:
        raise RuntimeError(aarch64.stdout)
    else:
        figures["study_aarch64_passed"] = 1


PARTS = {
    "markers": markers,
    "kernel": kernel,
    "study": study,
    "instructions": lambda: (idle_instructions(), idle_site_bytes()),
    "headers": header_compile,
    "bpftrace": against_bpftrace,
    "lttng": against_lttng,
    "opencl": opencl,
    "kokkos": kokkos,
    "heap": heap,
    "nvtx": lambda: annotations("nvtx"),
    "itt": lambda: annotations("itt"),
    "roctx": lambda: annotations("roctx"),
    "openmp": openmp,
    "torch": torch,
    "levels": levels,
    "unprivileged": unprivileged_samples,
    "automatic": automatic_adapters,
    "languages": languages,
    "ranks": rank_merge,
    "advice": advice,
    "mpi": mpi_calls,
    "page": page,
    "timeline": timeline_page,
    "traces": traces,
    "variability": variability,
}
chosen = sys.argv[3:] or list(PARTS)
for name in chosen:
    if name not in PARTS:
        sys.exit(f"bench/run.py: {name} is no part; the parts are {', '.join(PARTS)}")
if sys.argv[3:] and output.exists():
    figures.update(json.loads(output.read_text()))
output.parent.mkdir(parents=True, exist_ok=True)
failed = []
for name in chosen:
    print(f"== {name}", file=sys.stderr)
    try:
        PARTS[name]()
    except Exception:  # the next part needs nothing of it
        traceback.print_exc()
        failed.append(name)
    output.write_text(json.dumps(dict(sorted(figures.items())), indent=1) + "\n")
model = re.search(r"model name\s*:\s*(.*)", pathlib.Path("/proc/cpuinfo").read_text())
is_guest = "hypervisor" in pathlib.Path("/proc/cpuinfo").read_text()
machine = (f"{model.group(1) if model else platform.machine()}, {os.cpu_count()} CPUs{' (virtual)' if is_guest else ''}, "
           f"Linux {platform.release()}, {run('g++', '--version').splitlines()[0]}, {time.strftime('%Y-%m-%d')}")
output.with_suffix(".txt").write_text(machine + "\n")
print(machine)
for key, value in sorted(figures.items()):
    print(f"  {key:38} {value:10.4g}")
for label in missing:
    print(f"  not measured: {label}")
for name in failed:
    print(f"  failed: {name}, see above")
sys.exit(bool(failed))
