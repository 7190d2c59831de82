/* Plays an animation of cloth that stands in the page itself: no network, no library, WebGL 2.
 *
 * For scripts: window.drape = {ready, frames, vertices, objects, frame, setFrame(n), play(), pause()}; `ready` is a promise, and
 * so is what setFrame returns: kept when the frame is on the screen. Address options, for pictures that can be
 * made again: #frame=10&paused&wire&stretch&energy&dark|light&bare&view=azimuth,elevation,distance (degrees; 1 = fitted). */
"use strict";
(() => {

const $ = (id) => document.getElementById(id);
const { findEdges, findAround, layOut, wind, sub, cross, clamp, RAMP, PALETTE, OBJECT_COLOUR, FLOATS } = DrapeRenderer; // web/shared/renderer.js
const options = new URLSearchParams(location.hash.slice(1));
const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;

function stop(words) {
  $("message").className = "error";
  $("message").firstElementChild.textContent = words;
}

/* ---- The data in the page: base64 lines -> deflate -> bytes. src/io/html*.c write them. ---- */

function packedStream(id) {
  const lines = $(id).textContent.trim().split("\n");
  let next = 0;
  return new ReadableStream({
    pull(to) {
      if (next === lines.length) return to.close();
      const letters = atob(lines[next++]);
      const bytes = new Uint8Array(letters.length);
      for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i);
      to.enqueue(bytes);
    },
  }).pipeThrough(new DecompressionStream("deflate"));
}

/* Calls use(record) for every `size` bytes; the record is the same array each time. */
async function eachRecord(id, size, use) {
  const record = new Uint8Array(size);
  const reader = packedStream(id).getReader();
  let have = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    for (let from = 0; from < value.length;) {
      const part = value.subarray(from, from + size - have);
      record.set(part, have);
      from += part.length;
      have += part.length;
      if (have === size) { use(record); have = 0; }
    }
  }
  if (have) throw new Error("the data are cut off");
}

/* Seven columns of 32-bit words, each as four planes of bytes. */
async function readMesh(count) {
  const words = new Uint32Array(7 * count);
  await eachRecord("drape-mesh", 28 * count, (bytes) => {
    for (let c = 0; c < 7; c++)
      for (let i = 0; i < count; i++) {
        const at = 4 * c * count + i;
        words[c * count + i] = bytes[at] | bytes[at + count] << 8 | bytes[at + 2 * count] << 16 | bytes[at + 3 * count] << 24;
      }
  });
  const corner = new Uint32Array(3 * count);
  for (let i = 0, first = 0; i < count; i++) {
    first = (first + words[i]) | 0;
    corner[3 * i] = first;
    corner[3 * i + 1] = first + words[count + i] | 0;
    corner[3 * i + 2] = first + words[2 * count + i] | 0;
  }
  const column = (c) => new Float32Array(words.buffer, 4 * c * count, count);
  return { count, corner, du1: column(3), du2: column(4), dv1: column(5), dv2: column(6) };
}

/* Each frame as 16-bit numbers above its own lowest corner; as 32-bit ones where the cloth spreads too far for that. */
async function readFrames(n) {
  const frames = [];
  const place = new Int32Array(3 * n);
  await eachRecord("drape-motion", 12 + 6 * n, (record) => {
    const head = new DataView(record.buffer), bytes = record.subarray(12);
    const low = [Infinity, Infinity, Infinity];
    let spread = 0;
    for (let k = 0; k < 3; k++) {
      const shift = head.getInt32(4 * k, true); // all vertices together
      let d = 0, high = -Infinity;
      for (let i = 0; i < n; i++) {
        const z = bytes[k * n + i] | bytes[(3 + k) * n + i] << 8;
        d = (d + (z & 1 ? -(z >> 1) - 1 : z >> 1)) << 16 >> 16;
        const q = place[3 * i + k] += shift + d;
        if (q < low[k]) low[k] = q;
        if (q > high) high = q;
      }
      spread = Math.max(spread, high - low[k]);
    }
    const data = spread < 65536 ? new Uint16Array(3 * n) : new Int32Array(3 * n);
    for (let i = 0; i < n; i++)
      for (let k = 0; k < 3; k++) data[3 * i + k] = place[3 * i + k] - low[k];
    frames.push({ low, data });
  });
  return frames;
}

