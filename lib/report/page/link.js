// The view, as the end of a link: #region=…&zoom=…&measure=…

const viewKeys = ["region", "zoom", "measure", "lane", "stacks", "search", "expression", "sort", "order", "folded", "from", "to", "interval"];

export function readLink(hash) {
  const view = {};
  for (const part of hash.replace(/^#/, "").split("&")) {
    const at = part.indexOf("=");
    if (at <= 0) continue;
    const name = part.slice(0, at);
    if (!viewKeys.includes(name)) continue;
    try {
      view[name] = decodeURIComponent(part.slice(at + 1));
    } catch (wrong) {
      // A value that is no text is omitted.
    }
  }
  return view;
}

export function writeLink(view) {
  const parts = viewKeys.filter((name) => view[name]).map((name) => `${name}=${encodeURIComponent(view[name])}`);
  return parts.length ? `#${parts.join("&")}` : "";
}
