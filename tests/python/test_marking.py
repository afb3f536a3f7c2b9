"""Regions of Python programs are in the profile, in one tree with those of C, and never disturb the program."""
import os
import shutil
import subprocess
import sys

import adaptyst
from support import ENGINE, KERNEL, PACKAGE, SOURCES, Case, by_path, main


class Marking(Case):
    def observed(self, program, *options, **other):
        self.printed = self.python("import adaptyst, os, sys, threading, time\n" + self.dedented(program), *options, **other)
        profile = adaptyst.load(self.folder / "profile.json")
        account = profile.data["accounting"]
        self.assertEqual(account["begun"], account["ended"] + account["open"] + sum(account["lost"].values()))
        self.account = account
        return profile

    @staticmethod
    def dedented(program):
        import textwrap
        return textwrap.dedent(program)

    def nothing_lost(self):
        self.assertEqual((self.account["lost"], self.account["unmatched"], self.account["open"]), ({}, 0, 0))

    def test_regions_nest_and_have_their_place(self):
        profile = self.observed("""
            def work(n):
                for _ in range(n):
                    with adaptyst.region("outer"):
                        with adaptyst.region("inner"):
                            pass
            work(5)
            """)
        self.nothing_lost()
        rows = by_path(profile)
        self.assertEqual(set(rows), {("outer",), ("outer", "inner")})
        self.assertEqual([row.count for row in rows.values()], [5, 5])
        for row, line in zip(rows.values(), (5, 6)):
            self.assertEqual((row.site["file"], row.site["line"], row.site["function"]), (str(self.folder / "program.py"), line, "work"))
        self.assertGreaterEqual(rows["outer",].total_ns, rows["outer", "inner"].total_ns)

    def test_regions_of_cpp_are_below_those_of_python(self):
        script = SOURCES / "examples/heat_python/heat.py"
        done = self.run_command("run", "-q", "--engine", ENGINE, "--overhead", "none", "-o", "profile.json", "--", sys.executable, "-B", script, KERNEL)
        self.assertEqual(done.stdout, "heat: 1.000000\n")
        rows = by_path(adaptyst.load(self.folder / "profile.json"))
        self.assertEqual({path: row.count for path, row in rows.items()},
                         {("initialise",): 1, ("time_step",): 200, ("time_step", "update"): 200, ("time_step", "update", "spread"): 200})
        self.assertEqual(rows["time_step", "update"].attributes["cells"]["sum"], 200 * 160000)
        self.assertEqual(rows["time_step",].attributes["greatest change"]["count"], 200)

    def test_numbers_and_texts(self):
        profile = self.observed("""
            from fractions import Fraction
            class Broken:
                def __float__(self): raise OSError
            for shape, count in (("2x2", 3), ("4x4", 2)):
                for _ in range(count):
                    with adaptyst.region("multiply", bytes=100, flops=Fraction(1, 2), shape=shape): pass
            with adaptyst.region("odd", number=Broken(), large=10**400, none=None): pass
            with adaptyst.region("many", **{f"n{at}": at for at in range(20)}): pass
            with adaptyst.region("metrics"):
                adaptyst.metric("residual", 0.25)
                adaptyst.metric("residual", 0.75)
                adaptyst.metric("residual", "no number")
                adaptyst.mark("restart")
            """)
        self.nothing_lost()
        rows = by_path(profile)
        for shape, count in (("2x2", 3), ("4x4", 2)):
            row = rows[f"multiply [shape={shape}]",]
            self.assertEqual((row.count, row.attributes["bytes"]["sum"], row.attributes["flops"]["sum"]), (count, 100 * count, count / 2))
        self.assertEqual(rows["odd",].attributes, {})
        self.assertEqual(sorted(rows["many",].attributes), [f"n{at}" for at in range(8)])
        self.assertEqual(rows["metrics",].attributes["residual"]["max"], 0.75)
        self.assertEqual(rows["metrics",].attributes["residual"]["count"], 3)
        self.assertEqual(rows["metrics", "restart"].kind, "mark")

    def test_names_of_all_kinds(self):
        profile = self.observed("""
            class Broken:
                def __str__(self): raise OSError
            for name in ("größer", "", "x" * 1000, 7, None, Broken(), "\\udc80", "a\\0b"):
                with adaptyst.region(name): pass
            for at in range(3000):
                with adaptyst.region(f"step {at}"): pass
            """)
        self.nothing_lost()
        names = {region.name: region for region in profile.regions}
        self.assertLessEqual({"größer", "7", "None", "unnamed", "x" * 127}, set(names))
        self.assertEqual(sum(name.startswith("step ") for name in names), 3000)
        self.assertEqual(len({region.site["line"] for name, region in names.items() if name.startswith("step ")}), 1)

    def test_exceptions_end_regions(self):
        profile = self.observed("""
            for _ in range(3):
                try:
                    with adaptyst.region("fails"):
                        with adaptyst.region("below"):
                            raise KeyError("kept")
                except KeyError as error:
                    assert error.args == ("kept",)
            with adaptyst.region("after"): pass
            """)
        self.nothing_lost()
        self.assertEqual({path: row.count for path, row in by_path(profile).items()}, {("fails",): 3, ("fails", "below"): 3, ("after",): 1})

    def test_functions(self):
        profile = self.observed("""
            import asyncio, inspect
            class Solver:
                @adaptyst.function
                def solve(self, depth=2):
                    "Solves."
                    return self.solve(depth - 1) if depth else 7
                @adaptyst.function
                @staticmethod
                def static(x): return x
                @adaptyst.function
                @classmethod
                def of_class(cls): return cls
            unchanged = property(lambda self: 3)
            assert adaptyst.function(unchanged) is unchanged
            assert adaptyst.function(Solver) is Solver and Solver.static(3) == 3 and Solver().of_class() is Solver
            @adaptyst.function(name="other name")
            def named(): raise ValueError
            @adaptyst.function
            def generate():
                got = yield 1
                try:
                    yield got
                finally:
                    pass
                return 5
            @adaptyst.function
            async def wait(): await asyncio.sleep(0.001); return 3
            @adaptyst.function
            async def stream():
                yield 1
            assert Solver().solve() == 7 and Solver.solve.__doc__ == "Solves."
            try: named()
            except ValueError: pass
            g = generate()
            assert next(g) == 1 and g.send(4) == 4
            g.close()
            def outer(): return (yield from generate())
            assert list(outer()) == [1, None]
            async def main():
                assert await asyncio.gather(wait(), wait()) == [3, 3]
                assert [x async for x in stream()] == [1]
            asyncio.run(main())
            assert inspect.iscoroutinefunction(wait) and inspect.isgeneratorfunction(generate)
            """)
        self.nothing_lost()
        rows = by_path(profile)
        name = "Solver.solve"
        self.assertEqual({path: row.count for path, row in rows.items()},
                         {(name,): 1, (name, name): 1, (name, name, name): 1, ("Solver.static",): 1, ("Solver.of_class",): 1, ("other name",): 1, ("generate",): 2, ("wait",): 2})
        self.assertEqual(rows[name,].site["function"], name)
        self.assertEqual(rows[name,].site["line"], 5)

    def test_coroutines_overlap(self):
        profile = self.observed("""
            import asyncio
            async def part(n):
                async with adaptyst.region(f"part {n % 2}", bytes=n):
                    await asyncio.sleep(0.001)
            async def main(): await asyncio.gather(*map(part, range(10)))
            asyncio.run(main())
            """)
        self.nothing_lost()
        rows = by_path(profile)
        self.assertEqual([rows[f"part {n}",].count for n in (0, 1)], [5, 5])
        self.assertEqual(rows["part 1",].attributes["bytes"]["sum"], 1 + 3 + 5 + 7 + 9)

    def test_coroutines_share_an_object(self):
        profile = self.observed("""
            import asyncio
            shared = adaptyst.region("shared")
            async def part(before):
                await asyncio.sleep(before)
                async with shared: await asyncio.sleep(0.3)
            # The first task leaves the object first.
            async def main(): await asyncio.gather(part(0), part(0.25))
            asyncio.run(main())
            """)
        self.nothing_lost()
        row = by_path(profile)["shared",]
        self.assertEqual(row.count, 2)
        self.assertGreater(row.min_ns, 295e6)

    def test_an_end_of_an_unknown_coroutine_is_counted(self):
        self.observed("""
            import asyncio, contextlib
            shared = adaptyst.region("shared")
            async def part():
                async with contextlib.AsyncExitStack() as stack:
                    await stack.enter_async_context(shared)
                    await asyncio.sleep(0.01)
            async def main(): await asyncio.gather(part(), part(), part())
            asyncio.run(main())
            """)
        self.assertEqual((self.account["unmatched"], self.account["open"]), (2, 2))

    def test_waits_of_coroutines_are_refused(self):
        self.observed("""
            import asyncio
            async def enter(scope):
                async with scope: pass
            for scope in (adaptyst.wait("sync"), adaptyst.offload("work", adaptyst.device("gpu"))):
                try: asyncio.run(enter(scope))
                except TypeError as error: assert "adaptyst.region()" in str(error), error
                else: raise AssertionError
            """)
        self.nothing_lost()

    def test_one_object_is_entered_by_threads_and_again(self):
        profile = self.observed("""
            shared = adaptyst.region("shared")
            def work(depth=3):
                for _ in range(200):
                    with shared:
                        with shared:
                            time.sleep(0)
            threads = [threading.Thread(target=work) for _ in range(4)]
            for t in threads: t.start()
            for t in threads: t.join()
            """)
        self.nothing_lost()
        self.assertEqual({path: row.count for path, row in by_path(profile).items()}, {("shared",): 800, ("shared", "shared"): 800})
        self.assertEqual(by_path(profile)["shared",].threads, 4)

    def test_a_generator_that_another_thread_ends_is_counted(self):
        self.observed("""
            def generate():
                with adaptyst.region("left here"):
                    yield
            g = generate()
            next(g)
            t = threading.Thread(target=g.close); t.start(); t.join()
            with adaptyst.region("after"): pass
            """)
        self.assertGreater(self.account["unmatched"], 0)

    def test_phases(self):
        profile = self.observed("""
            for _ in range(3):
                with adaptyst.phases() as phase:
                    phase.next("assemble")
                    phase.next("solve", bytes=10)
            phase.next("last")
            """)
        self.assertEqual((self.account["lost"], self.account["unmatched"]), ({}, 0))
        rows = by_path(profile)
        self.assertEqual([rows["assemble",].count, rows["solve",].count, rows["solve",].attributes["bytes"]["sum"]], [3, 3, 30])
        self.assertEqual(rows["solve",].site["line"], 6)

    def test_devices(self):
        profile = self.observed("""
            gpu = adaptyst.device("gpu", 1, "card")
            with adaptyst.region("launch"):
                copy = adaptyst.submit("upload", gpu, queue=3, kind="copy_to", bytes=1000)
                now = time.monotonic_ns()
                copy.complete(now, now + 5000)
                copy.complete(now, now + 5000)
                late = adaptyst.submit("kernel", gpu, flops=7)
                late.abandon("device_lost")
                wrong = adaptyst.submit("wrong", gpu)
                wrong.complete(5, -3)
                class Index:  # as integers of numpy
                    def __init__(self, value): self.value = value
                    def __index__(self): return self.value
                both = adaptyst.submit("both", gpu, bytes=5, flops=5)
                now = time.monotonic_ns()
                both.complete(Index(now), Index(now + 10))
                adaptyst.submit("only flops", gpu, flops=7).complete(time.monotonic_ns(), time.monotonic_ns())
            with adaptyst.wait("sync"): pass
            with adaptyst.offload("work", gpu): pass
            for call in (lambda: adaptyst.device("toaster"), lambda: adaptyst.submit("x", gpu, kind="y"), lambda: adaptyst.offload("x", 3),
                         lambda: adaptyst.submit("x", None), lambda: adaptyst.region(), lambda: adaptyst.metric("x"), lambda: type(gpu)()):
                try: call()
                except (TypeError, ValueError): continue
                raise AssertionError
            """)
        self.assertEqual(self.account["lost"], {"device_lost": 1, "bad_times": 1})
        rows = by_path(profile)
        upload = rows["launch", "upload"]
        self.assertEqual((upload.kind, upload.count, upload.total_ns, upload.attributes["bytes"]["sum"]), ("copy_to", 1, 5000, 1000))
        self.assertEqual(set(upload.attributes), {"bytes"})
        self.assertEqual({name: value["sum"] for name, value in rows["launch", "both"].attributes.items()}, {"bytes": 5, "flops": 5})
        self.assertEqual(set(rows["launch", "only flops"].attributes), {"flops"})
        self.assertEqual(profile.devices[upload.device]["name"], "card")
        self.assertEqual((rows["sync",].kind, rows["work",].kind), ("wait", "offload"))

    def test_metadata_and_enabled(self):
        profile = self.observed("""
            adaptyst.metadata("mesh", 512)
            print(adaptyst.is_enabled(), adaptyst.markers_missing)
            with adaptyst.region("r"): pass
            """)
        self.assertEqual(profile.metadata, {"mesh": "512"})
        self.assertEqual(self.printed, "True None\n")

    def test_a_forked_child_is_observed_and_ends_its_own_regions(self):
        profile = self.observed("""
            import multiprocessing
            def work(n):
                with adaptyst.region("child"): time.sleep(0.001)
                return n
            if __name__ == "__main__":
                with adaptyst.region("parent"):
                    with multiprocessing.get_context("fork").Pool(2) as pool:
                        assert pool.map(work, range(6)) == list(range(6))
                        pool.close(); pool.join()
            """)
        self.assertEqual(sum(region.count for region in profile.find("child")), 6)
        self.assertEqual(profile.find(["parent"])[0].count, 1)
        self.assertEqual(self.account["lost"], {})

    def test_subinterpreters_are_refused_by_name(self):
        out, _ = self.alone("""
            import _xxsubinterpreters as interpreters
            import adaptyst
            made = interpreters.create()
            interpreters.run_string(made, "import adaptyst; print(adaptyst.markers_missing, flush=True)\\n"
                                    "with adaptyst.region('x'): adaptyst.mark('y')")
            print(adaptyst.markers_missing)
            """)
        self.assertEqual(out, "markers of adaptyst are not supported in subinterpreters\nNone\n")

    def test_sites_are_bounded_and_own_their_keys(self):
        profile = self.observed("""
            # Code objects that die: another takes their address.
            for at in range(6000):
                exec(compile(f"with adaptyst.region('same'): pass", f"file{at % 3}", "exec"))
            """)
        self.nothing_lost()
        self.assertEqual(sum(region.count for region in profile.find("same")), 6000)
        self.assertEqual(sorted({region.site["file"] for region in profile.find("same")}), ["file0", "file1", "file2"])
        self.assertEqual({region.count for region in profile.find("same")}, {2000})

    def test_memory_does_not_grow(self):
        self.observed("""
            import resource
            def step(at):
                with adaptyst.region("r", bytes=at, text="t"):
                    adaptyst.metric("m", at)
                with adaptyst.region(f"name {at % 50}"): pass
            def used(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            for at in range(20000): step(at)
            before = used()
            for at in range(200000): step(at)
            assert used() - before < 2000, (before, used())
            """)
        self.nothing_lost()


