// The differences between the ranks of an MPI program: a heat map of ranks and regions, and a table of the largest.
import { byId, colour, fill, font, make, onRedraw, prepare } from "./dom.js";
import { joinPath, printable, shortened } from "./names.js";
import { duration, percent } from "./numbers.js";
import { findPath, isOperation } from "./tree.js";

const rowHeight = 18;
const axisHeight = 16;
const mostRows = 24;

// The distance of each bin of a row from the median of all, as a fraction of the median. null: the bin has no time.
export function deviations(times) {
  const present = times.filter((time) => time !== null).sort((a, b) => a - b);
  if (present.length === 0) return times.map(() => null);
  const half = present.length >> 1;
  const median = present.length % 2 ? present[half] : (present[half - 1] + present[half]) / 2;
  return times.map((time) => (time === null ? null : median > 0 ? time / median - 1 : time > 0 ? 1 : 0));
}

// Outliers of a row: longer than the median by more than a tenth, and by more than six times the median distance.
export function findStragglers(times) {
  const from = deviations(times);
  const sizes = from.filter((deviation) => deviation !== null).map(Math.abs).sort((a, b) => a - b);
  const usual = sizes.length ? sizes[sizes.length >> 1] : 0;
  return from.map((deviation) => deviation !== null && deviation > 0.1 && deviation > 6 * usual);
}

function mix(from, to, part) {
  const read = (text) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
  const [a, b] = [read(from), read(to)];
  return `rgb(${a.map((channel, at) => Math.round(channel + (b[at] - channel) * part)).join(",")})`;
}

// `labels`: names of the devices, for operations on several devices.
export function showRanks(profile, nodes, select, labels) {
  const heat = profile.heat_map;
  byId("ranks").hidden = !heat || heat.rows.length === 0;
  if (byId("ranks").hidden) return;
  const nameRow = (node, row) => (isOperation(row) ? `${node.label} on ${labels[row.device] || "?"}` : node.label);
  const byRow = new Map();
  for (const node of nodes) for (const row of node.rows) byRow.set(`${row.id} ${row.device}`, { node, label: nameRow(node, row) });
  const shown = heat.rows
    .map((row) => ({ row, ...byRow.get(`${row.region} ${row.device}`), from: deviations(row.mean_ns), odd: findStragglers(row.mean_ns) }))
    .filter((line) => line.node)
    .slice(0, mostRows);
  showHeat(heat, shown, select);
  showImbalances(nodes, select, nameRow);
}

const heatHint = "The axis has the ranks. Orange: longer than the median of the ranks; blue: shorter; a frame: much longer. Point at a cell for its time.";

function rankText(heat, bin) {
  const first = bin * heat.ranks_per_bin;
  const last = Math.min(heat.ranks, first + heat.ranks_per_bin) - 1;
  return first === last ? `rank ${first}` : `ranks ${first}–${last}`;
}

// The framed cells of the map, in words.
export function nameFramed(heat, shown) {
  const most = 20;
  const all = shown.flatMap((line) => line.odd.flatMap((isOdd, bin) => (isOdd ? [`${shortened(line.label, 40)} of ${rankText(heat, bin)}`] : [])));
  if (all.length === 0) return "no rank takes much longer than the others";
  return `much longer than the others: ${all.slice(0, most).join(", ")}${all.length > most ? ` and ${all.length - most} more` : ""}`;
}

// The axis below the map: the number of each rank, or of some of them.
function drawRanks(context, heat, bins, width, top) {
  const wide = width / bins;
  const digits = String(heat.ranks - 1).length;
  const steps = [1, 2, 5].flatMap((factor) => [0, 1, 2, 3, 4, 5].map((power) => factor * 10 ** power)).sort((a, b) => a - b);
  const step = steps.find((candidate) => candidate * wide >= 7 * digits + 10) || bins;
  const drawn = [];
  context.font = font(11);
  context.fillStyle = colour("muted");
  context.textBaseline = "middle";
  for (let bin = 0; bin < bins; bin += step) {
    const text = String(bin * heat.ranks_per_bin);
    context.fillText(text, Math.min(width - 7 * digits, bin * wide + Math.max(0, (wide - 7 * text.length) / 2)), top + axisHeight / 2);
    drawn.push(text);
  }
  return drawn;
}

