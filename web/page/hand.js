// Moving by hand: the judge says what a move breaks and what it costs.
import { desk, failed, occupied, openPanel, picture, run, setState, show, state, unsaid } from "./state.js";
import { delta, value } from "./ui.js";

picture.onMove = moved;
picture.onTry = tried;

async function moved(move) {
  if (!state.shown?.solution) return;
  next = null;
  await occupied(async () => {
    try {
      await trying;
      const shown = await run("judging", "move", { solution: state.shown.solution, bound: state.shown.bound, move });
      state.moved = move.item;
      const v = shown.verdict, m = state.loaded.metric;
      shown.note = v.accepted ? `Moved by hand: ${m.name} ${value(shown.objective, m.unit)}.` : `Moved by hand: the judge objects ${v.violations.length === 1 ? "once" : v.violations.length + " times"}.`;
      show(shown, { hand: true });
      openPanel("judge");
    } catch (e) {
      failed(e);
      picture.draw();
    }
  });
}

/** @type {object | null} */
let next = null; // where a box is held
let trying = null;

/** Tried says what a box would do where it is held, as soon as the judge is free. */
function tried(move) {
  next = null;
  if (!move) return unsaid();
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
  const last = state.running ? null : state.past.pop();
  if (!last) return;
  state.history = last.history;
  show(last.shown, { back: true });
  setState(`Undone: ${last.shown.algorithm}'s solution.`);
}

export async function mend() {
  if (!state.shown?.solution) return;
  try {
    const shown = await run("mending", "mend", { solution: state.shown.solution, bound: state.shown.bound, keep: state.moved });
    shown.algorithm = "by hand, mended";
    shown.note = shown.verdict.accepted ? "Mended: what can stay stays, the rest follows." : "Mended as far as it goes. Solve from here finds more.";
    show(shown, { hand: true });
  } catch (e) {
    failed(e);
  }
}
