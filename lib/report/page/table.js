// A table of a tree, which sorts, filters and folds. Rows and names of columns are the same as in the terminal's report.
import { make, announce } from "./dom.js";
import { toCsv } from "./csv.js";
import { shortened } from "./names.js";

// More rows at once make browsers slow; the others come with a click.
const mostRows = 1000;
const mostCharacters = 160;

// columns: { name, meaning, isText, wraps, value(line), text(line) }; lines of a node: listLines(node).
export class Table {
  constructor(element, { columns, listLines, sort, onSelect, onEnter, onChange }) {
    this.element = element;
    this.columns = columns;
    this.listLines = listLines;
    this.usual = sort;
    this.sort = sort;
    this.isUp = false;
    this.onSelect = onSelect;
    this.onEnter = onEnter || onSelect; // called for a key
    this.onChange = onChange;
    this.folded = new Set();
    this.found = null;
    this.around = null;
    this.room = mostRows;
    this.selected = null;
    this.last = null; // a line below all others, with its cells as texts by the columns' names in CSV
    this.head = make("tr", { role: "row" });
    this.body = make("tbody", { role: "rowgroup" });
    this.more = make("button", { type: "button", hidden: true, onclick: () => this.showMore() });
    element.setAttribute("role", "treegrid");
    element.append(make("thead", { role: "rowgroup" }, this.head), this.body);
    element.after(this.more);
    for (const column of columns) {
      const button = make("button", { type: "button", title: column.meaning, onclick: () => this.sortBy(column.name) }, column.name);
      this.head.append(
        make("th", { scope: "col", role: "columnheader", title: column.meaning, class: column.isText ? "" : "number" }, button),
      );
    }
    this.body.addEventListener("click", (event) => this.click(event));
    this.body.addEventListener("keydown", (event) => this.press(event));
  }

  show(root) {
    this.root = root;
    this.draw();
  }

  // Restores a view; an unknown column is replaced by the usual one.
  restore(sort, isUp, folded) {
    this.sort = this.columns.some((column) => column.name === sort) ? sort : this.usual;
    this.isUp = isUp;
    this.folded = folded;
    this.draw();
  }

  filter(found, around) {
    this.found = found;
    this.around = around;
    this.room = mostRows;
    this.draw();
  }

  select(node) {
    this.selected = node;
    for (const line of this.body.rows) line.setAttribute("aria-selected", String(line.node === node));
  }

  sortBy(name) {
    this.isUp = this.sort === name ? !this.isUp : false;
    this.sort = name;
    this.draw();
    this.onChange();
    announce(`sorted by ${name}, ${this.isUp ? "the least" : "the greatest"} first`);
  }

  toggle(node) {
    if (this.folded.has(node)) this.folded.delete(node);
    else this.folded.add(node);
    this.draw();
    this.onChange();
  }

  foldAll(nodes) {
    this.folded = new Set(nodes.filter((node) => node.children.length));
    this.draw();
    this.onChange();
  }

  showMore() {
    this.room += mostRows;
    this.draw();
  }

  // The greatest value of a node's lines in the column.
  findGreatest(node, column) {
    const values = this.listLines(node).map((line) => column.value(line)).filter((value) => value !== null && value !== undefined);
    if (column.isText) return values[0] || "";
    return values.length ? Math.max(...values) : -Infinity;
  }

  sorted(nodes) {
    const column = this.columns.find((candidate) => candidate.name === this.sort);
    const keys = new Map(nodes.map((node) => [node, this.findGreatest(node, column)]));
    const sign = this.isUp ? 1 : -1;
    return nodes.slice().sort((a, b) => {
      const [first, second] = [keys.get(a), keys.get(b)];
      if (first === second) return 0;
      // Texts from A to Z, numbers from the greatest.
      return column.isText ? -sign * (first < second ? -1 : 1) : sign * (first < second ? -1 : 1);
    });
  }

  // Nodes in the order in which they are shown.
  shown() {
    const made = [];
    const stack = this.sorted(this.root.children).reverse();
    while (stack.length) {
      const node = stack.pop();
      if (this.found && !this.found.has(node) && !this.around.has(node)) continue;
      made.push(node);
      if (!this.folded.has(node)) stack.push(...this.sorted(node.children).reverse());
    }
    return made;
  }

