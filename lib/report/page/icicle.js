// The icicle: boxes on a canvas, the outermost regions above, each as wide as its part of the whole. Below the regions of the host, each
// device may have a lane, because its operations overlap with the host and are not parts of the host's regions. All lanes have one scale.
import { byId, colour, font, make, onRedraw, prepare, announce } from "./dom.js";
import { find, firstLevel, layOut, visible } from "./layout.js";
import { shortened } from "./names.js";

const levelHeight = 22;
const fewestLevels = 4;
const laneGap = 6; // between the host and the devices
const laneNames = 58; // the width of their names

// A shade by the name, so that neighbours differ.
function shade(name) {
  let sum = 7;
  for (let at = 0; at < Math.min(name.length, 64); ++at) sum = (sum * 31 + name.charCodeAt(at)) % 997;
  return (sum % 5) * 0.035;
}

// `describe(node)`: a line on the node. `paint(node, isOperation)`: the name of its colour. `mark(node)`: in a comparison, the filled part
// of a box.
export class Icicle {
  constructor(canvas, options) {
    this.canvas = canvas;
    canvas.icicle = this;
    this.options = options;
    this.mostLevels = options.mostLevels || 12;
    this.zoomed = null;
    this.selected = null;
    this.hovered = null;
    this.found = null;
    this.show({ children: [] }, () => 0, 0);
    canvas.addEventListener("mousemove", (event) => this.hover(event));
    canvas.addEventListener("mouseleave", () => this.setHovered(null));
    canvas.addEventListener("click", (event) => {
      const node = this.at(event);
      if (node) options.select(node);
    });
    canvas.addEventListener("dblclick", (event) => options.zoom(this.at(event)));
    canvas.addEventListener("keydown", (event) => this.press(event));
    onRedraw(() => this.draw());
  }

  // `lanes`: [{ label, worth, describe(sum) }] of devices, with the worth of each node.
  show(root, width, total, lanes = []) {
    this.root = root;
    this.width = width;
    this.total = Math.max(total, ...lanes.map((lane) => [...lane.worth.values()].reduce((sum, worth) => sum + worth, 0)));
    this.layout = layOut(root, width, this.total);
    this.lanes = lanes;
    this.gutter = lanes.length ? laneNames : 0;
    this.hosts = new Map([...this.layout.boxes.keys()].map((node) => [node.key, node]));
    this.zoomed = null;
    this.selected = null;
    this.hovered = null;
    this.layOutLanes();
    this.draw();
  }

  // The operations of each lane one after the other: those below the zoomed region, or all.
  layOutLanes() {
    const { zoomed } = this;
    const around = zoomed && (zoomed.frame && zoomed.region ? zoomed.region.original : zoomed.original || zoomed);
    const isBelow = (node) => {
      while (node && node !== around && !(around && node.key === around.key)) node = node.parent;
      return node !== null;
    };
    const box = zoomed ? this.layout.boxes.get(zoomed) : { from: 0, to: 1 };
    this.span = box.to - box.from;
    this.rows = this.lanes.map(({ worth }) => {
      let at = box.from;
      const chosen = [...worth].filter(([node, value]) => value > 0 && (!around || isBelow(node))).sort((a, b) => b[1] - a[1]);
      const boxes = chosen.map(([node, value]) => ({ node, from: at, to: (at += value / this.total) }));
      this.span = Math.max(this.span, at - box.from);
      return boxes;
    });
  }

  isInLane(node) {
    return !this.layout.boxes.has(node) && this.lanes.some(({ worth }) => worth.get(node) > 0);
  }

  has(node) {
    return this.layout.boxes.has(node) || this.isInLane(node);
  }

  // Zooms to a region; to the region around an operation of a lane.
  zoom(node) {
    this.zoomed = node && this.has(node) ? this.findHost(node) : null;
    this.layOutLanes();
    this.draw();
  }

  select(node) {
    this.selected = node && this.has(node) ? node : null;
    this.draw();
  }

  highlight(found) {
    this.found = found;
    this.draw();
  }

  // The shown part: its edges as fractions of the whole, and its first level.
  window() {
    const box = this.zoomed ? this.layout.boxes.get(this.zoomed) : { from: 0, to: 1, level: 0 };
    return { from: box.from, to: box.from + this.span, first: firstLevel(box.level) };
  }

  plotWidth() {
    return Math.max(50, (this.canvas.clientWidth || 800) - this.gutter);
  }

  // How many levels of the host are shown.
  countLevels() {
    return Math.max(this.lanes.length ? 1 : fewestLevels, Math.min(this.mostLevels, this.layout.levels.length - this.window().first));
  }

  topOfLane(number) {
    return this.countLevels() * levelHeight + laneGap + number * levelHeight;
  }

