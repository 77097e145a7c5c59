// The picture of a solution: rows with boxes along an axis. Which box means what is the
// library's business.
import { roles } from "./kinds.js";
import { $, figure, make, middle, ticks, time, unitStep } from "./ui.js";

export const clamp = (x, low, high) => Math.min(high, Math.max(low, x));
export const round = (x) => Math.round(x * 10) / 10;

export class Drawing {
  /**
   * @param {HTMLElement} into
   * @param {HTMLElement} legend
   */
  constructor(into, legend) {
    this.into = into;
    this.legend = legend;
    this.scene = null;
    this.broken = new Set();
    this.marked = new Set();
    this.ghosts = null; // items that aren't there yet
    this.extra = []; // marks of a step
    this.active = -1;
    /** @type {{box: any, row: number, lane: number, at: number} | null} */
    this.carried = null; // the box that is moved
    this.view = [0, 1];
    this.movable = true;
    new ResizeObserver(() => this.width !== this.into.clientWidth && this.draw()).observe(into);
  }

  /** Show draws a scene. The part of the axis that is shown stays where the ends do. */
  show(scene, { broken = new Set(), ghosts = null, extra = [], current = null } = {}) {
    const old = this.scene;
    const zoomed = old && (this.view[0] > old.low || this.view[1] < old.high);
    const focused = old && this.active >= 0 ? old.boxes[this.active] : null;
    this.scene = scene;
    this.broken = broken;
    this.ghosts = ghosts;
    this.extra = extra;
    this.marked = new Set(current ? [current] : []);
    this.carried = null;
    if (!zoomed || !scene || !old || old.unit !== scene.unit) this.view = scene ? [scene.low, scene.high + (scene.unit === "%" ? 0 : (scene.high - scene.low) * 0.02)] : [0, 1];
    this.active = scene && focused ? scene.boxes.findIndex((b) => b.item === focused.item && b.task === focused.task) : -1;
    this.draw();
  }

  mark(items) {
    this.marked = new Set(items);
    this.draw();
  }

  zoom(factor, at = (this.view[0] + this.view[1]) / 2) {
    if (!this.scene) return;
    const span = this.scene.high - this.scene.low;
    const low = at - (at - this.view[0]) * factor, high = at + (this.view[1] - at) * factor;
    if (high - low < span / 5000) return;
    if (high - low >= span * 1.02) return this.all();
    this.view = [low, high];
    this.draw();
  }

  pan(by) {
    if (!this.scene) return;
    const span = this.view[1] - this.view[0];
    const low = clamp(this.view[0] + by, this.scene.low - span * 0.1, this.scene.high - span * 0.5);
    this.view = [low, low + span];
    this.draw();
  }

  all() {
    if (!this.scene) return;
    this.view = [this.scene.low, this.scene.high + (this.scene.unit === "%" ? 0 : (this.scene.high - this.scene.low) * 0.02)];
    this.draw();
  }

