// Where cells and boxes of an analysis of variability stand, and what colour they have.
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeAxis, makeScale, readCell, valueText } from "../../lib/report/page/variability_page.js";

test("a cell's colour is by how far it is from the middle of its strip", () => {
  const scale = makeScale([1, 1, 1, 3, 0.5]);
  assert.deepEqual([1, 3, 0.5].map(scale), [0, 1, -0.25]);
  assert.equal(makeScale([7])(7), 0);
});

test("boxes share a logarithmic axis", () => {
  const axis = makeAxis([{ min: 10, max: 100 }, { min: 100, max: 1000 }]);
  assert.deepEqual([10, 100, 1000].map((ns) => Math.round(axis(ns) * 1e9) / 1e9), [0, 0.5, 1]);
  assert.equal(makeAxis([{ min: 0, max: 0 }])(0), 0);
});

test("values have the metric's unit", () => {
  assert.equal(valueText("duration", 1.5), "1.50 ×");
  assert.equal(valueText("stall", 1500), "1.50 us");
  assert.deepEqual(readCell([1, 2, 3, 4, "k", 5, 6, 7]), { at: 1, start: 2, value: 3, stall: 4, longest: "k", windows: 5, flagged: 6, events: 7 });
});
