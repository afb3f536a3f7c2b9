// The HTML report of a profile.
import { Browser } from "./browser.js";
import { listLines, makeColumns, makeUnmarkedLine } from "./columns.js";
import { hideDetails, showDetails, showFrame, watchDetails } from "./details.js";
import { byId, fill, make, announce } from "./dom.js";
import { Icicle, makeLegend } from "./icicle.js";
import { showMachines } from "./machines.js";
import { commonFolder, printable, shortened } from "./names.js";
import { duration, percent, quantity } from "./numbers.js";
import { showProcesses } from "./processes.js";
import { showRanks } from "./ranks.js";
import { sumUp } from "./search.js";
import { frameWorth, makeStacked } from "./stacks.js";
import { chooseBar, hostParts, makeDeviceBars, makeFindings, makeRankBars, parts, showFacts, showWarnings } from "./summary.js";
import { Table } from "./table.js";
import { findLanes, findPath, isOperation, isWait, listNodes, listSpaceRows, makeInverted, makeTree, measures, pathText, weigh } from "./tree.js";

// `inLane`: as an operation of a device, also if the host has a region of this name.
function paint(node, inLane = false) {
  if (node.frame) return node.name.endsWith("_[k]") ? "box-kernel-frame" : "box-frame";
  const row = node.rows[0];
  const kind = inLane ? node.rows.find(isOperation).kind : node.kind;
  if (!inLane && row && isWait(row, node.name)) return "box-wait";
  if (kind === "kernel") return "box-kernel";
  if (["copy_to", "copy_from", "fill", "other"].includes(kind)) return "box-copy";
  return kind === "function" ? "box-function" : "box-region";
}

// More lanes of devices make the icicle too high; each device can be chosen by itself.
const mostLanes = 8;

// The host and the devices with most operations, below each other.
function addStackedLanes(lanes) {
  if (lanes.length < 2 || lanes[0].lane !== "host") return lanes;
  const has = (name) => lanes.some((lane) => lane.measures.includes(name));
  return [{ lane: "all", measures: Object.keys(measures).filter(has) }, ...lanes];
}

function describeAmount(amount, unit) {
  return unit === "ns" ? duration(amount) : quantity(amount, unit);
}

function describeFrames(shown) {
  const count = [...shown].filter((node) => node.frame).length;
  return count ? `; and ${count} frame${count === 1 ? "" : "s"}` : "";
}

