// The picture of a row of a timeline in a range of time: for each column of pixels its busy part, and the site with most time.
import { firstBehind } from "./intervals.js";

// The columns of a level; sums their differences once.
export function readLevel(level, width) {
  let number = 0;
  return { width, numbers: Float64Array.from(level.at, (by) => (number += by)), sites: level.sites, busy: level.busy, counts: level.counts };
}

// The coarsest level with buckets no wider than a pixel; null: all are wider.
export function chooseLevel(levels, nsPerPixel) {
  return levels.find((level) => level.width <= nsPerPixel) || null;
}

function firstBucket(level, time) {
  let low = 0;
  let high = level.numbers.length;
  while (low < high) {
    const half = (low + high) >>> 1;
    if ((level.numbers[half] + 1) * level.width <= time) low = half + 1;
    else high = half;
  }
  return low;
}

// The columns of pixels of a row. An interval that is narrower than a pixel is added to its columns; a column shows the site with
// most time, and its busy part.
export class Columns {
  constructor(width) {
    this.width = width;
    this.busy = new Float32Array(width);
    this.most = new Float32Array(width);
    this.sites = new Uint32Array(width);
  }

  clear() {
    this.busy.fill(0);
    this.most.fill(0);
  }

  put(column, site, part) {
    if (column < 0 || column >= this.width) return;
    this.busy[column] += part;
    if (part < this.most[column]) return;
    this.most[column] = part;
    this.sites[column] = site;
  }

  // A stretch in pixels, of which `busy` is filled.
  add(left, right, site, busy) {
    const from = Math.max(0, Math.floor(left));
    const to = Math.min(this.width - 1, Math.floor(right));
    if (to < from) return;
    // Intervals without width remain visible.
    if (from === to) this.put(from, site, Math.max(Math.min(right, from + 1) - Math.max(left, from), 0.004) * busy);
    else for (let column = from; column <= to; ++column) this.put(column, site, (Math.min(right, column + 1) - Math.max(left, column)) * busy);
  }

  // Stretches of one site that are at least half full and as wide as `least`: { left, right, site }. Names fit into them.
  listStretches(least) {
    const made = [];
    let left = 0;
    for (let column = 0; column <= this.width; ++column) {
      const isSame = column < this.width && this.busy[column] >= 0.5 && column > left && this.sites[column] === this.sites[left];
      if (isSame) continue;
      if (column - left >= least) made.push({ left, right: column, site: this.sites[left] });
      left = column < this.width && this.busy[column] >= 0.5 ? column : column + 1;
    }
    return made;
  }

  // Paints a line of pixels. `look(site, busy)`: the colour of a pixel, of 32 bits; `busy` in eighths, so that there are few colours.
  paint(look, pixels, first) {
    for (let column = 0; column < this.width; ++column) {
      if (this.most[column] === 0) continue;
      const busy = Math.max(1, Math.ceil(Math.min(1, this.busy[column]) * 8 - 0.01));
      pixels[first + column] = look(this.sites[column], busy);
    }
  }
}

// Adds a level's buckets, from a time on.
export function fillFromLevel(level, from, nsPerPixel, columns) {
  columns.clear();
  const to = from + columns.width * nsPerPixel;
  for (let at = firstBucket(level, from); at < level.numbers.length; ++at) {
    const begin = level.numbers[at] * level.width;
    if (begin >= to) break;
    columns.add((begin - from) / nsPerPixel, (begin + level.width - from) / nsPerPixel, level.sites[at], Math.max(level.busy[at], 1) / 255);
  }
}

// Adds a row's intervals. Intervals that are wider than some pixels are passed on one by one, with their edges in pixels.
export function fillFromIntervals(intervals, row, from, nsPerPixel, columns, takeWide) {
  columns.clear();
  const to = from + columns.width * nsPerPixel;
  const { begins, ends, sites } = intervals;
  const behind = row.first + row.count;
  const wide = 4 * nsPerPixel;
  for (let at = firstBehind(intervals, row, from); at < behind; ++at) {
    if (begins[at] >= to) break;
    const left = (begins[at] - from) / nsPerPixel;
    const right = (ends[at] - from) / nsPerPixel;
    if (ends[at] - begins[at] < wide) columns.add(left, right, sites[at], 1);
    else takeWide(left, right, at);
  }
}

// The bucket of a level at a time; -1: there is none.
export function bucketAt(level, time) {
  const at = firstBucket(level, time);
  return at < level.numbers.length && level.numbers[at] * level.width <= time ? at : -1;
}

// Ticks of an axis, at 1, 2 or 5 times a power of ten.
export function makeTicks(from, to, most) {
  const least = (to - from) / most;
  let step = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  for (const factor of [1, 2, 5, 10]) {
    if (step * factor < least) continue;
    step *= factor;
    break;
  }
  const ticks = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) ticks.push(at);
  return { step, ticks };
}
