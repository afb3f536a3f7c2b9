// A timeline's intervals as they are packed, and what rows look like from afar.
import assert from "node:assert/strict";
import { test } from "node:test";
import { findSubmission, firstAt, firstBehind, firstFrom, fromZigzag, Numbers, readIntervals, rowOf } from "../../lib/report/page/intervals.js";
import { bucketAt, chooseLevel, Columns, fillFromIntervals, fillFromLevel, makeTicks, readLevel } from "../../lib/report/page/timeline_rows.js";

function pack(...numbers) {
  const bytes = [];
  for (let value of numbers) {
    for (; value >= 128; value = Math.floor(value / 128)) bytes.push((value % 128) + 128);
    bytes.push(value);
  }
  return Uint8Array.from(bytes);
}

test("numbers of any size are read", () => {
  const all = [0, 1, 127, 128, 300, 2 ** 31, 2 ** 45 + 7, 2 ** 53 - 1];
  const numbers = new Numbers(pack(...all));
  assert.deepEqual(all.map(() => numbers.next()), all);
  assert.deepEqual([0, 1, 2, 3, 4].map(fromZigzag), [0, -1, 1, -2, 2]);
});

test("an interval of no length is found by its begin", () => {
  const marks = { begins: [0, 1000, 1000, 2000], ends: [0, 1000, 1500, 2500] };
  const row = { first: 0, count: 4 };
  assert.deepEqual([0, 1, 1000, 1001, 2001].map((time) => firstFrom(marks, row, time)), [0, 1, 1, 3, 4]);
  assert.deepEqual([0, 500, 1000, 1200, 2400].map((time) => firstAt(marks, row, time)), [0, 1, 1, 2, 3]);
});

// A thread with two calls, and a queue with what the second and the first submitted, and one of which the time alone is known.
const rows = [{ count: 2, columns: 0 }, { count: 3, columns: 1 | 2 | 4 | 8 }];
const bytes = pack(10, 5, 10, 20, 0, 1, /**/ 50, 0, 100, 30, 40, 50, 2, 2, 2, /**/ 18, 2, 3, /**/ 0, 4096, 0, /**/ 3, 2, 0, /**/ 0, 0, 151, 0);

test("intervals are begins, ends, sites, and what a row has beyond", () => {
  const all = readIntervals(bytes, rows);
  assert.deepEqual([...all.begins], [10, 25, 50, 80, 220]);
  assert.deepEqual([...all.ends], [20, 45, 80, 120, 270]);
  assert.deepEqual([...all.sites], [0, 1, 2, 2, 2]);
  assert.deepEqual([...all.rows[1].correlations], [9, 10, 8]);
  assert.deepEqual([...all.rows[1].bytes], [0, 4096, 0]);
  assert.equal(all.rows[0].correlations, undefined);
  assert.deepEqual([0, 1, 2, 4].map((number) => rowOf(all, number)), [0, 0, 1, 1]);
  assert.deepEqual([2, 3, 4].map((number) => findSubmission(all, number)), [{ call: 1 }, { call: 0 }, { time: 70, track: 0 }]);
  assert.equal(findSubmission(all, 0), null);
  assert.deepEqual([0, 49, 80, 119, 300].map((time) => firstBehind(all, all.rows[1], time)), [2, 2, 3, 3, 5]);
});

const paint = (columns) => {
  const pixels = new Uint32Array(columns.width);
  columns.paint((site, busy) => 100 * site + busy, pixels, 0);
  return [...pixels];
};

test("columns show what has most of them, and how full they are", () => {
  const columns = new Columns(4);
  columns.add(0.25, 0.5, 1, 1);
  columns.add(0.5, 1, 2, 1);
  columns.add(2, 4, 3, 1);
  assert.deepEqual(paint(columns), [206, 0, 308, 308]);
  columns.clear();
  columns.add(-10, 0.5, 1, 1);
  columns.add(1.2, 1.2, 5, 1);
  assert.deepEqual(paint(columns), [104, 501, 0, 0]);
});

test("a row is drawn from buckets, or from its intervals", () => {
  const level = readLevel({ at: [0, 2, 5], sites: [1, 2, 3], busy: [255, 1, 128], counts: [1, 2, 3] }, 10);
  const columns = new Columns(8);
  fillFromLevel(level, 0, 10, columns);
  assert.deepEqual(paint(columns), [108, 0, 201, 0, 0, 0, 0, 305]);
  assert.deepEqual([0, 9, 10, 25, 75, 80].map((time) => bucketAt(level, time)), [0, 0, -1, 1, 2, -1]);
  assert.equal(chooseLevel([{ width: 100 }, { width: 25 }], 30).width, 25);
  assert.equal(chooseLevel([{ width: 100 }], 30), null);
  const all = readIntervals(bytes, rows);
  const wide = [];
  columns.clear();
  fillFromIntervals(all, all.rows[1], 40, 10, columns, (left, right, number) => wide.push([left, right, number]));
  assert.deepEqual(wide, [[4, 8, 3]], "what is wide is handed over, and what is not on the screen is not looked at");
  assert.deepEqual(paint(columns), [0, 208, 208, 208, 0, 0, 0, 0]);
});

test("ticks stand at round times", () => {
  assert.deepEqual(makeTicks(0, 1000, 5), { step: 200, ticks: [0, 200, 400, 600, 800, 1000] });
  assert.deepEqual(makeTicks(130, 350, 4).ticks, [200, 300]);
});

test("a name fits into a stretch of one site", () => {
  const columns = new Columns(12);
  columns.add(0, 5, 1, 1);
  columns.add(5, 6, 2, 1);
  columns.add(6, 8, 1, 0.2);
  columns.add(8, 12, 3, 1);
  assert.deepEqual(columns.listStretches(3), [{ left: 0, right: 5, site: 1 }, { left: 8, right: 12, site: 3 }]);
  columns.clear();
  assert.deepEqual(columns.listStretches(1), []);
});