  draw() {
    if (!this.root) return;
    const nodes = this.shown();
    const lines = [];
    let left = 0;
    for (const node of nodes)
      for (const line of this.listLines(node)) {
        if (lines.length < this.room) lines.push(this.makeLine(node, line));
        else ++left;
      }
    if (this.last && !this.found) lines.push(this.makeLine(this.last.node, this.last));
    this.body.replaceChildren(...lines);
    this.more.hidden = left === 0;
    this.more.textContent = `${left} more rows`;
    [...this.head.cells].forEach((cell, at) => {
      const isSorted = this.columns[at].name === this.sort;
      cell.setAttribute("aria-sort", isSorted ? (this.isUp !== Boolean(this.columns[at].isText) ? "ascending" : "descending") : "none");
    });
    if (lines.length) lines[0].tabIndex = 0;
  }

  makeLine(node, line) {
    const hasMore = node.children.length > 0;
    const isOpen = hasMore && !this.folded.has(node);
    const row = make("tr", {
      role: "row",
      tabindex: -1,
      "aria-level": node.depth + 1,
      "aria-expanded": hasMore ? String(isOpen) : null,
      "aria-selected": String(node === this.selected),
      class: this.found && this.found.has(node) ? "found" : null,
      "data-key": node.key,
    });
    row.node = node;
    this.columns.forEach((column, at) => {
      const cell = make("td", { role: "gridcell", class: at === 0 ? "region" : column.wraps ? "wraps" : column.isText ? "" : "number" });
      const look = column.look && !line.cells ? column.look(line) : null;
      if (look) cell.classList.add(look);
      if (at === 0) {
        cell.style.paddingLeft = `${Math.min(node.depth, 40) * 16 + 4}px`;
        cell.append(make("span", { class: "fold", "aria-hidden": "true" }, hasMore ? (isOpen ? "▾" : "▸") : ""));
        cell.title = shortened(node.label, 2000);
      }
      const text = line.cells ? line.cells[column.csvName] || "—" : column.text(line);
      cell.append(at === 0 ? shortened(text, mostCharacters) : text);
      row.append(cell);
    });
    return row;
  }

  click(event) {
    const row = event.target.closest("tr");
    if (!row) return;
    if (event.target.classList.contains("fold") && row.node.children.length) this.toggle(row.node);
    else this.onSelect(row.node);
  }

  // One row is in the order of tabs: the last that had the focus.
  focusRow(row) {
    if (!row) return;
    for (const element of this.body.querySelectorAll('tr[tabindex="0"]')) element.tabIndex = -1;
    row.tabIndex = 0;
    row.focus();
  }

  focusOn(node) {
    this.focusRow([...this.body.rows].find((row) => row.node === node));
  }

  press(event) {
    const row = event.target.closest("tr");
    if (!row) return;
    const isOpen = row.node.children.length > 0 && !this.folded.has(row.node);
    const move = (to) => this.focusRow(to);
    const refocus = () => this.focusOn(row.node);
    if (event.key === "ArrowDown") move(row.nextElementSibling);
    else if (event.key === "ArrowUp") move(row.previousElementSibling);
    else if (event.key === "ArrowRight" && row.node.children.length && !isOpen) {
      this.toggle(row.node);
      refocus();
    } else if (event.key === "ArrowLeft" && isOpen) {
      this.toggle(row.node);
      refocus();
    } else if (event.key === "ArrowLeft") this.focusOn(row.node.parent);
    else if (event.key === "Enter" || event.key === " ") this.onEnter(row.node);
    else return;
    event.preventDefault();
  }

  // The shown rows, in raw units, with whole paths.
  csv() {
    const lines = [];
    for (const node of this.shown())
      for (const line of this.listLines(node)) lines.push(this.columns.map((column) => (column.csv || column.value)(line)));
    return toCsv(this.columns.map((column) => column.csvName || column.name), lines);
  }
}
