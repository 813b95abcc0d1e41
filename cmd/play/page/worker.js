// The worker of a static page: its first message is the engine, each further one a request, whose answer are lines and
// then null. It follows wasm_exec.js of the Go distribution.
let engine;
const lost = why => setTimeout(() => { throw new Error(why); }); // which the page hears of, unlike a rejection
onmessage = async ({data}) => {
  try {
    if (data instanceof WebAssembly.Module) {
      const go = new Go();
      engine = WebAssembly.instantiate(data, go.importObject).then(instance => { go.run(instance).then(() => lost("the engine has ended")); });
    }
    await engine;
    if (Array.isArray(data)) answer(...data);
  } catch (error) { lost(error.message); }
};
