// A tree out of rows, and what its nodes are worth.
import assert from "node:assert/strict";
import { test } from "node:test";
import { find, firstLevel, layOut, visible } from "../../lib/report/page/layout.js";
import { makeKey } from "../../lib/report/page/names.js";
import { findNodes, makeSearch, sumUp } from "../../lib/report/page/search.js";
import { findLanes, findPath, listNodes, listSpaceRows, makeInverted, makeTree, measures, pathText, weigh } from "../../lib/report/page/tree.js";

const row = (id, parent, name, total, self, more) => Object.assign({ id, parent, name, kind: "region", device: 0, count: 1, total_ns: total, self_ns: self, attributes: {}, context: null, self_context: null }, more);

// main 100: advect 60 (of it flux 40), output 10, flux 7; a kernel of 30 on device 1 below advect.
const rows = () => [
  row("1", null, "main", 100, 23),
  row("2", "1", "advect", 60, 20),
  row("3", "2", "flux", 40, 40, { attributes: { bytes: { sum: 800 } } }),
  row("4", "1", "output", 10, 10),
  row("5", "2", "stencil", 30, 30, { kind: "kernel", device: 1 }),
  row("6", "1", "flux", 7, 7),
];
const byText = (root) => new Map(listNodes(root).map((node) => [pathText(node), node]));

test("a row stands below the row whose id is its parent, or on its own path", () => {
  const root = makeTree(rows().concat([row("9", "8", undefined, 1, 1, { path: ["elsewhere", "deep"] })]));
  assert.deepEqual([...byText(root).keys()], ["main", "main > advect", "main > advect > flux", "main > advect > stencil", "main > output", "main > flux", "elsewhere", "elsewhere > deep"]);
  assert.equal(byText(root).get("elsewhere").rows.length, 0);
});

test("metrics of memory spaces outside all regions have no row, metrics of the program do", () => {
  const metric = (id, name, more) => row(id, null, name, 0, 0, { kind: "metric", attributes: { [name]: { sum: 1 } }, ...more });
  const made = [metric("1", "bytes freed in HIP"), metric("2", "bytes freed in Own"), row("3", null, "bytes allocated in HIP", 10, 10), metric("4", "unknown changes in HIP")];
  const names = (spaces) => makeTree(made, {}, listSpaceRows(made, spaces)).children.map((node) => node.name);
  assert.deepEqual(names([{ name: "HIP" }]), ["bytes freed in Own", "bytes allocated in HIP"]);
  assert.equal(names([]).length, 4);
});

test("siblings of one name have their own children, keys and places", () => {
  const root = makeTree([row("1", null, "a", 5, 5), row("2", null, "a", 6, 6), row("3", "1", "b", 1, 1), row("4", "2", "c", 2, 2)], { 0: "m.c:3", 1: "m.c:7" });
  assert.deepEqual(root.children.map((node) => [node.label, node.children.map((child) => child.name)]), [["a (m.c:3)", ["b"]], ["a (m.c:7)", ["c"]]]);
  assert.equal(new Set(listNodes(root).map((node) => node.key)).size, 4);
  const open = makeTree([row("3", "1", undefined, 1, 1, { path: ["a", "b"] }), row("4", "2", undefined, 2, 2, { path: ["a", "c"] }), row("5", "1", undefined, 1, 1, { path: ["a", "d"] })]);
  assert.deepEqual(open.children.map((node) => node.children.map((child) => child.name)), [["b", "d"], ["c"]]);
});

test("rows without ids that have one path are one node", () => {
  const root = makeTree([row(undefined, null, "a", 5, 5), row(undefined, null, "a", 6, 6, { device: 1, kind: "offload" })]);
  assert.equal(listNodes(root).length, 1);
  assert.equal(weigh(root, "host", measures.time).total, 11);
});

test("time of the host is that of its regions; operations are in the lane of their device", () => {
  const root = makeTree(rows());
  const nodes = byText(root);
  const host = weigh(root, "host", measures.time);
  assert.equal(host.total, 100);
  assert.equal(host.inclusive.get(nodes.get("main > advect")), 60);
  assert.equal(host.exclusive.get(nodes.get("main > advect")), 20);
  assert.equal(host.inclusive.get(nodes.get("main > advect > stencil")), 0);
  const device = weigh(root, 1, measures.time);
  assert.equal(device.total, 30);
  assert.equal(device.inclusive.get(nodes.get("main")), 30);
  assert.equal(weigh(root, "host", measures.bytes).total, 800);
  assert.deepEqual(findLanes(root, rows()), [{ lane: "host", measures: ["time", "self", "bytes"] }, { lane: 1, measures: ["time", "self"] }]);
});

