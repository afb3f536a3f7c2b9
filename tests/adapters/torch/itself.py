#!/usr/bin/env python3
"""libtorch itself, in C++ and Python: itself.py ADAPTYST LIBRARY RESNET HELLO [CASE …]"""
import collections
import json
import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "support"))
from cases import Missing, run_cases  # noqa: E402
from compiling import Failures, output, run, scratch, tool  # noqa: E402
import profiles  # noqa: E402

ADAPTYST, LIBRARY, RESNET, HELLO = sys.argv[1:5]
HERE = pathlib.Path(__file__).parent
PYTHON = "/usr/bin/python3"  # Debian's, for which there is Debian's torch
failures = Failures()
work = scratch()
SMALL = ["--batches", "1,3", "--repeat", "2", "--pixels", "32"]
# Of ResNet-18, by hand: the stem, two convolutions in each of eight blocks, and three shortcuts of another shape. In C++
# torch::nn::Linear calls these two operators.
LAYERS = {"aten::conv2d": 20, "aten::batch_norm": 20, "aten::relu_": 17, "aten::add_": 8, "aten::max_pool2d": 1,
          "aten::adaptive_avg_pool2d": 1, "aten::flatten": 1, "aten::t": 1, "aten::addmm": 1}
FUNCTIONS = {"torch scope", "torch operator", "torch operator within another"}


def engines():
    probe = run([ADAPTYST, "run", "--engine", "ebpf", "--format", "none", "--", HELLO])
    return ["inline", "ebpf"] if probe.returncode == 0 else ["inline"]


def observe(engine, *words, more=()):
    file = work / "profile.json"
    file.unlink(missing_ok=True)
    done = run([ADAPTYST, "run", "--engine", engine, "--format", "none", f"--output={file}", "--with", "torch", *more, "--", *words],
               timeout=120)
    failures.equal((done.returncode, done.stderr), (0, ""), f"{engine}: {words[0]} runs as ever")
    profile = profiles.read(file.read_text())
    account = profile["accounting"]
    failures.equal((account["lost"], account["open"], account["unmatched"]), ({}, 0, 0), f"{engine}: nothing is lost or left open")
    return done, profile


def marker(region):
    return region["path"][-1].split(" [")[0]


def by_function(profile):
    found = collections.defaultdict(collections.Counter)
    for region in profile["regions"]:
        found[region["site"]["function"]][marker(region)] += region["count"]
    return found


def case_network():
    plain = output([RESNET, *SMALL])
    for engine in engines():
        done, profile = observe(engine, RESNET, *SMALL)
        failures.equal(done.stdout, plain, f"{engine}: the result is the program's")
        found = by_function(profile)
        passes = 4
        failures.equal(found["torch scope"], {"resnet18": passes}, f"{engine}: the model")
        below = collections.Counter()
        for region in profile["regions"]:
            if region["site"]["function"] == "torch operator" and "resnet18" in region["path"]:
                below[marker(region)] += region["count"]
        failures.equal(below, {name: passes * count for name, count in LAYERS.items()}, f"{engine}: layers as the network has them")
        for region in profile["regions"]:
            name, around = marker(region), [name_around.split(" [")[0] for name_around in region["path"][:-1]]
            nested = any(name_around.startswith("aten::") for name_around in around)
            if name.startswith("aten::"):
                failures.equal(region["site"]["function"], "torch operator within another" if nested else "torch operator",
                               f"{engine}: {region['path']}")
            failures.check(not region["path"][-1].startswith("aten::") or not nested or " [" not in region["path"][-1],
                           f"{engine}: only layers have shapes", region["path"])
        first = [row for row in profile["regions"] if row["path"][-1] == "aten::conv2d [shape=3x3x32x32,weight=64x3x7x7]"]
        failures.equal(len(first), 1, f"{engine}: the stem of a batch of three")
        if first:
            outputs = 3 * 64 * 16 * 16
            failures.equal({name: attribute["sum"] for name, attribute in first[0]["attributes"].items()},
                           {"flops": 2 * 2 * outputs * 3 * 7 * 7, "bytes": 2 * 4 * (3 * 3 * 32 * 32 + 64 * 3 * 7 * 7 + outputs)},
                           f"{engine}: its work")
        relu = [row for row in profile["regions"] if marker(row) == "aten::relu_" and "resnet18" in row["path"]]
        failures.check(relu and all("flops" not in operation["attributes"] for operation in relu), f"{engine}: unknown work is absent")


