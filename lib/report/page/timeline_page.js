// The HTML report of a trace: a timeline, the chosen interval, and a table of the tracks.
import { readSection } from "./data.js";
import { byId, fill, line, make, makeGroup, announce } from "./dom.js";
import { makeLegend } from "./icicle.js";
import { findSubmission, firstAt, firstFrom, readIntervals, rowOf } from "./intervals.js";
import { readLink, writeLink } from "./link.js";
import { printable, shortened } from "./names.js";
import { duration, grouped, quantity } from "./numbers.js";
import { makeSearch } from "./search.js";
import { showWarnings } from "./summary.js";
import { boxOf, exactTime, Timeline } from "./timeline.js";

const hint = "Ctrl and the wheel zoom; a drag zooms to a range of time; a click shows details.";
const mostTracks = 500;

function makeTracks(timeline, shown) {
  const headings = ["GROUP", "TRACK", "INTERVALS", "SUMMED UP", "LONGEST"];
  const row = (tag, texts, properties) => make("tr", properties, ...texts.map((text, at) => make(tag, { class: at > 1 ? "number" : "wraps" }, text)));
  const lineOf = new Map(shown.lines.map((entry, at) => [entry.track, at]).reverse());
  const body = timeline.tracks.slice(0, mostTracks).map((track, number) => {
    const go = () => lineOf.has(number) && shown.scrollTo(lineOf.get(number));
    return row("td", [shortened(printable(track.group), 80), shortened(printable(track.name), 60), grouped(track.count), track.summed ? grouped(track.summed) : "—", track.count ? duration(track.longest_ns) : "—"], {
      tabindex: "0",
      onclick: go,
      onkeydown: (event) => event.key === "Enter" && go(),
    });
  });
  const left = timeline.tracks.length - body.length;
  return [make("thead", {}, row("th", headings)), make("tbody", {}, ...body, left > 0 ? row("td", [`The table omits ${left} tracks`]) : null)];
}

class Page {
  constructor(timeline) {
    this.timeline = timeline;
    this.shown = new Timeline(byId("timeline"), byId("timeline-view"), byId("timeline-length"), timeline, {
      changed: () => this.note(),
      drawn: () => this.tellShown(),
      pointed: (text) => (byId("timeline-pointed").textContent = text === null ? hint : text),
      select: (number) => this.select(number),
    });
    this.isRestoring = false;
    byId("zoom-in-time").addEventListener("click", () => this.shown.zoom(0.5));
    byId("zoom-out-time").addEventListener("click", () => this.shown.zoom(2));
    byId("zoom-whole").addEventListener("click", () => this.shown.show(0, timeline.range_ns));
    byId("timeline-search").addEventListener("input", () => this.search());
    byId("timeline-expression").addEventListener("change", () => this.search());
    document.addEventListener("keydown", (event) => this.press(event));
    window.addEventListener("hashchange", () => {
      // A link within the page, for example to the tracks, is not a view.
      if (location.hash.length > 1 && Object.keys(readLink(location.hash)).length === 0) this.note();
      else this.restore();
    });
  }

  select(number) {
    this.shown.select(number);
    if (number === null) byId("details").hidden = true;
    else this.showDetails(number);
    document.body.classList.toggle("with-details", number !== null && window.matchMedia("(min-width: 1100px)").matches);
    this.shown.draw();
    this.note();
  }

  goTo(number) {
    this.select(number);
    this.shown.reveal(number);
    announce(this.shown.describe(number));
  }

