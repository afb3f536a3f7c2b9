// The details of a region: its place in the source, the durations of its events, its waits, and how it was measured.
import { contextTexts, switchMark } from "./columns.js";
import { byId, colour, fill, font, line, make, makeGroup, onRedraw, prepare } from "./dom.js";
import { listPairs, makeAxis, makeBars, makeTicks } from "./histogram.js";
import { printable, relativePath, shortened } from "./names.js";
import { duration, formatNumber, grouped, percent, quantity, shareTexts } from "./numbers.js";
import { findPath } from "./tree.js";

let drawn = () => undefined;

export function watchDetails() {
  onRedraw(() => drawn());
}

const axisHeight = 16;

// The colour of a row's kind, as in all other views.
export function colourOf(kind) {
  if (kind === "kernel") return "box-kernel";
  return ["copy_to", "copy_from", "fill", "other"].includes(kind) ? "box-copy" : "compute";
}

// The axis of durations: ticks, with numbers if there is room.
function drawAxis(context, row, axis, width, foot) {
  const pairs = listPairs(row);
  context.fillStyle = colour("muted");
  context.fillRect(0, foot, width, 1);
  let free = -1;
  const drawnTicks = [];
  for (const ns of makeTicks(pairs, row.histogram_step || 1)) {
    const x = axis(ns) * width;
    context.fillRect(Math.min(width - 1, x), foot, 1, 4);
    const text = duration(ns);
    const wide = context.measureText(text).width;
    const left = Math.max(0, Math.min(width - wide, x - wide / 2));
    if (left < free) continue;
    context.fillText(text, left, foot + axisHeight - 3);
    free = left + wide + 8;
    drawnTicks.push(text);
  }
  return drawnTicks;
}

// Durations over a logarithmic axis, with lines at the quantiles.
function drawHistogram(canvas, row) {
  const width = canvas.clientWidth || 340;
  const height = 110 + axisHeight;
  const foot = height - axisHeight - 2;
  const step = row.histogram_step || 1;
  const context = prepare(canvas, width, height);
  context.fillStyle = colour(colourOf(row.kind));
  for (const bar of makeBars(listPairs(row), step)) {
    const tall = Math.max(1, bar.height * (foot - 14));
    context.fillRect(bar.from * width, foot - tall, Math.max(1, (bar.to - bar.from) * width - 0.5), tall);
  }
  context.font = font(11);
  const axis = makeAxis(listPairs(row), step);
  canvas.dataset.ticks = drawAxis(context, row, axis, width, foot).join(" ");
  let free = -100;
  for (const name of ["p50", "p90", "p99"]) {
    const x = Math.min(width - 1, axis(row[`${name}_ns`]) * width);
    const wide = context.measureText(name).width;
    const left = Math.max(0, Math.min(width - wide, x - wide / 2));
    context.fillStyle = colour("accent");
    context.fillRect(x, 12, 1, foot - 12);
    if (left < free) continue;
    context.fillStyle = colour("text");
    context.fillText(name, left, 9);
    free = left + wide + 4;
  }
}

function hasHistogram(row) {
  return listPairs(row).length > 0;
}

function makeHistogram(row) {
  if (!hasHistogram(row)) return null;
  return make("canvas", {
    class: "histogram",
    role: "img",
    "aria-label": `durations: half below ${duration(row.p50_ns)}, 99 of 100 below ${duration(row.p99_ns)}`,
    "data-row": row.index,
  });
}

const timeText = (ns) => (ns ? duration(ns) : "");

function withError(text, error) {
  return error ? `~${text} ± ${duration(2 * error)} (95 %)` : text;
}

function describeMeasuring(row, profile) {
  const made = [`engine ${printable(profile.engine)}`];
  if (row.measured_on) made.push(Object.keys(row.measured_on).map((step) => `${step} for ${duration(row.measured_on[step])}`).join(", "));
  if ("sampled" in row) made.push(`${grouped(row.sampled)} of ${grouped(row.count)} events were recorded; the figures are estimates`);
  return made.join("; ");
}

// A file and a line: the path below the folder that all sources have in common; the whole path is in the title.
function describeSite(site, folder) {
  if (!site || !site.file) return "";
  const place = site.line ? `:${site.line}` : "";
  return make("span", { title: printable(site.file) + place }, printable(relativePath(site.file, folder)) + place);
}