def case_levels():
    counts = {}
    for level in ("application", "model", "layer", "library"):
        _, profile = observe("inline", RESNET, *SMALL, more=["--level", level])
        found = by_function(profile)
        counts[level] = {name: found[name] for name in FUNCTIONS if found[name]}
    failures.equal(counts["application"], {}, "nothing of torch on the application's level")
    failures.equal(set(counts["model"]), {"torch scope"}, "the model alone")
    failures.equal(set(counts["layer"]), {"torch scope", "torch operator"}, "layers")
    failures.equal(set(counts["library"]), FUNCTIONS, "and what they call")
    for deeper, less in (("layer", "model"), ("library", "layer")):
        failures.equal({name: counts[deeper][name] for name in counts[less]}, counts[less], f"{deeper}: as many as before above")
    _, profile = observe("inline", RESNET, *SMALL, more=["--level", "layer", "--level", "aten::relu_=hardware"])
    failures.check("aten::relu_" not in by_function(profile)["torch operator"], "a rule of the user comes first")


def case_stack():
    file = work / "stack.json"
    done = run([ADAPTYST, "levels", "--engine", "inline", "--repeat", "1", "--with", "torch", "--stack", f"--output={file}", "--",
                RESNET, *SMALL], timeout=200)
    failures.equal((done.returncode, done.stderr), (0, ""), "adaptyst levels --stack")
    stack = json.loads(file.read_text())["stack"]
    failures.equal([(model["name"], model["batch"]) for model in stack["models"]], [("resnet18", 1), ("resnet18", 3)], "a model for each batch")
    for at, model in enumerate(stack["models"]):
        calls = {type_["type"]: type_["work"]["calls"] for type_ in stack["types"] if type_["model"] == at}
        failures.equal(calls, LAYERS, f"types of layers, in a call of model {at}")
        failures.equal(round(model["items_per_s"] * model["latency_ns"] / 1e9, 6), model["batch"], "throughput is batch over latency")
    flops = sum(type_["work"]["flops"] for type_ in stack["types"] if type_["type"] == "aten::conv2d")
    of_kernels = sum(kernel["work"]["flops"] or 0 for kernel in stack["kernels"] if "conv" in kernel["name"])
    failures.equal(of_kernels, flops, "the kernels of convolutions compute what the layers do")
    for title in ("MODELS", "LAYERS", "TYPES OF LAYERS", "KERNELS BY NAME"):
        failures.check(f"\n{title}" in done.stdout, title, done.stdout)


def case_onednn():
    if "ebpf" not in engines():
        raise Missing("eBPF")
    library = [line.split()[2] for line in output(["ldd", RESNET]).splitlines() if "libdnnl" in line]
    if not library:
        raise Missing("oneDNN in this libtorch")
    words = [RESNET, "--batches", "16", "--repeat", "1", "--pixels", "32"]
    _, profile = observe("ebpf", *words, more=["--functions", f"{library[0]}:dnnl_primitive_execute"])
    found = [region for region in profile["regions"] if region["path"][-1] == "dnnl_primitive_execute"]
    failures.check(found and all(any("mkldnn" in name for name in row["path"]) for row in found), "oneDNN is below its operator",
                   [row["path"] for row in found])


def case_python():
    if run([PYTHON, "-c", "import torch"]).returncode != 0:
        raise Missing("torch of Python (Debian: python3-torch)")
    done, profile = observe("inline", PYTHON, HERE / "counted.py")
    expected = collections.Counter()
    for line in done.stdout.splitlines():
        count, name = line.split(" ", 1)
        expected[name] += int(count)
    found = collections.Counter()
    for region in profile["regions"]:
        if "counted" in region["path"]:
            found[marker(region)] += region["count"]
    failures.equal(found, expected, "as many of each as torch's own profiler counts")
    failures.check(expected["aten::conv2d"] == 3 and expected["aten::convolution_backward"] == 3, "backwards as well", expected)


