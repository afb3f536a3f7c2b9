// The HTML report across the stack: models, types of layers, layers in their order of execution, a roofline, kernels.
import { byId, colour, fill, font, make, onRedraw, prepare, announce, setWidth } from "./dom.js";
import { distinct, printable } from "./names.js";
import { duration, formatNumber, percent, quantity } from "./numbers.js";
import { showWarnings } from "./summary.js";
import { Table } from "./table.js";

const stripHeight = 150;
const rooflineHeight = 300;
const mostCharacters = 48;
const mostRows = 1000; // of a plain table
const typePaints = ["box-kernel", "box-copy", "box-wait", "compute", "launch", "blocked", "nocore"];
const restPaint = "other"; // of all further types

export function layerName(layer) {
  return printable(layer.shape ? `${layer.type} ${layer.shape}` : layer.type);
}

// The layers of a pass with their figures, for drawing and for the table. `share`: of the time of the pass.
export function listPass(stack, pass) {
  const whole = pass.layers.reduce((sum, layer) => sum + layer.latency_ns.mean, 0);
  return pass.layers.map((layer, at) => {
    const kind = stack.layers[layer.layer];
    const ofCall = (amount) => (amount === null || !(kind.executed > 0) ? null : amount / kind.executed);
    return { at, kind, name: layerName(kind), ns: layer.latency_ns.mean, error: layer.latency_ns.error, kernels: layer.kernels_ns, device: layer.device_ns,
      other: layer.other_ns, bytes: ofCall(kind.work.bytes), flops: ofCall(kind.work.flops), share: whole > 0 ? layer.latency_ns.mean / whole : 0 };
  });
}

// The bars of a strip that is `width` pixels wide: where there are more layers than pixels, the longest of each pixel.
export function makeBars(layers, width) {
  const count = Math.max(1, Math.min(layers.length, Math.floor(width)));
  const bars = [];
  for (const layer of layers) {
    const place = Math.floor((layer.at * count) / layers.length);
    const bar = bars[place];
    if (bar === undefined) bars[place] = { from: place / count, to: (place + 1) / count, layer, device: layer.device || 0 };
    else {
      if (layer.ns > bar.layer.ns) bar.layer = layer;
      bar.device = Math.max(bar.device, layer.device || 0);
    }
  }
  return bars;
}

// Layers, kernels, or models with the work of their kernels, in one form.
const listed = {
  layers: ({ layers }) => layers.map((layer) => ({ work: layer.work, name: layerName(layer), type: layer.type, roofline: layer.roofline })),
  kernels: ({ kernels, layers }) => kernels.map(({ work, name, layer, roofline }) => ({ work, roofline, name: `${printable(name)}${layer === null ? "" : `, in ${layerName(layers[layer])}`}`, type: layer === null ? null : layers[layer].type })),
  models: ({ models }) => models.map((model) => ({ work: model.kernels, name: printable(model.name), type: null })),
};

// Points with known flops and bytes: flops per byte, and 10^9 flops per second.
export function listPoints(stack, of = "layers") {
  return listed[of](stack)
    .filter(({ work }) => work.intensity > 0 && work.gflops_per_s > 0)
    .map(({ work, name, type, roofline }) => ({ x: work.intensity, y: work.gflops_per_s, ns: work.total_ns, name, type, roofline }));
}

// Powers of ten around the values, for a logarithmic axis.
export function makeDecades(values) {
  const logs = values.map(Math.log10);
  const low = Math.floor(logs.reduce((least, value) => Math.min(least, value), Infinity));
  return { low, high: Math.max(low + 1, Math.ceil(logs.reduce((most, value) => Math.max(most, value), -Infinity))) };
}

const number = (value, unit) => (value === null || value === undefined ? "—" : unit ? quantity(value, unit) : formatNumber(value));
// A sum of which parts are unknown is a lower limit.
const atLeast = (value, share) => (value === null ? "—" : `${share !== null && share < 1 ? "≥" : ""}${formatNumber(value)}`);
const signed = (ns) => (ns === null ? "—" : ns < 0 ? `−${duration(-ns)}` : duration(ns));

function makePaints(stack) {
  const types = [...new Set(stack.types.map(({ type }) => type))];
  return new Map(types.slice(0, typePaints.length).map((type, at) => [type, typePaints[at]]));
}

