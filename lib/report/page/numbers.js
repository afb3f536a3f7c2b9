// Numbers as the terminal's report has them: lib/support/text.cpp.

// Rounds half to even, as printf does; toFixed() rounds a tie up.
export function fixed(value, digits) {
  const isTie = Math.abs(value * 2 ** (digits + 1)) % 2 === 1;
  if (!isTie) return value.toFixed(digits);
  const scaled = Math.floor(value * 10 ** digits);
  return ((scaled % 2 === 0 ? scaled : scaled + 1) / 10 ** digits).toFixed(digits);
}

export function duration(ns) {
  if (ns === null || ns === undefined) return "—";
  const hour = 3600e9;
  if (ns >= 99999.5 * hour) return `${fixed(ns / (24 * hour), 0)} d`;
  if (ns >= 99999.5e9) return `${fixed(ns / hour, 0)} h`;
  for (const [size, name] of [[1e9, "s"], [1e6, "ms"], [1e3, "us"]]) {
    const value = ns / size;
    if (value >= 0.9995) return `${fixed(value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0)} ${name}`;
  }
  return `${fixed(ns, 0)} ns`;
}

// Three significant digits, without zeros at the end: printf's %.3g.
function threeDigits(value) {
  if (value !== 0 && Math.abs(value) < 1e-4)
    return value.toExponential(2).replace(/\.?0+e/, "e").replace(/e-(\d)$/, "e-0$1");
  return String(Number(value.toPrecision(3)));
}

export function quantity(value, unit) {
  const prefixes = ["", "k", "M", "G", "T", "P", "E"];
  let prefix = 0;
  while (Math.abs(value) >= 999.5 && prefix + 1 < prefixes.length) {
    value /= 1000;
    ++prefix;
  }
  return `${threeDigits(value)} ${prefixes[prefix]}${unit}`;
}

export function formatNumber(value) {
  return quantity(value, "").trimEnd();
}

export function percent(fraction) {
  if (fraction === 0) return "0%";
  if (fraction > 0 && fraction < 0.0005) return "<0.1%";
  return fraction < 99.9995 ? `${fixed(100 * fraction, 1)}%` : ">9999%";
}

// A fraction that is known to 8 bits, without decimals: "12%", "<1%", ">99%".
export function wholePercent(fraction) {
  if (fraction > 0 && fraction < 0.005) return "<1%";
  return fraction < 1 && fraction >= 0.995 ? ">99%" : `${fixed(100 * fraction, 0)}%`;
}

// Signed: "+12.3%".
export function signedPercent(fraction) {
  return (fraction > 0 ? "+" : fraction < 0 ? "−" : "±") + percent(Math.abs(fraction));
}

// "1,234,567"
export function grouped(number) {
  return String(number).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

// The parts of a whole in per cent, with this many decimals. They add up to 100 %: those with the largest remainders are rounded up.
export function shareTexts(values, digits = 1) {
  const whole = values.reduce((sum, value) => sum + value, 0);
  if (!(whole > 0)) return values.map(() => "—");
  const units = 100 * 10 ** digits;
  const exact = values.map((value) => (value / whole) * units);
  const rounded = exact.map(Math.floor);
  const remainder = (at) => exact[at] - rounded[at];
  const order = [...values.keys()].sort((a, b) => remainder(b) - remainder(a) || a - b);
  const left = Math.round(units - rounded.reduce((sum, value) => sum + value, 0));
  for (const at of order.slice(0, left)) ++rounded[at];
  return rounded.map((value, at) => (value === 0 && values[at] > 0 ? (digits > 0 ? "<0.1%" : "<1%") : value === 0 ? "0%" : `${(value / 10 ** digits).toFixed(digits)}%`));
}
