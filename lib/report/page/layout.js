// The places of the boxes of an icicle: the edges of each node as fractions of the whole, and a level for each depth.

// `width(node)`: a number. Siblings are in the order of their width, the widest first.
export function layOut(root, width, total) {
  const levels = [];
  const boxes = new Map();
  const stack = root.children.length ? [[root, 0]] : [];
  while (stack.length) {
    const [node, left] = stack.pop();
    let at = left;
    const sorted = node.children.slice().sort((a, b) => width(b) - width(a));
    for (const child of sorted) {
      const part = total > 0 ? width(child) / total : 0;
      if (part <= 0) continue;
      const box = { node: child, from: at, to: at + part, level: child.depth };
      boxes.set(child, box);
      (levels[child.depth] = levels[child.depth] || []).push(box);
      at += part;
    }
    // The leftmost node is next, so that the boxes of a level are in order from left to right.
    for (let index = sorted.length; index-- > 0; )
      if (sorted[index].children.length && boxes.has(sorted[index]))
        stack.push([sorted[index], boxes.get(sorted[index]).from]);
  }
  return { levels, boxes };
}

// The box of a level at a place; null: there is none.
export function find(level, place) {
  if (!level) return null;
  let low = 0;
  let high = level.length;
  while (low < high) {
    const half = (low + high) >> 1;
    if (level[half].to <= place) low = half + 1;
    else high = half;
  }
  return low < level.length && level[low].from <= place ? level[low] : null;
}

// The boxes of a level that overlap [from, to): the first box, and the box after the last.
export function visible(level, from, to) {
  let low = 0;
  let high = level.length;
  while (low < high) {
    const half = (low + high) >> 1;
    if (level[half].to <= from) low = half + 1;
    else high = half;
  }
  let end = low;
  while (end < level.length && level[end].from < to) ++end;
  return [low, end];
}

// The first shown level: three levels above a deep node.
export function firstLevel(depth) {
  return Math.max(0, depth - 3);
}
