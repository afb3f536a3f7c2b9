// A search in names: for a text, ignoring case, or for a regular expression.

// { matches(text), problem }; without a text, `matches` is null.
export function makeSearch(text, isExpression) {
  if (text === "") return { matches: null, problem: "" };
  if (!isExpression) {
    const wanted = text.toLowerCase();
    return { matches: (name) => name.toLowerCase().includes(wanted), problem: "" };
  }
  try {
    const expression = new RegExp(text, "iu");
    return { matches: (name) => expression.test(name), problem: "" };
  } catch (wrong) {
    return { matches: () => false, problem: String(wrong.message) };
  }
}

// The nodes with a matching name, and the nodes around them. Only the beginning of a very long name is searched.
const mostCharacters = 2000;

export function findNodes(nodes, search) {
  const found = new Set();
  const around = new Set();
  if (!search.matches) return { found, around };
  for (const node of nodes) {
    if (!search.matches(node.label.slice(0, mostCharacters))) continue;
    found.add(node);
    for (let at = node.parent; at && at.parent; at = at.parent) around.add(at);
  }
  return { found, around };
}

// The sum over the found nodes; nested nodes count once.
export function sumUp(found, inclusive) {
  let sum = 0;
  for (const node of found) {
    let at = node.parent;
    while (at && !found.has(at)) at = at.parent;
    if (!at) sum += inclusive.get(node) || 0;
  }
  return sum;
}
