// Names come from programs and files, and may contain any characters.

// Characters that break a line or change its direction become "?", as in the terminal: controls, and marks of direction.
export function printable(text) {
  // eslint-disable-next-line no-control-regex
  return String(text).replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, "?");
}

// Cuts the middle of a long name, because names with the same beginning often have different ends.
export function shortened(text, most) {
  if (text.length <= most) return text;
  const all = Array.from(text);
  if (all.length <= most) return text;
  const end = Math.floor((most - 1) / 2);
  return all.slice(0, most - 1 - end).join("") + "…" + all.slice(all.length - end).join("");
}

// The same names, each with about `most` characters, but never so few that two different names become the same.
export function distinct(names, most) {
  const made = new Map(Array.from(new Set(names), (name) => [name, shortened(name, most)]));
  const longest = Array.from(made.keys()).reduce((length, name) => Math.max(length, name.length), 0);
  for (let length = most; length < longest; ) {
    const counts = new Map();
    for (const text of made.values()) counts.set(text, (counts.get(text) || 0) + 1);
    const same = Array.from(made).filter(([, text]) => counts.get(text) > 1);
    if (same.length === 0) break;
    length = Math.min(longest, Math.ceil(length * 1.25));
    for (const [name] of same) made.set(name, shortened(name, length));
  }
  return names.map((name) => made.get(name));
}

// "outer > inner"
export function joinPath(names) {
  return names.map(printable).join(" > ");
}

// The folder that all sources have in common, with "/" at its end; empty: none. Headers of the system do not count.
export function commonFolder(files) {
  const folders = files.filter((file) => file.startsWith("/") && !file.startsWith("/usr/")).map((file) => file.split("/").slice(0, -1));
  if (folders.length === 0) return "";
  let shared = folders[0].length;
  for (const folder of folders) {
    let at = 0;
    while (at < shared && at < folder.length && folder[at] === folders[0][at]) ++at;
    shared = at;
  }
  return shared > 1 ? `${folders[0].slice(0, shared).join("/")}/` : "";
}

// A path relative to this folder; for paths elsewhere, the end of the path.
export function relativePath(file, folder) {
  if (folder !== "" && file.startsWith(folder)) return file.slice(folder.length);
  return file.startsWith("/") ? `…/${file.split("/").slice(1).slice(-3).join("/")}` : file;
}

// FNV-1a, 2 × 32 bits, continued from the hash of the path above, so that a deep path is read only once. null: no path above.
export function extendHash(above, name) {
  let { low, high } = above || { low: 0x811c9dc5, high: 0x050c5d1f };
  const text = above ? `\u001f${name}` : name;
  for (let at = 0; at < text.length; ++at) {
    const unit = text.charCodeAt(at);
    low = Math.imul(low ^ unit, 0x01000193);
    high = Math.imul(high ^ unit ^ (low >>> 24), 0x01000193);
  }
  return { low, high };
}

export function keyOf({ low, high }) {
  return (high >>> 0).toString(16).padStart(8, "0") + (low >>> 0).toString(16).padStart(8, "0");
}

// The key of a path, which is the same in every profile of a program.
export function makeKey(names) {
  return keyOf(extendHash(null, names.join("\u001f")));
}
