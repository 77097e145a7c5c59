// The picture under a person's hands: boxes tell what they are, and are moved by pointer and
// by keyboard.
import { clamp, Drawing, round } from "./drawing.js";
import { $, figure, make } from "./ui.js";

/** @typedef {{item: string, task: number, drop: string, lane: number, at: number}} Move */

export class Picture extends Drawing {
  /**
   * @param {HTMLElement} into
   * @param {HTMLElement} legend
   */
  constructor(into, legend) {
    super(into, legend);
    /** @type {(move: Move) => void} */
    this.onMove = () => {}; // a box was put down
    /** @type {(move: Move | null) => void} */
    this.onTry = () => {}; // a box is held there, or is put back
    this.listen();
  }

  drawn() {
    this.point();
  }

  listen() {
    const box = (e) => {
      const g = /** @type {Element} */ (e.target).closest?.("[data-box]");
      return g ? Number(g.getAttribute("data-box")) : -1;
    };
    this.into.addEventListener("pointermove", (e) => {
      if (this.drag) return this.move(e);
      if (e.pointerType !== "touch") this.tell(box(e), e.clientX, e.clientY);
    });
    this.into.addEventListener("pointerleave", (e) => !this.drag && e.pointerType !== "touch" && this.tell(-1));
    addEventListener("scroll", () => this.tell(-1), { passive: true });
    // A box that is dragged keeps the page from scrolling; touch-action knows no parts of an SVG.
    this.into.addEventListener("touchstart", (e) => this.drag && !this.drag.free && e.preventDefault(), { passive: false });
    this.into.addEventListener("pointerdown", (e) => {
      if (e.button !== 0 || !this.scene || !this.at) return;
      const k = box(e), was = this.active;
      if (k >= 0) {
        this.active = k;
        this.point();
      }
      const b = this.scene.boxes[k];
      const free = !b || !b.drag || !this.movable;
      if (e.pointerType === "touch" && (free || was !== k)) return this.tell(k, e.clientX, e.clientY); // the page scrolls
      const { x, y } = this.spot(e);
      this.drag = { x, y, k, free, low: this.view[0], begun: false, lane: b ? (y - this.at.rows[b.row].y) / this.at.rows[b.row].lane - b.lane : 0 };
      this.into.setPointerCapture(e.pointerId);
      if (!free) e.preventDefault();
    });
    const drop = (e) => {
      const d = this.drag;
      this.drag = null;
      if (!d) return;
      if (d.begun && !d.free && e.type === "pointerup") this.drop();
      else if (this.carried) this.cancel();
      if (k0(d)) this.svg?.focus({ preventScroll: true });
    };
    const k0 = (d) => d.k >= 0;
    this.into.addEventListener("pointerup", drop);
    this.into.addEventListener("pointercancel", drop);
    this.into.addEventListener("wheel", (e) => {
      if (!(e.ctrlKey || e.metaKey) || !this.at) return;
      e.preventDefault();
      const { x } = this.spot(e);
      this.zoom(e.deltaY > 0 ? 1.2 : 1 / 1.2, this.when(x));
    }, { passive: false });
    this.into.addEventListener("keydown", (e) => this.key(e));
    this.into.addEventListener("focusin", () => {
      if (this.active < 0 && this.scene?.boxes.length) this.active = 0;
      this.point(true);
    });
    this.into.addEventListener("focusout", () => {
      if (this.carried && !this.drag) this.cancel();
      this.point();
      this.tell(-1);
    });
  }

  spot(e) {
    const r = this.svg.getBoundingClientRect();
    return { x: (e.clientX - r.left) * (this.at.width / r.width), y: (e.clientY - r.top) * (this.at.height / r.height) };
  }

  when(x) {
    return this.view[0] + ((x - this.at.left) / (this.at.right - this.at.left)) * (this.view[1] - this.view[0]);
  }

  move(e) {
    const d = this.drag, { x, y } = this.spot(e);
    if (!d.begun && Math.hypot(x - d.x, y - d.y) < 4) return;
    d.begun = true;
    this.tell(-1);
    if (d.free) {
      const by = ((d.x - x) / (this.at.right - this.at.left)) * (this.view[1] - this.view[0]);
      const zoomed = this.view[1] - this.view[0] < (this.scene.high - this.scene.low);
      if (zoomed) this.pan(d.low + by - this.view[0]);
      return;
    }
    const b = this.scene.boxes[d.k];
    if (!this.carried) this.pick(d.k);
    let row = b.row, lane = b.lane, at = b.low;
    if (b.drag !== "time") {
      const near = this.at.rows.filter((r) => r.drop).sort((r, q) => this.away(r, y) - this.away(q, y))[0];
      if (near) {
        row = near.k;
        lane = clamp(Math.round((y - near.y) / near.lane - d.lane), 0, Math.max(0, near.lanes - b.lanes));
      }
    }
    if (b.drag !== "row") at = this.snap(this.when(x) - this.when(d.x) + b.low, b);
    this.put(row, lane, at);
  }