  // The box of a node in the picture; for tests. null: it is not visible.
  place(node) {
    const shown = this.window();
    const lane = this.rows.findIndex((boxes) => boxes.some((candidate) => candidate.node === node));
    let box = this.layout.boxes.get(node);
    let top = box && (box.level - shown.first) * levelHeight;
    if (!box && lane >= 0) [box, top] = [this.rows[lane].find((candidate) => candidate.node === node), this.topOfLane(lane)];
    if (!box || top < 0) return null;
    const width = this.plotWidth();
    const scale = width / (shown.to - shown.from);
    const left = Math.max(0, (box.from - shown.from) * scale);
    const right = Math.min(width, (box.to - shown.from) * scale);
    return { left: this.gutter + left, width: right - left, top, height: levelHeight };
  }

  at(event) {
    const area = this.canvas.getBoundingClientRect();
    const shown = this.window();
    const place = shown.from + ((event.clientX - area.left - this.gutter) / this.plotWidth()) * (shown.to - shown.from);
    const y = event.clientY - area.top;
    if (place < shown.from) return null;
    const isHost = y < this.topOfLane(0) - laneGap;
    const box = find(isHost ? this.layout.levels[shown.first + Math.floor(y / levelHeight)] : this.rows[Math.floor((y - this.topOfLane(0)) / levelHeight)], place);
    return box ? box.node : null;
  }

  hover(event) {
    this.setHovered(this.at(event));
  }

  setHovered(node) {
    if (node === this.hovered) return;
    this.hovered = node;
    this.canvas.classList.toggle("over", node !== null);
    byId("pointed").textContent = node ? this.options.describe(node) : this.options.hint;
    this.draw();
  }

  press(event) {
    const node = this.selected || this.zoomed;
    const next = this.step(event.key, node);
    if (next === undefined) return;
    event.preventDefault();
    if (next) {
      this.options.select(next);
      announce(this.options.describe(next));
    }
  }

  // From an operation of a lane: along the lane, to the lane below or above, or to the region around it.
  stepInLane(key, node) {
    const lane = this.rows.findIndex((boxes) => boxes.some((candidate) => candidate.node === node));
    if (lane < 0) return null;
    const at = this.rows[lane].findIndex((candidate) => candidate.node === node);
    const first = (row) => (row && row.length ? row[0].node : null);
    if (key === "ArrowDown") return first(this.rows[lane + 1]);
    if (key === "ArrowUp" && lane > 0) return first(this.rows[lane - 1]);
    if (key === "ArrowUp") return this.findHost(node);
    const next = this.rows[lane][at + (key === "ArrowLeft" ? -1 : 1)];
    return next ? next.node : null;
  }

  // The region around an operation.
  findHost(node) {
    let at = node;
    while (at && !this.layout.boxes.has(at)) at = this.hosts.get(at.key) || at.parent;
    return at || null;
  }

  // The largest operation that a region submitted, directly or not.
  findOperation(node) {
    const key = (node.original || node).key;
    const isBelow = (at) => {
      while (at && at.key !== key) at = at.parent;
      return at !== null;
    };
    for (const boxes of this.rows) for (const box of boxes) if (isBelow(box.node)) return box.node;
    return null;
  }

  // The node to which a key leads; undefined: the key has no meaning here.
  step(key, node) {
    const widest = (all) => all.filter((candidate) => this.has(candidate)).sort((a, b) => this.width(b) - this.width(a))[0];
    const findNeighbour = (by) => {
      const level = this.layout.levels[node.depth];
      const box = level[level.findIndex((candidate) => candidate.node === node) + by];
      return box ? box.node : null;
    };
    if (key === "Enter") this.options.zoom(node);
    else if (key === "Backspace") this.options.zoom(this.zoomed && this.zoomed.parent);
    else if (!["ArrowDown", "ArrowUp", "ArrowLeft", "ArrowRight"].includes(key)) return undefined;
    else if (!node) return widest(this.root.children) || null;
    else if (this.isInLane(node)) return this.stepInLane(key, node);
    else if (key === "ArrowDown") return widest(node.children.filter((child) => this.layout.boxes.has(child))) || this.findOperation(node);
    else if (key === "ArrowUp") return node.parent.parent ? node.parent : null;
    else return findNeighbour(key === "ArrowLeft" ? -1 : 1);
    return null;
  }

  draw() {
    const { levels } = this.layout;
    const shown = this.window();
    const count = this.countLevels();
    const width = this.plotWidth();
    const lanes = this.lanes.length;
    const context = prepare(this.canvas, width + this.gutter, count * levelHeight + (lanes ? laneGap + lanes * levelHeight : 0));
    this.palette = new Map();
    this.painted = new Set();
    context.font = font(12);
    context.textBaseline = "middle";
    for (let level = 0; level < count && levels[shown.first + level]; ++level) this.drawLevel(context, levels[shown.first + level], level * levelHeight, false);
    this.rows.forEach((boxes, number) => this.drawLevel(context, boxes, this.topOfLane(number), true));
    this.drawLaneNames(context);
    this.canvas.dataset.painted = [...this.painted].sort().join(" ");
    this.canvas.dataset.lanes = this.lanes.map((lane) => lane.label).join(" ");
    if (levels.length - shown.first > this.mostLevels) {
      context.fillStyle = colour("muted");
      context.textAlign = "right";
      context.fillText("⋮ deeper: zoom in", width + this.gutter - 6, count * levelHeight - 8);
      context.textAlign = "left";
    }
  }

