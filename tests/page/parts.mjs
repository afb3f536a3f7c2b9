// What bars are made of, which ranks stand out, and what a comparison's boxes are.
import assert from "node:assert/strict";
import { test } from "node:test";
import { findVerdict, timeOfRun, weighSides } from "../../lib/report/page/comparison_page.js";
import { colourOf } from "../../lib/report/page/details.js";
import { deviations, findStragglers, imbalances, nameFramed } from "../../lib/report/page/ranks.js";
import { busyShare, drawResident } from "../../lib/report/page/processes.js";
import { chooseRanks, deviceParts, hostParts, labelRanks, rankParts } from "../../lib/report/page/summary.js";
import { boxOf, textOn, Timeline } from "../../lib/report/page/timeline.js";
import { isTimeOfHost, listNodes, makeTree } from "../../lib/report/page/tree.js";

const region = (id, parent, name, total, self, kind) => ({ id, parent, name, kind: kind || "region", device: 0, count: 1, total_ns: total, self_ns: self });

test("an operation has the same colour in the details as in a timeline", () => {
  for (const kind of ["kernel", "copy_to", "copy_from", "fill", "other"]) assert.equal(colourOf(kind), boxOf(kind));
});

test("a device's parts add up to the time for which it was looked at", () => {
  const parts = deviceParts({ observed_ns: 100, busy_ns: 70, kernel_ns: 50, copy_ns: 25, exposed_copy_ns: 15, other_ns: 5, launch_idle_ns: 10, starved_ns: 20 });
  assert.deepEqual(parts, { kernel: 40, both: 10, exposed: 15, other: 5, launch: 10, starved: 20 });
  assert.equal(Object.values(parts).reduce((sum, part) => sum + part), 100);
  assert.deepEqual(deviceParts({ observed_ns: 100, busy_ns: 70, kernel_ns: null }), { busy: 70, idle: 30 });
  assert.deepEqual(deviceParts({ observed_ns: 100, busy_ns: 70, kernel_ns: 70, starved_ns: null }), { kernel: 70, both: 0, exposed: 0, other: 0, idle: 30 });
  assert.equal(deviceParts({ observed_ns: 100, busy_ns: null, kernel_ns: null }), null);
});

test("the host's time is split into regions, waits and the time outside", () => {
  const root = makeTree([region("1", null, "main", 100, 30), region("2", "1", "MPI_Recv", 50, 50, "function"), region("3", "1", "wait", 20, 20, "wait")]);
  assert.deepEqual(hostParts(listNodes(root), { state: "known", ns: 7 }), { marked: 30, wait: 70, unmarked: 7 });
  assert.deepEqual(hostParts(listNodes(root), { state: "unknown", ns: 0 }), { marked: 30, wait: 70 });
});

test("time without a core and blocked time are no compute time", () => {
  const context = (on, runnable, lock, io) => ({ wall_ns: on + runnable + lock + io, on_cpu_ns: on, runnable_ns: runnable, sleep_ns: 0, lock_ns: lock, io_ns: io, other_ns: 0 });
  const rows = [
    Object.assign(region("1", null, "main", 100, 50), { self_context: context(20, 10, 15, 5) }),
    Object.assign(region("2", "1", "MPI_Recv", 50, 50, "function"), { self_context: context(10, 5, 35, 0) }),
    Object.assign(region("3", null, "kernel", 40, 40, "kernel"), { device: 1 }),
  ];
  const made = hostParts(listNodes(makeTree(rows)), { state: "known", ns: 0 });
  assert.deepEqual(made, { compute: 20, nocore: 15, blocked: 20, wait: 45 });
  assert.equal(Object.values(made).reduce((sum, part) => sum + part), 100);
});

test("resident memory over time is a row of bars from 0 to the maximum", () => {
  const points = (list) => list.map(([after, bytes]) => ({ after_ns: after, rss_bytes: bytes }));
  assert.equal(drawResident(points([[0, 10], [50, 80], [100, 0]])), "▂▂▂▂▂▂▂████████▁");
  assert.equal(drawResident(points([[0, 0], [100, 0]])), "▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁");
  assert.equal(drawResident(points([[5, 7]])), "");
  assert.equal(drawResident(points([[90, 80], [100, 0]])), `${" ".repeat(14)}█▁`, "unknown before the first point");
  const oneHigh = [...Array(128).keys()].map((at) => [at, at === 60 ? 1000 : 10]);
  assert.equal(drawResident(points(oneHigh)), "▁▁▁▁▁▁▁█▁▁▁▁▁▁▁▁", "the maximum of a column");
  assert.equal(drawResident(undefined), "");
});

