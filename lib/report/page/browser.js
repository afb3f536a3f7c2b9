// The common part of the reports of a profile and of a comparison: an icicle and a table of the same tree, a search, a zoom, and a
// link to the view.
import { byId, copy, announce } from "./dom.js";
import { readLink, writeLink } from "./link.js";
import { findNodes, makeSearch } from "./search.js";
import { listNodes } from "./tree.js";

export class Browser {
  // `makeId(node)`: its name in a link; `opened(node, shown)`: called if it is selected, with the node `shown` of the icicle, and with
  // null if none is.
  constructor({ root, icicle, table, makeId, opened, sumText, rebuild }) {
    Object.assign(this, { root, icicle, table, makeId, opened, sumText, rebuild });
    this.nodes = listNodes(root);
    this.nodesById = new Map();
    for (const node of this.nodes) {
      this.nodesById.set(node.key, node);
      for (const row of node.rows) if (row.id && !this.nodesById.has(row.id)) this.nodesById.set(row.id, node);
    }
    this.selected = null;
    this.zoomed = null;
    this.isRestoring = false;
    byId("search").addEventListener("input", () => this.search());
    byId("expression").addEventListener("change", () => this.search());
    byId("zoom-out").addEventListener("click", () => this.zoom(null));
    byId("fold-all").addEventListener("click", () => table.foldAll(this.nodes));
    byId("unfold-all").addEventListener("click", () => table.foldAll([]));
    byId("copy-csv").addEventListener("click", () => {
      copy(table.csv());
      announce("copied");
      byId("copy-csv").textContent = "Copied";
      setTimeout(() => (byId("copy-csv").textContent = "Copy as CSV"), 1500);
    });
    document.addEventListener("keydown", (event) => this.press(event));
    window.addEventListener("hashchange", () => {
      // A link within the page, for example to the table, is not a view.
      if (location.hash.length > 1 && Object.keys(readLink(location.hash)).length === 0) this.note();
      else this.restore();
    });
  }

  // A node of the icicle may represent another node, as in the inverted tree.
  select(node) {
    const original = node && (node.original || node);
    this.selected = original;
    this.icicle.select(this.findShown(node));
    this.table.select(original && original.region ? original.region.original : original);
    this.opened(original, node);
    this.note();
  }

  zoom(node) {
    this.zoomed = node;
    this.icicle.zoom(this.findShown(node));
    byId("zoom-out").disabled = this.icicle.zoomed === null;
    this.note();
  }

  search() {
    const search = makeSearch(byId("search").value, byId("expression").checked);
    const { found, around } = findNodes(this.nodes, search);
    const shown = this.icicle.root === this.root ? found : findNodes(listNodes(this.icicle.root), search).found;
    const field = byId("search");
    if (search.problem) field.setAttribute("aria-invalid", "true");
    else field.removeAttribute("aria-invalid");
    this.icicle.highlight(search.matches ? new Set([...found, ...shown]) : null);
    this.table.filter(search.matches ? found : null, around);
    byId("found").textContent = search.problem || (search.matches ? this.sumText(found, shown) : "");
    this.note();
  }

  press(event) {
    const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key === "Escape") {
      if (isTyping && byId("search").value) {
        byId("search").value = "";
        this.search();
      } else if (this.selected) this.select(null);
      else this.zoom(null);
    } else if (event.key === "/" && !isTyping) {
      event.preventDefault();
      byId("search").focus();
    }
  }

  view() {
    const table = this.table;
    return {
      region: this.selected && this.makeId(this.selected),
      zoom: this.icicle.zoomed && this.makeId(this.icicle.zoomed),
      measure: byId("measure").selectedIndex > 0 ? byId("measure").value : "",
      lane: byId("lane").selectedIndex > 0 ? byId("lane").value : "",
      stacks: byId("stacks").checked ? "" : "0",
      search: byId("search").value,
      expression: byId("expression").checked ? "1" : "",
      sort: table.sort === table.usual ? "" : table.sort,
      order: table.isUp ? "up" : "",
      folded: [...table.folded].slice(0, 200).map(this.makeId).join(","),
    };
  }

  // The address names the view, so that it can be sent to others.
  note() {
    if (this.isRestoring) return;
    history.replaceState(null, "", writeLink(this.view()) || location.pathname + location.search);
  }

  restore() {
    this.isRestoring = true;
    const view = readLink(location.hash);
    const choose = (id, value) => {
      const at = [...byId(id).options].findIndex((option) => option.value === value);
      byId(id).selectedIndex = Math.max(0, at);
    };
    choose("lane", view.lane);
    byId("stacks").checked = view.stacks !== "0";
    this.rebuild();
    choose("measure", view.measure);
    this.rebuild();
    byId("search").value = view.search || "";
    byId("expression").checked = view.expression === "1";
    this.search();
    const folded = new Set((view.folded || "").split(",").map((id) => this.nodesById.get(id)).filter((node) => node));
    this.table.restore(view.sort, view.order === "up", folded);
    this.zoom(this.find(view.zoom));
    this.select(this.nodesById.get(view.region) || this.find(view.region));
    this.isRestoring = false;
  }

  // In the tree that the icicle shows.
  find(id) {
    if (!id) return null;
    const node = this.nodesById.get(id);
    if (node && this.icicle.root === this.root) return node;
    const key = node ? node.key : id;
    return listNodes(this.icicle.root).find((candidate) => candidate.key === key) || null;
  }

  // The node of the icicle's tree that represents a node; null: there is none.
  findShown(node) {
    return node && !this.icicle.has(node) ? this.find(node.key) : node;
  }
}
