// How the ranks of an MPI program differ: a heat map of ranks and regions, and a table of those that differ most.
import { byId, colour, fill, make, onRedraw, prepare } from "./dom.js";
import { joinPath, printable, shortened } from "./names.js";
import { duration, percent } from "./numbers.js";
import { findPath } from "./tree.js";

const rowHeight = 18;
const mostRows = 24;

// Of a row of the map: how far each bin is from the median of all, as a fraction of it. null: it has none.
export function deviations(times) {
  const known = times.filter((one) => one !== null).sort((a, b) => a - b);
  if (known.length === 0) return times.map(() => null);
  const half = known.length >> 1;
  const median = known.length % 2 ? known[half] : (known[half - 1] + known[half]) / 2;
  return times.map((one) => (one === null ? null : median > 0 ? one / median - 1 : one > 0 ? 1 : 0));
}

// Bins that stand out in a row: longer than the median by more than a tenth, and by more than six times what most differ.
export function findStragglers(times) {
  const from = deviations(times);
  const sizes = from.filter((one) => one !== null).map(Math.abs).sort((a, b) => a - b);
  const usual = sizes.length ? sizes[sizes.length >> 1] : 0;
  return from.map((one) => one !== null && one > 0.1 && one > 6 * usual);
}

function mix(from, to, part) {
  const read = (text) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
  const [a, b] = [read(from), read(to)];
  return `rgb(${a.map((one, at) => Math.round(one + (b[at] - one) * part)).join(",")})`;
}

export function showRanks(profile, nodes, select) {
  const heat = profile.heat_map;
  if (!heat || heat.rows.length === 0) return false;
  const byRow = new Map();
  for (const node of nodes) for (const row of node.rows) byRow.set(`${row.id} ${row.device}`, node);
  const shown = heat.rows
    .map((row) => ({ row, node: byRow.get(`${row.region} ${row.device}`), from: deviations(row.mean_ns), odd: findStragglers(row.mean_ns) }))
    .filter((one) => one.node)
    .slice(0, mostRows);
  showHeat(heat, shown, select);
  showImbalances(profile, nodes, select);
  return true;
}

function rankText(heat, bin) {
  const first = bin * heat.ranks_per_bin;
  const last = Math.min(heat.ranks, first + heat.ranks_per_bin) - 1;
  return first === last ? `rank ${first}` : `ranks ${first}–${last}`;
}

// What has a frame in the map, in words.
export function nameFramed(heat, shown) {
  const most = 20;
  const all = shown.flatMap((one) => one.odd.flatMap((isOdd, bin) => (isOdd ? [`${shortened(one.node.label, 40)} of ${rankText(heat, bin)}`] : [])));
  if (all.length === 0) return "no rank stands out";
  return `much longer than the others: ${all.slice(0, most).join(", ")}${all.length > most ? ` and ${all.length - most} more` : ""}`;
}

function showHeat(heat, shown, select) {
  const canvas = make("canvas", { role: "img", "aria-label": `time by region and rank, compared with the median of ranks; ${nameFramed(heat, shown)}; the table below names the slowest and the fastest rank of each region` });
  const told = make("p", { class: "note", id: "heat-told" }, "Point at a cell. A frame marks a rank that takes much longer than the others.");
  const names = make(
    "div",
    { class: "heat-names" },
    ...shown.map((one) =>
      make("button", { type: "button", class: "link", title: shortened(joinPath(findPath(one.node)), 400), onclick: () => select(one.node) }, shortened(one.node.label, 60)),
    ),
  );
  fill("heat", make("div", { class: "heat" }, names, canvas), told);
  const bins = heat.rows[0].mean_ns.length;
  const draw = () => {
    const width = canvas.clientWidth || 600;
    const context = prepare(canvas, width, shown.length * rowHeight);
    const wide = width / bins;
    const [cold, usual, hot] = [colour("cold"), colour("usual"), colour("hot")];
    shown.forEach((one, at) => {
      one.from.forEach((deviation, bin) => {
        if (deviation === null) return;
        const part = Math.min(1, Math.abs(deviation) / 0.5);
        context.fillStyle = mix(usual, deviation > 0 ? hot : cold, part);
        context.fillRect(bin * wide, at * rowHeight, Math.max(0.6, wide - (wide > 6 ? 1 : 0)), rowHeight - 1);
        if (!one.odd[bin]) return;
        context.strokeStyle = colour("text");
        context.lineWidth = 1.5;
        context.strokeRect(bin * wide + 1, at * rowHeight + 1, Math.max(1, wide - 3), rowHeight - 3);
      });
    });
  };
  const cellAt = (event) => {
    const area = canvas.getBoundingClientRect();
    const at = Math.floor((event.clientY - area.top) / rowHeight);
    const bin = Math.floor(((event.clientX - area.left) / area.width) * bins);
    return shown[at] && bin >= 0 && bin < bins ? { one: shown[at], bin } : null;
  };
  canvas.addEventListener("mousemove", (event) => {
    const cell = cellAt(event);
    if (!cell) return;
    const { one, bin } = cell;
    const time = one.row.mean_ns[bin];
    told.textContent = `${rankText(heat, bin)}, ${shortened(one.node.label, 80)}: ${time === null ? "not run" : `${duration(time)}, ${one.from[bin] >= 0 ? "+" : "−"}${percent(Math.abs(one.from[bin]))} from the median`}`;
  });
  canvas.addEventListener("click", (event) => {
    const cell = cellAt(event);
    if (cell) select(cell.one.node);
  });
  onRedraw(draw);
  draw();
}

// The rows whose ranks wait longest for the slowest: what the others would have to spare.
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

function showImbalances(profile, nodes, select) {
  const place = (rank, host) => `${rank}${host ? ` on ${printable(host)}` : ""}`;
  const lines = imbalances(nodes).slice(0, 20);
  if (lines.length === 0) return;
  const headings = [
    ["REGION", "the region"],
    ["RANKS", "how many ranks have it"],
    ["IMBALANCE", "the longest time of a rank over the mean of all, less 1"],
    ["SLOWEST", "the rank that takes longest, and its host"],
    ["ITS TIME", "its time in the region"],
    ["MEAN", "of all ranks"],
    ["FASTEST", "the rank that takes least"],
    ["ITS TIME", "its time in the region"],
  ];
  const isText = [true, false, false, true, false, false, true, false];
  const cells = ({ node, row }) => {
    const { ranks, imbalance, total_ns: of } = row.across_ranks;
    return [
      make("button", { type: "button", class: "link", onclick: () => select(node) }, shortened(node.label, 80)),
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
      { id: "imbalances" },
      make("thead", {}, make("tr", {}, ...headings.map(([name, meaning], at) => make("th", { scope: "col", title: meaning, class: isText[at] ? "" : "number" }, name)))),
      make("tbody", {}, ...lines.map((one) => make("tr", {}, ...cells(one).map((cell, at) => make("td", { class: isText[at] ? "" : "number" }, cell))))),
    ),
  );
}