function listPairs(pairs, describePair) {
  return Object.entries(pairs || {}).map(([name, text]) => printable(describePair(name, text))).join("; ");
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
    ["adapters", listPairs(profile.adapters, (name, use) => `${name} (${use})`)],
    ["no adapter for", listPairs(profile.skipped_adapters, (name, why) => `${name}: ${why}`)],
    ["not recorded", words.not_recorded.join("; ")],
    ["memory", words.memory.join(" ").replace(/^memory: /, "")],
    ["MPI", words.efficiency.replace(/^MPI: /, "")],
    ...Object.entries(profile.metadata || {}).map(([name, value]) => [printable(name), printable(value)]),
  ]);
  showWarnings(words.warnings);

  const root = makeTree(profile.regions, words.places, listSpaceRows(profile.regions, profile.memory_spaces || []));
  const nodes = listNodes(root);
  // Regions with a finding have a mark in the icicle.
  const odd = new Set((profile.findings || []).map((finding) => finding.region));
  for (const node of nodes) node.isOdd = node.rows.some((row) => odd.has(row.id));
  const lanes = addStackedLanes(findLanes(root, profile.regions, (profile.stacks || []).length > 0));
  const nameLane = (lane) => (lane === "all" ? "host and devices" : lane === "host" ? "host" : words.devices[lane] || `device ${lane}`);
  const folder = commonFolder(profile.regions.map((row) => (row.site && row.site.file) || ""));
  byId("lane").append(...lanes.map((lane) => make("option", { value: String(lane.lane) }, nameLane(lane.lane))));

  let worth = { inclusive: new Map(), exclusive: new Map(), total: 0 };
  let measure = measures.time;
  let shownRoot = root;
  let total = 0;
  let deviceLanes = []; // of the icicle, below the host
  const stacks = profile.stacks || [];
  // The table has the nodes of `root`, also if the icicle has another tree.
  const width = (node) => (worth.inclusive.has(node) ? worth.inclusive.get(node) : node.sum || 0);
  const describe = (node) => {
    if (node.note) return node.note;
    const on = worth.inclusive.get(node) ? [] : deviceLanes.filter((lane) => lane.worth.get(node) > 0);
    if (on.length) return `${shortened(pathText(node), 160)}: ${on.map((lane) => `${describeAmount(lane.worth.get(node), measure.unit)} on ${lane.label}`).join(", ")}, asynchronously`;
    const own = worth.exclusive.has(node) ? worth.exclusive.get(node) : node.own || 0;
    const share = total ? percent(width(node) / total) : "—";
    const name = measure.isInverted && !worth.inclusive.has(node) ? findPath(node).map(printable).join(" ‹ ") : pathText(node);
    const places = measure.isInverted && node.places > 1 ? `, in ${node.places} places, of which a click shows the largest` : "";
    return `${shortened(name, 160)}: ${describeAmount(width(node), measure.unit)}, ${share} of all; self ${describeAmount(own, measure.unit)}${places}`;
  };

  let opener = null; // a region of the table, or a button: the focus goes back to it
  const focusOn = (place) => (place instanceof Element ? place.focus() : table.focusOn(place));
  const table = new Table(byId("table"), {
    columns: makeColumns(words.devices, words.wall_ns, profile.regions.some((row) => row.count >= 1e7)),
    listLines: (node) => listLines(node).map((line) => Object.assign(line, { path: findPath(node) })),
    sort: "TIME",
    onSelect: (node) => browser.select(node),
    onEnter: (node) => {
      browser.select(node);
      announce(describe(node));
      opener = node;
      byId("details-title").focus();
    },
    onChange: () => browser.note(),
  });
  table.root = root;
  const unmarked = makeUnmarkedLine(words.unmarked, words.wall_ns, words.devices);
  if (profile.regions.length) table.last = unmarked;
  const icicle = new Icicle(byId("icicle"), {
    mostLevels: stacks.length ? 20 : 12,
    hint: nodes.length ? "Click: details. Double click: zoom. Keys: arrows, Enter, Backspace, / to search." : "",
    describe,
    paint,
    select: (node) => browser.select(node),
    zoom: (node) => browser.zoom(node),
  });
  // The lanes of the devices with most operations, in the order of the devices.
  const makeDeviceLanes = () => {
    const made = lanes.filter(({ lane }) => lane !== "all" && lane !== "host").map(({ lane }) => {
      const { exclusive, total: sum } = weigh(root, lane, measure);
      return { label: nameLane(lane), sum, describe: (amount) => describeAmount(amount, measure.unit), worth: new Map([...exclusive].filter(([, value]) => value > 0)) };
    });
    const shown = new Set(made.filter((lane) => lane.sum > 0).sort((a, b) => b.sum - a.sum).slice(0, mostLanes));
    return made.filter((lane) => shown.has(lane));
  };
  const describeTotal = (isHost) => {
    const outside = shownRoot.children.find((child) => child.frame);
    const devices = lanes.filter(({ lane }) => lane !== "all" && lane !== "host").length;
    return `${describeAmount(outside ? total - outside.sum : total, measure.unit)}${isHost && devices ? " on the host" : ""}: ${measure.meaning}` +
      (deviceLanes.length ? `. Devices work asynchronously: each has a lane of the same scale${deviceLanes.length < devices ? `, for ${deviceLanes.length} of ${devices} devices` : ""}` : "") +
      (outside ? `. Threads outside of all regions: ${describeAmount(outside.sum, measure.unit)}, sampled` : "") +
      (shownRoot.levels < Infinity ? `. Callers beyond ${shownRoot.levels} levels are omitted` : "");
  };
  // The lane in which the search counts: with several lanes, the host.
  const worthLane = () => {
    const chosen = lanes[byId("lane").selectedIndex];
    return chosen && chosen.lane !== "all" ? chosen.lane : "host";
  };
  const rebuild = () => {
    const chosen = lanes[Math.max(0, byId("lane").selectedIndex)];
    if (!chosen) {
      byId("total").textContent = profile.regions.length ? "Nothing to draw: no region has ended with a time above 0 ns." : "Nothing to draw: no region has ended.";
      return;
    }
    const before = byId("measure").value;
    fill("measure", ...chosen.measures.map((name) => make("option", { value: name, title: measures[name].meaning }, measures[name].title)));
    byId("measure").selectedIndex = Math.max(0, chosen.measures.indexOf(before));
    const name = byId("measure").value;
    measure = measures[name];
    const isHost = chosen.lane === "all" || chosen.lane === "host";
    worth = weigh(root, isHost ? "host" : chosen.lane, measure);
    deviceLanes = chosen.lane === "all" && !measure.isInverted ? makeDeviceLanes() : [];
    const hasStacks = stacks.length > 0 && isHost && name in frameWorth;
    byId("stacks-choice").hidden = !hasStacks;
    if (measure.isInverted) shownRoot = makeInverted(root, worth);
    else if (hasStacks && byId("stacks").checked) shownRoot = makeStacked(root, worth, stacks, frameWorth[name]);
    else shownRoot = root;
    total = shownRoot === root ? worth.total : shownRoot.children.reduce((sum, child) => sum + child.sum, 0);
    icicle.show(shownRoot, width, total, deviceLanes);
    byId("total").textContent = describeTotal(isHost);
    icicle.setHovered(null);
    byId("pointed").textContent = icicle.options.hint;
  };
  const browser = new Browser({
    root,
    icicle,
    table,
    makeId: (node) => {
      // Finds a region by its row, also in the tree with stacks.
      const isRegion = !node.original || node.key === node.original.key;
      return isRegion && node.rows[0] && node.rows[0].id ? node.rows[0].id : node.key;
    },
    opened: (node, shown) => {
      const hadFocus = byId("details").contains(document.activeElement);
      if (node && node.frame) showFrame(node, profile, { zoom: (target) => browser.zoom(target), select: (target) => browser.select(target), close: () => browser.select(null) });
      else if (node) showDetails(node, profile, words, { zoom: (target) => browser.zoom(target), close: () => browser.select(null), places: shown.places, folder });
      else hideDetails();
      if (hadFocus && node) byId("details-title").focus();
      else if (hadFocus && opener) focusOn(opener);
      else if (hadFocus) byId("icicle").focus({ preventScroll: true });
      if (!node || !hadFocus) opener = null;
      icicle.draw();
    },
    sumText: (found, shown) => `${found.size} found, ${worth.total ? percent(sumUp(found, worth.inclusive) / worth.total) : "—"} of ${nameLane(worthLane())}${describeFrames(shown)}`,
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

  browser.nodesById.set(unmarked.node.key, unmarked.node);
  // The device of a finding in the icicle, its bar, and its region.
  const goTo = (finding, button) => {
    const device = String(finding.device);
    const lane = finding.device > 0 ? device : String(lanes[0].lane);
    if (lane !== byId("lane").value && lanes.some((candidate) => String(candidate.lane) === lane)) {
      byId("lane").value = lane;
      again();
    }
    const bar = chooseBar(finding);
    const node = browser.nodesById.get(finding.region);
    if (node) browser.select(node);
    else if (browser.selected) browser.select(null);
    if (node) announce(describe(node));
    if (node && button) {
      opener = button;
      byId("details-title").focus();
    } else if (!node && bar) bar.focus();
  };
  fill("findings", make("h2", {}, "Findings"), ...makeFindings(profile, words, goTo));
  const bars = makeDeviceBars(profile, words, hostParts(nodes, words.unmarked));
  const ranks = makeRankBars(profile, profile.regions);
  const used = new Set([...bars, ...ranks].flatMap((element) => [...element.querySelectorAll(".part")].map((piece) => piece.dataset.part)));
  fill(
    "bars",
    make("h2", {}, "Time by part"),
    ...bars,
    ...ranks,
    makeLegend(parts.filter(([part]) => used.has(part)).map(([part, word, meaning]) => [part, word, meaning])),
  );
  if (nodes.some((node) => node.isOdd) || byId("bars").querySelector(".odd")) byId("bars").querySelector(".legend").append(make("li", { class: "odd" }, "finding"));
  const kinds = [["box-region", "region"], ["box-function", "function"], ["box-wait", "wait"], ["box-kernel", "kernel"], ["box-copy", "copy"], ["box-frame", "sampled function"], ["box-kernel-frame", "function of the operating system"]];
  const painted = new Set(nodes.map((node) => paint(node)));
  for (const { frames } of stacks) for (const frame of frames) painted.add(paint({ frame, name: frame.name }));
  fill("icicle-legend", makeLegend(kinds.filter(([name]) => painted.has(name))));
  showRanks(profile, nodes, (node) => browser.select(node), words.devices);
  fill("account", make("h3", {}, "Account"), ...words.account.map((line) => make("p", {}, line)));
  fill("unmarked", words.unmarked.legend);
  showMachines(profile, words);
  showProcesses(profile);
  browser.restore();
}
