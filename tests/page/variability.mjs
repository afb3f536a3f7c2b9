// Where cells and boxes of an analysis of variability stand, and what colour they have.
import assert from "node:assert/strict";
import { changeBrush, isInside, makeAxes } from "../../lib/report/page/parallel.js";
import { test } from "node:test";
import { listTicks, makeAxis, makeScale, readCell, valueText } from "../../lib/report/page/variability_page.js";

test("a cell's colour is by how far it is from the middle of all strips", () => {
  const scale = makeScale([1, 1, 1, 3, 0.5]);
  assert.deepEqual([1, 3, 0.5].map(scale), [0, 1, -0.25]);
  assert.equal(makeScale([7])(7), 0);
  assert.deepEqual([scale.low, scale.middle, scale.high], [0.5, 1, 3]);
});

test("boxes share a logarithmic axis", () => {
  const axis = makeAxis([{ min: 10, max: 100 }, { min: 100, max: 1000 }]);
  assert.deepEqual([10, 100, 1000].map((ns) => Math.round(axis(ns) * 1e9) / 1e9), [0, 0.5, 1]);
  assert.equal(makeAxis([{ min: 0, max: 0 }])(0), 0);
});

test("values have the metric's unit", () => {
  assert.equal(valueText("duration", 1.5), "1.50 ×");
  assert.equal(valueText("stall", 1500), "1.50 us");
  assert.deepEqual(readCell([1, 2, 3, 4, "k", 5, 6, 7]), { at: 1, start: 2, value: 3, stall: 4, longest: "k", windows: 5, flagged: 6, events: 7, why: null });
  assert.equal(readCell([1, 2, 3, 4, "k", 5, 6, 7, "because"]).why, "because");
});

test("a time axis has round times, and no more than there is room for", () => {
  assert.deepEqual(listTicks(0, 100, 10), [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100]);
  assert.deepEqual(listTicks(3, 17, 3), [5, 10, 15]);
  assert.deepEqual(listTicks(1_000_000_000, 1_200_000_000, 5), [1_000_000_000, 1_050_000_000, 1_100_000_000, 1_150_000_000, 1_200_000_000]);
  for (const most of [1, 2, 7]) assert.ok(listTicks(0, 123_456_789, most).length <= most + 1);
});

test("parallel axes go from the least to the greatest value, without those that are unknown", () => {
  const rows = [{ values: [1, null, 5] }, { values: [3, null, null] }, { values: [2, null, 5] }];
  const axes = makeAxes([{ name: "a" }, { name: "b" }, { name: "c" }], rows);
  assert.deepEqual(axes.map(({ name, low, high }) => [name, low, high]), [["a", 1, 3], ["c", 5, 5]]);
  assert.equal(axes[0].place(2), 0.5);
  assert.equal(axes[1].place(5), 0.5);
  assert.deepEqual(rows.map((row) => isInside(row, axes, [[0.5, 1], null])), [false, true, true]);
  assert.deepEqual(rows.map((row) => isInside(row, axes, [null, [0, 1]])), [true, false, true]);
});

test("keys make, move and remove a brush, which stays on its axis", () => {
  assert.deepEqual(changeBrush(null, "ArrowUp"), [0.75, 1]);
  assert.deepEqual(changeBrush([0.75, 1], "ArrowUp"), [0.75, 1]);
  const round = (brush) => brush.map((place) => Math.round(place * 100) / 100);
  assert.deepEqual(round(changeBrush([0.75, 1], "ArrowDown")), [0.7, 0.95]);
  assert.deepEqual(round(changeBrush([0, 0.2], "ArrowDown")), [0, 0.2]);
  assert.deepEqual(round(changeBrush([0.5, 1], "+")), [0.45, 1]);
  assert.deepEqual(round(changeBrush([0.95, 1], "-")), [0.95, 1]);
  assert.equal(changeBrush([0.5, 1], "Escape"), null);
});
