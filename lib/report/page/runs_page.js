// The HTML report of a comparison of runs: a dot for each run, with its interval, for each device and kernel.
import { byId, colour, fill, make, onRedraw, prepare } from "./dom.js";
import { distinct, printable, shortened } from "./names.js";
import { duration, fixed, formatNumber, grouped, percent } from "./numbers.js";
import { showWarnings } from "./summary.js";

const runPaints = ["box-kernel", "box-copy", "box-wait", "compute", "launch", "blocked", "nocore"];
const dotsHeight = 26;
const mostRows = 200;
const normal95 = 1.96;

// The dots of a device: z is the logarithm of the ratio in standard errors, so it has the length of the interval.
export function listGroupDots(group) {
  return group.runs.map(({ run, difference: { ratio, z } }) => {
    const error = z ? Math.abs(Math.log(ratio) / z) : null;
    return { run, ratio, low: error === null ? null : ratio * Math.exp(-normal95 * error), high: error === null ? null : ratio * Math.exp(normal95 * error) };
  });
}

// The place of a ratio on a logarithmic axis, from 0 to 1, with 1 × in the middle.
export function makeRatioAxis(dots) {
  const far = dots.reduce((most, dot) => Math.max(most, ...[dot.ratio, dot.low, dot.high].filter((ratio) => ratio > 0).map((ratio) => Math.abs(Math.log(ratio)))), Math.log(1.01));
  return Object.assign((ratio) => 0.5 + Math.log(ratio) / far / 2, { low: Math.exp(-far), high: Math.exp(far) });
}

const paintOf = (run) => runPaints[run % runPaints.length];
const times = (ratio) => `${fixed(ratio, 2)} ×`;
const number = (text) => make("td", { class: "number" }, text);
const nameCell = (shown, whole) => make("td", { class: "region whole", title: shortened(whole, 400) }, shown);

const hasInterval = ({ low }) => typeof low === "number"; // absent in the JSON: too few spans

export function describeDots(dots) {
  return dots.map((dot) => `run ${dot.run + 1}: ${times(dot.ratio)}${hasInterval(dot) ? ` (${fixed(dot.low, 2)} to ${fixed(dot.high, 2)})` : ""}`).join(", ");
}

function drawDots(canvas, dots, axis) {
  const width = canvas.clientWidth || 300;
  const context = prepare(canvas, width, dotsHeight);
  const x = (ratio) => 5 + axis(ratio) * (width - 10);
  context.fillStyle = colour("line");
  context.fillRect(x(1), 0, 1, dotsHeight);
  dots.forEach((dot, at) => {
    const y = ((at + 0.5) * dotsHeight) / dots.length;
    context.fillStyle = colour(paintOf(dot.run));
    if (hasInterval(dot)) context.fillRect(x(dot.low), y - 0.5, Math.max(1, x(dot.high) - x(dot.low)), 1);
    context.beginPath();
    context.arc(x(dot.ratio), y, 3, 0, 2 * Math.PI);
    context.fill();
  });
}

// A table with dots in its last column, on one axis. rows: { cells, dots }. Returns a function that draws them.
function fillDots(id, headings, rows) {
  const axis = makeRatioAxis(rows.flatMap((row) => row.dots));
  const canvases = rows.map((row) => make("canvas", { role: "img", "aria-label": describeDots(row.dots), title: describeDots(row.dots) }));
  const ends = make("span", { class: "ends" }, ...[axis.low, 1, axis.high].map((ratio) => make("small", {}, times(ratio))));
  fill(id, make("thead", {}, make("tr", {}, ...headings.map((text, at) => make("th", { class: at > 0 && at + 1 < headings.length ? "number" : "" }, text, at + 1 === headings.length && rows.length ? ends : null)))),
    make("tbody", {}, ...rows.map((row, at) => make("tr", {}, ...row.cells, make("td", { class: "box" }, canvases[at])))));
  return () => canvases.forEach((canvas, at) => drawDots(canvas, rows[at].dots, axis));
}

function fillRuns(runs) {
  const headings = ["RUN", "COUNT", "TIME", "FLAGGED", "AGAINST OTHERS"];
  const names = distinct(runs.map((run) => printable(run.trace)), 60);
  const swatch = (at) => {
    const made = make("span", { class: "swatch" });
    made.style.background = `var(--${paintOf(at)})`;
    return made;
  };
  const row = (run, at) => make("tr", {}, make("td", { class: "region whole", title: shortened(printable(run.trace), 400) }, swatch(at), `${run.slow ? "! " : ""}${at + 1}: ${names[at]}`), number(grouped(run.n)), number(duration(run.total)), number(`${grouped(run.flagged)} of ${grouped(run.windows)}`), number(run.difference ? times(run.difference.ratio) : "—"));
  fill("runs", make("thead", {}, make("tr", {}, ...headings.map((text, at) => make("th", { class: at ? "number" : "" }, text)))), make("tbody", {}, ...runs.map(row)));
}

export function showRuns({ comparison, words }) {
  const { runs, groups, kernels, findings } = comparison;
  document.title = `${words.title}: adaptyst`;
  byId("title").textContent = words.title;
  byId("subject").textContent = words.subject;
  showWarnings(words.warnings);
  for (const id of ["icicle-part", "table-part", "ranks", "measuring", "bars"]) byId(id).hidden = true;
  document.querySelector(".skip").setAttribute("href", "#runs");
  byId("runs-part").hidden = false;
  fill("findings", make("h2", {}, "Findings"), findings.length ? make("ol", { class: "findings" }, ...findings.map(({ text }) => make("li", {}, make("span", { class: "sentence" }, printable(text))))) : make("p", { class: "note" }, "No run is slow, and nothing is slow in every run."));
  byId("runs-part").before(byId("findings").parentElement);
  fillRuns(runs);
  const compared = groups.filter((group) => group.runs.length > 0).slice(0, mostRows);
  byId("runs-groups-part").hidden = compared.length === 0;
  const drawGroups = fillDots("runs-groups", ["DEVICE", "SLOW IN", "LOWEST RATIO", "AGAINST OTHER DEVICES IN THE SAME RUN"], compared.map((group) => ({
    cells: [nameCell(`${group.slow ? "! " : ""}${printable(group.label)}${group.slow ? ": slow in every run" : ""}`, printable(group.label)), number(`${group.slow_runs} of ${group.runs.length} runs`), number(times(group.least_ratio))],
    dots: listGroupDots(group),
  })));
  const variation = (value) => number(value === null ? "—" : percent(value));
  const shown = kernels.slice(0, mostRows);
  const names = distinct(shown.map((kernel) => printable(kernel.name)), 60);
  const drawNames = fillDots("runs-names", ["NAME", "COUNT", "MEAN", "WITHIN", "BETWEEN RUNS", "BETWEEN DEVICES", "AGAINST THE MEAN OF RUNS"], shown.map((kernel, at) => ({
    cells: [nameCell(names[at], printable(kernel.name)), number(formatNumber(kernel.n)), number(duration(kernel.mean)), variation(kernel.within), variation(kernel.between_runs), variation(kernel.between_groups)],
    dots: kernel.in_runs,
  })));
  byId("runs-note").textContent = `Each dot is a run; the first run is at the top. The line through a dot is the 95 % interval. Axes are logarithmic. "!" marks a device that is slow in every run, or a run that is slower than the others.${words.omitted > 0 ? ` ${words.omitted} names with the least time are omitted; the JSON has them.` : ""}`;
  const draw = () => {
    drawGroups();
    drawNames();
  };
  onRedraw(draw);
  draw();
}