  showDetails(number) {
    const { intervals, names } = this.shown;
    const rowNumber = rowOf(intervals, number);
    const row = intervals.rows[rowNumber];
    const place = number - row.first;
    const track = this.timeline.tracks[this.timeline.rows[rowNumber].track];
    const [begin, end, site] = [intervals.begins[number], intervals.ends[number], intervals.sites[number]];
    const by = findSubmission(intervals, number);
    const goTo = (target, text) => make("button", { type: "button", class: "link", onclick: () => this.goTo(target) }, text);
    const nameOf = (interval) => shortened(names[intervals.sites[interval]], 80);
    const submitted = this.shown.related.filter(([from]) => from === number);
    fill(
      "details",
      make("header", {}, make("h2", { id: "details-title" }, shortened(names[site], 300)), make("button", { type: "button", class: "close", "aria-label": "close", onclick: () => this.select(null) }, "×")),
      make("p", {}, make("button", { type: "button", onclick: () => this.shown.zoomTo(number) }, "Zoom in")),
      ...makeGroup(
        "Interval",
        line("kind", this.timeline.sites[site][1].replace("_", " ")),
        line("track", `${shortened(printable(track.name), 80)} of ${shortened(printable(track.group), 120)}`),
        line("start", exactTime(begin)),
        line("end", exactTime(end)),
        line("duration", `${duration(end - begin)} (${grouped(end - begin)} ns)`),
        line("bytes", row.bytes && row.bytes[place] ? `${quantity(row.bytes[place], "B")}${end > begin ? `, ${quantity((row.bytes[place] / (end - begin)) * 1e9, "B/s")}` : ""}` : ""),
      ),
      ...makeGroup(
        "Submission",
        line("correlation", row.correlations && row.correlations[place] ? String(row.correlations[place]) : ""),
        by && by.call !== undefined ? line("launched by", goTo(by.call, nameOf(by.call))) : null,
        by ? line("launch delay", duration(begin - (by.call === undefined ? by.time : intervals.begins[by.call]))) : null,
        ...submitted.slice(0, 20).map(([, interval]) => line("launched", goTo(interval, nameOf(interval)))),
        submitted.length > 20 ? line("launched", `${submitted.length - 20} more`) : null,
      ),
    );
    byId("details").hidden = false;
  }

  search() {
    const field = byId("timeline-search");
    const search = makeSearch(field.value, byId("timeline-expression").checked);
    if (search.problem) field.setAttribute("aria-invalid", "true");
    else field.removeAttribute("aria-invalid");
    this.shown.found = search.matches ? this.shown.names.map((name) => search.matches(name.slice(0, 2000))) : null;
    this.shown.looks = new Map();
    byId("timeline-found").textContent = search.problem || (search.matches ? this.sumUp() : "");
    this.shown.draw();
    this.note();
  }

  sumUp() {
    const { intervals, found } = this.shown;
    if (!intervals) return "";
    let [count, sum] = [0, 0];
    for (let at = 0; at < intervals.count; ++at) {
      if (!found[intervals.sites[at]]) continue;
      ++count;
      sum += intervals.ends[at] - intervals.begins[at];
    }
    const isSampled = this.timeline.tracks.some((track) => track.summed > 0);
    return `${grouped(count)} found, ${duration(sum)} in all${isSampled ? ", of the kept intervals" : ""}`;
  }

