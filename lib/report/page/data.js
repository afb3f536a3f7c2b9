// The data in the page: JSON, or compressed.
/* global DecompressionStream */

function decodeBytes(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; ++at) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

function inflate(text) {
  if (typeof DecompressionStream === "undefined")
    throw new Error("this browser cannot read compressed data. Use Firefox 113, Chromium 80, Safari 16.4, or later");
  const compressed = new Blob([decodeBytes(text)]).stream();
  return new Response(compressed.pipeThrough(new DecompressionStream("deflate")));
}

export async function readData(element) {
  if (element.getAttribute("data-form") === "json") return JSON.parse(element.textContent);
  return inflate(element.textContent).json();
}

// The bytes of a section behind the script, as soon as the browser has read it.
export async function readSection(id) {
  if (document.readyState === "loading")
    await new Promise((resolve) => document.addEventListener("DOMContentLoaded", resolve, { once: true }));
  const element = document.getElementById(id);
  const bytes = new Uint8Array(await inflate(element.textContent).arrayBuffer());
  element.remove(); // so that the text takes no more memory
  return bytes;
}