// columns: { name, text(row), isText }; the first column has names. The first rows only, with a note.
function fillTable(id, columns, all) {
  const rows = all.slice(0, mostRows);
  const name = columns[0].name;
  const names = distinct(rows.map((row) => columns[0].text(row)), mostCharacters);
  const cells = (row, at) => columns.map((column, place) =>
    place === 0
      ? make("td", { class: "region whole", title: columns[0].text(row).slice(0, 2000) }, columns[0].mark ? columns[0].mark(row) : null, names[at])
      : make("td", { class: column.isText ? "" : "number" }, column.text(row)));
  fill(id, all.length > rows.length ? make("caption", { class: "note" }, `${all.length - rows.length} more rows are omitted; the JSON has them.`) : null,
    make("thead", {}, make("tr", {}, make("th", {}, name), ...columns.slice(1).map((column) => make("th", { class: column.isText ? "" : "number", title: column.meaning || null }, column.name)))),
    make("tbody", {}, ...rows.map((row, at) => make("tr", {}, ...cells(row, at)))));
}

function showModels(stack) {
  byId("stack-models-part").hidden = stack.models.length === 0;
  fillTable("stack-models", [
    { name: "MODEL", text: (model) => printable(model.name) },
    { name: "BATCH", text: (model) => number(model.batch) },
    { name: "LATENCY", meaning: "time of a call", text: (model) => duration(model.latency_ns) },
    { name: "PER ITEM", text: (model) => duration(model.item_latency_ns) },
    { name: "ITEMS/s", text: (model) => number(model.items_per_s) },
    { name: "OPTIMAL", meaning: "the least batch that, doubled, adds at most 5 % of ITEMS/s", text: (model) => (model.is_optimal_batch ? "optimal" : ""), isText: true },
    { name: "LAYERS", meaning: "executed in a call", text: (model) => number(model.executed) },
    { name: "KERNELS", meaning: "time in a call", text: (model) => (model.kernels.calls > 0 ? duration(model.kernels.total_ns) : "—") },
    { name: "FLOP", meaning: "in a call; ≥: unknown for some kernels", text: (model) => atLeast(model.kernels.flops, model.kernels.flops_share) },
    { name: "KNOWN", meaning: "share of KERNELS with known FLOP", text: (model) => (model.kernels.flops === null ? "—" : percent(model.kernels.flops_share)) },
  ], stack.models);
}

function swatch(paint) {
  const made = make("span", { class: "swatch" });
  made.style.background = `var(--${paint})`;
  return made;
}

// Rows of several models need their names.
const ofModel = ({ models }) => (models.length < 2 ? [] : [{ name: "MODEL", isText: true, text: (row) => (row.model === null ? "in none" : printable(models[row.model].name)) }]);

function showTypes(stack, paints) {
  byId("stack-types-part").hidden = stack.types.length === 0;
  fillTable("stack-types", [
    { name: "TYPE", text: (type) => printable(type.type), mark: (type) => swatch(paints.get(type.type) || restPaint) },
    { name: "LAYERS", meaning: "executed in a call of the model", text: (type) => number(type.executed) },
    { name: "%LAYERS", text: (type) => percent(type.share_of_layers) },
    { name: "TIME", meaning: "in a call of the model", text: (type) => duration(type.work.total_ns) },
    { name: "%TIME", text: (type) => (type.share_of_time === null ? "—" : percent(type.share_of_time)) },
    { name: "BYTES", text: (type) => atLeast(type.work.bytes, type.work.bytes_share) },
    { name: "FLOP", text: (type) => atLeast(type.work.flops, type.work.flops_share) },
    { name: "GFLOP/s", text: (type) => number(type.work.gflops_per_s) },
    ...ofModel(stack),
    { name: "SHARE OF TIME", isText: true, text: (type) => {
      const part = make("span", { class: "part" });
      part.style.background = `var(--${paints.get(type.type) || restPaint})`;
      return make("div", { class: "bar", role: "img", "aria-label": percent(type.share_of_time || 0) }, setWidth(part, type.share_of_time || 0));
    } },
  ], stack.types);
}

