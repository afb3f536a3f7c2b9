// Parallel coordinates: a line for each window over axes of several quantities. A brush on an axis chooses a range.
import { announce, byId, colour, fill, font, make, onRedraw, prepare } from "./dom.js";
import { grouped } from "./numbers.js";

const plotHeight = 240;
const marginAbove = 34;
const marginBelow = 22;
// Pixels next to an axis in which the mouse draws a brush.
const reach = 24;
// A brush by keyboard moves by this part of the axis.
const step = 0.05;

// The range of each quantity over all rows; a quantity that no row has gets no axis.
export function makeAxes(described, rows) {
  const made = [];
  described.forEach((about, at) => {
    const values = rows.map((row) => row.values[at]).filter((value) => value !== null);
    if (values.length === 0) return;
    const low = values.reduce((least, value) => Math.min(least, value), Infinity);
    const high = values.reduce((most, value) => Math.max(most, value), -Infinity);
    made.push({ ...about, at, low, high, place: (value) => (high > low ? (value - low) / (high - low) : 0.5) });
  });
  return made;
}

// Whether a row is inside all brushes; a brush is a range of places from 0 to 1, by axis, or null.
export function isInside(row, axes, brushes) {
  return axes.every((axis, at) => {
    if (!brushes[at]) return true;
    const value = row.values[axis.at];
    if (value === null) return false;
    const place = axis.place(value);
    return place >= brushes[at][0] - 1e-9 && place <= brushes[at][1] + 1e-9;
  });
}

// A brush after a key, and null for none: arrows move it, plus and minus change its length.
export function changeBrush(brush, key) {
  if (key === "Escape") return null;
  const [low, high] = brush || [0.75, 1];
  if (!brush) return [low, high];
  const shift = Math.max(-low, Math.min(1 - high, { ArrowUp: step, ArrowDown: -step }[key] || 0));
  if (key === "ArrowUp" || key === "ArrowDown") return [low + shift, high + shift];
  const longer = { "+": step, "-": -step }[key] || 0;
  const made = [Math.max(0, low - longer), high];
  return made[1] - made[0] < step ? [Math.max(0, made[1] - step), made[1]] : made;
}

export class Parallel {
  // `rows`: { label, values, flagged }; `described`: { name, text(value) }; `choose(row)`: shows a window.
  constructor(rows, described, choose) {
    this.rows = rows;
    this.axes = makeAxes(described, rows);
    this.brushes = this.axes.map(() => null);
    this.axis = 0;
    this.choose = choose;
    this.drag = null;
    this.canvas = byId("parallel");
    this.canvas.addEventListener("pointerdown", (event) => this.begin(event));
    this.canvas.addEventListener("pointermove", (event) => this.move(event));
    this.canvas.addEventListener("pointerup", () => this.end());
    this.canvas.addEventListener("pointercancel", () => this.end());
    this.canvas.addEventListener("keydown", (event) => this.press(event));
    this.canvas.addEventListener("focus", () => this.draw());
    this.canvas.addEventListener("blur", () => this.draw());
    onRedraw(() => this.draw());
    this.update();
  }

  x(at) {
    const width = this.canvas.clientWidth || 600;
    const margin = Math.min(60, width / (2 * this.axes.length));
    return this.axes.length < 2 ? width / 2 : margin + (at * (width - 2 * margin)) / (this.axes.length - 1);
  }

  y(place) {
    return plotHeight - marginBelow - place * (plotHeight - marginAbove - marginBelow);
  }

