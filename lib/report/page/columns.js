// The columns of the table of regions: those of the terminal's report, with the same names and the same figures.
import { joinPath } from "./names.js";
import { duration, fixed, formatNumber, grouped, percent, shareTexts } from "./numbers.js";

const isTimed = (row) => row !== null && row.total_ns !== null && row.count > 0;

function countText(row, hasRoundedCounts) {
  const text = hasRoundedCounts ? formatNumber(row.count) : grouped(row.count);
  return "sampled" in row ? `~${text}` : text;
}

// Asynchronous operations of a device have a mark.
function placeText(row, labels) {
  const isOperation = ["kernel", "copy_to", "copy_from", "fill", "other"].includes(row.kind);
  return (isOperation ? "~ " : "") + (labels[row.device] || "?");
}

function shareText(fraction) {
  return fraction > 9.9995 && fraction < 99.995 ? `${fixed(100 * fraction, 0)}%` : percent(fraction);
}

function part(row, choose) {
  const context = row && row.context;
  if (!context || context.on_cpu_ns === null || !context.wall_ns) return null;
  return choose(context) / context.wall_ns;
}

const sumBlocked = (context) => context.sleep_ns + context.lock_ns + context.io_ns + context.other_ns;

// The mark of estimates from sampled switches.
export const switchMark = (context) => ("voluntary_switches_error" in context ? "~" : "");

// The parts of a row's time, as the table and the details show them; null: not known.
export function contextTexts(row) {
  if (part(row, (context) => context.on_cpu_ns) === null) return null;
  const { context } = row;
  const [running, noCore, blocked] = shareTexts([context.on_cpu_ns, context.runnable_ns, sumBlocked(context)], 0);
  const mark = switchMark(context);
  return { running: mark + running, no_core: mark + noCore, blocked: mark + blocked };
}

// A line is a node with one of its rows; null: the region has not ended.
export function listLines(node) {
  return node.rows.length ? node.rows.map((row) => ({ node, row })) : [{ node, row: null }];
}

// `hasRoundedCounts`: one of the rows has too many calls for all their digits.
export function makeColumns(labels, wallNs, hasRoundedCounts) {
  const timed = (name, csvName, meaning, value, text) => ({
    name,
    csvName,
    meaning,
    value: (line) => (isTimed(line.row) ? value(line.row) : null),
    text: (line) => (isTimed(line.row) ? (text || ((row) => duration(value(row))))(line.row) : "—"),
  });
  const ofContext = (name, csvName, meaning, choose) => ({
    name,
    csvName,
    meaning,
    value: (line) => part(line.row, choose),
    text: (line) => (contextTexts(line.row) || { [csvName]: "—" })[csvName],
  });
  return [
    {
      name: "REGION",
      csvName: "path",
      meaning: "the region, below those that it is nested in",
      isText: true,
      value: (line) => line.node.label,
      csv: (line) => joinPath(line.path),
      text: (line) => (line.row === null || (line.row.count === 0 && Object.keys(line.row.attributes).length === 0) ? `${line.node.label} (open)` : line.node.label),
    },
    {
      name: "ON",
      csvName: "device",
      meaning: "the device that did it: host, or the name of another one; ~: while the host went on",
      isText: true,
      value: (line) => (line.row ? labels[line.row.device] || "?" : ""),
      text: (line) => (line.row ? placeText(line.row, labels) : ""),
    },
    {
      name: "THR",
      csvName: "threads",
      meaning: "how many threads ran it",
      value: (line) => (line.row && line.row.threads ? line.row.threads : null),
      text: (line) => (line.row && line.row.threads ? grouped(line.row.threads) : "—"),
    },
    {
      name: "CALLS",
      csvName: "count",
      meaning: "how often it ended; with ~ an estimate, since a budget has left events out",
      value: (line) => (line.row && line.row.count ? line.row.count : null),
      text: (line) => (line.row && line.row.count ? countText(line.row, hasRoundedCounts) : "—"),
    },
    timed("TIME", "total_ns", "how long it lasted in all, over all threads", (row) => row.total_ns),
    timed("SELF", "self_ns", "of that, without the regions that are nested in it", (row) => row.self_ns),
    timed("%RUN", "share", "TIME over the duration of the run; of several threads together it may be above 100 %",
      (row) => (wallNs > 0 ? row.total_ns / wallNs : null),
      (row) => (wallNs > 0 ? shareText(row.total_ns / wallNs) : "—")),
    timed("MEAN", "mean_ns", "TIME over CALLS", (row) => row.total_ns / row.count),
    timed("P99", "p99_ns", "99 of 100 calls take no longer, to within 3 %", (row) => row.p99_ns),
    ofContext("RUN", "running", "the part of TIME on a core", (context) => context.on_cpu_ns),
    ofContext("NOCORE", "no_core", "the part of TIME in which it could have run, and had no core", (context) => context.runnable_ns),
    ofContext("BLOCK", "blocked", "the part of TIME in which it waited for something else: a lock, a file, a message", sumBlocked),
  ];
}

// The last row: the run's time outside all regions, from `words`. Cells by the names of the columns in CSV.
export function makeUnmarkedLine(unmarked, wallNs, labels) {
  const isKnown = unmarked.state === "known";
  const time = isKnown ? `${unmarked.is_estimate ? "~" : ""}${duration(unmarked.ns)}` : "—";
  const node = { name: "(unmarked)", label: "(unmarked)", key: "unmarked", depth: 0, children: [], rows: [], note: unmarked.legend, parent: null };
  const cells = { path: node.label, device: labels[0] || "host", total_ns: time, self_ns: time };
  if (isKnown && wallNs > 0) cells.share = percent(unmarked.ns / wallNs);
  return { node, row: null, cells };
}
