"""What adaptyst.load() reads is what the command wrote; numpy and pandas are the oracles."""
import copy
import json
import math
import os
import pickle
import random
import unittest

import adaptyst
from support import Case, main

try:
    import numpy
    import pandas
except ImportError:
    numpy = pandas = None


def hand_made(regions, **other):
    from profiles import completed
    rows = []
    for at, (path, total, histogram) in enumerate(regions):
        ids = {tuple(row["path_here"]): row["id"] for row in rows}
        rows.append({"path_here": path, "name": path[-1], "id": f"{at + 1:016x}", "parent": ids.get(tuple(path[:-1])), "kind": "region",
                     "count": sum(count for _, count in histogram), "total_ns": total, "self_ns": total, "histogram": histogram})
    for row in rows:
        del row["path_here"]
    return completed({"schema": 1, "engine": "inline", "mechanism": "", "reason": "", "date": None, "devices": [], "regions": rows,
                      "accounting": {"begun": 0, "ended": 0, "open": 0, "lost": {"too_deep": 3}}, **other})


class Reading(Case):
    def test_regions_are_those_of_the_file(self):
        file = self.hello()
        profile = adaptyst.load(file)
        data = json.loads(file.read_text())
        self.assertEqual([region.data for region in profile.regions], data["regions"])
        self.assertEqual(len(profile.find("sum")), 2)
        fill = profile.find(["fill"])[0]
        self.assertEqual((fill.count, fill["count"], fill.path), (1, 1, ("fill",)))
        self.assertEqual(fill.site["line"] > 0, True)
        self.assertEqual(profile.devices, data["devices"])
        self.assertEqual(profile.losses["events"], {})
        self.assertIsNone(profile.ranks)
        self.assertIn("fill", profile.tree())
        self.assertIn("acc", repr(profile.devices) + profile.tree())

    def test_unknown_keys_survive_and_absent_ones_are_none(self):
        data = json.loads(self.hello().read_text())
        data["of_a_later_version"] = {"kept": [1]}
        data["regions"][0]["new_ns"] = 7
        data["regions"][0]["total_ns"] = None
        profile = adaptyst.load(self.written("new.json", data))
        self.assertEqual(profile.regions[0].new_ns, 7)
        self.assertIsNone(profile.regions[0].total_ns)
        self.assertIsNone(profile.regions[0].mean_ns)
        self.assertIsNone(profile.regions[0].heap)
        with self.assertRaises(AttributeError):
            profile.regions[1].new_ns  # pylint: disable=pointless-statement
        profile.save(self.folder / "again.json")
        self.assertEqual(json.loads((self.folder / "again.json").read_text()), data)

    def test_a_pattern_is_merged_by_the_command(self):
        parts = [adaptyst.load(self.hello(f"p-{at}.json")) for at in range(3)]
        whole = adaptyst.load(self.folder / "p-*.json")
        self.assertEqual(len(whole.data["processes"]), 3)
        for region in whole.regions:
            same = [other for part in parts for other in part.regions if other.id == region.id]
            self.assertEqual(region.total_ns, sum(other.total_ns for other in same))
        with self.assertRaisesRegex(adaptyst.Error, "no such file"):
            adaptyst.load(self.folder / "q-*.json")

    def test_bad_files_have_a_clear_error(self):
        for name, text, part in (("a.json", "{", "no JSON"), ("b.json", "{}", "no regions"), ("c.json", "[" * 100000, ""),
                                 ("d.json", '{"regions": [], "schema": 99}', "schema 99"), ("e.json", '{"schema": 1, "regions": [3]}', "lacks a key"),
                                 ("f.json", '{"schema": 1, "regions": [{"name": "a", "id": "1", "parent": null, "count": "many"}]}', "count"),
                                 ("g.json", '{"schema": 1, "regions": {"a": ' + "[" * 5000 + "]" * 5000 + "}}", "")):
            with self.subTest(name):
                (self.folder / name).write_text(text)
                with self.assertRaisesRegex(adaptyst.Error, part) as caught:
                    adaptyst.load(self.folder / name)
                self.assertIn(name, str(caught.exception))

    def test_damaged_values_raise_nothing_else(self):
        chance = random.Random(11)
        for rank in range(2):
            made = hand_made([(["step"], 1000, [[300, 1]]), (["step", "b"], 10, [[10, 1]])],
                             process={"pid": rank + 1, "command": "p", "host": "n", "duration_ns": 10000, "rank": rank, "threads": 1})
            for row in made["regions"]:
                row |= {"min_ns": row["total_ns"], "max_ns": row["total_ns"]}
            self.written(f"p-{rank}.json", made)
        whole = adaptyst.load(self.folder / "p-*.json").data
        text = json.dumps(whole)
        junk = (None, -1, 1e400, "x", [], {}, [[]], True, 10**30, {"a": None}, [None])
        refused = 0
        for _ in range(1500):
            data = json.loads(text)
            at, place = data, None
            while isinstance(at, (dict, list)) and at and (place is None or chance.random() < 0.85):
                place = at, chance.choice(list(at) if isinstance(at, dict) else range(len(at)))
                at = at[place[1]]
            place[0][place[1]] = chance.choice(junk)
            try:
                profile = adaptyst.Profile(data)
                for use in (profile.tree, profile.rows, profile.rank_spread, profile.to_hatchet_literal, profile.__repr__, lambda: profile.losses,
                            lambda: [(region.path, region.mean_ns, region.quantile(0.5), profile.rank_times(region)) for region in profile.regions]):
                    use()
            except adaptyst.Error:
                refused += 1
        self.assertGreater(refused, 100)

    def test_names_do_not_change_a_terminal(self):
        profile = adaptyst.load(self.written("p.json", hand_made([(["\x1b[2Jred\n"], 5, [[5, 1]])])))
        self.assertNotIn("\x1b", profile.tree())
        self.assertEqual(profile.tree().count("\n"), 1)

    def test_a_missing_command_is_named(self):
        self.hello("a.json")
        self.hello("b.json")
        before = os.environ["ADAPTYST_COMMAND"]
        os.environ["ADAPTYST_COMMAND"] = str(self.folder / "missing")
        try:
            with self.assertRaisesRegex(adaptyst.Error, "ADAPTYST_COMMAND"):
                adaptyst.load(self.folder / "?.json")
        finally:
            os.environ["ADAPTYST_COMMAND"] = before

    def test_a_deep_tree_needs_no_recursion(self):
        names = [f"r{at}" for at in range(4000)]
        made = hand_made([(names[:1], 5, [[5, 1]])])
        row = made["regions"][0]
        for at in range(1, 4000):
            made["regions"].append({**row, "name": names[at], "id": f"{at + 1:016x}", "parent": f"{at:016x}"})
        profile = adaptyst.load(self.written("deep.json", made))
        self.assertEqual(profile.regions[-1].path, tuple(names))
        self.assertEqual(profile.tree(max_depth=3).count("\n"), 4)
        self.assertEqual(len(profile.to_hatchet_literal()), 1)

    def test_a_deeper_tree_than_any_profile_is_refused(self):
        made = hand_made([(["r"], 5, [[5, 1]])])
        row = made["regions"][0]
        for at in range(1, 4097):
            made["regions"].append({**row, "id": f"{at + 1:016x}", "parent": f"{at:016x}"})
        text = adaptyst.load(self.written("deep.json", made)).tree()
        self.assertLess(len(text), 1_000_000)
        self.assertIn("(4,096) r", text)
        made["regions"].append({**row, "id": f"{4098:016x}", "parent": f"{4097:016x}"})
        with self.assertRaisesRegex(adaptyst.Error, "deeper.json.*4,097 names"):
            adaptyst.load(self.written("deeper.json", made))

    def test_the_text_of_a_tree_is_bounded(self):
        made = hand_made([(["x" * 100_000], 5, [[5, 1]])])
        row = made["regions"][0]
        made["regions"] += [{**row, "name": "y", "id": f"{at:016x}"} for at in range(2, 12_002)]
        text = adaptyst.load(self.written("wide.json", made)).tree()
        self.assertLess(len(text), 4_000_000)
        self.assertTrue(text.endswith("(2001 more regions)"), text[-80:])

    def test_a_huge_file_is_refused(self):
        with open(self.folder / "huge.json", "wb") as huge:
            huge.write(b"{")
            huge.truncate((1 << 30) + 1)  # of holes
        with self.assertRaisesRegex(adaptyst.Error, "huge.json.*bytes"):
            adaptyst.load(self.folder / "huge.json")

    def test_profiles_and_regions_can_be_copied(self):
        profile = adaptyst.load(self.written("p.json", hand_made([(["a"], 50, [[50, 1]]), (["a", "b"], 20, [[20, 1]]), (["c"], 1, [[1, 1]])])))
        for duplicate in (copy.copy, copy.deepcopy, lambda object: pickle.loads(pickle.dumps(object))):
            again = duplicate(profile)
            self.assertIsNot(again, profile)
            self.assertEqual((again.data, again.source, again.tree()), (profile.data, profile.source, profile.tree()))
            region = duplicate(profile.find("b")[0])
            self.assertEqual((region.path, region.total_ns, region.parent.name), (("a", "b"), 20, "a"))
            self.assertIs(region.parent.children[0], region)
            self.assertEqual([child.name for child in duplicate(profile.find("a")[0]).children], ["b"])
        deep = hand_made([(["r"], 5, [[5, 1]])])
        deep["regions"] += [{**deep["regions"][0], "id": f"{at + 1:016x}", "parent": f"{at:016x}"} for at in range(1, 4000)]
        last = adaptyst.load(self.written("deep.json", deep)).regions[-1]
        self.assertEqual(pickle.loads(pickle.dumps(last)).path, last.path)

    def test_a_row_without_its_parent_has_its_path(self):
        made = hand_made([(["b"], 5, [[5, 1]])])
        made["regions"][0] |= {"parent": "00000000000000ff", "path": ["open", "b"]}
        profile = adaptyst.load(self.written("open.json", made))
        self.assertEqual(profile.regions[0].path, ("open", "b"))
        self.assertIn("open > b", profile.tree())


