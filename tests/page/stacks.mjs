// Stacks below their regions, trees of processes, and parts of machines.
import assert from "node:assert/strict";
import { test } from "node:test";
import { listSockets, parseCpus, sumThreads } from "../../lib/report/page/machines.js";
import { busyShare, makeProcessTree } from "../../lib/report/page/processes.js";
import { frameWorth, makeStacked } from "../../lib/report/page/stacks.js";
import { listNodes, makeTree, measures, pathText, weigh } from "../../lib/report/page/tree.js";

const row = (id, parent, name, total, self) => ({ id, parent, name, kind: "region", device: 0, count: 1, total_ns: total, self_ns: self, attributes: {} });
const frame = (name, depth, on, blocked = 0, waiting = 0) => ({ name, depth, on_cpu_ns: on, blocked_ns: blocked, waiting_ns: waiting });
const stack = (measure, stacks) => {
  const root = makeTree([row("1", null, "main", 100, 40), row("2", "1", "advect", 60, 60)]);
  return new Map(listNodes(makeStacked(root, weigh(root, "host", measures[measure]), stacks, frameWorth[measure])).map((node) => [pathText(node), node]));
};

test("frames stand below their region, with the time of what they call", () => {
  const made = stack("time", [{ region: "2", frames: [frame("f", 0, 10), frame("g", 1, 20, 5), frame("h", 2, 0, 0, 1), frame("i", 0, 4)] }]);
  assert.deepEqual([...made.keys()], ["main", "main > advect", "main > advect > f", "main > advect > f > g", "main > advect > f > g > h", "main > advect > i"]);
  assert.equal(made.get("main > advect > f").sum, 36);
  assert.equal(made.get("main > advect > f > g").own, 25);
  assert.equal(made.get("main > advect").sum, 60);
  assert.deepEqual(made.get("main > advect > f").frame, { on_cpu_ns: 30, blocked_ns: 5, waiting_ns: 1, self_ns: 10 });
  assert.equal(made.get("main > advect").key.length, 16);
  assert.notEqual(made.get("main > advect > f").key, made.get("main > advect").key);
});

test("frames never have more than their region; their figures stay", () => {
  const made = stack("time", [{ region: "2", frames: [frame("f", 0, 60), frame("g", 0, 60)] }]);
  assert.equal(made.get("main > advect > f").sum + made.get("main > advect > g").sum, 60);
  assert.equal(made.get("main > advect > f").frame.on_cpu_ns, 60);
});

test("what is outside stands beside the regions, and regions that are not there are left out", () => {
  const made = stack("time", [{ region: null, frames: [frame("idle", 0, 7), frame("poll", 1, 0, 3)] }, { region: "9", frames: [frame("lost", 0, 1)] }]);
  assert.equal(made.get("(outside)").sum, 10);
  assert.equal(made.get("(outside) > idle").sum, 10);
  assert.deepEqual(made.get("(outside)").frame.blocked_ns, 3);
  assert.equal([...made.keys()].filter((path) => path.includes("lost")).length, 0);
});

test("processes stand below who started them, and rings are cut", () => {
  const process = (pid, parent, more) => Object.assign({ pid, parent, host: "a", command: `/bin/p${pid}`, duration_ns: 10, thread_list: [] }, more);
  const paths = (all) => listNodes(makeProcessTree(all)).map(pathText);
  assert.deepEqual(paths([process(3, 2), process(1, 900), process(2, 1)]), ["p1", "p1 > p2", "p1 > p2 > p3"]);
  assert.deepEqual(paths([process(1, 2), process(2, 1)]).length, 2);
  assert.deepEqual(paths([process(1, 1)]), ["p1"]);
  assert.deepEqual(paths([process(2, 1, { host: "b" }), process(1, 0)]), ["p2", "p1"]);
  const [thread] = listNodes(makeProcessTree([process(1, 0, { thread_list: [{ tid: 5, name: "worker", alive_ns: 10, on_cpu_ns: 6, runnable_ns: 1 }] })])).slice(1);
  assert.deepEqual([thread.label, thread.rows[0].blocked, thread.rows[0].id], ["worker", 3, 5]);
});

test("processors in lists, and how busy they were", () => {
  assert.deepEqual([...parseCpus("0-2,7")], [0, 1, 2, 7]);
  assert.equal(parseCpus("").size, 0);
  assert.equal(parseCpus("0-99999999999").size, 8192);
  for (const wrong of ["1e300-1e301", "Infinity", "9".repeat(400), "-5", "x", "-", "3-1", "9007199254740993-9007199254740999"]) assert.equal(parseCpus(wrong).size, 0, wrong);
  assert.deepEqual([...parseCpus("x,3")], [3]);
  assert.deepEqual(listSockets([{ socket: 10 }, {}, { socket: 2 }, { socket: 10 }]), [2, 10, undefined]);
  const processes = [{ host: "a", duration_ns: 100, cpu_ns: 150, thread_list: [{ on_cpu_ns: 90, alive_ns: 100, last_cpu: 1 }, { on_cpu_ns: 60, alive_ns: 100, last_cpu: 9 }] }, { host: "b", duration_ns: 100, cpu_ns: 100 }];
  assert.deepEqual(sumThreads(processes, "a", parseCpus("0-3")), { threads: 1, on_cpu_ns: 90, longest_ns: 100 });
  assert.equal(busyShare(processes, "a", 2), 0.75);
  const inTurn = (seconds) => seconds.map((second) => ({ host: "a", started: `2026-11-02T09:30:0${second}Z`, duration_ns: 2e9, cpu_ns: 2e9 }));
  assert.equal(busyShare(inTurn([0, 2, 4, 6]), "a", 4), 0.25);
  assert.equal(busyShare(inTurn([0, 0, 1]), "a", 4), 0.75);
  assert.equal(busyShare(processes, "c", 2), null);
  assert.equal(busyShare(processes, "a", 0), null);
  assert.equal(busyShare(processes.concat({ host: "a", duration_ns: 100 }), "a", 2), null, "not known of each");
});
