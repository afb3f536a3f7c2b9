// The page of a profile.
import { Browser } from "./browser.js";
import { listLines, makeColumns } from "./columns.js";
import { hideDetails, showDetails, showFrame, watchDetails } from "./details.js";
import { byId, fill, make, say } from "./dom.js";
import { Icicle, makeLegend } from "./icicle.js";
import { showMachines } from "./machines.js";
import { printable, shortened } from "./names.js";
import { duration, percent, quantity } from "./numbers.js";
import { showProcesses } from "./processes.js";
import { showRanks } from "./ranks.js";
import { sumUp } from "./search.js";
import { frameWorth, makeStacked } from "./stacks.js";
import { hostParts, makeDeviceBars, makeFindings, makeRankBars, parts, showFacts, showWarnings } from "./summary.js";
import { Table } from "./table.js";
import { findLanes, findPath, isWait, listNodes, makeInverted, makeTree, measures, pathText, weigh } from "./tree.js";

function paint(node) {
  if (node.frame) return node.name.endsWith("_[k]") ? "box-kernel-frame" : "box-frame";
  const row = node.rows[0];
  if (row && isWait(row, node.name)) return "box-wait";
  if (node.kind === "kernel") return "box-kernel";
  if (["copy_to", "copy_from", "fill", "other"].includes(node.kind)) return "box-copy";
  return node.kind === "function" ? "box-function" : "box-region";
}

function describeAmount(amount, unit) {
  return unit === "ns" ? duration(amount) : quantity(amount, unit);
}

function describeFrames(shown) {
  const count = [...shown].filter((node) => node.frame).length;
  return count ? `; and ${count} frame${count === 1 ? "" : "s"}` : "";
}

