// Solving: progress is shown as it is told; what was found stays when it is stopped.
import { Stopped } from "./desk.js";
import { ready } from "./read.js";
import { curves, desk, failed, figures, picture, run, setState, show, state, statusText, titleOf } from "./state.js";
import { $, figure } from "./ui.js";

let solves = 0; // how many have ended

export async function solve(start = null) {
  const limit = Math.max(0.1, Number($("limit").value) || 10);
  const question = { algorithm: $("algorithm").value, seed: Math.max(0, Math.floor(Number($("seed").value) || 0)), time_limit_s: limit };
  if (start) question.start = start;
  curves.clear();
  const kept = { solution: null, bound: null, objective: null, algorithm: question.algorithm, elapsed: 0 };
  let began = performance.now(), guard, clock;
  try {
    await ready(question.algorithm);
    began = performance.now();
    setState("Solving …", "running");
    // The solver has one thread and can't always hear its own clock.
    guard = setTimeout(() => desk.stop(), (limit * 1.2 + 4) * 1000);
    clock = setInterval(() => setState(`Solving, ${figure((performance.now() - began) / 1000, 2)} of ${figure(limit)} s …`, "running"), 1000);
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
    curves.add(shown.elapsed_s, shown.objective ?? null, shown.bound ?? null);
    shown.curve = curves.points;
    show(shown, { best: true });
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
    show(shown, { best: true });
    setState(`Stopped after ${figure(after, 2)} s: the best so far, and the bound as it was told.`);
  } catch (e) {
    failed(e);
  }
}

/** SolveFromHere starts from what is drawn. */
export const solveFromHere = () => solve(state.shown.solution);
