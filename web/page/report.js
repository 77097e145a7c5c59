// A report of what the page shows: one file that asks nothing of anybody.
import { panels } from "./panels.js";
import { base64 } from "./read.js";
import { picture, saidOf, state } from "./state.js";
import { $, download, figure, make, value } from "./ui.js";

const style = [
  "body{margin:0 auto;max-width:60rem;padding:1rem;background:#fff;color:#1b2330;font:15px/1.5 system-ui,sans-serif;color-scheme:light}",
  "h1{font-size:1.4rem;line-height:1.25}h2{font-size:1.1rem;margin:1.6rem 0 .4rem}h3{font-size:.9rem;margin:1rem 0 .3rem}h3 small{display:block;font-weight:400;color:#566}",
  "h1,h2,p,li,.setup td{overflow-wrap:anywhere}p{margin:.35rem 0}.note{color:#566;font-size:.85rem}.good{color:#0a7a4b}.bad{color:#b3261e}.chip{font-size:.75rem;margin-left:.5em}",
  ".scroll{overflow-x:auto}table{border-collapse:collapse;overflow-wrap:normal;margin:.4rem 0}th,td{text-align:left;vertical-align:top;padding:.2rem .9rem .2rem 0;border-bottom:1px solid #dde3ea;font-weight:400}thead th{font-weight:600}.number{font-variant-numeric:tabular-nums;white-space:nowrap}",
  "svg{max-width:100%;height:auto}.legend{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:.2rem 1rem;font-size:.85rem}.legend i{display:inline-block;width:16px;height:11px;margin-right:.4em}",
].join("\n");

const rowsOf = (rows) => make("div", { class: "scroll" }, make("table", { class: "setup" }, make("tbody", {}, rows.filter(([, x]) => x).map(([k, x]) => make("tr", {}, make("th", { scope: "row" }, k), make("td", {}, x))))));

/** Part returns what a panel shows, without what is there to be pressed. */
function part(heading, draw) {
  const into = make("div");
  draw(into);
  for (const e of into.querySelectorAll(".fields, .hint, .bar, caption")) e.remove();
  for (const e of into.querySelectorAll("button")) e.replaceWith(e.textContent);
  for (const e of into.querySelectorAll("details")) e.open = true;
  for (const e of into.querySelectorAll("[tabindex]")) e.removeAttribute("tabindex");
  return make("section", {}, make("h2", {}, heading), into);
}

/** Tried returns the algorithms that have run, of all that there are. */
function tried() {
  const of = part("Algorithms", (into) => panels.compare.show(into));
  for (const tr of of.querySelectorAll("tbody tr")) if (!tr.children[1].textContent) tr.remove();
  for (const t of of.querySelectorAll(".scroll")) {
    if (t.querySelector("tbody tr")) continue;
    t.previousElementSibling.remove();
    t.remove();
  }
  return of;
}

/** Drawn returns the picture and its legend in the colours of light paper. */
function drawn() {
  const root = document.documentElement, theme = root.dataset.theme;
  root.dataset.theme = "light";
  const legend = $("legend").cloneNode(true);
  legend.removeAttribute("id");
  $("legend").querySelectorAll("i").forEach((e, k) => {
    const { border, backgroundColor } = getComputedStyle(e);
    Object.assign(legend.querySelectorAll("i")[k].style, { border, backgroundColor });
  });
  const copy = picture.copy();
  copy.style.minWidth = `${Math.min(640, picture.at.width)}px`;
  const of = make("section", {}, make("h2", {}, "Picture"), make("div", { class: "scroll" }, copy), legend);
  if (theme) root.dataset.theme = theme;
  else delete root.dataset.theme;
  return of;
}

const mostLinked = 1_500_000; // browsers take no longer address

/** Held returns JSON that the file holds: as a download, or what is too long for an address as an element. */
async function held(id, name, x) {
  const text = JSON.stringify(x), packed = await base64(new TextEncoder().encode(text));
  if (packed.length <= mostLinked) return make("p", {}, make("a", { href: `data:application/json;base64,${packed}`, download: name }, `${id}: ${name}`));
  return make("p", {}, `${id}: the JSON is the element of this file with the id ${id}`, make("script", { type: "application/json", id }, text.replaceAll("<", "\\u003c")));
}

/** Report returns the page's instance and solution as a file of HTML. */
export async function report() {
  const l = state.loaded, s = state.shown, asked = s.asked, out = s.result ?? s.solution;
  const [said, look] = saidOf(s), title = $("title").textContent;
  const variants = l.variants.map((v) => [v.flag, v.value]);
  const body = make("body", {}, make("h1", {}, title), make("p", { class: look }, said),
    make("section", {}, make("h2", {}, "Setup"), rowsOf([["kind", l.kind], ["instance", `${l.name}, ${l.hash}`], ...variants, ["algorithm", s.algorithm],
      ["time limit", asked && value(asked.time_limit_s, "s")], ["seed", asked && figure(asked.seed)], ["took", asked && s.elapsed_s !== undefined && value(Number(s.elapsed_s.toPrecision(3)), "s")],
      ["status", s.status], ["version", $("version").textContent], ["date", `${new Date().toISOString().slice(0, 16).replace("T", " ")} UTC`]])),
    part("Result", (into) => panels.judge.show(into)),
    s.scene ? drawn() : null,
    panels.compare.rows.size ? tried() : null,
    panels.explain.of === s ? part("Explanation", (into) => panels.explain.draw(into)) : null,
    l.said?.length ? make("section", {}, make("h2", {}, "What was read, and what the model leaves out"), l.said.map((x) => make("p", {}, x))) : null,
    make("section", {}, make("h2", {}, "Data"), await held("instance", `${l.name}.json`, l.instance), out && (await held("result", `${l.name}-result.json`, out)),
      make("p", { class: "note" }, "Made by the gapwise playground. This file loads nothing and runs no script.")));
  const head = make("head", {}, make("meta", { charset: "utf-8" }), make("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
    make("meta", { "http-equiv": "Content-Security-Policy", content: "default-src 'none'; style-src 'unsafe-inline'" }), make("title", {}, title), make("style", {}, style));
  return `<!doctype html>\n${make("html", { lang: "en" }, head, body).outerHTML}\n`;
}

export const saveReport = async () => download(`${state.loaded.name}-report.html`, await report(), "text/html");
