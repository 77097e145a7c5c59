// The playground: it puts an instance on the desk, has it solved, and shows what comes back.
import { Curves } from "./curves.js";
import { Desk, Stopped } from "./desk.js";
import { kinds } from "./kinds.js";
import { panels } from "./panels.js";
import { Picture } from "./scene.js";
import { linkOf, readLink } from "./share.js";
import { $, delta, download, figure, make, percent, toast, value } from "./ui.js";

const desk = new Desk();
const curves = new Curves($("curves"));
const picture = new Picture($("scene"), $("legend"), moved, tried);

let opening = 0; // how many instances or moves are about to be read

/** All that the page knows. */
export const state = {
  about: null, // what there is
  examples: [],
  kind: "dag",
  loaded: null, // the instance
  shown: null, // the solution that is drawn
  best: null, // the solver's last one
  moved: "", // what was moved last
  history: [], // what was drawn before each change by hand
  running: "", // what is running
  panel: "judge",
  file: null, // what was read, to be read again
};

// Figures.

let said = ["", ""]; // but for what is said of a box that is held

function setState(text, look = "", held = false) {
  const s = $("state");
  if (!held) said = [text, look];
  s.textContent = text;
  s.className = look;
}

/** Figures shows objective, bound and gap. */
function figures(objective, bound, gap) {
  const m = state.loaded?.metric;
  $("objective-name").textContent = m?.name ?? "objective";
  $("objective").textContent = value(objective, m?.unit);
  $("bound").textContent = value(bound, m?.unit);
  $("gap").textContent = percent(gap);
  $("gap").classList.toggle("closed", gap !== null && gap !== undefined && gap <= 1e-6);
}

