// The tree of call paths of a profile's rows, and the worth of each node by a measure.
import { extendHash, joinPath, keyOf, printable } from "./names.js";

// A time that a thread of the host spends. A device works asynchronously.
const kindsOfHost = new Set(["region", "offload", "wait", "function"]);
const operations = new Set(["kernel", "copy_to", "copy_from", "fill", "other"]);

export const isTimeOfHost = (row) => kindsOfHost.has(row.kind);
export const isOperation = (row) => operations.has(row.kind);

// Waits for devices, and calls of MPI, in which a rank mostly waits for others.
export function isWait(row, name) {
  return row.kind === "wait" || row.kind === "offload" || (isTimeOfHost(row) && name.startsWith("MPI_"));
}

export function makeNode(name, parent, label = printable(name)) {
  return {
    name,
    label,
    parent,
    depth: parent ? parent.depth + 1 : -1,
    children: [],
    rows: [],
    below: new Map(),
  };
}

export function findPath(node) {
  const names = [];
  for (; node.parent; node = node.parent) names.push(node.name);
  return names.reverse();
}

export function pathText(node) {
  return joinPath(findPath(node));
}

function child(node, name, label) {
  let found = node.below.get(name);
  if (!found) {
    found = makeNode(name, node, label);
    node.below.set(name, found);
    node.children.push(found);
  }
  return found;
}

// The kind that represents all rows of a path.
function findKind(node) {
  const first = node.rows.find(isTimeOfHost) || node.rows[0];
  return first ? first.kind : "region";
}

// All nodes of a tree, parents before children. Without recursion: a path may be 4097 deep.
export function listNodes(root) {
  const all = [];
  const stack = [root];
  while (stack.length) {
    const node = stack.pop();
    if (node.parent) all.push(node);
    for (let at = node.children.length; at-- > 0; ) stack.push(node.children[at]);
  }
  return all;
}

// A key for each node, from the names of its path after `above`; for siblings of one name, from their places as well.
function giveKeys(root, above) {
  const hashes = new Map([[root, above]]);
  const keys = new Set();
  for (const node of listNodes(root)) {
    let hash = extendHash(hashes.get(node.parent), node.place ? `${node.name}\u001e${node.place}` : node.name);
    while (keys.has(keyOf(hash))) hash = extendHash(hash, "");
    hashes.set(node, hash);
    node.key = keyOf(hash);
    keys.add(node.key);
  }
}

function finish(root) {
  for (const node of listNodes(root)) node.kind = findKind(node);
  giveKeys(root, null);
  return root;
}

// A node of this id below `above`: a node that was made for its name before its id was read, or a new node.
function findOpen(above, name, id) {
  const present = above.below.get(name);
  if (present && !present.id && present.rows.length === 0) return Object.assign(present, { id });
  const made = Object.assign(makeNode(name, above), { id });
  above.children.push(made);
  if (!present) above.below.set(name, made);
  return made;
}

// Rows outside all regions of the metrics of memory spaces: the facts of the page have the spaces.
export function listSpaceRows(rows, spaces) {
  const begins = ["bytes allocated in ", "bytes freed in ", "bytes already in use in ", "bytes in use in ", "unknown changes in "];
  const metrics = new Set(spaces.flatMap((space) => begins.map((begin) => begin + space.name)));
  return new Set(rows.filter((row) => !row.parent && !row.total_ns && metrics.has(row.name) && row.attributes && row.name in row.attributes && (row.path || []).length < 2));
}

// The rows of a profile: a row has its own name, and the id of the row above it. If the row above is absent because it has
// not ended, a row has its whole path. Siblings may have one name: `places` has their places in the source, by row.
export function makeTree(rows, places = {}, hidden = new Set()) {
  const root = makeNode("", null);
  const nodes = new Map();
  const find = (above, name, id) => {
    if (!id) return child(above, name);
    if (!nodes.has(id)) nodes.set(id, findOpen(above, name, id));
    return nodes.get(id);
  };
  rows.forEach((row, index) => {
    const names = row.path || [row.name];
    if (names.length === 0 || hidden.has(row)) return;
    let above = row.parent && nodes.get(row.parent);
    if (!above) {
      above = root;
      names.slice(0, -1).forEach((name, at) => (above = find(above, name, at + 2 === names.length ? row.parent : null)));
    }
    const node = find(above, names[names.length - 1], row.id);
    node.rows.push(Object.assign({ index }, row));
    if (!places[index] || node.place) return;
    node.place = places[index];
    node.label += ` (${node.place})`;
  });
  return finish(root);
}