test("a rank's time in nested rows of the map counts once", () => {
  const rows = [region("1", null, "main", 60, 0), region("2", "1", "step", 50, 0), region("3", "2", "MPI_Wait", 20, 20, "function")];
  const profile = {
    processes: [{ rank: 0, host: "n0" }, { rank: 1, host: "n1" }],
    heat_map: { ranks: 2, ranks_per_bin: 1, rows: [{ region: "1", device: 0, mean_ns: [30, 30] }, { region: "3", device: 0, mean_ns: [5, 15] }] },
  };
  assert.deepEqual(rankParts(profile, rows), [
    { first: 0, last: 0, values: { marked: 25, wait: 5 }, hosts: ["n0"] },
    { first: 1, last: 1, values: { marked: 15, wait: 15 }, hosts: ["n1"] },
  ]);
  assert.deepEqual(rankParts({}, rows), []);
});

test("a rank of which only waits are known has no work of 0 ns", () => {
  const rows = [region("3", null, "MPI_Wait", 20, 20, "function")];
  const profile = {
    processes: [{ rank: 0, host: "n0", threads: 1, duration_ns: 100 }, { rank: 1, host: "n1", threads: 2, duration_ns: 100 }],
    heat_map: { ranks: 2, ranks_per_bin: 1, rows: [{ region: "3", device: 0, mean_ns: [5, 15] }] },
  };
  assert.deepEqual(rankParts(profile, rows), [{ first: 0, last: 0, values: { wait: 5, unmarked: 95 }, hosts: ["n0"] }]);
});

test("a run time that is not known is no time of 0 ns", () => {
  const rows = [region("3", null, "MPI_Wait", 20, 20, "function")];
  const profile = {
    processes: [{ rank: 0, host: "n0", threads: 1, duration_ns: null }],
    heat_map: { ranks: 1, ranks_per_bin: 1, rows: [{ region: "3", device: 0, mean_ns: [0] }] },
  };
  assert.deepEqual(rankParts(profile, rows), []);
  const process = { host: "n0", pid: 1, started: "2026-01-01T00:00:00Z", cpu_ns: 50, duration_ns: 100 };
  assert.equal(busyShare([process], "n0", 1), 0.5);
  assert.equal(busyShare([process, { ...process, pid: 2, duration_ns: null }], "n0", 1), null);
});

test("a bar of several ranks says so, and names the ranks with findings and the hosts", () => {
  const profile = {
    processes: [0, 1, 2, 3].map((rank) => ({ rank, host: `n${rank >> 1}` })),
    heat_map: { ranks: 4, ranks_per_bin: 4, rows: [{ region: "1", device: 0, mean_ns: [30] }] },
  };
  const [bar] = rankParts(profile, [region("1", null, "main", 60, 0)]);
  assert.deepEqual(bar, { first: 0, last: 3, values: { marked: 30, wait: 0 }, hosts: ["n0", "n1"] });
  assert.deepEqual(labelRanks(bar, []), { name: "ranks 0–3", note: "mean of 4; n0 and 1 more" });
  assert.deepEqual(labelRanks(bar, [2, 7]), { name: "ranks 0–3", note: "mean of 4; finding on 2; n0 and 1 more" });
  assert.deepEqual(labelRanks({ first: 5, last: 5, hosts: ["n1"] }, [5]), { name: "rank 5", note: "n1" });
});

test("a rank with a finding has its bar among the shown", () => {
  const ranks = Array.from({ length: 100 }, (unused, at) => ({ first: 4 * at, last: 4 * at + 3, values: { marked: at } }));
  assert.ok(!chooseRanks(ranks, 10).some((group) => group.first === 200));
  const shown = chooseRanks(ranks, 10, [202]);
  assert.ok(shown.some((group) => group.first === 200));
  assert.equal(shown.length, 10);
});

