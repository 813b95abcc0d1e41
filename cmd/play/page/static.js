"use strict";
// Where the page is static files, what it asks for by fetch is answered by the engine in a worker: the same requests, the
// same answers. Workers are made of what engine.js holds, since no browser loads one from a file on disk.
(() => {
const bytes = Uint8Array.from(atob(engine.wasm), c => c.charCodeAt(0));
const unpacked = new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")), {headers: {"Content-Type": "application/wasm"}});
const module = WebAssembly.compileStreaming(unpacked);
const script = URL.createObjectURL(new Blob([engine.script], {type: "text/javascript"}));
const own = document.body.dataset.own, begins = document.body.dataset.run;
const text = new TextEncoder(), prints = lines => JSON.parse(lines.trim().split("\n").at(-1)).fingerprints;
function start(scenario) {
  const worker = new Worker(script);
  worker.ready = module.then(m => { worker.postMessage(m); worker.postMessage([own, scenario, "", ""]); });
  return worker;
}
// One worker is ready for what is asked next. One that is asked something stale is ended, which alone stops a simulation.
let idle = start(new URLSearchParams(location.hash.slice(1)).get("scenario") ?? begins);
window.fetch = async (kind, {body, signal}) => {
  const {scenario, ...ask} = JSON.parse(body), worker = idle ?? start(scenario);
  idle = null;
  return new Response(new ReadableStream({async start(answer) {
    let open = true;
    const end = why => {
      if (!open) return;
      open = false;
      worker.terminate();
      idle ??= start(scenario);
      answer.error(why);
    };
    signal.addEventListener("abort", () => end(signal.reason));
    // What opening.js says already, up to the first charts, is not said again: there the engine only proves that it is the same.
    let known = kind === "run" && scenario === begins && Object.values(ask).every(all => !all.length);
    if (known) answer.enqueue(text.encode(opening));
    worker.onerror = event => end(new Error(event.message));
    worker.onmessage = ({data}) => {
      const charts = data?.startsWith('{"seeds":');
      known &&= !data?.startsWith('{"error":');
      if (charts) idle ??= start(scenario);
      if (known && (data === null || charts && prints(data) !== prints(opening))) return end(new Error("its engine is of another version than its first charts; write the page anew"));
      if (known) return void (known = !charts);
      if (data !== null) return answer.enqueue(text.encode(data));
      open = false;
      if (idle) worker.terminate();
      else idle = worker;
      answer.close();
    };
    try { await worker.ready; } catch (error) { return end(error); }
    if (signal.aborted) end(signal.reason);
    else if (open) worker.postMessage([own, scenario, kind, JSON.stringify(ask)]);
  }}));
};
})();
