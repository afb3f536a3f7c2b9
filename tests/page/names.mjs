// Names may hold anything.
import assert from "node:assert/strict";
import { test } from "node:test";
import { commonFolder, makeKey, printable, relativePath, shortened } from "../../lib/report/page/names.js";

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