class Collecting(Case):
    def test_a_collector_in_the_program(self):
        out, err = self.alone("""
            import adaptyst
            with adaptyst.collector(engine="inline", report="none", output=["profile.json", "table.txt"]) as running:
                with adaptyst.region("solve"): pass
                print(running.error)
                with adaptyst.collector() as second: print(second.error is not None)
            with adaptyst.region("later"): pass
            running.stop()
            """)
        self.assertEqual(out, "None\nTrue\n")
        os.chdir(self.folder)
        self.assertEqual([region.path for region in adaptyst.load(self.folder / "profile.json").regions], [("solve",)])
        self.assertTrue((self.folder / "table.txt").exists())
        self.assertNotIn("Traceback", err)

    def test_wrong_options_are_named_and_ignored(self):
        out, err = self.alone("""
            import adaptyst
            with adaptyst.collector(engin="inline", report="none"): print("runs")
            with adaptyst.collector("\\0"): print("runs")
            """)
        self.assertEqual(out, "runs\nruns\n")
        self.assertIn("engine", err)
        self.assertIn("null", err)

    def test_the_command_reports_instead(self):
        script = self.folder / "program.py"
        script.write_text("import adaptyst\nwith adaptyst.collector(output='own.json') as own:\n    with adaptyst.region('r'): pass\nprint(own.error)\n")
        done = self.run_command("run", "-q", "--engine", ENGINE, "-o", "profile.json", "--", sys.executable, "-B", script)
        self.assertIn("from outside", done.stdout)
        self.assertFalse((self.folder / "own.json").exists())
        self.assertEqual(adaptyst.load(self.folder / "profile.json").regions[0].count, 1)

    def test_python_m_adaptyst_run(self):
        (self.folder / "program.py").write_text("import adaptyst, sys\nwith adaptyst.region('r'): print(sys.argv[1:])\n")
        for words in (["program.py", "-x", "1"], ["--", "program.py", "-x", "1"], [sys.executable, "program.py", "-x", "1"]):
            done = subprocess.run([sys.executable, "-m", "adaptyst", "run", "-q", "--engine", ENGINE, "-o", "profile.json", *words],
                                  cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "['-x', '1']\n", ""))
            self.assertEqual(adaptyst.load(self.folder / "profile.json").find("r")[0].count, 1)
        done = subprocess.run([sys.executable, "-m", "adaptyst", "report"], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 2)

    def test_the_program_of_a_command_line_is_found(self):
        from adaptyst.__main__ import complete
        os.chdir(self.folder)
        (self.folder / "s.py").touch()
        python = ["--", sys.executable]
        for words, expected in ((["s.py"], [*python, "s.py"]), (["-q", "s.py", "s.py"], ["-q", *python, "s.py", "s.py"]),
                                (["-o", "p.json", "s.py"], ["-o", "p.json", *python, "s.py"]), (["python3", "s.py"], ["python3", "s.py"]),
                                (["-q", "python3", "s.py"], ["-q", "python3", "s.py"]), (["-o", "p.json", "./solver", "s.py"], ["-o", "p.json", "./solver", "s.py"])):
            self.assertEqual(complete(["run", *words]), ["run", *expected])


