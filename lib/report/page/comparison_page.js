// The HTML report of a comparison: one icicle of both sides. Only changes beyond chance have a colour.
import { Browser } from "./browser.js";
import { byId, fill, make, announce } from "./dom.js";
import { Icicle, makeLegend } from "./icicle.js";
import { joinPath, shortened } from "./names.js";
import { duration, shareTexts, signedPercent } from "./numbers.js";
import { showWarnings } from "./summary.js";
import { Table } from "./table.js";
import { findPath, isOperation, isTimeOfHost, listNodes, makeTree, pathText } from "./tree.js";

const verdicts = ["slower", "faster", "new", "gone", "unclear", "untested"];

// The time of a side per run; null: the side is absent, or has no times.
export function timeOfRun(side) {
  return side && side.total_ns !== null && side.runs > 0 ? side.total_ns / side.runs : null;
}

// The verdict that colours a node: the most important one of its rows on the shown device.
export function findVerdict(node, isOfLane) {
  return node.rows.filter(isOfLane).reduce((worst, row) => (verdicts.indexOf(row.verdict) < verdicts.indexOf(worst) ? row.verdict : worst), "untested");
}

// For each node, both times of a run with nested regions, and its width: the longer of the two.
export function weighSides(root, isOfLane) {
  const sides = new Map();
  const nodes = listNodes(root);
  for (let at = nodes.length; at-- > 0; ) {
    const node = nodes[at];
    const rows = node.rows.filter(isOfLane);
    const nested = node.children.map((child) => sides.get(child));
    const add = (choose) => rows.reduce((sum, row) => sum + (timeOfRun(choose(row)) || 0), 0);
    const before = Math.max(add((row) => row.before), nested.reduce((sum, side) => sum + side.before, 0));
    const after = Math.max(add((row) => row.after), nested.reduce((sum, side) => sum + side.after, 0));
    const width = Math.max(before, after, nested.reduce((sum, side) => sum + side.width, 0));
    sides.set(node, { before, after, width });
  }
  return sides;
}

function makeColumns(labels) {
  const time = (name, csvName, meaning, choose) => ({
    name,
    csvName,
    meaning,
    value: (line) => (line.row ? timeOfRun(choose(line.row)) : null),
    text: (line) => duration(line.row ? timeOfRun(choose(line.row)) : null),
  });
  const fraction = (name, csvName, meaning, choose) => ({
    name,
    csvName,
    meaning,
    value: (line) => (line.row ? choose(line.row) : null),
    text: (line) => (line.row && choose(line.row) !== null ? signedPercent(choose(line.row)) : "—"),
  });
  return [
    { name: "REGION", csvName: "path", meaning: "the region, below the regions around it", isText: true, value: (line) => line.node.label, csv: (line) => joinPath(findPath(line.node)), text: (line) => line.node.label },
    { name: "ON", csvName: "device", meaning: "the host, or the device that ran it", isText: true, value: (line) => (line.row ? labels[line.row.index] : ""), text: (line) => (line.row ? labels[line.row.index] : "") },
    time("BEFORE", "before_ns", "the time per run before the change", (row) => row.before),
    time("AFTER", "after_ns", "the time per run after the change", (row) => row.after),
    { name: "DIFFERENCE", csvName: "difference_ns", meaning: "AFTER minus BEFORE", value: (line) => (findDifference(line.row) === null ? null : Math.abs(findDifference(line.row))), csv: (line) => findDifference(line.row), text: (line) => differenceText(line.row) },
    fraction("CHANGE", "change_of_mean", "the change of the mean duration of an event", (row) => row.change_of_mean),
    { name: "INTERVAL", csvName: "interval", meaning: "the 95 % confidence interval of the change", isText: true, value: () => "", csv: (line) => (line.row && line.row.interval ? line.row.interval.join(" ") : ""), text: (line) => (line.row && line.row.interval ? line.row.interval.map(signedPercent).join(" … ") : "—") },
    { name: "P", csvName: "p", meaning: "the probability that chance alone causes such a change anywhere in the comparison", value: (line) => (line.row ? line.row.p : null), text: (line) => (line.row && line.row.p !== null ? (line.row.p < 0.001 ? "<0.001" : line.row.p.toFixed(3)) : "—") },
    { name: "VERDICT", csvName: "verdict", meaning: "slower or faster: the change is beyond chance; unclear: it may be chance; untested: too few events or runs", isText: true, value: (line) => (line.row ? line.row.verdict : ""), text: (line) => (line.row ? line.row.verdict : ""), look: (line) => (line.row ? `verdict-${line.row.verdict}` : null) },
  ];
}

// An absent row took no time; a row without times took an unknown time.
export function findDifference(row) {
  if (!row) return null;
  const [before, after] = [row.before, row.after].map((side) => (side ? timeOfRun(side) : 0));
  return before === null || after === null ? null : after - before;
}

function differenceText(row) {
  const difference = findDifference(row);
  if (difference === null) return "—";
  return `${difference > 0 ? "+" : difference < 0 ? "−" : ""}${duration(Math.abs(difference))}`;
}