  // A row of boxes from the left to the right.
  drawLevel(context, boxes, top, isOperation) {
    const shown = this.window();
    const width = this.plotWidth();
    const scale = width / (shown.to - shown.from);
    const [begin, end] = visible(boxes, shown.from, shown.to);
    let drawn = -1; // the filled part of the level: only one box is drawn for each pixel
    for (let at = begin; at < end; ++at) {
      const box = boxes[at];
      const left = Math.max(0, (box.from - shown.from) * scale);
      const right = Math.min(width, (box.to - shown.from) * scale);
      if (right - drawn < 0.5) continue;
      this.drawBox(context, box.node, this.gutter + left, this.gutter + Math.max(right, left + 0.5), top, isOperation);
      drawn = Math.max(right, left + 0.5);
    }
  }

  drawLaneNames(context) {
    if (this.gutter === 0) return;
    context.fillStyle = colour("muted");
    const draw = (text, top) => context.fillText(shortened(text, 8), 0, top + levelHeight / 2);
    draw("host", 0);
    this.lanes.forEach((lane, number) => draw(lane.label, this.topOfLane(number)));
    // The sum of a lane, if there is room to the right of its boxes.
    const shown = this.window();
    const scale = this.plotWidth() / (shown.to - shown.from);
    this.rows.forEach((boxes, number) => {
      const end = boxes.length ? boxes[boxes.length - 1].to : shown.from;
      const text = this.lanes[number].describe((end - shown.from) * this.total);
      const left = this.gutter + (end - shown.from) * scale + 8;
      if (left + context.measureText(text).width < this.gutter + this.plotWidth()) context.fillText(text, left, this.topOfLane(number) + levelHeight / 2);
    });
  }

  findColour(name) {
    if (!this.palette.has(name)) this.palette.set(name, colour(name));
    return this.palette.get(name);
  }

  drawBox(context, node, left, right, top, isOperation) {
    const width = right - left;
    const inner = Math.max(0.5, width - (width > 3 ? 1 : 0));
    const tall = levelHeight - 1;
    const isDim = this.found !== null && !this.found.has(node);
    const mark = this.options.mark ? this.options.mark(node) : null;
    context.globalAlpha = isDim ? 0.3 : 1;
    const paint = this.options.paint(node, isOperation);
    this.painted.add(paint);
    context.fillStyle = this.findColour(paint);
    context.fillRect(left, top, inner, tall);
    context.globalAlpha = (isDim ? 0.3 : 1) * shade(node.name);
    context.fillStyle = this.findColour("shade");
    context.fillRect(left, top, inner, tall);
    context.globalAlpha = isDim ? 0.45 : 1;
    if (mark) this.drawMark(context, mark, left, top, inner, tall);
    if (node === this.selected || node === this.hovered) {
      context.globalAlpha = 1;
      context.strokeStyle = this.findColour(node === this.selected ? "accent" : "muted");
      context.lineWidth = 2;
      context.strokeRect(left + 1, top + 1, Math.max(0, inner - 2), tall - 2);
    }
    if (width > 26) this.drawName(context, node, left, inner, top, tall);
    context.globalAlpha = 1;
  }

  // A name, after a mark if there is a finding on the region.
  drawName(context, node, left, inner, top, tall) {
    const room = Math.floor((inner - 7) / 6.4);
    let at = left + 5;
    context.save();
    context.beginPath();
    context.rect(left, top, inner - 2, tall);
    context.clip();
    if (node.isOdd) {
      context.fillStyle = this.findColour("problem");
      context.fillText("▲", at, top + tall / 2 + 0.5);
      at += context.measureText("▲ ").width;
    }
    context.fillStyle = this.findColour("box-text");
    context.fillText(shortened(node.label, room), at, top + tall / 2 + 0.5);
    context.restore();
  }

  // Two lines below the name: the time before and the time after.
  drawMark(context, mark, left, top, width, tall) {
    context.fillStyle = this.findColour("before");
    context.fillRect(left, top + tall - 5, width * mark.before, 2);
    context.fillStyle = this.findColour("after");
    context.fillRect(left, top + tall - 2.5, width * mark.after, 2);
  }
}

// The meaning of the colours: [class, name, meaning].
export function makeLegend(entries) {
  return make(
    "ul",
    { class: "legend" },
    ...entries.map(([name, text, meaning]) => make("li", { title: meaning }, make("span", { class: `swatch ${name}` }), text)),
  );
}
