// Elements. Texts of a profile become text nodes, never markup.

export function make(tag, properties, ...content) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties || {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
  }
  element.append(...content.filter((child) => child !== null && child !== undefined));
  return element;
}

// A field of the details; none if its value is unknown or empty.
export function line(name, value) {
  return value === null || value === undefined || value === "" ? null : make("div", {}, make("dt", {}, name), make("dd", {}, value));
}

// A part of the details with a heading; nothing if it has no fields.
export function makeGroup(heading, ...lines) {
  const shown = lines.filter((text) => text);
  return shown.length ? [make("h3", {}, heading), make("dl", { class: "facts-of-row" }, ...shown)] : [];
}

export function byId(id) {
  return document.getElementById(id);
}

export function fill(id, ...content) {
  byId(id).replaceChildren(...content.filter((child) => child !== null && child !== undefined));
}

// Makes an element as wide as a fraction of its parent. Scripts may do this; the page's policy allows no style in markup.
export function setWidth(element, fraction) {
  element.style.width = `${100 * fraction}%`;
  return element;
}

// The colours of the page, which are light or dark.
export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

// The font of the page's text, with its size in pixels.
export function font(size) {
  return `${size}px ${getComputedStyle(document.body).fontFamily}`;
}

// Sizes a canvas for this screen's resolution; returns its context, in units of the page.
export function prepare(canvas, width, height) {
  const scale = window.devicePixelRatio || 1;
  canvas.width = Math.max(1, Math.round(width * scale));
  canvas.height = Math.max(1, Math.round(height * scale));
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  context.clearRect(0, 0, width, height);
  return context;
}

export function onRedraw(draw) {
  window.addEventListener("resize", draw);
  // Paper has the light colours, which the page has only after the browser has switched to its print form.
  window.addEventListener("beforeprint", draw);
  window.matchMedia("print").addEventListener("change", draw);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
}

let saying;

// Announces a text to screen readers.
export function announce(text) {
  clearTimeout(saying);
  saying = setTimeout(() => {
    byId("announcement").textContent = text;
  }, 150);
}

export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch (refused) {
    const area = make("textarea", { class: "unseen" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}
