/* worker.js: runs the simulation beside the page, so that the page never waits for it.
 *
 * The page sends {type, ...}: begin, load, play, pause, wind, hold, release, compare, shown, file, save. It gets: ready (tables of
 * names), loaded (the mesh), refused (a message; the present scene continues), frame, told (a message), failed (the run has stopped),
 * saved. Emscripten's createDrape precedes this script, or the page says where to load it (with threads). */
"use strict";
const NUMBERS = ["time", "steps", "iterations", "newton", "residual", "stretch", "assemble", "precondition", "solve", "contact", "update",
  "kinetic", "elastic", "weight", "taken", "history", "converged", "touching"];
const REASONS = ["converged", "iteration limit", "indefinite", "not finite", "singular", "unsymmetric", "breakdown", "inaccurate", "interrupted"];
const FRAME = 15;                      // ms of stepping before the page gets a frame
const KEPT = 10, KEPT_FPS = 25;        // s and frames/s of motion that can be saved

let drape, scratch = 0, room = 0;
let playing = false, held = 0, compare = null, shown = true;
let owed = 0, before = 0, timer = 0;   // s of simulated time to catch up with; ms
let h = 0, film = [];
let clock = { since: 0, simulated: 0, rate: 1 };
let samples = [];

const say = (type, more = {}, transfer = []) => postMessage({ type, ...more }, transfer);
const text = (name, ...args) => drape.ccall(name, "string", args.map((a) => (typeof a === "string" ? "string" : "number")), args);
const number = (name, ...args) => drape.ccall(name, "number", args.map((a) => (typeof a === "string" ? "string" : "number")), args);
const message = () => text("live_message");

/* Memory for what is handed over, bytes. */
function space(bytes) {
  if (bytes > room) {
    drape._free(scratch);
    scratch = drape._malloc(room = bytes);
  }
  return scratch;
}

function list(name) {
  const names = [];
  for (let i = 0, word; (word = text(name, i)); i++) names.push(word);
  return names;
}

async function begin({ script, wasm, threads }) {
  if (script) importScripts(script);
  const options = { threads, print: () => {}, printErr: () => {} };
  if (wasm) options.wasmBinary = wasm;
  if (script) Object.assign(options, { mainScriptUrlOrBlob: script, locateFile: (name) => new URL(name, script).href });
  drape = await createDrape(options);
  if (number("live_begin", threads)) throw new Error("there is not enough memory to begin");
  // "direct" needs another library.
  const methods = list("drape_method_name").filter((name) => name !== "direct"), preconds = list("drape_precond_name");
  say("ready", {
    version: text("drape_version"), threads,
    scenes: list("drape_scene_name").map((name, i) => ({ name, about: text("drape_scene_description", i), text: text("drape_scene_text", i) })),
    fabrics: list("drape_fabric_name"), models: list("drape_model_name"), integrators: list("drape_integrator_name"), methods, preconds,
    takes: Object.fromEntries(methods.map((m) => [m, preconds.filter((p) => number("drape_method_takes", m, p))])),
  });
}

/* ---- loading ---- */

const hex = (colour) => (colour < 0 ? undefined : `#${colour.toString(16).padStart(6, "0")}`);
const floats = (at, count) => new Float32Array(drape.HEAPF64.subarray(at >> 3, (at >> 3) + count));
const word = (at) => drape.HEAP32[at >> 2];

/* drape_frame_mesh: name, vertices, triangles, positions, triangle. */
function objectAt(i) {
  const at = number("live_object", i);
  return { name: drape.UTF8ToString(word(at)), vertices: word(at + 4), triangles: word(at + 8), positions: word(at + 12), triangle: word(at + 16) };
}
const placesOf = (o) => floats(o.positions, 3 * o.vertices);

/* drape_piece_range: name, first_vertex, vertices, first_triangle, triangles. */
function pieceAt(i) {
  const at = number("live_piece", i);
  return { name: drape.UTF8ToString(word(at)), firstVertex: word(at + 4), vertices: word(at + 8), firstTriangle: word(at + 12), triangles: word(at + 16),
    color: hex(number("live_piece_color", i)) };
}

