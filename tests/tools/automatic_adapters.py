"""`adaptyst run --with auto`, the default: which adapters it loads for which programs, and which programs get none."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

import command
from command import Skipped, require, require_equal, run_all
from compiling import skip

build = command.command.parent.parent
CONSTANT = ("#ifdef TEXT\nconst char* volatile text = TEXT;\n#endif\n"
            "#ifdef CALLED\nvoid CALLED(void);\nvoid call(void) { CALLED(); }\n#endif\n#ifdef LARGE\nconst char large[40 << 20] = {1};\n#endif\n#ifdef MIDDLE\nconst char middle[2 << 20] = {1};\n#endif\n")
SHOWS_ENVIRONMENT = ("#include <stdio.h>\nextern char** environ;\nint main(void) { for (char** one = environ; *one; ++one) puts(*one); return 0; }\n"
                     + CONSTANT)


def library_of(name):
    return str(build / "adapters" / f"libadaptyst-{name}.so")


def has_adapter(name):
    return pathlib.Path(library_of(name)).exists()


def require_adapter(name):
    if not has_adapter(name):
        raise Skipped(f"this build has no {library_of(name)}")


def compile_program(name, *flags):
    source = command.directory / "program.c"
    source.write_text(SHOWS_ENVIRONMENT)
    (command.directory / name).parent.mkdir(exist_ok=True)
    subprocess.run(["gcc", source, "-o", command.directory / name, *map(str, flags)], check=True)
    return command.directory / name


def compile_library(soname, *flags):
    """A library without functions; programs that are linked with it need it by this name."""
    folder = command.directory / "lib"
    folder.mkdir(exist_ok=True)
    source = command.directory / "empty.c"
    source.write_text(f"void in_{''.join(filter(str.isalnum, soname))}(void) {{}}\n" + CONSTANT)
    subprocess.run(["gcc", "-shared", "-fPIC", source, f"-Wl,-soname,{soname}", "-Wl,--no-as-needed", "-o", folder / soname,
                    *map(str, flags)], check=True)
    return folder / soname


def needing(name, *libraries, flags=()):
    return compile_program(name, "-Wl,--no-as-needed", *libraries, "-Wl,-rpath,$ORIGIN/lib", *flags)


def observe(*words, options=(), environment=None, report="none"):
    """The adapters that were loaded and skipped, the program's environment, and the messages."""
    file = command.directory / "profile.json"
    done = subprocess.run([command.command, "run", "--engine", "inline", "--format", report, *options, f"--output={file}", "--",
                           *map(str, words)], env={**os.environ, **(environment or {})}, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, cwd=command.directory, timeout=60, check=False)
    require_equal((words, done.returncode, "AddressSanitizer" in done.stderr), (words, 0, False))
    profile = json.loads(file.read_text())
    variables = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
    return profile.get("adapters", {}), profile.get("skipped_adapters", {}), variables, done.stderr


def test_a_program_that_uses_no_interface_keeps_its_environment():
    loaded, skipped, variables, report = observe(compile_program("plain"), report="table")
    require("adapter" not in report, report)
    variables.pop("ADAPTYST_OBSERVER")
    require_equal((loaded, skipped), ({}, {}))
    ours = {name: value for name, value in os.environ.items() if "\n" not in value}
    require_equal({name: variables.get(name) for name in ours}, ours)
    require_equal(set(variables) - set(os.environ), set())


def test_a_needed_library_is_found_in_a_run_path_and_through_another_library():
    openmp = compile_library("libomp.so.5")
    solver = compile_library("libsolver.so", openmp, "-Wl,-rpath,$ORIGIN")
    # DT_RUNPATH of the program does not apply to the library's libraries; that of the library does.
    for name, libraries in (("direct", [openmp]), ("indirect", [solver, f"-Wl,-rpath-link,{openmp.parent}"])):
        for flags in ([], ["-Wl,--disable-new-dtags"]):
            loaded, skipped, variables, _ = observe(needing(name, *libraries, flags=flags))
            require_equal((name, loaded, skipped), (name, {"openmp": "libomp.so.5"}, {}))
            require_equal(variables.get("OMP_TOOL_LIBRARIES"), library_of("ompt"))
            require("LD_PRELOAD" not in variables, "nothing is preloaded")


