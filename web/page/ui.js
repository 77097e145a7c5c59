// Small helpers of the page.

/** @param {string} id */
export const $ = (id) => /** @type {any} */ (document.getElementById(id));

const svgNames = new Set(["svg", "g", "rect", "path", "line", "text", "title", "circle", "defs", "marker", "clipPath", "polygon"]);

/**
 * Make returns an element with attributes and children. A key that begins with "on" is a
 * listener; text is text, never HTML.
 * @param {string} name
 * @param {Record<string, any>} attributes
 * @param {...any} children
 * @returns {any}
 */
export function make(name, attributes = {}, ...children) {
  const e = svgNames.has(name) ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
    else e.setAttribute(key, value === true ? "" : String(value));
  }
  e.append(...children.flat().filter((c) => c !== null && c !== undefined && c !== false));
  return e;
}

/** @param {number | null | undefined} x */
export function figure(x, digits = 6) {
  if (x === null || x === undefined || !Number.isFinite(x)) return "–";
  const text = Number(x.toPrecision(digits));
  return Math.abs(text) >= 1e5 && Number.isInteger(text) ? text.toLocaleString("en") : String(text);
}

/** Value prints a figure with its unit. */
export function value(x, unit) {
  return figure(x) + (unit && x !== null && x !== undefined ? " " + unit : "");
}

/**
 * Entry returns the number of a field, 0 of one that may be empty and is.
 * @param {string} id
 */
export function entry(id) {
  const e = $(id), text = [...e.labels[0].childNodes].map((n) => (n === e ? e.value : n.textContent)).join("");
  if (!e.checkValidity()) throw new Error(`${text.trim()}: ${e.validationMessage}`);
  return e.valueAsNumber || 0;
}

/** Middle cuts a name to n letters, in its middle: names differ at their ends. */
export function middle(name, n) {
  const head = Math.floor((n - 1) / 2);
  return name.length <= n ? name : name.slice(0, head) + "…" + name.slice(name.length - (n - 1 - head));
}

/** @param {number | null | undefined} x */
export function percent(x) {
  if (x === null || x === undefined || !Number.isFinite(x)) return "–";
  if (x <= 1e-6) return "0 %";
  return (100 * x).toPrecision(x >= 1 ? 4 : 3) + " %";
}

/** Delta says how much worse or better a value is than another. */
export function delta(x, than, m) {
  if (x === null || than === null || x === undefined || than === undefined) return "";
  const d = x - than, better = m.minimise ? d < 0 : d > 0;
  if (Math.abs(d) <= 1e-9 * Math.max(1, Math.abs(than))) return "no change";
  return `${value(Math.abs(d), m.unit)} ${better ? "better" : "worse"}`;
}

let timer;
export function toast(text) {
  const t = $("toast");
  t.textContent = text;
  clearTimeout(timer);
  timer = setTimeout(() => (t.textContent = ""), 4000);
}

/** Download gives the person a file. */
export function download(name, content, type) {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const a = make("a", { href: url, download: name });
  document.body.append(a);
  a.click();
  a.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Time prints seconds on an axis that spans so many. */
export function time(t, span) {
  if (span > 3 * 86400) return figure(t / 86400, 4) + " d";
  if (span > 3 * 3600) return figure(t / 3600, 4) + " h";
  return figure(t, 7);
}

/** Ticks returns about so many round numbers between two. */
export function ticks(low, high, about, step0 = 1) {
  const rough = (high - low) / Math.max(1, about) / step0;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((m) => m * power >= rough) || 10) * power * step0;
  const all = [];
  for (let t = Math.ceil(low / step - 1e-9) * step; t <= high + step * 1e-9; t += step) all.push(Math.abs(t) < step / 1e6 ? 0 : t);
  return all;
}

export const unitStep = (span) => (span > 3 * 86400 ? 86400 : span > 3 * 3600 ? 3600 : 1);