  press(event) {
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) {
      if (event.key !== "Escape") return;
      if (byId("timeline-search").value) {
        byId("timeline-search").value = "";
        this.search();
        return;
      }
    }
    const { shown } = this;
    const keys = {
      "+": () => shown.zoom(0.5),
      "=": () => shown.zoom(0.5),
      "-": () => shown.zoom(2),
      Backspace: () => shown.zoom(2),
      Home: () => shown.show(0, shown.range),
      ArrowLeft: () => shown.pan(-0.2),
      ArrowRight: () => shown.pan(0.2),
      Enter: () => shown.zoomTo(shown.selected),
      n: () => this.step(1, 0),
      p: () => this.step(-1, 0),
      j: () => this.step(0, 1),
      k: () => this.step(0, -1),
    };
    if (event.key === "Escape") {
      if (shown.selected !== null) this.select(null);
      else shown.show(0, shown.range);
    } else if (event.key === "/") {
      event.preventDefault();
      byId("timeline-search").focus();
    } else if (event.target === shown.canvas && !event.ctrlKey && !event.metaKey && event.key in keys) {
      event.preventDefault();
      keys[event.key]();
    }
  }

  // To the next interval of the row, or to the interval of the next row at this time.
  step(along, down) {
    const { intervals, selected, from } = this.shown;
    if (!intervals || intervals.count === 0) return;
    if (selected === null) {
      const row = intervals.rows.find((candidate) => candidate.count > 0);
      this.goTo(Math.min(firstAt(intervals, row, from), row.first + row.count - 1));
      return;
    }
    const rowNumber = rowOf(intervals, selected);
    const row = intervals.rows[rowNumber + down];
    if (!row) return;
    const next = down === 0 ? selected + along : Math.min(firstAt(intervals, row, intervals.begins[selected]), row.first + row.count - 1);
    if (next >= row.first && next < row.first + row.count) this.goTo(next);
  }

  tellShown() {
    const { shown } = this;
    byId("timeline-shown").textContent = `${duration(shown.to - shown.from)} from ${exactTime(shown.from)}, of ${duration(shown.range)}` +
      (shown.leavesOut ? "; too many arrows: only those of the chosen interval are drawn" : "");
  }

  // The address names the view, so that it can be sent to others.
  note() {
    const { shown } = this;
    byId("zoom-whole").disabled = shown.isWhole();
    this.tellShown();
    if (this.isRestoring || !shown.intervals) return;
    const view = { search: byId("timeline-search").value, expression: byId("timeline-expression").checked ? "1" : "" };
    if (!shown.isWhole()) Object.assign(view, { from: shown.from.toFixed(0), to: shown.to.toFixed(0) });
    if (shown.selected !== null) view.interval = `${rowOf(shown.intervals, shown.selected)}.${shown.intervals.begins[shown.selected]}`;
    history.replaceState(null, "", writeLink(view) || location.pathname + location.search);
  }

  restore() {
    this.isRestoring = true;
    const view = readLink(location.hash);
    const { shown } = this;
    const [from, to] = [Number(view.from), Number(view.to)];
    if (to > from && from >= 0) shown.show(from, to);
    else shown.show(0, shown.range);
    byId("timeline-search").value = view.search || "";
    byId("timeline-expression").checked = view.expression === "1";
    this.search();
    if (shown.intervals) {
      const [rowNumber, begin] = (view.interval || "").split(".").map(Number);
      const row = shown.intervals.rows[rowNumber];
      let number = null;
      if (row && view.interval) number = firstFrom(shown.intervals, row, begin);
      this.select(number !== null && number < row.first + row.count && shown.intervals.begins[number] === begin ? number : null);
    }
    this.isRestoring = false;
    this.note();
  }
}

export async function show({ timeline, words }) {
  document.title = `${words.title}: adaptyst`;
  byId("title").textContent = words.title;
  byId("subject").textContent = words.subject;
  fill("facts", make("div", {}, make("dt", {}, "kept"), make("dd", {}, words.resolution)));
  showWarnings(words.warnings);
  for (const id of ["icicle-part", "table-part", "ranks", "measuring", "findings", "bars"]) byId(id).hidden = true;
  document.querySelector(".skip").setAttribute("href", "#tracks");
  byId("timeline-part").hidden = false;

  const page = new Page(timeline);
  page.restore();
  byId("timeline-pointed").textContent = hint;
  // The picture is on the screen at the next frame but one.
  requestAnimationFrame(() => requestAnimationFrame(() => performance.mark("first picture")));
  const kinds = new Set(timeline.sites.map(([, kind]) => boxOf(kind)));
  const legend = [["box-region", "region"], ["box-function", "function"], ["box-wait", "wait"], ["box-kernel", "kernel"], ["box-copy", "copy"]];
  fill("timeline-legend", makeLegend(legend.filter(([name]) => kinds.has(name))));
  fill("tracks", ...makeTracks(timeline, page.shown));
  const bytes = await readSection("intervals");
  page.shown.setIntervals(readIntervals(bytes, timeline.rows));
  page.restore();
  performance.mark("intervals read");
}