def test_auto_is_the_default_of_run_and_none_of_levels():
    program = needing("solver", compile_library("libomp.so.5"))
    for options in ([], ["--with", "auto"]):
        require_equal((options, observe(program, options=options)[0]), (options, {"openmp": "libomp.so.5"}))
    for options, is_loaded in (([], False), (["--with", "none"], False), (["--with", "auto"], True)):
        shown = command.adaptyst("levels", "--engine", "inline", "--show-output", *options, "--", program).err
        require_equal((options, "ADAPTYST_OBSERVER=" in shown, "libadaptyst-ompt" in shown), (options, True, is_loaded))


def test_constants_reveal_interfaces_that_are_compiled_in():
    for name, constant in (("itt", "INTEL_LIBITTNOTIFY64"), ("nvtx", "NVTX_INJECTION64_PATH")):
        require_adapter(name)
        text = f'-DTEXT="{constant}"'
        library = compile_library(f"libuses_{name}.so", text)
        for program in (compile_program(f"contains_{name}", text), needing(f"needs_{name}", library)):
            loaded, skipped, variables, _ = observe(program)
            require_equal((loaded, skipped, variables.get(constant)), ({name: constant}, {}, library_of(name)))
    openmp = needing("solver", compile_library("libomp.so.5", '-DTEXT="INTEL_LIBITTNOTIFY64"'))
    require_equal(observe(openmp)[:2], ({"openmp": "libomp.so.5"}, {}))


def test_children_of_a_program_that_uses_the_interface_inherit_no_preload():
    require_adapter("opencl")
    solver = needing("solver", "-lOpenCL")
    loaded, _, variables, _ = observe(solver)
    require_equal((loaded, "LD_PRELOAD" in variables, "ADAPTYST_PRELOAD" in variables), ({"opencl": "libOpenCL.so.1"}, False, False))
    # A shell passes it on, because the program in it needs it.
    loaded, _, variables, _ = observe("sh", "-c", f"env; true || {solver}")
    require_equal((loaded, variables.get("LD_PRELOAD", "").split(":")[-1]), ({"opencl": "libOpenCL.so.1 of solver"}, library_of("opencl")))


def test_no_adapter_is_loaded_if_that_is_requested_or_another_tool_is_there():
    program = needing("solver", compile_library("libomp.so.5"))
    loaded, skipped, variables, _ = observe(program, options=["--with", "none"])
    require_equal((loaded, skipped, "OMP_TOOL_LIBRARIES" in variables), ({}, {}, False))
    loaded, skipped, variables, _ = observe(program, environment={"OMP_TOOL_LIBRARIES": "theirs.so"})
    require_equal((loaded, skipped, variables.get("OMP_TOOL_LIBRARIES")),
                  ({}, {"openmp": "OMP_TOOL_LIBRARIES is set already, to theirs.so"}, "theirs.so"))
    loaded, _, variables, _ = observe(program, options=["--with", "auto,kokkos"])
    require_equal((loaded, "OMP_TOOL_LIBRARIES" in variables, "KOKKOS_TOOLS_LIBS" in variables), ({"openmp": "libomp.so.5"}, True, True))
    loaded, _, variables, _ = observe(program, options=["--with", "kokkos"])
    require_equal((loaded, "OMP_TOOL_LIBRARIES" in variables), ({}, False))
    done = command.adaptyst("run", "--with", "none,kokkos", "--", "true")
    require_equal((done.status, "--with none and another adapter" in done.err), (2, True))


def test_the_report_begins_with_what_was_loaded_and_what_was_not():
    program = needing("solver", compile_library("libomp.so.5"), compile_library("libgomp.so.1"), compile_library("libcuda.so.1"))
    loaded, skipped, variables, report = observe(program, report="table")
    require_equal((loaded, set(skipped)), ({"openmp": "libomp.so.5"}, {"libgomp", "cuda"}))
    require("CUDA_INJECTION64_PATH" not in variables, "an untested adapter is loaded")
    lines = report.strip().splitlines()
    require_equal(lines[1:4], ["adapters: openmp (libomp.so.5)",
                               "no adapter for cuda: CUPTI accepts one tool and slows down launches; add it by --with auto,cuda",
                               "no adapter for libgomp: GCC's OpenMP has no interface for tools; LLVM's has"])