  away(r, y) {
    return y < r.y ? r.y - y : y > r.y + r.height ? y - r.y - r.height : 0;
  }

  /** Snap moves a start to where another box starts or ends, if that is near, else to a round time. */
  snap(at, b) {
    const pixel = (this.view[1] - this.view[0]) / (this.at.right - this.at.left), length = b.high - b.low;
    let best = at, off = 7 * pixel;
    const edges = [0, ...(b.window ?? [])];
    for (const o of this.scene.boxes) if (o.item !== b.item) edges.push(o.low, o.high);
    for (const t of edges) {
      for (const s of [t, t - length]) {
        if (Math.abs(s - at) < off) {
          off = Math.abs(s - at);
          best = s;
        }
      }
    }
    if (best !== at) return best;
    const grain = 10 ** Math.ceil(Math.log10(pixel));
    return Math.round(at / grain) * grain;
  }

  pick(k) {
    const b = this.scene.boxes[k];
    this.carried = { box: b, row: b.row, lane: b.lane, at: b.low };
    for (const g of this.svg.querySelectorAll("[data-box]")) if (this.scene.boxes[Number(g.getAttribute("data-box"))].item === b.item) g.classList.add("carried");
    if (b.window) {
      const x0 = clamp(this.at.x(b.window[0]), this.at.left, this.at.right), x1 = b.window.length > 1 ? clamp(this.at.x(b.window[1]), this.at.left, this.at.right) : this.at.right;
      this.svg.insertBefore(make("rect", { x: x0, y: this.at.rows[0].y, width: Math.max(0, x1 - x0), height: this.at.bottom - this.at.rows[0].y, class: "window" }), this.svg.children[2]);
    }
    this.ghost = make("g", { class: "ghostbox" }, make("rect", { rx: 2.5 }), make("text", { class: "label" }));
    this.svg.append(this.ghost);
  }

  /** Put shows where the carried box would go. */
  put(row, lane, at) {
    const c = this.carried, b = c.box, r = this.at.rows[row];
    const elsewhere = c.row !== row || c.lane !== lane || c.at !== at;
    Object.assign(c, { row, lane, at });
    if (elsewhere && r.drop) this.onTry({ item: b.item, task: b.task ?? 0, drop: r.drop, lane, at });
    const lanes = r.lanes === 1 ? 1 : r.named || row === b.row ? Math.min(b.lanes, r.lanes) : Math.min(b.lanes, r.lanes);
    const low = this.scene.unit === "%" ? 0 : at;
    const x0 = this.at.x(low), w = Math.max(3, this.at.x(low + b.high - b.low) - x0);
    const y = r.y + lane * r.lane;
    const rect = this.ghost.firstChild, text = this.ghost.lastChild;
    for (const [k, v] of Object.entries({ x: x0, y, width: w, height: Math.max(4, lanes * r.lane) })) rect.setAttribute(k, round(v));
    text.textContent = `${b.label}: ${this.where(c)}`;
    text.setAttribute("x", round(Math.min(x0 + 2, this.at.right - text.textContent.length * 6.5)));
    text.setAttribute("y", round(y - 4 < 10 ? y + r.height + 13 : y - 4));
  }

  where(c) {
    const r = this.at.rows[c.row];
    const place = this.scene.unit === "%" ? r.group : r.named ? `${r.label} ${c.lane}${c.box.lanes > 1 ? `–${c.lane + c.box.lanes - 1}` : ""}` : r.label;
    return this.scene.unit === "%" || c.box.drag === "row" ? place : `${place} at ${figure(c.at, 8)} s`;
  }

  drop() {
    const c = this.carried;
    this.carried = null;
    this.ghost?.remove();
    if (!c) return;
    const same = c.row === c.box.row && c.lane === c.box.lane && c.at === c.box.low;
    const row = this.scene.rows[c.row];
    this.draw();
    if (same) this.onTry(null);
    if (!same && row.drop) this.onMove({ item: c.box.item, task: c.box.task ?? 0, drop: row.drop, lane: c.lane, at: c.at });
  }

  cancel() {
    this.carried = null;
    this.onTry(null);
    this.ghost?.remove();
    this.draw();
  }

  key(e) {
    const s = this.scene;
    if (!s || !s.boxes.length || e.altKey || e.ctrlKey || e.metaKey) return;
    const take = () => e.preventDefault();
    const arrow = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[e.key];
    if (this.carried) {
      const c = this.carried;
      if (e.key === "Enter" || e.key === " ") {
        take();
        this.drop();
      } else if (e.key === "Escape") {
        take();
        this.cancel();
        this.say("put back");
      } else if (arrow) {
        take();
        this.carry(c, arrow, e.shiftKey);
      }
      return;
    }
    if (e.key === "+" || e.key === "=") this.zoom(1 / 1.5);
    else if (e.key === "-") this.zoom(1.5);
    else if (e.key === "0") this.all();
    else if ((e.key === "Enter" || e.key === " ") && this.active >= 0) {
      const b = s.boxes[this.active];
      take();
      if (!b.drag || !this.movable) return this.say(`${b.label} can't be moved`);
      this.pick(this.active);
      this.put(b.row, b.lane, b.low);
      this.say(`${b.label} is picked up: arrow keys move it, Enter puts it down, Escape puts it back`);
    } else if (arrow) {
      take();
      this.go(arrow);
    }
  }