  /** Place finds where rows, lanes and the axis are. */
  place() {
    const s = this.scene, width = Math.max(300, this.into.clientWidth), narrow = width < 560;
    const percent = s.unit === "%";
    const longest = Math.max(...s.rows.map((r) => (r.named ? 4 : r.label.length)), 4);
    const groups = percent ? Math.max(...s.rows.map((r) => r.group.length)) + 1 : 0;
    const left = clamp(longest * 6.6 + groups * 6.6 + 14, 48, narrow ? 108 : 190);
    const labels = [...(s.marks ?? []), ...this.extra].map((m) => ({ ...m }));
    const x = (t) => left + ((t - this.view[0]) / (this.view[1] - this.view[0])) * (width - left - 20);
    // Labels of marks that would lie on each other get lines of their own.
    const lines = [];
    for (const m of labels.sort((a, b) => a.at - b.at)) {
      const w = m.label.length * 6.3 + 22;
      m.x = x(m.at);
      m.flip = m.x + w > width - 4;
      m.from = m.flip ? m.x - w : m.x;
      if (m.from < 0) m.from = 0;
      m.line = lines.findIndex((end) => end < m.from);
      if (m.line < 0) m.line = lines.push(0) - 1;
      lines[m.line] = m.from + w;
    }
    const shown = labels.filter((m) => m.at >= this.view[0] && m.at <= this.view[1]);
    let y = 6 + 15 * Math.max(0, ...shown.map((m) => m.line + 1));
    const slots = s.rows.reduce((n, r) => n + (r.drop?.startsWith("server") ? r.lanes : 0), 0);
    const many = s.rows.length > 60;
    let group = null;
    const rows = s.rows.map((r, k) => {
      const alone = s.rows.filter((o) => o.group === r.group).length === 1 && r.group === r.label;
      if (r.group !== group) {
        if (group !== null) y += percent ? 6 : 9;
        if ((r.named || (!alone && s.rows.length > 1 && r.group !== "machines")) && !percent) {
          this.headings.push({ label: r.group, y: y + 11 });
          y += 17;
        }
        group = r.group;
      }
      let lane;
      if (percent) lane = many ? 13 : 20;
      else if (r.named) lane = clamp((s.rows.filter((o) => o.named).length > 1 ? 230 : 380) / r.lanes, 0.6, 26);
      else if (r.drop?.startsWith("machine")) lane = many ? 16 : 30;
      else if (r.drop?.startsWith("server")) lane = clamp(580 / slots, 3, 13);
      else lane = clamp(110 / r.lanes, 2.5, 15);
      const row = { ...r, k, y, lane, height: Math.max(lane * r.lanes, 12) };
      y += row.height + (percent ? 2 : many ? 3 : 5);
      return row;
    });
    return { width, left, right: width - 20, x, rows, labels: shown, bottom: y + 2, height: y + 26 };
  }

  draw() {
    const s = this.scene;
    this.width = this.into.clientWidth;
    if (!s) {
      this.into.replaceChildren();
      this.legend.replaceChildren();
      return;
    }
    this.headings = [];
    const p = (this.at = this.place());
    const svg = make("svg", { width: p.width, height: p.height, viewBox: `0 0 ${p.width} ${p.height}`, tabindex: 0, role: "listbox", class: "gantt", "aria-label": `${s.title || "Picture"}: ${s.boxes.length} boxes in ${s.rows.length} rows. Arrow keys go from box to box, Enter picks one up.` });
    svg.append(
      make("defs", {},
        make("clipPath", { id: "plot" }, make("rect", { x: p.left, y: 0, width: p.right - p.left + 6, height: p.height })),
        make("marker", { id: "tip-plain", viewBox: "0 0 8 8", refX: 7, refY: 4, markerUnits: "userSpaceOnUse", markerWidth: 8, markerHeight: 8, orient: "auto-start-reverse", class: "head" }, make("path", { d: "M0,0L8,4L0,8Z" })),
        make("marker", { id: "tip-critical", viewBox: "0 0 8 8", refX: 7, refY: 4, markerUnits: "userSpaceOnUse", markerWidth: 10, markerHeight: 10, orient: "auto-start-reverse", class: "head critical" }, make("path", { d: "M0,0L8,4L0,8Z" }))));
    svg.append(this.ground(p), this.boxes(p), this.arrows(p), this.lines(p));
    const had = document.activeElement === this.svg;
    this.svg = svg;
    this.into.replaceChildren(svg);
    if (had) svg.focus({ preventScroll: true });
    this.drawLegend();
    this.drawn();
  }

  /** Drawn is called when the picture is new. */
  drawn() {}

