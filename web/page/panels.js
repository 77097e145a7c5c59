// What stands beside the picture: the judge, the explanation, all algorithms, steps, proofs
// and the data.
import { mend, undo } from "./hand.js";
import { ready, reload } from "./read.js";
import { solveFromHere } from "./solve.js";
import { algorithms, attempt, failed, learn, leftOut, mark, redraw, refresh, run, show, state, stop, toLoad, traced, worse } from "./state.js";
import { delta, download, entry, figure, make, percent, toast, value } from "./ui.js";

const button = (text, onclick, attributes = {}) => make("button", { type: "button", onclick, ...attributes }, text);
const sentence = (constraint) => constraint.replaceAll("_", " ");

const judge = {
  show(into) {
    const s = state.shown, m = state.loaded.metric;
    if (!s) return into.replaceChildren(make("p", { class: "note" }, "Nothing to judge yet."));
    if (!s.verdict) return into.replaceChildren(make("p", {}, s.reason || "There is no solution to judge."));
    const v = s.verdict, parts = [];
    parts.push(make("p", { class: v.accepted ? "verdict good" : "verdict bad" }, v.accepted ? "✓ The judge accepts this solution" : `✗ The judge objects: ${v.violations.length === 1 ? "one rule is" : v.violations.length + " rules are"} broken`));
    if (!v.accepted) {
      parts.push(make("ul", { class: "violations" }, v.violations.slice(0, 30).map((x) => make("li", {}, make("b", {}, sentence(x.constraint)), " ", x.where, x.amount ? make("em", {}, ` by ${value(x.amount, x.unit)}`) : null))));
      if (v.violations.length > 30) parts.push(make("p", { class: "note" }, `and ${v.violations.length - 30} more`));
    }
    const rows = [[v.accepted ? m.name : `${m.name}, if it could be`, value(s.objective, m.unit)]];
    const out = leftOut(s);
    if (out) rows.push(["of it for hosts", value(s.objective - out, m.unit)], ["of it for tasks left out", value(out, m.unit)]);
    if (v.accepted && state.loaded.second.name) rows.push([state.loaded.second.name, value(s.second, state.loaded.second.unit)]);
    rows.push(["no solution beats", value(s.bound, m.unit)]);
    if (v.accepted) rows.push(["gap", percent(s.gap)]);
    const base = state.history[0] ?? null; // what the first move began with
    if (base && v.accepted) rows.push([`beside ${base.algorithm}'s ${value(base.objective, m.unit)}`, delta(s.objective, base.objective, m) || "–"]);
    parts.push(make("table", { class: "plain" }, make("tbody", {}, rows.map(([k, x]) => make("tr", {}, make("th", { scope: "row" }, k), make("td", { class: "number" }, x))))));
    if (state.history.length) {
      parts.push(make("div", { class: "fields" }, button("Undo", undo), v.accepted ? null : button("Mend: let the rest follow", mend), button("Solve from here", solveFromHere),
        button(`Back to ${base.algorithm}`, () => show(base))));
    } else parts.push(make("p", { class: "note hint" }, "Move a box by hand: the judge says at once what breaks and what it costs."));
    parts.push(make("details", {}, make("summary", {}, "What was checked"), make("ul", { class: "small" }, v.checked.map((x) => make("li", {}, x)), v.on_trust.map((x) => make("li", {}, `on trust: ${x}`)))));
    into.replaceChildren(...parts);
  },
};