class Statistics(Case):
    def test_quantiles_are_those_of_the_file(self):
        self.python("""
            import adaptyst, time
            for at in range(300):
                with adaptyst.region("work"):
                    time.sleep(1e-6 * at)
            """)
        profile = adaptyst.load(self.folder / "profile.json")
        self.assertEqual(profile.find("work")[0].count, 300)
        for region in profile.regions:
            for q, key in ((0.5, "p50_ns"), (0.9, "p90_ns"), (0.99, "p99_ns")):
                self.assertEqual(region.quantile(q).value_ns, region[key])

    @unittest.skipIf(numpy is None, "no numpy (Debian: python3-numpy)")
    def test_the_exact_quantile_is_within_the_bound(self):
        chance = random.Random(7)
        values = numpy.array([int(chance.lognormvariate(9, 3)) for _ in range(20000)])
        edges = [adaptyst._profile._lower(bucket) for bucket in range(585)]
        numbers = numpy.searchsorted(edges, values, side="right") - 1
        buckets, counts = numpy.unique(numpy.minimum(numbers, 583), return_counts=True)
        histogram = adaptyst.Histogram([[int(b), int(c)] for b, c in zip(buckets, counts)])
        self.assertEqual(histogram.count, len(values))
        for q in (0, 0.001, 0.1, 0.5, 0.9, 0.999, 1):
            exact = int(numpy.quantile(values, q, method="inverted_cdf"))
            found = histogram.quantile(q, int(values.min()), int(values.max()))
            self.assertLessEqual(found.low_ns, exact)
            self.assertGreaterEqual(found.high_ns, exact)
            self.assertLessEqual(abs(found.value_ns - exact), 0.03 * exact + 1)

    def test_edges_of_quantiles(self):
        self.assertIsNone(adaptyst.Histogram([]).quantile(0.5))
        self.assertEqual(adaptyst.Histogram([[583, 1]]).quantile(0.5).high_ns, None)
        self.assertEqual(adaptyst.Histogram([[3, 2]]).quantile(0.5), (3, 3, 3))
        for bad in ([[584, 1]], [[-1, 1]], [[1]], [[1.5, 1]], [[True, 1]]):
            with self.assertRaises(adaptyst.Error):
                adaptyst.Histogram(bad)
        with self.assertRaises(adaptyst.Error):
            adaptyst.Histogram([[1, 1]]).quantile(1.1)


