// The machines: sockets, memory nodes and devices as nested boxes, with their busy time.
import { byId, fill, make, setWidth } from "./dom.js";
import { printable } from "./names.js";
import { duration, percent, quantity } from "./numbers.js";
import { busyShare } from "./processes.js";

// "0-3,8": a list of processors as Linux writes it.
export function parseCpus(text) {
  const made = new Set();
  for (const part of text.split(",")) {
    if (!/^\d+(-\d+)?$/.test(part)) continue;
    const [first, last = first] = part.split("-").map(Number);
    // Beyond the safe integers, adding 1 may not change a number.
    for (let cpu = first; cpu <= last && made.size < 8192 && Number.isSafeInteger(cpu); ++cpu) made.add(cpu);
  }
  return made;
}

// The threads that last ran on a processor of a memory node.
export function sumThreads(processes, host, cpus) {
  const sums = { threads: 0, on_cpu_ns: 0, longest_ns: 0 };
  for (const process of processes) {
    if (process.host !== host) continue;
    for (const thread of process.thread_list || []) {
      if (!cpus.has(thread.last_cpu)) continue;
      sums.threads += 1;
      sums.on_cpu_ns += thread.on_cpu_ns;
      sums.longest_ns = Math.max(sums.longest_ns, thread.alive_ns);
    }
  }
  return sums;
}

function makeMeter(share, title, part = "compute") {
  if (share === null) return null;
  const meter = make("span", { class: "meter", role: "img", "aria-label": `${title}: ${percent(share)}`, title: `${title}: ${percent(share)}` });
  meter.append(setWidth(make("span", { class: `part ${part}`, "data-share": share }), Math.min(1, share)));
  return meter;
}

function count(number, noun) {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

function makeBox(kind, name, note, share, title, ...inside) {
  return make("div", { class: `place ${kind}` }, make("div", { class: "head" }, make("b", {}, name), make("small", {}, note), makeMeter(share, title, kind === "used" ? "busy" : "compute"), share === null ? null : make("span", { class: "number" }, percent(share))), ...inside);
}

function makeDevices(devices) {
  const names = { gpu: "GPU", accelerator: "accelerator", network: "network" };
  return devices.map((device) => make("span", { class: "chip", title: `${printable(device.address)}${device.id ? `, vendor and device ${printable(device.id)}` : ""}` }, `${names[device.kind] || printable(device.kind)} ${printable(device.address)}`));
}

function makeNode(node, machine, processes) {
  const cpus = parseCpus(node.cpus);
  const sums = sumThreads(processes, machine.host, cpus);
  const share = sums.longest_ns && cpus.size ? Math.min(1, sums.on_cpu_ns / sums.longest_ns / cpus.size) : null;
  const note = [
    cpus.size ? `processors ${printable(node.cpus)}` : "no processors",
    "memory_bytes" in node ? quantity(node.memory_bytes, "B") : "",
    sums.threads ? `${count(sums.threads, "thread")} ran here last, ${duration(sums.on_cpu_ns)} on a core` : "",
  ];
  return makeBox("node", `NUMA node ${node.node}`, note.filter((text) => text).join(", "), share, "busy with the threads that ran here last", ...makeDevices((machine.devices || []).filter((device) => device.node === node.node)));
}

// Sorted; an unknown socket comes last.
export function listSockets(nodes) {
  return [...new Set(nodes.map((node) => node.socket))].sort((a, b) => a - b);
}

function makeMachine(machine, processes, used) {
  const nodes = machine.nodes || [];
  const sockets = listSockets(nodes);
  const inside = sockets.flatMap((socket) => {
    const own = nodes.filter((node) => node.socket === socket).map((node) => makeNode(node, machine, processes));
    return socket === undefined ? own : [makeBox("socket", `socket ${socket}`, "", null, "", ...own)];
  });
  const numbers = new Set(nodes.map((node) => node.node));
  const note = [
    "sockets" in machine ? count(machine.sockets, "socket") : "",
    "cores" in machine ? count(machine.cores, "core") : "",
    "cpus" in machine ? count(machine.cpus, "processor") : "",
  ];
  const share = busyShare(processes, machine.host, machine.cpus || 0);
  return makeBox("host", printable(machine.host), note.filter((text) => text).join(", "), share, "busy with the observed processes", ...inside, ...makeDevices((machine.devices || []).filter((device) => !numbers.has(device.node))), ...used);
}

// The devices that the program used. Which devices of the PCI bus these are is unknown.
function makeUsed(profile, words) {
  return profile.devices
    .map((device, at) => ({ device, name: words.devices[at] }))
    .filter(({ device }, at) => at > 0 && device.utilisation !== null)
    .map(({ device, name }) => makeBox("used", name, printable(device.name), device.utilisation, "busy, of the observed time"));
}

const mostMachines = 16;

export function showMachines(profile, words) {
  const machines = profile.machines || [];
  byId("machines-part").hidden = machines.length === 0;
  if (machines.length === 0) return;
  const processes = profile.processes || (profile.process ? [profile.process] : []);
  const used = makeUsed(profile, words);
  const isOne = machines.length === 1;
  fill(
    "machines",
    ...machines.slice(0, mostMachines).map((machine) => makeMachine(machine, processes, isOne ? used : [])),
    !isOne && used.length ? makeBox("host", "devices", "of all hosts, by their numbers in the program", null, "", ...used) : null,
    make("p", { class: "note" }, [machines.length > mostMachines ? `The picture omits ${machines.length - mostMachines} hosts; the JSON has them. ` : "", "A bar shows the part of the processors that was busy with the observed processes; for a NUMA node, with the threads that ran there last. Dashed boxes are devices on the PCI bus, used or unused."].join("")),
  );
}
