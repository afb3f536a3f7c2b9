// Names come from programs and files, and may hold anything.

// What would turn or break the line that it stands in becomes "?", as in the terminal: controls, and marks of direction.
export function printable(text) {
  // eslint-disable-next-line no-control-regex
  return String(text).replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, "?");
}

// At most so many characters, the middle left out: names that begin alike often end differently.
export function shortened(text, most) {
  if (text.length <= most) return text;
  const all = Array.from(text);
  if (all.length <= most) return text;
  const end = Math.floor((most - 1) / 2);
  return all.slice(0, most - 1 - end).join("") + "…" + all.slice(all.length - end).join("");
}

// "outer > inner"
export function joinPath(names) {
  return names.map(printable).join(" > ");
}

// Of a path: the same in every profile of a program. FNV-1a, 2 × 32 bits.
export function makeKey(names) {
  let low = 0x811c9dc5;
  let high = 0x050c5d1f;
  for (const unit of names.join("\u001f").split("").map((one) => one.charCodeAt(0))) {
    low = Math.imul(low ^ unit, 0x01000193);
    high = Math.imul(high ^ unit ^ (low >>> 24), 0x01000193);
  }
  return (high >>> 0).toString(16).padStart(8, "0") + (low >>> 0).toString(16).padStart(8, "0");
}
