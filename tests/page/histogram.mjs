// Buckets are those of include/adaptyst/detail/histogram.h.
import assert from "node:assert/strict";
import { test } from "node:test";
import { listPairs, lowerEdge, makeAxis, makeBars, makeTicks, middle, quantile } from "../../lib/report/page/histogram.js";

test("edges: a bucket for each value below 64, then 13 an octave", () => {
  assert.equal(lowerEdge(0), 0);
  assert.equal(lowerEdge(63), 63);
  assert.equal(lowerEdge(64), 64);
  assert.equal(lowerEdge(65), 67);
  assert.equal(lowerEdge(64 + 13), 128);
  assert.equal(lowerEdge(64 + 40 * 13), 2 ** 46);
  for (let bucket = 0; bucket < 584; ++bucket) assert.ok(lowerEdge(bucket) < lowerEdge(bucket + 1));
});

test("what stands for a bucket is within 3 % of all in it", () => {
  for (let bucket = 64; bucket < 584; ++bucket) {
    assert.ok(middle(bucket) / lowerEdge(bucket) < 1.031, bucket);
    assert.ok((lowerEdge(bucket + 1) - 1) / middle(bucket) < 1.031, bucket);
  }
});

test("quantiles by the nearest rank", () => {
  assert.equal(quantile([], 0.5), null);
  assert.equal(quantile([[10, 1], [20, 1]], 0.5), 10);
  assert.equal(quantile([[10, 1], [20, 1]], 0.51), 20);
  assert.equal(quantile([[10, 98], [20, 2]], 0.99), 20);
});

test("bars may be of several buckets, and a value has its place among them", () => {
  const pairs = [[64, 1], [77, 1]]; // 64 to 128, 128 to 256
  assert.deepEqual(makeBars(pairs, 13).map((bar) => [bar.from, bar.to, bar.height]), [[0, 0.5, 1], [0.5, 1, 1]]);
  assert.equal(makeAxis(pairs, 13)(128), 0.5);
  assert.equal(makeAxis(pairs, 13)(1e9), 1);
});

test("heights may be digits", () => {
  assert.deepEqual(listPairs({ histogram: [], histogram_first: 70, histogram_step: 2, histogram_heights: "1z0a" }), [[70, 1], [72, 35], [76, 10]]);
  assert.deepEqual(listPairs({ histogram: [[1, 2]] }), [[1, 2]]);
  assert.deepEqual(listPairs({}), []);
});

test("the area of a bar is its count", () => {
  const bars = makeBars([[10, 4], [11, 4], [40, 1]], 1);
  assert.equal(bars[0].from, 0);
  assert.ok(Math.abs(bars[bars.length - 1].to - 1) < 1e-12);
  const area = (bar) => bar.height * (bar.to - bar.from);
  assert.ok(Math.abs(area(bars[0]) / area(bars[2]) - 4) < 1e-9);
  assert.deepEqual(makeBars([], 1), []);
});

test("an axis has ticks at round numbers", () => {
  const bucketOf = (ns) => Array.from({ length: 584 }, (unused, at) => at).filter((at) => lowerEdge(at) <= ns).pop();
  const ticks = (from, to) => makeTicks([[bucketOf(from), 1], [bucketOf(to), 1]], 1);
  assert.deepEqual(ticks(1500, 60000), [2000, 5000, 10000, 20000, 50000]);
  assert.deepEqual(ticks(150, 2e6), [1000, 10000, 100000, 1000000]);
  assert.deepEqual(ticks(10.5e6, 22e6).map((ns) => ns / 1e6), [12, 14, 16, 18, 20, 22]);
  assert.deepEqual(ticks(30, 30), [30, 31]);
});
