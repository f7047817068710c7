// SPDX-License-Identifier: MIT
// Runs tilewright-layout, compiled for WASI, with the options of a form, and shows its picture and its text.
"use strict";

const fields = {
  arch: ["Target", "gfx942", ["gfx908", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1150", "gfx1151", "gfx1200", "gfx1201", "gfx1250", "sm_80", "sm_90"]],
  tile: ["Tile: rows x columns", "128x64", null],
  dtype: ["Type", "f16", ["fp8", "bf8", "i8", "f16", "bf16", "f32", "i32", "f64"]],
  layout: ["Layout", "xor", ["plain", "padded", "padded:8", "padded:32", "xor", "xor:2", "swizzle:3,4,3", "row-xor", "base-tile:8x8", "solve"]],
  read: ["Reader", "mfma:32x32x16", ["", "mfma:32x32x8", "mfma:16x16x16", "mfma:32x32x16", "mfma:16x16x32", "wmma:16x16x16", "mma:16x8x16",
    "ldmatrix", "ldmatrix.trans", "ds_read_b64_tr_b16", "rows:16B", "rows:8B", "rows:4B", "column:16B", "column:4B", "column:2B"]],
  write: ["Writer", "rows:16B", ["", "rows:16B", "rows:8B", "rows:4B", "column:16B", "column:4B", "stmatrix"]],
  view: ["Rows of the picture", "tile", ["tile", "memory"]],
  phase: ["Phase", "", ["", ...Array(16).keys()].map(String)],
};

/** The part of WASI that a program without files needs. */
function wasi(args, memory) {
  const encoder = new TextEncoder(), out = { 1: [], 2: [] };
  const view = () => new DataView(memory().buffer);
  const words = args.map((a) => encoder.encode(a + "\0"));
  const refuse = () => 8;  // EBADF: there are no files
  return {
    out,
    imports: {
      args_sizes_get(count, size) {
        view().setUint32(count, words.length, true);
        view().setUint32(size, words.reduce((sum, w) => sum + w.length, 0), true);
        return 0;
      },
      args_get(pointers, text) {
        words.forEach((word, i) => {
          view().setUint32(pointers + 4 * i, text, true);
          new Uint8Array(memory().buffer).set(word, text);
          text += word.length;
        });
        return 0;
      },
      fd_write(file, vectors, count, written) {
        let total = 0;
        for (let i = 0; i < count; ++i) {
          const at = view().getUint32(vectors + 8 * i, true), length = view().getUint32(vectors + 8 * i + 4, true);
          out[file].push(new Uint8Array(memory().buffer.slice(at, at + length)));
          total += length;
        }
        view().setUint32(written, total, true);
        return 0;
      },
      fd_fdstat_get(file, stat) {
        for (let i = 0; i < 24; ++i) view().setUint8(stat + i, 0);
        view().setUint8(stat, 2);  // a character device
        view().setBigUint64(stat + 8, 0xffffffffn, true);
        return file <= 2 ? 0 : 8;
      },
      proc_exit(code) { throw { code }; },
      fd_close: refuse, fd_seek: refuse, fd_fdstat_set_flags: refuse, fd_prestat_get: refuse, fd_prestat_dir_name: refuse, path_open: refuse,
    },
  };
}

let module;

/** Exit code and texts of a run. */
async function run(args) {
  let instance;
  const system = wasi(["tilewright-layout", ...args], () => instance.exports.memory);
  instance = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: system.imports });
  let code = 0;
  try {
    instance.exports._start();
  } catch (end) {
    if (end.code === undefined) throw end;
    code = end.code;
  }
  const text = (parts) => parts.map((p) => new TextDecoder().decode(p)).join("");
  return { code, output: text(system.out[1]), errors: text(system.out[2]) };
}

function options() {
  const args = [];
  for (const name of Object.keys(fields)) {
    const value = document.getElementById("play-" + name).value.trim();
    if (value) args.push("--" + name, value);
  }
  return args;
}

async function show() {
  const args = options();
  const dark = document.body.getAttribute("data-md-color-scheme") === "slate";
  document.getElementById("play-command").textContent = "tilewright-layout " + args.join(" ");
  const text = await run(args);
  const picture = text.code === 2 ? null : await run([...args, "--format", "svg", "--theme", dark ? "dark" : "light"]);
  const verdict = ["No conflicts.", "Conflicts, or a cost that does not fit.", text.errors];
  document.getElementById("play-verdict").textContent = verdict[text.code];
  document.getElementById("play-picture").innerHTML = picture ? picture.output : "";
  document.getElementById("play-text").textContent = text.output;
  document.getElementById("play").dataset.code = text.code;
}

function make_field(name, [title, value, choices]) {
  const label = document.createElement("label"), input = document.createElement(choices ? "select" : "input");
  label.textContent = title;
  input.id = "play-" + name;
  for (const choice of choices ?? []) {
    const option = new Option(choice === "" ? (name === "phase" ? "the worst" : "none") : choice, choice);
    input.append(option);
  }
  input.value = value;
  input.addEventListener("change", show);
  label.append(input);
  return label;
}

async function start() {
  const form = document.getElementById("play");
  form.addEventListener("submit", (event) => event.preventDefault());
  for (const [name, field] of Object.entries(fields)) form.append(make_field(name, field));
  module = await WebAssembly.compileStreaming(fetch("assets/layout.wasm"));
  new MutationObserver(show).observe(document.body, { attributes: true, attributeFilter: ["data-md-color-scheme"] });
  await show();
}

start().catch((error) => {
  document.getElementById("play-verdict").textContent = "This browser cannot run the program: " + error;
});
