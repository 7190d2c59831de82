/* page.js: a simulation to touch. The worker (worker.js) steps it; this page shows its frames, and sends what the user does.
 *
 * For scripts: window.drape = {ready, state(), vertexAt(i), pixelOf(point), load(text), ...}; `ready` is a promise. Address options:
 * #scene=NAME&resolution=31&paused&dark|light&threads=N&cheap (coarse pictures) */
"use strict";
(() => {

const $ = (id) => document.getElementById(id);
const { findEdges, findAround, layOut, wind: windTriangles, sub, dot, cross, clamp, PALETTE, OBJECT_COLOUR, FLOATS, control } = DrapeRenderer;
const { brief } = DrapePlots;
const options = new URLSearchParams(location.hash.slice(1));
const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
const NUMBERS = ["time", "steps", "iterations", "newton", "residual", "stretch", "assemble", "precondition", "solve", "contact", "update",
  "kinetic", "elastic", "weight", "taken", "history", "converged", "touching"];

const OWN = { name: "hanging", about: "A square of cotton, hung by two corners. Grab it.", text: `# A square of cotton, hung by two corners that come closer to each other.
drape: 1
cloth:
  - name: cloth
    grid: {width: 1 m, resolution: 31}
    place: {rotate: [90, 0, 0], translate: [0, 0, 1 m]}
    material: cotton
    pins:
      - {where: top-left, move: {keys: [{time: 0 s, offset: [0, 0, 0]}, {time: 1 s, offset: [14 cm, 0, 0]}]}}
      - {where: top-right, move: {keys: [{time: 0 s, offset: [0, 0, 0]}, {time: 1 s, offset: [-14 cm, 0, 0]}]}}
forces:
  wind: {velocity: [0.3 m/s, 1 m/s, 0], drag: 1.2}
  air_drag: 0.02
time: {fps: 60, step: 16.6667 ms}
solver: {tolerance: 1e-3}
` };

function stop(words) {
  $("message").className = "error";
  $("message").firstElementChild.textContent = words;
}

let toldUntil = 0;
/* An error message stays for a while, or until the next one. */
function tell(words, wrong = false) {
  if (!wrong && !$("told").hidden && $("told").classList.contains("wrong")) return;
  $("told").textContent = words;
  $("told").className = wrong ? "glass wrong" : "glass";
  $("told").hidden = false;
  clearTimeout(toldUntil);
  toldUntil = setTimeout(() => { $("told").hidden = true; }, wrong ? 12000 : 4000);
}

/* ---- the worker ---- */

function unpack(id) {
  const letters = atob($(id).textContent.trim()), bytes = new Uint8Array(letters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer();
}

/* With threads if the page is isolated and their files are beside it; otherwise all that is needed is in the page. */
async function startWorker() {
  const script = new URL("drape-threads.js", location.href).href;
  const wanted = +(options.get("threads") ?? Math.min(4, Math.max(1, (navigator.hardwareConcurrency || 2) - 1)));
  const threads = globalThis.crossOriginIsolated && location.protocol.startsWith("http") && wanted > 1
    && await fetch(script, { method: "HEAD" }).then((answer) => answer.ok, () => false) ? wanted : 1;
  const worker = new Worker(URL.createObjectURL(new Blob([$("worker").textContent], { type: "text/javascript" })));
  if (threads > 1) worker.postMessage({ type: "begin", script, threads });
  else {
    const wasm = await unpack("wasm");
    worker.postMessage({ type: "begin", wasm, threads }, [wasm]);
  }
  $("wasm").remove();
  return worker;
}

/* ---- what is chosen ---- */

const AS_SCENE = "as in the scene";
const choices = { fabric: "", model: "", integrator: "", method: "", precond: "", resolution: 31, step: 0, tolerance: 0, self: 0, wind: null };
const NUMERIC = ["resolution", "step", "tolerance", "self"];
const STEPS = [["1/30 s", 1 / 30], ["1/60 s", 1 / 60], ["1/120 s", 1 / 120], ["4 ms", .004], ["2 ms", .002], ["1 ms", .001]];

function fill(id, list, first = AS_SCENE) {
  $(id).replaceChildren(...[...(first === null ? [] : [[first, NUMERIC.includes(id) ? 0 : ""]]), ...list].map((entry) => {
    const [name, value] = Array.isArray(entry) ? entry : [entry, entry];
    return new Option(name, value);
  }));
}

async function main() {
  const gl = $("view").getContext("webgl2", { antialias: true, alpha: false });
  if (!gl) return stop("This page needs WebGL 2, which this browser does not offer or has switched off. Any current Firefox, Chrome, Edge or Safari has it.");
  if (typeof DecompressionStream === "undefined" || typeof WebAssembly === "undefined") return stop("This browser is too old for this page. Any current Firefox, Chrome, Edge or Safari can show it.");

  const worker = await startWorker();
  const answers = new Map();
  const begun = new Promise((kept, broken) => { answers.set("begin", { kept, broken }); });
  worker.onmessage = ({ data }) => heard[data.type](data);
  worker.onerror = (e) => { answers.get("begin")?.broken(new Error(e.message)); fail(e.message, true); };
  const send = (type, more = {}, transfer = []) => worker.postMessage({ type, ...more }, transfer);

  /* ---- state ---- */

  const state = { playing: false, dead: false, time: 0, rate: 1, frames: 0, scene: OWN, text: OWN.text, h: 0, held: 0, newest: 0, arrived: 0, gap: 0, theme: options.has("dark") ? "dark" : options.has("light") ? "light" : null };
  const system = matchMedia("(prefers-color-scheme: dark)");
  const theme = () => state.theme || (system.matches ? "dark" : "light");
  const plots = DrapePlots.create({ iterations: $("plot-iterations"), residual: $("plot-residual"), stages: $("plot-stages"), energy: $("plot-energy") });
  let cloth = null, renderer = null, good = { ...choices }, next = 0, tables = null, box = null;

  /* ---- the mesh, and frames of it ---- */

  function widen(points, skip = 3) {
    let grown = false;
    for (let i = 0; i < points.length; i += skip)
      for (let k = 0; k < 3; k++) {
        if (points[i + k] < box.low[k]) { box.low[k] = points[i + k]; grown = true; }
        if (points[i + k] > box.high[k]) { box.high[k] = points[i + k]; grown = true; }
      }
    return grown;
  }
  function sizeOf(points) {
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    for (let i = 0; i < points.length; i++) { low[i % 3] = Math.min(low[i % 3], points[i]); high[i % 3] = Math.max(high[i % 3], points[i]); }
    return Math.hypot(...sub(high, low));
  }
  /* Mouse and fingers act on the current renderer. */
  const current = { turn: (...a) => renderer.turn(...a), move: (...a) => renderer.move(...a), zoom: (...a) => renderer.zoom(...a) };
  const light = () => renderer.setBounds(box, cloth.size);

  /* went: the simulation continues from its state, and the view stays. */
  function take(mesh, went) {
    const n = mesh.vertices, { neighbour, edges } = findEdges(mesh.corner, n), { thread, flip } = layOut(mesh, n, neighbour);
    const pieces = mesh.pieces.map((p, i) => ({ ...p, colour: p.color ?? PALETTE[i % PALETTE.length], shown: true }));
    cloth = { ...mesh, size: sizeOf(mesh.rest), edge: meanEdge(mesh.rest, edges) };
    const objects = mesh.objects.map((o) => ({ ...o, around: findAround(o), colour: o.color ?? OBJECT_COLOUR, shown: true, wide: o.triangles <= 2 || sizeOf(o.base) > 4 * cloth.size }));
    cloth.objects = objects;
    const old = renderer;
    renderer = DrapeRenderer.create(gl, { vertices: n, mesh, edges, index: windTriangles(mesh.corner, flip), thread, pieces, objects });
    if (old) Object.assign(renderer.look, old.look);
    else if (options.has("cheap")) Object.assign(renderer.look, { cheap: true, sharpness: .3 });
    renderer.look.full = .05;
    if (!went || !box) box = { low: [Infinity, Infinity, Infinity], high: [-Infinity, -Infinity, -Infinity] };
    widen(mesh.x);
    if (!went) {
      for (const o of objects) if (!o.wide) widen(o.base);
      if (!objects.length) box.low[2] -= .3 * cloth.size; // cloth falls
    }
    light();
    if (old && went) Object.assign(renderer.view, old.view);
    else fit();
    old?.dispose();
    for (const o of objects) renderer.loadObject(o, o.base);
    state.newest = 0;
    for (const slot of [0, 1]) show(mesh.x, slot);
    plots.clear();
    redraw();
  }
  function meanEdge(x, edges) {
    let sum = 0;
    for (let e = 0; e < edges.length; e += 2) sum += Math.hypot(...[0, 1, 2].map((k) => x[3 * edges[e] + k] - x[3 * edges[e + 1] + k]));
    return sum / (edges.length / 2 || 1);
  }
  function show(x, slot) {
    cloth.x = x;
    renderer.load(renderer.slots[slot], (fresh) => { for (let i = 0, o = 0; i < x.length; i += 3, o += FLOATS) { fresh[o] = x[i]; fresh[o + 1] = x[i + 1]; fresh[o + 2] = x[i + 2]; } });
  }
  function fit() {
    renderer.view.side = aside();
    const points = [];
    for (let i = 0; i < 8; i++) points.push([0, 1, 2].map((k) => (i >> k & 1 ? box.high[k] : box.low[k])));
    renderer.fit(points);
    redraw();
  }

  /* ---- what the worker says ---- */

  const heard = {
    ready: (data) => { tables = data; answers.get("begin").kept(data); },
    loaded: (data) => {
      good = { ...choices };
      $("told").hidden = true;
      state.h = data.step;
      if (!choices.wind) showWind(data.wind);
      take(data.mesh, data.went);
      state.time = data.went ? state.time : 0;
      showFacts();
      if (data.why) tell(`It starts over, because it could not go on: ${data.why}`);
      else if (data.warning) tell(data.warning);
      answers.get(data.id)?.kept({ ok: true, went: data.went });
      answers.delete(data.id);
    },
    refused: (data) => {
      Object.assign(choices, good);
      showChoices();
      const answer = answers.get(data.id);
      answers.delete(data.id);
      answer?.kept({ ok: false, message: data.message });
      if (!answer?.quiet) tell(data.message, true);
    },
    frame: (data) => {
      const now = performance.now();
      send("shown");
      if (data.x.length !== cloth.x.length) return; // of the mesh before
      state.gap = Math.min(now - state.arrived, 250);
      state.arrived = now;
      state.frames++;
      state.newest = 1 - state.newest;
      show(data.x, state.newest);
      if (widen(data.x)) light();
      data.objects.forEach((x, i) => renderer.loadObject(cloth.objects[i], x));
      Object.assign(state, { time: data.time, rate: data.rate, held: data.held });
      note(data);
      if (data.warning) tell(data.warning);
      redraw();
    },
    told: ({ kind, message }) => {
      if (kind === "let-go") pull = null;
      tell(kind === "let-go" ? `It slipped out of the hand: ${message}` : message, true);
    },
    failed: ({ message, fatal }) => fail(message, fatal),
    saved: ({ name, bytes, frames, id }) => {
      const a = document.createElement("a");
      a.href = URL.createObjectURL(new Blob([bytes], { type: "model/gltf-binary" }));
      a.download = name;
      a.click();
      setTimeout(() => URL.revokeObjectURL(a.href), 10000);
      tell(`${name}: ${frames} ${frames === 1 ? "frame" : "frames"}`);
      answers.get(id)?.kept(bytes.length);
      answers.delete(id);
    },
  };
  function fail(words, fatal) {
    setPlaying(false);
    state.dead = state.dead || !!fatal;
    tell(`${words}${fatal ? "\nReload the page to begin again." : "\nStart over, or choose something else."}`, true);
    clearTimeout(toldUntil);
  }

  function note({ samples, history, method, precond, compared }) {
    for (let i = 0; i < samples.length; i += NUMBERS.length)
      plots.add(Object.fromEntries(NUMBERS.map((name, k) => [name, samples[i + k]])));
    plots.solved(compared ? compared.filter((c) => c.history).map((c, i) => ({ history: c.history, colour: i ? "--c0" : "--c1" })) : [{ history, colour: "--c1" }]);
    state.used = { method, precond };
    state.compared = compared;
  }

  /* ---- asking for another scene, or the same one in another way ---- */

  function load({ go, quiet = false, text = state.text, name = "scene.yaml" }) {
    const id = ++next;
    return new Promise((kept) => {
      answers.set(id, { kept, quiet });
      pull = null;
      send("load", { id, name, text, choices: { ...choices }, go });
    }).then((answer) => {
      if (answer.ok) {
        state.text = text;
        if (!go && !options.has("paused")) setPlaying(true);
      }
      return answer;
    });
  }

  async function openScene(scene) {
    const before = { wind: choices.wind, step: choices.step };
    choices.wind = null;
    if (scene.step !== undefined) choices.step = scene.step;
    const answer = await load({ go: false, text: scene.text, name: `${scene.name}.yaml` });
    if (!answer.ok) Object.assign(choices, before);
    else {
      state.scene = scene;
      $("title").textContent = scene.name;
      $("about").textContent = scene.about;
      $("source").value = scene.text;
      $("scene").value = scene.name;
    }
    showChoices();
    return answer;
  }

  function change(id, value) {
    choices[id] = NUMERIC.includes(id) ? +value : value;
    if (id === "method" && choices.precond && !takes(value).includes(choices.precond)) choices.precond = "";
    showChoices();
    return load({ go: true });
  }
  const takes = (method) => tables.takes[method || "ppcg"] ?? tables.preconds;

  function showChoices() {
    fill("precond", takes(choices.method), choices.method ? "auto" : AS_SCENE);
    for (const id of ["fabric", "model", "integrator", "method", "precond", ...NUMERIC]) $(id).value = String(choices[id]);
  }

  /* ---- wind: speed and direction in the plane ---- */

  const degrees = (x) => `${Math.round(x)}\u00b0`;
  function showWind([x, y, z]) {
    state.lift = z;
    $("wind").value = Math.hypot(x, y);
    if (x || y) $("direction").value = 5 * Math.round(Math.atan2(y, x) * 36 / Math.PI);
    nameWind();
  }
  function nameWind() {
    $("wind-value").textContent = `${(+$("wind").value).toFixed(1)} m/s`;
    $("direction-value").textContent = degrees(+$("direction").value);
    $("wind").style.setProperty("--done", `${100 * $("wind").value / 15}%`);
    $("direction").style.setProperty("--done", `${(+$("direction").value + 180) / 3.6}%`);
  }
  function blow() {
    const speed = +$("wind").value, angle = $("direction").value * Math.PI / 180;
    choices.wind = good.wind = [speed * Math.cos(angle), speed * Math.sin(angle), speed ? state.lift ?? 0 : 0];
    nameWind();
    send("wind", { wind: choices.wind });
  }

  /* ---- pulling ---- */

  let pull = null; // {vertices, from, point, target}

  /* Where a ray first meets triangles: how far along, which triangle, its barycentric coordinates. */
  function meet({ eye, along }, corner, x) {
    let best = null;
    for (let t = 0; t < corner.length; t += 3) {
      const a = 3 * corner[t], b = 3 * corner[t + 1], c = 3 * corner[t + 2];
      const e1 = [x[b] - x[a], x[b + 1] - x[a + 1], x[b + 2] - x[a + 2]], e2 = [x[c] - x[a], x[c + 1] - x[a + 1], x[c + 2] - x[a + 2]];
      const p = cross(along, e2), det = dot(e1, p);
      if (Math.abs(det) < 1e-14) continue;
      const s = [eye[0] - x[a], eye[1] - x[a + 1], eye[2] - x[a + 2]], u = dot(s, p) / det;
      if (u < 0 || u > 1) continue;
      const q = cross(s, e1), v = dot(along, q) / det;
      if (v < 0 || u + v > 1) continue;
      const far = dot(e2, q) / det;
      if (far > 0 && (!best || far < best.far)) best = { far, t: t / 3, w: [1 - u - v, u, v] };
    }
    return best;
  }

  /* The point of the cloth under a pixel; nothing where an object is in front of it. */
  function clothAt(px, py) {
    const rayed = renderer.rayAt(px, py), hit = meet(rayed, cloth.corner, cloth.x);
    if (!hit) return null;
    for (const o of cloth.objects) {
      if (o.wide) continue;
      const before = meet(rayed, o.corner, o.now ?? o.base);
      if (before && before.far < hit.far) return null;
    }
    return { ...hit, point: rayed.eye.map((e, k) => e + hit.far * rayed.along[k]) };
  }

  /* A patch of some centimetres: a single vertex would pull the cloth into a spike. */
  function patchAt({ t, w }) {
    const corners = [0, 1, 2].map((k) => cloth.corner[3 * t + k]), { rest } = cloth;
    const middle = [0, 1, 2].map((k) => corners.reduce((sum, v, i) => sum + w[i] * rest[3 * v + k], 0));
    const reach = Math.max(.025 * cloth.size, 1.3 * cloth.edge);
    const piece = cloth.pieces.find((p) => t >= p.firstTriangle && t < p.firstTriangle + p.triangles);
    const inside = new Set(corners);
    for (let v = piece.firstVertex; v < piece.firstVertex + piece.vertices; v++)
      if (Math.hypot(rest[3 * v] - middle[0], rest[3 * v + 1] - middle[1], rest[3 * v + 2] - middle[2]) < reach) inside.add(v);
    return Int32Array.from(inside);
  }

  function grab(e) {
    if (state.dead || pull) return null;
    const at = clothAt(e.offsetX, e.offsetY);
    if (!at) return null;
    const vertices = patchAt(at), back = renderer.axes().back;
    pull = { vertices, from: Float64Array.from({ length: 3 * vertices.length }, (_, i) => cloth.x[3 * vertices[Math.floor(i / 3)] + i % 3]), point: at.point, target: at.point };
    const own = pull;
    $("view").classList.add("pulls");
    const lead = (event) => {
      if (pull !== own) return;
      const { eye, along } = renderer.rayAt(event.offsetX, event.offsetY), far = dot(sub(own.point, eye), back) / dot(along, back);
      if (!(far > 0)) return;
      own.target = eye.map((c, k) => c + far * along[k]);
      const by = sub(own.target, own.point);
      send("hold", { vertices, targets: own.from.map((c, i) => c + by[i % 3]), speed: 4 * Math.max(1, cloth.size) });
    };
    lead(e);
    if (!state.playing) setPlaying(true);
    return {
      move: lead,
      end: () => {
        if (pull === own) { pull = null; send("release"); }
        $("view").classList.remove("pulls");
      },
    };
  }

  let hands = { coast: () => false, coasting: () => false };

  /* ---- drawing ---- */

  let asked = false, drawnPlots = 0;
  function redraw() {
    if (asked) return;
    asked = true;
    requestAnimationFrame(tick);
  }
  function tick(now) {
    asked = false;
    if (!renderer) return;
    hands.coast();
    renderer.look.theme = theme();
    /* Slow frames are interpolated. */
    const slow = state.gap > 26 && state.playing, between = slow ? clamp((now - state.arrived) / state.gap, 0, 1) : 1;
    renderer.draw(1 - state.newest, between);
    if (now - drawnPlots > 100) {
      drawnPlots = now;
      showNumbers();
      if (!$("plots").hidden) plots.draw();
    }
    adapt(now);
    if (state.playing || hands.coasting()) redraw();
  }
  /* If drawing takes long, the resolution is lowered: smooth motion matters more. */
  const pace = { since: 0, pictures: 0 };
  function adapt(now) {
    if (++pace.pictures < 20) return;
    const each = (now - pace.since) / pace.pictures, sharpness = Math.min(devicePixelRatio || 1, renderer.look.sharpness);
    if (state.playing && each > 40 && each < 2000) {
      renderer.look.cheap = sharpness <= 1;
      renderer.look.sharpness = Math.max(.4, .7 * sharpness);
    }
    Object.assign(pace, { since: now, pictures: 0 });
  }

  const many = (count, word, words = `${word}s`) => `${count.toLocaleString("en")} ${count === 1 ? word : words}`;
  function showFacts() {
    $("facts").textContent = [many(cloth.vertices, "vertex", "vertices"), many(cloth.count, "triangle"), `${+(1000 * state.h).toPrecision(3)} ms steps`,
      ...(tables.threads > 1 ? [many(tables.threads, "thread")] : [])].join(" \u00b7 ");
  }
  function showNumbers() {
    $("time").textContent = `${state.time.toFixed(2)} s`;
    const slow = state.playing && state.rate < .95;
    $("rate").className = slow ? "slow" : "";
    $("rate").textContent = !state.playing ? "paused" : slow ? `slow motion, ${state.rate < .1 ? state.rate.toFixed(2) : state.rate.toFixed(1)}\u00d7 real time: this machine is too slow for more` : "real time";
    const last = plots.rows[plots.rows.length - 1];
    if (!last) return;
    $("iterations-now").textContent = last.newton > 1 ? `${last.iterations} in ${last.newton} solves` : last.iterations;
    $("residual-now").textContent = state.used ? [state.used.method, state.used.precond].join(", ") : "";
    $("stages-now").textContent = (1000 * (last.assemble + last.precondition + last.solve + last.contact + last.update)).toFixed(1);
    showCompared();
  }
  function showCompared() {
    $("compared").hidden = !state.compared;
    if (!state.compared) return;
    const ms = (s) => `${(1000 * s).toFixed(1)} ms`;
    $("compared").tBodies[0].replaceChildren(...state.compared.map((c, i) => {
      const row = document.createElement("tr"), cells = c.message ? [c.message, "", "", ""] : [[c.method, c.precond].join(", "),
        c.reason === "converged" ? c.iterations : `${c.iterations}, ${c.reason}`, ms(c.setup), ms(c.solve)];
      for (const words of cells) row.insertCell().textContent = words;
      const mark = document.createElement("i");
      mark.style.color = `var(${i ? "--c0" : "--c1"})`;
      row.cells[0].prepend(mark);
      return row;
    }));
  }

  function setPlaying(on) {
    state.playing = on && !state.dead;
    send(state.playing ? "play" : "pause");
    document.body.classList.toggle("playing", state.playing);
    $("play").setAttribute("aria-label", state.playing ? "Pause" : "Play");
    showNumbers();
    redraw();
  }

  /* ---- comparing two solvers ---- */

  function compare() {
    const method = $("other-method").value, mine = choices.method || "auto";
    $("other-row").hidden = !method;
    if (method) {
      const chosen = $("other-precond").value;
      fill("other-precond", takes(method), "auto");
      if (takes(method).includes(chosen)) $("other-precond").value = chosen;
    }
    send("compare", { solvers: method ? [{ method: mine, precond: choices.precond || "auto" }, { method, precond: $("other-precond").value || "auto" }] : null });
  }

  /* ---- files that are dropped or opened ---- */

  /* A mesh falls over a ball on a floor: the ball as wide as a third of it, the mesh just above. */
  function sceneOfMesh(name, low, high) {
    const size = Math.hypot(...sub(high, low)), metres = (x) => `${+x.toPrecision(4)} m`, radius = .22 * size;
    const shift = [0, 1, 2].map((k) => (k < 2 ? -(low[k] + high[k]) / 2 : 2.1 * radius - low[2]));
    return `# ${name}, falling over a ball.
drape: 1
cloth:
  - name: ${JSON.stringify(name.replace(/\.obj$/i, ""))}
    mesh: ${JSON.stringify(name)}
    place: {translate: [${shift.map(metres).join(", ")}]}
    material: cotton
    friction: 0.4
colliders:
  - {name: ball, shape: sphere, radius: ${metres(radius)}, friction: 0.4, place: {translate: [0, 0, ${metres(radius)}]}}
  - {name: floor, shape: plane, friction: 0.4}
time: {step: 5 ms}
solver: {tolerance: 1e-3}
`;
  }
  function boundsOfObj(text) {
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    for (const [, ...p] of text.matchAll(/^v\s+(\S+)\s+(\S+)\s+(\S+)/gm))
      p.forEach((c, k) => { low[k] = Math.min(low[k], +c); high[k] = Math.max(high[k], +c); });
    return low.every(Number.isFinite) && high.every(Number.isFinite) ? { low, high } : null;
  }
  async function openFile(file) {
    if (!file) return;
    if (/\.ya?ml$/i.test(file.name)) {
      $("source").value = await file.text();
      showEditor(true);
      return run();
    }
    if (!/\.obj$/i.test(file.name)) return tell(`${file.name}: only OBJ meshes and scenes (.yaml) can be opened here`, true);
    const name = file.name.replace(/[^\w.-]+/g, "_"), bytes = new Uint8Array(await file.arrayBuffer()), bounds = boundsOfObj(new TextDecoder().decode(bytes));
    if (!bounds) return tell(`${file.name}: there are no vertices in it`, true);
    send("file", { name, bytes }, [bytes.buffer]);
    return ownScene({ name: name.replace(/\.obj$/i, ""), about: "A mesh of yours, falling over a ball. Edit the scene to change that.", text: sceneOfMesh(name, bounds.low, bounds.high), step: 0 });
  }
  /* Into the list, beside the built-in scenes. */
  function ownScene(scene) {
    const known = scenes.findIndex((s) => s.name === scene.name && s.own);
    if (known >= 0) scenes.splice(known, 1);
    scenes.push({ ...scene, own: true });
    listScenes();
    return openScene(scenes[scenes.length - 1]);
  }

  /* ---- the editor ---- */

  function showEditor(on) {
    $("editor").hidden = !on;
    if (on) $("source").focus();
    else $("view").focus();
  }
  async function run() {
    const text = $("source").value;
    const scene = { ...state.scene, text, step: 0 };
    choices.wind = null;
    choices.step = 0;
    choices.resolution = 0;
    const answer = await load({ go: false, text, name: "scene.yaml", quiet: true });
    $("mistake").hidden = answer.ok;
    if (answer.ok) {
      state.scene = scene;
      showChoices();
      return answer;
    }
    $("mistake").textContent = answer.message;
    const [, line, column] = /^[^:\n]*:(\d+):(\d+):/.exec(answer.message) ?? [];
    if (line) mark(+line, +column);
    return answer;
  }
  /* Puts the cursor at the mistake and selects the rest of its line. */
  function mark(line, column) {
    const lines = $("source").value.split("\n"), start = lines.slice(0, line - 1).reduce((sum, l) => sum + l.length + 1, 0);
    const from = start + Math.min(column - 1, lines[line - 1]?.length ?? 0), to = start + (lines[line - 1]?.length ?? 0);
    $("source").focus();
    $("source").setSelectionRange(from, Math.max(to, from));
    $("source").scrollTop = Math.max(0, (line - 6) * 18.75);
  }

  /* ---- buttons and keys ---- */

  const press = (id, on) => $(id).setAttribute("aria-pressed", on);
  function showPanel(on) {
    $("panel").hidden = !on;
    press("show-panel", on);
    if (on && small()) showPlots(false);
    if (renderer) renderer.view.side = aside();
    redraw();
  }
  function showPlots(on) {
    $("plots").hidden = !on;
    press("show-plots", on);
    if (on && small()) showPanel(false);
  }
  const aside = () => (small() || $("panel").hidden ? 0 : 300 / innerWidth);
  const small = () => innerWidth <= 860 || innerHeight <= 560;
  const actions = {
    play: () => setPlaying(!state.playing),
    restart: () => load({ go: false }),
    wire: () => press("wire", renderer.look.wire = !renderer.look.wire),
    stretch: () => { press("stretch", renderer.look.stretch = !renderer.look.stretch); show(cloth.x, state.newest); show(cloth.x, 1 - state.newest); },
    fit: () => fit(),
    theme: () => { state.theme = theme() === "dark" ? "light" : "dark"; document.documentElement.dataset.theme = theme(); },
    "show-plots": () => showPlots($("plots").hidden),
    "show-panel": () => showPanel($("panel").hidden),
    edit: () => { $("source").value = state.text; $("mistake").hidden = true; showEditor($("editor").hidden); },
    open: () => $("file").click(),
    save: () => send("save", { id: ++next, name: `${state.scene.name}.glb` }),
    run: () => run(),
    close: () => showEditor(false),
  };
  for (const id of Object.keys(actions))
    $(id).addEventListener("click", (e) => {
      actions[id]();
      if (e.detail && id !== "edit" && id !== "run") $(id).blur();
      redraw();
    });
  $("panel").addEventListener("submit", (e) => e.preventDefault());
  $("file").addEventListener("change", () => { openFile($("file").files[0]); $("file").value = ""; });
  const keys = { " ": actions.play, w: actions.wire, s: actions.stretch, f: actions.fit, d: actions.theme, p: actions["show-plots"], o: actions["show-panel"], r: actions.restart,
    "+": () => renderer.zoom(.9), "-": () => renderer.zoom(1 / .9) };
  addEventListener("keydown", (e) => {
    if (e.key === "Escape" && !$("editor").hidden) return showEditor(false);
    if (e.target === $("source")) { if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) { e.preventDefault(); run(); } return; }
    const typing = /^(SELECT|INPUT|TEXTAREA)$/.test(e.target.tagName), act = keys[e.key.length === 1 ? e.key.toLowerCase() : e.key];
    if (!act || typing || e.ctrlKey || e.metaKey || e.altKey || (e.key === " " && e.target.tagName === "BUTTON")) return;
    e.preventDefault();
    act();
    redraw();
  });
  addEventListener("resize", () => { if (renderer && !renderer.view.moved) fit(); redraw(); });
  system.addEventListener("change", () => { document.documentElement.dataset.theme = theme(); redraw(); });
  for (const type of ["dragenter", "dragover"]) addEventListener(type, (e) => { e.preventDefault(); $("drop").hidden = false; });
  addEventListener("dragleave", (e) => { if (!e.relatedTarget) $("drop").hidden = true; });
  addEventListener("drop", (e) => { e.preventDefault(); $("drop").hidden = true; openFile(e.dataTransfer?.files[0]); });
  document.addEventListener("visibilitychange", () => { if (state.playing) send(document.hidden ? "pause" : "play"); });
  $("view").addEventListener("webglcontextlost", (e) => e.preventDefault());
  $("view").addEventListener("webglcontextrestored", () => { renderer.setUp(); for (const o of cloth.objects) renderer.loadObject(o, o.now ?? o.base); for (const slot of [0, 1]) show(cloth.x, slot); redraw(); });

  /* ---- begin ---- */

  document.documentElement.dataset.theme = theme();
  await begun;
  answers.delete("begin");
  const scenes = [OWN, ...tables.scenes.map((s) => ({ ...s, step: 1 / 120 }))];
  const listScenes = () => fill("scene", scenes.map((s) => s.name), null);
  listScenes();
  fill("fabric", tables.fabrics);
  fill("model", tables.models);
  fill("integrator", tables.integrators);
  fill("method", tables.methods);
  fill("resolution", [11, 21, 31, 41, 51, 71, 101].map((k) => [`${k} \u00d7 ${k}`, k]));
  fill("step", STEPS);
  fill("tolerance", ["1e-2", "1e-3", "1e-4", "1e-5", "1e-6", "1e-8"].map((t) => [t, +t]));
  fill("other-method", tables.methods, "nothing");
  for (const id of ["fabric", "model", "integrator", "method", "precond", ...NUMERIC])
    $(id).addEventListener("change", async () => { await change(id, $(id).value); compare(); });
  $("scene").addEventListener("change", () => openScene(scenes.find((s) => s.name === $("scene").value)));
  for (const id of ["wind", "direction"]) $(id).addEventListener("input", blow);
  for (const id of ["other-method", "other-precond"]) $(id).addEventListener("change", compare);
  if (options.get("resolution")) choices.resolution = parseInt(options.get("resolution"), 10) || 0;
  showPlots(innerWidth >= 1100 && !small());
  showPanel(!small());
  const scene = scenes.find((s) => s.name === options.get("scene")) ?? OWN;
  const answer = await openScene(scene);
  if (!answer.ok) throw new Error(answer.message);
  $("message").classList.add("gone");
  hands = control($("view"), current, { redraw, calm, fit, grab });

  Object.assign(window.drape, {
    tables, scenes: scenes.map((s) => s.name), plots,
    state: () => ({ ...state, choices: { ...good }, pull: pull && { target: pull.target, point: pull.point, vertices: pull.vertices.length }, vertices: cloth.vertices, triangles: cloth.count, size: cloth.size,
      finite: cloth.x.every(Number.isFinite), objects: cloth.objects.length }),
    vertexAt: (i) => [...cloth.x.subarray(3 * i, 3 * i + 3)],
    pixelOf: (p) => renderer.pixelOf(p), patch: () => pull && { vertices: [...pull.vertices], targets: [...pull.from].map((c, i) => c + pull.target[i % 3] - pull.point[i % 3]) },
    load: (text) => { $("source").value = text; return run(); }, change, openScene: (name) => openScene(scenes.find((s) => s.name === name)), openFile,
    play: () => setPlaying(true), pause: () => setPlaying(false),
  });
}

window.drape = {};
window.drape.ready = main().then(() => true, (error) => {
  stop(`This page cannot begin: ${error.message}`);
  throw error;
});
})();