// The maximum levels of callers, which limits the number of nodes: 1,500 regions in each other make a million nodes.
function findMostLevels(nodes) {
  const mostNodes = 200000;
  const starts = new Map();
  for (const { depth } of nodes) starts.set(depth, (starts.get(depth) || 0) + 1);
  let reach = nodes.length;
  let made = 0;
  for (let levels = 0; ; ++levels) {
    made += reach;
    if (reach === 0) return Infinity;
    if (made > mostNodes && levels > 0) return levels;
    reach -= starts.get(levels) || 0;
  }
}

// The inverted tree: below a name are its callers, down to `levels` levels.
export function makeInverted(root, worth) {
  const made = makeNode("", null);
  const nodes = listNodes(root).filter((node) => worth.exclusive.get(node) > 0);
  made.levels = findMostLevels(nodes);
  for (const node of nodes) {
    const own = worth.exclusive.get(node);
    let at = made;
    for (let caller = node; caller.parent && at.depth + 1 < made.levels; caller = caller.parent) {
      at = child(at, caller.name, caller.place ? undefined : caller.label);
      at.own = (at.own || 0) + (caller === node ? own : 0);
      at.sum = (at.sum || 0) + own;
      at.kind = caller.kind;
      // The place with most time: a click shows its details.
      at.places = (at.places || 0) + 1;
      if (!at.original || own > at.largest) [at.original, at.largest] = [at.depth === 0 ? node : caller, own];
      if (caller === node) at.rows.push(...node.rows);
    }
  }
  giveKeys(made, extendHash(null, "inverted"));
  return made;
}

function attribute(row, name) {
  const values = row.attributes && row.attributes[name];
  return values ? values.sum : 0;
}

export function sumBlocked(context) {
  return context ? context.sleep_ns + context.lock_ns + context.io_ns + context.other_ns : 0;
}

function onCore(context) {
  return context && context.on_cpu_ns ? context.on_cpu_ns : 0;
}

// The measures of a node's width. `own`: of a row, without nested regions; `all`: with them, if that is known.
export const measures = {
  time: {
    title: "time",
    meaning: "wall time, summed over threads; for a device, the durations of its operations",
    own: (row) => (isOperation(row) ? row.total_ns : row.self_ns) || 0,
    all: (row) => row.total_ns || 0,
    unit: "ns",
  },
  self: {
    title: "self time",
    meaning: "time without nested regions, by name; callers are below a name",
    own: (row) => (isOperation(row) ? row.total_ns : row.self_ns) || 0,
    all: () => 0,
    unit: "ns",
    isInverted: true,
  },
  on_core: {
    title: "on a core",
    meaning: "the part of the time in which the thread ran",
    own: (row) => onCore(row.self_context),
    all: (row) => onCore(row.context),
    unit: "ns",
  },
  blocked: {
    title: "blocked",
    meaning: "the part of the time in which the thread waited for a lock, a file, a timer or a message",
    own: (row) => sumBlocked(row.self_context),
    all: (row) => sumBlocked(row.context),
    unit: "ns",
  },
  bytes: {
    title: "bytes",
    meaning: "bytes moved, as payloads report them",
    own: (row) => attribute(row, "bytes"),
    all: () => 0,
    unit: "B",
  },
  flops: {
    title: "flops",
    meaning: "floating-point operations, as payloads report them",
    own: (row) => attribute(row, "flops"),
    all: () => 0,
    unit: "FLOP",
  },
};

// `lane`: "host", or the number of a device.
export function isOfLane(row, lane) {
  return lane === "host" ? isTimeOfHost(row) : isOperation(row) && row.device === lane;
}

// The worth of each node, without and with nested nodes. Nested nodes never add up to more than the node around them.
export function weigh(root, lane, measure) {
  const exclusive = new Map();
  const inclusive = new Map();
  const nodes = listNodes(root);
  for (let at = nodes.length; at-- > 0; ) {
    const node = nodes[at];
    let own = 0;
    let all = 0;
    for (const row of node.rows) {
      if (!isOfLane(row, lane)) continue;
      own += measure.own(row);
      all += measure.all(row);
    }
    let sum = own;
    for (const nested of node.children) sum += inclusive.get(nested);
    exclusive.set(node, own);
    inclusive.set(node, Math.max(all, sum));
  }
  let total = 0;
  for (const node of root.children) total += inclusive.get(node);
  return { exclusive, inclusive, total };
}

// The lanes with times, and the measures of each lane; `hasStacks`: the host always has time.
export function findLanes(root, rows, hasStacks = false) {
  const devices = new Set(rows.filter(isOperation).map((row) => row.device));
  const lanes = ["host"].concat([...devices].sort((a, b) => a - b));
  const made = lanes.map((lane) => ({
    lane,
    measures: Object.keys(measures).filter((name) => weigh(root, lane, measures[name]).total > 0 || (hasStacks && lane === "host" && name === "time")),
  }));
  return made.filter((lane) => lane.measures.length > 0);
}
