// The worker of the page: it gives homenode the dropped files as a read-only file system, and passes questions and answers on.
// The page puts the runtime of Go before it.
"use strict";
const files = new Map(); // name → File
const opened = new Map(); // descriptor → {file, at}
const slices = new Map(); // file → its last slices, by number
let last = 2, read = 0, told = 0;
const sliceSize = 1 << 20, kept = 8;

const failure = (code) => Object.assign(new Error(code), { code });
const named = (path) => path.split("/").filter((part) => part !== "" && part !== ".").join("/");
const folder = (name) => name === "" || [...files.keys()].some((other) => other.startsWith(name + "/"));

function stat(name) {
  const file = files.get(name);
  if (!file && !folder(name)) throw failure("ENOENT");
  const time = file && file.lastModified || 0; // a Blob has none
  return {
    dev: 1, ino: 0, mode: file ? 0o100444 : 0o40555, nlink: 1, uid: 0, gid: 0, rdev: 0, size: file ? file.size : 0, blksize: 4096, blocks: 0,
    atimeMs: time, mtimeMs: time, ctimeMs: time, isDirectory: () => !file,
  };
}

// sliceOf returns a slice of a file. The last ones are kept: parsers read at several places by turns.
function sliceOf(file, n) {
  let ofFile = slices.get(file);
  if (!ofFile) slices.set(file, ofFile = new Map());
  let bytes = ofFile.get(n);
  if (bytes) return bytes;
  bytes = new Uint8Array(new FileReaderSync().readAsArrayBuffer(file.slice(n * sliceSize, (n + 1) * sliceSize)));
  ofFile.set(n, bytes);
  if (ofFile.size > kept) ofFile.delete(ofFile.keys().next().value);
  read += bytes.length;
  if (Date.now() - told > 100) {
    told = Date.now();
    postMessage({ read });
  }
  return bytes;
}

// readAt copies bytes of a file from a position into a buffer, slice by slice, so that files of any size fit.
function readAt(file, into, at) {
  let done = 0;
  while (done < into.length && at < file.size) {
    const n = Math.floor(at / sliceSize), part = sliceOf(file, n).subarray(at - n * sliceSize, at - n * sliceSize + into.length - done);
    into.set(part, done);
    done += part.length;
    at += part.length;
  }
  return done;
}

function calls(table) {
  const out = {};
  for (const [name, call] of Object.entries(table)) {
    out[name] = (...args) => {
      const callback = args.pop();
      let value;
      try {
        value = call(...args);
      } catch (error) {
        callback(typeof error.code === "string" ? error : failure("EIO")); // the code of a DOMException is a number
        return;
      }
      callback(null, value);
    };
  }
  return out;
}

const refuse = () => { throw failure("EROFS"); };
globalThis.process = { getuid: () => 0, getgid: () => 0, geteuid: () => 0, getegid: () => 0, getgroups: () => [], pid: 1, ppid: 1, umask: () => 0, cwd: () => "/", chdir: refuse };
globalThis.path = { resolve: (...parts) => "/" + named(parts[parts.length - 1]) };
globalThis.fs = {
  constants: { O_RDONLY: 0, O_WRONLY: 1, O_RDWR: 2, O_CREAT: 64, O_EXCL: 128, O_TRUNC: 512, O_APPEND: 1024, O_DIRECTORY: 65536 },
  writeSync(fd, bytes) {
    console.error(new TextDecoder().decode(bytes));
    return bytes.length;
  },
  ...calls({
    open(path, flags) {
      if (flags & 3) refuse();
      const name = named(path), about = stat(name);
      if (flags & 65536 && !about.isDirectory()) throw failure("ENOTDIR");
      opened.set(++last, { name, file: files.get(name), at: 0 });
      return last;
    },
    close(fd) {
      slices.delete(opened.get(fd)?.file);
      opened.delete(fd);
    },
    stat: (path) => stat(named(path)),
    lstat: (path) => stat(named(path)),
    fstat: (fd) => stat(opened.get(fd).name),
    readdir(path) {
      const below = named(path) === "" ? "" : named(path) + "/";
      return [...new Set([...files.keys()].filter((name) => name.startsWith(below)).map((name) => name.slice(below.length).split("/")[0]))];
    },
    read(fd, buffer, offset, length, position) {
      const open = opened.get(fd);
      if (!open || !open.file) throw failure("EISDIR");
      const n = readAt(open.file, buffer.subarray(offset, offset + length), position === null ? open.at : position);
      if (position === null) open.at += n;
      return n;
    },
    write(fd, buffer, offset, length) {
      if (fd > 2) refuse();
      globalThis.fs.writeSync(fd, buffer.subarray(offset, offset + length));
      return length;
    },
    fsync() {}, chmod: refuse, chown: refuse, fchmod: refuse, fchown: refuse, ftruncate: refuse, lchown: refuse, link: refuse, mkdir: refuse, readlink: refuse,
    rename: refuse, rmdir: refuse, symlink: refuse, truncate: refuse, unlink: refuse, utimes: refuse,
  }),
};