// The roofline of a region, if the ceilings of its machine are known.
function describeRoofline(point) {
  if (!point) return "";
  const threads = point.threads === 1 ? "one thread" : `one of ${point.threads} threads at once`;
  return `${quantity(point.gflops * 1e9, "FLOP/s")} and ${quantity(point.gbytes_per_s * 1e9, "B/s")}, at ${formatNumber(point.ai)} FLOP/B: ${percent(point.share)} of the ${quantity(point.attainable_gflops * 1e9, "FLOP/s")} that ${threads} can attain, bound by ${point.bound}`;
}

function describeCalls(row) {
  if (row.count === 0) return Object.keys(row.attributes || {}).length ? "" : "the region is still open";
  const threads = row.threads ? ` by ${grouped(row.threads)} thread${row.threads === 1 ? "" : "s"}` : "";
  return `${"sampled" in row ? "~" : ""}${grouped(row.count)}${threads}`;
}

// The reasons for blocked time, the longest first.
function describeBlocked(context) {
  const reasons = [["a timer", context.sleep_ns], ["locks", context.lock_ns], ["files and sockets", context.io_ns], ["other", context.other_ns]];
  return reasons.filter(([, ns]) => ns > 0).sort((a, b) => b[1] - a[1]).map(([name, ns]) => `${name} ${switchMark(context)}${duration(ns)}`).join(", ");
}

function makeWaits(row) {
  const texts = contextTexts(row);
  if (texts === null) return [];
  const { context } = row;
  const blocked = describeBlocked(context);
  return makeGroup(
    "Threads on and off cores",
    line("on a core", context.on_cpu_ns ? `${texts.running} of the time, ${switchMark(context)}${duration(context.on_cpu_ns)}` : ""),
    line("no core", context.runnable_ns ? `${texts.no_core} of the time, ${switchMark(context)}${duration(context.runnable_ns)}` : ""),
    line("blocked", blocked ? `${texts.blocked} of the time: ${blocked}` : ""),
  );
}

function makeTimes(row, words) {
  const isTimed = row.total_ns !== null && row.count > 0;
  if (!isTimed) return makeGroup("Time", line("calls", describeCalls(row)));
  const spread = row.per_thread;
  return makeGroup(
    "Time",
    line("calls", describeCalls(row)),
    line("time", withError(duration(row.total_ns), row.total_error_ns)),
    line("self", row.self_ns !== row.total_ns ? timeText(row.self_ns) : ""),
    line("of the run", words.wall_ns && row.total_ns ? percent(row.total_ns / words.wall_ns) : ""),
    line("per call", row.count > 1 ? `mean ${duration(row.total_ns / row.count)}, from ${duration(row.min_ns)} to ${duration(row.max_ns)}` : ""),
    line("quantiles", row.count > 1 ? `p50 ${duration(row.p50_ns)}, p90 ${duration(row.p90_ns)}, p99 ${duration(row.p99_ns)}, each within 3 %` : ""),
    line("rate", row.total_ns ? `${quantity((row.count / row.total_ns) * 1e9, "calls/s")} while it runs` : ""),
    line("per thread", spread && spread.threads > 1 ? `from ${duration(spread.min_ns)} to ${duration(spread.max_ns)}, mean ${duration(spread.sum_ns / spread.threads)}` : ""),
  );
}

// A line of the report below a row.
function makeNote(text) {
  if (text.startsWith("ranks: ")) return line("ranks", text.slice(7));
  return line(/ ranks?\b/.test(text) ? "ranks" : / cycles\b/.test(text) ? "counters" : "values", text);
}

function describeRow(row, profile, words, folder) {
  return [
    ...makeGroup(
      "Place",
      line("source", describeSite(row.site, folder)),
      line("function", row.site && row.site.function ? shortened(printable(row.site.function), 400) : ""),
      line("kind", `${row.kind.replace("_", " ")} on ${words.devices[row.device] || "an unknown device"}`),
      line("level", row.level || ""),
    ),
    ...makeTimes(row, words),
    ...makeWaits(row),
    ...makeGroup("Amounts and ranks", line("roofline", describeRoofline(row.roofline)), ...(words.rows[row.index] || []).map(makeNote)),
    ...makeGroup(
      "Measurement",
      line("method", describeMeasuring(row, profile)),
      line("samples", row.samples ? `${grouped(row.samples)} on a core` : ""),
      line("cost", row.overhead_ns ? `observing the region took ${duration(row.overhead_ns)}` : ""),
    ),
  ];
}