def test_programs_into_which_nothing_can_be_loaded_are_left_alone():
    require_adapter("opencl")
    opencl = compile_library("libOpenCL.so.1")
    set_id = needing("set_id", opencl)
    set_id.chmod(0o4755)
    cases = [(set_id, {"opencl": "set_id is set-id, or has capabilities"}),
             (compile_program("static", "-static"), {"static": "a static program can load no adapter"}),
             (needing("sanitized", opencl, flags=["-fsanitize=address"]), {"opencl": "sanitized is built with a sanitizer"})]
    for program, expected in cases:
        loaded, skipped, variables, _ = observe(program)
        require_equal((program.name, loaded, skipped, "LD_PRELOAD" in variables), (program.name, {}, expected, False))
    # A child with a sanitizer would end if it inherited the variable.
    both = f"{needing('with_opencl', opencl)}; {command.directory / 'sanitized'}"
    loaded, skipped, variables, _ = observe("sh", "-c", both)
    require_equal((loaded, "LD_PRELOAD" in variables), ({}, False))
    require("sanitizer" in skipped["opencl"], skipped)


def test_a_script_is_followed_to_the_programs_that_it_runs():
    folder = command.directory
    needing("solver", compile_library("libomp.so.5"))
    for name, text in (("job.sh", "# a job\nexport A=1\ncd . && time -p ./solver \"$@\"\n"), ("run", "#!/usr/bin/env bash\nif true; then ./solver; fi\n")):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    found = {"openmp": "libomp.so.5 of solver"}
    for words in (["bash", "job.sh"], ["./run"], ["env", "A=1", "./run"], ["sh", "-c", "./solver >/dev/null"], ["timeout", "60", "./solver"]):
        require_equal((words, observe(*words)[0]), (words, found))
    for options in (["-euo", "pipefail"], ["-O", "extglob"], ["+x"], ["+o", "posix", "-e"], ["--norc", "--"], ["--rcfile", "./run"]):
        words = ["bash", *options, "job.sh"]
        require_equal((words, observe(*words)[0]), (words, found))
    require_equal(observe("bash", "-ec", "-o", "pipefail", "./solver")[0], found)
    (folder / "other").write_text("#!/bin/sh\n./$A; true\n")
    (folder / "other").chmod(0o755)
    require_equal(observe("./other", environment={"A": "solver"})[:2], ({}, {}))  # variables are not evaluated
    (folder / "endless").write_text("#!./endless\n")
    require_equal(observe("sh", "-c", "true || ./endless")[0], {})


def test_imports_of_a_python_script_are_found():
    folder = command.directory
    (folder / "train.py").write_text("import os, sys\ntry:\n    import pyopencl as cl\nexcept ImportError:\n    pass\n"
                                     "if False:\n    from mpi4py import MPI\nfor one in os.environ: print(one + '=' + os.environ[one])\n")
    loaded, skipped, variables, _ = observe("python3", "train.py")
    require_equal((loaded, set(skipped), "LD_PRELOAD" in variables), ({}, {"mpi", "opencl"}, False))
    require("add it by --with auto,opencl" in skipped["opencl"], skipped)
    require_adapter("torch")
    (folder / "train.py").write_text("import os\nif False:\n    from torch import nn\nfor one in os.environ: print(one + '=' + os.environ[one])\n")
    loaded, skipped, variables, _ = observe("python3", "train.py")
    require_equal((loaded, skipped), ({"torch": "import torch"}, {}))
    require_equal(variables.get("LD_PRELOAD", "").split(":")[-1], library_of("torch"))


def test_a_search_that_ends_at_a_limit_is_reported():
    folder = command.directory
    needing("solver", compile_library("libomp.so.5"))
    imports = "import os\n"
    scripts = {"many_words.sh": ": 1\n" * 501 + "./solver\n",
               "much_text.py": imports + "#" * (1 << 16) + "\nif False: import torch\n",
               "many_modules.py": "if False:\n" + "".join(f"    import module{at}\n" for at in range(300)) + "    import mpi4py\n",
               "few.py": imports, "few.sh": ": 1\n" * 490}
    for name, text in scripts.items():
        (folder / name).write_text(text)
    for depth in range(10):
        (folder / f"deep{depth}").write_text(f"#!/bin/sh\ntrue || ./deep{depth + 1}\n")
        (folder / f"deep{depth}").chmod(0o755)
    for words in (["sh", "many_words.sh"], ["python3", "much_text.py"], ["python3", "many_modules.py"], ["./deep0"]):
        require_equal((words, list(observe(*words)[1])), (words, ["other interfaces"]))
    for words in (["sh", "few.sh"], ["python3", "few.py"], ["./deep8"]):
        require_equal((words, observe(*words)[:2]), (words, ({}, {})))
    for name, text in (("shim", "exec ./chosen"), ("chosen", "true || ./solver")):
        (folder / name).write_text(f"#!/usr/bin/env bash\n{text}\n")
        (folder / name).chmod(0o755)
    require_equal(observe("./shim")[:2], ({"openmp": "libomp.so.5 of solver"}, {}))