function showHeat(heat, shown, select) {
  const canvas = make("canvas", { role: "img", "aria-label": `time by region and rank, compared with the median of ranks; ${nameFramed(heat, shown)}; the table below names the slowest and the fastest rank of each region` });
  const description = make("p", { class: "note", id: "heat-text" }, heatHint);
  const names = make(
    "div",
    { class: "heat-names" },
    ...shown.map((line) =>
      make("button", { type: "button", class: "link", title: shortened(joinPath(findPath(line.node)), 400), onclick: () => select(line.node) }, shortened(line.label, 60)),
    ),
  );
  fill("heat", make("div", { class: "heat" }, names, canvas), description);
  const bins = heat.rows[0].mean_ns.length;
  const draw = () => {
    const width = canvas.clientWidth || 600;
    const context = prepare(canvas, width, shown.length * rowHeight + axisHeight);
    const wide = width / bins;
    const [cold, usual, hot] = [colour("cold"), colour("usual"), colour("hot")];
    shown.forEach((line, at) => {
      line.from.forEach((deviation, bin) => {
        if (deviation === null) return;
        const part = Math.min(1, Math.abs(deviation) / 0.5);
        context.fillStyle = mix(usual, deviation > 0 ? hot : cold, part);
        context.fillRect(bin * wide, at * rowHeight, Math.max(0.6, wide - (wide > 6 ? 1 : 0)), rowHeight - 1);
        if (!line.odd[bin]) return;
        context.strokeStyle = colour("text");
        context.lineWidth = 1.5;
        context.strokeRect(bin * wide + 1, at * rowHeight + 1, Math.max(1, wide - 3), rowHeight - 3);
      });
    });
    canvas.dataset.ticks = drawRanks(context, heat, bins, width, shown.length * rowHeight).join(" ");
  };
  const cellAt = (event) => {
    const area = canvas.getBoundingClientRect();
    const at = Math.floor((event.clientY - area.top) / rowHeight);
    const bin = Math.floor(((event.clientX - area.left) / area.width) * bins);
    return shown[at] && bin >= 0 && bin < bins ? { line: shown[at], bin } : null;
  };
  canvas.addEventListener("mousemove", (event) => {
    const cell = cellAt(event);
    if (!cell) return;
    const { line, bin } = cell;
    const time = line.row.mean_ns[bin];
    description.textContent = `${rankText(heat, bin)}, ${shortened(line.label, 80)}: ${time === null ? "the rank did not run it" : `${duration(time)}, ${line.from[bin] >= 0 ? "+" : "−"}${percent(Math.abs(line.from[bin]))} from the median`}`;
  });
  canvas.addEventListener("click", (event) => {
    const cell = cellAt(event);
    if (cell) select(cell.line.node);
  });
  onRedraw(draw);
  draw();
}

// The rows with the longest waits for the slowest rank.
export function imbalances(nodes) {
  const made = [];
  for (const node of nodes)
    for (const row of node.rows) {
      const spread = row.across_ranks;
      if (!spread || spread.ranks < 2 || spread.total_ns.mean === null || spread.imbalance === null) continue;
      made.push({ node, row, lost: (spread.total_ns.max - spread.total_ns.mean) * spread.ranks });
    }
  return made.sort((a, b) => b.lost - a.lost);
}

function showImbalances(nodes, select, nameRow) {
  const place = (rank, host) => `${rank}${host ? ` on ${printable(host)}` : ""}`;
  const lines = imbalances(nodes).slice(0, 20);
  if (lines.length === 0) return;
  const headings = [
    ["REGION", "the region"],
    ["RANKS", "the number of ranks that ran the region"],
    ["IMBALANCE", "the longest time of a rank over the mean of all ranks, minus 1"],
    ["SLOWEST", "the rank with the longest time, and its host"],
    ["TIME", "the time of the slowest rank in the region"],
    ["MEAN", "the mean time of all ranks in the region"],
    ["FASTEST", "the rank with the shortest time, and its host"],
    ["TIME", "the time of the fastest rank in the region"],
  ];
  const isText = [true, false, false, true, false, false, true, false];
  const cells = ({ node, row }) => {
    const { ranks, imbalance, total_ns: of } = row.across_ranks;
    return [
      make("button", { type: "button", class: "link", onclick: () => select(node) }, shortened(nameRow(node, row), 80)),
      String(ranks),
      percent(imbalance),
      place(of.max_rank, of.max_host),
      duration(of.max),
      duration(of.mean),
      place(of.min_rank, of.min_host),
      duration(of.min),
    ];
  };
  byId("heat").append(
    make(
      "table",
      { id: "imbalances", "aria-label": "regions with the largest imbalance between ranks" },
      make("thead", {}, make("tr", {}, ...headings.map(([name, meaning], at) => make("th", { scope: "col", title: meaning, class: isText[at] ? "" : "number" }, name)))),
      make("tbody", {}, ...lines.map((line) => make("tr", {}, ...cells(line).map((cell, at) => make("td", { class: at === 0 ? "region" : isText[at] ? "wraps" : "number" }, cell))))),
    ),
  );
}