  /** Carry moves the carried box by a key. */
  carry(c, [right, down], far) {
    let { row, lane, at } = c;
    if (right && c.box.drag !== "row" && this.scene.unit !== "%") {
      const grain = 10 ** Math.floor(Math.log10((this.view[1] - this.view[0]) / 40));
      at = Math.round((at + right * grain * (far ? 10 : 1)) / grain) * grain;
    }
    if (down && c.box.drag !== "time") {
      const r = this.at.rows[row], inside = lane + down * (far ? 10 : 1);
      if (r.named && inside >= 0 && inside <= r.lanes - c.box.lanes) lane = inside;
      else {
        let next = row + down;
        const other = (k) => this.scene.unit === "%" ? this.scene.rows[k].group !== this.scene.rows[row].group : true;
        while (next >= 0 && next < this.scene.rows.length && !(this.scene.rows[next].drop && other(next))) next += down;
        if (next >= 0 && next < this.scene.rows.length) {
          row = next;
          lane = this.scene.rows[row].named && down < 0 ? Math.max(0, this.scene.rows[row].lanes - c.box.lanes) : 0;
        }
      }
    }
    this.put(row, lane, at);
    this.say(this.where(this.carried));
  }

  /** Go makes the next box in a direction the active one. */
  go([right, down]) {
    const s = this.scene, b = s.boxes[this.active];
    if (!b) this.active = 0;
    else if (right) {
      const same = s.boxes.map((o, k) => ({ o, k })).filter(({ o }) => o.row === b.row).sort((p, q) => p.o.low - q.o.low || p.o.lane - q.o.lane);
      const i = same.findIndex(({ k }) => k === this.active) + right;
      if (same[i]) this.active = same[i].k;
    } else {
      const middle = (b.low + b.high) / 2;
      for (let row = b.row + down; row >= 0 && row < s.rows.length; row += down) {
        const there = s.boxes.map((o, k) => ({ o, k })).filter(({ o }) => o.row === row).sort((p, q) => Math.abs((p.o.low + p.o.high) / 2 - middle) - Math.abs((q.o.low + q.o.high) / 2 - middle))[0];
        if (there) {
          this.active = there.k;
          break;
        }
      }
    }
    this.point(true);
  }

  say(text) {
    $("toast").textContent = text;
  }

  /** Point marks the active box. */
  point(tell = false) {
    if (!this.svg) return;
    for (const g of this.svg.querySelectorAll(".active")) {
      g.classList.remove("active");
      g.setAttribute("aria-selected", "false");
    }
    const g = this.active >= 0 ? this.svg.querySelector(`[data-box="${this.active}"]`) : null;
    if (!g) {
      this.svg.removeAttribute("aria-activedescendant");
      return;
    }
    g.classList.add("active");
    g.setAttribute("aria-selected", "true");
    this.svg.setAttribute("aria-activedescendant", g.id);
    if (tell && document.activeElement === this.svg && this.svg.matches(":focus-visible")) {
      const r = g.getBoundingClientRect();
      this.tell(this.active, r.left + r.width / 2, r.bottom);
    }
  }

  /** Tell shows what a box is, beside the pointer, and what belongs to it. */
  tell(k, x = 0, y = 0) {
    const tip = $("tip"), b = this.scene?.boxes[k];
    if (this.hovered !== k) {
      this.hovered = k;
      for (const g of this.svg?.querySelectorAll(".with") ?? []) g.classList.remove("with");
      if (b) {
        for (const g of this.svg.querySelectorAll("[data-box]")) if (this.scene.boxes[Number(g.getAttribute("data-box"))].item === b.item) g.classList.add("with");
        for (const a of this.svg.querySelectorAll("[data-from]")) if (Number(a.getAttribute("data-from")) === k || Number(a.getAttribute("data-to")) === k) a.classList.add("with");
      }
    }
    if (!b) {
      tip.hidden = true;
      return;
    }
    tip.replaceChildren(...b.facts.map((f, i) => make(i ? "p" : "strong", {}, f)));
    tip.hidden = false;
    const w = tip.offsetWidth, h = tip.offsetHeight;
    tip.style.left = `${clamp(x + 14, 4, innerWidth - w - 8)}px`;
    tip.style.top = `${y + 18 + h > innerHeight ? Math.max(4, y - h - 12) : y + 18}px`;
  }
}