def test_a_launcher_of_processes_elsewhere_is_named():
    needing("solver", compile_library("libomp.so.5"))
    (command.directory / "srun").write_text("#!/bin/sh\nshift 2\nexec \"$@\"\n")
    (command.directory / "srun").chmod(0o755)
    loaded, skipped, variables, _ = observe("srun", "-n", "1", "./solver",
                                            environment={"PATH": f"{command.directory}:{os.environ['PATH']}"})
    require_equal((loaded, "OMP_TOOL_LIBRARIES" in variables), ({}, False))
    require("srun … adaptyst run -- PROGRAM" in skipped["openmp"], skipped)


def test_options_of_srun_may_have_values():
    needing("solver", compile_library("libomp.so.5"))
    (command.directory / "job.sh").write_text("./solver\n")
    (command.directory / "srun").write_text("#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\nshift\nexec \"$@\"\n")
    (command.directory / "srun").chmod(0o755)
    for words in (["-n", "1", "--chdir", ".", "--mpi=pmix", "--", "./solver"], ["--job-name", "solver", "-c2", "--", "env", "A=1", "./solver"],
                  ["--export", "ALL,A=1", "-J", "nice", "--", "bash", "job.sh"]):
        skipped = observe("srun", *words, environment={"PATH": f"{command.directory}:{os.environ['PATH']}"})[1]
        require_equal((words, list(skipped)), (words, ["openmp"]))


def test_each_host_of_a_launcher_is_read():
    needing("solver", compile_library("libomp.so.5"))
    (command.directory / "mpirun").write_text("#!/bin/sh\nshift $HOST_WORDS\nexec \"$@\"\n")
    (command.directory / "mpirun").chmod(0o755)
    here = os.uname().nodename
    for hosts, is_elsewhere in ((["-H", "localhost:4,node2:4"], True), (["--host=localhost,node2"], True), (["-H", f"{here},node2"], True),
                                (["-H", f"localhost:4,{here}:4"], False), (["-host", "localhost"], False)):
        environment = {"PATH": f"{command.directory}:{os.environ['PATH']}", "HOST_WORDS": str(len(hosts))}
        loaded, skipped, _, _ = observe("mpirun", *hosts, "./solver", environment=environment)
        require_equal((hosts, not loaded, "openmp" in skipped), (hosts, is_elsewhere, is_elsewhere))
    # A batch system names the hosts of its job in a file.
    nodes = command.directory / "nodes"
    for variable, text, is_elsewhere in (("PBS_NODEFILE", f"{here}\n{here}\n", False), ("PBS_NODEFILE", f"{here}\nnode2\n", True),
                                         ("PE_HOSTFILE", f"{here} 2 all.q UNDEFINED\nnode2 2 all.q UNDEFINED\n", True)):
        nodes.write_text(text)
        environment = {"PATH": f"{command.directory}:{os.environ['PATH']}", "HOST_WORDS": "0", variable: str(nodes)}
        require_equal((text, "openmp" in observe("mpirun", "./solver", environment=environment)[1]), (text, is_elsewhere))


def test_the_search_for_words_ends_in_time():
    folder = command.directory
    many = [f"{folder}/no/{at}" for at in range(3000)]
    (folder / "job.sh").write_text("exit 0\n" + "".join(f"word{at}\n" for at in range(900)))
    start = time.monotonic()
    _, skipped, _, _ = observe("sh", "job.sh", environment={"PATH": ":".join(many) + ":" + os.environ["PATH"]})
    require_equal(list(skipped), ["other interfaces"])
    require(time.monotonic() - start < 30, "900 words and 3,000 folders are combined")