/* All bytes of a block at once. */
async function readWhole(id) {
  const parts = [], reader = packedStream(id).getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) parts.push(part.value);
  return new DataView(await new Blob(parts).arrayBuffer());
}

/* Images on the cloth, and where they lie. A corner has its own texture coordinates, a vertex of WebGL one pair: vertices on
 * seams are doubled. `source` says which vertex each double stands for; `st` has the pairs of all, `index` the corners. */
async function readImages(info, index) {
  const n = info.vertices, source = [], images = [];
  for (let i = 0; $(`drape-image-${i}`); i++) {
    const image = new Image();
    image.src = $(`drape-image-${i}`).textContent.trim();
    await image.decode().catch(() => { throw new Error("an image on the cloth cannot be read"); });
    images.push(image);
    $(`drape-image-${i}`).remove();
  }
  if (!images.length) return { images, source, index };
  const view = await readWhole("drape-uv"), split = index.slice(), st = Array(2 * n).fill(0);
  let at = 0;
  for (const p of info.pieces) {
    if (p.image === undefined) continue;
    const uv = Float32Array.from({ length: 2 * p.uv }, (_, i) => view.getFloat32(at + 4 * i, true));
    at += 8 * p.uv;
    if (!p.seams) { uv.forEach((x, i) => { st[2 * p.firstVertex + i] = x; }); continue; }
    const known = new Map(), used = new Set(); // "vertex uv" -> the double
    for (let t = p.firstTriangle; t < p.firstTriangle + p.triangles; t++)
      for (let k = 0; k < 3; k++, at += 4) {
        const vertex = info.corner[3 * t + k], number = view.getUint32(at, true), name = `${vertex} ${number}`;
        if (!known.has(name)) {
          const place = used.has(vertex) ? n + source.push(vertex) - 1 : vertex;
          used.add(vertex);
          known.set(name, place);
          st[2 * place] = uv[2 * number];
          st[2 * place + 1] = uv[2 * number + 1];
        }
        const slot = [0, 1, 2].find((s) => index[3 * t + s] === vertex); // triangles may have been turned round
        split[3 * t + slot] = known.get(name);
      }
  }
  return { images, source, st, index: split };
}

/* Of each frame kinetic, elastic, weight, and where energy went and came from since the start, J; null: not there. */
const ENERGIES = ["kinetic", "elastic", "weight", "to fabric", "from wind", "from pins", "to integrator"];
async function readEnergies() {
  if (!$("drape-energy")) return null;
  const rows = [];
  await eachRecord("drape-energy", 4 * ENERGIES.length, (record) => {
    const view = new DataView(record.buffer);
    rows.push(ENERGIES.map((_, k) => view.getFloat32(4 * k, true)));
  });
  return rows;
}

/* Meshes beside the cloth: triangles, places in the first frame, and of each frame either how the whole is moved and
 * turned, {t, q}, or all places. */
async function readObjects(list, frames) {
  if (!list) return [];
  const view = await readWhole("drape-objects");
  let at = 0;
  const word = () => { at += 4; return view.getUint32(at - 4, true); };
  const number = () => { at += 4; return view.getFloat32(at - 4, true); };
  const objects = list.map((o) => ({ ...o, corner: Uint32Array.from({ length: 3 * o.triangles }, word), motion: [], shown: true }));
  for (const o of objects) o.base = Float32Array.from({ length: 3 * o.vertices }, number);
  for (let f = 0; f < frames; f++)
    for (const o of objects) {
      if (view.getUint8(at++)) o.motion.push(Float32Array.from({ length: 3 * o.vertices }, number));
      else o.motion.push({ t: [number(), number(), number()], q: [number(), number(), number(), number()] });
    }
  for (const o of objects) {
    const first = JSON.stringify(o.motion[0]);
    o.rests = o.motion.every((m) => m.q && JSON.stringify(m) === first);
    o.middle = [0, 1, 2].map((k) => { let sum = 0; for (let i = k; i < o.base.length; i += 3) sum += o.base[i]; return sum / Math.max(o.vertices, 1); });
    o.around = findAround(o);
  }
  return objects;
}

