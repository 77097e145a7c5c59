// The playground: it puts an instance on the desk, has it solved, and shows what comes back.
import { mend, undo } from "./hand.js";
import { kinds } from "./kinds.js";
import { aboutAlgorithm, base64, load, loadExample, readFile, reading, take } from "./read.js";
import { saveReport } from "./report.js";
import { linkOf, readLink } from "./share.js";
import { solve } from "./solve.js";
import { attempt, desk, failed, openPanel, picture, setState, show, state, unsaid } from "./state.js";
import { $, download, figure, make, toast } from "./ui.js";

function listen() {
  $("solve").onclick = () => solve();
  $("stop").onclick = () => desk.stop();
  document.querySelector(".skip").addEventListener("click", (e) => {
    e.preventDefault(); // the address may hold an instance
    $("picture").focus();
  });
  $("undo").onclick = undo;
  $("mend").onclick = mend;
  $("zoom-in").onclick = () => picture.zoom(1 / 1.6);
  $("zoom-out").onclick = () => picture.zoom(1.6);
  $("zoom-all").onclick = () => picture.all();
  $("save").onclick = () => state.shown?.scene && download(`${state.loaded.name}.svg`, picture.file(), "image/svg+xml");
  $("report").onclick = () => state.shown && attempt(saveReport);
  $("algorithm").onchange = aboutAlgorithm;
  $("example").onchange = (e) => e.target.value && loadExample(e.target.value);
  $("open").onclick = () => $("file").click();
  $("file").onchange = async (e) => {
    const f = e.target.files[0];
    if (f) await readFile(f.name, await f.arrayBuffer());
    e.target.value = "";
  };
  $("reread").onclick = () => attempt(() => state.file && load({ ...state.file, ...reading() }, { from: state.file }));
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
  tabs.forEach((t) => {
    t.addEventListener("click", () => openPanel(t.id.slice(4)));
    t.addEventListener("keydown", (e) => {
      const there = tabs.filter((x) => !x.hidden), at = there.indexOf(t);
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: there.length - 1 }[e.key];
      if (to === undefined) return;
      e.preventDefault();
      const next = there[(to + there.length) % there.length];
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
  const name = location.hash.slice(1);
  if (!name || $(name)) return false; // a part of the page, as the picture
  try {
    const x = await readLink(location.hash);
    if (x.seed) $("seed").value = x.seed;
    if (x.limit) $("limit").value = x.limit;
    state.file = { name: "shared.json", data: await base64(new TextEncoder().encode(JSON.stringify(x.instance))) };
    const ok = await load({ name: "shared.json", text: JSON.stringify(x.instance) });
    if (ok && [...$("algorithm").options].some((o) => o.value === x.algorithm)) $("algorithm").value = x.algorithm;
    if (ok) aboutAlgorithm();
    else state.file = null;
    return ok;
  } catch {
    $("said").textContent = "The link is cut or damaged, so the instance that it held isn't shown: copy the whole link.";
    $("said").className = "note bad";
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
    Object.assign(state, { highs: about.highs, readers: about.readers ?? {} });
    const licence = state.highs?.file.replace(/wasm\.gz$/, "LICENSE");
    if (licence) $("licences").append("; with ", make("a", { href: licence }, "HiGHS"), ", MIT licence, too");
    state.examples = examples;
    $("version").textContent = `gapwise ${state.about.version}`;
    if (!(await fromLink())) {
      const said = $("said").textContent, look = $("said").className; // of a link that can't be read
      await drawFirst(about);
      if (said) Object.assign($("said"), { textContent: said, className: look });
    }
    document.documentElement.dataset.ready = "yes";
  } catch (e) {
    failed(e);
  }
}

/** DrawFirst shows the first example, whose picture is there before the library is. */
async function drawFirst(first) {
  take(first.load);
  $("example").value = first.file;
  show({ ...first.solve, drawn: true });
  setState("The solver is loading …", "running", true);
  document.documentElement.dataset.drawn = String(Math.round(performance.now()));
  await desk.ask("load", { name: first.file, text: JSON.stringify(first.load.instance) });
  unsaid();
}

begin();