def test_an_untested_library_of_a_program_that_cannot_be_reached_stops_no_other_program():
    require_adapter("mpich")
    set_id = needing("set_id", compile_library("libmpi_gnu_123.so"))
    set_id.chmod(0o4755)
    needing("solver", compile_library("libmpich.so.12"))
    loaded, skipped, _, _ = observe("sh", "-c", "true || ./set_id; true || ./solver")
    require_equal((loaded, skipped), ({"mpich": "libmpich.so.12 of solver"}, {}))


def test_variables_of_an_outer_run_are_no_other_tool():
    program = needing("solver", compile_library("libomp.so.5"))
    for name in ("itt", "nvtx"):
        require_adapter(name)
    tbb = needing("flow", compile_library("libtbb.so.12"))
    for variable, name, words in (("OMP_TOOL_LIBRARIES", "ompt", program), ("INTEL_LIBITTNOTIFY64", "itt", tbb)):
        for folder in (pathlib.Path(library_of(name)).parent, "/elsewhere"):
            preset = f"{folder}/libadaptyst-{name}.so"
            loaded, skipped, variables, messages = observe(words, environment={variable: preset})
            require_equal((len(loaded), skipped, variables.get(variable), messages), (1, {}, preset, ""))
    for value, is_refused in ((library_of("nvtx"), False), ("/theirs.so", True)):
        done = command.adaptyst("run", "--engine", "inline", "--with", "nvtx", "--", program, env={**os.environ, "NVTX_INJECTION64_PATH": value})
        require_equal((value, done.status != 0, "is set already" in done.err), (value, is_refused, is_refused))


def test_a_path_that_a_variable_cannot_hold_is_reported():
    require_adapter("opencl")
    program = needing("solver", compile_library("libOpenCL.so.1"), compile_library("libomp.so.5"))
    for folder, contains in (("with space", "a space"), ("with:colon", '":"')):
        installed = command.directory / folder
        for part in ("tools", "adapters"):
            (installed / part).mkdir(parents=True)
        shutil.copy(command.command, installed / "tools")
        for name in ("opencl", "ompt"):
            shutil.copy(library_of(name), installed / "adapters")
        own = [installed / "tools" / command.command.name, "run", "--engine", "inline", "--format", "none", "--output=profile.json"]
        done = subprocess.run([*own, "--", program], cwd=command.directory, text=True, capture_output=True, timeout=60, check=False)
        profile = json.loads((command.directory / "profile.json").read_text())
        require_equal((done.returncode, "libadaptyst" in done.stdout and "LD_PRELOAD" in done.stdout), (0, False))
        require(f"which contains {contains}" in profile["skipped_adapters"]["opencl"], profile["skipped_adapters"])
        require_equal("openmp" in profile.get("adapters", {}), folder == "with space")
        done = subprocess.run([*own, "--with", "opencl", "--", program], cwd=command.directory, text=True, capture_output=True, timeout=60, check=False)
        require_equal((done.returncode != 0, "LD_PRELOAD cannot hold the path" in done.stderr, "install adaptyst in" in done.stderr), (True, True, True))


def test_a_preload_that_would_break_the_program_is_skipped():
    require_adapter("opencl")
    newer = command.directory / "newer.map"
    newer.write_text("GLIBCXX_99 { global: *; };\n")
    refused = "solver and libadaptyst-opencl.so need different versions of libstdc++.so.6"
    script = f"-Wl,--version-script={newer}"
    calls = "-DCALLED=in_libstdcso6"
    # Versions that a library defines, and the program does not use, prevent nothing.
    for versions, uses, expected in (([], [calls], {}), ([script], [], {}), ([script], [calls], {"opencl": refused})):
        other = compile_library("libstdc++.so.6", *versions)
        library = compile_library("libsolver.so", other, "-Wl,-rpath,$ORIGIN", *uses)
        loaded, skipped, variables, _ = observe(needing("solver", "-lOpenCL", library, f"-Wl,-rpath-link,{other.parent}"))
        require_equal((versions, uses, skipped, "opencl" in loaded), (versions, uses, expected, not expected))
    # The program's own libraries come first: one that lacks versions would stop the adapter.
    require_equal(observe(needing("solver", "-lOpenCL", compile_library("libstdc++.so.6")))[1], {"opencl": refused})
    installed = command.directory / "installed"
    for part in ("tools", "adapters"):
        (installed / part).mkdir(parents=True)
    shutil.copy(command.command, installed / "tools")
    adapter = pathlib.Path(library_of("opencl")).read_bytes().replace(b"libOpenCL.so.1\0", b"libOpenCL.so.9\0")
    (installed / "adapters/libadaptyst-opencl.so").write_bytes(adapter)
    done = subprocess.run([installed / "tools" / command.command.name, "run", "--engine", "inline", "--", needing("solver", "-lOpenCL")],
                          cwd=command.directory, text=True, capture_output=True, timeout=60, check=False)
    require_equal((done.returncode, "LD_PRELOAD" in done.stdout), (0, False))
    require("no adapter for opencl: libadaptyst-opencl.so needs libOpenCL.so.9, which is missing" in done.stderr, done.stderr)