def case_without_torch():
    plain = run([HELLO])
    done = run([ADAPTYST, "run", "--engine", "inline", "--format", "none", "--with", "torch", "--", HELLO])
    failures.equal((done.returncode, done.stdout), (0, plain.stdout), "a program without torch runs as ever")
    failures.check("--with torch: " in done.stderr and "is not linked with libtorch" in done.stderr, "and that is reported", done.stderr)
    mapped = output(["env", f"LD_PRELOAD={LIBRARY}", "cat", "/proc/self/maps"])
    failures.check("libadaptyst-torch.so" in mapped and "libtorch" not in mapped and "callbacks" not in mapped,
                   "libtorch is not loaded into it", mapped)


def case_loading_as_ever():
    """A module that only the program's own DT_RUNPATH finds is found with the library preloaded, too."""
    (work / "modules").mkdir()
    (work / "module.c").write_text("int answer(void) { return 42; }\n")
    (work / "program.c").write_text('#include <dlfcn.h>\n#include <stdio.h>\nint main(void) {\n'
                                    '  void* const module = dlopen("libanswer.so", RTLD_NOW);\n'
                                    '  int (*const answer)(void) = module ? (int (*)(void))dlsym(module, "answer") : 0;\n'
                                    '  printf("%d\\n", answer ? answer() : -1);\n  return 0;\n}\n')
    output([tool("gcc"), "-shared", "-fPIC", work / "module.c", "-o", work / "modules/libanswer.so"])
    output([tool("gcc"), work / "program.c", "-o", work / "program", "-Wl,-rpath,$ORIGIN/modules,--enable-new-dtags", "-ldl"])
    failures.equal(output(["env", f"LD_PRELOAD={LIBRARY}", work / "program"]), "42\n", "the module is found")


def case_faults_of_loading():
    """Where torch's libraries are not found, that is no fault of what the program has loaded."""
    (work / "checked.c").write_text('#include <dlfcn.h>\n#include <errno.h>\n#include <stdio.h>\n'
                                    'int main(int count, char** words) {\n  errno = 0;\n'
                                    '  for (int at = 1; at != count; ++at) {\n    void* const module = dlopen(words[at], RTLD_NOW);\n'
                                    '    const int number = errno;\n    const char* const fault = dlerror();\n'
                                    '    printf("%d %d %d\\n", module != 0, number, fault != 0);\n    errno = 0;\n  }\n'
                                    '  return 0;\n}\n')
    (work / "empty.c").write_text("int nothing;\n")
    output([tool("gcc"), "-shared", "-fPIC", work / "empty.c", "-o", work / "empty.so"])
    output([tool("gcc"), work / "checked.c", "-o", work / "checked", "-ldl"])
    source = HERE.parent.parent.parent / "adapters/torch/late_loading.cpp"
    output([tool("g++"), "-std=c++17", "-shared", "-fPIC", '-DADAPTYST_TORCH_SONAME="libno_such_torch.so.1"',
            '-DADAPTYST_TORCH_CALLBACKS="none.so"', source, "-o", work / "late_loading.so", "-ldl"])
    words = [work / "checked", work / "empty.so", work / "no_such.so"]
    plain = output(words)
    failures.equal(plain.split("\n")[0], "1 0 0", "a module without a fault")
    failures.equal(output(["env", f"LD_PRELOAD={work / 'late_loading.so'}", *words]), plain, "errno and dlerror() as without the library")


def case_attached():
    """Nothing listens when the network starts; operators are seen some time after something does."""
    file = work / "attached.json"
    program = subprocess.Popen([RESNET, "--batches", "1", "--repeat", "100000", "--pixels", "32"], stdout=subprocess.DEVNULL,
                               env={**os.environ, "LD_PRELOAD": LIBRARY})
    started.append(program)
    until = time.monotonic() + 60
    found = collections.Counter()
    while not found["torch operator"] and time.monotonic() < until:
        done = run([ADAPTYST, "attach", "--engine", "inline", "--format", "none", f"--output={file}", "--duration", "1",
                    str(program.pid)], timeout=100)
        if done.returncode == 0 and file.exists():
            found = {name: sum(counts.values()) for name, counts in by_function(profiles.read(file.read_text())).items()}
            found = collections.Counter(found)
    failures.check(found["torch operator"] > 0, "operators are seen", found)
    failures.check(program.poll() is None, "and the program goes on")


started = []
run_cases(globals(), sys.argv[5:], failures, started)
