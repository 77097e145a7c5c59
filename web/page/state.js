// What the page knows and shows: an instance, a solution, and whether something runs.
import { Curves } from "./curves.js";
import { Desk, Stopped } from "./desk.js";
import { panels } from "./panels.js";
import { Picture } from "./scene.js";
import { $, percent, value } from "./ui.js";

export const desk = new Desk();
export const curves = new Curves($("curves"));
export const picture = new Picture($("scene"), $("legend"));

let opening = 0; // how many instances or moves are about to be read

/** All that the page knows. */
export const state = {
  about: null, // what there is
  highs: null, // the file of HiGHS, if the page has it
  readers: {}, // the files of programs that read what the library doesn't
  examples: [],
  kind: "dag",
  loaded: null, // the instance
  shown: null, // the solution that is drawn
  best: null, // the solver's last one
  moved: "", // what was moved last
  history: [], // what was drawn before each change by hand of the solver's last one
  past: [], // what undo brings back
  running: "", // what is running
  panel: "judge",
  file: null, // what was read, to be read again
};

// Figures.

let said = ["", ""]; // but for what is said of a box that is held

export function setState(text, look = "", held = false) {
  const s = $("state");
  if (!held) said = [text, look];
  s.textContent = text;
  s.className = look;
}

/** Figures shows objective, bound and gap. */
export function figures(objective, bound, gap) {
  const m = state.loaded?.metric;
  $("objective-name").textContent = m?.name ?? "objective";
  $("objective").textContent = value(objective, m?.unit);
  $("bound").textContent = value(bound, m?.unit);
  $("gap").textContent = percent(gap);
  $("gap").classList.toggle("closed", gap !== null && gap !== undefined && gap <= 1e-6);
}

export const statusText = {
  optimal: "Optimal, proved",
  feasible: "Feasible",
  infeasible: "Infeasible, proved: there is no solution",
  unknown: "Nothing found in this time",
};

/** Broken returns the items of which the judge's objections speak. */
function broken(shown) {
  const all = new Set();
  if (!shown?.verdict || shown.verdict.accepted) return all;
  for (const v of shown.verdict.violations) {
    for (const q of v.where.matchAll(/"((?:[^"\\]|\\.)*)"/g)) all.add(q[1]);
  }
  return all;
}

/** TitleOf names a solution, with its bound and gap. */
export function titleOf(algorithm, { objective, bound, gap, verdict }) {
  const m = state.loaded.metric, parts = [`${state.loaded.name}, ${algorithm}`];
  if (objective === null || objective === undefined) return parts[0];
  let text = `: ${m.name} ${value(objective, m.unit)}`;
  if (verdict && !verdict.accepted) text += ", broken";
  else if (bound !== null && bound !== undefined) text += gap <= 1e-6 ? ", optimal" : `, bound ${value(bound, m.unit)} (gap ${percent(gap)})`;
  return parts[0] + text;
}

const mostPast = 50; // each has a picture

/**
 * Show draws a solution and says what is known of it.
 * @param {any} shown
 * @param {{hand?: boolean, best?: boolean, back?: boolean}} how made by hand of the one before, by the solver, or brought back
 */
export function show(shown, { hand = false, best = false, back = false } = {}) {
  if (!back) {
    const { shown: was, best: of, history } = state;
    if (was && was !== shown) state.past = [...state.past, { shown: was, best: of, history }].slice(-mostPast);
    state.history = hand && was ? [...history, was] : [];
    if (best) state.best = shown;
  }
  state.shown = shown;
  figures(shown.objective, shown.bound, shown.verdict && !shown.verdict.accepted ? null : shown.gap);
  $("objective").classList.toggle("void", Boolean(shown.verdict && !shown.verdict.accepted));
  if (shown.curve) curves.again(shown.curve);
  else curves.meets(shown.objective ?? null, shown.bound ?? null);
  $("title").textContent = titleOf(shown.algorithm, shown);
  const scene = shown.scene ?? null;
  if (shown.status === "infeasible") $("title").textContent = `${state.loaded.name}: infeasible, proved`;
  if (scene) scene.title = $("title").textContent;
  if (!scene) $("scene").dataset.empty = statusText[shown.status] ?? "nothing to draw";
  else delete $("scene").dataset.empty;
  picture.show(scene, { broken: broken(shown) });
  $("undo").disabled = state.past.length === 0;
  $("mend").disabled = !shown.verdict || shown.verdict.accepted;
  refresh();
}

export function redraw(options) {
  if (state.shown?.scene) picture.show(state.shown.scene, { broken: broken(state.shown), ...options });
}

export const mark = (items) => picture.mark(items);

// Questions. One at a time: the solver has one thread.

/** Run asks the desk while the page shows that something runs. */
export const run = (what, operation, question, tell = null) => during(what, () => desk.ask(operation, question, tell, linear(question.algorithm)));

/** Linear reports whether an algorithm needs HiGHS. */
const linear = (name) => Boolean(name) && algorithms().some((a) => a.name === name && a.linear);

/** Algorithms returns those of the problem that the page can run. */
export const algorithms = () => [...state.about.kinds.find((k) => k.kind === state.kind).algorithms.filter((a) => state.highs || !a.linear),
  ...(state.loaded?.ran ? [{ name: "log", class: "online", summary: "The schedule of the log's own scheduler", paper: "" }] : [])];

/** Traced returns those that tell their steps. */
export const traced = () => algorithms().filter((a) => a.traced);

/** ToLoad says what is still to be loaded for an algorithm, if anything. */
export const toLoad = (name) => (linear(name) && !desk.highs ? `HiGHS, the solver of linear models, ${(state.highs.bytes / 1e6).toFixed(1)} MB` : "");

/** During does one thing while the page shows that it runs. */
export async function during(what, work) {
  if (state.running) throw new Error(`wait for what runs (${state.running}), or stop it`);
  state.running = what;
  buttons();
  try {
    return await work();
  } finally {
    state.running = "";
    buttons();
  }
}

export function buttons() {
  const busy = state.running !== "";
  $("solve").hidden = busy && opening === 0;
  $("stop").hidden = !$("solve").hidden;
  for (const id of ["solve", "share"]) $(id).disabled = !state.loaded || opening > 0;
  document.body.classList.toggle("busy", busy || opening > 0);
  picture.movable = !busy;
}

/** Unsaid takes back what was said of a box that is held. */
export const unsaid = () => setState(said[0], said[1]);

/** Failed says what went wrong. */
export function failed(error) {
  if (error instanceof Stopped) return;
  setState(String(error.message ?? error), "bad");
}

/** Stop ends what runs. */
export const stop = () => desk.stop();

/** Occupied does something while the page takes nothing new. */
export async function occupied(work) {
  opening++;
  buttons();
  try {
    return await work();
  } finally {
    opening--;
    buttons();
  }
}

// Panels.

export function openPanel(name) {
  if (state.panel === "step" && name !== "step") redraw({}); // all steps are past
  state.panel = name;
  for (const t of document.querySelectorAll("[role=tab]")) {
    const mine = t.id === `tab-${name}`;
    t.setAttribute("aria-selected", String(mine));
    t.setAttribute("tabindex", mine ? "0" : "-1");
  }
  $("view").setAttribute("aria-labelledby", `tab-${name}`);
  refresh();
}

/** Refresh draws the open panel. */
export function refresh() {
  const into = $("view");
  if (!state.loaded) return into.replaceChildren();
  panels[state.panel].show(into, state);
}