function makeHead(node, close) {
  return make(
    "header",
    {},
    make("h2", { id: "details-title", tabindex: -1, title: shortened(node.label, 2000) }, shortened(node.label, 300)),
    make("button", { type: "button", class: "close", "aria-label": "close", onclick: close }, "×"),
  );
}

function makePath(node) {
  const path = findPath(node).map(printable);
  return path.length > 1 ? make("p", { class: "path" }, path.slice(0, -1).map((name) => shortened(name, 40)).join(" › ")) : null;
}

function open() {
  byId("details").hidden = false;
  document.body.classList.toggle("with-details", window.matchMedia("(min-width: 1100px)").matches);
}

// `places`: the number of places in the chosen box; the largest is shown. `folder`: common to all sources.
export function showDetails(node, profile, words, { zoom, close, places, folder }) {
  fill(
    "details",
    makeHead(node, close),
    makePath(node),
    node.note ? make("p", {}, node.note) : null,
    places > 1 ? make("p", { class: "note" }, `The largest of ${places} places.`) : null,
    node.note ? null : make("p", {}, make("button", { type: "button", onclick: () => zoom(node) }, "Zoom in")),
    ...node.rows.map((row) => make("div", { class: "row" }, makeHistogram(row), ...describeRow(row, profile, words, folder))),
    node.rows.some(hasHistogram) ? make("p", { class: "note" }, "The histogram shows durations of single calls on a logarithmic axis. The area of a bar is their number; its place is exact to 3 %, or to the width of the bar.") : null,
    node.rows.length === 0 && !node.note ? make("p", {}, "The region is still open. Nested regions have ended.") : null,
  );
  open();
  drawn = () => {
    for (const canvas of byId("details").querySelectorAll("canvas"))
      drawHistogram(canvas, node.rows.find((row) => String(row.index) === canvas.dataset.row));
  };
  drawn();
}

function describeFrame({ on_cpu_ns: on, blocked_ns: blocked, waiting_ns: waiting, self_ns: self }, period, waits) {
  const wait = (ns) => (waits ? "~" : "") + duration(ns);
  const [running, blockedPart, noCore] = shareTexts([on, blocked, waiting]);
  return [
    ...makeGroup("Time", line("time", timeText(on + blocked + waiting)), line("self", timeText(self))),
    ...makeGroup(
      "Threads on and off cores",
      line("on a core", on ? `${period ? `~${duration(on)}, from about ${grouped(Math.round(on / period))} samples` : duration(on)}, ${running} of the time` : ""),
      line("blocked", blocked ? `${wait(blocked)}, ${blockedPart} of the time` : ""),
      line("no core", waiting ? `${wait(waiting)}, ${noCore} of the time` : ""),
    ),
    ...makeGroup("Measurement", line("method", period ? `on a core: one sample per ${duration(period)}; off a core: ${waits ? `one of up to ${grouped(waits)} waits` : "the exact time"}` : "")),
  ];
}

// The details of a function that was sampled in stacks.
export function showFrame(node, profile, { zoom, select, close }) {
  const sampled = profile.samples;
  const period = sampled && sampled.samples ? sampled.observed_ns / sampled.samples : null;
  fill(
    "details",
    makeHead(node, close),
    makePath(node),
    make("p", {}, make("button", { type: "button", onclick: () => zoom(node) }, "Zoom in"), node.region && !node.region.frame ? make("button", { type: "button", onclick: () => select(node.region) }, "Region") : null),
    make("div", { class: "row" }, ...describeFrame(node.frame, period, sampled && sampled.waits_one_of)),
    make("p", { class: "note" }, "A function in stacks of the region, with the functions that it called. The standard error of n samples is √n."),
  );
  open();
  drawn = () => undefined;
}

export function hideDetails() {
  byId("details").hidden = true;
  document.body.classList.remove("with-details");
  drawn = () => undefined;
}
