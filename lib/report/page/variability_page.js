// The HTML report of variability: strips of windows, and boxes of durations.
import { byId, colour, fill, make, onRedraw, prepare, announce } from "./dom.js";
import { exactTime } from "./timeline.js";
import { Parallel } from "./parallel.js";
import { showRuns } from "./runs_page.js";
import { readLink, writeLink } from "./link.js";
import { shortened } from "./names.js";
import { duration, fixed, grouped, quantity, wholePercent } from "./numbers.js";
import { showWarnings } from "./summary.js";

const stripHeight = 18;
const boxHeight = 18;

// A cell as lib/report/variability_html.cpp writes it.
export function readCell([at, start, value, stall, longest, windows, flagged, events, why]) {
  return { at, start, value, stall, longest, windows, flagged, events, why: why || null };
}

// Round times for an axis from `first` to `last` ns, at most `most` of them.
export function listTicks(first, last, most) {
  const length = Math.max(1, last - first);
  let step = 10 ** Math.floor(Math.log10(length / Math.max(1, most)));
  for (const factor of [1, 2, 5, 10]) {
    if (length / (step * factor) > most) continue;
    step *= factor;
    break;
  }
  const made = [];
  for (let at = Math.ceil(first / step) * step; at <= last; at += step) made.push(at);
  return made.slice(0, most + 1);
}

export function valueText(metric, value) {
  return metric === "duration" ? `${fixed(value, 2)} ×` : duration(value);
}

// The distance of a value from the median of all strips, from -1 to 1, where 1 is the largest distance.
export function makeScale(values) {
  const sorted = values.slice().sort((a, b) => a - b);
  const middle = sorted[sorted.length >> 1];
  const most = sorted.reduce((largest, value) => Math.max(largest, Math.abs(value - middle)), Number.MIN_VALUE);
  const scale = (value) => (value - middle) / most;
  return Object.assign(scale, { middle, low: sorted[0], high: sorted[sorted.length - 1] });
}

// The place of a duration on a logarithmic axis, from 0 to 1, which is common to all boxes.
export function makeAxis(boxes) {
  const low = Math.log(Math.max(1, Math.min(...boxes.map((box) => box.min))));
  const high = Math.max(low + 1e-9, Math.log(Math.max(1, ...boxes.map((box) => box.max))));
  return (ns) => (Math.log(Math.max(1, ns)) - low) / (high - low);
}

function mix(from, to, part) {
  const read = (text) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
  const [a, b] = [read(from), read(to)];
  return `rgb(${a.map((channel, at) => Math.round(channel + (b[at] - channel) * part)).join(",")})`;
}

// The part of the timeline with a window, as an address. Each part of a path is encoded, so that none can be a scheme.
export function linkToTimeline({ timeline, window_ns: width }, start) {
  const path = timeline.file.split("/").map(encodeURIComponent).join("/");
  const from = Math.max(0, start - timeline.first_ns);
  return `${path}${writeLink({ from: String(from), to: String(from + width) })}`;
}

function showTimeline(variability, start) {
  byId("strip-timeline").hidden = !variability.timeline;
  if (variability.timeline) fill("strip-timeline", make("a", { href: linkToTimeline(variability, start) }, "timeline of this window"));
}

class Strip {
  constructor(page, data) {
    this.page = page;
    this.label = data.label;
    this.group = data.group;
    this.cells = data.cells.map(readCell);
    this.fences = data.fences;
    this.chosen = -1;
    this.flagged = this.cells.reduce((sum, cell) => sum + cell.flagged, 0);
    const { flagged } = this;
    this.canvas = make("canvas", {
      role: "application",
      tabindex: 0,
      "aria-label": `${this.label}: ${this.cells.reduce((sum, cell) => sum + cell.windows, 0)} windows, ${flagged} flagged; arrows move between windows, N moves to the next flagged window`,
      onmousemove: (event) => this.point(this.at(event)),
      onclick: (event) => this.choose(this.at(event)),
      onkeydown: (event) => this.press(event),
    });
    this.element = make("div", { class: "strip" }, make("span", { class: "name", title: shortened(this.label, 400) }, shortened(this.label, 60)), this.canvas, make("small", {}, flagged ? `${flagged} flagged` : ""));
  }

  at(event) {
    const area = this.canvas.getBoundingClientRect();
    const place = ((event.clientX - area.left) / area.width) * this.page.count;
    let best = -1;
    this.cells.forEach((cell, index) => {
      if (best < 0 || Math.abs(cell.at + 0.5 - place) < Math.abs(this.cells[best].at + 0.5 - place)) best = index;
    });
    return best;
  }