def test_a_library_that_loads_mpi_is_preloaded_only_if_python_runs_with_it():
    require_adapter("ranks-openmpi")
    installed = command.directory / "installed_mpi"
    for part in ("tools", "adapters"):
        (installed / part).mkdir(parents=True)
    shutil.copy(command.command, installed / "tools")
    shutil.copy(library_of("openmpi"), installed / "adapters")
    script = command.directory / "solve.py"
    for soname, imported, is_preloaded in ((b"libmpi.so.99\0", "mpi4py", False), (b"libmpi.so.40\0", "mpi4py", True), (b"libmpi.so.40\0", "json", False)):
        ranks = pathlib.Path(library_of("ranks-openmpi")).read_bytes().replace(b"libmpi.so.40\0", soname)
        (installed / "adapters/libadaptyst-ranks-openmpi.so").write_bytes(ranks)
        script.write_text(f"import os\nif False:\n    import {imported}\nprint('ranks-openmpi' in os.environ.get('LD_PRELOAD', '') + open('/proc/self/maps').read())\n")
        done = subprocess.run([installed / "tools" / command.command.name, "run", "--with", "openmpi", "--engine", "inline", "--", sys.executable, script],
                              cwd=command.directory, text=True, capture_output=True, timeout=60, check=False)
        require_equal((soname, imported, done.returncode, done.stdout.strip()), (soname, imported, 0, str(is_preloaded)))
        message = "needs libmpi.so.99, which is missing; calls of MPI are not observed"
        require((message in done.stderr) == (soname == b"libmpi.so.99\0"), done.stderr)


def add_script(name, text):
    (command.directory / name).write_text(text)
    (command.directory / name).chmod(0o755)


def with_path():
    return {"PATH": f"{command.directory}:{os.environ['PATH']}"}


def test_nothing_is_loaded_into_a_container():
    needing("solver", compile_library("libomp.so.5"))
    add_script("mpirun", "#!/bin/sh\nexec \"$@\"\n")
    for name in ("apptainer", "docker"):
        add_script(name, "#!/bin/sh\nshift 2\nexec \"$@\"\n")
        why = f"{name} starts programs with other libraries; put adaptyst run inside the container"
        for words in (["mpirun", name, "exec", "image.sif", "./solver"], [name, "exec", "image.sif", "./solver"], ["sh", "-c", f"nice {name} exec x ./solver"]):
            loaded, skipped, variables, _ = observe(*words, environment=with_path())
            require_equal((words, loaded, skipped, "OMP_TOOL_LIBRARIES" in variables), (words, {}, {"other interfaces": why}, False))
        # Programs outside of the container would pass the variables on to it.
        loaded, skipped, _, _ = observe("sh", "-c", f"./solver; {name} exec x true", environment=with_path())
        require_equal((loaded, skipped), ({}, {"openmp": why, "other interfaces": why}))
    # The image, or a module, may have the only apptainer.
    require_equal(observe("sh", "-c", "true || podman run x ./solver")[0], {})
    for text in ("command -v docker; ./solver", "echo docker; ./solver", "mkdir -p docker; ./solver"):
        require_equal((text, observe("sh", "-c", text)[0]), (text, {"openmp": "libomp.so.5 of solver"}))


def test_a_batch_script_is_followed_to_its_end():
    needing("solver", compile_library("libomp.so.5"))
    preparation = "".join(f"echo step {at}\nif [ -d out ]; then true; fi\nmkdir -p out\nA=1 cp job.sh out\n" for at in range(40))
    add_script("job.sh", f"#!/bin/sh\n{preparation}exec ./solver\n")
    loaded, skipped, _, _ = observe("./job.sh")
    require_equal((loaded, skipped), ({"openmp": "libomp.so.5 of solver"}, {}))
    add_script("job.sh", "#!/bin/sh\nexit\n" + "".join(f"./tool{at}\n" for at in range(80)))
    for at in range(80):
        add_script(f"tool{at}", "#!/bin/sh\n")
        (command.directory / f"tool{at}").write_bytes((command.directory / "solver").read_bytes())
    require_equal(observe("./job.sh")[1].get("other interfaces"), "the search reached its limit; name adapters: --with auto,NAME")