function mesh() {
  const n = number("live_vertices"), count = number("live_triangles"), triangle = number("live_triangle"), material = number("live_material");
  const column = (k) => Float32Array.from({ length: count }, (_, t) => drape.HEAPF32[(material >> 2) + 4 * t + k]);
  return {
    vertices: n, count, corner: new Uint32Array(drape.HEAP32.subarray(triangle >> 2, (triangle >> 2) + 3 * count)),
    du1: column(0), du2: column(1), dv1: column(2), dv2: column(3), rest: floats(number("live_rest"), 3 * n), x: floats(number("live_positions"), 3 * n),
    pieces: Array.from({ length: number("live_pieces") }, (_, i) => pieceAt(i)),
    objects: Array.from({ length: number("live_objects") }, (_, i) => {
      const o = objectAt(i);
      return { name: o.name, vertices: o.vertices, triangles: o.triangles, color: hex(number("live_object_color", i)), base: placesOf(o),
        corner: new Uint32Array(drape.HEAP32.subarray(o.triangle >> 2, (o.triangle >> 2) + 3 * o.triangles)) };
    }),
  };
}

function choose(c) {
  number("live_choose", c.fabric, c.model, c.integrator, c.method, c.precond);
  number("live_choose_numbers", c.resolution, c.step, c.tolerance, c.self);
  number("live_wind", ...(c.wind ?? [NaN, NaN, NaN]));
}

/* go: continue from the present state; if that fails, from the start. If the scene is refused, the previous choices remain. */
let chosen = null;
function load({ id, name, text: scene, choices, go }) {
  choose(choices);
  let from = go ? 1 : 0, wrong = number("live_load", name, scene, from), why = wrong ? message() : "";
  if (wrong && go) wrong = number("live_load", name, scene, from = 2);
  if (wrong) {
    why = message();
    if (chosen) choose(chosen);
    return say("refused", { id, message: why });
  }
  chosen = choices;
  h = number("live_step_length");
  held = 0;
  owed = 0;
  samples = [];
  if (from !== 1) film = [];
  else if (film.length && film[0].x.length !== 3 * number("live_vertices")) film = [];
  clock = { since: performance.now(), simulated: 0, rate: clock.rate };
  const wind = drape.HEAPF64.subarray(number("live_scene_wind") >> 3, (number("live_scene_wind") >> 3) + 3);
  say("loaded", { id, mesh: mesh(), went: from === 1, why, step: h, wind: [...wind], warning: text("live_warning") });
}

/* ---- running ---- */

/* False: the run has stopped. Cloth that is pulled farther than it can follow is released. */
function step() {
  if (!number("live_step")) {
    samples.push(numbers());
    clock.simulated += h;
    if (!film.length || numbers()[0] > film[film.length - 1].time + (1 - 1e-6) / KEPT_FPS) keep();
    return true;
  }
  const why = message();
  if (held) {
    letGo();
    say("told", { kind: "let-go", message: why });
    return true;
  }
  playing = false;
  say("failed", { message: why });
  return false;
}

const numbers = () => { const at = number("live_numbers") >> 3; return drape.HEAPF64.slice(at, at + NUMBERS.length); };

function keep() {
  film.push({ time: numbers()[0], x: floats(number("live_positions"), 3 * number("live_vertices")) });
  if (film.length > KEPT * KEPT_FPS + 1) film.shift();
}

/* If the machine is too slow, the clock runs slower, and the page says so. */
function tick() {
  timer = 0;
  if (!playing) return;
  const now = performance.now();
  owed = Math.min(owed + (now - before) / 1000, .1);
  before = now;
  while (owed >= h * (1 - 1e-9)) {
    if (!step()) break;
    owed -= h;
    if (performance.now() - now > FRAME) break;
  }
  if (owed > h) owed = 0;
  measure();
  if (samples.length && shown) frame();
  timer = setTimeout(tick, playing ? Math.max(0, Math.min(16, 1000 * (h - owed)) - (performance.now() - now)) : 0);
}