  describe(index) {
    const cell = this.cells[index];
    const { metric } = this.page.variability;
    const source = cell.windows > 1 ? `the worst of ${cell.windows} windows, from` : "from";
    return `${shortened(this.label, 80)}, ${source} ${exactTime(cell.start)}: ${valueText(metric, cell.value)}${cell.flagged ? ", flagged" : ""}; ${grouped(cell.events)} events${cell.stall === null ? "" : `; stalled ${duration(cell.stall)}`}${cell.longest ? `; most of it ${shortened(cell.longest, 100)}` : ""}`;
  }

  point(index) {
    if (index < 0) return;
    byId("strip-text").textContent = this.describe(index);
    byId("strip-why").textContent = this.cells[index].why || "";
  }

  choose(index) {
    if (index < 0) return;
    for (const strip of this.page.strips) strip.chosen = -1;
    this.chosen = index;
    for (const strip of this.page.strips) strip.draw();
    this.point(index);
    showTimeline(this.page.variability, this.cells[index].start);
    announce([this.describe(index), this.cells[index].why || ""].join(" ").trim());
    history.replaceState(null, "", writeLink({ interval: `${this.page.strips.indexOf(this)}.${this.cells[index].start}` }));
  }

  // The cell of the window that begins at this time.
  chooseTime(start) {
    let found = -1;
    this.cells.forEach((cell, at) => {
      const { first_ns: first, window_ns: width, windows_in_cell: windows } = this.page.variability;
      const begin = first + cell.at * width * windows;
      if (start >= begin && start < begin + width * windows) found = at;
    });
    this.choose(found);
  }

  press(event) {
    const next = { ArrowLeft: this.chosen - 1, ArrowRight: this.chosen + 1, n: this.cells.findIndex((cell, at) => at > this.chosen && cell.flagged > 0) }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    if (next >= 0 && next < this.cells.length) this.choose(next);
  }

  draw() {
    const width = this.canvas.clientWidth || 600;
    const context = prepare(this.canvas, width, stripHeight);
    const { scale } = this.page;
    const [usual, hot, cold, frame] = ["usual", "hot", "cold", "text"].map(colour);
    const step = width / this.page.count;
    // Flagged cells are drawn last, so that none is hidden if cells are narrower than a pixel.
    for (const wantsFlagged of [false, true])
      for (const cell of this.cells) {
        if (cell.flagged > 0 !== wantsFlagged) continue;
        const far = scale(cell.value);
        context.fillStyle = mix(usual, far > 0 ? hot : cold, Math.min(1, Math.abs(far)));
        context.fillRect(cell.at * step, 0, Math.max(1, step - (step > 4 ? 1 : 0)), stripHeight - 2);
        if (!wantsFlagged) continue;
        context.fillStyle = frame;
        context.fillRect(cell.at * step, stripHeight - 4, Math.max(1, step - (step > 4 ? 1 : 0)), 2);
      }
    if (this.chosen < 0) return;
    context.strokeStyle = colour("accent");
    context.lineWidth = 2;
    context.strokeRect(this.cells[this.chosen].at * step, 1, Math.max(3, step), stripHeight - 4);
  }
}

function drawBox(canvas, box, axis, paint) {
  const width = canvas.clientWidth || 300;
  const context = prepare(canvas, width, boxHeight);
  const middle = boxHeight / 2;
  const x = (ns) => axis(ns) * (width - 2) + 1;
  context.fillStyle = colour("muted");
  context.fillRect(x(box.min), middle - 0.5, Math.max(1, x(box.max) - x(box.min)), 1);
  for (const ns of [box.min, box.p95, box.p99, box.max]) context.fillRect(x(ns) - 0.5, middle - 4, 1, 8);
  context.fillStyle = colour(paint);
  context.fillRect(x(box.p25), middle - 5, Math.max(2, x(box.p75) - x(box.p25)), 10);
  context.fillStyle = colour("on-part");
  context.fillRect(x(box.p50) - 1, middle - 5, 2, 10);
}

// The time axis below the strips.
function makeStripAxis(page) {
  if (page.strips.every((strip) => strip.cells.length === 0)) return { element: null, draw: () => {} };
  const { first_ns: first, window_ns: width, windows_in_cell: windows } = page.variability;
  const last = first + page.count * width * windows;
  const ticks = make("span", { class: "ticks" });
  const draw = () => {
    const most = Math.max(1, Math.floor((ticks.clientWidth || 600) / 64));
    // A text that begins near the right end would be cut.
    const end = last - (60 * (last - first)) / Math.max(120, ticks.clientWidth || 600);
    ticks.replaceChildren(...listTicks(first, end, most).map((ns) => {
      const tick = make("small", {}, duration(ns));
      tick.style.left = `${(100 * (ns - first)) / (last - first)}%`;
      return tick;
    }));
  };
  return { element: make("div", { class: "strip axis" }, make("small", {}, "time"), ticks, make("small", {})), draw };
}

