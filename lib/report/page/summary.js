// The first screen: what ran where, what is missing, what to look at first, and where devices and ranks spent their time.
import { fill, make, setWidth } from "./dom.js";
import { printable } from "./names.js";
import { duration, percent } from "./numbers.js";
import { isTimeOfHost, isWait } from "./tree.js";

// In the order in which they stand in a bar.
export const parts = [
  ["compute", "compute", "kernels that run; of the host, regions that neither wait for a device nor are calls of MPI"],
  ["both", "copy beside kernels", "copies while kernels run"],
  ["exposed", "exposed copy", "copies while no kernel runs"],
  ["other", "other", "busy with neither kernels nor copies"],
  ["wait", "wait", "the host waits for a device, or is in a call of MPI"],
  ["launch", "launch delay", "idle although something had been submitted"],
  ["starved", "starved", "idle, and nothing had been submitted"],
  ["busy", "busy", "busy; with what is not reported"],
  ["idle", "idle", "idle; whether something had been submitted is not reported"],
  ["unmarked", "unmarked", "outside all regions"],
];

// The host's time by what it is, summed over threads.
export function hostParts(tree, worth, unmarked) {
  const made = { compute: 0, wait: 0 };
  for (const [node, own] of worth.exclusive) {
    if (own === 0) continue;
    const row = node.rows.find(isTimeOfHost);
    made[row && isWait(row, node.name) ? "wait" : "compute"] += own;
  }
  if (unmarked.state === "known") made.unmarked = unmarked.ns;
  return made;
}

// A device's: they add up to the time for which it was looked at. null: it is not known what it did.
export function deviceParts(device) {
  if (device.kernel_ns !== null && device.kernel_ns !== undefined) {
    const copy = device.copy_ns || 0;
    const exposed = device.exposed_copy_ns || 0;
    const overlapped = Math.min(Math.max(0, copy - exposed), device.kernel_ns);
    const busy = { compute: device.kernel_ns - overlapped, both: overlapped, exposed, other: device.other_ns || 0 };
    if (isKnown(device.launch_idle_ns) && isKnown(device.starved_ns)) return { ...busy, launch: device.launch_idle_ns, starved: device.starved_ns };
    return { ...busy, idle: Math.max(0, device.observed_ns - sumUp(busy)) };
  }
  if (!isKnown(device.busy_ns)) return null;
  return { busy: device.busy_ns, idle: Math.max(0, device.observed_ns - device.busy_ns) };
}

const isKnown = (value) => value !== null && value !== undefined;

function sumUp(values) {
  return Object.values(values).reduce((sum, one) => sum + one, 0);
}

// A line: a name, a bar whose parts add up to `values`, as long as `of` compared with the longest, and a number.
export function makeBar({ name, note, values, whole, text, isOdd, title }) {
  const sum = sumUp(values);
  const told = parts.filter(([part]) => values[part] > 0);
  const label = told.map(([part, word]) => `${word} ${percent(values[part] / sum)}`).join(", ");
  const bar = make("span", { class: "bar", role: "img", "aria-label": `${name}: ${label}` });
  for (const [part, word, meaning] of told) {
    const share = values[part] / sum;
    const piece = make("span", {
      class: `part ${part}`,
      title: `${word}: ${duration(values[part])}, ${percent(share)}; ${meaning}`,
      "data-part": part,
      "data-ns": values[part],
    });
    if (share * (sum / whole) > 0.09) piece.append(percent(share).replace(/\.\d%/, "%"));
    bar.append(setWidth(piece, (share * sum) / whole));
  }
  return make(
    "div",
    { class: isOdd ? "line odd" : "line", title },
    make("span", { class: "name" }, name, note ? make("small", {}, ` ${note}`) : null),
    bar,
    make("span", { class: "number" }, text),
  );
}

function devicesWithTrouble(profile) {
  const kinds = new Set(["starved_device", "exposed_copies", "launch_bound"]);
  return new Set((profile.findings || []).filter((one) => kinds.has(one.kind)).map((one) => one.device));
}