function measure() {
  const now = performance.now(), passed = now - clock.since;
  if (passed < 700) return;
  clock.rate = clock.simulated / (passed / 1000);
  clock.since = now;
  clock.simulated = 0;
}

/* drape_iteration: preconditioned, residual, energy, reserved. */
function history(at, count) {
  const out = new Float32Array(count);
  for (let i = 0; i < count; i++) out[i] = drape.HEAPF64[(at >> 3) + 4 * i];
  return out;
}

function frame() {
  const last = samples[samples.length - 1], x = floats(number("live_positions"), 3 * number("live_vertices"));
  const all = new Float64Array(NUMBERS.length * samples.length);
  samples.forEach((s, i) => all.set(s, NUMBERS.length * i));
  samples = [];
  shown = false;
  const objects = Array.from({ length: number("live_objects") }, (_, i) => placesOf(objectAt(i)));
  say("frame", { x, samples: all, rate: clock.rate, time: last[0], held, objects, history: history(number("live_history"), last[15]),
    method: text("live_method"), precond: text("live_precond"), compared: compare ? compared() : null, warning: text("live_warning") },
    [x.buffer, all.buffer, ...objects.map((o) => o.buffer)]);
}

/* Two solvers on the system of the last step, each from zero. */
function compared() {
  return compare.map(({ method, precond }, i) => {
    if (number("live_compare", i, method, precond)) return { method, precond, message: message() };
    return { method, precond: text("live_compared_precond", i), iterations: number("live_compared_iterations", i), reason: REASONS[number("live_compared_reason", i)],
      setup: number("live_compared_seconds", i, 1), solve: number("live_compared_seconds", i, 0),
      history: history(number("live_compared_history", i), number("live_compared_count", i)) };
  });
}

/* ---- hands ---- */

function hold({ vertices, targets, speed }) {
  const count = vertices.length, at = space(32 * count + 16), from = (at + 15) & ~15;
  drape.HEAPF64.set(targets, from >> 3);
  drape.HEAP32.set(vertices, (from + 24 * count) >> 2);
  if (number("live_hold", count, from + 24 * count, from, speed)) say("told", { kind: "hold", message: message() });
  else held = count;
}
function letGo() {
  number("live_hold", 0, 0, 0, 0);
  held = 0;
}

/* ---- files ---- */

function save({ id, name }) {
  const path = `/${name}`, n = 3 * number("live_vertices");
  if (!film.length || film[film.length - 1].time < numbers()[0]) keep();
  let wrong = number("live_export_begin", path, KEPT_FPS);
  for (const f of wrong ? [] : film) {
    drape.HEAPF64.set(f.x, (space(8 * n + 8) + 7) >> 3);
    wrong = wrong || number("live_export_frame", ((space(8 * n + 8) + 7) >> 3) << 3, f.time);
  }
  wrong = number("live_export_end") || wrong;
  if (wrong) return say("told", { kind: "save", message: message() });
  const bytes = drape.FS.readFile(path);
  drape.FS.unlink(path);
  say("saved", { id, name, bytes, frames: film.length }, [bytes.buffer]);
}

const acts = {
  begin, load, hold, save,
  play: () => { playing = true; before = performance.now(); clock = { since: before, simulated: 0, rate: 1 }; if (!timer) timer = setTimeout(tick); },
  pause: () => { playing = false; },
  wind: ({ wind }) => { chosen.wind = wind; number("live_wind", ...wind); },
  release: letGo,
  compare: ({ solvers }) => { compare = solvers; },
  shown: () => { shown = true; },
  file: ({ name, bytes }) => drape.FS.writeFile(name, bytes),
  once: () => { if (!playing && step()) frame(); },
};
onmessage = async ({ data }) => {
  try {
    await acts[data.type](data);
  } catch (error) {
    playing = false;
    say("failed", { message: `the simulation stopped: ${error?.message ?? error}`, fatal: true });
  }
};
