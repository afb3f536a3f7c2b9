// The first screen: the run, what is missing, the findings, and the time of host, devices and ranks.
import { fill, make, setWidth } from "./dom.js";
import { printable } from "./names.js";
import { duration, percent, shareTexts } from "./numbers.js";
import { isTimeOfHost, isWait, sumBlocked } from "./tree.js";

// In the order of the parts of a bar.
export const parts = [
  ["compute", "compute", "on a core, in regions that neither wait for a device nor are MPI calls"],
  ["marked", "in regions", "regions that neither wait for a device nor are MPI calls; their time on a core is unknown"],
  ["kernel", "kernels", "kernels run, and no copy"],
  ["both", "overlapped copy", "copies while kernels run"],
  ["exposed", "exposed copy", "copies while no kernel runs"],
  ["other", "other", "operations that are neither kernels nor copies"],
  ["wait", "wait", "the host waits for a device, or is in an MPI call"],
  ["nocore", "no core", "a thread could run, and no core was free"],
  ["blocked", "blocked", "a thread waited for a lock, a file, a timer or a message"],
  ["launch", "launch delay", "the device is idle, although work was submitted"],
  ["starved", "starved", "the device is idle, and no work was submitted"],
  ["busy", "busy", "the device is busy; its operations are not reported"],
  ["idle", "idle", "the device is idle; whether work was submitted is not reported"],
  ["unmarked", "unmarked", "outside all regions"],
];

// A row's time without nested regions. If the kernel's context is known, it separates time on a core from waiting.
function splitTime(row, name) {
  const own = row.self_ns || 0;
  const context = row.self_context;
  const isWaiting = isWait(row, name);
  if (!context || !isKnown(context.on_cpu_ns)) return { [isWaiting ? "wait" : "marked"]: own };
  const nocore = Math.min(own, context.runnable_ns);
  const blocked = isWaiting ? 0 : Math.min(own - nocore, sumBlocked(context));
  return { [isWaiting ? "wait" : "compute"]: own - nocore - blocked, nocore, blocked };
}

// The parts of the host's time, summed over threads.
export function hostParts(nodes, unmarked) {
  const made = {};
  const add = (part, ns) => {
    if (ns > 0) made[part] = (made[part] || 0) + ns;
  };
  for (const node of nodes)
    for (const row of node.rows)
      if (isTimeOfHost(row)) for (const [part, ns] of Object.entries(splitTime(row, node.name))) add(part, ns);
  if (unmarked.state === "known") add("unmarked", unmarked.ns);
  return made;
}

// The parts of a device's time: they add up to the time for which it was observed. null: its activity is unknown.
export function deviceParts(device) {
  if (device.kernel_ns !== null && device.kernel_ns !== undefined) {
    const copy = device.copy_ns || 0;
    const exposed = device.exposed_copy_ns || 0;
    const overlapped = Math.min(Math.max(0, copy - exposed), device.kernel_ns);
    const busy = { kernel: device.kernel_ns - overlapped, both: overlapped, exposed, other: device.other_ns || 0 };
    if (isKnown(device.launch_idle_ns) && isKnown(device.starved_ns)) return { ...busy, launch: device.launch_idle_ns, starved: device.starved_ns };
    return { ...busy, idle: Math.max(0, device.observed_ns - sumUp(busy)) };
  }
  if (!isKnown(device.busy_ns)) return null;
  return { busy: device.busy_ns, idle: Math.max(0, device.observed_ns - device.busy_ns) };
}

const isKnown = (value) => value !== null && value !== undefined;

function sumUp(values) {
  return Object.values(values).reduce((sum, value) => sum + value, 0);
}

// A line: a name, a bar with the parts `values`, which is full where these add up to `whole`, and a number. A percentage that does
// not fit into its part is hidden by the style.
export function makeBar({ name, note, values, whole, text, isOdd, title, of, last }) {
  const shown = parts.filter(([part]) => values[part] > 0);
  const shares = shareTexts(shown.map(([part]) => values[part]));
  const label = shown.map(([, word], at) => `${word} ${shares[at]}`).join(", ");
  const bar = make("span", { class: "bar", role: "img", "aria-label": `${name}: ${label}` });
  shown.forEach(([part, word, meaning], at) => {
    const piece = make(
      "span",
      {
        class: `part ${part}`,
        title: `${word}: ${duration(values[part])}, ${shares[at]}; ${meaning}`,
        "data-part": part,
        "data-ns": values[part],
      },
      make("span", {}, shares[at]),
    );
    bar.append(setWidth(piece, values[part] / whole));
  });
  return make(
    "div",
    { class: isOdd ? "line odd" : "line", title, tabindex: -1, "data-of": of, "data-last": last },
    make("span", { class: "name" }, name, note ? make("small", {}, ` ${note}`) : null),
    bar,
    make("span", { class: "number" }, text),
  );
}