function showKernels(stack) {
  byId("stack-kernels-part").hidden = stack.kernels.length === 0;
  const work = [
    { name: "CALLS", text: ({ work: { calls } }) => number(calls) },
    { name: "TIME", text: ({ work: { total_ns: ns } }) => duration(ns) },
    { name: "BYTES", text: (row) => atLeast(row.work.bytes, row.work.bytes_share) },
    { name: "FLOP", text: (row) => atLeast(row.work.flops, row.work.flops_share) },
    { name: "FLOP/BYTE", text: (row) => number(row.work.intensity) },
    { name: "GFLOP/s", text: (row) => number(row.work.gflops_per_s) },
  ];
  const layers = distinct(stack.layers.map(layerName), mostCharacters);
  fillTable("stack-names", [{ name: "KERNEL", text: (row) => printable(row.name) }, { name: "LAYERS", text: (row) => number(row.layers) }, ...work, ...ofModel(stack)], stack.kernel_names);
  fillTable("stack-kernels", [{ name: "KERNEL", text: (row) => printable(row.name) }, { name: "ON", isText: true, text: (row) => row.device }, ...work,
    { name: "LAYER", isText: true, text: (row) => (row.layer === null ? "in none" : layers[row.layer]) }], stack.kernels);
}

// The latency of each layer of a pass, upwards, and the time of its kernels on devices, downwards, on one scale.
class Strip {
  constructor(canvas, paints, choose) {
    this.canvas = canvas;
    this.paints = paints;
    this.chosen = -1;
    this.layers = [];
    canvas.addEventListener("mousemove", (event) => this.point(this.at(event)));
    canvas.addEventListener("click", (event) => choose(this.at(event)));
    canvas.addEventListener("keydown", (event) => {
      const next = { ArrowLeft: this.chosen - 1, ArrowRight: this.chosen + 1, Home: 0, End: this.layers.length - 1 }[event.key];
      if (next === undefined) return;
      event.preventDefault();
      if (next >= 0 && next < this.layers.length) choose(next);
    });
  }

  show(layers) {
    this.layers = layers;
    this.chosen = -1;
    this.hasDevice = layers.some((layer) => layer.device > 0);
    this.most = layers.reduce((most, layer) => Math.max(most, layer.ns), 0);
    this.mostOfDevice = layers.reduce((most, layer) => Math.max(most, layer.device || 0), 0);
    this.canvas.setAttribute("aria-label", `Time of each of ${layers.length} layers in the order of execution, at most ${duration(this.most)}; arrows move between layers. The table below has the figures.`);
    byId("stack-strip-text").textContent = `Point at a layer. Upwards: time of a layer on the host${this.hasDevice ? "; downwards, on the same scale: time of its kernels on devices" : ""}.`;
    this.draw();
  }

  at(event) {
    const area = this.canvas.getBoundingClientRect();
    return Math.max(0, Math.min(this.layers.length - 1, Math.floor(((event.clientX - area.left) / area.width) * this.layers.length)));
  }

  describe(at) {
    const layer = this.layers[at];
    const parts = [`${at + 1} of ${this.layers.length}: ${layer.name}`, `${duration(layer.ns)}${layer.error === null ? "" : ` ± ${duration(layer.error)}`}, ${percent(layer.share)} of the layers`];
    if (layer.other !== null) parts.push(`kernels ${duration(layer.kernels)}${layer.device > 0 ? `, of these ${duration(layer.device)} on devices` : ""}`);
    if (layer.bytes !== null) parts.push(number(layer.bytes, "B"));
    if (layer.flops !== null) parts.push(number(layer.flops, "FLOP"));
    return parts.join("; ");
  }

  point(at) {
    if (at >= 0 && at < this.layers.length) byId("stack-strip-text").textContent = this.describe(at);
  }

  choose(at) {
    this.chosen = at;
    this.draw();
    this.point(at);
    announce(this.describe(at));
  }

  draw() {
    const width = this.canvas.clientWidth || 600;
    const context = prepare(this.canvas, width, stripHeight);
    const scale = this.most > 0 ? (stripHeight - (this.hasDevice ? 28 : 15)) / (this.most + this.mostOfDevice) : 0;
    const middle = 14 + this.most * scale;
    for (const { from, to, layer, device } of makeBars(this.layers, width)) {
      const left = from * width;
      const size = Math.max(1, (to - from) * width - ((to - from) * width > 4 ? 1 : 0));
      context.fillStyle = colour(this.paints.get(layer.kind.type) || restPaint);
      context.fillRect(left, middle - Math.max(1, layer.ns * scale), size, Math.max(1, layer.ns * scale));
      if (!(device > 0)) continue;
      context.fillStyle = colour("muted");
      context.fillRect(left, middle + 1, size, Math.max(1, device * scale));
    }
    context.fillStyle = colour("line");
    context.fillRect(0, middle, width, 1);
    context.fillStyle = colour("muted");
    context.font = font(11);
    context.fillText(this.hasDevice ? `host, to ${duration(this.most)}` : `to ${duration(this.most)}`, 2, 10);
    if (this.hasDevice) context.fillText(`devices, to ${duration(this.mostOfDevice)}`, 2, stripHeight - 3);
    if (this.chosen < 0) return;
    context.strokeStyle = colour("accent");
    context.lineWidth = 2;
    context.strokeRect((this.chosen / this.layers.length) * width, 1, Math.max(3, width / this.layers.length), stripHeight - 2);
  }
}