const rotate = (q, p) => {
  const [x, y, z] = cross(q, p).map((c) => 2 * c), along = cross(q, [x, y, z]);
  return [p[0] + q[3] * x + along[0], p[1] + q[3] * y + along[1], p[2] + q[3] * z + along[2]];
};

/* Where the vertices of an object are between two frames. What is rigid turns about its middle. */
function objectAt(o, first, second, between) {
  const a = o.motion[first], b = o.motion[second], out = new Float32Array(o.base.length);
  const mix = (p, q) => p + between * (q - p);
  if (a.q && b.q) {
    const side = a.q[0] * b.q[0] + a.q[1] * b.q[1] + a.q[2] * b.q[2] + a.q[3] * b.q[3] < 0 ? -1 : 1;
    const mixed = a.q.map((c, k) => mix(c, side * b.q[k])), size = Math.hypot(...mixed) || 1, q = mixed.map((c) => c / size);
    const from = rotate(a.q, o.middle), to = rotate(b.q, o.middle), turned = rotate(q, o.middle);
    const t = [0, 1, 2].map((k) => mix(from[k] + a.t[k], to[k] + b.t[k]) - turned[k]);
    for (let i = 0; i < out.length; i += 3) {
      const p = rotate(q, [o.base[i], o.base[i + 1], o.base[i + 2]]);
      for (let k = 0; k < 3; k++) out[i + k] = t[k] + p[k];
    }
    return out;
  }
  const [x, y] = [[a, first], [b, second]].map(([m, f]) => (m.q ? objectAt(o, f, f, 0) : m));
  for (let i = 0; i < out.length; i++) out[i] = mix(x[i], y[i]);
  return out;
}

/* ---- The player ---- */

const SPEEDS = [.1, .25, .5, 1, 2, 4], HOLD = .8;                  // s at the end, before a loop begins again

