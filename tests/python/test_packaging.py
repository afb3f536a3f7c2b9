"""A wheel is built and installed without a network, and the package that it makes works: reading, markers, command line."""
import ast
import inspect
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

import adaptyst
from support import PACKAGE, SOURCES, Case, main


class Packaging(Case):
    def run_python(self, *words, python=sys.executable):
        done = subprocess.run([str(python), *map(str, words)], cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              check=False, env={"PATH": "/usr/bin:/bin", "HOME": str(self.folder), "PIP_NO_CACHE_DIR": "1"})
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def build_wheel(self, sources):
        self.run_python("-m", "pip", "wheel", "-q", "--no-build-isolation", "--no-index", "--no-deps", "-w", "wheels", sources)
        wheel, = (self.folder / "wheels").glob("*.whl")
        return wheel

    def install(self, wheel):
        # With the pip that is there: unpacking another takes longer than all else.
        self.run_python("-m", "venv", "--without-pip", "--system-site-packages", "fresh")
        python = self.folder / "fresh/bin/python"
        self.run_python("-m", "pip", "install", "-q", "--no-index", wheel, python=python)
        return python

    def test_the_wheel_of_a_build_has_markers_and_collector(self):
        copied = shutil.copytree(PACKAGE, self.folder / "package", ignore=shutil.ignore_patterns("CMakeFiles", "build", "*.egg-info", "__pycache__"))
        wheel = self.build_wheel(copied)
        self.assertRegex(wheel.name, rf"^adaptyst-{re.escape(adaptyst.__version__)}-cp39-abi3-linux_\w+\.whl$")
        names = zipfile.ZipFile(wheel).namelist()
        self.assertIn("adaptyst/_collector.abi3.so", names)
        self.assertLessEqual({"adaptyst/py.typed", "adaptyst/_markers.pyi"}, set(names))
        self.assertFalse([name for name in names if name.endswith((".cpp", ".c", ".o"))])
        python = self.install(wheel)
        (self.folder / "program.py").write_text("import adaptyst\nassert adaptyst.markers_missing is None\n"
                                                "with adaptyst.collector(engine='inline', report='none', output='own.json'):\n"
                                                "    with adaptyst.region('solve'): pass\n"
                                                "print(adaptyst.load('own.json').regions[0].path)\n")
        self.assertTrue(self.run_python("program.py", python=python).endswith("('solve',)\n"))

    def test_the_wheel_of_the_sources_has_markers(self):
        for folder in ("python", "include"):
            shutil.copytree(SOURCES / folder, self.folder / folder, ignore=shutil.ignore_patterns("build", "*.egg-info", "*.so", "__pycache__"))
        wheel = self.build_wheel(self.folder / "python")
        self.assertIn("cp39-abi3", wheel.name)
        python = self.install(wheel)
        self.assertRegex(self.run_python("-c", "import adaptyst; print(adaptyst.markers_missing, adaptyst.__file__)", python=python), r"^None \S*/fresh/lib")

    def test_without_headers_the_wheel_is_pure(self):
        shutil.copytree(SOURCES / "python", self.folder / "python", ignore=shutil.ignore_patterns("build", "*.egg-info", "*.so", "__pycache__"))
        self.assertIn("py3-none-any", self.build_wheel(self.folder / "python").name)

    def test_versions_are_those_of_the_header(self):
        header = (SOURCES / "include/adaptyst/detail/config.hpp").read_text()
        version = ".".join(re.search(rf"ADAPTYST_VERSION_{part} (\d+)", header).group(1) for part in ("MAJOR", "MINOR", "PATCH"))
        self.assertEqual(adaptyst.__version__, version)
        self.assertIn(f'version = "{version}"', (SOURCES / "python/pyproject.toml").read_text())

    def test_the_grammar_is_that_of_python_3_9(self):
        files = [*(SOURCES / "python/adaptyst").glob("*.py"), SOURCES / "python/setup.py"]
        self.assertGreater(len(files), 6)
        for file in files:
            ast.parse(file.read_text(encoding="utf-8"), str(file), feature_version=(3, 9))

    def test_the_extension_has_the_functions_of_its_replacement(self):
        from adaptyst import _markers, _without_markers
        functions = {name for name, value in vars(_without_markers).items() if inspect.isfunction(value) and name[0] != "_"}
        self.assertEqual(functions, {name for name in dir(_markers) if name[0] != "_"})

    def test_help_reads_well(self):
        for name in adaptyst.__all__:
            if name != "markers_missing":
                self.assertTrue(getattr(adaptyst, name).__doc__, name)
        text = self.run_python("-c", f"import sys; sys.path.insert(0, {str(PACKAGE)!r}); import adaptyst; help(adaptyst.region)")
        self.assertIn("region(name, /, **values)", text)

    def test_the_extension_exports_its_entry_only(self):
        for name in ("_markers", "_collector"):
            done = subprocess.run(["nm", "-D", "--defined-only", PACKAGE / f"adaptyst/{name}.abi3.so"], text=True, stdout=subprocess.PIPE, check=True)
            exported = {line.split()[-1] for line in done.stdout.splitlines()}
            self.assertEqual(exported, {f"PyInit_{name}"})


if __name__ == "__main__":
    assert pathlib.Path(PACKAGE).is_dir()
    main()
