// What the page knows and shows: an instance, a solution, and whether something runs.
import { Curves } from "./curves.js";
import { Desk, Stopped } from "./desk.js";
import { panels } from "./panels.js";
import { Picture } from "./scene.js";
import { $, figure, percent, value } from "./ui.js";

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
  known: /** @type {any} */ ({}), // what learn keeps
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
  $("gap").classList.toggle("closed", closed({ objective, bound, gap }));
}

const has = (x) => x !== null && x !== undefined;

/** Closed reports whether a bound proves a value optimal, as the library has it: the next whole number isn't the same. */
const closed = ({ objective, bound, gap }) => has(gap) && gap <= 1e-6 && !(state.loaded.metric.whole && Math.abs(objective - bound) >= 1);

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

/**
 * Learn keeps the best of what all solves have told of the instance and its variant: the value of the best accepted
 * solution, and the best bound, with its evidence and who proved it. Whatever shows a bound has it from here. Learn
 * reports whether the bound is a better one than before.
 */
export function learn(s) {
  const k = state.known, sign = state.loaded.metric.minimise ? 1 : -1; // a comparison with what isn't known is false
  if (has(s.objective) && s.verdict?.accepted && !(sign * s.objective >= sign * k.objective)) k.objective = s.objective;
  const better = has(s.bound) && !(sign * s.bound <= sign * k.bound);
  if (better) Object.assign(k, { bound: s.bound, evidence: s.result?.evidence, by: s.algorithm });
  give(s);
  return better;
}

/** Give gives a solution, or the report of one, the best bound that is known. */
export function give(s) {
  const { bound, evidence, by } = state.known;
  if (!has(bound) || s.bound === bound || s.status === "infeasible") return;
  const gap = !has(s.objective) ? null : s.objective === bound ? 0 : s.objective ? Math.abs(s.objective - bound) / Math.abs(s.objective) : null;
  Object.assign(s, { bound, gap, by });
  if (s.status === "feasible" && closed(s)) s.status = "optimal";
  if (s.result) Object.assign(s.result, { bound, gap, status: s.status, bound_of: by, evidence });
  for (const m of s.scene?.marks ?? []) if (m.bound) Object.assign(m, { at: bound, label: m.label.replace(/\S+$/, figure(bound)) });
}

/** Worse reports whether a better solution than this one is known. */
export const worse = (s) => has(s.objective) && (state.loaded.metric.minimise ? s.objective > state.known.objective : s.objective < state.known.objective);

/** LeftOut returns how much of the cost is for tasks that are left out. */
export function leftOut({ solution }) {
  const { kind, goal, jobs } = state.loaded.instance;
  if (kind !== "consolidation" || goal === "moves" || !solution) return 0;
  return jobs.reduce((sum, j, i) => sum + (j.leave_out_cost ?? 0) * solution.jobs[i].hosts.filter((h) => !h).length, 0);
}

/** SaidOf says what a solution is: in the words that came with it, or by its status. */
export function saidOf(s) {
  const m = state.loaded.metric, optimal = s.status === "optimal";
  if (s.note) return [s.note, s.verdict?.accepted === false ? "bad" : ""];
  if (s.drawn && s.solution) return [`Drawn: ${s.algorithm}'s solution${optimal ? ", which is optimal" : ". Press Solve for a better one"}.`];
  const text = optimal && s.by ? `Optimal, by the bound that ${s.by} proved` : `${statusText[s.status] ?? s.status} after ${figure(s.elapsed_s, 3)} s`;
  return [`${text}${s.reason ? `: ${s.reason}` : ""}${worse(s) ? `; ${value(state.known.objective, m.unit)} is known` : ""}.`, optimal ? "good" : s.solution ? "" : "bad"];
}

/** TitleOf names a solution, with its bound and gap. */
export function titleOf(algorithm, { objective, bound, gap, verdict }) {
  const m = state.loaded.metric, parts = [`${state.loaded.name}, ${algorithm}`];
  if (!has(objective)) return parts[0];
  let text = `: ${m.name} ${value(objective, m.unit)}`;
  if (verdict && !verdict.accepted) text += ", broken";
  else if (has(bound)) text += closed({ objective, bound, gap }) ? ", optimal" : `, bound ${value(bound, m.unit)} (gap ${percent(gap)})`;
  return parts[0] + text;
}

const mostPast = 50; // each has a picture

/**
 * Show draws a solution and says what is known of it.
 * @param {any} shown
 * @param {{hand?: boolean, back?: boolean}} how made by hand of the one before, or brought back
 */
export function show(shown, { hand = false, back = false } = {}) {
  if (!back) {
    const { shown: was, history } = state;
    if (was && was !== shown) state.past = [...state.past, { shown: was, history }].slice(-mostPast);
    state.history = hand && was ? [...history, was] : [];
  }
  state.shown = shown;
  learn(shown);
  const [text, look] = saidOf(shown);
  setState(text, look);
  figures(shown.objective, shown.bound, shown.verdict && !shown.verdict.accepted ? null : shown.gap);
  $("objective").classList.toggle("void", Boolean(shown.verdict && !shown.verdict.accepted));
  const out = leftOut(shown), m = state.loaded.metric;
  if (out) $("objective-name").textContent += `: ${value(shown.objective - out, m.unit)} for hosts, ${value(out, m.unit)} for tasks left out`;
  if (shown.curve) curves.again(shown.curve);
  curves.meets(shown.objective ?? null, shown.bound ?? null, Boolean(shown.curve));
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
export async function run(what, operation, question, tell = null) {
  const answer = await during(what, () => desk.ask(operation, question, tell, linear(question.algorithm)));
  if (operation === "solve") answer.asked = question;
  return answer;
}

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

/** Attempt does what the page is asked for, or says why it can't. */
export async function attempt(work) {
  try {
    await work();
  } catch (e) {
    failed(e);
  }
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