class WithoutExtension(Case):
    def test_a_program_computes_the_same(self):
        shutil.copytree(PACKAGE / "adaptyst", self.folder / "pure/adaptyst", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
        program = """
            import adaptyst, asyncio
            @adaptyst.function
            def f(x): return x + 1
            import gc
            @adaptyst.function
            def g(): yield 1
            assert list(g()) == [1]
            gc.collect()
            @adaptyst.function
            async def c(): return 2
            async def enter(scope):
                async with scope: pass
            def refusal(call):
                try: call()
                except (TypeError, ValueError) as error: return f"{type(error).__name__}: {error}"
            card = adaptyst.device("gpu")
            for call in (lambda: adaptyst.device("toaster"), lambda: adaptyst.submit("x", card, kind="y"), lambda: adaptyst.offload("x", 3),
                         lambda: adaptyst.submit("x", None), lambda: adaptyst.submit("x", card).abandon("z"), lambda: asyncio.run(enter(adaptyst.wait("b")))):
                print(refusal(call))
            async def main():
                async with adaptyst.region("a", bytes=1): return await c()
            with adaptyst.collector(output="x.json"), adaptyst.region("a", bytes=1), adaptyst.wait("b"), adaptyst.phases() as p:
                p.next("one", bytes=2)
                gpu = adaptyst.device("gpu", 0, "name")
                with adaptyst.offload("c", gpu): adaptyst.submit("k", gpu, queue=1, bytes=3).complete(1, 2)
                adaptyst.submit("k", gpu).abandon("device_lost")
                adaptyst.metric("m", 1); adaptyst.mark("n"); adaptyst.metadata("a", "b")
                print(f(1), list(g()), asyncio.run(main()))
            """
        expected = self.alone(program.replace('output="x.json"', 'report="none"'))[0]
        out, err = self.alone(program + '\n            print(adaptyst.markers_missing is not None, adaptyst.is_enabled())', {"PYTHONPATH": str(self.folder / "pure")})
        self.assertEqual(out, expected + "True False\n")
        self.assertIn("'toaster' is no kind of device; expected: cpu, gpu, fpga, accelerator, other\n", out)
        self.assertEqual(len([line for line in err.splitlines() if line]), 1, err)  # that of the collector: no RuntimeWarning
        reason, _ = self.alone("import adaptyst; print(adaptyst.markers_missing)", {"PYTHONPATH": str(self.folder / "pure")})
        self.assertIn("ADAPTYST_BUILD_PYTHON=ON", reason)
        self.assertIn("no collector", err)

    def test_importing_loads_no_reader(self):
        out, _ = self.alone("""
            import sys, adaptyst
            print([name for name in ("json", "sqlite3", "subprocess", "pandas") if name in sys.modules and name != "subprocess"])
            print("load" in dir(adaptyst), adaptyst.load is not None)
            """)
        self.assertEqual(out, "[]\nTrue True\n")


if __name__ == "__main__":
    main()