class Forms(Case):
    @unittest.skipIf(pandas is None, "no pandas (Debian: python3-pandas)")
    def test_the_data_frame_has_the_values_of_the_file(self):
        file = self.hello()
        frame = adaptyst.load(file).to_dataframe()
        rows = json.loads(file.read_text())["regions"]
        self.assertEqual(len(frame), len(rows))
        for key in ("count", "total_ns", "self_ns", "min_ns", "max_ns", "name", "device"):
            for found, row in zip(frame[key], rows):
                self.assertTrue(pandas.isna(found) if row[key] is None else found == row[key], (key, found, row[key]))
        self.assertTrue(frame["context"].isna().all() if "context" in frame else True)
        self.assertNotIn(0, [value for value in frame["overhead_ns"] if not pandas.isna(value)])
        self.assertEqual(frame["site.line"].tolist(), [row["site"]["line"] for row in rows])

    @unittest.skipIf(pandas is None, "no pandas (Debian: python3-pandas)")
    def test_the_table_of_the_command_is_the_same(self):
        import io
        file = self.hello()
        oracle = pandas.read_csv(io.StringIO(self.run_command("report", file, "--format", "csv").stdout))
        oracle = oracle[oracle["kind"] != "unmarked"].set_index("id").sort_index()
        frame = adaptyst.load(file).to_dataframe().set_index("id").sort_index()
        self.assertEqual(oracle.index.tolist(), frame.index.tolist())
        for csv_key, key in (("calls", "count"), ("time_ns", "total_ns"), ("self_ns", "self_ns"), ("mean_ns", "mean_ns"), ("p99_ns", "p99_ns"),
                             ("line", "site.line"), ("threads", "threads")):
            self.assertEqual(oracle[csv_key].tolist(), frame[key].tolist(), csv_key)

    def test_hatchet_gets_nested_nodes(self):
        profile = adaptyst.load(self.written("p.json", hand_made([(["a"], 50, [[50, 1]]), (["a", "b"], None, []), (["c"], 1, [[1, 1]])])))
        nodes = profile.to_hatchet_literal()
        self.assertEqual([node["frame"]["name"] for node in nodes], ["a", "c"])
        self.assertEqual(nodes[0]["metrics"]["time (inc)"], 50e-9)
        self.assertTrue(math.isnan(nodes[0]["children"][0]["metrics"]["time"]))

    def test_losses_and_findings_are_given(self):
        profile = adaptyst.load(self.written("p.json", hand_made([(["a"], 50, [[50, 1]])], findings=[])))
        self.assertEqual(profile.losses, {"events": {"too_deep": 3}})
        self.assertEqual(profile.findings, [])

    def test_a_notebook_shows_the_page_or_the_tree(self):
        profile = adaptyst.load(self.hello())
        text = profile._repr_html_()
        self.assertTrue(text.startswith("<iframe"), text[:80])
        self.assertIn("fill", text)
        self.assertNotIn('"<', text[20:])
        os.environ["ADAPTYST_COMMAND"], before = "/missing", os.environ["ADAPTYST_COMMAND"]
        try:
            self.assertTrue(profile._repr_html_().startswith("<pre>"))
        finally:
            os.environ["ADAPTYST_COMMAND"] = before

    def test_plots(self):
        profile = adaptyst.load(self.hello())
        try:
            import matplotlib
        except ImportError:
            with self.assertRaisesRegex(adaptyst.Error, "python3-matplotlib"):
                profile.plot()
            return
        matplotlib.use("agg")
        self.assertEqual(len(profile.plot().patches), len(profile.regions))
        with self.assertRaises(adaptyst.Error):
            profile.plot("ranks")