  /** Ground draws rows, their names and the axis. */
  ground(p) {
    const s = this.scene, g = make("g", { class: "ground" });
    for (const r of p.rows) {
      g.append(make("rect", { x: p.left, y: r.y, width: p.right - p.left, height: r.height, class: `row ${r.k % 2 ? "odd" : ""}`, "data-row": r.k }));
      if (r.role) g.append(make("rect", { x: p.left - 5, y: r.y, width: 4, height: r.height, class: `flag ${r.role}` }));
      if (s.unit === "%") {
        const first = r.k === 0 || p.rows[r.k - 1].group !== r.group;
        if (first) g.append(make("text", { x: 4, y: r.y + r.height / 2 + 4, class: "name strong" }, this.cut(r.group, p.left - 60)));
        g.append(make("text", { x: p.left - 9, y: r.y + r.height / 2 + 4, class: "name end small" }, r.label));
      } else if (r.named) {
        const some = ticks(0, r.lanes - 1, Math.min(r.lanes, r.height / 24)).filter(Number.isInteger);
        for (const n of some) g.append(make("text", { x: p.left - 6, y: r.y + (n + 0.5) * r.lane + 4, class: "name end small" }, n));
      } else g.append(make("text", { x: p.left - 6, y: r.y + r.height / 2 + 4, class: "name end" }, this.cut(r.label, p.left - 10)));
    }
    for (const h of this.headings) g.append(make("text", { x: 4, y: h.y, class: "heading" }, h.label));
    const span = this.view[1] - this.view[0];
    const step = s.unit === "s" ? unitStep(span) : 1;
    for (const t of ticks(this.view[0], this.view[1], (p.right - p.left) / 85, step)) {
      const x = p.x(t);
      g.append(make("line", { x1: x, x2: x, y1: p.rows[0].y, y2: p.bottom, class: "tick" }), make("text", { x, y: p.bottom + 15, class: "axis middle" }, this.label(t)));
    }
    if (s.unit === "%") g.append(make("line", { x1: p.x(100), x2: p.x(100), y1: p.rows[0].y, y2: p.bottom, class: "full" }));
    return g;
  }

  label(t) {
    const s = this.scene, span = this.view[1] - this.view[0];
    if (s.unit === "%") return figure(t, 4) + " %";
    if (s.start && span > 7200) {
      const at = new Date(Date.parse(s.start) + t * 1000);
      return span > 3 * 86400 ? at.toISOString().slice(5, 10) : at.toISOString().slice(11, 16);
    }
    return time(t, span) + (span > 3 * 3600 ? "" : " s");
  }

  cut(text, room) {
    return middle(text, Math.max(2, Math.floor(room / 6.4)));
  }

  boxes(p) {
    const s = this.scene, all = make("g", { "clip-path": "url(#plot)" });
    s.boxes.forEach((b, k) => {
      if (b.high < this.view[0] || b.low > this.view[1]) return;
      const r = p.rows[b.row], x0 = Math.max(p.x(b.low), p.left - 2), x1 = Math.min(p.x(b.high), p.right + 8);
      const gap = r.lane > 6 ? 1 : 0;
      const y = r.y + b.lane * r.lane + gap / 2, h = Math.max(r.lane * b.lanes - gap, 0.8), w = Math.max(x1 - x0, 1);
      let look = `box ${b.role || "tint" + (b.tint || 0)}`;
      if (b.drag && this.movable) look += " movable";
      if (w < 4) look += " thin";
      if (this.broken.has(b.item)) look += " broken";
      if (this.marked.has(b.item)) look += " marked";
      if (this.ghosts?.has(b.item)) look += " ghost";
      if (this.carried?.box.item === b.item) look += " carried";
      const g = make("g", { class: look, "data-box": k, id: `box-${k}`, role: "option", "aria-label": b.facts.join("; ") + (this.broken.has(b.item) ? "; the judge objects" : ""), "aria-selected": k === this.active });
      g.append(make("rect", { x: round(x0), y: round(y), width: round(w), height: round(h), rx: h > 9 && w > 6 ? 2.5 : 0 }));
      const small = h < 10.5;
      const room = Math.floor((w - 4) / (small ? 5.4 : 6.9)), text = room < 9 && room < b.label.length ? "" : middle(b.label, room);
      if (h >= 8 && text) g.append(make("text", { x: round((x0 + x1) / 2), y: round(y + h / 2 + (small ? 3.2 : 4)), class: small ? "middle label tiny" : "middle label" }, text));
      all.append(g);
    });
    return all;
  }

