// Durations in log-linear buckets, as include/adaptyst/detail/histogram.h makes them.

const cuts = [0, 3, 7, 11, 15, 19, 24, 29, 34, 40, 46, 52, 59];

// The smallest value of a bucket.
export function lowerEdge(bucket) {
  if (bucket < 64) return bucket;
  const octave = Math.floor((bucket - 64) / cuts.length);
  return (64 + cuts[(bucket - 64) % cuts.length]) * 2 ** octave;
}

// The value that represents a bucket: the harmonic mean of its least and its greatest value, within 3 % of each.
export function middle(bucket) {
  const least = lowerEdge(bucket);
  const greatest = lowerEdge(bucket + 1) - 1;
  return least === greatest ? least : Math.round((2 * least * greatest) / (least + greatest));
}

// A quantile of the pairs of bucket and count of a profile. null: nothing was counted.
export function quantile(pairs, q) {
  const all = pairs.reduce((sum, pair) => sum + pair[1], 0);
  if (all === 0) return null;
  const rank = Math.max(1, Math.ceil(q * all));
  let below = 0;
  for (const [bucket, count] of pairs) {
    below += count;
    if (below >= rank) return middle(bucket);
  }
  return null;
}

// The pairs of a row: as in the profile, or, in a page of many rows, bars of several buckets with a digit for each height.
export function listPairs(row) {
  if (!row.histogram_heights) return row.histogram || [];
  return Array.from(row.histogram_heights, (digit, at) => [row.histogram_first + at * row.histogram_step, parseInt(digit, 36)]).filter((pair) => pair[1] > 0);
}

const findPlace = (value) => Math.log2(Math.max(value, 0.5));

// A logarithmic axis over all buckets: the place of a value on it, 0 … 1.
export function makeAxis(pairs, step) {
  const first = findPlace(lowerEdge(pairs[0][0]));
  const last = findPlace(lowerEdge(pairs[pairs.length - 1][0] + step));
  return (value) => Math.min(1, Math.max(0, (findPlace(value) - first) / (last - first)));
}

// Bars over this axis, each of `step` buckets: its edges, and its height as a fraction of the highest. The height is the
// count over the width, so that the area shows the number of events.
export function makeBars(pairs, step) {
  if (pairs.length === 0) return [];
  const axis = makeAxis(pairs, step);
  const bars = pairs.map(([bucket, count]) => {
    const from = axis(lowerEdge(bucket));
    const to = axis(lowerEdge(bucket + step));
    return { bucket, count, from, to, height: count / (to - from) };
  });
  const highest = Math.max(...bars.map((bar) => bar.height));
  for (const bar of bars) bar.height /= highest;
  return bars;
}

// The ticks of the axis: 1, 2 and 5 times a power of ten; of a long axis powers of ten only, of a short one equal steps.
export function makeTicks(pairs, step) {
  const first = Math.max(1, lowerEdge(pairs[0][0]));
  const last = lowerEdge(pairs[pairs.length - 1][0] + step);
  const factors = last / first > 1000 ? [1] : [1, 2, 5];
  const all = [];
  for (let power = 10 ** Math.floor(Math.log10(first)); power <= last; power *= 10)
    for (const factor of factors) if (factor * power >= first && factor * power <= last) all.push(factor * power);
  if (all.length > 2) return all;
  const least = Math.max(1, (last - first) / 8);
  const power = 10 ** Math.floor(Math.log10(least));
  const wide = [1, 2, 5, 10].find((factor) => factor * power >= least) * power;
  const even = [];
  for (let at = Math.ceil(first / wide) * wide; at <= last; at += wide) even.push(at);
  return even.length > 1 ? even : [first, last];
}
