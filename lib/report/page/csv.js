// Lines of values, RFC 4180.

function quoted(value) {
  const text = value === null || value === undefined ? "" : String(value);
  // A spreadsheet takes a text that begins with one of these for a formula.
  const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}

export function toCsv(headings, lines) {
  return [headings].concat(lines).map((line) => line.map(quoted).join(",") + "\r\n").join("");
}
