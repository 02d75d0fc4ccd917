// run.js MODEL ROWS FEATURES [REPEATS]: prints the outputs of an ONNX model for each row of floats, as main.c does,
// and the microseconds of CPU time that a row takes to standard error.
const ort = require("onnxruntime-web"), fs = require("fs");
(async () => {
  ort.env.wasm.numThreads = 1;
  const [model, rows, dim, repeats = 1] = process.argv.slice(2), bytes = fs.readFileSync(rows);
  const x = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4), n = x.length / dim;
  const session = await ort.InferenceSession.create(fs.readFileSync(model));
  const feeds = {X: new ort.Tensor("float32", x, [n, +dim])};
  let least = Infinity, out;
  for (let i = 0; i < repeats; i++) {
    const begun = process.cpuUsage();
    out = await session.run(feeds);
    const used = process.cpuUsage(begun);
    least = Math.min(least, used.user + used.system);
  }
  console.error(least / n);
  const columns = session.outputNames.map(name => out[name].data);
  const row = i => columns.flatMap(c => Array.from(c.slice(i * c.length / n, (i + 1) * c.length / n), String));
  process.stdout.write(Array.from({length: n}, (_, i) => row(i).join(" ") + "\n").join(""));
})().catch(e => { console.error(e); process.exit(1); });