function layerColumns() {
  const figure = (name, csvName, meaning, value, text) => ({ name, csvName, meaning, value: (line) => value(line.node.layer), text: (line) => text(value(line.node.layer)) });
  return [
    { name: "LAYER", csvName: "layer", meaning: "type and shape", isText: true, value: (line) => line.node.layer.name, text: (line) => line.node.label },
    figure("#", "number", "position in the order of execution", (layer) => layer.at + 1, String),
    figure("TIME", "time_ns", "mean over the passes", (layer) => layer.ns, duration),
    figure("±", "error_ns", "standard error", (layer) => layer.error, duration),
    figure("%", "share", "of the time of all layers of the pass", (layer) => layer.share, percent),
    figure("BYTES", "bytes", "mean of the calls with this shape", (layer) => layer.bytes, (value) => number(value)),
    figure("FLOP", "flops", "mean of the calls with this shape", (layer) => layer.flops, (value) => number(value)),
    figure("KERNELS", "kernels_ns", "time of its kernels", (layer) => (layer.other === null ? null : layer.kernels), duration),
    figure("DEVICE", "device_ns", "of these on devices", (layer) => (layer.device > 0 ? layer.device : null), duration),
    figure("OTHER", "other_ns", "TIME minus KERNELS; below 0 if a device works on after the layer", (layer) => layer.other, signed),
  ];
}

// The layers of one pass: a strip, bars of host and devices, and a table.
class Passes {
  constructor(stack, paints) {
    this.stack = stack;
    this.strip = new Strip(byId("stack-strip"), paints, (at) => this.choose(at));
    this.table = new Table(byId("stack-executed"), { columns: layerColumns(), listLines: (node) => [{ node }], sort: "#", onSelect: (node) => this.choose(node.layer.at), onChange: () => {} });
    const choice = byId("stack-model");
    choice.replaceChildren(...stack.passes.slice(0, mostRows).map((pass, at) => make("option", { value: at }, pass.model === null ? "layers without a model" : printable(stack.models[pass.model].name))));
    choice.parentElement.hidden = stack.passes.length < 2;
    choice.addEventListener("change", () => this.show(Number(choice.value)));
    this.show(0);
  }

  show(chosen) {
    const pass = this.stack.passes[chosen];
    const layers = listPass(this.stack, pass);
    const names = distinct(layers.map((layer) => layer.name), mostCharacters);
    this.nodes = layers.map((layer, at) => ({ layer, label: names[at], key: String(at), depth: 0, children: [], parent: null }));
    this.table.selected = null;
    this.table.root = { children: this.nodes };
    this.table.restore("#", true, new Set());
    this.strip.show(layers);
    byId("stack-passes-note").textContent = `Means of ${pass.passes} pass${pass.passes === 1 ? "" : "es"}${pass.other_passes ? `; ${pass.other_passes} passes with another sequence of layers are in no mean` : ""}. A pass is ${pass.model === null ? "the sequence of layers that repeats" : "a call of the model"}.`;
    const sum = (value) => layers.reduce((total, layer) => total + (value(layer) || 0), 0);
    const isLinked = layers.some((layer) => layer.other !== null);
    const isPartial = layers.some((layer) => layer.kernels === null);
    const sums = [["layers", sum((layer) => layer.ns), "compute"]];
    if (isLinked) sums.push(["host kernels", sum((layer) => layer.kernels - layer.device), "box-region"], ["on devices", sum((layer) => layer.device), "box-kernel"]);
    const most = Math.max(...sums.map(([, ns]) => ns), Number.MIN_VALUE);
    fill("stack-sums", ...sums.map(([name, ns, paint]) => {
      const part = make("span", { class: "part" });
      part.style.background = `var(--${paint})`;
      return make("div", { class: "line" }, make("span", { class: "name" }, name), make("div", { class: "bar" }, setWidth(part, ns / most)), make("span", { class: "number" }, `${isPartial && name !== "layers" ? "≥" : ""}${duration(ns)}`));
    }));
  }