test("of many ranks those with most and with least to do are shown", () => {
  const ranks = Array.from({ length: 100 }, (unused, at) => ({ first: at, values: { marked: (at * 37) % 100 } }));
  const shown = chooseRanks(ranks, 10).map((group) => group.values.marked);
  assert.deepEqual(shown, [99, 98, 97, 96, 95, 94, 3, 2, 1, 0]);
});

test("a straggler is marked, and noise is not", () => {
  assert.deepEqual(findStragglers([100, 101, 99, 100, 160, 100, 101, null]), [false, false, false, false, true, false, false, false]);
  assert.deepEqual(findStragglers([90, 110, 95, 105, 100, 112]).filter((isOdd) => isOdd), []);
  assert.deepEqual(deviations([null, 2, 4]), [null, 2 / 3 - 1, 4 / 3 - 1]);
});

test("imbalances come by what the other ranks wait", () => {
  const spread = (max, mean, ranks) => ({ ranks, imbalance: max / mean - 1, total_ns: { max, mean } });
  const nodes = listNodes(makeTree([Object.assign(region("1", null, "a", 1, 1), { across_ranks: spread(20, 10, 2) }), Object.assign(region("2", null, "b", 1, 1), { across_ranks: spread(110, 100, 8) }), region("3", null, "c", 1, 1)]));
  assert.deepEqual(imbalances(nodes).map((row) => [row.node.name, row.lost]), [["b", 80], ["a", 20]]);
});

test("what has a frame in the heat map is named", () => {
  const line = (label, odd) => ({ label, odd });
  assert.equal(nameFramed({ ranks: 3, ranks_per_bin: 2 }, [line("a", [false, true]), line("b", [true, false])]), "much longer than the others: a of rank 2, b of ranks 0–1");
  assert.equal(nameFramed({ ranks: 2, ranks_per_bin: 1 }, [line("a", [false, false])]), "no rank takes much longer than the others");
});

test("a box of a comparison is as wide as the longer side, and coloured by what is sure", () => {
  const side = (total) => ({ runs: 2, count: 1, total_ns: total });
  const rows = [
    { path: ["a"], kind: "region", before: side(200), after: side(100), verdict: "faster" },
    { path: ["a", "b"], kind: "region", before: side(50), after: side(60), verdict: "unclear" },
    { path: ["a", "c"], kind: "region", before: null, after: side(20), verdict: "new" },
  ];
  const root = makeTree(rows);
  const [a, b, c] = listNodes(root);
  const sides = weighSides(root, isTimeOfHost);
  assert.deepEqual(sides.get(a), { before: 100, after: 50, width: 100 });
  assert.deepEqual(sides.get(b), { before: 25, after: 30, width: 30 });
  assert.deepEqual([a, b, c].map((node) => findVerdict(node, () => true)), ["faster", "unclear", "new"]);
  assert.equal(timeOfRun(null), null);
  const [both] = makeTree([{ id: "1", parent: null, name: "k", device: 1, verdict: "slower" }, { id: "1", parent: null, name: "k", device: 2, verdict: "untested" }]).children;
  assert.deepEqual([1, 2].map((device) => findVerdict(both, (row) => row.device === device)), ["slower", "untested"]);
});

test("a name is legible on any colour of the program", () => {
  const onDark = [[0, 0, 128], [0, 0, 0], [255, 0, 0]].map(textOn);
  assert.deepEqual(onDark, ["#ffffff", "#ffffff", "#ffffff"]);
  const onPale = [[255, 255, 0], [255, 255, 255], [118, 185, 0]].map(textOn);
  assert.deepEqual(onPale, ["#000000", "#000000", "#000000"]);
});

test("a name is legible on a box that a search makes paler", () => {
  const state = { timeline: { sites: [["navy", "region", "#000080"]] }, names: ["navy"], back: [255, 255, 255], palette: [[0, 0, 128]] };
  const textWith = (found) => {
    const context = { fillText() {} };
    Object.assign(Object.create(Timeline.prototype), state, { found, looks: new Map() }).drawName(context, 0, 0, 100, 0);
    return context.fillStyle;
  };
  assert.deepEqual([null, [true], [false]].map(textWith), ["#ffffff", "#ffffff", "#000000"]);
});
