// How an instance comes on the desk: an example, a file, a text.
import { kinds } from "./kinds.js";
import { panels } from "./panels.js";
import { algorithms, attempt, buttons, curves, desk, during, failed, figures, occupied, openPanel, run, setState, show, state, toLoad, traced, unsaid } from "./state.js";
import { $, entry, figure, make, toast } from "./ui.js";

export const load = (question, options = {}) => occupied(() => put(question, options));

/** Put puts an instance on the desk, in place of what runs. */
async function put(question, { from = null } = {}) {
  if (state.running) desk.stop();
  while (state.running) await new Promise((r) => setTimeout(r, 10));
  $("said").textContent = "";
  $("said").className = "note";
  let loaded;
  try {
    loaded = await read(question);
  } catch (e) {
    const graphs = from && /platform|machines/.test(e.message);
    readingFields(graphs ? "graphs" : "");
    if (graphs && !question.platform) { // the field beside it has one
      state.file = from;
      return put({ ...question, platform: $("platform").value }, { from });
    }
    $("said").textContent = String(e.message);
    $("said").className = "note bad";
    return false;
  }
  if (from) {
    state.file = from;
    if (loaded.reading) readingFields(loaded.reading);
    else if (/the table tells none/.test(String(loaded.said))) readingFields("tables");
  }
  take(loaded);
  if (loaded.reader && from && from.name !== "pasted") command("kubernetes plan", from.name, true);
  await first();
  return true;
}

/** Read puts a file on the desk, with the help of another program if the library doesn't read it. */
async function read(question) {
  const loaded = await run("reading", "load", question), { reader } = loaded;
  if (!reader) return loaded;
  const program = state.readers[reader];
  if (!program) throw new Error(`this page has no reader of it; gapwise ${reader} convert ${question.name} -o cluster.json makes an instance that it reads`);
  setState(`Loading the reader of kubectl's output, ${(program.bytes / 1e6).toFixed(1)} MB, and reading …`, "running", true);
  try {
    const text = await textOf(question);
    const instance = await during("reading", () => desk.read(program.file, { name: question.name, text }));
    return { ...(await run("reading", "load", { name: "cluster.json", text: JSON.stringify(instance) })), reader };
  } finally {
    unsaid();
  }
}

/** TextOf returns the text of a file, which may be packed or in Windows' encoding. */
async function textOf({ data, text }) {
  if (!data) return text;
  const bytes = Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream(), packed = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const plain = new Uint8Array(await new Response(packed ? stream.pipeThrough(new DecompressionStream("gzip")) : stream).arrayBuffer());
  return new TextDecoder(plain[0] === 0xff && plain[1] === 0xfe ? "utf-16le" : "utf-8").decode(plain);
}

/** Tell shows the account of a file: a short one as it is, of a long one what counts, and the rest on request. */
function tell(lines = []) {
  const whole = lines.join(". ");
  if (whole.length < 240) return $("said").replaceChildren(whole);
  const counts = lines.filter((x, k) => k === 0 || x.startsWith("not modelled")), rest = lines.filter((x) => !counts.includes(x));
  $("said").replaceChildren(...counts.map((x) => make("p", {}, x)),
    ...(rest.length ? [make("details", {}, make("summary", {}, "What else the reading left out or assumed"), make("ul", { class: "small" }, rest.map((x) => make("li", {}, x))))] : []));
}

/** Command tells the command that does the same with a file: one that is there already, or the page's instance. */
function command(name, file, there) {
  $("fetch").hidden = there;
  $("command").textContent = `gapwise ${name} ${/^[\w.,+-]+$/.test(file) ? file : `'${file.replaceAll("'", "'\\''")}'`}`;
}

/** Take shows what lies on the desk now. */
export function take(loaded) {
  Object.assign(state, { loaded, shown: null, known: {}, history: [], past: [] });
  tell(loaded.said);
  chooseKind(loaded.kind);
  fillAlgorithms();
  fillVariants();
  curves.clear();
  figures(null, null, null);
  for (const p of Object.values(panels)) p.forget?.();
  command("solve", `${loaded.name}.json`, false);
  buttons();
}

/** First draws what a quick algorithm finds. */
async function first() {
  try {
    const shown = await run("quick", "solve", { first: true, quiet: true, seed: 1, time_limit_s: 2 });
    show({ ...shown, drawn: true });
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
  const groups = state.about.classes.map((c) => make("optgroup", { label: c.title }, algorithms().filter((a) => a.class === c.class).map((a) =>
    make("option", { value: a.name }, toLoad(a.name) ? `${a.name} (loads HiGHS)` : a.name))));
  select.replaceChildren(make("option", { value: "auto" }, "auto: all take turns"), ...groups);
  select.value = [...select.options].some((o) => o.value === was) ? was : "auto";
  aboutAlgorithm();
}

/** Ready loads what an algorithm needs, before its time begins. */
export async function ready(name) {
  const what = toLoad(name);
  if (!what) return;
  setState(`Loading ${what} …`, "running", true);
  try {
    await during("loading", () => desk.loadHighs(state.highs.file));
  } finally {
    unsaid();
  }
  fillAlgorithms();
}

export function aboutAlgorithm() {
  const a = algorithms().find((x) => x.name === $("algorithm").value), load = a && toLoad(a.name);
  $("about-algorithm").textContent = a ? `${a.summary}. ${a.paper}${load ? `. Solve first loads ${load}.` : ""}` : "Heuristics, local search and exact engines take turns, until the gap is closed or the time is over.";
}

function chooseKind(kind) {
  state.kind = kind;
  $("tab-step").hidden = traced().length === 0;
  if ($("tab-step").hidden && state.panel === "step") openPanel("judge");
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

export const loadExample = (file) => occupied(() => example(file));

async function example(file) {
  const response = await fetch(`examples/${file}`);
  if (!response.ok) return failed(new Error(`the example ${file} isn't there`));
  state.file = null;
  readingFields("");
  const text = await response.text();
  $("example").value = file;
  await load({ name: file, text, variants: state.examples.find((e) => e.file === file)?.variants });
  $("example").value = file;
}

export async function base64(buffer) {
  const bytes = new Uint8Array(buffer);
  let text = "";
  for (let i = 0; i < bytes.length; i += 0x8000) text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(text);
}

export const readFile = (name, buffer) => attempt(async () => {
  if (buffer.byteLength > 64e6) return failed(new Error(`${name} has ${figure(buffer.byteLength / 1e6, 3)} MB; the page reads 64 MB at most, the command more`));
  const from = { name, data: await base64(buffer) };
  readingFields(isLog(name) ? "logs" : "");
  $("capacity").value = "";
  if (await load({ ...from, ...reading() }, { from })) toast(`${state.loaded.name} is read`);
  else state.file = from;
});

const isLog = (name) => /\.swf(\.gz)?$/i.test(name);

/** ReadingFields shows what can be said of how a file is read, of some formats. */
function readingFields(of) {
  $("reading").hidden = !of;
  $("reading").dataset.of = of;
  for (const label of $("reading").querySelectorAll("label")) label.hidden = !label.classList.contains(of);
}

/** Reading returns what those fields say. */
export function reading() {
  const r = { kind: $("logkind").value, packing: $("packing").value, first: entry("first"), capacity: entry("capacity") };
  return $("reading").dataset.of === "graphs" ? { ...r, platform: $("platform").value } : r;
}