test("what is nested is never wider than what it is nested in", () => {
  const root = makeTree([row("1", null, "a", 5, 0), row("2", "1", "b", 9, 9)]);
  assert.equal(weigh(root, "host", measures.time).total, 9);
});

test("inside out: by name, and below it who called it", () => {
  const root = makeTree(rows());
  const made = makeInverted(root, weigh(root, "host", measures.self));
  const flux = made.children.find((node) => node.name === "flux");
  assert.equal(flux.sum, 47);
  assert.deepEqual(flux.children.map((node) => [node.name, node.sum]), [["advect", 40], ["main", 7]]);
  assert.equal(made.children.reduce((sum, node) => sum + node.sum, 0), 100);
});

test("what is inside out tells of the place with most", () => {
  const root = makeTree([row("1", null, "a", 10, 0), row("2", "1", "reduce", 10, 10), row("3", null, "b", 90, 0), row("4", "3", "reduce", 90, 90)]);
  const made = makeInverted(root, weigh(root, "host", measures.self));
  const reduce = made.children.find((node) => node.name === "reduce");
  assert.equal(reduce.places, 2);
  assert.equal(pathText(reduce.original), "b > reduce");
  assert.equal(new Set(listNodes(made).map((node) => node.key)).size, listNodes(made).length);
});

test("stacks without timed regions have the host's lane", () => {
  assert.deepEqual(findLanes(makeTree([]), [], true), [{ lane: "host", measures: ["time"] }]);
  assert.deepEqual(findLanes(makeTree([]), []), []);
});

test("a path may be 4097 deep", () => {
  const deep = Array.from({ length: 4097 }, (unused, at) => row(String(at + 1), at ? String(at) : null, `r${at}`, 10, at === 4096 ? 10 : 0));
  const root = makeTree(deep);
  const worth = weigh(root, "host", measures.time);
  assert.equal(worth.total, 10);
  assert.equal(layOut(root, (node) => worth.inclusive.get(node), 10).levels.length, 4097);
  makeInverted(root, worth);
});

test("of very many callers only the nearest are in what is inside out", () => {
  const deep = Array.from({ length: 1500 }, (unused, at) => row(String(at + 1), at ? String(at) : null, `r${at}`, 10 * (1500 - at), 10));
  const root = makeTree(deep);
  const made = makeInverted(root, weigh(root, "host", measures.self));
  const nodes = listNodes(made);
  assert.ok(made.levels > 100 && made.levels < 200, String(made.levels));
  assert.ok(nodes.length <= 200_000);
  assert.equal(Math.max(...made.children.map((node) => node.sum)), 10);
  assert.equal(nodes.reduce((most, node) => Math.max(most, node.depth), 0), made.levels - 1);
  assert.equal(makeInverted(makeTree(rows()), weigh(makeTree(rows()), "host", measures.self)).levels, Infinity);
});

test("a node's key is that of its path", () => {
  for (const node of listNodes(makeTree(rows()))) assert.equal(node.key, makeKey(findPath(node)));
});

test("boxes of a level come from the left, the widest first, and are found by their place", () => {
  const root = makeTree(rows());
  const worth = weigh(root, "host", measures.time);
  const { levels, boxes } = layOut(root, (node) => worth.inclusive.get(node), worth.total);
  assert.deepEqual(levels[1].map((box) => box.node.name), ["advect", "output", "flux"]);
  assert.equal(find(levels[1], 0.3).node.name, "advect");
  assert.equal(find(levels[1], 0.65).node.name, "output");
  assert.equal(find(levels[1], 0.99), null);
  assert.equal(find(undefined, 0.5), null);
  assert.deepEqual(visible(levels[1], 0.61, 0.65), [1, 2]);
  assert.equal(boxes.get(levels[2][0].node).to, 0.4);
  assert.equal(firstLevel(1), 0);
  assert.equal(firstLevel(10), 7);
});

test("a search by text ignores case, one by expression says what is wrong", () => {
  const nodes = listNodes(makeTree(rows()));
  const names = (text, isExpression) => [...findNodes(nodes, makeSearch(text, isExpression)).found].map(pathText);
  assert.deepEqual(names("FLUX", false), ["main > advect > flux", "main > flux"]);
  assert.deepEqual(names("^(ad|out)", true), ["main > advect", "main > output"]);
  assert.deepEqual(names("a.v", false), []);
  assert.notEqual(makeSearch("(", true).problem, "");
  assert.equal(makeSearch("", true).matches, null);
});

test("of what is found, what is nested in another one counts once", () => {
  const root = makeTree(rows());
  const worth = weigh(root, "host", measures.time);
  const { found, around } = findNodes(listNodes(root), makeSearch("advect|flux", true));
  assert.equal(sumUp(found, worth.inclusive), 67);
  assert.deepEqual([...around].map(pathText).sort(), ["main", "main > advect"]);
});
