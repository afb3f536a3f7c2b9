// Links and CSV.
import assert from "node:assert/strict";
import { test } from "node:test";
import { toCsv } from "../../lib/report/page/csv.js";
import { readLink, writeLink } from "../../lib/report/page/link.js";

test("a link gives back the view that it was made of", () => {
  const view = { region: "00ff", zoom: "a&b=c", search: "größer #1 %", measure: "self" };
  assert.deepEqual(readLink(writeLink(view)), view);
  assert.equal(writeLink({ region: "", zoom: null }), "");
});

test("what is unknown or no text in a link is left out", () => {
  assert.deepEqual(readLink("#region=1&__proto__=x&javascript:alert(1)&zoom=%E0%A4%A&=3"), { region: "1" });
});

test("values are quoted where they must be, and a name is no formula", () => {
  assert.equal(toCsv(["a", "b"], [["x,y", 1], ['say "hi"', null], ["=1+1", 2.5], [-3, "\n"]]), 'a,b\r\n"x,y",1\r\n"say ""hi""",\r\n\'=1+1,2.5\r\n-3,"\n"\r\n');
});
