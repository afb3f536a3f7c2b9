"""What adaptyst.open_trace() reads of a store is what SQL and pandas read."""
import sqlite3
import unittest

import adaptyst
from support import HELLO_REGION, Case, main

try:
    import pandas
except ImportError:
    pandas = None


class Stores(Case):
    def store(self):
        self.run_command("run", "-q", "--engine", "inline", "-o", "run.sqlite", "--", HELLO_REGION)
        return self.folder / "run.sqlite"

    def test_spans_are_those_of_the_file(self):
        file = self.store()
        oracle = sqlite3.connect(file)
        with adaptyst.open_trace(file) as trace:
            spans = list(trace.spans(in_order=True))
            expected = oracle.execute('SELECT start, "end", name, kind FROM event ORDER BY start').fetchall()
            self.assertEqual([(s.start, s.end, s.name, s.kind) for s in spans], expected)
            self.assertGreater(len(spans), 1)
            self.assertEqual({s.name for s in trace.spans("region")}, {"fill", "sum"})
            self.assertEqual(trace.path(next(trace.spans("region")).path), ("fill",))
            self.assertEqual(trace.meta["complete"], "1")
            self.assertEqual(len(trace.processes), 1)
            self.assertEqual(trace.losses, dict(oracle.execute("SELECT reason, events FROM loss")))
            self.assertGreaterEqual(len(trace.threads), 1)
            self.assertEqual({s.kind for s in spans}, set(trace.kinds))

    @unittest.skipIf(pandas is None, "no pandas (Debian: python3-pandas)")
    def test_data_frames_are_those_of_sql(self):
        file = self.store()
        with adaptyst.open_trace(file) as trace:
            oracle = pandas.read_sql("SELECT * FROM event WHERE kind = 'region'", sqlite3.connect(file))
            frame = trace.to_dataframe("region")
            self.assertEqual(frame["duration"].tolist(), oracle["duration"].tolist())
            self.assertEqual(frame["name"].tolist(), oracle["name"].tolist())
            self.assertEqual(sum(len(frame) for frame in trace.to_dataframes().values()), len(trace.to_dataframe()))
            self.assertEqual([len(block) for block in trace.frames(rows=1)], [1] * len(trace.to_dataframe()))
            self.assertEqual(len(trace.to_dataframe("no such kind")), 0)
            self.assertTrue(frame["bytes"].isna().all())

    def test_other_forms_are_converted(self):
        self.run_command("run", "-q", "--engine", "inline", "-o", "run.sqlite", "--", HELLO_REGION)
        self.run_command("convert", "run.sqlite", "-o", "run.trace.json")
        with adaptyst.open_trace(self.folder / "run.trace.json") as trace:
            self.assertIn("fill", {span.name for span in trace.spans()})

    def test_bad_files_have_a_clear_error(self):
        (self.folder / "text.sqlite").write_text("no store")
        other = sqlite3.connect(self.folder / "other.sqlite")
        other.execute("CREATE TABLE t(x)")
        other.commit()
        for name in ("text.sqlite", "other.sqlite", "missing.sqlite"):
            with self.subTest(name), self.assertRaisesRegex(adaptyst.Error, name):
                adaptyst.open_trace(self.folder / name)

    def test_a_later_schema_and_an_endless_view_are_refused(self):
        file = self.store()
        change = sqlite3.connect(file)
        change.execute("ALTER TABLE instant RENAME TO hidden")
        change.execute("CREATE VIEW instant AS WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x FROM t) SELECT x AS time FROM t")
        change.commit()
        with self.assertRaisesRegex(adaptyst.Error, "no table instant"):
            adaptyst.open_trace(file)
        change.execute("PRAGMA user_version=9")
        change.commit()
        with self.assertRaisesRegex(adaptyst.Error, "schema 9"):
            adaptyst.open_trace(file)

    @unittest.skipIf(pandas is None, "no pandas (Debian: python3-pandas)")
    def test_a_time_that_is_text_is_refused(self):
        file = self.store()
        change = sqlite3.connect(file)
        change.execute("UPDATE span SET start = 'text' WHERE rowid = 1")
        change.commit()
        with adaptyst.open_trace(file) as trace, self.assertRaisesRegex(adaptyst.Error, "column start"):
            trace.to_dataframe()

    def test_a_duration_of_text_is_refused(self):
        file = self.store()
        change = sqlite3.connect(file)
        change.execute("UPDATE span SET start = 'text'")
        change.commit()
        with adaptyst.open_trace(file) as trace, self.assertRaisesRegex(adaptyst.Error, "no integers"):
            next(trace.spans()).duration  # pylint: disable=expression-not-assigned

    def test_a_store_that_cannot_be_opened_has_a_clear_error(self):
        from adaptyst import _trace
        with self.assertRaisesRegex(adaptyst.Error, "missing.sqlite"):
            _trace.Trace(str(self.folder / "missing.sqlite"))

    def test_a_cycle_of_paths_ends(self):
        file = self.store()
        change = sqlite3.connect(file)
        change.execute("UPDATE path SET parent = id")
        change.commit()
        with adaptyst.open_trace(file) as trace:
            self.assertLess(len(trace.path(next(trace.spans()).path)), 5000)

    def test_a_name_with_special_characters(self):
        file = self.store().rename(self.folder / "a?b%20#é.sqlite")
        with adaptyst.open_trace(file) as trace:
            self.assertGreater(len(list(trace.spans())), 1)


if __name__ == "__main__":
    main()
