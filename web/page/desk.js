// The page's side of the worker: questions, answers, and how one is stopped.

/**
 * FetchModule loads a file of WebAssembly. It is packed, and unpacked here: then any host will do.
 * @param {string} file
 * @param {AbortSignal | null} signal
 */
async function fetchModule(file, signal = null) {
  const response = await fetch(file, { signal });
  if (!response.ok || !response.body) throw new Error(`the solver isn't there: ${response.status} for ${file}`);
  const bytes = new Uint8Array(await response.arrayBuffer());
  const packed = bytes[0] === 0x1f && bytes[1] === 0x8b; // some hosts unpack it
  const stream = new Blob([bytes]).stream();
  const plain = packed ? stream.pipeThrough(new DecompressionStream("gzip")) : stream;
  return WebAssembly.compileStreaming(new Response(plain, { headers: { "Content-Type": "application/wasm" } }));
}

/** Stopped is the error of a question that was given up. */
export class Stopped extends Error {}

export class Desk {
  constructor() {
    /** @type {Map<number, {resolve: Function, reject: Function, tell: Function | null}>} */
    this.open = new Map();
    this.next = 1;
    /** @type {object | null} what was loaded last, for a worker that is started anew */
    this.loaded = null;
    this.module = fetchModule("gapwise.wasm.gz");
    /** @type {WebAssembly.Module | null} HiGHS, once it is loaded */
    this.highs = null;
    /** @type {AbortController | null} ends its loading */
    this.loading = null;
    /** @type {((why: Error) => void) | null} ends the reading of a file by another program */
    this.reading = null;
    this.started = this.begin();
  }

  async begin() {
    const module = await this.module;
    const worker = new Worker("worker.js", { type: "module" });
    this.worker = worker;
    await new Promise((resolve, reject) => {
      worker.onerror = (e) => reject(new Error(e.message || "the worker doesn't start"));
      worker.onmessage = ({ data }) => {
        if (data.id === 0) resolve(undefined);
        else this.hear(data);
      };
      worker.postMessage({ module, highs: this.highs });
    });
    worker.onerror = (e) => {
      for (const q of this.open.values()) q.reject(new Error(e.message));
      this.open.clear();
    };
  }

  hear(data) {
    if (data.id === -1) return this.anew(new Error("the solver has failed, perhaps for want of memory; it is started anew"));
    const q = this.open.get(data.id);
    if (!q) return;
    if ("told" in data) {
      if (q.tell) q.tell(JSON.parse(data.told));
      return;
    }
    this.open.delete(data.id);
    if ("error" in data) q.reject(new Error(data.error));
    else q.resolve(JSON.parse(data.answer));
  }

  /**
   * LoadHighs loads HiGHS, for the worker and those that are started after it.
   * @param {string} file
   */
  async loadHighs(file) {
    this.loading = new AbortController();
    try {
      this.highs = await fetchModule(file, this.loading.signal);
    } catch (e) {
      throw this.loading.signal.aborted ? new Stopped("stopped") : e;
    } finally {
      this.loading = null;
    }
    await this.started;
    this.worker.postMessage({ highs: this.highs });
  }

  /**
   * Read has another program read a file, in a worker of its own that is gone afterwards: it may take much memory.
   * @param {string} file of the program
   * @param {object} question
   */
  async read(file, question) {
    this.loading = new AbortController();
    /** @type {any} */ let worker = null;
    try {
      const module = await fetchModule(file, this.loading.signal);
      worker = new Worker("worker.js", { type: "module" });
      return await new Promise((resolve, reject) => {
        this.reading = reject;
        worker.onerror = (e) => reject(new Error(e.message || "the reader doesn't start"));
        worker.onmessage = ({ data }) => {
          if (data.id === 0) worker.postMessage({ id: 1, operation: "read", question: JSON.stringify(question) });
          else if ("answer" in data) resolve(JSON.parse(data.answer));
          else reject(new Error(data.error ?? "the reader has failed, perhaps for want of memory"));
        };
        worker.postMessage({ module });
      });
    } catch (e) {
      throw this.loading.signal.aborted ? new Stopped("stopped") : e;
    } finally {
      this.loading = this.reading = null;
      worker?.terminate();
    }
  }

  /**
   * Ask returns the answer to a question.
   * @param {string} operation
   * @param {object} question
   * @param {((told: any) => void) | null} tell
   * @param {boolean} linear whether HiGHS may be used; else an answer would depend on what was loaded before
   */
  async ask(operation, question, tell = null, linear = false) {
    await this.started;
    const id = this.next++;
    const answer = new Promise((resolve, reject) => this.open.set(id, { resolve, reject, tell }));
    this.worker.postMessage({ id, operation, question: JSON.stringify(question), linear });
    const x = await answer;
    if (operation === "load" && x.instance) this.loaded = { name: x.name + ".json", text: JSON.stringify(x.instance) };
    return x;
  }

  get busy() {
    return this.open.size > 0;
  }

  /** Stop ends all that runs: the worker has one thread, which hears nothing while it solves. */
  stop() {
    this.loading?.abort();
    this.reading?.(new Stopped("stopped"));
    if (this.busy) this.anew(new Stopped("stopped"));
  }

  /** Anew ends the worker and all that is asked of it, and starts another one. */
  anew(why) {
    this.worker.terminate();
    const open = [...this.open.values()];
    this.open.clear();
    const loaded = this.loaded;
    this.started = this.begin().then(() => {
      if (!loaded) return;
      const id = this.next++;
      const again = new Promise((resolve, reject) => this.open.set(id, { resolve, reject, tell: null }));
      this.worker.postMessage({ id, operation: "load", question: JSON.stringify(loaded) });
      return again.then(() => undefined);
    });
    for (const q of open) q.reject(why);
  }
}
