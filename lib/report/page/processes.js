// The tree of processes and threads, with their time on cores and off cores.
import { byId, make } from "./dom.js";
import { joinPath, makeKey, printable } from "./names.js";
import { duration, quantity } from "./numbers.js";
import { Table } from "./table.js";
import { makeNode } from "./tree.js";

function addNode(parent, name, row) {
  const node = makeNode(name, parent);
  parent.children.push(node);
  node.rows = [row];
  return node;
}

// Resident memory over time, as bars from 0 to its maximum.
export function drawResident(points) {
  if (!points || points.length < 2) return "";
  const columns = 16;
  const bars = "▁▂▃▄▅▆▇█";
  const most = Math.max(...points.map((point) => point.rss_bytes), 1);
  const last = points[points.length - 1].after_ns;
  let text = "";
  for (let at = 0, next = 0, before = null; at < columns; ++at) {
    // The maximum of the points in the column; without any, the last point before it.
    let shown = null;
    for (; next < points.length && (at === columns - 1 || points[next].after_ns <= (last * (at + 1)) / columns); ++next) {
      before = points[next].rss_bytes;
      shown = Math.max(shown === null ? 0 : shown, before);
    }
    if (shown === null) shown = before;
    text += shown === null ? " " : bars[Math.min(bars.length - 1, Math.floor((shown / most) * bars.length))];
  }
  return text;
}

function endText(process) {
  const signal = "signal" in process ? [`signal ${process.signal}`] : process.killed ? ["killed"] : [];
  return (process.ended_in || []).map((last) => joinPath(last.path)).concat(signal).join("; ");
}

// A thread was blocked in the rest of its lifetime. For a process that is unknown.
function describeThread(process, thread) {
  return {
    id: thread.tid,
    rank: null,
    host: process.host,
    time: thread.alive_ns,
    on: thread.on_cpu_ns,
    runnable: thread.runnable_ns,
    blocked: Math.max(0, thread.alive_ns - thread.on_cpu_ns - thread.runnable_ns),
    startedBy: null,
    end: "",
    peak: null,
    isThread: true,
  };
}

// Processes below those that started them, as far as these were observed, and their threads below them.
export function makeProcessTree(processes) {
  const root = makeNode("", null);
  const key = (host, pid) => `${host}\n${pid}`;
  const byNumber = new Map(processes.map((process) => [key(process.host, process.pid), process]));
  const parentOf = (process) => {
    const parent = "parent" in process ? byNumber.get(key(process.host, process.parent)) : undefined;
    return parent === process ? undefined : parent;
  };
  const nodes = new Map();
  const place = (process) => {
    // From the outermost inwards. A cycle is cut: it can arise because the system reuses process numbers.
    const line = [];
    for (let at = process; at && !nodes.has(at) && !line.includes(at); at = parentOf(at)) line.push(at);
    for (const at of line.reverse()) {
      const row = {
        id: at.pid,
        rank: "rank" in at ? at.rank : null,
        host: at.host,
        time: at.duration_ns,
        on: "cpu_ns" in at ? at.cpu_ns : null,
        runnable: null,
        blocked: null,
        startedBy: "parent" in at ? at.parent : null,
        end: endText(at),
        peak: "peak_rss_bytes" in at ? at.peak_rss_bytes : null,
        resident: at.resident,
        threads: at.threads,
      };
      const node = addNode(nodes.get(parentOf(at)) || root, at.command.slice(at.command.lastIndexOf("/") + 1), row);
      node.key = makeKey([at.host, String(at.pid), "process"]);
      nodes.set(at, node);
    }
  };
  processes.forEach(place);
  for (const [process, node] of nodes)
    for (const thread of process.thread_list || []) addNode(node, thread.name, describeThread(process, thread)).key = makeKey([process.host, String(thread.tid), "thread"]);
  return root;
}