def test_names_of_this_host_may_differ_in_domain_and_case():
    needing("solver", compile_library("libomp.so.5"))
    add_script("mpirun", "#!/bin/sh\nexec \"$@\"\n")
    here = os.uname().nodename.split(".")[0]
    nodes = command.directory / "nodes"
    for text, is_elsewhere in ((f"{here}.cluster.example\n", False), (f"{here.upper()}\n", False), ("127.0.0.1\nlocalhost\nlocalhost.localdomain\n", False),
                               (f"# hosts of the job\n{here}\n", False), ("#\nnode2.cluster.example\n", True), ("127.0.0.2\n", True)):
        nodes.write_text(text)
        skipped = observe("mpirun", "./solver", environment={**with_path(), "PBS_NODEFILE": str(nodes)})[1]
        require_equal((text, "openmp" in skipped), (text, is_elsewhere))


def test_a_large_library_leaves_time_for_the_texts_of_other_programs():
    require_adapter("nvtx")
    large = compile_library("liblarge.so", "-DLARGE")
    text = '-DTEXT="NVTX_INJECTION64_PATH"'
    needing("first", large)
    compile_program("second", text)
    loaded, skipped, _, _ = observe("sh", "-c", "./first; ./second")
    require_equal((loaded, list(skipped)), ({"nvtx": "NVTX_INJECTION64_PATH of second"}, ["other interfaces"]))
    # A file that several programs need counts once.
    middle = compile_library("libmiddle.so", "-DMIDDLE")
    for at in range(9):
        needing(f"program{at}", middle)
    words = "; ".join(f"./program{at}" for at in range(9))
    require_equal(observe("sh", "-c", f"true || {{ {words}; }}")[:2], ({}, {}))


def test_a_read_only_dynamic_section_is_read():
    require_adapter("opencl")
    if shutil.which("ld.lld") is None:
        raise Skipped("no ld.lld")
    program = needing("solver", "-lOpenCL", flags=["-fuse-ld=lld", "-Wl,-z,rodynamic"])
    loaded, _, variables, _ = observe(program)
    require_equal((loaded, "LD_PRELOAD" in variables), ({"opencl": "libOpenCL.so.1"}, False))


def test_a_late_loading_adapter_brings_no_other_library():
    require_adapter("torch")
    shown = subprocess.run(["readelf", "-d", library_of("torch")], text=True, capture_output=True, check=True).stdout
    needed = [line.split("[")[1].split("]")[0] for line in shown.splitlines() if "(NEEDED)" in line]
    require_equal([name for name in needed if not name.startswith(("libc.so", "libdl.so", "libpthread.so", "ld-linux"))], [])


def test_the_adapter_finds_libraries_as_the_program_does():
    require_adapter("opencl")
    installed = command.directory / "installed"
    for part in ("tools", "adapters"):
        (installed / part).mkdir(parents=True)
    shutil.copy(command.command, installed / "tools")
    adapter = pathlib.Path(library_of("opencl")).read_bytes().replace(b"libOpenCL.so.1\0", b"libOpenCL.so.9\0")
    (installed / "adapters/libadaptyst-opencl.so").write_bytes(adapter)
    opencl = compile_library("libOpenCL.so.9", "-Wl,--no-as-needed", "-lOpenCL")
    own = [installed / "tools" / command.command.name, "run", "--engine", "inline", "--"]
    for flags, is_missing in (["-Wl,--disable-new-dtags"], False), (["-Wl,--enable-new-dtags"], True):
        program = needing("solver", "-lOpenCL", flags=flags)
        done = subprocess.run([*own, program], cwd=command.directory, text=True, capture_output=True, timeout=60, check=False)
        require_equal((flags, "libOpenCL.so.9, which is missing" in done.stderr), (flags, is_missing))
    require(opencl.exists(), "the library is in a folder of the program")


