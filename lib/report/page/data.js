// What the page shows stands in the page: as JSON, or compressed.
/* global DecompressionStream */

function decodeBytes(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; ++at) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

export async function readData(element) {
  if (element.getAttribute("data-form") === "json") return JSON.parse(element.textContent);
  if (typeof DecompressionStream === "undefined")
    throw new Error("this browser cannot read compressed data: take Firefox 113, Chromium 80, Safari 16.4, or later");
  const compressed = new Blob([decodeBytes(element.textContent)]).stream();
  return new Response(compressed.pipeThrough(new DecompressionStream("deflate"))).json();
}
