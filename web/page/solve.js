// Solving: progress is shown as it is told; what was found stays when it is stopped.
import { Stopped } from "./desk.js";
import { ready } from "./read.js";
import { curves, desk, failed, figures, give, learn, picture, run, setState, show, state, titleOf } from "./state.js";
import { $, entry, figure } from "./ui.js";

let solves = 0; // how many have ended

export async function solve(start = null) {
  const algorithm = $("algorithm").value, kept = { solution: null, bound: null, objective: null, algorithm, elapsed: 0 };
  let began = performance.now(), guard, clock;
  try {
    const limit = entry("limit"), question = { algorithm, seed: entry("seed"), time_limit_s: limit };
    if (start) question.start = start;
    curves.clear();
    await ready(algorithm);
    began = performance.now();
    setState("Solving …", "running");
    // The solver has one thread and can't always hear its own clock.
    guard = setTimeout(() => desk.stop(), (limit * 1.2 + 4) * 1000);
    clock = setInterval(() => setState(`Solving, ${figure((performance.now() - began) / 1000, 2)} of ${figure(limit)} s …`, "running"), 1000);
    const shown = await run("solving", "solve", question, (p) => {
      give(p);
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
    learn(shown);
    curves.add(shown.elapsed_s, shown.objective ?? null, shown.bound ?? null);
    shown.curve = curves.points;
    show(shown);
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
    Object.assign(shown, { algorithm: kept.algorithm, note: `Stopped after ${figure(after, 2)} s: the best so far, and the bound as it was told.` });
    show(shown);
  } catch (e) {
    failed(e);
  }
}

/** SolveFromHere starts from what is drawn. */
export const solveFromHere = () => solve(state.shown.solution);