const explain = {
  of: null,
  at: "", // what was known then
  answer: null,
  forget() {
    this.of = this.answer = null;
  },
  async show(into) {
    const s = state.shown;
    if (!s) return into.replaceChildren();
    const at = String([s.bound, state.known.objective]);
    if (this.of === s && this.at === at) return this.draw(into);
    into.replaceChildren(make("p", { class: "note" }, "Why is no solution better, and what holds this one up?"),
      button("Explain", async () => {
        into.replaceChildren(make("p", { class: "note" }, "Explaining …"));
        try {
          this.answer = await run("explaining", "explain", { time_limit_s: 5, known: state.known, ...(s.result ? { result: s.result } : { solution: s.solution }) });
          Object.assign(this, { of: s, at });
        } catch (e) {
          this.of = null;
          into.replaceChildren(make("p", { class: "bad" }, String(e.message)));
          return;
        }
        refresh();
      }, { class: "primary" }));
  },
  draw(into) {
    const x = this.answer;
    const reason = (r) => make("li", { tabindex: r.elements?.length ? 0 : undefined, class: r.elements?.length ? "marks" : "", onmouseenter: () => mark(r.elements ?? []), onmouseleave: () => mark([]), onfocus: () => mark(r.elements ?? []), onblur: () => mark([]) },
      make("p", {}, r.words, r.checked ? make("span", { class: "chip good", title: "the judge has recomputed this bound" }, "checked") : null),
      r.rows?.length ? make("div", { class: "scroll" }, make("table", {}, make("thead", {}, make("tr", {}, r.rows[0].map((c) => make("th", { scope: "col" }, c)))), make("tbody", {}, r.rows.slice(1, 60).map((row) => make("tr", {}, row.map((c) => make("td", {}, c))))))) : null);
    const parts = [make("p", { class: "lead" }, x.value), make("h3", {}, x.status === "infeasible" ? "Why there is none" : "Why nothing is better"), make("ul", { class: "reasons" }, (x.why ?? []).map(reason))];
    if (x.holds?.length) parts.push(make("h3", {}, "What holds this solution up"), make("ul", { class: "reasons" }, x.holds.map(reason)));
    if (x.conflict) parts.push(make("h3", {}, "A conflict"), make("p", {}, x.conflict.elements.join(", ") + (x.conflict.minimal ? ": without any one of them the others can be met" : "")));
    parts.push(make("p", { class: "note hint" }, "Point at a reason: the picture marks what it names."));
    into.replaceChildren(...parts);
  },
};

