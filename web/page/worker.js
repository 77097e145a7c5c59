// The solver, as WebAssembly, in a worker: it gets {id, operation, question, linear} and answers
// {id, answer} or {id, error}; before that {id, told} as often as the solver tells. The id 0
// says that it is there, -1 that it has ended. HiGHS comes as {highs} and is offered to questions that are linear.
import { Highs } from "./highs.js";
import "./wasm_exec.js";

let ready, highs;

/** @param {WebAssembly.Module} module */
async function start(module) {
  const go = new globalThis.Go();
  const instance = await WebAssembly.instantiate(module, go.importObject);
  go.run(instance).then(() => postMessage({ id: -1 })); // the program ends when it fails, as without memory
  postMessage({ id: 0, answer: "" });
}

onmessage = async ({ data }) => {
  if (data.highs) highs = new Highs(data.highs);
  if (data.module) ready = start(data.module);
  const { id, operation, question, linear } = data;
  if (!id) return;
  try {
    await ready;
    globalThis.highs = linear ? highs : undefined;
    const answer = await globalThis.gapwise(operation, question, (told) => postMessage({ id, told }));
    postMessage({ id, answer });
  } catch (error) {
    postMessage({ id, error: String(error instanceof Error ? error.message : error) });
  }
};
