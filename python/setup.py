"""Builds the extensions: those that CMake has made in adaptyst/, or the markers from the headers next to this folder.

Without the headers, and for an interpreter without its global lock, the package has no extension, and its markers do nothing.
"""
import pathlib
import sysconfig

from setuptools import Extension, setup
from setuptools.dist import Distribution

HERE = pathlib.Path(__file__).resolve().parent
HEADERS = HERE.parent / "include"
made = sorted(path.name for path in (HERE / "adaptyst").glob("*.abi3.so"))


class WithExtensions(Distribution):
    """The wheel is for this machine, also if nothing is compiled here."""

    def has_ext_modules(self):
        return bool(made or self.ext_modules)


extensions = []
if not made and HEADERS.is_dir() and not sysconfig.get_config_var("Py_GIL_DISABLED"):
    extensions = [Extension("adaptyst._markers", ["adaptyst/_markers.cpp"], include_dirs=[str(HEADERS)], language="c++", py_limited_api=True,
                            extra_compile_args=["-std=c++17", "-fno-exceptions", "-fno-rtti", "-fvisibility=hidden"])]
setup(distclass=WithExtensions, ext_modules=extensions,
      options={"bdist_wheel": {"py_limited_api": "cp39"}} if made or extensions else {})
