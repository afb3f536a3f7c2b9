#!/usr/bin/env python3
"""Builds the programs of rights_and_limits.py that this build does not have: foreign.py FOLDER

libgoes.so has markers, and the program `leaves` unloads it before exec(). The headers of libother.so have another ABI
version, those of `layout` another layout."""
import pathlib
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from compiling import output, scratch, tool  # noqa: E402

FOLDER = pathlib.Path(sys.argv[1])
INCLUDE = pathlib.Path(__file__).resolve().parent.parent.parent / "include"
work = scratch()


def build(name, text, *options):
    source = work / f"{name}.cpp"
    source.write_text(text)
    output([tool("g++", "clang++"), "-std=c++17", "-O1", *options, source, "-o", FOLDER / name, "-ldl"])


def change_headers(name, change):
    headers = pathlib.Path(shutil.copytree(INCLUDE, work / name))
    for file in headers.rglob("*.h*"):
        file.write_text(change(file.read_text()))
    return f"-I{headers}"


def change_version(text):
    text = re.sub(r"(ADAPTYST_ABI_VERSION|ADAPTYST_OBJECT_NOTE) = \d+", r"\1 = 7", text)
    return text.replace("adaptyst_object_v5", "adaptyst_object_v7").replace(".4byte 9, 8, 5", ".4byte 9, 8, 7")


FOLDER.mkdir(exist_ok=True)
build("libgoes.so", '#include <adaptyst/region.hpp>\nextern "C" void pass() { ADAPTYST_REGION("library"); }', "-fPIC", "-shared", f"-I{INCLUDE}")
build("leaves", """#include <dlfcn.h>
    #include <unistd.h>
    int main(int, char** arguments) {
      void* const library = dlopen(arguments[1], RTLD_NOW);
      reinterpret_cast<void (*)()>(dlsym(library, "pass"))();
      dlclose(library);
      execv(arguments[2], arguments + 2);
    }""")
build("libother.so", """#include <adaptyst/region.hpp>
    __attribute__((constructor)) void begin() { ADAPTYST_REGION("other"); }""", "-fPIC", "-shared", change_headers("other", change_version))
build("layout", '#include <adaptyst/region.hpp>\nint main() { ADAPTYST_REGION("main"); }',
      change_headers("layout", lambda text: text.replace("max_depth = 4096", "max_depth = 2048")))
