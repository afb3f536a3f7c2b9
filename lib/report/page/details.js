// What there is to say of one region: where it stands in the source, how long its events took, and how that was measured.
import { byId, colour, fill, font, make, onRedraw, prepare } from "./dom.js";
import { listPairs, makeAxis, makeBars } from "./histogram.js";
import { printable, shortened } from "./names.js";
import { duration, formatNumber, grouped, percent, quantity } from "./numbers.js";
import { findPath } from "./tree.js";

let drawn = () => undefined;

export function watchDetails() {
  onRedraw(() => drawn());
}

// Durations over a logarithmic axis, with lines at the quantiles.
function drawHistogram(canvas, row) {
  const width = canvas.clientWidth || 340;
  const height = 110;
  const foot = height - 2;
  const step = row.histogram_step || 1;
  const context = prepare(canvas, width, height);
  context.fillStyle = colour("compute");
  for (const bar of makeBars(listPairs(row), step)) {
    const tall = Math.max(1, bar.height * (foot - 14));
    context.fillRect(bar.from * width, foot - tall, Math.max(1, (bar.to - bar.from) * width - 0.5), tall);
  }
  context.fillStyle = colour("muted");
  context.fillRect(0, foot, width, 1);
  context.font = font(11);
  const axis = makeAxis(listPairs(row), step);
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

function line(name, value) {
  return value === null || value === undefined || value === "" ? null : make("div", {}, make("dt", {}, name), make("dd", {}, value));
}

function withError(text, error) {
  return error ? `~${text} ± ${duration(2 * error)} (95 %)` : text;
}

function describeMeasuring(row, profile) {
  const made = [`engine ${printable(profile.engine)}`];
  if (row.measured_on) made.push(Object.keys(row.measured_on).map((step) => `${step} for ${duration(row.measured_on[step])}`).join(", "));
  if ("sampled" in row) made.push(`${grouped(row.sampled)} of ${grouped(row.count)} events were timed; the figures are estimates`);
  if (row.overhead_ns) made.push(`observing it cost ${duration(row.overhead_ns)}`);
  return made.join("; ");
}

function describeSite(site) {
  if (!site || !site.file) return "";
  return `${printable(site.file)}${site.line ? `:${site.line}` : ""}`;
}

// Where its machine's ceilings are known: how near it came to them.
function describeRoofline(point) {
  if (!point) return "";
  const whose = point.threads === 1 ? "one thread" : `one of ${point.threads} threads at once`;
  return `${quantity(point.gflops * 1e9, "FLOP/s")} and ${quantity(point.gbytes_per_s * 1e9, "B/s")}, at ${formatNumber(point.ai)} FLOP/B: ${percent(point.share)} of the ${quantity(point.attainable_gflops * 1e9, "FLOP/s")} that ${whose} can attain, bound by ${point.bound}`;
}

function describeRow(row, profile, words) {
  const isTimed = row.total_ns !== null && row.count > 0;
  const mean = isTimed ? row.total_ns / row.count : null;
  const context = row.context;
  const lines = [
    line("source", describeSite(row.site)),
    line("in function", row.site && row.site.function ? shortened(printable(row.site.function), 400) : ""),
    line("kind", `${row.kind} on ${words.devices[row.device] || "?"}`),
    line("level", row.level || ""),
    line("calls", row.count === 0 && Object.keys(row.attributes || {}).length ? "" : row.count ? `${"sampled" in row ? "~" : ""}${grouped(row.count)} by ${row.threads} thread${row.threads === 1 ? "" : "s"}` : "still open"),
    line("time", isTimed ? withError(duration(row.total_ns), row.total_error_ns) : ""),
    line("self", isTimed ? duration(row.self_ns) : ""),
    line("of the run", isTimed && words.wall_ns ? percent(row.total_ns / words.wall_ns) : ""),
    line("a call", isTimed ? `mean ${duration(mean)}, from ${duration(row.min_ns)} to ${duration(row.max_ns)}` : ""),
    line("quantiles", isTimed ? `p50 ${duration(row.p50_ns)}, p90 ${duration(row.p90_ns)}, p99 ${duration(row.p99_ns)}, each within 3 %` : ""),
    line("a second", isTimed && row.total_ns ? `${quantity((row.count / row.total_ns) * 1e9, "calls/s")} while it runs` : ""),
    line(
      "on a core",
      context && context.on_cpu_ns !== null && context.wall_ns
        ? `${percent(context.on_cpu_ns / context.wall_ns)}; without a core ${percent(context.runnable_ns / context.wall_ns)}; asleep ${duration(context.sleep_ns)}, locks ${duration(context.lock_ns)}, files ${duration(context.io_ns)}, other ${duration(context.other_ns)}`
        : "",
    ),
    line("samples", row.samples ? `${grouped(row.samples)} on a core` : ""),
    line(
      "threads",
      row.per_thread && row.per_thread.threads > 1
        ? `from ${duration(row.per_thread.min_ns)} to ${duration(row.per_thread.max_ns)}, mean ${duration(row.per_thread.sum_ns / row.per_thread.threads)}`
        : "",
    ),
    line("roofline", describeRoofline(row.roofline)),
    ...(words.rows[row.index] || []).map((text) => line("also", text)),
    line("measured by", describeMeasuring(row, profile)),
  ];
  return make("dl", { class: "facts-of-row" }, ...lines.filter((one) => one));
}

// `places`: how many were gathered in what was chosen, of which this is the one with most.
export function showDetails(node, profile, words, { zoom, close, places }) {
  const path = findPath(node).map(printable);
  fill(
    "details",
    make(
      "header",
      {},
      make("h2", { id: "details-title", tabindex: -1, title: shortened(node.label, 2000) }, shortened(node.label, 300)),
      make("button", { type: "button", class: "close", "aria-label": "close", onclick: close }, "×"),
    ),
    path.length > 1 ? make("p", { class: "path" }, path.slice(0, -1).map((name) => shortened(name, 40)).join(" › ")) : null,
    places > 1 ? make("p", { class: "note" }, `The largest of ${places} places.`) : null,
    make("p", {}, make("button", { type: "button", onclick: () => zoom(node) }, "Zoom in")),
    ...node.rows.map((row) => make("div", { class: "row" }, makeHistogram(row), describeRow(row, profile, words))),
    node.rows.some(hasHistogram) ? make("p", { class: "note" }, "The picture: durations of single calls on a logarithmic axis, from the shortest to the longest; the area of a bar is their number, its place right to within 3 %, or to its width where bars are wider.") : null,
    node.rows.length === 0 ? make("p", {}, "It has not ended: what is nested in it has.") : null,
  );
  byId("details").hidden = false;
  document.body.classList.toggle("with-details", window.matchMedia("(min-width: 1100px)").matches);
  drawn = () => {
    for (const canvas of byId("details").querySelectorAll("canvas"))
      drawHistogram(canvas, node.rows.find((row) => String(row.index) === canvas.dataset.row));
  };
  drawn();
}

// Of a function that was met in stacks.
export function showFrame(node, profile, { zoom, select, close }) {
  const path = findPath(node).map(printable);
  const { on_cpu_ns: on, blocked_ns: blocked, waiting_ns: waiting, self_ns: self } = node.frame;
  const sampled = profile.samples;
  const period = sampled && sampled.samples ? sampled.observed_ns / sampled.samples : null;
  fill(
    "details",
    make("header", {}, make("h2", { id: "details-title", tabindex: -1, title: shortened(node.label, 2000) }, shortened(node.label, 300)), make("button", { type: "button", class: "close", "aria-label": "close", onclick: close }, "×")),
    make("p", { class: "path" }, path.slice(0, -1).map((name) => shortened(name, 40)).join(" › ")),
    make("p", {}, make("button", { type: "button", onclick: () => zoom(node) }, "Zoom in"), node.region && !node.region.frame ? make("button", { type: "button", onclick: () => select(node.region) }, "Its region") : null),
    make(
      "dl",
      { class: "facts-of-row" },
      ...[
        line("time", duration(on + blocked + waiting)),
        line("by itself", duration(self)),
        line("on a core", on && period ? `~${duration(on)}, of some ${grouped(Math.round(on / period))} samples` : duration(on)),
        line("blocked", duration(blocked)),
        line("no core", duration(waiting)),
        line("measured by", period ? `a sample each ${duration(period)} on a core; off it the time itself` : ""),
      ].filter((one) => one),
    ),
    make("p", { class: "note" }, "A function that was met in stacks of the region, with what it called. n samples are known to ± √n."),
  );
  byId("details").hidden = false;
  document.body.classList.toggle("with-details", window.matchMedia("(min-width: 1100px)").matches);
  drawn = () => undefined;
}

export function hideDetails() {
  byId("details").hidden = true;
  document.body.classList.remove("with-details");
  drawn = () => undefined;
}
