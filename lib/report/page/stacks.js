// Sampled stacks below the regions in which they were taken: a copy of the tree of regions, with frames in it.
import { makeKey } from "./names.js";
import { findPath, listNodes, makeNode } from "./tree.js";

// The worth of a frame by each measure of stacks.
export const frameWorth = {
  time: (frame) => frame.on_cpu_ns + frame.blocked_ns + frame.waiting_ns,
  on_core: (frame) => frame.on_cpu_ns,
  blocked: (frame) => frame.blocked_ns,
};

function makeFrame(name, parent, frame) {
  const node = makeNode(name, parent);
  parent.children.push(node);
  node.kind = "frame";
  node.frame = { on_cpu_ns: frame.on_cpu_ns, blocked_ns: frame.blocked_ns, waiting_ns: frame.waiting_ns, self_ns: frameWorth.time(frame) };
  return node;
}

// Adds frames below `at`. Time on a core is an estimate: if frames have more time than the region, they are drawn narrower.
function addFrames(at, frames, worthOf) {
  const sum = frames.reduce((all, frame) => all + worthOf(frame), 0);
  const factor = at.frame || sum <= at.own ? 1 : at.own / sum;
  const above = [at];
  const made = [];
  for (const frame of frames) {
    above.length = Math.min(above.length, frame.depth + 1);
    const node = makeFrame(frame.name, above[above.length - 1], frame);
    node.own = node.sum = worthOf(frame) * factor;
    node.original = node;
    node.region = at;
    above.push(node);
    made.push(node);
  }
  for (const node of made.reverse()) {
    if (node.parent.kind !== "frame") continue;
    node.parent.sum += node.sum;
    for (const part of ["on_cpu_ns", "blocked_ns", "waiting_ns"]) node.parent.frame[part] += node.frame[part];
  }
  return sum;
}

// `worth`: the worth of the regions, by the measure `worthOf`; `stacks`: from the profile.
export function makeStacked(root, worth, stacks, worthOf) {
  const made = makeNode("", null);
  const copies = new Map([[root, made]]);
  const byId = new Map();
  for (const node of listNodes(root)) {
    const copy = makeNode(node.name, copies.get(node.parent), node.label);
    copy.parent.children.push(copy);
    Object.assign(copy, { rows: node.rows, kind: node.kind, key: node.key, isOdd: node.isOdd, original: node });
    copy.sum = worth.inclusive.get(node) || 0;
    copy.own = worth.exclusive.get(node) || 0;
    copies.set(node, copy);
    for (const row of node.rows) if (!byId.has(row.id)) byId.set(row.id, copy);
  }
  for (const { region, frames } of stacks) {
    let at = byId.get(region);
    if (region === null) {
      at = makeFrame("(outside)", made, { on_cpu_ns: 0, blocked_ns: 0, waiting_ns: 0 });
      at.original = at;
      at.own = 0;
    }
    if (!at) continue;
    const sum = addFrames(at, frames, worthOf);
    if (region !== null) continue;
    at.sum = sum;
    for (const part of ["on_cpu_ns", "blocked_ns", "waiting_ns"]) at.frame[part] = frames.reduce((all, frame) => all + frame[part], 0);
  }
  for (const node of listNodes(made)) if (node.frame) node.key = makeKey(["stack"].concat(findPath(node)));
  return made;
}