def test_the_library_path_of_a_followed_program_is_used():
    require_adapter("opencl")
    newer = command.directory / "newer.map"
    newer.write_text("GLIBCXX_99 { global: *; };\n")
    folder = compile_library("libstdc++.so.6", f"-Wl,--version-script={newer}").parent
    library = compile_library("libsolver.so", folder / "libstdc++.so.6")
    compile_program("solver", "-Wl,--no-as-needed", "-lOpenCL", library, f"-Wl,-rpath-link,{folder}")
    refused = "solver and libadaptyst-opencl.so need different versions of libstdc++.so.6"
    unknown = "LD_LIBRARY_PATH of solver is unknown before its script runs"
    for words, expected in ((["env", f"LD_LIBRARY_PATH={folder}", "./solver"], refused),
                            (["sh", "-c", f"LD_LIBRARY_PATH={folder}:$LD_LIBRARY_PATH ./solver"], refused),
                            (["sh", "-c", f"export LD_LIBRARY_PATH={folder}:${{LD_LIBRARY_PATH}}\ncd .\n./solver"], refused),
                            (["sh", "-c", f"export LD_LIBRARY_PATH={folder}${{LD_LIBRARY_PATH:+:${{LD_LIBRARY_PATH}}}}; ./solver"], refused),
                            (["sh", "-c", "LD_LIBRARY_PATH=`pwd`/lib ./solver"], unknown),
                            (["sh", "-c", "A=lib; LD_LIBRARY_PATH=$A ./solver"], unknown),
                            (["sh", "-c", "export LD_LIBRARY_PATH=${B:-lib}; ./solver"], unknown),
                            (["sh", "-c", "LD_LIBRARY_PATH=$X true; LD_LIBRARY_PATH=$HERE ./solver"], refused)):
        loaded, skipped, _, _ = observe(*words, environment={"HERE": str(folder)})
        require_equal((words, loaded, skipped), (words, {}, {"opencl": expected}))
    add_script("mpirun", f"#!/bin/sh\nexport LD_LIBRARY_PATH={folder}\nshift 3\nexec \"$@\"\n")
    for words in (["-x", f"LD_LIBRARY_PATH={folder}", "--"], ["-genv", "LD_LIBRARY_PATH", folder]):
        skipped = observe("mpirun", *words, "./solver", environment=with_path())[1]
        require_equal((words, skipped), (words, {"opencl": refused}))
    add_script("inner", f"#!/bin/sh\nexport LD_LIBRARY_PATH={folder}\n")
    loaded, skipped, _, _ = observe("sh", "-c", f"./inner; LD_LIBRARY_PATH={folder} true; true || ./solver")
    require_equal((loaded, skipped), ({"opencl": "libOpenCL.so.1 of solver"}, {}))


def test_the_search_in_many_directories_ends():
    needing("solver", compile_library("libomp.so.5"))
    many = ":".join(f"/no/{at}" for at in range(4000))
    start = time.monotonic()
    skipped = observe("./solver", environment={"LD_LIBRARY_PATH": many})[1]
    require_equal(list(skipped), ["other interfaces"])
    require(time.monotonic() - start < 30, "each of 4,000 folders is searched for each library")


def test_damaged_files_end_no_search():
    folder = command.directory
    good = bytearray(needing("solver", compile_library("libomp.so.5")).read_bytes())
    for name, content in {"empty": b"", "short": good[:100], "half": good[:len(good) // 2], "wild": good[:64] + b"\xff" * 4096, "header": bytes(good[:40]) + (64).to_bytes(8, "little") + good[48:60] + b"\0\0" + good[62:64] + b"\xff" * 4096,
                          "foreign": good[:18] + b"\xf3\x00" + good[20:]}.items():
        (folder / name).write_bytes(content)
        (folder / name).chmod(0o755)
        os.truncate(folder / name, max(len(content), 1 << 30))  # sparse
        loaded, skipped, _, _ = observe("sh", "-c", f"./solver; true || ./{name}")
        require_equal((name, loaded), (name, {"openmp": "libomp.so.5 of solver"}))
        expected = {"foreign": "no program for this machine's architecture", "header": "cannot be read as ELF"}
        if name in ("foreign", "header", "empty"):
            require_equal((name, skipped.get(name)), (name, expected.get(name)))


if shutil.which("gcc") is None:
    skip("no gcc")
if not has_adapter("ompt"):
    skip(f"this build has no {library_of('ompt')}")
run_all(dict(globals()))
