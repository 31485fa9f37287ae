// Put before the glue; runs in the main thread and in every thread that Lean starts.

console.log = () => {}; // the glue traces its progress there
var workers = require("worker_threads");

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

// Files that are only read are read by the thread that asks, without the main thread: Lean reads 500 of them
// before it begins with a module. These functions return undefined for everything else. `mounts` are pairs of a
// directory as Lean knows it and as the host does. Their file descriptors lie above all others, and belong to
// the thread, as Lean opens, reads and closes a file in one go.
var HERE = 1 << 20, ENOENT = 44, EINVAL = 28, HARMLESS = 0o2100000; // O_CLOEXEC, O_LARGEFILE
var positions = new Map();
function hostFile(pointer) {
  const name = UTF8ToString(pointer), mounts = workers.getEnvironmentData("mounts") ?? [];
  const mount = mounts.find(([own]) => name.startsWith(own));
  return mount && !name.includes("/..") ? mount[1] + name.slice(mount[0].length) : undefined;
}
function attempt(action) {
  try {
    return action();
  } catch (error) {
    return error.code === "ENOENT" ? -ENOENT : undefined;
  }
}
function openHere(pointer, flags) {
  const name = flags & ~HARMLESS ? undefined : hostFile(pointer);
  return name && attempt(() => {
    const file = fs.openSync(name);
    if (!fs.fstatSync(file).isFile()) return fs.closeSync(file);
    positions.set(HERE + file, 0);
    return HERE + file;
  });
}
function statHere(pointer, buffer) {
  const name = hostFile(pointer);
  return name && attempt(() => SYSCALLS.writeStat(buffer, fs.statSync(name)));
}
function fstatHere(file, buffer) {
  if (positions.has(file)) return SYSCALLS.writeStat(buffer, fs.fstatSync(file - HERE));
}
function readHere(file, parts, count, total) {
  if (!positions.has(file)) return undefined;
  growMemViews();
  const start = positions.get(file);
  let position = start;
  for (let part = parts >> 2, end = part + 2 * count; part < end; part += 2) {
    const [place, size] = HEAPU32.subarray(part, part + 2);
    const read = size && fs.readSync(file - HERE, HEAPU8, place, size, position);
    position += read;
    if (read < size) break;
  }
  positions.set(file, position);
  HEAPU32[total >> 2] = position - start;
  return 0;
}
function seekHere(file, offset, whence, result) {
  if (!positions.has(file)) return undefined;
  const from = [0, positions.get(file), fs.fstatSync(file - HERE).size][whence];
  const position = from + Number(offset);
  if (!(position >= 0)) return EINVAL;
  positions.set(file, position);
  growMemViews();
  HEAP64[result >> 3] = BigInt(position);
  return 0;
}
function closeHere(file) {
  if (!positions.delete(file)) return undefined;
  fs.closeSync(file - HERE);
  return 0;
}

// All other file access by threads is done by the main thread, while that waits for them in a loop that reads the
// clock. There it calls pause(), which sleeps until the next request, for at most 1 ms; after a request it
// stays awake for 0.3 ms, as more are likely to follow. It sleeps only in some rounds, because the loop
// consists of waits of 1 ms, and does nothing for the threads in a wait that is over at once.
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