// The colours of all strips, with the values at the ends and in the middle.
function fillScale(page) {
  const { metric } = page.variability;
  const { scale } = page;
  const ramp = make("span", { class: "ramp" });
  const [usual, hot, cold] = ["usual", "hot", "cold"].map(colour);
  const paint = (value) => mix(usual, scale(value) > 0 ? hot : cold, Math.min(1, Math.abs(scale(value))));
  const middle = scale.high > scale.low ? (100 * (scale.middle - scale.low)) / (scale.high - scale.low) : 50;
  ramp.style.background = `linear-gradient(to right, ${paint(scale.low)}, ${usual} ${middle}%, ${paint(scale.high)})`;
  fill("strip-scale", `All lines: ${valueText(metric, scale.low)}`, ramp, `${valueText(metric, scale.high)}; median ${valueText(metric, scale.middle)}`);
}

// A row as lib/report/variability_html.cpp writes it.
function makeWorst(page) {
  const { worst, metric, worst_heading: heading } = page.variability;
  const time = (ns) => (ns === null ? "—" : duration(ns));
  const headings = ["AT", "", heading, "N", "P50", "P95", "STALL", "COPIED", "RAN MOST"];
  const number = (text) => make("td", { class: "number" }, text);
  const row = ([start, label, value, count, p50, p95, stall, copied, longest, share, flagged, why, strip]) => {
    const go = () => page.strips[strip].chooseTime(start);
    const at = `${duration(start)}${flagged ? " !" : ""}`;
    const link = strip === null ? at : make("button", { type: "button", class: "link", onclick: go }, at);
    const figures = make("tr", {}, make("td", {}, link), make("td", {}, shortened(label, 60)), number(valueText(metric, value)), number(grouped(count)), number(time(p50)), number(time(p95)), number(time(stall)), number(time(copied)), make("td", { class: "region", title: shortened(longest, 400) }, longest ? `${wholePercent(share)} ${shortened(longest, 60)}` : ""));
    return why ? [figures, make("tr", {}, make("td", { class: "why", colspan: headings.length }, make("div", {}, why)))] : [figures];
  };
  fill("worst", make("thead", {}, make("tr", {}, ...headings.map((text, at) => make("th", { class: at > 1 && at < 8 ? "number" : "" }, text)))), make("tbody", {}, ...worst.flatMap(row)));
}

// A row as lib/report/variability_html.cpp writes it.
function makeWaits(waits) {
  byId("waits-part").hidden = waits.length === 0;
  const headings = ["KERNEL", "ON", "KERNELS", "WINDOWS", "R", "COPY", "DELAY"];
  const number = (text) => make("td", { class: "number" }, text);
  const row = ([on, name, count, windows, r, copy, delay]) => make("tr", {}, make("td", { class: "region", title: shortened(name, 400) }, shortened(name, 100)), make("td", {}, on), number(grouped(count)), number(grouped(windows)), number(fixed(r, 2)), number(duration(copy)), number(duration(delay)));
  fill("waits", make("thead", {}, make("tr", {}, ...headings.map((text, at) => make("th", { class: at > 1 ? "number" : "" }, text)))), make("tbody", {}, ...waits.map(row)));
}

// A row as lib/report/variability_html.cpp writes it.
function makeCopies(copies) {
  byId("copies-part").hidden = copies.length === 0;
  const headings = ["ON", "DIRECTION", "COUNT", "TIME", "BYTES", "RATE"];
  const number = (text) => make("td", { class: "number" }, text);
  const row = ([on, direction, count, total, bytes]) => make("tr", {}, make("td", {}, on), make("td", {}, direction || "unknown"), number(grouped(count)), number(duration(total)), number(bytes === null ? "—" : quantity(bytes, "B")), number(bytes !== null && total > 0 ? quantity((1e9 * bytes) / total, "B/s") : "—"));
  fill("copies", make("thead", {}, make("tr", {}, ...headings.map((text, at) => make("th", { class: at > 1 ? "number" : "" }, text)))), make("tbody", {}, ...copies.map(row)));
}

// A window as lib/report/variability_html.cpp writes it.
function makeParallel(page) {
  const { windows, axes, metric } = page.variability;
  const text = { value: (value) => valueText(metric, value), time: duration, bytes: (value) => quantity(value, "B") };
  const rows = windows.map(([start, strip, flagged, ...values]) => ({ start, strip, flagged: flagged === 1, values, label: `${page.strips[strip].label} at ${duration(start)}` }));
  rows.sort((a, b) => b.flagged - a.flagged);
  return new Parallel(rows, axes.map(([name, unit]) => ({ name, text: text[unit] })), ({ strip, start }) => {
    page.strips[strip].chooseTime(start);
    page.strips[strip].canvas.scrollIntoView({ block: "nearest" });
  });
}