const statusText = {
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
function titleOf(algorithm, { objective, bound, gap, verdict }) {
  const m = state.loaded.metric, parts = [`${state.loaded.name}, ${algorithm}`];
  if (objective === null || objective === undefined) return parts[0];
  let text = `: ${m.name} ${value(objective, m.unit)}`;
  if (verdict && !verdict.accepted) text += ", broken";
  else if (bound !== null && bound !== undefined) text += gap <= 1e-6 ? ", optimal" : `, bound ${value(bound, m.unit)} (gap ${percent(gap)})`;
  return parts[0] + text;
}

/** Show draws a solution and says what is known of it. */
export function show(shown, { history = false } = {}) {
  if (history && state.shown) state.history.push(state.shown);
  state.shown = shown;
  figures(shown.objective, shown.bound, shown.verdict && !shown.verdict.accepted ? null : shown.gap);
  $("objective").classList.toggle("void", Boolean(shown.verdict && !shown.verdict.accepted));
  $("title").textContent = titleOf(shown.algorithm, shown);
  const scene = shown.scene ?? null;
  if (shown.status === "infeasible") $("title").textContent = `${state.loaded.name}: infeasible, proved`;
  if (scene) scene.title = $("title").textContent;
  if (!scene) $("scene").dataset.empty = statusText[shown.status] ?? "nothing to draw";
  else delete $("scene").dataset.empty;
  picture.show(scene, { broken: broken(shown) });
  $("undo").disabled = state.history.length === 0;
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
  if (state.running) throw new Error(`wait for what runs (${state.running}), or stop it`);
  state.running = what;
  buttons();
  try {
    return await desk.ask(operation, question, tell);
  } finally {
    state.running = "";
    buttons();
  }
}

function buttons() {
  const busy = state.running !== "";
  $("solve").hidden = busy && opening === 0;
  $("stop").hidden = !$("solve").hidden;
  for (const id of ["solve", "share"]) $(id).disabled = !state.loaded || opening > 0;
  document.body.classList.toggle("busy", busy || opening > 0);
  picture.movable = !busy;
}

/** Failed says what went wrong. */
export function failed(error) {
  if (error instanceof Stopped) return;
  setState(String(error.message ?? error), "bad");
}

/** Ended has what runs ended, and says so. */
export function stop() {
  desk.stop();
}

// Instances.

async function load(question, options = {}) {
  opening++;
  buttons();
  try {
    return await put(question, options);
  } finally {
    opening--;
    buttons();
  }
}

/** Put puts an instance on the desk, in place of what runs. */
async function put(question, { from = null } = {}) {
  if (state.running) desk.stop();
  while (state.running) await new Promise((r) => setTimeout(r, 10));
  $("said").textContent = "";
  $("said").className = "note";
  let loaded;
  try {
    loaded = await run("reading", "load", question);
  } catch (e) {
    $("said").textContent = String(e.message);
    $("said").className = "note bad";
    readingFields(from && /platform|machines/.test(e.message) ? "graphs" : "");
    return false;
  }
  if (from) state.file = from;
  take(loaded);
  await first();
  return true;
}

/** Take shows what lies on the desk now. */
function take(loaded) {
  Object.assign(state, { loaded, shown: null, best: null, history: [] });
  $("said").textContent = loaded.said ?? "";
  chooseKind(loaded.kind);
  fillAlgorithms();
  fillVariants();
  curves.clear();
  figures(null, null, null);
  for (const p of Object.values(panels)) p.forget?.();
  $("command").textContent = `gapwise solve ${loaded.name}.json`;
  buttons();
}

/** Quickly says what is drawn. */
function quickly(shown) {
  setState(shown.solution ? `Drawn: ${shown.algorithm}'s solution. Press Solve for a better one and its bound.` : statusText[shown.status] ?? "");
}

/** First draws what a quick algorithm finds. */
async function first() {
  try {
    const shown = await run("quick", "solve", { first: true, quiet: true, seed: 1, time_limit_s: 2 });
    state.best = shown;
    show(shown);
    quickly(shown);
    curves.add(0, shown.objective, shown.bound);
  } catch (e) {
    failed(e);
  }
}

function fillVariants() {
  const into = $("variants");
  into.replaceChildren(...state.loaded.variants.map((v) => make("label", {}, v.flag + " ",
    make("select", { onchange: (e) => load({ name: "x.json", text: JSON.stringify(state.loaded.instance), variants: { [v.flag]: e.target.value } }) },
      v.values.map((x) => make("option", { value: x, selected: x === v.value }, x))))));
}

function fillAlgorithms() {
  const select = $("algorithm"), was = select.value;
  const k = state.about.kinds.find((x) => x.kind === state.kind);
  const groups = state.about.classes.map((c) => make("optgroup", { label: c.title }, k.algorithms.filter((a) => a.class === c.class).map((a) => make("option", { value: a.name }, a.name))));
  select.replaceChildren(make("option", { value: "auto" }, "auto: all take turns"), ...groups);
  select.value = [...select.options].some((o) => o.value === was) ? was : "auto";
  aboutAlgorithm();
}

function aboutAlgorithm() {
  const a = state.about.kinds.find((x) => x.kind === state.kind).algorithms.find((x) => x.name === $("algorithm").value);
  $("about-algorithm").textContent = a ? `${a.summary}. ${a.paper}` : "Heuristics, local search and exact engines take turns, until the gap is closed or the time is over.";
}

function chooseKind(kind) {
  state.kind = kind;
  for (const b of $("kinds").children) b.setAttribute("aria-pressed", String(b.dataset.kind === kind));
  $("question").textContent = kinds.find((k) => k.kind === kind).question;
  const select = $("example"), was = select.value;
  const mine = state.examples.filter((e) => e.kind === kind);
  select.replaceChildren(make("option", { value: "" }, "your own"), ...mine.map((e) => make("option", { value: e.file }, e.title)));
  select.value = mine.some((e) => e.file === was) && !state.file ? was : "";
}

export async function reload(text) {
  state.file = { name: "changed.json", data: await base64(new TextEncoder().encode(text)) };
  return load({ name: "changed.json", text });
}

async function loadExample(file) {
  opening++;
  buttons();
  try {
    await example(file);
  } finally {
    opening--;
    buttons();
  }
}

async function example(file) {
  const response = await fetch(`examples/${file}`);
  if (!response.ok) return failed(new Error(`the example ${file} isn't there`));
  state.file = null;
  readingFields("");
  const text = await response.text();
  $("example").value = file;
  await load({ name: file, text });
  $("example").value = file;
}

async function base64(buffer) {
  const bytes = new Uint8Array(buffer);
  let text = "";
  for (let i = 0; i < bytes.length; i += 0x8000) text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(text);
}

async function readFile(name, buffer) {
  if (buffer.byteLength > 64e6) return failed(new Error(`${name} has ${figure(buffer.byteLength / 1e6, 3)} MB; the page reads 64 MB at most, the command more`));
  const from = { name, data: await base64(buffer) };
  readingFields(isLog(name) ? "logs" : "");
  if (await load({ ...from, ...reading() }, { from })) toast(`${state.loaded.name} is read`);
  else state.file = from;
}

const isLog = (name) => /\.swf(\.gz)?$/i.test(name);

/** ReadingFields shows what can be said of a file: of logs, of graphs without machines, of no others. */
function readingFields(of) {
  $("reading").hidden = !of;
  $("reading").dataset.of = of;
  for (const label of $("reading").querySelectorAll("label")) label.hidden = !label.classList.contains(of);
}

/** Reading returns how a file without machines, or a log, is read. */
function reading() {
  const r = { kind: $("logkind").value, first: Number($("first").value) || 0 };
  return $("reading").dataset.of === "graphs" ? { ...r, platform: $("platform").value } : r;
}

// Solving.

let solves = 0; // how many have ended

async function solve(start = null) {
  const limit = Math.max(0.1, Number($("limit").value) || 10);
  const question = { algorithm: $("algorithm").value, seed: Math.max(0, Math.floor(Number($("seed").value) || 0)), time_limit_s: limit };
  if (start) question.start = start;
  curves.clear();
  const kept = { solution: null, bound: null, objective: null, algorithm: question.algorithm, elapsed: 0 };
  setState("Solving …", "running");
  const began = performance.now();
  // The solver has one thread and can't always hear its own clock.
  const guard = setTimeout(() => desk.stop(), (limit * 1.2 + 4) * 1000);
  const clock = setInterval(() => setState(`Solving, ${figure((performance.now() - began) / 1000, 2)} of ${figure(limit)} s …`, "running"), 1000);
  try {
    const shown = await run("solving", "solve", question, (p) => {
      curves.add(p.elapsed_s, p.objective, p.bound);
      $("objective").classList.remove("void");
      figures(p.objective, p.bound, p.gap);
      Object.assign(kept, { bound: p.bound, objective: p.objective, algorithm: p.algorithm || kept.algorithm, elapsed: p.elapsed_s });
      if (p.solution) kept.solution = p.solution;
      if (p.scene) {
        p.scene.title = titleOf(p.algorithm, p);
        $("title").textContent = p.scene.title;
        picture.show(p.scene);
      }
    });
    curves.add(shown.elapsed_s, shown.objective, shown.bound);
    state.best = shown;
    state.history = [];
    show(shown);
    const after = ` after ${figure(shown.elapsed_s, 3)} s`;
    setState((statusText[shown.status] ?? shown.status) + after + (shown.reason ? `: ${shown.reason}` : "") + ".", shown.status === "optimal" ? "good" : shown.solution ? "" : "bad");
  } catch (e) {
    if (!(e instanceof Stopped)) return failed(e);
    await stopped(kept, (performance.now() - began) / 1000);
  } finally {
    clearTimeout(guard);
    clearInterval(clock);
    solves++;
    document.documentElement.dataset.solves = String(solves);
  }
}

/** Stopped shows the best solution that was told, judged anew. */
async function stopped(kept, after) {
  if (!kept.solution) {
    setState(`Stopped after ${figure(after, 2)} s, without a solution.`);
    return;
  }
  setState("Stopped; the judge looks at the best solution so far …");
  try {
    const shown = await run("judging", "judge", { solution: kept.solution, bound: kept.bound });
    shown.algorithm = kept.algorithm;
    state.best = shown;
    state.history = [];
    show(shown);
    setState(`Stopped after ${figure(after, 2)} s: the best so far, and the bound as it was told.`);
  } catch (e) {
    failed(e);
  }
}

// By hand.

async function moved(move) {
  if (!state.shown?.solution) return;
  next = null;
  opening++;
  buttons();
  try {
    await trying;
    const shown = await run("judging", "move", { solution: state.shown.solution, bound: state.shown.bound, move });
    state.moved = move.item;
    show(shown, { history: true });
    openPanel("judge");
    const v = shown.verdict;
    setState(v.accepted ? `Moved by hand: ${state.loaded.metric.name} ${value(shown.objective, state.loaded.metric.unit)}.` : `Moved by hand: the judge objects ${v.violations.length === 1 ? "once" : v.violations.length + " times"}.`, v.accepted ? "" : "bad");
  } catch (e) {
    failed(e);
    picture.draw();
  } finally {
    opening--;
    buttons();
  }
}

/** @type {object | null} */
let next = null; // where a box is held
let trying = null;

/** Tried says what a box would do where it is held, as soon as the judge is free. */
function tried(move) {
  next = null;
  if (!move) return setState(said[0], said[1]);
  if (state.running || !state.shown.solution || state.shown.scene.boxes.length > 300) return;
  next = move;
  trying ??= (async () => {
    while (next) {
      const move = next;
      next = null;
      try {
        const shown = await desk.ask("move", { solution: state.shown.solution, bound: state.shown.bound, move });
        const v = shown.verdict, m = state.loaded.metric;
        const first = v.violations[0];
        if (picture.carried) setState(v.accepted ? `Here: ${m.name} ${value(shown.objective, m.unit)}, ${delta(shown.objective, state.shown.objective, m)}.` : `Here the judge objects: ${first.where}.`, v.accepted ? "" : "bad", true);
      } catch {
        // What can't be is said when the box is put down.
      }
    }
    trying = null;
  })();
}

export function undo() {
  const last = state.history.pop();
  if (last) show(last);
}

export async function mend() {
  if (!state.shown?.solution) return;
  try {
    const shown = await run("mending", "mend", { solution: state.shown.solution, bound: state.shown.bound, keep: state.moved });
    shown.algorithm = "by hand, mended";
    show(shown, { history: true });
    setState(shown.verdict.accepted ? "Mended: what can stay stays, the rest follows." : "Mended as far as it goes. Solve from here finds more.", shown.verdict.accepted ? "" : "bad");
  } catch (e) {
    failed(e);
  }
}

export const solveFromHere = () => solve(state.shown.solution);

// Panels.

function openPanel(name) {
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

// The page.

function listen() {
  $("solve").onclick = () => solve();
  $("stop").onclick = () => desk.stop();
  $("undo").onclick = undo;
  $("mend").onclick = mend;
  $("zoom-in").onclick = () => picture.zoom(1 / 1.6);
  $("zoom-out").onclick = () => picture.zoom(1.6);
  $("zoom-all").onclick = () => picture.all();
  $("save").onclick = () => state.shown?.scene && download(`${state.loaded.name}.svg`, picture.file(), "image/svg+xml");
  $("algorithm").onchange = aboutAlgorithm;
  $("example").onchange = (e) => e.target.value && loadExample(e.target.value);
  $("open").onclick = () => $("file").click();
  $("file").onchange = async (e) => {
    const f = e.target.files[0];
    if (f) await readFile(f.name, await f.arrayBuffer());
    e.target.value = "";
  };
  $("reread").onclick = () => state.file && load({ ...state.file, ...reading() }, { from: state.file });
  $("paste").onclick = () => $("paste-dialog").showModal();
  $("paste-dialog").addEventListener("close", async () => {
    const text = $("pasted").value;
    if ($("paste-dialog").returnValue === "read" && text.trim()) await readFile("pasted", new TextEncoder().encode(text).buffer);
  });
  $("share").onclick = async () => {
    const link = await linkOf({ instance: state.loaded.instance, algorithm: $("algorithm").value, seed: $("seed").value, limit: $("limit").value });
    history.replaceState(null, "", link);
    const url = location.href;
    try {
      await navigator.clipboard.writeText(url);
      toast(`Copied: a link of ${figure(url.length)} characters that holds the instance`);
    } catch {
      toast("The link is in the address bar: copy it there");
    }
  };
  $("theme").onclick = () => {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const now = document.documentElement.dataset.theme ?? (dark ? "dark" : "light");
    document.documentElement.dataset.theme = now === "dark" ? "light" : "dark";
  };
  const tabs = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("[role=tab]")]);
  tabs.forEach((t, k) => {
    t.addEventListener("click", () => openPanel(t.id.slice(4)));
    t.addEventListener("keydown", (e) => {
      const to = { ArrowRight: k + 1, ArrowLeft: k - 1, Home: 0, End: tabs.length - 1 }[e.key];
      if (to === undefined) return;
      e.preventDefault();
      const next = tabs[(to + tabs.length) % tabs.length];
      next.focus();
      openPanel(next.id.slice(4));
    });
  });
  let over = 0;
  addEventListener("dragenter", (e) => {
    if (![...(e.dataTransfer?.types ?? [])].includes("Files")) return;
    over++;
    $("drop").hidden = false;
  });
  addEventListener("dragleave", () => {
    if (--over <= 0) {
      over = 0;
      $("drop").hidden = true;
    }
  });
  addEventListener("dragover", (e) => e.preventDefault());
  addEventListener("drop", async (e) => {
    e.preventDefault();
    over = 0;
    $("drop").hidden = true;
    const f = e.dataTransfer?.files[0];
    if (f) await readFile(f.name, await f.arrayBuffer());
  });
  addEventListener("hashchange", fromLink);
}