function devicesWithTrouble(profile) {
  const kinds = new Set(["starved_device", "exposed_copies", "launch_bound"]);
  return new Set((profile.findings || []).filter((finding) => kinds.has(finding.kind)).map((finding) => finding.device));
}

export function makeDeviceBars(profile, words, host) {
  const odd = devicesWithTrouble(profile);
  const lines = [];
  if (sumUp(host) > 0)
    lines.push(
      makeBar({ of: "host", name: "host", values: host, whole: sumUp(host), text: duration(sumUp(host)), title: "summed over threads" }),
    );
  const most = Math.max(1, ...profile.devices.slice(1).map((device) => device.observed_ns));
  profile.devices.slice(1).forEach((device, at) => {
    const values = deviceParts(device);
    if (!values || sumUp(values) === 0) return;
    lines.push(
      makeBar({
        of: `device ${at + 1}`,
        name: words.devices[at + 1],
        note: printable(device.name).slice(0, 40),
        values,
        whole: most,
        text: isKnown(device.utilisation) ? `${percent(device.utilisation)} busy` : "—",
        isOdd: odd.has(at + 1),
      }),
    );
  });
  return lines;
}

function timeOutside(process, waited) {
  return process && process.threads === 1 && process.duration_ns && process.duration_ns >= waited ? process.duration_ns - waited : null;
}

// The time of a rank without its waits.
const timeOfWork = (values) => ("marked" in values ? values.marked : values.unmarked);

// The time of each rank in the regions of the heat map, with and without waits. Nested regions count once. A rank with waits only is
// omitted if its other time is unknown.
export function rankParts(profile, rows) {
  const heat = profile.heat_map;
  if (!heat || heat.rows.length === 0) return [];
  const inMap = new Map(heat.rows.map((row) => [row.region, row]));
  const byId = new Map(rows.map((row) => [row.id, row]));
  const byRank = new Map((profile.processes || []).filter((process) => "rank" in process).map((process) => [process.rank, process]));
  const bins = heat.rows[0].mean_ns.length;
  const made = [];
  for (let bin = 0; bin < bins; ++bin) {
    const values = { marked: 0, wait: 0 };
    let isThere = false;
    let isWaitAlone = true;
    for (const times of heat.rows) {
      const row = byId.get(times.region);
      if (!row || !isTimeOfHost(row) || times.mean_ns[bin] === null) continue;
      isThere = true;
      const part = isWait(row, row.name || "") ? "wait" : "marked";
      if (part === "marked") isWaitAlone = false;
      values[part] += times.mean_ns[bin];
      // A region around it in the map contains this time as well.
      let around = row.parent;
      while (around && !inMap.has(around)) around = byId.has(around) ? byId.get(around).parent : null;
      if (!around || inMap.get(around).mean_ns[bin] === null) continue;
      values[isWait(byId.get(around), byId.get(around).name || "") ? "wait" : "marked"] -= times.mean_ns[bin];
    }
    if (!isThere) continue;
    values.marked = Math.max(0, values.marked);
    values.wait = Math.max(0, values.wait);
    const first = bin * heat.ranks_per_bin;
    if (isWaitAlone) {
      // The time between its waits is in no region: it is known if one thread ran all waits.
      const outside = heat.ranks_per_bin === 1 ? timeOutside(byRank.get(first), values.wait) : null;
      if (outside === null) continue;
      delete values.marked;
      values.unmarked = outside;
    }
    const last = Math.min(heat.ranks, first + heat.ranks_per_bin) - 1;
    const hosts = new Set();
    for (let rank = first; rank <= last; ++rank) if (byRank.has(rank)) hosts.add(byRank.get(rank).host);
    made.push({ first, last, values, hosts: [...hosts].filter((host) => host) });
  }
  return made;
}

// The ranks with most work and with least, if there is no room for all. A bar with a rank of `needed` is always among them.
export function chooseRanks(ranks, room, needed = []) {
  if (ranks.length <= room) return ranks;
  const sorted = ranks.slice().sort((a, b) => timeOfWork(b.values) - timeOfWork(a.values));
  const wanted = sorted.filter((group) => needed.some((rank) => isOf(group, rank))).slice(0, room);
  const others = sorted.filter((group) => !wanted.includes(group));
  const left = room - wanted.length;
  const most = Math.ceil(left * 0.6);
  const chosen = new Set([...wanted, ...others.slice(0, most), ...others.slice(others.length - (left - most))]);
  return sorted.filter((group) => chosen.has(group));
}

const mostRanks = 10;

