// Dots of runs: their places and intervals.
import assert from "node:assert/strict";
import { test } from "node:test";
import { describeDots, listGroupDots, makeRatioAxis } from "../../lib/report/page/runs_page.js";

test("the interval of a device follows from its ratio and z", () => {
  const [dot, unknown] = listGroupDots({ runs: [{ run: 0, difference: { ratio: 1.2, z: 10 } }, { run: 2, difference: { ratio: 1.1, z: null } }] });
  assert.ok(Math.abs(Math.log(dot.high / dot.ratio) - (1.96 * Math.log(1.2)) / 10) < 1e-12);
  assert.ok(Math.abs(dot.low * dot.high - 1.44) < 1e-12);
  assert.deepEqual([unknown.run, unknown.low, unknown.high], [2, null, null]);
  assert.equal(describeDots([{ run: 2, ratio: 1.1, low: null, high: null }]), "run 3: 1.10 ×");
  assert.equal(describeDots([{ run: 0, ratio: 1.1 }, { run: 1, ratio: 0.9, low: 0.8, high: 1 }]), "run 1: 1.10 ×, run 2: 0.90 × (0.80 to 1.00)");
});

test("the axis is logarithmic, with 1 in the middle and all intervals inside", () => {
  const axis = makeRatioAxis([{ ratio: 1.1, low: 0.5, high: 1.5 }, { ratio: 0.9, low: null, high: null }]);
  assert.deepEqual([0.5, 1, 2].map((ratio) => Math.round(axis(ratio) * 1e9) / 1e9), [0, 0.5, 1]);
  assert.ok(Number.isFinite(makeRatioAxis([])(1)));
});
