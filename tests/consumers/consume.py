"""Installs adaptyst into a prefix of its own, and builds and runs outside projects against it.

usage: consume.py CASE --source DIR --work DIR --built DIR --cc COMPILER --cxx COMPILER [--pfr DIR]

A case is a function below. Cases named install_… make the trees that the others use, with objects of the build that is
tested where its commands are the same.
"""
import argparse
import json
import os
import pathlib
import platform
import re
import shlex
import shutil
import subprocess
import sys

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent / "support"))
import profiles  # noqa: E402

regions = 42  # that program.cpp runs


def run(*command, environment=None, expect_failure=False):
    words = [str(word) for word in command]
    done = subprocess.run(words, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, **(environment or {})})
    if (done.returncode != 0) != expect_failure:
        sys.exit(f"{shlex.join(words)}\nended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def require(condition, label):
    if not condition:
        sys.exit(label)


def prefix(kind):
    return arguments.work / "prefix" / kind


def fresh(path):
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    return path


def compilers():
    return [f"-DCMAKE_C_COMPILER={arguments.cc}", f"-DCMAKE_CXX_COMPILER={arguments.cxx}"]


def pfr():
    return [f"-DADAPTYST_PFR_INCLUDE_DIR={arguments.pfr}"] if arguments.pfr else []


def cached(name):
    """A variable of the build that is tested."""
    found = re.search(rf"^{name}:[A-Z]+=(.*)$", (arguments.built / "CMakeCache.txt").read_text(encoding="utf-8"), re.MULTILINE)
    return found.group(1) if found else ""


def as_built():
    """Flags as in the build that is tested, and its objects."""
    kind = cached("CMAKE_BUILD_TYPE")
    flags = [f"-D{name}={cached(name)}" for name in ["CMAKE_BUILD_TYPE", "CMAKE_CXX_FLAGS", f"CMAKE_CXX_FLAGS_{kind.upper()}", "ADAPTYST_UNITY_BUILD"]]
    if not (arguments.built / "compile_commands.json").exists():
        return flags
    launcher = [sys.executable, "-BIS", here / "reuse.py", arguments.built]
    return [*flags, "-DCMAKE_CXX_COMPILER_LAUNCHER=" + ";".join(map(str, launcher))]


def install(kind, *options):
    # Anew each time: of copied objects, it is not known which headers they depend on.
    build = fresh(arguments.work / "build" / kind)
    messages = run("cmake", "-S", arguments.source, "-B", build, "-G", "Ninja", "-DCMAKE_INSTALL_LIBDIR=lib", "-DADAPTYST_BUILD_TESTS=OFF",
               "-DADAPTYST_BUILD_EXAMPLES=OFF", "-DADAPTYST_BUILD_BENCH=OFF", *as_built(), *compilers(), *pfr(), *options)
    run("cmake", "--build", build, "-j2")
    # What is installed must bear being moved, so it is.
    fresh(prefix(kind)).rmdir()
    first = fresh(arguments.work / "prefix" / f"{kind}.first")
    run("cmake", "--install", build, "--prefix", first)
    first.rename(prefix(kind))
    # Debug information may name the sources; no other file may know where this was built.
    for file in prefix(kind).rglob("*"):
        if file.suffix in (".cmake", ".pc", ".hpp", ".h"):
            text = file.read_text(encoding="utf-8")
            for place in [arguments.source, build, first] + ([arguments.pfr] if arguments.pfr else []):
                require(str(place) not in text, f"{file} names {place}")
    return messages


def install_static():
    messages = install("static", "-DBUILD_SHARED_LIBS=OFF", "-DADAPTYST_WITH_OPENCL=OFF", "-DADAPTYST_WITH_OMPT=OFF", "-DADAPTYST_WITH_KOKKOS=OFF",
                   "-DADAPTYST_WITH_ITT=OFF", "-DADAPTYST_WITH_NVTX=OFF", "-DADAPTYST_WITH_ROCTX=OFF",
                   "-DADAPTYST_WITH_CUDA=OFF", "-DADAPTYST_WITH_TORCH=OFF", "-DADAPTYST_WITH_HEAP=OFF", "-DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON")
    require("command       none: CLI11 not found" in messages, "the configuration summary lacks a line:\n" + messages)


def install_shared():
    messages = install("shared", "-DBUILD_SHARED_LIBS=ON", "-DADAPTYST_BUILD_ADAPTERS=OFF")
    # The tree has been moved; the command must find its library all the same.
    if "command       yes" in messages:
        require(run(prefix("shared") / "bin/adaptyst", "--version").startswith("adaptyst "), "the command does not run")


def install_headers():
    # Nothing that only the collector needs is there.
    install("headers", "-DADAPTYST_BUILD_COLLECTOR=OFF", "-DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON",
            "-DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON", "-DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON")
    require(not list(prefix("headers").rglob("libadaptyst*")), "a library came with the headers")


def install_inline():
    messages = install("inline", "-DADAPTYST_WITH_EBPF=OFF", "-DADAPTYST_BUILD_ADAPTERS=OFF")
    require("inline (no ebpf: ADAPTYST_WITH_EBPF=OFF)" in messages, "the configuration summary lacks a line:\n" + messages)


def configure(project, kind, *options, name=None, **how):
    build = fresh(arguments.work / "outside" / (name or f"{project}_{kind}"))
    tree = [f"-DCMAKE_PREFIX_PATH={prefix(kind)}"] if kind else [f"-DADAPTYST_SOURCE={arguments.source}"]
    messages = run("cmake", "-S", here / project, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=",
               *tree, *compilers(), *options, **how)
    return build, messages


def build_with_cmake(project, kind, *options):
    build, messages = configure(project, kind, *options)
    run("cmake", "--build", build, "-j2")
    return build / "program", messages


def needed_libraries(program):
    return [line.split("[")[1].rstrip("]") for line in run("readelf", "-dW", program).splitlines() if "(NEEDED)" in line]


def check_profile(program, engine="inline", environment=None):
    output = program.parent / "profile.json"
    output.unlink(missing_ok=True)
    messages = run(program, environment={"ADAPTYST": f"engine={engine},report=none,output={output}", **(environment or {})})
    require(messages == "", f"the program is not quiet:\n{messages}")
    profile = profiles.read(output.read_text(encoding="utf-8"))
    require(profile["engine"] == "inline", f"engine {profile['engine']}")
    found = [(region["path"], region["count"], region["attributes"]["bytes"]["sum"]) for region in profile["regions"]]
    require(found == [(["outside"], regions, 8 * regions)], f"regions {found}")
    require(profile["accounting"]["ended"] == regions, f"accounting {profile['accounting']}")
    return profile


def find_package_static():
    program, _ = build_with_cmake("find_package", "static", *pfr())
    require("libadaptyst_collector.so.0" not in needed_libraries(program), "linked with a shared library")
    check_profile(program)


def find_package_shared():
    # The library has what it needs; the program need not be able to find that.
    program, _ = build_with_cmake("find_package", "shared", *pfr(), "-DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON",
                                  "-DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON")
    needed = needed_libraries(program)
    require("libadaptyst_collector.so.0" in needed, f"needs {needed}, not the shared library by its version")
    require(not [library for library in needed if library.startswith(("libfmt", "libbpf", "libelf"))], f"needs {needed}")
    check_profile(program)


def find_package_inline():
    program, messages = build_with_cmake("find_package", "inline", *pfr())
    require("eBPF engine: OFF" in messages, "the package does not report that it has no eBPF engine:\n" + messages)
    require(not [library for library in needed_libraries(program) if library.startswith("libbpf")], "needs libbpf")
    profile = check_profile(program, engine="auto")
    require("this build of adaptyst is without it" in profile["reason"], f"reason {profile['reason']}")


def command_inline():
    """Without libbpf, the command observes with the recorder."""
    adaptyst = prefix("inline") / "bin" / "adaptyst"
    if not adaptyst.exists():
        sys.exit(77)  # no CLI11
    require(not [library for library in needed_libraries(adaptyst) if library.startswith("libbpf")], "needs libbpf")
    build = fresh(arguments.work / "outside" / "command_inline")
    program, output = build / "program", build / "profile.json"
    given = ["-isystem", arguments.pfr] if arguments.pfr else []
    run(arguments.cxx, "-std=c++17", "-O1", "-I", prefix("inline") / "include", *given,
        arguments.source / "tests" / "outside" / "marked_program.cpp", "-pthread", "-ldl", "-o", program)

    def counts():
        profile = profiles.read(output.read_text(encoding="utf-8"))
        require(profile["engine"] == "inline", f"engine {profile['engine']}")
        require("this build of adaptyst is without it" in profile["reason"], f"reason {profile['reason']}")
        return {"/".join(region["path"]): region["count"] for region in profile["regions"]}

    def observe(*words):
        """Whatever the status of the program."""
        return subprocess.run([adaptyst, *map(str, words)], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)

    observe("run", f"--output={output}", "--overhead=none", "--", program, 1000)
    require(counts() == {"outer": 1000, "outer/inner": 1000, "thread": 1000}, f"run: {counts()}")
    refused = observe("run", "--engine=ebpf", "--", program, 1)
    require(refused.returncode == 2 and "this build of adaptyst is without it" in refused.stdout, refused.stdout)
    running = subprocess.Popen([program, "100000", "0", "1000"], stdout=subprocess.DEVNULL)
    try:
        run(adaptyst, "attach", "--duration=0.5", f"--output={output}", running.pid)
        require(counts().get("thread", 0) > 50, f"attach: {counts()}")
        looks = run(adaptyst, "top", "--interval=0.3", "--duration=1", running.pid)
        require("thread" in looks and "engine inline" in looks, f"top: {looks}")
        require("region_begin" in run(adaptyst, "sites", running.pid), "sites of a process")
    finally:
        running.kill()
        running.wait()
    require("region_begin" in run(adaptyst, "sites", program), "sites of a file")
    found = json.loads(run(adaptyst, "doctor", "--format=json", expect_failure=True))
    missing = {check["subject"]: check["advice"] for check in found["checks"] if check["verdict"] == "no"}
    for subject in ["engine ebpf", "this build"]:
        require("libbpf" in missing.get(subject, ""), f"doctor does not miss libbpf: {found}")


def find_package_headers():
    program, _ = build_with_cmake("headers_only", "headers")
    check_markers(program)


def find_package_markers():
    """What markers call, linked: the program is the same otherwise."""
    program, _ = build_with_cmake("headers_only", "static")
    check_markers(program.parent / "linked")
    commands = (program.parent / "build.ninja").read_text(encoding="utf-8")
    require("ADAPTYST_LINK_MARKERS" in commands and "libadaptyst_markers.a" in commands, "the markers are not linked")


def find_package_mpi():
    if not shutil.which("mpirun.openmpi"):
        print("skipped: no Open MPI")
        sys.exit(77)
    program, _ = build_with_cmake("ranks", "static")
    for name, region in (("program", "step"), ("observed", "MPI_Barrier")):
        written = program.parent / f"{name}.json"
        run("mpirun.openmpi", "--oversubscribe", "-n", "2", program.parent / name,
            environment={"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                         "ADAPTYST": f"engine=inline,report=none,output={written}"})
        profile = profiles.read(written.read_text(encoding="utf-8"))
        counts = {row["name"]: row["count"] for row in profile["regions"]}
        require(profile["ranks"] == 2 and counts[region] == 2, f"not what two ranks of {name} did: {counts}")


def check_markers(program):
    require(run(program) == "", "the program is not quiet")
    notes = run("readelf", "-nW", program)
    require("Provider: adaptyst" in notes and "Name: region_end" in notes, f"no probes:\n{notes}")
    beyond = [library for library in needed_libraries(program) if not library.startswith(("libc.so", "ld-linux", "libstdc++", "libm.so", "libgcc_s"))]
    require(beyond == [], f"needs {beyond}")


def components():
    # The headers of a full installation need nothing that its library needs.
    configure("headers_only", "static", "-DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON", "-DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON",
              name="headers_of_static")
    # What is missing is named.
    _, messages = configure("find_package", "static", "-DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON", name="static_without_fmt",
                        expect_failure=True)
    require("fmt" in messages, "what the static library lacks is not named:\n" + messages)
    _, messages = configure("collector_component", "headers", expect_failure=True)
    require("installed without the collector" in messages, "the missing component is not explained:\n" + messages)
    # Before 1.0, another minor version is another interface.
    _, messages = configure("collector_component", "shared", "-DADAPTYST_WANTED=0.0", name="another_version", expect_failure=True)
    require('compatible with requested version "0.0"' in messages, "another version is not refused:\n" + messages)


def versions():
    """Which versions a program may ask for: before 1.0, those with the same minor number that are no newer."""
    header = (arguments.source / "include/adaptyst/detail/config.hpp").read_text(encoding="utf-8")
    major, minor, patch = (int(re.search(rf"VERSION_{part} (\d+)", header).group(1)) for part in ["MAJOR", "MINOR", "PATCH"])
    here_is = f"{major}.{minor}.{patch}"
    accepted = [f"{major}.{minor}", here_is, f"{here_is} EXACT", f"{major}.{minor}...<{major}.{minor + 1}"]
    refused = [f"{major}.{minor}.{patch + 1}", f"{major}.{minor}.{patch + 1} EXACT", f"{major}.{minor + 1}", f"{major + 1}.0", f"{major}.{minor}...<{major}.{minor + 2}"]
    if minor:
        refused += [f"{major}.{minor - 1}", f"{major}.{minor - 1}.{patch} EXACT"]
    _, messages = configure("versions", "headers", "-DADAPTYST_WANTED=" + ";".join(accepted + refused))
    for verdict, wanted in [("accepted", accepted), ("refused", refused)]:
        require(re.findall(rf"-- {verdict}: (.*)", messages) == wanted, f"{verdict} should be {wanted}:\n{messages}")


def list_files(tree):
    return {str(file.relative_to(tree)) for file in tree.rglob("*") if not file.is_dir()}


def parts():
    """Components, which together are all, and how they are removed again."""
    build, work = arguments.work / "build" / "inline", fresh(arguments.work / "parts")
    run("cmake", "--install", build, "--prefix", work / "all" / "adaptyst")
    everything = list_files(work / "all" / "adaptyst")
    found = {}
    for part in ["headers", "c", "library", "command", "adapters", "docs"]:
        run("cmake", "--install", build, "--prefix", work / part / "adaptyst", "--component", part)
        found[part] = list_files(work / part / "adaptyst")
    require(sum(map(len, found.values())) == len(everything) and set().union(*found.values()) == everything,
            f"{everything} is not {found}")
    require("include/adaptyst/adaptyst.hpp" in found["headers"] and "lib/libadaptyst_collector.a" in found["library"], found)
    require({"lib/libadaptyst_c.a", "lib/pkgconfig/adaptyst-fortran.pc", "share/adaptyst/fortran/adaptyst.F90"} <= found["c"], found["c"])
    require({"share/doc/adaptyst/docs/permissions.md", "share/adaptyst/profile-schema.json"} <= found["docs"], found["docs"])
    if "bin/adaptyst" in everything:
        commands = re.findall(r"^## adaptyst (\w+)$", run(work / "all/adaptyst/bin/adaptyst", "help", "--markdown"), re.M)
        wanted = {"bin/adaptyst", "share/man/man1/adaptyst.1", "share/bash-completion/completions/adaptyst",
                  "share/zsh/site-functions/_adaptyst", "share/fish/vendor_completions.d/adaptyst.fish"}
        wanted |= {f"share/man/man1/adaptyst-{name}.1" for name in commands}
        require(found["command"] == wanted, f"the command brings {found['command']}, not {wanted}")
    # What others have put next to it stays.
    (work / "all/adaptyst/share/doc/adaptyst/mine").touch()
    run("cmake", "--build", build, "--target", "uninstall")
    require(list_files(work) == {"all/adaptyst/share/doc/adaptyst/mine"}, f"these stay: {list_files(work)}")
    require(not (work / "docs").exists() or not list((work / "docs").iterdir()), "empty folders stay")
    require("nothing was installed" in run("cmake", "--build", build, "--target", "uninstall", expect_failure=True), "uninstalled twice")


def configurations():
    """A missing part is left out and reported, or is an error if its option is ON."""
    build = fresh(arguments.work / "build" / "configurations")

    def configured(*options, **how):
        # In one line: CMake breaks the text of its errors.
        return " ".join(run("cmake", "-S", arguments.source, "-B", build, *compilers(), *pfr(), "-DADAPTYST_BUILD_BENCH=OFF",
                            "-DADAPTYST_BUILD_EXAMPLES=OFF", "-DADAPTYST_BUILD_ADAPTERS=OFF", *options, **how).split())

    messages = configured("-DCMAKE_DISABLE_FIND_PACKAGE_Catch2=ON", "-DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON")
    for line in ["tests none: Catch2 not found (Debian: catch2)", "command none: CLI11 not found (Debian: libcli11-dev)"]:
        require(line in messages, f"'{line}' is not reported:\n{messages}")
    messages = configured("-DADAPTYST_BUILD_TESTS=ON", expect_failure=True)
    require("ADAPTYST_BUILD_TESTS=ON, but Catch2 not found (Debian: catch2)" in messages, messages)
    messages = configured("-DADAPTYST_BUILD_TESTS=OFF", "-DADAPTYST_BUILD_TOOLS=ON", expect_failure=True)
    require("ADAPTYST_BUILD_TOOLS=ON, but CLI11 not found (Debian: libcli11-dev)" in messages, messages)
    # Where Boost.PFR is not: programs without payloads can be observed all the same.
    nowhere = ["-UADAPTYST_PFR_INCLUDE_DIR", "-DADAPTYST_PFR_FOUND_DIR=", "-DADAPTYST_BUILD_TOOLS=OFF"]
    messages = configured(*nowhere, "-DADAPTYST_BUILD_EXAMPLES=AUTO")
    require("Boost.PFR not found: regions have no payloads" in messages and "examples none: Boost.PFR not found" in messages, messages)
    messages = configured(*nowhere, "-DADAPTYST_BUILD_EXAMPLES=ON", expect_failure=True)
    require("ADAPTYST_BUILD_EXAMPLES=ON, but Boost.PFR not found" in messages, messages)
    messages = configured(f"-DADAPTYST_PFR_INCLUDE_DIR={build}", expect_failure=True)
    require("but there is no boost/pfr/core.hpp in it" in messages, messages)


def install_packages():
    if not (arguments.built / "CPackConfig.cmake").exists() or not shutil.which("dpkg-shlibdeps"):
        print("skipped: no Debian packages of this build, or no dpkg-dev")
        sys.exit(77)
    made = fresh(arguments.work / "packages")
    run("cpack", "--config", arguments.built / "CPackConfig.cmake", "-B", made)
    fresh(prefix("packages")).rmdir()
    root = fresh(arguments.work / "prefix" / "packages.root")
    fields, files = {}, []
    for package in made.glob("*.deb"):
        run("dpkg-deb", "-x", package, root)
        files += re.findall(r"^-.* (\./\S+)$", run("dpkg-deb", "-c", package), re.M)
        fields[package.name.split("_")[0]] = run("dpkg-deb", "-f", package)
    require({"libadaptyst-dev", "libadaptyst-c-dev", "libadaptyst-collector-dev", "adaptyst-doc"} <= set(fields), f"packages {set(fields)}")
    require("libadaptyst-dev (= " in fields["libadaptyst-collector-dev"], fields["libadaptyst-collector-dev"])
    require(len(files) > 50 and len(files) == len(set(files)), f"two packages have the same file: {sorted(files)}")
    if cached("ADAPTYST_BUILD_PYTHON") == "ON":
        require("python3" in fields.get("python3-adaptyst", ""), f"packages {set(fields)}")
    if "adaptyst" in fields:
        require("libelf1" in fields["adaptyst"], f"what the command needs is not known:\n{fields['adaptyst']}")
    (root / "usr").rename(prefix("packages"))


def need_packages():
    if not prefix("packages").exists():
        print("skipped: no Debian packages of this build")
        sys.exit(77)


def find_package_packages():
    need_packages()
    program, _ = build_with_cmake("find_package", "packages", *pfr())
    check_profile(program)
    adaptyst = prefix("packages") / "bin" / "adaptyst"
    if adaptyst.exists():
        output = program.parent / "observed.json"
        run(adaptyst, "run", "--engine=inline", "--format=none", f"--output={output}", "--", program)
        require([region["path"] for region in profiles.read(output.read_text(encoding="utf-8"))["regions"]] == [["outside"]], "no region")


def packages_lintian():
    need_packages()
    if not shutil.which("lintian"):
        print("skipped: no lintian")
        sys.exit(77)
    messages = run("lintian", "--fail-on", "error,warning", *sorted((arguments.work / "packages").glob("*.deb")),
               *(["--allow-root"] if os.geteuid() == 0 else []))
    require(messages == "", f"lintian:\n{messages}")


def build_with_pkg_config(kind, *static):
    build = fresh(arguments.work / "outside" / "_".join(["pkg_config", kind, *static]).replace("-", ""))
    # Our headers are held to strict flags here, for pkg-config does not make them a system's.
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
    if arguments.pfr:
        flags += ["-isystem", arguments.pfr]
    given = shlex.split(run("pkg-config", "--cflags", "--libs", *static, "adaptyst-collector",
                            environment={"PKG_CONFIG_PATH": str(prefix(kind) / "lib" / "pkgconfig")}))
    run(arguments.cxx, *flags, here / "program.cpp", *given, "-o", build / "program")
    return build / "program", given


def pkg_config_static():
    for static in [[], ["--static"]]:
        program, _ = build_with_pkg_config("static", *static)
        check_profile(program)


def pkg_config_shared():
    program, given = build_with_pkg_config("shared")
    require("-lfmt" not in given and "-lbpf" not in given, f"the shared library's own needs are linked again: {given}")
    check_profile(program, environment={"LD_LIBRARY_PATH": str(prefix("shared") / "lib")})


def pkg_config_headers():
    build = fresh(arguments.work / "outside" / "pkg_config_headers")
    given = shlex.split(run("pkg-config", "--cflags", "--libs", "adaptyst",
                            environment={"PKG_CONFIG_PATH": str(prefix("headers") / "lib" / "pkgconfig")}))
    run(arguments.cxx, "-std=c++17", here / "headers_only" / "main.cpp", *given, "-o", build / "program")
    check_markers(build / "program")


def pkg_config_markers():
    build = fresh(arguments.work / "outside" / "pkg_config_markers")
    given = shlex.split(run("pkg-config", "--cflags", "--libs", "adaptyst-markers",
                            environment={"PKG_CONFIG_PATH": str(prefix("static") / "lib" / "pkgconfig")}))
    require("-DADAPTYST_LINK_MARKERS" in given and "-ladaptyst_markers" in given, f"the markers are not linked: {given}")
    run(arguments.cxx, "-std=c++17", here / "headers_only" / "main.cpp", *given, "-o", build / "program")
    check_markers(build / "program")
    if platform.machine() == "x86_64":  # programs with more than 2 GiB of static data
        source = build / "big.cpp"
        source.write_text("#include <adaptyst/region.hpp>\ndouble big[400'000'000];\n"
                          "int main() { ADAPTYST_REGION(\"big\"); big[399'999'999] = 1; }\n", encoding="utf-8")
        for model in ("medium", "large"):
            run(arguments.cxx, "-std=c++17", f"-mcmodel={model}", source, *given, "-o", build / "big")
            run(build / "big")


def check_regions(program, **environment):
    """Like check_profile(), for programs that record a number as a metric."""
    output = program.parent / "profile.json"
    output.unlink(missing_ok=True)
    messages = run(program, environment={"ADAPTYST": f"engine=inline,report=none,output={output}", **environment})
    require(messages == "", f"the program is not quiet:\n{messages}")
    profile = profiles.read(output.read_text(encoding="utf-8"))
    found = [(region["path"], region["count"], region["attributes"]["bytes"]["sum"]) for region in profile["regions"]]
    require(found == [(["outside"], regions, 8 * regions)], f"regions {found}")


def find_package_c():
    """A project of C alone: neither a C++ compiler nor a C++ library."""
    build, _ = configure("c", "static", "-DCMAKE_CXX_COMPILER=/nonexistent")
    run("cmake", "--build", build, "-j2")
    check_markers(build / "program")
    for built in ("program", "libof_c.so"):
        beyond = [library for library in needed_libraries(build / built) if not library.startswith(("libc.so", "ld-linux"))]
        require(beyond == [], f"{built} needs {beyond}")
    check_regions(build_with_cmake("c_collector", "static")[0])


def find_package_c_shared():
    check_regions(build_with_cmake("c_collector", "shared", "-DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON")[0])


def find_package_fortran():
    fortran = need_fortran()
    program, _ = build_with_cmake("fortran", "static", f"-DCMAKE_Fortran_COMPILER={fortran}")
    check_regions(program)


def find_package_fortran_twice():
    """Targets of one folder and of several use the module, in fixed form as well, in a project of old policies, with each generator."""
    fortran = need_fortran()
    for generator in ("Ninja", "Unix Makefiles"):
        build = fresh(arguments.work / "outside" / "fortran_twice")
        run("cmake", "-S", here / "fortran_twice", "-B", build, "-G", generator, f"-DCMAKE_PREFIX_PATH={prefix('static')}",
            f"-DCMAKE_C_COMPILER={arguments.cc}", f"-DCMAKE_Fortran_COMPILER={fortran}")
        run("cmake", "--build", build)
        for program in (build / "program", build / "folder" / "other"):
            require("Provider: adaptyst" in run("readelf", "-nW", program), f"{generator}: no probes in {program}")
            run(program)


def need_fortran(name="gfortran"):
    found = shutil.which(name)
    if not found:
        print(f"skipped: no {name}")
        sys.exit(77)
    return found


def make_with(project, kind, *variables):
    build = fresh(arguments.work / "outside" / f"make_{project}_{kind}")
    run("make", "-C", build, "-f", here / project / "Makefile", *variables,
        environment={"PKG_CONFIG_PATH": str(prefix(kind) / "lib" / "pkgconfig"),
                     "LD_RUN_PATH": str(prefix(kind) / "lib")})
    return build / "program"


def make_c():
    for kind in ("static", "shared"):
        check_regions(make_with("c", kind, f"CC={arguments.cc}"))


def make_fortran():
    check_regions(make_with("fortran", "static", f"FC={need_fortran()}"))
    if shutil.which("flang-new-19"):
        check_regions(make_with("fortran", "static", "FC=flang-new-19"))


def add_subdirectory():
    # A guest brings no tests, examples or installation into the host's build.
    program, _ = build_with_cmake("add_subdirectory", None, *pfr(), *as_built())
    build = program.parent
    for folder in ["tests", "examples", "bench"]:
        require(not (build / "adaptyst" / folder).exists(), f"brings its {folder} along")
    run("cmake", "--install", build, "--prefix", build / "installed")
    require(not (build / "installed").exists(), "brings its installation along")
    check_profile(program)


def exported_subproject():
    """A host exports its library, installed and from its build tree, whether or not it installs adaptyst as well."""
    for option in ("OFF", "ON"):
        build = fresh(arguments.work / "outside" / f"exported_{option}")
        run("cmake", "-S", here / "exported", "-B", build, "-G", "Ninja", f"-DADAPTYST_SOURCE={arguments.source}",
            f"-DADAPTYST_INSTALL={option}", *compilers(), *pfr())
        text = (build / "hostTargets.cmake").read_text(encoding="utf-8")
        require("adaptyst::adaptyst" in text and "adaptyst::markers" in text, f"what the host's library needs is not in its export:\n{text}")


parser = argparse.ArgumentParser()
parser.add_argument("case")
parser.add_argument("--source", type=pathlib.Path, required=True)
parser.add_argument("--work", type=pathlib.Path, required=True)
parser.add_argument("--built", type=pathlib.Path, required=True)
parser.add_argument("--cc", required=True)
parser.add_argument("--cxx", required=True)
parser.add_argument("--pfr", default="")
arguments = parser.parse_args()
globals()[arguments.case]()
