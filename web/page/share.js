// A link that holds an instance: packed into the fragment, which no server is sent.

async function through(bytes, transform) {
  const stream = new Blob([bytes]).stream().pipeThrough(transform);
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** @param {object} x */
export async function linkOf(x) {
  const packed = await through(new TextEncoder().encode(JSON.stringify(x)), new CompressionStream("deflate-raw"));
  let text = "";
  for (let i = 0; i < packed.length; i += 0x8000) text += String.fromCharCode(...packed.subarray(i, i + 0x8000));
  return "#1" + btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** @param {string} hash */
export async function readLink(hash) {
  if (!hash.startsWith("#1")) throw new Error("no link of this page");
  const text = atob(hash.slice(2).replaceAll("-", "+").replaceAll("_", "/"));
  const packed = Uint8Array.from(text, (c) => c.charCodeAt(0));
  const x = JSON.parse(new TextDecoder().decode(await through(packed, new DecompressionStream("deflate-raw"))));
  if (!x.instance) throw new Error("no instance");
  return x;
}