// The changes beyond chance, as sentences.
function makeChanges(comparison, select, findNode) {
  const changed = comparison.regions.filter((row) => ["slower", "faster", "new", "gone"].includes(row.verdict));
  if (changed.length === 0) return [make("p", { class: "note", id: "no-change" }, "No region changed beyond chance.")];
  const most = 8;
  const putInWords = (row) => {
    const name = shortened(joinPath(row.path), 90);
    if (row.verdict === "new") return `${name} is new: ${duration(timeOfRun(row.after))} per run`;
    if (row.verdict === "gone") return `${name} is gone: it took ${duration(timeOfRun(row.before))} per run`;
    return `${name} is ${row.verdict}: ${signedPercent(row.change_of_mean || 0)} per event, from ${duration(timeOfRun(row.before))} to ${duration(timeOfRun(row.after))} per run`;
  };
  return [
    make("ol", { class: "findings" }, ...changed.slice(0, most).map((row) => make("li", { "data-kind": row.verdict }, make("button", { type: "button", class: "link", onclick: () => select(findNode(row)) }, putInWords(row)), make("span", { class: "evidence" }, row.p === null ? "" : `p ${row.p < 0.001 ? "< 0.001" : row.p.toFixed(3)}`)))),
    changed.length > most ? make("p", { class: "note" }, `The table has ${changed.length - most} more changes.`) : null,
  ];
}

export function show({ comparison, words }) {
  document.title = `${words.title}: adaptyst`;
  byId("title").textContent = words.title;
  byId("subject").textContent = words.subject;
  document.body.classList.add("comparison");
  showWarnings(words.warnings);

  const root = makeTree(comparison.regions);
  const nodes = listNodes(root);
  const lanes = [["host", isTimeOfHost]];
  for (const name of new Set(words.labels.filter((unused, at) => isOperation(comparison.regions[at]))))
    lanes.push([name, (row) => isOperation(row) && words.labels[row.index] === name]);
  byId("lane").append(...lanes.map(([name]) => make("option", { value: name }, name)));
  fill("measure", make("option", { value: "time" }, "time"));

  let sides = new Map();
  let isOfLane = lanes[0][1];
  const table = new Table(byId("table"), {
    columns: makeColumns(words.labels),
    listLines: (node) => (node.rows.length ? node.rows.map((row) => ({ node, row })) : [{ node, row: null }]),
    sort: "DIFFERENCE",
    onSelect: (node) => browser.select(node),
    onEnter: (node) => {
      browser.select(node);
      announce(describe(node));
    },
    onChange: () => browser.note(),
  });
  table.root = root;
  const describe = (node) => {
    const { before, after } = sides.get(node);
    const verdict = node.rows.some(isOfLane) ? `; ${findVerdict(node, isOfLane)}` : "";
    return `${shortened(pathText(node), 160)}: ${duration(before)} before, ${duration(after)} after${verdict}`;
  };
  const icicle = new Icicle(byId("icicle"), {
    hint: "Regions with a colour changed beyond chance. The two lines in a box are the time before and the time after.",
    describe,
    paint: (node) => ({ slower: "box-slower", faster: "box-faster", new: "box-new", gone: "box-gone" })[findVerdict(node, isOfLane)] || "box-same",
    mark: (node) => {
      const { before, after, width } = sides.get(node);
      return { before: before / width, after: after / width };
    },
    select: (node) => browser.select(node),
    zoom: (node) => browser.zoom(node),
  });
  const rebuild = () => {
    isOfLane = lanes[Math.max(0, byId("lane").selectedIndex)][1];
    sides = weighSides(root, isOfLane);
    const sum = (choose) => root.children.reduce((all, child) => all + choose(sides.get(child)), 0);
    icicle.show(root, (node) => sides.get(node).width, sum((side) => side.width));
    byId("total").textContent = `${duration(sum((side) => side.before))} before, ${duration(sum((side) => side.after))} after, per run`;
    byId("pointed").textContent = icicle.options.hint;
  };
  const browser = new Browser({
    root,
    icicle,
    table,
    makeId: (node) => node.key,
    opened: (node) => {
      byId("pointed").textContent = node && sides.has(node) ? describe(node) : icicle.options.hint;
    },
    sumText: (found) => `${found.size} found`,
    rebuild,
  });
  byId("lane").addEventListener("change", () => {
    rebuild();
    browser.zoom(null);
    browser.search();
  });
  const find = (row) => nodes.find((node) => node.rows.some((candidate) => candidate.index === comparison.regions.indexOf(row)));
  fill("findings", make("h2", {}, "Changes"), ...makeChanges(comparison, (node) => browser.select(node), find));
  const counts = verdicts.map((word) => [word, comparison.regions.filter((row) => row.verdict === word).length]).filter(([, count]) => count > 0);
  const shares = shareTexts(counts.map(([, count]) => count));
  fill("bars", make("h2", {}, "Verdicts"), make("dl", { class: "counts" }, ...counts.map(([word, count], at) => make("div", {}, make("dt", {}, word), make("dd", {}, `${count} of ${comparison.regions.length} (${shares[at]})`)))));
  fill("icicle-legend", makeLegend([["box-slower", "slower"], ["box-faster", "faster"], ["box-new", "new"], ["box-gone", "gone"], ["box-same", "no change beyond chance"]]));
  byId("ranks").hidden = true;
  fill("account", ...words.account.map((line) => make("p", {}, line)));
  browser.restore();
}