async function fromLink() {
  if (!location.hash.slice(1)) return false;
  try {
    const x = await readLink(location.hash);
    if (x.algorithm) setTimeout(() => { $("algorithm").value = x.algorithm; aboutAlgorithm(); }, 0);
    if (x.seed) $("seed").value = x.seed;
    if (x.limit) $("limit").value = x.limit;
    state.file = { name: "shared.json", data: await base64(new TextEncoder().encode(JSON.stringify(x.instance))) };
    const ok = await load({ name: "shared.json", text: JSON.stringify(x.instance) });
    if (ok && x.algorithm && [...$("algorithm").options].some((o) => o.value === x.algorithm)) $("algorithm").value = x.algorithm;
    return ok;
  } catch (e) {
    failed(new Error(`this link holds no instance: ${e.message}`));
    return false;
  }
}

async function begin() {
  listen();
  $("kinds").append(...kinds.map((k) => make("button", { type: "button", "data-kind": k.kind, "aria-pressed": "false", onclick: () => {
    const e = state.examples.find((x) => x.kind === k.kind);
    if (e) loadExample(e.file);
  } }, make("b", {}, k.name), make("small", {}, k.kind))));
  try {
    const [about, examples] = await Promise.all(["first.json", "examples.json"].map((f) => fetch(f).then((r) => r.json())));
    state.about = about.about;
    state.examples = examples;
    $("version").textContent = `gapwise ${state.about.version}`;
    if (!(await fromLink())) await drawFirst(about);
    document.documentElement.dataset.ready = "yes";
  } catch (e) {
    failed(e);
  }
}

/** DrawFirst shows the first example, whose picture is there before the library is. */
async function drawFirst(first) {
  take(first.load);
  $("example").value = first.file;
  state.best = first.solve;
  show(first.solve);
  curves.add(0, first.solve.objective, first.solve.bound);
  setState("The solver is loading …", "running");
  document.documentElement.dataset.drawn = String(Math.round(performance.now()));
  await desk.ask("load", { name: first.file, text: JSON.stringify(first.load.instance) });
  quickly(first.solve);
}

begin();
