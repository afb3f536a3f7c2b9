// Bars of layers, points of a roofline and its axes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { layerName, listPass, listPoints, makeBars, makeDecades } from "../../lib/report/page/stack_page.js";

const work = { bytes: 200, flops: 400, intensity: 2, gflops_per_s: 4, total_ns: 100 };
const stack = {
  layers: [
    { type: "conv", shape: "shape=8x3", executed: 2, work },
    { type: "relu", shape: "", executed: 1, work: { bytes: null, flops: null, intensity: null, gflops_per_s: null, total_ns: 50 } },
  ],
};

function call(layer, mean) {
  return { layer, latency_ns: { mean, error: null, n: 1 }, kernels_ns: 30, device_ns: 20, other_ns: mean - 30 };
}

test("a layer of a pass has its share of the bytes, flops and time", () => {
  const layers = listPass(stack, { layers: [call(0, 60), call(1, 20), call(0, 120)] });
  assert.deepEqual(layers.map((layer) => layer.name), ["conv shape=8x3", "relu", "conv shape=8x3"]);
  assert.deepEqual(layers.map((layer) => [layer.bytes, layer.flops]), [[100, 200], [null, null], [100, 200]]);
  assert.deepEqual(layers.map((layer) => layer.share), [0.3, 0.1, 0.6]);
  assert.equal(layerName({ type: "a\u202eb", shape: "" }), "a?b");
});

test("bars are as wide as a pixel at least, and the longest layer of a pixel is drawn", () => {
  const layers = Array.from({ length: 1000 }, (unused, at) => ({ at, ns: at % 10, device: at }));
  const bars = makeBars(layers, 100);
  assert.equal(bars.length, 100);
  assert.ok(bars.every((bar) => bar.layer.ns === 9));
  assert.deepEqual([bars[0].from, bars[99].to, bars[0].device], [0, 1, 9]);
  assert.equal(makeBars(layers.slice(0, 7), 100).length, 7);
  assert.deepEqual(makeBars([], 100), []);
});

test("only layers with known flops and bytes are points", () => {
  assert.deepEqual(listPoints(stack).map(({ x, y, name }) => [x, y, name]), [[2, 4, "conv shape=8x3"]]);
  const kernels = [{ name: "gemm\u202e", layer: 0, work }, { name: "alone", layer: null, work: { ...work, intensity: 3 } }, { name: "none", layer: 0, work: stack.layers[1].work }];
  const models = [{ name: "net", kernels: { ...work, intensity: 5 } }, { name: "unknown", kernels: stack.layers[1].work }];
  assert.deepEqual(listPoints({ ...stack, kernels }, "kernels").map(({ x, name, type }) => [x, name, type]), [[2, "gemm?, in conv shape=8x3", "conv"], [3, "alone", null]]);
  assert.deepEqual(listPoints({ ...stack, models }, "models").map(({ x, y, name }) => [x, y, name]), [[5, 4, "net"]]);
  assert.deepEqual(makeDecades([2, 300]), { low: 0, high: 3 });
  assert.deepEqual(makeDecades([10]), { low: 1, high: 2 });
});
