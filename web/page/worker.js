// The solver, as WebAssembly, in a worker: it gets {id, operation, question} and answers
// {id, answer} or {id, error}; before that {id, told} as often as the solver tells. The id 0
// says that it is there, -1 that it has ended.
import "./wasm_exec.js";

let ready;

/** @param {WebAssembly.Module} module */
async function start(module) {
  const go = new globalThis.Go();
  const instance = await WebAssembly.instantiate(module, go.importObject);
  go.run(instance).then(() => postMessage({ id: -1 })); // the program ends when it fails, as without memory
  postMessage({ id: 0, answer: "" });
}

onmessage = async ({ data }) => {
  if (data.module) {
    ready = start(data.module);
    return;
  }
  const { id, operation, question } = data;
  try {
    await ready;
    const answer = await globalThis.gapwise(operation, question, (told) => postMessage({ id, told }));
    postMessage({ id, answer });
  } catch (error) {
    postMessage({ id, error: String(error instanceof Error ? error.message : error) });
  }
};
