// Names may hold anything.
import assert from "node:assert/strict";
import { test } from "node:test";
import { commonFolder, distinct, makeKey, printable, relativePath, shortened } from "../../lib/report/page/names.js";

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

test("a source has its path below the folder of all sources", () => {
  const files = ["/home/ann/solver/src/main.cpp", "/home/ann/solver/src/flux/limit.cpp", "/usr/include/c++/12/mutex"];
  const folder = commonFolder(files);
  assert.equal(folder, "/home/ann/solver/src/");
  assert.deepEqual(files.map((file) => relativePath(file, folder)), ["main.cpp", "flux/limit.cpp", "…/c++/12/mutex"]);
  assert.equal(commonFolder(["/a/main.cpp", "/b/main.cpp"]), "");
  assert.equal(relativePath("/a/main.cpp", ""), "…/a/main.cpp");
  assert.equal(relativePath("solver/main.cpp", commonFolder(["solver/main.cpp", ""])), "solver/main.cpp");
  assert.equal(commonFolder(["/home/ann/main.cpp"]), "/home/ann/");
});

test("different names stay different, however short they become", () => {
  const names = ["conv2d shape=8x64x56x56,weight=64x64x3x3", "conv2d shape=8x64x28x28,weight=64x64x3x3", "conv2d shape=8x64x14x14,weight=64x64x3x3", "relu", "relu"];
  const short = distinct(names, 12);
  assert.equal(new Set(short).size, 4);
  assert.deepEqual(short.slice(3), ["relu", "relu"]);
  assert.ok(short.every((text, at) => text.length <= names[at].length));
  assert.deepEqual(distinct(["a".repeat(30)], 9), [`${"a".repeat(4)}…${"a".repeat(4)}`]);
  assert.deepEqual(distinct([], 9), []);
  const many = Array.from({ length: 2000 }, (unused, at) => `${"x".repeat(50)}${String(at).padStart(4, "0")}${"y".repeat(50)}`);
  assert.equal(new Set(distinct(many, 20)).size, 2000);
});
