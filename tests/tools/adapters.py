"""`adaptyst run --with`: which variables of the environment name the adapter, and the warnings where an adapter cannot help."""
import os
import shutil
import subprocess

import command
from command import adaptyst, require, require_equal, run_all

build = command.command.parent.parent
KOKKOS = str(build / "adapters" / "libadaptyst-kokkos.so")


def environment(*words, by=None, **variables):
    """The environment that `adaptyst run` with these words gives a command, and the warnings. `by`: another adaptyst."""
    done = subprocess.run([by or command.command, "run", "--engine", "inline", "--format", "none", *words, "--", "env"],
                          env={**os.environ, **variables}, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False)
    require_equal(done.returncode, 0)
    return dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line), done.stderr


def test_an_adapter_is_named_in_its_variable():
    found, messages = environment("--with", "kokkos")
    require_equal((found.get("KOKKOS_TOOLS_LIBS"), found.get("KOKKOS_PROFILE_LIBRARY"), messages), (KOKKOS, KOKKOS, ""))
    found, messages = environment("--with", "kokkos", "--with", "kokkos", KOKKOS_TOOLS_LIBS="")
    require_equal((found.get("KOKKOS_TOOLS_LIBS"), messages), (KOKKOS, ""))
    require("KOKKOS_TOOLS_LIBS" not in environment()[0], "it is set without being asked for")


def test_what_the_user_has_set_comes_after_ours_and_there_is_a_warning():
    found, messages = environment("--with", "kokkos", KOKKOS_TOOLS_LIBS="theirs.so")
    require_equal(found.get("KOKKOS_TOOLS_LIBS"), KOKKOS + ";theirs.so")
    require_equal(found.get("KOKKOS_PROFILE_LIBRARY"), KOKKOS + ";theirs.so")
    require("KOKKOS_TOOLS_LIBS is set already, to theirs.so" in messages, messages)


def test_a_tool_of_itt_that_the_user_has_set_is_not_replaced():
    found, messages = environment("--with", "itt")
    require_equal((found.get("INTEL_LIBITTNOTIFY64"), messages), (str(build / "adapters" / "libadaptyst-itt.so"), ""))
    done = subprocess.run([command.command, "run", "--engine", "inline", "--with", "itt", "--", "true"], capture_output=True, text=True,
                          env={**os.environ, "INTEL_LIBITTNOTIFY64": "theirs.so"}, check=False)
    require_equal(done.returncode, 2)
    require("INTEL_LIBITTNOTIFY64 is set already, to theirs.so, and takes one tool" in done.stderr, done.stderr)
    require("unset INTEL_LIBITTNOTIFY64, or omit --with itt" in " ".join(done.stderr.split()), done.stderr)


def test_an_adapter_is_found_where_it_is_installed_with_the_command():
    prefix = command.directory / "prefix"
    (prefix / "bin").mkdir(parents=True)
    installed = shutil.copy(command.command, prefix / "bin")
    libraries = ("lib", "lib64", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu")
    for folder in libraries:
        (prefix / folder).mkdir(parents=True, exist_ok=True)
        shutil.copy(KOKKOS, prefix / folder)
    found, _ = environment("--with", "kokkos", by=installed)
    require(found["KOKKOS_TOOLS_LIBS"] in [str(prefix.resolve() / folder / "libadaptyst-kokkos.so") for folder in libraries],
            found["KOKKOS_TOOLS_LIBS"])


def test_an_adapter_that_is_not_there_is_an_error_and_the_command_is_not_started():
    alone = shutil.copy(command.command, command.directory)  # no adapter is near this copy
    started = command.directory / "started"
    done = subprocess.run([alone, "run", "--with", "openmp", "--", "touch", started], text=True, stderr=subprocess.PIPE,
                          check=False)
    require_equal(done.returncode, 2)
    for word in ("--with openmp", "libadaptyst-ompt.so", "ADAPTYST_WITH_OMPT"):
        require(word in done.stderr, done.stderr)
    require(not started.exists(), "the command was started")
    done = adaptyst("run", "--with", "nonsense", "--", "touch", started)
    require_equal(done.status, 2)
    require("kokkos" in done.err and not started.exists(), done.err)


def test_a_program_built_with_the_openmp_of_gcc_gets_a_warning():
    # Its library, libgomp, has no interface for tools (OMPT).
    if shutil.which("gcc") is None or not (build / "adapters" / "libadaptyst-ompt.so").exists():
        return
    source = command.directory / "program.c"
    source.write_text("int main(void) {\n#pragma omp parallel\n  {}\n  return 0;\n}\n")
    for name, flags, is_warned in [("with", ["-fopenmp"], True), ("without", [], False)]:
        program = command.directory / name
        subprocess.run(["gcc", *flags, source, "-o", program], check=True)
        done = subprocess.run([command.command, "run", "--engine", "inline", "--format", "none", "--with", "openmp", "--",
                               program], text=True, stderr=subprocess.PIPE, check=False)
        require_equal(done.returncode, 0)
        require_equal((name, "libgomp" in done.stderr and "OMPT" in done.stderr), (name, is_warned))


def test_a_program_without_mpi_gets_a_warning():
    for name in ("openmpi", "mpich"):
        if not (build / "adapters" / f"libadaptyst-{name}.so").exists():
            continue
        for words, is_warned in [([command.hello_region], True), (["true"], False)]:
            done = adaptyst("run", "--engine=inline", "--format=none", "--with", name, "--", *words)
            require_equal((name, words, done.status, "is not linked with MPI" in done.err), (name, words, 0, is_warned))


def test_files_that_are_no_programs_get_no_warning():
    # The command reads the ELF header of each word that names a file, to see whether it needs libgomp.
    folder = command.directory
    header = bytearray(open(command.command, "rb").read(64))
    for name, content in {"empty": b"", "script": b"#!/bin/sh\nexit 0\n", "short": bytes(header[:20]), "cut": bytes(header),
                          "wild": bytes(header[:32]) + b"\xff" * 32}.items():
        (folder / name).write_bytes(content)
        os.mkfifo(folder / (name + ".pipe"))
        done = subprocess.run([command.command, "run", "--engine", "inline", "--format", "none", "--with", "openmp", "--",
                               "true", folder / name, folder / (name + ".pipe"), folder], text=True, stderr=subprocess.PIPE,
                              check=False, timeout=30)
        if "no libadaptyst-ompt.so" not in done.stderr:  # else the adapter was not built, and no file was read
            require_equal((name, done.returncode, done.stderr), (name, 0, ""))


run_all(dict(globals()))