  arrows(p) {
    const s = this.scene, g = make("g", { class: "arrows", "clip-path": "url(#plot)" });
    for (const a of s.arrows ?? []) {
      const from = s.boxes[a.from], to = s.boxes[a.to];
      if (this.ghosts && (this.ghosts.has(from.item) || this.ghosts.has(to.item))) continue;
      const y = (b) => p.rows[b.row].y + (b.lane + b.lanes / 2) * p.rows[b.row].lane;
      const x0 = p.x(from.high), x1 = p.x(to.low), y0 = y(from), y1 = y(to), bend = Math.max(10, Math.min(40, Math.abs(x1 - x0) / 2));
      g.append(make("path", { d: `M${round(x0)},${round(y0)}C${round(x0 + bend)},${round(y0)} ${round(x1 - bend)},${round(y1)} ${round(x1)},${round(y1)}`, class: `arrow ${a.role ?? ""}`, "marker-end": `url(#tip-${a.role === "critical" ? "critical" : "plain"})`, "data-from": a.from, "data-to": a.to }));
    }
    return g;
  }

  /** Lines draws the marks, which hold across all rows. */
  lines(p) {
    const g = make("g", { class: "marks" });
    for (const m of p.labels) {
      const y = 12 + 15 * m.line;
      g.append(make("line", { x1: m.x, x2: m.x, y1: y + 3, y2: p.bottom, class: m.bound ? "mark bound" : "mark" }), make("text", { x: m.flip ? Math.max(m.x - 4, m.label.length * 6.3) : m.x + 4, y, class: `mark ${m.flip ? "end" : ""}` }, m.label));
    }
    return g;
  }

  drawLegend() {
    const s = this.scene, used = new Set([...s.boxes.map((b) => b.role), ...s.rows.map((r) => r.role)].filter(Boolean));
    const items = Object.keys(roles).filter((r) => used.has(r)).map((r) => make("li", {}, make("i", { class: `key ${r}` }), roles[r]));
    if (this.broken.size) items.push(make("li", {}, make("i", { class: "key broken" }), "the judge objects"));
    if (s.note) items.push(make("li", { class: "note" }, s.note));
    this.legend.replaceChildren(...items);
  }

  /** File returns the picture as an SVG file. */
  file() {
    return new XMLSerializer().serializeToString(this.copy());
  }

  /** Copy returns the picture with its title and its colours in it. */
  copy() {
    const copy = this.svg.cloneNode(true);
    const from = this.svg.querySelectorAll("*"), to = copy.querySelectorAll("*");
    const keys = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-family", "font-weight", "text-anchor"];
    from.forEach((e, k) => {
      const style = getComputedStyle(e);
      for (const key of keys) to[k].setAttribute(key, style.getPropertyValue(key));
      to[k].removeAttribute("class");
    });
    const head = 26, height = this.at.height + head, ink = getComputedStyle($("title"));
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    copy.setAttribute("viewBox", `0 ${-head} ${this.at.width} ${height}`);
    copy.setAttribute("height", height);
    copy.insertBefore(make("text", { x: 6, y: -8, fill: ink.color, "font-family": ink.fontFamily, "font-size": 14, "font-weight": 600 }, this.scene.title), copy.firstChild);
    copy.insertBefore(make("rect", { y: -head, width: this.at.width, height, fill: getComputedStyle($("picture")).backgroundColor }), copy.firstChild);
    for (const [key, v] of Object.entries({ role: "img", "aria-label": this.scene.title })) copy.setAttribute(key, v);
    copy.removeAttribute("tabindex");
    return copy;
  }
}
