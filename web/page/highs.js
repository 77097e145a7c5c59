// HiGHS, the solver of linear models, in the worker beside the library, which calls it: model/milp/highs
// (engine_js.go). What HiGHS asks of its host is answered here, without a way through Go.

/** The kinds of callbacks that Go is told of each time: a line of the log, a better solution. */
const logging = 0, improving = 4;

/** Breath is for how long HiGHS may have the thread before Go's timers get it, in ms. */
const breath = 20;

const page = 65536;

/**
 * @typedef {object} Order what the library asks of an instance
 * @property {Record<string, string>} exports the module's names
 * @property {Record<string, string>} imports
 * @property {Uint8Array} notifier a module that puts a function into HiGHS's table
 * @property {(kind: number, message: number, out: number, into: number) => void} notify
 * @property {() => void} breathe lets Go's other goroutines run
 * @property {number} patience how long HiGHS may run on after a stop, in ms
 * @property {number} jump how far its clock then jumps, in ms
 */

/** Highs is what the worker offers to the library. */
export class Highs {
  /** @param {WebAssembly.Module} module */
  constructor(module) {
    this.module = module;
  }

  /**
   * Begin returns a new instance, or why there is none.
   * @param {Order} order
   */
  begin(order) {
    try {
      return new Instance(this.module, order);
    } catch (error) {
      return String(error);
    }
  }
}

/** Instance is HiGHS with memory of its own. */
class Instance {
  /**
   * @param {WebAssembly.Module} module
   * @param {Order} order
   */
  constructor(module, order) {
    this.order = order;
    this.stopped = 0; // when, in ms; 0: it isn't
    this.breathed = performance.now();
    this.full = false; // memory could not be had
    const host = this.host();
    const a = Object.fromEntries(Object.entries(order.imports).map(([name, short]) => [short, host[name]]));
    this.exports = /** @type {Record<string, any>} */ (new WebAssembly.Instance(module, { a }).exports);
    this.memory = /** @type {WebAssembly.Memory} */ (this.exports[order.exports.memory]);
    this.data = new DataView(this.memory.buffer);
    this.exports[order.exports.__wasm_call_ctors]();
    const name = order.exports.table;
    const notifier = new WebAssembly.Instance(new WebAssembly.Module(/** @type {any} */ (order.notifier)), {
      gapwise: { notify: (...args) => this.notify(...args) },
      highs: { [name]: this.exports[name] },
    });
    this.place = /** @type {any} */ (notifier.exports).place();
  }

  /** Call returns what a function answers, or as a text why the instance is lost. */
  call(name, ...args) {
    this.breathed = performance.now();
    try {
      return this.exports[name](...args) ?? 0;
    } catch (error) {
      return String(error);
    }
  }

  /** Bytes returns a part of the memory, null beyond its end. */
  bytes(at, n) {
    return at + n <= this.memory.buffer.byteLength ? new Uint8Array(this.memory.buffer, at, n) : null;
  }

  get size() {
    return this.memory.buffer.byteLength;
  }

  /** View is the memory as it is now: growing makes a new buffer. */
  get view() {
    if (this.data.buffer !== this.memory.buffer) this.data = new DataView(this.memory.buffer);
    return this.data;
  }

  stop() {
    this.stopped ||= performance.now();
  }

  /** Breathe lets Go's timers fire, at times. */
  breathe() {
    if (performance.now() - this.breathed < breath) return;
    this.order.breathe();
    this.breathed = performance.now();
  }

  /** Now is the time in ms, as HiGHS sees it: it jumps beyond any limit when HiGHS goes on after it was stopped. */
  now() {
    this.breathe();
    const t = performance.now();
    return this.stopped && t - this.stopped > this.order.patience ? t + this.order.jump : t;
  }

  /** Notify is HiGHS's callback. Most calls only ask whether to go on, thousands of times a second. */
  notify(kind, message, out, into) {
    const due = performance.now() - this.breathed >= breath;
    if (due || kind === logging || kind === improving) {
      this.order.notify(kind, message >>> 0, out >>> 0, into >>> 0);
      this.breathed = performance.now();
    }
    if (this.stopped && into) this.view.setInt32(into >>> 0, 1, true);
  }

  /** Host returns what HiGHS imports. It has no files, arguments and environment, and what it writes goes nowhere. */
  host() {
    const lost = () => {
      throw new Error("it aborted");
    };
    const zero = () => 0;
    const nothing = () => {};
    const now = () => this.now();
    const noEntry = -44;
    return {
      __cxa_throw: lost,
      _abort_js: lost,
      exit: lost,
      proc_exit: lost,
      __syscall_fcntl64: zero,
      __syscall_ioctl: zero,
      __syscall_openat: () => noEntry,
      _setitimer_js: zero,
      _tzset_js: nothing,
      _emscripten_runtime_keepalive_clear: nothing,
      environ_get: zero,
      environ_sizes_get: (count, size) => {
        this.view.setUint32(count >>> 0, 0, true);
        this.view.setUint32(size >>> 0, 0, true);
        return 0;
      },
      emscripten_date_now: now,
      emscripten_get_now: now,
      clock_time_get: (_clock, _precision, at) => {
        this.view.setBigUint64(at >>> 0, BigInt(Math.round(1e6 * this.now())), true);
        return 0;
      },
      emscripten_resize_heap: (want) => {
        const have = this.size;
        want >>>= 0;
        if (want <= have) return 1;
        for (const size of [want + want / 5, want]) { // a fifth more, so that growing copies each byte a few times only
          try {
            this.memory.grow(Math.ceil((size - have) / page));
            return 1;
          } catch {
            // there isn't so much
          }
        }
        this.full = true;
        return 0;
      },
      fd_close: zero,
      fd_read: lost,
      fd_seek: lost,
      fd_write: (_file, parts, n, written) => {
        let total = 0;
        for (let i = 0; i < n; i++) total += this.view.getUint32((parts >>> 0) + 8 * i + 4, true);
        this.view.setUint32(written >>> 0, total, true);
        return 0;
      },
    };
  }
}