  choose(at) {
    if (at < 0 || at >= this.nodes.length) return;
    this.strip.choose(at);
    this.table.select(this.nodes[at]);
  }
}

class Roofline {
  constructor(canvas, stack, ceilings, paints, of = "layers") {
    Object.assign(this, { canvas, ceilings, paints });
    this.points = listPoints(stack, of);
    canvas.addEventListener("mousemove", (event) => this.point(event));
    canvas.setAttribute("aria-label", `Roofline: ${this.points.length} ${of} by flops per byte and flops per second. The tables have the figures.`);
  }

  // The lines of one thread alone, and of a thread's share of all CPUs together.
  roofs() {
    if (!this.ceilings) return [];
    const { cpus, one_gflops: peak, one_gbytes_per_s: bytes, all_gflops: allPeak, all_gbytes_per_s: allBytes } = this.ceilings;
    const all = cpus > 1 ? [{ name: `one of ${cpus} busy threads`, peak: allPeak / cpus, bytes: allBytes / cpus }] : [];
    return [{ name: "one thread alone", peak, bytes }, ...all].filter((roof) => roof.peak > 0 && roof.bytes > 0);
  }

  draw() {
    const width = this.canvas.clientWidth || 600;
    const context = prepare(this.canvas, width, rooflineHeight);
    const roofs = this.roofs();
    const across = makeDecades([...this.points.map((point) => point.x), ...roofs.map((roof) => roof.peak / roof.bytes)]);
    const up = makeDecades([...this.points.map((point) => point.y), ...roofs.map((roof) => roof.peak)]);
    const area = { left: 46, right: width - 8, top: 10, bottom: rooflineHeight - 34 };
    const x = (value) => area.left + ((Math.log10(value) - across.low) / (across.high - across.low)) * (area.right - area.left);
    const y = (value) => area.bottom - ((Math.log10(value) - up.low) / (up.high - up.low)) * (area.bottom - area.top);
    context.font = font(11);
    context.lineWidth = 1;
    const line = (fromX, fromY, toX, toY) => {
      context.beginPath();
      context.moveTo(fromX, fromY);
      context.lineTo(toX, toY);
      context.stroke();
    };
    context.strokeStyle = colour("line");
    context.fillStyle = colour("muted");
    for (let at = across.low; at <= across.high; ++at) {
      line(x(10 ** at), area.top, x(10 ** at), area.bottom);
      context.fillText(formatNumber(10 ** at), Math.min(x(10 ** at) - 6, width - 30), area.bottom + 14);
    }
    for (let at = up.low; at <= up.high; ++at) {
      line(area.left, y(10 ** at), area.right, y(10 ** at));
      context.fillText(formatNumber(10 ** at), 2, y(10 ** at) + 4);
    }
    context.fillText("FLOP/BYTE; upwards: GFLOP/s", area.left, rooflineHeight - 4);
    context.save();
    context.beginPath();
    context.rect(area.left, area.top, area.right - area.left, area.bottom - area.top);
    context.clip();
    roofs.forEach((roof, at) => {
      const ridge = roof.peak / roof.bytes;
      context.strokeStyle = colour(at ? "muted" : "text");
      line(x(10 ** across.low), y(roof.bytes * 10 ** across.low), x(ridge), y(roof.peak));
      line(x(ridge), y(roof.peak), x(10 ** across.high), y(roof.peak));
      context.fillStyle = context.strokeStyle;
      context.textAlign = "right";
      context.fillText(roof.name, area.right - 4, y(roof.peak) + (at ? 12 : -4));
    });
    context.restore();
    const longest = this.points.reduce((most, point) => Math.max(most, point.ns), 0);
    for (const point of this.points) {
      point.at = [x(point.x), y(point.y)];
      point.radius = 3 + 5 * Math.sqrt(longest > 0 ? point.ns / longest : 0);
      context.beginPath();
      context.arc(...point.at, point.radius, 0, 2 * Math.PI);
      context.fillStyle = colour(this.paints.get(point.type) || restPaint);
      context.fill();
      context.strokeStyle = colour("back");
      context.stroke();
    }
  }