// decoded returns the bytes of a text that has 31 bits in each two characters, after their number.
function decoded(text) {
  const colon = text.indexOf(":"), bytes = new Uint8Array(Number(text.slice(0, colon)));
  let bits = 0, held = 0, n = 0;
  const take = (value, width) => {
    bits = (bits << width | value) & 0x7fffff;
    for (held += width; held >= 8 && n < bytes.length; ) bytes[n++] = bits >> (held -= 8);
  };
  for (let i = colon + 1; i < text.length; i += 2) {
    const both = (text.charCodeAt(i) - 0x100) * 46341 + text.charCodeAt(i + 1) - 0x100;
    take(both >>> 15, 16);
    take(both & 0x7fff, 15);
  }
  return bytes;
}

async function start(text) {
  const go = new Go();
  const unpacked = new Blob([decoded(text)]).stream().pipeThrough(new DecompressionStream("gzip"));
  const response = new Response(unpacked, { headers: { "Content-Type": "application/wasm" } });
  const { instance } = await WebAssembly.instantiateStreaming(response, go.importObject);
  const ended = go.run(instance).then(() => { postMessage({ ended: true }); });
  ended.catch((error) => postMessage({ ended: true, error: String(error) }));
  postMessage({ ready: true, version: homenode.version });
}

// drop opens files, or the demo fleet. homenode keeps those of the open files that belong to them; a folder is a source of its own. A name that means something
// else to homenode is passed as a path.
async function drop(list) {
  const before = new Map(files), plain = (name) => name.replace(/^\.\//, "");
  if (list === "demo" || list.some((one) => one.name.includes("/"))) files.clear();
  for (const one of list === "demo" ? [] : list) files.set(one.name, one.file);
  const names = list === "demo" ? ["demo"] : list.map(({ name }) => (/^(?:demo|vcenter|-|@.*|https?:.*)$/.test(name) ? "./" + name : name));
  try {
    const reply = await homenode.drop(names);
    for (const name of files.keys()) if (!reply.names.some((of) => plain(of) === name || name.startsWith(plain(of) + "/"))) files.delete(name);
    return { ...reply, files: [...files].map(([name, file]) => ({ name, file })) };
  } catch (error) {
    files.clear();
    for (const [name, file] of before) files.set(name, file);
    throw error;
  }
}

// Requests are answered one after the other.
let turn = Promise.resolve();
onmessage = ({ data }) => {
  turn = turn.then(async () => {
    try {
      if (data.start) return await start(data.start);
      read = 0;
      const value = await (data.drop ? drop(data.drop) : data.snapshot ? homenode.snapshot() : homenode.answer(data.address, data.form));
      postMessage({ id: data.id, value });
    } catch (error) {
      const text = error.message || String(error);
      postMessage(data.start ? { ended: true, error: text } : { id: data.id, error: text });
    }
  });
};
