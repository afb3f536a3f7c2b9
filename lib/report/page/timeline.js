// The timeline: tracks below each other on a canvas. Only the visible part is drawn: for a long range the buckets of time, for a short
// range the intervals.
import { colour, font, onRedraw, prepare } from "./dom.js";
import { findSubmission, firstBehind, rowOf } from "./intervals.js";
import { printable, shortened } from "./names.js";
import { duration, grouped, wholePercent } from "./numbers.js";
import { bucketAt, chooseLevel, Columns, fillFromIntervals, fillFromLevel, makeTicks, readLevel } from "./timeline_rows.js";

const lineHeight = 18;
const axisHeight = 22;
const gutter = 190;
const leastSpan = 50; // ns
const mostArrows = 200; // in addition to those of the chosen interval
const leastNamed = 30; // pixels

const boxNames = { wait: "box-wait", kernel: "box-kernel", copy_to: "box-copy", copy_from: "box-copy", fill: "box-copy", other: "box-copy", function: "box-function", mark: "accent" };

export function boxOf(kind) {
  return boxNames[kind] || "box-region";
}

// A time since the trace's begin, to the nanosecond.
export function exactTime(ns) {
  return `${(ns / 1e9).toFixed(9)} s`;
}

function parseColour(text) {
  return [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
}

// The text on a colour that comes from the program's: black or white, whichever differs more.
export function textOn([red, green, blue]) {
  return 0.299 * red + 0.587 * green + 0.114 * blue < 128 ? "#ffffff" : "#000000";
}

function mix(from, to, part) {
  return from.map((value, at) => Math.round(value + (to[at] - value) * part));
}

// A shade by the name, so that neighbours differ.
function shade(name) {
  let sum = 7;
  for (let at = 0; at < Math.min(name.length, 64); ++at) sum = (sum * 31 + name.charCodeAt(at)) % 997;
  return (sum % 5) * 0.04;
}

// The lines of the picture: a heading for each group, then the rows of its tracks, then their sums.
export function makeLines(timeline) {
  const rows = timeline.tracks.map(() => []);
  timeline.rows.forEach((row, number) => rows[row.track].push({ row, number, track: row.track }));
  for (const row of timeline.sums) rows[row.track].push({ row, number: -1, track: row.track });
  const lines = [];
  let group = null;
  timeline.tracks.forEach((track, number) => {
    if (rows[number].length === 0) return;
    if (track.group !== group) lines.push({ group: track.group, track: number });
    group = track.group;
    rows[number].forEach((line, at) => {
      line.label = at === 0 ? track.name : line.number === -1 ? "summed up" : "";
      lines.push(line);
    });
  });
  for (const line of lines)
    if (line.row) line.levels = line.row.levels.map((level) => readLevel(level, timeline.widths[level.level]));
  return lines;
}

export class Timeline {
  // `changed()`: the shown range has changed; `drawn()`; `pointed(text)`; `select(number or null)`.
  constructor(canvas, view, length, timeline, options) {
    Object.assign(this, { canvas, view, length, timeline, options });
    this.range = Math.max(1, timeline.range_ns);
    this.from = 0;
    this.to = this.range;
    this.lines = makeLines(timeline);
    this.lineOfRow = new Map(this.lines.map((line, at) => [line.number, at]).filter(([number]) => number >= 0));
    this.names = timeline.sites.map(([name]) => printable(name));
    this.intervals = null;
    this.selected = null;
    this.found = null; // whether each site matches the search
    this.related = [];
    this.leavesOut = false; // whether the other arrows are omitted, because there are too many
    this.dragged = null;
    this.columns = new Columns(1);
    canvas.timeline = this;
    view.addEventListener("scroll", () => this.draw());
    view.addEventListener("wheel", (event) => this.turn(event), { passive: false });
    canvas.addEventListener("mousemove", (event) => this.hover(event));
    canvas.addEventListener("mouseleave", () => options.pointed(null));
    canvas.addEventListener("mousedown", (event) => this.press(event));
    window.addEventListener("mouseup", (event) => this.release(event));
    canvas.addEventListener("dblclick", (event) => this.zoomTo(this.at(event).number));
    onRedraw(() => {
      this.palette = null;
      this.draw();
    });
    this.layOut();
  }

  layOut() {
    const all = axisHeight + this.lines.length * lineHeight;
    this.shownHeight = Math.min(all + 4, Math.max(240, Math.min(620, window.innerHeight - 210)));
    this.view.style.height = `${this.shownHeight}px`;
    this.length.style.height = `${Math.max(0, all + 4 - this.shownHeight)}px`;
  }

  setIntervals(intervals) {
    this.intervals = intervals;
    this.draw();
  }

  // The shown range, in ns since the trace's begin.
  show(from, to) {
    const span = Math.min(this.range, Math.max(leastSpan, to - from));
    const middle = (from + to) / 2;
    this.from = Math.max(0, Math.min(this.range - span, middle - span / 2));
    this.to = this.from + span;
    this.draw();
    this.options.changed();
  }

  isWhole() {
    return this.to - this.from >= this.range;
  }

  zoom(factor, at = (this.from + this.to) / 2) {
    const span = Math.min(this.range, Math.max(leastSpan, (this.to - this.from) * factor));
    const part = (at - this.from) / (this.to - this.from);
    this.show(at - part * span, at + (1 - part) * span);
  }

  pan(part) {
    const by = part * (this.to - this.from);
    this.show(this.from + by, this.to + by);
  }

  zoomTo(number) {
    if (number === null || number === undefined || !this.intervals) return;
    const begin = this.intervals.begins[number];
    const end = this.intervals.ends[number];
    const around = Math.max(leastSpan, end - begin);
    this.show(begin - around, end + around);
  }

  // Scrolls to an interval, in time and down.
  reveal(number) {
    const { begins, ends } = this.intervals;
    if (ends[number] < this.from || begins[number] > this.to) {
      const half = (this.to - this.from) / 2;
      this.show(begins[number] - half, begins[number] + half);
    }
    this.scrollTo(this.lineOfRow.get(rowOf(this.intervals, number)));
    this.draw();
  }

  scrollTo(line) {
    const top = line * lineHeight;
    const { scrollTop } = this.view;
    if (top < scrollTop || top + axisHeight + lineHeight > scrollTop + this.shownHeight) this.view.scrollTop = Math.max(0, top - this.shownHeight / 3);
  }

  select(number) {
    this.selected = number;
    this.related = number === null ? [] : this.findArrows(number);
    this.draw();
  }

  // The operations that an interval submitted, and the call that submitted it: [from, to], where `from` may be { time, track }.
  findArrows(number) {
    const made = [];
    const by = findSubmission(this.intervals, number);
    if (by) made.push([by.call === undefined ? by : by.call, number]);
    for (const row of this.intervals.rows) {
      if (!row.calls) continue;
      for (let at = row.calls.indexOf(number); at >= 0; at = row.calls.indexOf(number, at + 1)) made.push([number, row.first + at]);
    }
    return made;
  }

  plotWidth() {
    return Math.max(50, (this.canvas.clientWidth || 1000) - gutter);
  }

  timeAt(x) {
    return this.from + ((x - gutter) / this.plotWidth()) * (this.to - this.from);
  }

  xOf(time) {
    return gutter + ((time - this.from) / (this.to - this.from)) * this.plotWidth();
  }

  yOf(line) {
    return axisHeight + line * lineHeight - this.view.scrollTop;
  }

  // The place of an interval on the canvas: for tests, and for arrows.
  place(number) {
    const left = this.xOf(this.intervals.begins[number]);
    return { left, right: this.xOf(this.intervals.ends[number]), top: this.yOf(this.lineOfRow.get(rowOf(this.intervals, number))), height: lineHeight };
  }

  // { line, time, number, bucket } below the mouse.
  at(event) {
    const area = this.canvas.getBoundingClientRect();
    const x = event.clientX - area.left;
    const y = event.clientY - area.top;
    const line = y < axisHeight ? undefined : this.lines[Math.floor((y - axisHeight + this.view.scrollTop) / lineHeight)];
    const time = this.timeAt(x);
    const pointed = { line, time, x, number: null };
    if (!line || !line.row || x < gutter) return pointed;
    if (line.number >= 0 && this.intervals) pointed.number = this.longestNear(line.number, time);
    else {
      const level = chooseLevel(line.levels.slice().reverse().filter((candidate) => candidate.width >= this.nsPerPixel()), Infinity) || line.levels[line.levels.length - 1];
      const bucket = bucketAt(level, time);
      if (bucket >= 0) pointed.bucket = { level, at: bucket };
    }
    return pointed;
  }

  nsPerPixel() {
    return (this.to - this.from) / this.plotWidth();
  }

  // The longest interval within two pixels.
  longestNear(row, time) {
    const { begins, ends, rows } = this.intervals;
    const near = 2 * this.nsPerPixel();
    const behind = rows[row].first + rows[row].count;
    let best = null;
    for (let at = firstBehind(this.intervals, rows[row], time - near); at < behind && begins[at] <= time + near; ++at) {
      if (begins[at] <= time && ends[at] > time) return at;
      if (best === null || ends[at] - begins[at] > ends[best] - begins[best]) best = at;
    }
    return best;
  }

  describe(number) {
    const { begins, ends, sites, rows } = this.intervals;
    const rowNumber = rowOf(this.intervals, number);
    const track = this.timeline.tracks[this.timeline.rows[rowNumber].track];
    const { correlations, first } = rows[rowNumber];
    const correlation = correlations && correlations[number - first] ? `, correlation ${correlations[number - first]}` : "";
    return `${shortened(this.names[sites[number]], 120)}: ${duration(ends[number] - begins[number])} from ${exactTime(begins[number])}${correlation}; ${shortened(`${printable(track.name)} of ${printable(track.group)}`, 80)}`;
  }

  describeBucket({ level, at }) {
    const begin = level.numbers[at] * level.width;
    return `${grouped(level.counts[at])} intervals begin in the ${duration(level.width)} from ${exactTime(begin)}; busy ${wholePercent(level.busy[at] / 255)}, most of it ${shortened(this.names[level.sites[at]], 100)}`;
  }

  hover(event) {
    if (this.dragged) {
      this.dragged.now = event.clientX;
      this.draw();
      return;
    }
    const pointed = this.at(event);
    const text = pointed.number !== null ? this.describe(pointed.number) : pointed.bucket ? this.describeBucket(pointed.bucket) : null;
    this.canvas.classList.toggle("over", pointed.number !== null);
    this.options.pointed(text);
  }

  press(event) {
    if (event.button === 0) this.dragged = { begin: event.clientX, now: event.clientX };
  }

  // A drag zooms to a range of time; without a move it is a click.
  release(event) {
    if (!this.dragged) return;
    const { begin } = this.dragged;
    this.dragged = null;
    const area = this.canvas.getBoundingClientRect();
    const ends = [begin, event.clientX].map((x) => this.timeAt(Math.max(gutter, Math.min(area.width, x - area.left)))).sort((a, b) => a - b);
    if (Math.abs(event.clientX - begin) > 4) this.show(ends[0], ends[1]);
    else if (event.target === this.canvas) this.options.select(this.at(event).number);
    else this.draw();
  }

  turn(event) {
    const isAcross = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (!event.ctrlKey && !event.shiftKey && !isAcross) return;
    event.preventDefault();
    const by = isAcross ? event.deltaX : event.deltaY;
    const area = this.canvas.getBoundingClientRect();
    if (event.ctrlKey) this.zoom(Math.exp(Math.max(-1, Math.min(1, by / 200))), this.timeAt(event.clientX - area.left));
    else this.pan(by / 1000);
  }

  makePalette() {
    this.back = parseColour(colour("back"));
    const dark = parseColour(colour("shade"));
    const bases = new Map();
    const baseOf = (kind) => {
      const name = boxOf(kind);
      if (!bases.has(name)) bases.set(name, parseColour(colour(name)));
      return bases.get(name);
    };
    // The program may give a site a colour.
    this.palette = this.timeline.sites.map(([name, kind, given]) => (given ? parseColour(given) : mix(baseOf(kind), dark, shade(name))));
    this.looks = new Map();
  }

  // A site's colour, as a pixel of a picture in memory. The colour is paler if the column is not full, and paler still if the site
  // does not match the search. `busy`: in eighths.
  look(site, busy) {
    const key = site * 16 + busy;
    let made = this.looks.get(key);
    if (made === undefined) {
      const isDim = this.found !== null && !this.found[site];
      const [red, green, blue] = mix(this.back, this.palette[site], (0.3 + 0.0875 * busy) * (isDim ? 0.25 : 1));
      made = ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
      this.looks.set(key, made);
    }
    return made;
  }

  partsOf(site) {
    const pixel = this.look(site, 8);
    return [pixel & 255, (pixel >>> 8) & 255, (pixel >>> 16) & 255];
  }

  paintOf(site) {
    return `rgb(${this.partsOf(site).join(",")})`;
  }

  // A line of pixels for each row on the screen: one operation on the canvas draws them, and not one for each box.
  makeStrip(width, lines) {
    if (!this.strip || this.strip.width !== width || this.strip.height !== lines) {
      this.strip = document.createElement("canvas");
      this.strip.width = width;
      this.strip.height = lines;
      this.onStrip = this.strip.getContext("2d", { willReadFrequently: true });
      this.image = this.onStrip.createImageData(width, lines);
      this.pixels = new Uint32Array(this.image.data.buffer);
    }
    this.pixels.fill(0);
  }

  draw() {
    if (!this.palette) this.makePalette();
    const width = this.canvas.clientWidth || 1000;
    const context = prepare(this.canvas, width, this.shownHeight);
    const plot = Math.floor(this.plotWidth());
    if (this.columns.width !== plot) this.columns = new Columns(plot);
    context.font = font(11);
    context.textBaseline = "middle";
    const first = Math.max(0, Math.floor(this.view.scrollTop / lineHeight));
    const last = Math.min(this.lines.length, first + Math.ceil(this.shownHeight / lineHeight) + 1);
    const others = [];
    context.save();
    context.beginPath();
    context.rect(0, axisHeight, width, this.shownHeight - axisHeight);
    context.clip();
    this.makeStrip(plot, Math.max(1, last - first));
    const wide = [];
    const stretches = [];
    for (let at = first; at < last; ++at) if (this.lines[at].row) this.fillLine(this.lines[at], at - first, (box) => wide.push(box), stretches);
    this.onStrip.putImageData(this.image, 0, 0);
    context.imageSmoothingEnabled = false;
    for (let at = first; at < last; ++at)
      if (this.lines[at].row) context.drawImage(this.strip, 0, at - first, plot, 1, gutter, this.yOf(at), plot, lineHeight - 2);
    this.drawWide(context, wide, first, others);
    for (const { left, right, site, place } of stretches) this.drawName(context, site, left, right, this.yOf(first + place));
    this.canvas.dataset.named = stretches.length + wide.filter((box) => box.right - box.left > leastNamed).length;
    this.drawSelected(context);
    this.leavesOut = others.length > mostArrows;
    if (this.leavesOut) others.length = 0;
    for (const arrow of others) this.drawArrow(context, arrow, false);
    for (const arrow of this.related) this.drawArrow(context, arrow, true);
    context.restore();
    this.drawAxis(context, width);
    this.drawLabels(context, first, last);
    if (this.dragged && this.dragged.now !== this.dragged.begin) {
      const left = this.canvas.getBoundingClientRect().left;
      context.globalAlpha = 0.2;
      context.fillStyle = colour("accent");
      context.fillRect(this.dragged.begin - left, axisHeight, this.dragged.now - this.dragged.begin, this.shownHeight);
      context.globalAlpha = 1;
    }
    this.canvas.dataset.arrows = others.length + this.related.length;
    this.options.drawn();
  }

  // `stretches`: places for names, if the line is drawn from buckets.
  fillLine(line, place, takeWide, stretches) {
    const nsPerPixel = this.nsPerPixel();
    const fine = chooseLevel(line.levels, nsPerPixel);
    this.columns.clear();
    if (fine || line.number < 0 || !this.intervals) {
      fillFromLevel(fine || line.levels[line.levels.length - 1], this.from, nsPerPixel, this.columns);
      stretches.push(...this.columns.listStretches(leastNamed).map((stretch) => Object.assign(stretch, { place })));
    } else
      fillFromIntervals(this.intervals, this.intervals.rows[line.number], this.from, nsPerPixel, this.columns, (left, right, number) =>
        takeWide({ left: Math.max(0, left), right: Math.min(this.columns.width, right), number, place, line }),
      );
    this.columns.paint((site, busy) => this.look(site, busy), this.pixels, place * this.columns.width);
  }

  // Intervals that are wider than some pixels, with their names; `others` gets their arrows, except those of the chosen interval.
  drawWide(context, boxes, first, others) {
    const tall = lineHeight - 2;
    for (const { left, right, number, place, line } of boxes) {
      const top = this.yOf(first + place);
      const site = this.intervals.sites[number];
      context.fillStyle = this.paintOf(site);
      context.fillRect(gutter + left, top, Math.max(1, right - left - 1), tall);
      if (right - left > leastNamed) this.drawName(context, site, left, right, top);
      const row = this.intervals.rows[line.number];
      if (others.length > mostArrows || number === this.selected || !(row.calls || row.latencies) || right - left < 8) continue;
      const by = findSubmission(this.intervals, number);
      if (by && by.call !== this.selected) others.push([by.call === undefined ? by : by.call, number]);
    }
  }

  drawName(context, site, left, right, top) {
    const given = this.timeline.sites[site][2];
    context.fillStyle = given ? textOn(this.partsOf(site)) : colour("box-text");
    context.fillText(shortened(this.names[site], Math.floor((right - left - 6) / 6.9)), gutter + left + 3, top + lineHeight / 2 - 1);
  }

  drawSelected(context) {
    if (this.selected === null) return;
    const { left, right, top } = this.place(this.selected);
    this.frame(context, Math.max(gutter, left) - gutter, Math.max(left + 2, right) - gutter, top, lineHeight - 2);
  }

  frame(context, left, right, top, tall) {
    context.strokeStyle = colour("accent");
    context.lineWidth = 2;
    context.strokeRect(gutter + left, top, right - left, tall);
  }

  // From the call that submitted an operation to the operation.
  drawArrow(context, [from, to], isChosen) {
    const end = this.place(to);
    const line = typeof from === "number" ? this.lineOfRow.get(rowOf(this.intervals, from)) : this.lines.findIndex((candidate) => candidate.row && candidate.track === from.track);
    if (line < 0 || line === undefined) return;
    const x = this.xOf(typeof from === "number" ? this.intervals.begins[from] : from.time);
    const y = this.yOf(line) + lineHeight / 2;
    context.strokeStyle = colour(isChosen ? "accent" : "muted");
    context.globalAlpha = isChosen ? 1 : 0.5;
    context.lineWidth = isChosen ? 1.5 : 1;
    const target = end.top + lineHeight / 2;
    context.beginPath();
    context.moveTo(x, y);
    context.bezierCurveTo((x + end.left) / 2, y, (x + end.left) / 2, target, end.left, target);
    context.moveTo(end.left - 4, target - 3);
    context.lineTo(end.left, target);
    context.lineTo(end.left - 4, target + 3);
    context.stroke();
    context.globalAlpha = 1;
  }

  drawAxis(context, width) {
    context.fillStyle = colour("back");
    context.fillRect(0, 0, width, axisHeight);
    context.fillStyle = colour("muted");
    const { step, ticks } = makeTicks(this.from, this.to, Math.max(2, this.plotWidth() / 130));
    const digits = Math.max(0, Math.min(9, 9 - Math.floor(Math.log10(step) + 1e-9)));
    for (const tick of ticks) {
      const x = this.xOf(tick);
      context.fillRect(x, axisHeight - 5, 1, 5);
      context.fillText(`${(tick / 1e9).toFixed(digits)} s`, Math.min(width - 70, x + 3), 9);
    }
    context.fillRect(gutter, axisHeight - 1, width, 1);
  }

  drawLabels(context, first, last) {
    context.save();
    context.fillStyle = colour("back");
    context.fillRect(0, 0, gutter - 2, this.shownHeight);
    context.beginPath();
    context.rect(0, axisHeight, this.canvas.clientWidth || 1000, this.shownHeight);
    context.clip();
    for (let at = first; at < last; ++at) {
      const line = this.lines[at];
      const y = this.yOf(at) + lineHeight / 2 - 1;
      context.fillStyle = colour(line.row ? "muted" : "text");
      const text = line.row ? line.label : line.group;
      if (text) context.fillText(shortened(printable(text), line.row ? 27 : 60), line.row ? 14 : 2, y);
    }
    context.restore();
  }
}
