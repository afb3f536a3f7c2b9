// The intervals of a timeline, as lib/report/timeline_html.cpp packs them.

const hasCorrelation = 1;
const hasBytes = 2;
const hasCall = 4;
const hasLatency = 8;

// LEB128, one number after the other.
export class Numbers {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  next() {
    const { bytes } = this;
    let byte = bytes[this.at++];
    if (byte < 128) return byte;
    let value = byte & 127;
    let factor = 128;
    do {
      byte = bytes[this.at++];
      value += (byte & 127) * factor;
      factor *= 128;
    } while (byte >= 128);
    return value;
  }
}

// 0, 1, 2, 3 are 0, -1, 1, -2.
export function fromZigzag(value) {
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}

// { count, begins, ends, sites, rows }: all intervals, row by row. Each row has `first`, the number of its first interval, and its
// columns. Times are ns since the trace's begin.
export function readIntervals(bytes, rows) {
  const numbers = new Numbers(bytes);
  const count = rows.reduce((sum, row) => sum + row.count, 0);
  const begins = new Float64Array(count);
  const ends = new Float64Array(count);
  const sites = new Uint32Array(count);
  const made = [];
  let first = 0;
  for (const { count: length, columns } of rows) {
    const behind = first + length;
    let time = 0;
    for (let at = first; at < behind; ++at) begins[at] = numbers.next();
    for (let at = first; at < behind; ++at) {
      begins[at] += time;
      time = begins[at] + numbers.next();
      ends[at] = time;
    }
    for (let at = first; at < behind; ++at) sites[at] = numbers.next();
    const row = { first, count: length };
    const readColumn = (has, read) => {
      if ((columns & has) === 0) return undefined;
      const column = new Float64Array(length);
      for (let at = 0; at < length; ++at) column[at] = read();
      return column;
    };
    let sum = 0;
    row.correlations = readColumn(hasCorrelation, () => (sum += fromZigzag(numbers.next())));
    row.bytes = readColumn(hasBytes, () => numbers.next());
    let call = 0;
    row.calls = readColumn(hasCall, () => {
      const code = numbers.next();
      if (code === 0) return -1;
      call += fromZigzag(code - 1);
      return call;
    });
    if (columns & hasLatency) {
      row.submitters = new Float64Array(length).fill(-1);
      row.latencies = new Float64Array(length).fill(-1);
      for (let at = 0; at < length; ++at) {
        const code = numbers.next();
        if (code === 0) continue;
        row.latencies[at] = code - 1;
        row.submitters[at] = numbers.next();
      }
    }
    made.push(row);
    first = behind;
  }
  return { count, begins, ends, sites, rows: made };
}

// The first interval of a row that ends after a time.
export function firstBehind(intervals, row, time) {
  let low = row.first;
  let high = row.first + row.count;
  while (low < high) {
    const half = (low + high) >>> 1;
    if (intervals.ends[half] <= time) low = half + 1;
    else high = half;
  }
  return low;
}

// The first interval of a row that begins at this time or later.
export function firstFrom(intervals, row, time) {
  let low = row.first;
  let high = row.first + row.count;
  while (low < high) {
    const half = (low + high) >>> 1;
    if (intervals.begins[half] < time) low = half + 1;
    else high = half;
  }
  return low;
}

// The first interval of a row that contains a time or begins later, also an interval without length.
export function firstAt(intervals, row, time) {
  return Math.min(firstBehind(intervals, row, time), firstFrom(intervals, row, time));
}

// The row of an interval.
export function rowOf(intervals, number) {
  let low = 0;
  let high = intervals.rows.length - 1;
  while (low < high) {
    const half = (low + high + 1) >>> 1;
    if (intervals.rows[half].first <= number) low = half;
    else high = half - 1;
  }
  return low;
}

// The submission of an interval: { call }, another interval; { time, track }, if only these are known; or null.
export function findSubmission(intervals, number) {
  const row = intervals.rows[rowOf(intervals, number)];
  const place = number - row.first;
  if (row.calls && row.calls[place] >= 0) return { call: row.calls[place] };
  if (row.latencies && row.latencies[place] >= 0)
    return { time: intervals.begins[number] - row.latencies[place], track: row.submitters[place] };
  return null;
}