export function show({ profile, words }) {
  document.title = `${words.title}: adaptyst`;
  byId("title").textContent = words.title;
  byId("subject").textContent = words.subject;
  showFacts([
    ["command", words.command],
    ["date", words.date],
    ["hosts", words.hosts],
    ["engine", words.engine],
    ["not seen", words.not_seen.join("; ")],
    ["MPI", words.efficiency.replace(/^MPI: /, "")],
    ...Object.entries(profile.metadata || {}).map(([name, value]) => [printable(name), printable(value)]),
  ]);
  showWarnings(words.warnings);

  const root = makeTree(profile.regions, words.places);
  const nodes = listNodes(root);
  // Where a finding points, the icicle has a mark.
  const odd = new Set((profile.findings || []).map((one) => one.region));
  for (const node of nodes) node.isOdd = node.rows.some((row) => odd.has(row.id));
  const lanes = findLanes(root, profile.regions, (profile.stacks || []).length > 0);
  const nameLane = (lane) => (lane === "host" ? "host" : words.devices[lane] || `device ${lane}`);
  byId("lane").append(...lanes.map((one) => make("option", { value: String(one.lane) }, nameLane(one.lane))));

  let worth = { inclusive: new Map(), exclusive: new Map(), total: 0 };
  let measure = measures.time;
  let shownRoot = root;
  let total = 0;
  const stacks = profile.stacks || [];
  // Nodes of the table are those of `root`, whatever tree the icicle has.
  const width = (node) => (worth.inclusive.has(node) ? worth.inclusive.get(node) : node.sum || 0);
  const describe = (node) => {
    const own = worth.exclusive.has(node) ? worth.exclusive.get(node) : node.own || 0;
    const share = total ? percent(width(node) / total) : "—";
    const name = measure.isInverted && !worth.inclusive.has(node) ? findPath(node).map(printable).join(" ‹ ") : pathText(node);
    const places = measure.isInverted && node.places > 1 ? `, in ${node.places} places, of which a click shows the largest` : "";
    return `${shortened(name, 160)}: ${describeAmount(width(node), measure.unit)}, ${share} of all; by itself ${describeAmount(own, measure.unit)}${places}`;
  };

  let opener = null; // whose row the focus goes back to
  const table = new Table(byId("table"), {
    columns: makeColumns(words.devices, words.wall_ns),
    listLines: (node) => listLines(node).map((line) => Object.assign(line, { path: findPath(node) })),
    sort: "TIME",
    onSelect: (node) => browser.select(node),
    onEnter: (node) => {
      browser.select(node);
      say(describe(node));
      opener = node;
      byId("details-title").focus();
    },
    onChange: () => browser.note(),
  });
  table.root = root;
  const icicle = new Icicle(byId("icicle"), {
    mostLevels: stacks.length ? 20 : 12,
    hint: nodes.length ? "Click: details. Double click: zoom. Keys: arrows, Enter, Backspace, / to search." : "",
    describe,
    paint,
    select: (node) => browser.select(node),
    zoom: (node) => browser.zoom(node),
  });
  const rebuild = () => {
    const chosen = lanes[Math.max(0, byId("lane").selectedIndex)];
    if (!chosen) {
      byId("total").textContent = profile.regions.length ? "Nothing to draw: all regions took 0 ns, or have not ended." : "Nothing to draw: no region has ended.";
      return;
    }
    const before = byId("measure").value;
    fill("measure", ...chosen.measures.map((name) => make("option", { value: name, title: measures[name].meaning }, measures[name].title)));
    byId("measure").selectedIndex = Math.max(0, chosen.measures.indexOf(before));
    const name = byId("measure").value;
    measure = measures[name];
    worth = weigh(root, chosen.lane, measure);
    const hasStacks = stacks.length > 0 && chosen.lane === "host" && name in frameWorth;
    byId("stacks-choice").hidden = !hasStacks;
    if (measure.isInverted) shownRoot = makeInverted(root, worth);
    else if (hasStacks && byId("stacks").checked) shownRoot = makeStacked(root, worth, stacks, frameWorth[name]);
    else shownRoot = root;
    total = shownRoot === root ? worth.total : shownRoot.children.reduce((sum, one) => sum + one.sum, 0);
    icicle.show(shownRoot, width, total);
    const outside = shownRoot.children.find((one) => one.frame);
    byId("total").textContent = `${describeAmount(outside ? total - outside.sum : total, measure.unit)} in all: ${measure.meaning}` +
      (outside ? `; and ${describeAmount(outside.sum, measure.unit)} of threads outside of all regions, as they were sampled` : "") +
      (shownRoot.levels < Infinity ? `; callers further out than ${shownRoot.levels} levels are not drawn` : "");
    icicle.setHovered(null);
    byId("pointed").textContent = icicle.options.hint;
  };
  const browser = new Browser({
    root,
    icicle,
    table,
    makeId: (node) => {
      // A region by its row, also where it stands in the tree with stacks.
      const isRegion = !node.original || node.key === node.original.key;
      return isRegion && node.rows[0] && node.rows[0].id ? node.rows[0].id : node.key;
    },
    opened: (node, shown) => {
      const hadFocus = byId("details").contains(document.activeElement);
      if (node && node.frame) showFrame(node, profile, { zoom: (one) => browser.zoom(one), select: (one) => browser.select(one), close: () => browser.select(null) });
      else if (node) showDetails(node, profile, words, { zoom: (one) => browser.zoom(one), close: () => browser.select(null), places: shown.places });
      else hideDetails();
      if (hadFocus && node) byId("details-title").focus();
      else if (hadFocus && opener) table.focusOn(opener);
      else if (hadFocus) byId("icicle").focus({ preventScroll: true });
      if (!node || !hadFocus) opener = null;
      icicle.draw();
    },
    sumText: (found, shown) => `${found.size} found, ${worth.total ? percent(sumUp(found, worth.inclusive) / worth.total) : "—"} of ${nameLane(lanes.length ? lanes[byId("lane").selectedIndex].lane : "host")}${describeFrames(shown)}`,
    rebuild,
  });
  const again = () => {
    rebuild();
    browser.search();
    browser.zoom(null);
    browser.select(browser.selected);
  };
  byId("lane").addEventListener("change", again);
  byId("measure").addEventListener("change", again);
  byId("stacks").addEventListener("change", again);
  watchDetails();

  const select = (finding) => {
    const node = browser.known.get(finding.region);
    if (node) browser.select(node);
  };
  fill("findings", make("h2", {}, "What to look at first"), ...makeFindings(profile, words, select));
  const hostWorth = weigh(root, "host", measures.time);
  const bars = makeDeviceBars(profile, words, hostParts(root, hostWorth, words.unmarked));
  const ranks = makeRankBars(profile, profile.regions);
  const used = new Set([...bars, ...ranks].flatMap((one) => [...one.querySelectorAll(".part")].map((piece) => piece.dataset.part)));
  fill(
    "bars",
    make("h2", {}, "Where the time went"),
    ...bars,
    ...ranks,
    makeLegend(parts.filter(([part]) => used.has(part)).map(([part, word]) => [part, word])),
  );
  const kinds = [["box-region", "region"], ["box-function", "function"], ["box-wait", "wait"], ["box-kernel", "kernel"], ["box-copy", "copy"], ["box-frame", "function in stacks"], ["box-kernel-frame", "of the operating system"]];
  const painted = new Set(nodes.map(paint));
  for (const { frames } of stacks) for (const frame of frames) painted.add(paint({ frame, name: frame.name }));
  fill("icicle-legend", makeLegend(kinds.filter(([name]) => painted.has(name))));
  byId("ranks").hidden = !showRanks(profile, nodes, (node) => browser.select(node));
  fill("account", make("h3", {}, "Account"), ...words.account.map((line) => make("p", {}, line)));
  fill("unmarked", words.unmarked.legend);
  showMachines(profile, words);
  showProcesses(profile);
  browser.restore();
}