function makeColumns() {
  const number = (name, csvName, meaning, value, text) => ({ name, csvName, meaning, value: (line) => value(line.row), text: (line) => (value(line.row) === null || value(line.row) === undefined ? "—" : text(line.row)) });
  const text = (name, csvName, meaning, value) => ({ name, csvName, meaning, isText: true, value: (line) => value(line.row, line.node), text: (line) => value(line.row, line.node) });
  const time = (name, csvName, meaning, value) => number(name, csvName, meaning, value, (row) => duration(value(row)));
  return [
    text("NAME", "name", "the program of a process, below the process that started it; the name of a thread, below its process", (row, node) => (row.isThread ? `thread ${node.label}` : node.label)),
    number("ID", "id", "the number of the process or the thread", (row) => row.id, (row) => String(row.id)),
    number("PARENT", "started_by", "the process that started this process", (row) => row.startedBy, (row) => String(row.startedBy)),
    number("RANK", "rank", "the rank in the MPI program", (row) => row.rank, (row) => String(row.rank)),
    { ...text("HOST", "host", "the machine", (row) => printable(row.host)), wraps: true },
    time("TIME", "time_ns", "how long the process was observed, or how long the thread existed", (row) => row.time),
    time("ON-CORE", "on_core_ns", "the time on a core; for a process, of all threads", (row) => row.on),
    number("CORES", "cores", "ON-CORE over TIME: how many cores it kept busy on average", (row) => (row.on !== null && row.time ? row.on / row.time : null), (row) => (row.on / row.time).toFixed(2)),
    time("NOCORE", "no_core_ns", "the time in which the thread could run, and no core was free", (row) => row.runnable),
    time("BLOCKED", "blocked_ns", "the time in which the thread waited for a lock, a file, a timer or a message", (row) => row.blocked),
    number("RESIDENT", "peak_rss_bytes", "resident memory over the observed time, and its maximum since the start of the process", (row) => row.peak, (row) => `${drawResident(row.resident)} ${quantity(row.peak, "B")}`.trim()),
    { ...text("ENDED IN", "ended_in", "the innermost open regions when the process was killed", (row) => row.end), wraps: true },
  ];
}

const mostProcesses = 100;

export function showProcesses(profile) {
  const all = profile.processes || (profile.process ? [profile.process] : []);
  byId("processes-part").hidden = all.length === 0;
  if (all.length === 0) return;
  const shown = all.slice(0, mostProcesses);
  const root = makeProcessTree(shown);
  const columns = makeColumns().filter((column) => column.isText || shown.some((row) => hasValue(column, row)));
  const table = new Table(byId("processes"), {
    columns: columns.filter((column) => column.name !== "ENDED IN" || shown.some((row) => endText(row))),
    listLines: (node) => node.rows.map((row) => ({ node, row })),
    sort: "TIME",
    onSelect: (node) => table.select(node),
    onChange: () => undefined,
  });
  // Threads of many processes are folded at first.
  if (shown.length > 4) table.folded = new Set(root.children.filter((node) => node.children.length));
  table.show(root);
  const left = [];
  if (all.length > shown.length) left.push(`The table omits ${all.length - shown.length} processes; the JSON has them.`);
  if (!shown.some((row) => row.thread_list)) left.push("The time of single threads is unknown.");
  else left.push("The table has all threads, also those without markers. The system does not report which thread started which. A thread's time on a core counts from its start.");
  byId("processes-part").append(make("p", { class: "note" }, left.join(" ")));
}

function hasValue(column, process) {
  const nodes = makeProcessTree([process]).children;
  return nodes.concat(nodes.flatMap((node) => node.children)).some((node) => {
    const value = column.value({ node, row: node.rows[0] });
    return value !== null && value !== undefined;
  });
}

// From the first process to the last. Starts are known to the second, so a total up to a second above the longest time does not count.
function observedTime(processes) {
  const longest = processes.reduce((most, process) => Math.max(most, process.duration_ns), 0);
  if (processes.length < 2) return longest;
  const starts = processes.map((process) => Date.parse(process.started) * 1e6);
  const first = starts.reduce((least, start) => Math.min(least, start), Infinity);
  const whole = starts.reduce((most, start, at) => Math.max(most, start + processes[at].duration_ns), 0) - first;
  return whole > longest + 1e9 ? whole : longest;
}

// The part of a machine's processors that its processes kept busy while a process was observed. null: unknown.
export function busyShare(processes, host, cpus) {
  const here = processes.filter((process) => process.host === host);
  const observed = observedTime(here);
  if (!cpus || observed === 0 || here.some((process) => !("cpu_ns" in process) || !process.duration_ns)) return null;
  return Math.min(1, here.reduce((sum, process) => sum + process.cpu_ns, 0) / observed / cpus);
}
