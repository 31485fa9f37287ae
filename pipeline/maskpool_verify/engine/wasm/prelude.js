// Put before the glue; runs in the main thread and in every thread that Lean starts.

console.log = () => {}; // the glue traces its progress there

// The address of a symbol, or 0. Layout of lean.sym: encode_symbols in binary.py.
var symbolFile;
function findSymbol(name) {
  if (!symbolFile) {
    const bytes = fs.readFileSync(scriptDirectory + "lean.sym");
    symbolFile = { bytes, words: new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2) };
  }
  const { bytes, words } = symbolFile, count = words[0], text = 4 + 8 * count;
  const key = Buffer.from(name + "\0");
  for (let low = 0, high = count - 1; low <= high;) {
    const middle = (low + high) >> 1, start = text + words[1 + middle];
    const end = Math.min(start + key.length, bytes.length);
    const order = bytes.compare(key, 0, key.length, start, end);
    if (order == 0) return words[1 + count + middle];
    if (order > 0) high = middle - 1; else low = middle + 1;
  }
  return 0;
}

// File access by threads is done by the main thread, while that waits for them in a loop that reads the
// clock. There it calls pause(), which sleeps until the next request, for at most 1 ms; after a request it
// stays awake for 0.3 ms, as more are likely to follow. It sleeps only in some rounds, because the loop
// consists of waits of 1 ms, and does nothing for the threads in a wait that is over at once.
var workers = require("worker_threads");
var request = workers.getEnvironmentData("request") || new Int32Array(new SharedArrayBuffer(4));
workers.setEnvironmentData("request", request);
var parentProcess = process.ppid, awakeUntil = 0, round = 0;
function pause(now) {
  if (!workers.isMainThread) return now;
  if (Atomics.exchange(request, 0, 0)) awakeUntil = now + 0.3;
  else if (now > awakeUntil && ++round % 8 == 0) Atomics.wait(request, 0, 0, 1);
  // Nobody is left to read the result when the driver has been killed.
  if (round % 1024 == 0 && process.ppid != parentProcess) process.kill(process.pid, "SIGKILL");
  return now;
}
function requestMainThread() {
  Atomics.store(request, 0, 1);
  Atomics.notify(request, 0);
}
