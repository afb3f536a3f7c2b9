// Names may hold anything.
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeKey, printable, shortened } from "../../lib/report/page/names.js";

test("what breaks or turns a line is replaced", () => {
  assert.equal(printable("a\u202eb\u2066c\u0007d\u2028e"), "a?b?c?d?e");
  assert.equal(printable("größer 中 🙂"), "größer 中 🙂");
});

test("a long name loses its middle, and no half of a character stays", () => {
  assert.equal(shortened("abcdefghij", 5), "ab…ij");
  assert.equal(shortened("🙂🙂🙂", 3), "🙂🙂🙂");
  assert.equal(Array.from(shortened("🙂".repeat(10000), 9)).length, 9);
});

test("a key is that of a path, and not of its text", () => {
  assert.equal(makeKey(["a", "b"]), makeKey(["a", "b"]));
  assert.notEqual(makeKey(["a", "b"]), makeKey(["a > b"]));
  assert.match(makeKey([]), /^[0-9a-f]{16}$/);
  const keys = new Set(Array.from({ length: 20000 }, (unused, at) => makeKey(["main", `region ${at}`])));
  assert.equal(keys.size, 20000);
});