const compare = {
  rows: new Map(),
  running: "",
  halt: false,
  forget() {
    this.rows = new Map();
    this.halt = true;
  },
  limit: 2,
  show(into) {
    const m = state.loaded.metric, all = algorithms();
    const results = [...this.rows.values()].filter((r) => r.shown);
    const bound = results.length ? state.known.bound ?? null : null;
    const head = make("div", { class: "fields" },
      this.running ? button("Stop", () => { this.halt = true; stop(); }, { class: "stop" }) : button("Run them all", () => attempt(() => this.run(all)), { class: "primary" }),
      make("label", {}, "each at most ", make("input", { id: "each", type: "number", min: 0.1, max: 600, step: "any", value: this.limit, size: 4, required: true, onchange: (e) => (this.limit = e.target.value) }), " s"));
    const parts = [head];
    const load = all.map((a) => toLoad(a.name)).find(Boolean);
    if (load && !this.running) parts.push(make("p", { class: "note" }, `Some need more: ${load}, which is loaded first.`));
    const values = results.map((r) => r.shown.objective).filter((x) => x !== null);
    const far = Math.max(...values.map((x) => Math.abs(x - (bound ?? values[0]))), 1e-12);
    for (const c of state.about.classes) {
      const mine = all.filter((a) => a.class === c.class);
      if (!mine.length) continue;
      const best = mine.map((a) => this.rows.get(a.name)?.shown?.objective).filter((x) => x !== null && x !== undefined);
      const top = best.length ? (m.minimise ? Math.min(...best) : Math.max(...best)) : null;
      parts.push(make("h3", {}, c.title, " ", make("small", {}, c.meaning)));
      parts.push(make("div", { class: "scroll" }, make("table", { class: "compare" }, make("caption", { class: "hidden" }, c.title),
        make("thead", {}, make("tr", {}, ["algorithm", m.name, "gap", "time"].map((h) => make("th", { scope: "col" }, h)))),
        make("tbody", {}, mine.map((a) => {
          const r = this.rows.get(a.name), s = r?.shown;
          const gap = s && s.objective !== null && bound !== null ? Math.abs(s.objective - bound) / Math.max(Math.abs(s.objective), 1e-12) : null;
          const bar = s && s.objective !== null && bound !== null && gap > 1e-6 ? make("svg", { class: "bar", viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": true }, make("rect", { width: Math.max(1, (100 * Math.abs(s.objective - bound)) / far), height: 4 })) : null;
          return make("tr", { class: s && s.objective === top ? "top" : "", title: a.summary },
            make("th", { scope: "row" }, s?.scene ? button(a.name, () => show(s), { class: "link", "aria-label": `show ${a.name}'s solution` }) : a.name),
            make("td", { class: "number" }, this.running === a.name ? "…" : r?.error ? make("span", { class: "note", title: r.error }, "–") : s ? value(s.objective, m.unit) : "", bar),
            make("td", { class: "number" }, percent(gap) === "–" ? "" : percent(gap)),
            make("td", { class: "number" }, s ? (s.elapsed_s < 1 ? `${figure(1000 * s.elapsed_s, 2)} ms` : `${figure(s.elapsed_s, 3)} s`) : ""));
        })))));
    }
    if (bound !== null) parts.push(make("p", { class: "note" }, `Gaps are to the best bound that is known, ${value(bound, m.unit)}. The classes aren't ranked against each other: who knows the future isn't better than who decides without it.`));
    into.replaceChildren(...parts);
  },
  async run(all) {
    const seed = entry("seed");
    const limit = entry("each");
    this.rows = new Map();
    this.halt = false;
    const of = state.loaded;
    for (const a of all) {
      if (this.halt || state.loaded !== of) break;
      this.running = a.name;
      if (state.panel === "compare") refresh();
      let guard;
      try {
        await ready(a.name);
        // A worker that hears nothing is ended, as in a solve.
        guard = setTimeout(stop, (limit * 1.2 + 4) * 1000);
        const shown = await run("comparing", "solve", { algorithm: a.name, seed, time_limit_s: limit, quiet: true });
        if (state.loaded !== of) continue;
        this.rows.set(a.name, { shown });
        if (learn(shown) && state.shown) show(state.shown, { back: true }); // its bound is this one now
      } catch (e) {
        if (state.loaded === of) this.rows.set(a.name, { error: String(e.message) });
      } finally {
        clearTimeout(guard);
      }
    }
    this.running = "";
    if (state.panel === "compare") refresh();
  },
};

const step = {
  shown: null,
  at: 0,
  name: "",
  playing: 0,
  forget() {
    this.shown = null;
    this.name = "";
    clearInterval(this.playing);
    this.playing = 0;
  },
  show(into) {
    const all = traced();
    if (!all.some((a) => a.name === this.name)) this.name = all[0].name;
    const head = make("div", { class: "fields" },
      make("label", {}, "Algorithm ", make("select", { onchange: (e) => { this.name = e.target.value; } }, all.map((a) => make("option", { value: a.name, selected: a.name === this.name }, a.name)))),
      button("Walk through", () => this.run(into), { class: "primary" }));
    if (!this.shown) return into.replaceChildren(head, make("p", { class: "note" }, "Follow an algorithm decision by decision: the ranks of HEFT, the shadow time of EASY, the trials of a packing."));
    const steps = this.shown.steps;
    this.slider = make("input", { type: "range", min: 0, max: steps.length, step: 1, value: this.at, "aria-label": "Step", oninput: (e) => this.go(Number(e.target.value)) });
    this.words = make("div", { class: "step", "aria-live": "polite" });
    this.list = make("ol", { class: "steps" });
    into.replaceChildren(head, make("div", { class: "fields player" }, button("◀", () => this.go(this.at - 1), { "aria-label": "one step back" }), this.slider, button("▶", () => this.go(this.at + 1), { "aria-label": "one step on" }), button("Play", () => this.play())), this.words, this.list);
    this.go(this.at, false);
  },
  async run(into) {
    into.lastChild?.remove?.();
    try {
      await ready(this.name);
      const shown = await run("walking", "solve", { algorithm: this.name, seed: entry("seed"), time_limit_s: 5, trace: true, quiet: true });
      if (!shown.steps?.length) throw new Error(`${this.name} tells no steps of this instance`);
      this.shown = shown;
      this.at = 0;
      show(shown);
    } catch (e) {
      failed(e);
      refresh();
    }
  },
  play() {
    if (this.playing) {
      clearInterval(this.playing);
      this.playing = 0;
      return;
    }
    if (this.at >= this.shown.steps.length) this.at = 0;
    this.playing = setInterval(() => {
      if (!this.shown || this.at >= this.shown.steps.length || state.panel !== "step") {
        clearInterval(this.playing);
        this.playing = 0;
        return;
      }
      this.go(this.at + 1);
    }, 700);
  },
  go(k, draw = true) {
    const steps = this.shown.steps;
    this.at = Math.max(0, Math.min(steps.length, k));
    this.slider.value = this.at;
    const now = steps[this.at - 1];
    this.words.replaceChildren(make("p", {}, make("b", {}, `${this.at} of ${steps.length}`), now ? ` ${now.what}` : ""),
      make("p", {}, now ? now.words : "Nothing is decided yet."),
      now?.values?.length ? make("table", { class: "plain" }, make("tbody", {}, now.values.slice(0, 12).map((v) => make("tr", {}, make("th", { scope: "row" }, v.name), make("td", { class: "number" }, figure(v.value)))))) : "");
    const from = Math.max(0, this.at - 6);
    this.list.replaceChildren(...steps.slice(from, this.at).map((s) => make("li", {}, s.words)));
    this.list.setAttribute("start", from + 1);
    if (state.shown !== this.shown) {
      if (!draw) return;
      show(this.shown);
      return;
    }
    // A box is there once its last deciding step is past.
    const decides = new Set(["place", "accept", "start", "backfill", "decline"]);
    const when = new Map();
    steps.forEach((s, i) => s.of && decides.has(s.what) && (s.what !== "backfill" || !when.has(s.of)) && when.set(s.of, i + 1));
    const ghosts = new Set();
    for (const b of this.shown.scene?.boxes ?? []) {
      const parts = b.item.split("→");
      if (parts.some((p) => (when.get(p) ?? 0) > this.at || (this.at === 0 && when.size))) ghosts.add(b.item);
    }
    const extra = [];
    const shadow = now?.words.match(/at ([\d.e+]+) s \(shadow time\)/);
    if (shadow) extra.push({ at: Number(shadow[1]), label: `shadow time of ${now.of}` });
    const clock = now?.values?.find((v) => v.name === "time");
    if (clock) extra.push({ at: clock.value, label: "now" });
    redraw({ ghosts, extra, current: now?.of });
  },
};

const proof = {
  text: "",
  said: null,
  checked: null,
  forget() {
    this.text = "";
    this.said = this.checked = null;
  },
  show(into) {
    const parts = [];
    if (!state.loaded.proofs) return into.replaceChildren(make("p", { class: "note" }, "There are no proofs for this problem."));
    parts.push(make("p", { class: "note" }, "The engine kernel writes every inference down. A checker that shares no code with it replays them: nothing is taken on trust."));
    parts.push(make("div", { class: "fields" }, button("Write a proof", () => attempt(() => this.write()), { class: "primary" }), this.text ? button("Download", () => this.save()) : null, this.text ? button("Replay", () => this.replay()) : null,
      make("label", { class: "button" }, "Check a file…", make("input", { type: "file", class: "hidden", onchange: (e) => this.open(e) }))));
    if (this.said) parts.push(make("p", {}, this.said));
    if (this.checked) {
      const c = this.checked;
      parts.push(make("p", { class: c.accepted ? "verdict good" : "verdict bad" }, c.accepted ? `✓ Proved: ${c.claim}` : "✗ The proof doesn't hold"),
        make("p", { class: "note" }, c.accepted ? `${figure(c.steps)} inferences were replayed, ${figure(c.nogoods ?? 0)} nogoods learnt.` : c.reason));
    }
    if (this.text) {
      const lines = this.text.split("\n");
      this.area = make("textarea", { rows: 14, spellcheck: "false", "aria-label": "The proof; change it, and replay it" });
      this.area.value = this.text.length > 200_000 ? lines.slice(0, 2000).join("\n") : this.text;
      this.area.readOnly = this.text.length > 200_000;
      this.area.oninput = () => (this.text = this.area.value);
      parts.push(make("label", { class: "block" }, `${figure(lines.length - 1)} lines${this.area.readOnly ? ", the first 2,000 shown" : ": change one, and replay it"}`, this.area));
    }
    into.replaceChildren(...parts);
  },
  async write() {
    const limit = entry("limit"), seed = entry("seed");
    this.forget();
    this.said = "Proving …";
    refresh();
    const guard = setTimeout(stop, (limit * 1.2 + 4) * 1000);
    try {
      const shown = await run("proving", "solve", { proof: true, seed, time_limit_s: limit, quiet: true });
      this.text = shown.proof;
      this.said = shown.solution ? `${state.loaded.metric.name} ${value(shown.objective, state.loaded.metric.unit)}, bound ${value(shown.bound, state.loaded.metric.unit)}: ${shown.status}.` : `${shown.status}. ${shown.reason ?? ""}`;
      const better = learn(shown);
      if (worse(shown)) {
        this.said += ` The better solution that is known stays.`;
        if (better) show(state.shown, { back: true });
      } else if (shown.solution) show(shown);
    } catch (e) {
      this.said = String(e.message);
    } finally {
      clearTimeout(guard);
    }
    refresh();
  },
  async replay() {
    try {
      this.checked = await run("replaying", "check", { proof: this.text });
    } catch (e) {
      this.checked = { accepted: false, reason: String(e.message) };
    }
    refresh();
  },
  save() {
    const packed = new Blob([this.text]).stream().pipeThrough(new CompressionStream("gzip"));
    new Response(packed).blob().then((b) => download(`${state.loaded.name}.proof.gz`, b));
  },
  async open(e) {
    const f = e.target.files[0];
    if (!f) return;
    const bytes = new Uint8Array(await f.arrayBuffer());
    const zipped = bytes[0] === 0x1f && bytes[1] === 0x8b;
    const stream = new Blob([bytes]).stream();
    this.text = await new Response(zipped ? stream.pipeThrough(new DecompressionStream("gzip")) : stream).text();
    this.said = f.name;
    await this.replay();
  },
};

/**
 * RowsOf returns an object of a solution as rows: its lists of objects have a row for each, beside what stands above them.
 * @param {object} x
 * @param {object} above
 * @returns {object[]}
 */
function rowsOf(x, above = {}) {
  const row = { ...above }, flat = [...Object.entries(x)];
  let list = null;
  for (let k = 0; k < flat.length; k++) {
    const [key, v] = flat[k];
    if (!v || typeof v !== "object") row[key] = v;
    else if (!Array.isArray(v)) flat.push(...Object.entries(v));
    else if (v.length && typeof v[0] === "object" && !list) list = v;
    else row[key] = v.map((e) => (typeof e === "object" ? JSON.stringify(e) : e)).join(" ");
  }
  return list ? list.flatMap((e) => rowsOf(e, row)) : [row];
}

/** CsvOf returns a solution as a table; of several lists the first column tells which. */
function csvOf(solution) {
  const lists = Object.entries(solution).filter(([, v]) => Array.isArray(v) && v.length && typeof v[0] === "object");
  const rows = lists.flatMap(([key, v]) => v.flatMap((e) => rowsOf(e, lists.length > 1 ? { list: key } : {})));
  const columns = [...new Set(rows.flatMap((r) => Object.keys(r)))];
  const cell = (v) => (/[",\n]/.test(String(v ?? "")) ? `"${String(v).replaceAll('"', '""')}"` : String(v ?? ""));
  return [columns, ...rows.map((r) => columns.map((c) => r[c]))].map((r) => r.map(cell).join(",") + "\n").join("");
}

const data = {
  show(into) {
    const l = state.loaded;
    const area = make("textarea", { rows: 16, spellcheck: "false", "aria-label": "The instance as JSON; change it, and read it" });
    const text = JSON.stringify(l.instance, null, 1);
    area.value = text.length > 400_000 ? text.slice(0, 400_000) : text;
    area.readOnly = text.length > 400_000;
    into.replaceChildren(
      make("table", { class: "plain" }, make("caption", { class: "hidden" }, "Figures of the instance"), make("tbody", {}, l.facts.map((f) => make("tr", { title: f.about }, make("th", { scope: "row" }, make("code", {}, f.name), " ", f.about), make("td", { class: "number" }, value(f.value, f.unit)))))),
      make("div", { class: "fields" }, button("Download the instance", () => download(`${l.name}.json`, text + "\n", "application/json")),
        state.shown?.result ? button("Download the result", () => download(`${l.name}-${state.shown.algorithm}.json`, JSON.stringify(state.shown.result, null, 1) + "\n", "application/json")) : null,
        state.shown?.solution ? button("The solution as CSV", () => download(`${l.name}-solution.csv`, csvOf(state.shown.solution), "text/csv")) : null,
        state.shown?.solution ? button("The solution as JSON", () => download(`${l.name}-solution.json`, JSON.stringify(state.shown.solution, null, 1) + "\n", "application/json")) : null),
      make("label", { class: "block" }, "The instance, to be changed", area),
      make("div", { class: "fields" }, button("Read it as it is here", async () => {
        if (await reload(area.value)) toast("Read");
      })));
  },
};

export const panels = { judge, explain, compare, step, proof, data };
