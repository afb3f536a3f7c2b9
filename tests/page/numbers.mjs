// Numbers are those of the terminal: the expected texts are what lib/support/text.cpp makes of the same values.
import assert from "node:assert/strict";
import { test } from "node:test";
import { duration, fixed, formatNumber, grouped, percent, quantity, shareTexts, signedPercent, wholePercent } from "../../lib/report/page/numbers.js";

test("durations have three digits and a unit", () => {
  const texts = {
    0: "0 ns", 2.5: "2 ns", 3.5: "4 ns", 42: "42 ns", 99.4: "99 ns", 999: "999 ns", 999.4: "999 ns", 999.5: "1.00 us", 1234: "1.23 us", 9994: "9.99 us", 9996: "10.0 us",
    99960: "100 us", 1500000: "1.50 ms", 999499999: "999 ms", 999500000: "1.00 s", 6.4e10: "64.0 s", 1e14: "28 h", 4e17: "4630 d",
  };
  for (const [ns, text] of Object.entries(texts)) assert.equal(duration(Number(ns)), text, ns);
  assert.equal(duration(null), "—");
});

test("a tie is rounded to even, as printf does", () => {
  assert.equal(fixed(0.125, 2), "0.12");
  assert.equal(fixed(0.375, 2), "0.38");
  assert.equal(fixed(2.675, 2), "2.67"); // which is no tie in binary
  assert.equal(fixed(2.5, 0), "2");
  assert.equal(fixed(3.5, 0), "4");
});

test("quantities have a prefix", () => {
  assert.equal(quantity(0, "B"), "0 B");
  assert.equal(quantity(999, "B"), "999 B");
  assert.equal(quantity(1000, "B"), "1 kB");
  assert.equal(quantity(1.234e10, "B/s"), "12.3 GB/s");
  assert.equal(quantity(0.00001234, "x"), "1.23e-05 x");
  assert.equal(formatNumber(12), "12");
  assert.equal(formatNumber(12345), "12.3 k");
});

test("fractions are per cent", () => {
  assert.equal(percent(0.1234), "12.3%");
  assert.equal(percent(100), ">9999%");
  assert.equal(signedPercent(0.05), "+5.0%");
  assert.equal(signedPercent(-0.05), "−5.0%");
  assert.equal(grouped(1234567), "1,234,567");
});

test("the parts of a whole add up to 100 %", () => {
  assert.deepEqual(shareTexts([1, 1, 1]), ["33.4%", "33.3%", "33.3%"]);
  assert.deepEqual(shareTexts([1, 1, 1], 0), ["34%", "33%", "33%"]);
  assert.deepEqual(shareTexts([745, 132, 113, 10], 0), ["75%", "13%", "11%", "1%"]);
  assert.deepEqual(shareTexts([0, 5, 0]), ["0%", "100.0%", "0%"]);
  assert.deepEqual(shareTexts([1, 99999]), ["<0.1%", "100.0%"]);
  assert.deepEqual(shareTexts([0, 0]), ["—", "—"]);
  for (let seed = 1; seed < 200; ++seed) {
    const values = Array.from({ length: 2 + (seed % 7) }, (unused, at) => (seed * 7919 * (at + 1)) % 1009);
    const sum = shareTexts(values).reduce((all, text) => all + Math.round(10 * parseFloat(text.replace("<0.1", "0"))), 0);
    assert.equal(sum, 1000, values.join());
  }
});

test("a share of 8 bits has no decimals, and is neither nothing nor all unless it is", () => {
  assert.deepEqual([0, 1, 2, 127, 128, 254, 255].map((busy) => wholePercent(busy / 255)), ["0%", "<1%", "1%", "50%", "50%", ">99%", "100%"]);
});
