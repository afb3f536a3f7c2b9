"""Recipes for Spack and EasyBuild set options that CMake has, and have the project's version: check_recipes.py ROOT BUILD

They are read as Python, with stand-ins for Spack; neither tool runs. BUILD: its CMakeCache.txt has the options.
"""
import ast
import pathlib
import re
import sys
import types

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from compiling import Failures


class StandIn:
    """For CMakePackage: each call names an option, and returns it."""

    def define(self, option, value):
        return f"-D{option}={value}"

    define_from_variant = define


def spack_recipe(file):
    """The version, the variants, and the arguments of CMake."""
    versions, variants = [], []
    functions = {"license": lambda *_: None, "depends_on": lambda *_, **__: None, "conflicts": lambda *_, **__: None, "version": versions.append,
                 "variant": lambda name, **_: variants.append(name)}
    for name, contents in (("spack_repo.builtin.build_systems.cmake", {"CMakePackage": StandIn}), ("spack.package", functions)):
        sys.modules[name] = types.ModuleType(name)
        vars(sys.modules[name]).update(contents)
    for name in ("spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems", "spack"):
        sys.modules[name] = types.ModuleType(name)
    names = {}
    exec(compile(file.read_text(encoding="utf-8"), str(file), "exec"), names)  # pylint: disable=exec-used
    return versions, variants, names["Adaptyst"]().cmake_args()


def main(root, build):
    failures, root = Failures(), pathlib.Path(root)
    cache = dict(re.findall(r"^(\w+):\w+=(.*)$", (pathlib.Path(build) / "CMakeCache.txt").read_text(encoding="utf-8"), re.MULTILINE))
    options = {name for name in cache if name.startswith("ADAPTYST_")} | {"BUILD_SHARED_LIBS"}
    wanted = cache["CMAKE_PROJECT_VERSION"]
    spack, easybuild = root / "packaging/spack/package.py", root / "packaging/easybuild/adaptyst-0.1.eb"
    versions, variants, arguments = spack_recipe(spack)
    failures.equal(versions, [wanted], f"{spack.name}: version")
    for argument in arguments:
        option, _, value = argument.removeprefix("-D").partition("=")
        failures.check(option in options, f"{spack.name}: CMake has no option {option}")
        failures.check(value in (*variants, "False", "True"), f"{spack.name}: {option}: there is no variant {value}")
    names = {}
    exec(compile(ast.parse(easybuild.read_text(encoding="utf-8")), str(easybuild), "exec"), names)  # pylint: disable=exec-used
    failures.equal(names["version"], wanted, f"{easybuild.name}: version")
    for option, value in re.findall(r"-D(\w+)=(\w+)", names["configopts"]):
        failures.check(option in options and value in ("ON", "OFF"), f"{easybuild.name}: CMake has no option {option} that can be {value}")
    for file in (spack, easybuild):
        failures.check("UNTESTED" in file.read_text(encoding="utf-8"), f"{file.name} is named untested")
    failures.exit(min_checks=30)


if __name__ == "__main__":
    main(*sys.argv[1:])
