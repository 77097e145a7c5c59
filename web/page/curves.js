// The curves of incumbent and bound, which close in on each other.
import { figure, make, ticks, time } from "./ui.js";

export class Curves {
  /** @param {HTMLElement} into */
  constructor(into) {
    this.into = into;
    this.clear();
    new ResizeObserver(() => this.draw()).observe(into);
  }

  clear() {
    /** @type {{t: number, objective: number | null, bound: number | null}[]} */
    this.points = [];
    this.draw();
  }

  /** Again draws points that were drawn before: those of a solve that is shown once more. */
  again(points) {
    this.points = points;
    this.draw();
  }

  add(t, objective, bound) {
    // What comes before the first figure is short and says nothing.
    if (this.points.length === 0) this.from = t < 0.2 ? t : 0;
    t = Math.max(0, t - this.from, this.points.at(-1)?.t ?? 0);
    this.points.push({ t, objective, bound });
    this.draw();
  }

  /**
   * Meets ends the curves where a solution is. Unless they are its own they begin anew: it is one of a proof, or moved
   * by hand.
   */
  meets(objective, bound, own = false) {
    const last = this.points.at(-1);
    if (last && last.objective === objective && last.bound === bound) return;
    if (!own) this.clear();
    this.add(0, objective, bound);
  }

  draw() {
    const width = Math.max(220, this.into.clientWidth), height = Math.max(84, this.into.clientHeight);
    const left = 58, right = 12, top = 8, bottom = 24;
    const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img" });
    const of = (key) => this.points.filter((p) => p[key] !== null && p[key] !== undefined && Number.isFinite(p[key]));
    const found = of("objective"), proved = of("bound");
    if (found.length + proved.length === 0) {
      svg.append(make("text", { x: width / 2, y: height / 2, class: "middle" }, "Solve draws here how the best solution and the bound close in"));
      svg.setAttribute("aria-label", "No curves yet");
      this.into.replaceChildren(svg);
      return;
    }
    const last = this.points[this.points.length - 1];
    const end = Math.max(last.t, 1e-3);
    // Where the first incumbents are far off, the axis shows what came later.
    const values = [...found.map((p) => p.objective), ...proved.map((p) => p.bound)];
    let low = Math.min(...values), high = Math.max(...values);
    if (high - low <= 1e-6 * Math.max(Math.abs(high), Math.abs(low))) { // equal, as gaps are
      low -= Math.abs(low) * 0.05 || 1;
      high += Math.abs(high) * 0.05 || 1;
    }
    const pad = (high - low) * 0.06;
    low -= pad;
    high += pad;
    const x = (t) => left + ((width - left - right) * t) / end;
    const y = (v) => top + ((height - top - bottom) * (high - v)) / (high - low);
    const steps = (points, key) => {
      let d = "";
      for (const p of points) d += d === "" ? `M${x(p.t).toFixed(1)},${y(p[key]).toFixed(1)}` : `H${x(p.t).toFixed(1)}V${y(p[key]).toFixed(1)}`;
      return d + `H${x(end).toFixed(1)}`;
    };
    const frame = make("g", { class: "grid" });
    for (const v of ticks(low, high, 4)) {
      frame.append(make("line", { x1: left, x2: width - right, y1: y(v), y2: y(v) }), make("text", { x: left - 6, y: y(v) + 4, class: "end" }, figure(v, 5)));
    }
    for (const t of last.t > 0 ? ticks(0, end, width / 110) : []) frame.append(make("text", { x: Math.min(x(t), width - 24), y: height - 6, class: "middle" }, end < 0.8 ? figure(t * 1000, 3) + " ms" : time(t, end) + (end > 3 * 3600 ? "" : " s")));
    svg.append(frame);
    if (found.length && proved.length) {
      // Between the two lies what isn't known: there along the incumbent, back along the bound.
      const from = Math.max(found[0].t, proved[0].t);
      const at = (points, key, t) => points.reduce((v, p) => (p.t <= t ? p[key] : v), points[0][key]);
      const times = [...new Set([from, ...this.points.map((p) => p.t).filter((t) => t > from), end])];
      let d = `M${x(from).toFixed(1)},${y(at(found, "objective", from)).toFixed(1)}`;
      for (const t of times) d += `H${x(t).toFixed(1)}V${y(at(found, "objective", t)).toFixed(1)}`;
      for (let i = times.length - 1; i > 0; i--) d += `V${y(at(proved, "bound", times[i - 1])).toFixed(1)}H${x(times[i - 1]).toFixed(1)}`;
      svg.append(make("path", { d: d + "Z", class: "between" }));
    }
    if (proved.length) svg.append(make("path", { d: steps(proved, "bound"), class: "line proved" }));
    if (found.length) {
      svg.append(make("path", { d: steps(found, "objective"), class: "line found" }));
      const p = found[found.length - 1];
      svg.append(make("circle", { cx: x(end), cy: y(p.objective), r: 3.5, class: "dot" }));
    }
    svg.setAttribute("aria-label", `After ${figure(end, 3)} s: best ${figure(last.objective)}, bound ${figure(last.bound)}`);
    this.into.replaceChildren(svg);
  }
}