export function makeDeviceBars(profile, words, host) {
  const odd = devicesWithTrouble(profile);
  const lines = [];
  if (sumUp(host) > 0)
    lines.push(
      makeBar({ name: "host", values: host, whole: sumUp(host), text: duration(sumUp(host)), title: "summed over threads" }),
    );
  const most = Math.max(1, ...profile.devices.slice(1).map((device) => device.observed_ns));
  profile.devices.slice(1).forEach((device, at) => {
    const values = deviceParts(device);
    if (!values || sumUp(values) === 0) return;
    lines.push(
      makeBar({
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
const timeOfWork = (values) => ("compute" in values ? values.compute : values.unmarked);

// Of each rank the time in the regions of the heat map, split in what waits and what does not. What is nested in another of
// them counts once. Ranks that only waited, as far as that is known, are left out: what they did besides is not known.
export function rankParts(profile, rows) {
  const heat = profile.heat_map;
  if (!heat || heat.rows.length === 0) return [];
  const inMap = new Map(heat.rows.map((row) => [row.region, row]));
  const byId = new Map(rows.map((row) => [row.id, row]));
  const known = new Map((profile.processes || []).filter((one) => "rank" in one).map((one) => [one.rank, one]));
  const bins = heat.rows[0].mean_ns.length;
  const made = [];
  for (let bin = 0; bin < bins; ++bin) {
    const values = { compute: 0, wait: 0 };
    let isThere = false;
    let isWaitAlone = true;
    for (const one of heat.rows) {
      const row = byId.get(one.region);
      if (!row || !isTimeOfHost(row) || one.mean_ns[bin] === null) continue;
      isThere = true;
      const part = isWait(row, row.name || "") ? "wait" : "compute";
      if (part === "compute") isWaitAlone = false;
      values[part] += one.mean_ns[bin];
      // What holds it in the map, if anything, has this time as well.
      let around = row.parent;
      while (around && !inMap.has(around)) around = byId.has(around) ? byId.get(around).parent : null;
      if (!around || inMap.get(around).mean_ns[bin] === null) continue;
      values[isWait(byId.get(around), byId.get(around).name || "") ? "wait" : "compute"] -= one.mean_ns[bin];
    }
    if (!isThere) continue;
    values.compute = Math.max(0, values.compute);
    values.wait = Math.max(0, values.wait);
    const first = bin * heat.ranks_per_bin;
    if (isWaitAlone) {
      // The time between its waits is in no region: it is known if one thread ran all waits.
      const outside = heat.ranks_per_bin === 1 ? timeOutside(known.get(first), values.wait) : null;
      if (outside === null) continue;
      delete values.compute;
      values.unmarked = outside;
    }
    const host = known.has(first) ? known.get(first).host : "";
    made.push({ first, last: Math.min(heat.ranks, first + heat.ranks_per_bin) - 1, values, host });
  }
  return made;
}

// Those that are shown where there is no room for all: with most to do, and with least.
export function chooseRanks(ranks, room) {
  if (ranks.length <= room) return ranks;
  const sorted = ranks.slice().sort((a, b) => timeOfWork(b.values) - timeOfWork(a.values));
  const most = Math.ceil(room * 0.6);
  const chosen = new Set(sorted.slice(0, most).concat(sorted.slice(sorted.length - (room - most))));
  return sorted.filter((one) => chosen.has(one));
}

const mostRanks = 10;

export function makeRankBars(profile, rows) {
  const ranks = rankParts(profile, rows);
  if (ranks.length < 2) return [];
  const shown = chooseRanks(ranks, mostRanks);
  const whole = Math.max(1, ...ranks.map((one) => sumUp(one.values)));
  const about = new Set(["rank_imbalance", "slow_rank", "late_rank"]);
  const odd = new Set((profile.findings || []).filter((one) => about.has(one.kind) && "rank" in one).map((one) => one.rank));
  const lines = shown.map((one) =>
    makeBar({
      name: one.first === one.last ? `rank ${one.first}` : `ranks ${one.first}–${one.last}`,
      note: printable(one.host).slice(0, 24),
      values: one.values,
      whole,
      text: duration(timeOfWork(one.values)),
      isOdd: odd.has(one.first),
      title: "compute" in one.values ? "in its regions; the number: without waiting" : "the run; the number: without waiting",
    }),
  );
  if (shown.length < ranks.length)
    lines.push(make("p", { class: "note" }, `${shown.length} of ${ranks.length}: those with most to do, and with least; all below`));
  return lines;
}

export function makeFindings(profile, words, select) {
  const most = 5;
  const findings = words.findings;
  if (findings.length === 0)
    return [make("p", { class: "note" }, "None of what is looked for was seen, which is not to say that nothing is slow.")];
  const list = make(
    "ol",
    { class: "findings" },
    ...findings.map((one, at) => {
      const where = profile.findings[at];
      const act = () => select(where);
      return make(
        "li",
        { "data-kind": where.kind, hidden: at >= most },
        where.region
          ? make("button", { type: "button", class: "link", onclick: act }, one.sentence)
          : make("span", { class: "sentence" }, one.sentence),
        make("span", { class: "evidence" }, one.extent),
        make("span", { class: "advice" }, `Try: ${one.advice}`),
      );
    }),
  );
  if (findings.length <= most) return [list];
  const more = make(
    "button",
    {
      type: "button",
      onclick: () => {
        for (const one of list.children) one.hidden = false;
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
        make("ul", {}, ...others.map((one) => make("li", {}, one))),
      ),
    );
  fill("warnings", banner);
  // On paper nothing can be opened.
  window.addEventListener("beforeprint", () => banner.querySelectorAll("details").forEach((one) => (one.open = true)));
}