async function main() {
  const gl = $("view").getContext("webgl2", { antialias: true, alpha: false });
  if (!gl) return stop("This animation needs WebGL 2, which this browser does not offer or has switched off. Any current Firefox, Chrome, Edge or Safari has it.");
  if (typeof DecompressionStream === "undefined") return stop("This browser is too old for this page: it cannot unpack the animation. Any current Firefox, Chrome, Edge or Safari can.");

  const info = JSON.parse($("drape-info").textContent);
  const n = info.vertices, q = info.quantum;
  const mesh = await readMesh(info.triangles);
  const frames = await readFrames(n);
  const objects = await readObjects(info.objects, frames.length);
  const energies = await readEnergies();
  if (!frames.length) return stop("There are no frames in this file.");
  for (const id of ["drape-mesh", "drape-motion", "drape-objects", "drape-energy"]) $(id)?.remove(); // their text is no longer needed
  const last = frames.length - 1;
  const { neighbour, edges } = findEdges(mesh.corner, n);
  const { thread, flip } = layOut(mesh, n, neighbour);
  const index = wind(mesh.corner, flip);
  const { images, source, st, index: drawIndex } = await readImages({ ...info, corner: mesh.corner }, index);
  $("drape-uv")?.remove();
  const pieces = info.pieces.map((p, i) => ({ ...p, colour: p.color ?? PALETTE[i % PALETTE.length], shown: true }));
  /* Where everything is over the whole time, relative to info.origin; some points of some frames for fitting. */
  const box = { low: [Infinity, Infinity, Infinity], high: [-Infinity, -Infinity, -Infinity] };
  const some = [];
  {
    const every = Math.max(1, Math.ceil(frames.length / 24)), skip = Math.max(1, Math.floor(n / 3000));
    frames.forEach((f, number) => {
      for (let i = 0; i < n; i++)
        for (let k = 0; k < 3; k++) {
          const x = q * (f.low[k] + f.data[3 * i + k]);
          if (x < box.low[k]) box.low[k] = x;
          if (x > box.high[k]) box.high[k] = x;
        }
      if (number % every === 0 || number === last)
        for (let i = 0; i < n; i += skip) some.push({ at: [0, 1, 2].map((k) => q * (f.low[k] + f.data[3 * i + k])), frame: number });
    });
  }
  /* Objects count too, except for floors and whatever else reaches far beyond the cloth. */
  const size = Math.hypot(...sub(box.high, box.low));
  for (const o of objects) {
    const places = o.rests ? [objectAt(o, 0, 0, 0)] : o.motion.map((_, f) => objectAt(o, f, f, 0));
    const span = [0, 1, 2].map((k) => { let low = Infinity, high = -Infinity; for (let i = k; i < o.base.length; i += 3) { low = Math.min(low, o.base[i]); high = Math.max(high, o.base[i]); } return high - low; });
    o.wide = o.triangles <= 2 || Math.hypot(...span) > 4 * size;
    o.colour = o.color ?? OBJECT_COLOUR;
    if (o.wide) continue;
    const skip = 3 * Math.max(1, Math.floor(o.vertices / 200));
    for (const x of places)
      for (let i = 0; i < x.length; i += 3) {
        for (let k = 0; k < 3; k++) {
          box.low[k] = Math.min(box.low[k], x[i + k]);
          box.high[k] = Math.max(box.high[k], x[i + k]);
        }
        if (i % skip === 0 && (x === places[0] || x === places[places.length - 1])) some.push({ at: [x[i], x[i + 1], x[i + 2]] });
      }
  }
  /* Cloth that goes farther than it is large is followed: all of its way at once would show it from afar. Not where there
   * are objects that it leaves behind. */
  const ways = { low: [Infinity, Infinity, Infinity], high: [-Infinity, -Infinity, -Infinity] };
  const extents = frames.map((f) => {
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    for (let i = 0; i < n; i++)
      for (let k = 0; k < 3; k++) {
        const x = q * (f.low[k] + f.data[3 * i + k]);
        low[k] = Math.min(low[k], x);
        high[k] = Math.max(high[k], x);
      }
    const centre = [0, 1, 2].map((k) => (low[k] + high[k]) / 2);
    centre.forEach((c, k) => { ways.low[k] = Math.min(ways.low[k], c); ways.high[k] = Math.max(ways.high[k], c); });
    return { centre, size: Math.hypot(...sub(high, low)) };
  });
  const largest = extents.reduce((most, e) => Math.max(most, e.size), 1e-6);
  const follows = objects.every((o) => o.wide) && Math.hypot(...sub(ways.high, ways.low)) > largest;
  /* How far the camera has gone along, from where it is fitted. */
  function gone(time) {
    if (!follows) return [0, 0, 0];
    const f = Math.min(Math.floor(time), last), share = time - f;
    const a = extents[f].centre, b = extents[Math.min(f + 1, last)].centre;
    return a.map((x, k) => x + share * (b[k] - x));
  }
  const middle = [0, 1, 2].map((k) => (box.low[k] + box.high[k]) / 2);
  const radius = Math.max(Math.hypot(...sub(box.high, box.low)) / 2, 1e-6);

  /* ---- state ---- */

  const state = {
    time: 0, playing: false, loop: true, speed: 1, held: 0,
    theme: options.has("dark") ? "dark" : options.has("light") ? "light" : null,
  };
  const system = matchMedia("(prefers-color-scheme: dark)");
  const theme = () => state.theme || (system.matches ? "dark" : "light");

  const renderer = DrapeRenderer.create(gl, { vertices: n, mesh, edges, index, thread, pieces, objects, images, doubles: source, st, drawIndex });
  const { look } = renderer;
  renderer.setBounds(box, largest);
  $("view").addEventListener("webglcontextlost", (e) => e.preventDefault());
  $("view").addEventListener("webglcontextrestored", () => { renderer.setUp(); for (const o of objects) o.time = -1; redraw(); });

  /* ---- frames ---- */

  const place = ({ low, data }) => (fresh) => {
    for (let i = 0, o = 0; i < n; i++, o += FLOATS)
      for (let k = 0; k < 3; k++) fresh[o + k] = q * (low[k] + data[3 * i + k]);
  };

  /* The end of the colour scale: what 98 % of the vertices stay below over time, rounded up to 1, 2 or 5. It is at least
   * 2 %, because a smaller one would show the rounding of the positions. */
  function findFull() {
    const seen = [], every = Math.max(1, Math.ceil(frames.length / 16)), skip = Math.max(1, Math.floor(n / 5000));
    for (let f = last; f >= 0; f -= every) {
      const stretch = renderer.stretchOf(place(frames[f]));
      for (let i = 0; i < n; i += skip) seen.push(stretch[i]);
    }
    const blind = 3 * q / (1.6 * radius / Math.sqrt(n)); // below this it is the rounding of the places that one sees
    const most = Math.max(.02, blind, seen.sort((a, b) => a - b)[Math.floor(.98 * (seen.length - 1))]);
    const ten = 10 ** Math.floor(Math.log10(most));
    return ten * [1, 2, 5, 10].find((x) => x * ten >= most * .999);
  }

  function loadObject(o, time) {
    const first = Math.min(Math.floor(time), last), second = Math.min(first + 1, last);
    renderer.loadObject(o, objectAt(o, first, second, time - first));
    o.time = o.rests ? Infinity : time;
  }

  function prepareObjects() {
    for (const o of objects) if (o.shown && o.time !== state.time && o.time !== Infinity) loadObject(o, state.time);
  }

  /* The two frames around the present time in the two slots; returns which slot comes first. */
  function prepare() {
    const first = Math.min(Math.floor(state.time), last), second = Math.min(first + 1, last);
    const { slots } = renderer, good = (s, f) => s.frame === f && (s.stretch || !look.stretch);
    const load = (slot, number) => renderer.load(slot, place(frames[number]), number);
    const a = good(slots[1], first) || (!good(slots[0], first) && good(slots[0], second)) ? 1 : 0;
    if (!good(slots[a], first)) load(slots[a], first);
    if (second !== first && state.time > first && !good(slots[1 - a], second)) load(slots[1 - a], second);
    return a;
  }

  function fit() {
    const points = follows ? some.filter((p) => p.frame >= 0).map((p) => sub(p.at, gone(p.frame))) : some.map((p) => p.at);
    renderer.fit(points, follows ? [0, 0, 0] : middle);
  }

  function draw() {
    const first = prepare();
    prepareObjects();
    renderer.view.along = gone(state.time);
    look.theme = theme();
    renderer.draw(first, state.time - Math.min(Math.floor(state.time), last));
    if (look.stretch) $("most").textContent = `max ${percent(renderer.slots[first].most)}`;
  }

  /* ---- time ---- */

  const percent = (x) => `${+(100 * x).toPrecision(x < .1 ? 2 : 3)} %`;
  let waiting = [], asked = false, before = 0;

  function redraw() {
    if (asked) return;
    asked = true;
    requestAnimationFrame(tick);
  }

  function advance(seconds) {
    if (state.held > 0) {
      state.held -= seconds;
      if (state.held <= 0) state.time = 0;
      return;
    }
    state.time += seconds * info.fps * state.speed;
    if (state.time < last) return;
    state.time = last;
    if (state.loop && last > 0) state.held = HOLD;
    else setPlaying(false);
  }

  function tick(now) {
    asked = false;
    // A frame's time may lie before the moment in which playing began, and a hidden page sleeps for long.
    if (state.playing) advance(Math.min(Math.max((now - before) / 1000, 0), .1));
    before = now;
    hands.coast();
    draw();
    showTime();
    showEnergies();
    const done = waiting;
    waiting = [];
    for (const kept of done) kept(true);
    if (state.playing || hands.coasting()) redraw();
  }

  const drawn = () => new Promise((kept) => { waiting.push(kept); redraw(); });

  function setPlaying(on) {
    if (on === state.playing) return;
    if (on && state.time >= last) state.time = 0;
    state.playing = on && last > 0;
    state.held = 0;
    before = performance.now();
    document.body.classList.toggle("playing", state.playing);
    $("play").setAttribute("aria-label", state.playing ? "Pause" : "Play");
    redraw();
  }

  function setTime(time) {
    state.time = clamp(time, 0, last);
    state.held = 0;
    return drawn();
  }

  function showTime() {
    const frame = Math.floor(state.time);
    const words = `${(state.time / info.fps).toFixed(2)} s`, number = `${frame}\u2009/\u2009${last}`;
    if ($("time").dataset.words === words + number) return;
    $("time").dataset.words = words + number;
    $("time").innerHTML = `<b>${words}</b><span class="frames"> \u2002${number}</span>`;
    $("scrub").value = frame;
    $("scrub").style.setProperty("--done", `${last ? 100 * state.time / last : 100}%`);
    $("scrub").setAttribute("aria-valuetext", `frame ${frame} of ${last}, ${words}`);
  }

  /* ---- energies over time ---- */

  const chart = { width: 284, height: 150, left: 40, right: 2, top: 6, bottom: 18, curves: [], now: null, outputs: [], shown: -1 };
  const across = (frame) => chart.left + (chart.width - chart.left - chart.right) * (last ? frame / last : 0);

  function svg(name, attributes, parent = $("curves"), words = "") {
    const element = document.createElementNS($("curves").namespaceURI, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.textContent = words;
    parent.append(element);
    return element;
  }

  /* 1, 2 or 5 times a power of ten, so that `range` has at most `most` of them. */
  function niceStep(range, most) {
    const power = 10 ** Math.floor(Math.log10(range / most));
    return power * [1, 2, 5, 10].find((k) => k * power * most >= range * .999);
  }

  const brief = (x) => (x === 0 ? "0" : Math.abs(x) >= 1e-3 && Math.abs(x) < 1e5 ? String(+x.toPrecision(3)) : x.toExponential(1).replace("e+", "e"));

  function drawAxes(low, high, up) {
    const step = niceStep(high - low || 1, 5), seconds = last / info.fps, tick = niceStep(seconds || 1, 5);
    for (let k = Math.ceil(low / step - 1e-6); k * step <= high + 1e-6 * step; k++) {
      svg("path", { class: k ? "grid" : "zero", d: `M${chart.left} ${up(k * step)}H${chart.width - chart.right}` });
      svg("text", { x: chart.left - 6, y: up(k * step) + 4, "text-anchor": "end" }, undefined, brief(+(k * step).toPrecision(6)));
    }
    for (let k = 0; k * tick <= seconds * 1.0001; k++) {
      const end = (k + 1) * tick > seconds * 1.0001;
      svg("text", { x: across(k * tick * info.fps), y: chart.height - 2, "text-anchor": end && k ? "end" : k ? "middle" : "start" },
        undefined, brief(+(k * tick).toPrecision(6)) + (end ? " s" : ""));
    }
  }

  /* What is zero all the time has no curve. */
  function drawCurves() {
    if (!energies) return;
    let most = 0;
    for (const row of energies) for (const e of row) most = Math.max(most, Math.abs(e));
    const kept = ENERGIES.map((_, k) => k).filter((k) => energies.some((row) => Math.abs(row[k]) > 1e-7 * most));
    let low = 0, high = 0;
    for (const row of energies) for (const k of kept) { low = Math.min(low, row[k]); high = Math.max(high, row[k]); }
    if (low === high) high = 1;
    const up = (e) => chart.top + (chart.height - chart.top - chart.bottom) * (high - e) / (high - low);
    $("curves").setAttribute("viewBox", `0 0 ${chart.width} ${chart.height}`);
    drawAxes(low, high, up);
    for (const k of kept) {
      const kind = k > 2 ? "curve taken" : "curve", item = document.createElement("li");
      const d = energies.map((row, f) => `${f ? "L" : "M"}${across(f).toFixed(2)} ${up(row[k]).toFixed(2)}`).join("");
      svg("path", { class: kind, style: `--curve: var(--c${k})`, d });
      item.className = kind;
      item.style.setProperty("--curve", `var(--c${k})`);
      item.append(document.createElement("i"), ENERGIES[k], document.createElement("output"));
      $("curve-names").append(item);
      chart.outputs.push([k, item.lastElementChild]);
    }
    chart.now = svg("path", { class: "now" });
    $("energies").hidden = false;
    $("curves").addEventListener("click", (e) => {
      const box = $("curves").getBoundingClientRect(), x = (e.clientX - box.left) / box.width * chart.width;
      setPlaying(false);
      setTime(Math.round((x - chart.left) / (chart.width - chart.left - chart.right) * last));
    });
  }

  function showEnergies() {
    if (!chart.now || $("energy").hidden) return;
    const x = across(state.time).toFixed(2), frame = Math.floor(state.time);
    chart.now.setAttribute("d", `M${x} ${chart.top}V${chart.height - chart.bottom}`);
    if (chart.shown === frame) return;
    chart.shown = frame;
    for (const [k, output] of chart.outputs) output.textContent = brief(energies[frame][k]).replace("-", "\u2212");
  }

  const hands = DrapeRenderer.control($("view"), renderer, { redraw: () => redraw(), calm, fit: () => actions.fit() });

  /* ---- buttons and keys ---- */

  const press = (id, on) => $(id).setAttribute("aria-pressed", on);
  function setStretch(on) {
    look.stretch = on;
    if (on && !look.full) look.full = findFull();
    if (on) {
      for (const slot of renderer.slots) slot.frame = -1;
      $("full").textContent = percent(look.full);
    }
    $("legend").hidden = !on;
  }
  function setTheme(name) {
    state.theme = name;
    document.documentElement.dataset.theme = theme();
  }
  const actions = {
    play: () => setPlaying(!state.playing),
    wire: () => press("wire", look.wire = !look.wire),
    stretch: () => { setStretch(!look.stretch); press("stretch", look.stretch); },
    energies: () => { if (energies) press("energies", !($("energy").hidden = !$("energy").hidden)); },
    fit: () => fit(),
    theme: () => setTheme(theme() === "dark" ? "light" : "dark"),
    loop: () => press("loop", state.loop = !state.loop),
    help: () => { $("keys").hidden = !$("keys").hidden; $("help").setAttribute("aria-expanded", !$("keys").hidden); },
    speed: (by = 1, round = true) => {
      const i = SPEEDS.indexOf(state.speed) + by;
      state.speed = SPEEDS[round ? i % SPEEDS.length : clamp(i, 0, SPEEDS.length - 1)];
      $("speed").textContent = `${state.speed}\u00d7`;
      $("speed").setAttribute("aria-label", `Speed ${state.speed} times`);
    },
  };
  for (const id of Object.keys(actions))
    $(id).addEventListener("click", (e) => {
      actions[id]();
      if (e.detail) $(id).blur(); // a mouse leaves the keys to the whole page
      redraw();
    });

  const step = (by) => { setPlaying(false); setTime(Math.floor(state.time) + by); };
  const keys = {
    " ": actions.play, k: actions.play, w: actions.wire, s: actions.stretch, e: actions.energies, f: actions.fit, d: actions.theme, l: actions.loop, "?": actions.help,
    "[": () => actions.speed(-1, false), "]": () => actions.speed(1, false),
    ArrowLeft: () => step(-1), ArrowRight: () => step(1), Home: () => setTime(0), End: () => setTime(last),
    "+": () => renderer.zoom(.9), "-": () => renderer.zoom(1 / .9), Escape: () => { if (!$("keys").hidden) actions.help(); },
  };
  addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const own = e.target.tagName === "BUTTON" ? [" "] : e.target.tagName === "INPUT" ? ["ArrowLeft", "ArrowRight", "Home", "End"] : [];
    const act = keys[e.key.length === 1 ? e.key.toLowerCase() : e.key];
    if (!act || own.includes(e.key)) return;
    e.preventDefault();
    act();
    redraw();
  });
  $("scrub").addEventListener("input", () => { setPlaying(false); setTime(+$("scrub").value); });
  addEventListener("resize", () => {
    if (!renderer.view.moved) fit();
    redraw();
  });
  system.addEventListener("change", () => { setTheme(state.theme); redraw(); });

  /* The mean color of an image. */
  function meanOf(image) {
    const paper = new OffscreenCanvas(1, 1).getContext("2d");
    paper.imageSmoothingQuality = "high";
    paper.drawImage(image, 0, 0, 1, 1);
    return `rgb(${paper.getImageData(0, 0, 1, 1).data.slice(0, 3).join(" ")})`;
  }

  function listPieces() {
    const all = [...pieces, ...objects];
    if (all.length < 2 || all.length > 24) return;
    $("pieces").hidden = false;
    for (const p of all) {
      const item = document.createElement("li"), button = document.createElement("button"), name = document.createElement("span");
      name.textContent = p.name;
      button.append(document.createElement("i"), name);
      button.style.setProperty("--swatch", p.image === undefined ? p.colour : meanOf(images[p.image]));
      button.title = "Show or hide";
      button.setAttribute("aria-pressed", "true");
      button.addEventListener("click", () => {
        button.setAttribute("aria-pressed", p.shown = !p.shown);
        redraw();
      });
      item.append(button);
      $("pieces").append(item);
    }
  }

  /* ---- begin ---- */

  const many = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
  $("facts").textContent = [many(n, "vertex").replace("vertexs", "vertices"), many(info.triangles, "triangle"),
    `${(last / info.fps).toFixed(2).replace(/\.?0+$/, "")} s at ${+info.fps.toPrecision(4)} fps`].join(" \u00b7 ");
  document.querySelector(".ramp").style.background = `linear-gradient(to right, ${RAMP.join(", ")})`;
  $("scrub").max = last;
  document.body.classList.toggle("bare", options.has("bare"));
  look.wire = options.has("wire");
  press("wire", look.wire);
  listPieces();
  setTheme(state.theme);
  drawCurves();
  if (options.has("stretch")) actions.stretch();
  if (options.has("energy") || (innerWidth >= 1000 && innerHeight >= 600)) actions.energies();
  const wanted = (options.get("view") || "").split(",").map(Number);
  if (wanted.length >= 2 && wanted.every(Number.isFinite)) [renderer.view.azimuth, renderer.view.elevation] = wanted;
  fit();
  if (wanted.length === 3 && wanted[2] > 0) renderer.zoom(wanted[2]);
  setTime(parseFloat(options.get("frame")) || 0);
  if (!calm && !options.has("paused")) setPlaying(true);

  Object.assign(window.drape, {
    frames: frames.length, vertices: n, objects: objects.length,
    setFrame: (number) => { setPlaying(false); return setTime(number); },
    play: () => setPlaying(true), pause: () => setPlaying(false),
  });
  Object.defineProperty(window.drape, "frame", { get: () => Math.floor(state.time), enumerable: true });
  await drawn();
  $("message").classList.add("gone");
}

window.drape = {};
window.drape.ready = main().then(() => true, (error) => {
  stop(`This animation cannot be shown: ${error.message}`);
  throw error;
});
})();