  point(event) {
    const area = this.canvas.getBoundingClientRect();
    const far = (point) => Math.hypot(point.at[0] - (event.clientX - area.left), point.at[1] - (event.clientY - area.top));
    const nearest = this.points.reduce((best, point) => (best === null || far(point) < far(best) ? point : best), null);
    if (nearest === null || far(nearest) > 20) return;
    const { roofline } = nearest;
    byId(`${this.canvas.id}-text`).textContent = `${nearest.name}: ${formatNumber(nearest.x)} FLOP/BYTE, ${formatNumber(nearest.y)} GFLOP/s${roofline ? `, ${percent(roofline.share)} of the attainable ${formatNumber(roofline.attainable_gflops)}, limited by ${roofline.bound}` : ""}; ${duration(nearest.ns)} in a call of the model`;
  }
}

export function show({ levels, words }) {
  const { stack } = levels;
  document.title = `${words.title}: adaptyst`;
  byId("title").textContent = words.title;
  byId("subject").textContent = words.subject;
  showWarnings(words.warnings);
  for (const id of ["icicle-part", "table-part", "ranks", "measuring"]) byId(id).hidden = true;
  byId("findings").parentElement.hidden = true;
  document.querySelector(".skip").setAttribute("href", "#stack-models");
  byId("stack-part").hidden = false;
  const paints = makePaints(stack);
  showModels(stack);
  showTypes(stack, paints);
  showKernels(stack);
  const order = [...stack.layers.keys()].sort((a, b) => stack.layers[b].work.total_ns - stack.layers[a].work.total_ns);
  byId("stack-layers-part").hidden = stack.layers.length === 0;
  fillTable("stack-layers", [
    { name: "LAYER", text: (at) => layerName(stack.layers[at]), mark: (at) => swatch(paints.get(stack.layers[at].type) || restPaint) },
    { name: "MODEL", isText: true, text: (at) => (stack.layers[at].model === null ? "—" : printable(stack.models[stack.layers[at].model].name)) },
    { name: "CALLS", meaning: "in a call of the model", text: (at) => number(stack.layers[at].work.calls) },
    { name: "TIME", meaning: "in a call of the model", text: (at) => duration(stack.layers[at].work.total_ns) },
    { name: "BYTES", text: (at) => atLeast(stack.layers[at].work.bytes, stack.layers[at].work.bytes_share) },
    { name: "FLOP", text: (at) => atLeast(stack.layers[at].work.flops, stack.layers[at].work.flops_share) },
    { name: "FLOP/BYTE", text: (at) => number(stack.layers[at].work.intensity) },
    { name: "GFLOP/s", text: (at) => number(stack.layers[at].work.gflops_per_s) },
    { name: "%ROOF", text: (at) => (stack.layers[at].roofline ? percent(stack.layers[at].roofline.share) : "—") },
    { name: "KERNELS", text: (at) => (stack.layers[at].kernels.calls > 0 ? duration(stack.layers[at].kernels.total_ns) : "—") },
    { name: "DEVICE", text: (at) => (stack.layers[at].device_ns > 0 ? duration(stack.layers[at].device_ns) : "—") },
    { name: "OTHER", text: (at) => signed(stack.layers[at].other_ns) },
  ], order);
  byId("stack-passes-part").hidden = stack.passes.length === 0;
  const passes = stack.passes.length ? new Passes(stack, paints) : null;
  const roofline = new Roofline(byId("stack-roofline"), stack, levels.ceilings, paints);
  const hasPoints = roofline.points.length > 0;
  byId("stack-roofline-part").hidden = stack.layers.length === 0 && stack.kernels.length === 0;
  byId("stack-roofline").hidden = !hasPoints;
  byId("stack-roofline-text").textContent = hasPoints
    ? `Point at a layer. Areas of points: time. ${levels.ceilings ? "Lines: ceilings of the machine." : "The ceilings of the machine are unknown."}`
    : "No layer has known flops and bytes.";
  const others = ["kernels", "models"].map((of) => new Roofline(byId(`stack-roofline-${of}`), stack, levels.ceilings, paints, of)).filter(({ points }) => points.length > 0);
  for (const { canvas } of others) {
    canvas.parentElement.hidden = false;
    byId(`${canvas.id}-text`).textContent = "Point at a dot to see the figures.";
  }
  const draw = () => {
    if (passes) passes.strip.draw();
    if (hasPoints) roofline.draw();
    for (const other of others) other.draw();
  };
  onRedraw(draw);
  draw();
}