  find(event) {
    const area = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - area.left, event.clientY - area.top];
    const axis = this.axes.findIndex((_, at) => Math.abs(this.x(at) - x) <= reach);
    const place = (plotHeight - marginBelow - y) / (plotHeight - marginAbove - marginBelow);
    return { axis, place: Math.max(0, Math.min(1, place)) };
  }

  begin(event) {
    const { axis, place } = this.find(event);
    if (axis < 0) return;
    this.axis = axis;
    this.drag = place;
    this.brushes[axis] = null;
    this.canvas.setPointerCapture(event.pointerId);
    this.update();
  }

  move(event) {
    if (this.drag === null) return;
    const { place } = this.find(event);
    this.brushes[this.axis] = [Math.min(place, this.drag), Math.max(place, this.drag)];
    this.update();
  }

  end() {
    const brush = this.brushes[this.axis];
    if (this.drag !== null && brush && brush[1] - brush[0] < 0.01) this.brushes[this.axis] = null;
    this.drag = null;
    this.update();
  }

  press(event) {
    const { key } = event;
    if (key === "ArrowLeft" || key === "ArrowRight") {
      this.axis = Math.max(0, Math.min(this.axes.length - 1, this.axis + (key === "ArrowLeft" ? -1 : 1)));
    } else if (["ArrowUp", "ArrowDown", "+", "-", "Escape"].includes(key)) {
      this.brushes[this.axis] = changeBrush(this.brushes[this.axis], key);
    } else {
      return;
    }
    event.preventDefault();
    this.update();
    announce(this.describe());
  }

  describe() {
    const axis = this.axes[this.axis];
    if (!axis) return "No quantity is available.";
    const brush = this.brushes[this.axis];
    const value = (place) => axis.text(axis.low + place * (axis.high - axis.low));
    const range = brush ? `from ${value(brush[0])} to ${value(brush[1])}` : "no brush";
    return `${axis.name}: ${range}; ${grouped(this.inside.length)} of ${grouped(this.rows.length)} shown windows inside all brushes`;
  }

  update() {
    this.inside = this.rows.filter((row) => isInside(row, this.axes, this.brushes));
    byId("parallel-text").textContent = this.describe();
    const isBrushed = this.brushes.some((brush) => brush);
    // The rows with flags come first.
    const shown = isBrushed ? this.inside.slice(0, 5) : [];
    fill("parallel-chosen", ...shown.map((row) => make("li", {}, make("button", { type: "button", class: "link", onclick: () => this.choose(row) }, `${row.label}${row.flagged ? ", flagged" : ""}`))));
    this.draw();
  }

  drawLine(context, row) {
    context.beginPath();
    let isOn = false;
    this.axes.forEach((axis, at) => {
      const value = row.values[axis.at];
      if (value === null) {
        isOn = false;
        return;
      }
      const [x, y] = [this.x(at), this.y(axis.place(value))];
      if (isOn) context.lineTo(x, y);
      else context.moveTo(x, y);
      isOn = true;
    });
    context.stroke();
  }

  draw() {
    const width = this.canvas.clientWidth || 600;
    const context = prepare(this.canvas, width, plotHeight);
    const inside = new Set(this.inside);
    context.lineWidth = 1;
    const pass = (paint, alpha, wanted) => {
      context.strokeStyle = colour(paint);
      context.globalAlpha = alpha;
      for (const row of this.rows) if (wanted(row)) this.drawLine(context, row);
    };
    pass("muted", 0.08, (row) => !inside.has(row));
    pass("cold", Math.max(0.1, Math.min(0.6, 60 / Math.max(1, this.inside.length))), (row) => inside.has(row) && !row.flagged);
    pass("hot", 0.9, (row) => inside.has(row) && row.flagged);
    context.globalAlpha = 1;
    context.textAlign = "center";
    const room = this.axes.length < 2 ? width : this.x(1) - this.x(0);
    const hasFocus = document.activeElement === this.canvas;
    this.axes.forEach((axis, at) => {
      const x = this.x(at);
      const isChosen = hasFocus && at === this.axis;
      context.fillStyle = colour(isChosen ? "accent" : "text");
      context.font = font(room < 90 ? 10 : 12);
      context.fillText(axis.name, x, 12, room);
      context.fillStyle = colour("muted");
      context.fillText(axis.text(axis.high), x, 27, room);
      context.fillText(axis.text(axis.low), x, plotHeight - 6, room);
      context.fillStyle = colour(isChosen ? "accent" : "muted");
      context.fillRect(x - (isChosen ? 1 : 0.5), this.y(1), isChosen ? 2 : 1, this.y(0) - this.y(1));
      const brush = this.brushes[at];
      if (!brush) return;
      context.fillStyle = colour("accent");
      context.globalAlpha = 0.35;
      context.fillRect(x - 7, this.y(brush[1]), 14, Math.max(2, this.y(brush[0]) - this.y(brush[1])));
      context.globalAlpha = 1;
    });
  }
}