class Ranks(Case):
    def ranks(self, name):
        for rank in range(4):
            with self.subTest(rank):
                made = hand_made([([name], 1000 * (rank + 1), [[300, 1]])],
                                 process={"pid": rank + 1, "command": "p", "host": f"n{rank // 2}", "duration_ns": 10000, "rank": rank, "threads": 1})
                made["regions"][0] |= {"min_ns": 1000 * (rank + 1), "max_ns": 1000 * (rank + 1), "id": "00000000000000aa"}
                self.written(f"p-{rank}.json", made)
        return adaptyst.load(self.folder / "p-*.json")

    def test_a_plot_of_ranks_has_their_times(self):
        try:
            import matplotlib
        except ImportError:
            self.skipTest("no matplotlib (Debian: python3-matplotlib)")
        matplotlib.use("agg")
        axes = self.ranks("a > b").plot("ranks")  # the name has the separator of paths
        self.assertEqual(axes.get_title(), "a > b")
        self.assertEqual([round(bar.get_height() * 1e9) for bar in axes.patches], [1000, 2000, 3000, 4000])

    def test_the_slow_rank_is_found(self):
        profile = self.ranks("step")
        self.assertEqual(profile.ranks, 4)
        worst = profile.rank_spread()[0]
        self.assertEqual((worst["path"], worst["slowest_rank"], worst["slowest_host"], worst["slowest_ns"]), ("step", 3, "n1", 4000))
        self.assertEqual(worst["excess_ns"], 4000 - 2500)
        self.assertEqual(profile.rank_times(profile.find("step")[0]), {0: 1000, 1: 2000, 2: 3000, 3: 4000})
        self.assertIsNone(adaptyst.load(self.folder / "p-0.json").rank_times(profile.regions[0]))


class Comparing(Case):
    def test_it_is_the_comparison_of_diff(self):
        old, new = self.hello("old.json"), self.hello("new.json")
        oracle = json.loads(self.run_command("diff", old, new, "--format", "json").stdout)
        for a, b in ((old, new), (adaptyst.load(old), adaptyst.load(new)), ([old], [adaptyst.load(new)])):
            found = adaptyst.compare(a, b)
            self.assertEqual(found.regions, oracle["regions"])
        if pandas is not None:
            frame = found.to_dataframe()
            self.assertEqual(frame["verdict"].tolist(), [region["verdict"] for region in oracle["regions"]])
            self.assertEqual(frame["before.total_ns"].tolist(), [region["before"]["total_ns"] for region in oracle["regions"]])

    def test_errors_of_the_command_are_passed_on(self):
        with self.assertRaisesRegex(adaptyst.Error, "by"):
            adaptyst.compare(self.hello("old.json"), self.hello("new.json"), by="nothing")


if __name__ == "__main__":
    main()