const isOf = (bar, rank) => bar.first <= rank && rank <= bar.last;

// The label of a bar. A bar of several ranks is their mean, and names those with findings.
export function labelRanks({ first, last, hosts }, odd) {
  const host = hosts.length ? printable(hosts[0]).slice(0, 24) + (hosts.length > 1 ? ` and ${hosts.length - 1} more` : "") : "";
  if (first === last) return { name: `rank ${first}`, note: host };
  const named = odd.filter((rank) => isOf({ first, last }, rank));
  const found = named.length ? `finding on ${named.slice(0, 3).join(", ")}${named.length > 3 ? ", …" : ""}` : "";
  return { name: `ranks ${first}–${last}`, note: [`mean of ${last - first + 1}`, found, host].filter((text) => text).join("; ") };
}

export function makeRankBars(profile, rows) {
  const ranks = rankParts(profile, rows);
  if (ranks.length < 2) return [];
  const whole = Math.max(1, ...ranks.map((group) => sumUp(group.values)));
  const about = new Set(["rank_imbalance", "slow_rank", "late_rank"]);
  const odd = [...new Set((profile.findings || []).filter((finding) => about.has(finding.kind) && isKnown(finding.rank)).map((finding) => finding.rank))];
  const shown = chooseRanks(ranks, mostRanks, odd);
  const lines = shown.map((group) =>
    makeBar({
      ...labelRanks(group, odd),
      of: `rank ${group.first}`,
      last: group.last,
      values: group.values,
      whole,
      text: duration(timeOfWork(group.values)),
      isOdd: odd.some((rank) => isOf(group, rank)),
      title: "marked" in group.values ? "the rank's regions; the number is their time without waits" : "the run; the number is its time without waits",
    }),
  );
  if (shown.length < ranks.length)
    lines.push(make("p", { class: "note" }, `${shown.length} of ${ranks.length} ranks: those with most work, and with least. All are below.`));
  return lines;
}

// Marks the bar of the rank or device of a finding, otherwise of the host, and scrolls to it; null: there is none. A bar may be of
// several ranks.
export function chooseBar(finding) {
  const of = finding.device > 0 ? `device ${finding.device}` : "host";
  const isOfFinding = ({ dataset }) => (isKnown(finding.rank) ? "last" in dataset && isOf({ first: Number(dataset.of.slice(5)), last: Number(dataset.last) }, finding.rank) : dataset.of === of);
  for (const element of document.querySelectorAll("#bars .chosen")) element.classList.remove("chosen");
  const bar = [...document.querySelectorAll("#bars [data-of]")].find(isOfFinding);
  if (!bar) return null;
  bar.classList.add("chosen");
  bar.scrollIntoView({ block: "nearest" });
  return bar;
}

// `select(finding, button)`: leads to the place of a finding; `button`: where the focus was, if a key did it.
export function makeFindings(profile, words, select) {
  const most = 5;
  const findings = words.findings;
  if (findings.length === 0)
    return [make("p", { class: "note" }, "No finding. A program may be slow for a reason that no finding covers.")];
  const list = make(
    "ol",
    { class: "findings" },
    ...findings.map((finding, at) => {
      const where = profile.findings[at];
      // A click of the mouse has a count; a key has none.
      const act = (event) => select(where, event.detail === 0 ? event.currentTarget : null);
      return make(
        "li",
        { "data-kind": where.kind, hidden: at >= most },
        make("button", { type: "button", class: "link", onclick: act }, finding.sentence),
        make("span", { class: "evidence" }, finding.extent),
        make("span", { class: "advice" }, `Try: ${finding.advice}`),
      );
    }),
  );
  if (findings.length <= most) return [list];
  const more = make(
    "button",
    {
      type: "button",
      onclick: () => {
        for (const child of list.children) child.hidden = false;
        more.remove();
      },
    },
    `${findings.length - most} more`,
  );
  return [list, more];
}

// The facts of a run, each with its name.
export function showFacts(facts) {
  fill(
    "facts",
    ...facts
      .filter(([, value]) => value)
      .map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", { title: value }, value))),
  );
}

export function showWarnings(warnings) {
  if (warnings.length === 0) return;
  const [first, ...others] = warnings;
  const banner = make("div", { class: "banner", role: "alert" });
  if (others.length === 0) banner.append(first);
  else
    banner.append(
      make(
        "details",
        { open: others.length <= 2 },
        make("summary", {}, first, make("small", {}, ` and ${others.length} more`)),
        make("ul", {}, ...others.map((fact) => make("li", {}, fact))),
      ),
    );
  fill("warnings", banner);
  // Nothing can be opened on paper.
  window.addEventListener("beforeprint", () => banner.querySelectorAll("details").forEach((element) => (element.open = true)));
}