function makeBoxes(boxes, paint) {
  const axis = boxes.length ? makeAxis(boxes) : null;
  const canvases = [];
  const headings = ["NAME", "ON", "COUNT", "TOTAL", "MEAN", "CV", "P50", "P99", "DURATIONS"];
  const ends = make("span", { class: "ends" }, ...[Math.min, Math.max].map((choose, at) => make("small", {}, duration(choose(...boxes.map((box) => (at ? box.max : box.min)))))));
  const row = (box) => {
    const canvas = make("canvas", { role: "img", "aria-label": `from ${duration(box.min)} to ${duration(box.max)}, half between ${duration(box.p25)} and ${duration(box.p75)}, median ${duration(box.p50)}` });
    canvases.push([canvas, box]);
    const number = (text) => make("td", { class: "number" }, text);
    return make("tr", {}, make("td", { class: "region", title: shortened(box.name, 400) }, shortened(box.name, 100)), make("td", {}, box.on), number(grouped(box.n)), number(duration(box.total)), number(duration(box.mean)), number(box.cv === null ? "—" : fixed(box.cv, 3)), number(duration(box.p50)), number(duration(box.p99)), make("td", { class: "box" }, canvas));
  };
  fill("boxes", make("thead", {}, make("tr", {}, ...headings.map((text, at) => make("th", { class: at > 1 && at < 8 ? "number" : "" }, text, at === 8 && boxes.length ? ends : null)))), make("tbody", {}, ...boxes.map(row)));
  return () => {
    for (const [canvas, box] of canvases) drawBox(canvas, box, axis, paint);
  };
}

// Leads to a flagged window: of the finding's device, or, for slow windows, of the strip with most flagged windows.
function makeFinding({ text, kind, group }, page) {
  const most = page.strips.slice().sort((a, b) => b.flagged - a.flagged)[0];
  const strip = kind === "slow_windows" && group === null ? most : page.strips.find((candidate) => candidate.group === group);
  if (!strip) return make("span", { class: "sentence" }, text);
  const go = () => {
    const flagged = strip.cells.findIndex((cell) => cell.flagged > 0);
    strip.choose(Math.max(0, flagged));
    strip.canvas.scrollIntoView({ block: "nearest" });
    strip.canvas.focus();
  };
  return make("button", { type: "button", class: "link", onclick: go }, text);
}

export function show({ variability, comparison, words }) {
  if (comparison) return showRuns({ comparison, words });
  document.title = `${words.title}: adaptyst`;
  byId("title").textContent = words.title;
  byId("subject").textContent = words.subject;
  showWarnings(words.warnings);
  for (const id of ["icicle-part", "table-part", "ranks", "measuring", "bars"]) byId(id).hidden = true;
  document.querySelector(".skip").setAttribute("href", "#boxes");
  byId("variability-part").hidden = false;
  const page = { variability, strips: [], count: 1 };
  page.count = Math.max(1, ...variability.strips.map((strip) => (strip.cells.length ? strip.cells[strip.cells.length - 1][0] + 1 : 0)));
  page.strips = variability.strips.map((strip) => new Strip(page, strip));
  fill("findings", make("h2", {}, "Findings"), words.findings.length ? make("ol", { class: "findings" }, ...words.findings.map((finding) => make("li", {}, makeFinding(finding, page)))) : make("p", { class: "note" }, "No window, device or rank differs much from the others."));
  byId("variability-part").before(byId("findings").parentElement);
  page.scale = makeScale(page.strips.flatMap((strip) => strip.cells.map((cell) => cell.value)));
  const axis = makeStripAxis(page);
  fill("strips", ...page.strips.map((strip) => strip.element), axis.element);
  byId("strip-text").textContent = "Point at a window. Orange: above the median of all lines; blue: below; a line at the bottom: flagged.";
  fill("variability-totals", ...words.totals.map((text) => make("p", { class: "note" }, text)));
  makeWorst(page);
  makeParallel(page);
  makeCopies(variability.copies);
  makeWaits(variability.waits);
  fill("variability-notes", ...[...words.notes, "A box holds half of the durations, with the median in it. Its lines end at the shortest and the longest duration, with ticks at the 95th and 99th percentiles, all within 3 %. The logarithmic axis is the same for all boxes."].map((text) => make("p", { class: "note" }, text)));
  const drawBoxes = makeBoxes(variability.boxes, variability.has_regions ? "compute" : "box-kernel");
  const draw = () => {
    for (const strip of page.strips) strip.draw();
    axis.draw();
    if (page.strips.some((strip) => strip.cells.length)) fillScale(page);
    drawBoxes();
  };
  onRedraw(draw);
  draw();
  const restore = () => {
    const [number, start] = (readLink(location.hash).interval || "").split(".").map(Number);
    const chosen = page.strips[number];
    if (chosen) chosen.choose(chosen.cells.findIndex((cell) => cell.start === start));
  };
  window.addEventListener("hashchange", restore);
  restore();
}
