// The icicle: boxes on a canvas, the outermost regions above, each as wide as its part of the whole.
import { byId, colour, font, make, onRedraw, prepare, say } from "./dom.js";
import { find, firstLevel, layOut, visible } from "./layout.js";
import { shortened } from "./names.js";

const levelHeight = 22;
const fewestLevels = 4;

// A shade by the name, so that neighbours can be told from each other.
function shade(name) {
  let sum = 7;
  for (let at = 0; at < Math.min(name.length, 64); ++at) sum = (sum * 31 + name.charCodeAt(at)) % 997;
  return (sum % 5) * 0.035;
}

// `describe(node)`: a line on it. `paint(node)`: the name of its colour. `mark(node)`: of a comparison, how much of the
// box is filled; empty: all of it.
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

  show(root, width, total) {
    this.root = root;
    this.width = width;
    this.total = total;
    this.layout = layOut(root, width, total);
    this.zoomed = null;
    this.selected = null;
    this.hovered = null;
    this.draw();
  }

  has(node) {
    return this.layout.boxes.has(node);
  }

  zoom(node) {
    this.zoomed = node && this.has(node) ? node : null;
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

  // What is shown: its edges as fractions of the whole, and its first level.
  window() {
    const box = this.zoomed ? this.layout.boxes.get(this.zoomed) : { from: 0, to: 1, level: 0 };
    return { from: box.from, to: box.to, first: firstLevel(box.level) };
  }

  // Where a node's box is on the canvas; for tests, and for what points at it. null: it is not to be seen.
  place(node) {
    const box = this.layout.boxes.get(node);
    const shown = this.window();
    if (!box || box.level < shown.first) return null;
    const width = this.canvas.clientWidth;
    const scale = width / (shown.to - shown.from);
    const left = Math.max(0, (box.from - shown.from) * scale);
    const right = Math.min(width, (box.to - shown.from) * scale);
    return { left, width: right - left, top: (box.level - shown.first) * levelHeight, height: levelHeight };
  }

  at(event) {
    const area = this.canvas.getBoundingClientRect();
    const shown = this.window();
    const place = shown.from + ((event.clientX - area.left) / area.width) * (shown.to - shown.from);
    const box = find(this.layout.levels[shown.first + Math.floor((event.clientY - area.top) / levelHeight)], place);
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
      say(this.options.describe(next));
    }
  }

  // What a key leads to; undefined: it is none of ours.
  step(key, node) {
    const widest = (all) => all.filter((one) => this.has(one)).sort((a, b) => this.width(b) - this.width(a))[0];
    const findNeighbour = (by) => {
      const level = this.layout.levels[node.depth];
      const box = level[level.findIndex((one) => one.node === node) + by];
      return box ? box.node : null;
    };
    if (key === "Enter") this.options.zoom(node);
    else if (key === "Backspace") this.options.zoom(this.zoomed && this.zoomed.parent);
    else if (!["ArrowDown", "ArrowUp", "ArrowLeft", "ArrowRight"].includes(key)) return undefined;
    else if (!node) return widest(this.root.children) || null;
    else if (key === "ArrowDown") return widest(node.children) || null;
    else if (key === "ArrowUp") return node.parent.parent ? node.parent : null;
    else return findNeighbour(key === "ArrowLeft" ? -1 : 1);
    return null;
  }

  draw() {
    const { levels } = this.layout;
    const shown = this.window();
    const count = Math.max(fewestLevels, Math.min(this.mostLevels, levels.length - shown.first));
    const width = this.canvas.clientWidth || 800;
    const height = count * levelHeight;
    const context = prepare(this.canvas, width, height);
    this.palette = new Map();
    this.painted = new Set();
    context.font = font(12);
    context.textBaseline = "middle";
    const scale = width / (shown.to - shown.from);
    for (let level = 0; level < count; ++level) {
      const boxes = levels[shown.first + level];
      if (!boxes) break;
      const [begin, end] = visible(boxes, shown.from, shown.to);
      let drawn = -1; // how far the level is filled: of boxes that are thinner than a pixel, one is drawn
      for (let at = begin; at < end; ++at) {
        const box = boxes[at];
        const left = Math.max(0, (box.from - shown.from) * scale);
        const right = Math.min(width, (box.to - shown.from) * scale);
        if (right - drawn < 0.5) continue;
        this.drawBox(context, box.node, left, Math.max(right, left + 0.5), level * levelHeight);
        drawn = Math.max(right, left + 0.5);
      }
    }
    this.canvas.dataset.painted = [...this.painted].sort().join(" ");
    if (levels.length - shown.first > this.mostLevels) {
      context.fillStyle = colour("muted");
      context.textAlign = "right";
      context.fillText("⋮ deeper: zoom in", width - 6, height - 8);
      context.textAlign = "left";
    }
  }

  findColour(name) {
    if (!this.palette.has(name)) this.palette.set(name, colour(name));
    return this.palette.get(name);
  }

  drawBox(context, node, left, right, top) {
    const width = right - left;
    const inner = Math.max(0.5, width - (width > 3 ? 1 : 0));
    const tall = levelHeight - 1;
    const isDim = this.found !== null && !this.found.has(node);
    const mark = this.options.mark ? this.options.mark(node) : null;
    context.globalAlpha = isDim ? 0.3 : 1;
    const paint = this.options.paint(node);
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
    if (width > 26) {
      context.fillStyle = this.findColour("box-text");
      const room = Math.floor((width - 8) / 6.4);
      context.save();
      context.beginPath();
      context.rect(left, top, inner - 2, tall);
      context.clip();
      context.fillText((node.isOdd ? "▲ " : "") + shortened(node.label, room), left + 5, top + tall / 2 + 0.5);
      context.restore();
    }
    context.globalAlpha = 1;
  }

  // Below the name two lines: how long it was before, and how long it is now.
  drawMark(context, mark, left, top, width, tall) {
    context.fillStyle = this.findColour("before");
    context.fillRect(left, top + tall - 5, width * mark.before, 2);
    context.fillStyle = this.findColour("after");
    context.fillRect(left, top + tall - 2.5, width * mark.after, 2);
  }
}

// What the colours mean.
export function makeLegend(entries) {
  return make(
    "ul",
    { class: "legend" },
    ...entries.map(([name, text]) => make("li", {}, make("span", { class: `swatch ${name}` }), text)),
  );
}
