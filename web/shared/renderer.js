/* renderer.js: cloth and objects in WebGL 2, without a library. The player of runs (web/player) and the page that simulates
 * (web/live) share it: the one brings frames that it unpacked, the other frames that are made while one looks.
 *
 *   const r = DrapeRenderer.create(gl, {vertices, mesh, edges, index, thread, pieces, objects, ...});
 *   r.setBounds(box, largest);  r.fit(points);
 *   r.load(r.slots[0], (fresh) => {...});      // places of all vertices, FLOATS numbers apart
 *   r.loadObject(object, places);
 *   r.draw(0, 0);                              // slot 0; towards the other slot by a share of 0 */
"use strict";
const DrapeRenderer = (() => {

const clamp = (x, low, high) => Math.min(Math.max(x, low), high);

/* Which triangles give each corner its normal: those at its vertex that meet its own at less than some 40 degrees. */
function findAround({ corner, base, vertices }) {
  const faces = Array.from({ length: vertices }, () => []), normal = faceNormals(corner, base);
  for (let c = 0; c < corner.length; c++) faces[corner[c]].push(Math.floor(c / 3));
  return Array.from(corner, (v, c) => {
    const own = unit(normal[Math.floor(c / 3)]);
    const smooth = faces[v].filter((f) => dot(unit(normal[f]), own) > .77);
    return smooth.length ? smooth : [Math.floor(c / 3)];
  });
}

function faceNormals(corner, x) {
  const p = (v) => [x[3 * v], x[3 * v + 1], x[3 * v + 2]], normals = [];
  for (let c = 0; c < corner.length; c += 3) {
    const a = p(corner[c]);
    normals.push(cross(sub(p(corner[c + 1]), a), sub(p(corner[c + 2]), a)));
  }
  return normals;
}

/* ---- The mesh: neighbours, one winding, edges for the wireframe, threads ---- */

/* neighbour[3 t + k] is the triangle across the edge from corner k to the next, or -1; edges are pairs of vertices. */
function findEdges(corner, vertices) {
  const head = new Int32Array(vertices).fill(-1);
  const next = new Int32Array(corner.length), other = new Int32Array(corner.length), owner = new Int32Array(corner.length);
  const neighbour = new Int32Array(corner.length).fill(-1);
  const edges = [];
  for (let at = 0; at < corner.length; at++) {
    const a = corner[at], b = corner[at % 3 === 2 ? at - 2 : at + 1];
    const low = Math.min(a, b), high = Math.max(a, b);
    let e = head[low];
    while (e >= 0 && other[e] !== high) e = next[e];
    if (e < 0) {
      e = edges.length / 2;
      edges.push(low, high);
      other[e] = high;
      owner[e] = at;
      next[e] = head[low];
      head[low] = e;
    } else if (neighbour[owner[e]] < 0) {
      neighbour[owner[e]] = Math.floor(at / 3);
      neighbour[at] = Math.floor(owner[e] / 3);
    }
  }
  return { neighbour, edges: new Uint32Array(edges) };
}

/* Walks from triangle to triangle, and gives every connected part one winding (flip[t] = 1: turn it round). It also lays
 * the part's threads out as u, v of every vertex, from the triangles' own du, dv. The third number says how far to show them: 0 where
 * they do not fit together, at seams. */
function layOut(mesh, vertices, neighbour) {
  const { corner, count } = mesh;
  const thread = new Float32Array(3 * vertices);
  const known = new Uint8Array(vertices), seen = new Uint8Array(count), flip = new Uint8Array(count);
  const queue = new Int32Array(count);

  function lay(t) {
    const [a, b, c, d] = [mesh.du1[t], mesh.du2[t], mesh.dv1[t], mesh.dv2[t]];
    const det = a * d - b * c;
    if (!det) return;
    const e = [0, 0, d / det, -b / det, -c / det, a / det]; // corners from the first one, in the material
    const size = Math.abs(e[2]) + Math.abs(e[3]) + Math.abs(e[4]) + Math.abs(e[5]);
    let k = 0;
    while (k < 2 && !known[corner[3 * t + k]]) k++;
    const root = corner[3 * t + k];
    if (!known[root]) k = 0;
    const from = known[root] ? 3 * root : -1;
    const u0 = (from < 0 ? 0 : thread[from]) - e[2 * k], v0 = (from < 0 ? 0 : thread[from + 1]) - e[2 * k + 1];
    for (let i = 0; i < 3; i++) {
      const v = corner[3 * t + i], u = u0 + e[2 * i], w = v0 + e[2 * i + 1];
      if (!known[v]) {
        known[v] = 1;
        thread.set([u, w, 1], 3 * v);
      } else if (Math.abs(thread[3 * v] - u) + Math.abs(thread[3 * v + 1] - w) > .02 * size) {
        thread[3 * v + 2] = 0;
      }
    }
  }

  for (let start = 0; start < count; start++) {
    if (seen[start]) continue;
    let from = 0, to = 0;
    queue[to++] = start;
    seen[start] = 1;
    while (from < to) {
      const t = queue[from++];
      lay(t);
      for (let k = 0; k < 3; k++) {
        const other = neighbour[3 * t + k];
        if (other < 0 || seen[other]) continue;
        const a = corner[3 * t + k], b = corner[3 * t + (k + 1) % 3];
        let same = 0; // the neighbour goes along the edge in the same direction: its winding is the other one
        for (let i = 0; i < 3; i++) if (corner[3 * other + i] === a && corner[3 * other + (i + 1) % 3] === b) same = 1;
        flip[other] = flip[t] ^ same;
        seen[other] = 1;
        queue[to++] = other;
      }
    }
  }
  return { thread, flip };
}

function wind(corner, flip) {
  const index = corner.slice();
  for (let t = 0; t < flip.length; t++)
    if (flip[t]) { index[3 * t + 1] = corner[3 * t + 2]; index[3 * t + 2] = corner[3 * t + 1]; }
  return index;
}

/* ---- Small algebra; matrices column by column ---- */

const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = (a) => { const l = Math.hypot(...a) || 1; return a.map((x) => x / l); };

function multiply(a, b) {
  const c = new Float32Array(16);
  for (let i = 0; i < 4; i++)
    for (let j = 0; j < 4; j++)
      for (let k = 0; k < 4; k++) c[4 * j + i] += a[4 * k + i] * b[4 * j + k];
  return c;
}

function lookAlong(eye, right, up, back) {
  return [right[0], up[0], back[0], 0, right[1], up[1], back[1], 0, right[2], up[2], back[2], 0,
    -dot(right, eye), -dot(up, eye), -dot(back, eye), 1];
}

/* ---- Shaders ---- */

const COMMON = `#version 300 es
precision highp float;
precision highp sampler2DShadow;
const float PI = 3.14159265;
float grain(vec2 p) { return fract(52.9829189 * fract(dot(p, vec2(.06711056, .00583715)))); }
vec3 shown(vec3 c) { // soft shoulder, then sRGB, then a little noise against bands
  c = mix(c, 1. - exp(-(c - .6) / .4 * .999) * .4, step(.6, c));
  c = mix(12.92 * c, 1.055 * pow(max(c, 1e-5), vec3(1. / 2.4)) - .055, step(.0031308, c));
  return c + (grain(gl_FragCoord.xy) - .5) / 255.;
}`.replace("gl_FragCoord.xy", "PIXEL");
const FRAGMENT = COMMON.replace("PIXEL", "gl_FragCoord.xy");
const VERTEX = COMMON.replace("PIXEL", "vec2(0)");

const MOVING = `
layout(location = 0) in vec3 x0; layout(location = 1) in vec3 n0; layout(location = 2) in float s0;
layout(location = 3) in vec3 x1; layout(location = 4) in vec3 n1; layout(location = 5) in float s1;
layout(location = 6) in vec3 thread; layout(location = 7) in vec2 st;
uniform mat4 project; uniform float between;`;

const SHADE = `
uniform sampler2DShadow depth; uniform mat4 light; uniform vec3 key; uniform float radius;
float lit(vec3 x, float blur, float bias, int taps) {
  vec3 p = (light * vec4(x, 1)).xyz * .5 + .5;
  p.z = min(p.z - bias, .9999);
  float turn = 2. * PI * grain(gl_FragCoord.xy), sum = 0.;
  for (int i = 0; i < taps; i++) {
    float r = sqrt((float(i) + .5) / float(taps)), a = float(i) * 2.39996 + turn;
    sum += texture(depth, p + vec3(blur * r * vec2(cos(a), sin(a)), 0));
  }
  return sum / float(taps);
}`;

const SHADERS = {
  depth: [VERTEX + MOVING + `
void main() { gl_Position = project * vec4(mix(x0, x1, between), 1); }`, FRAGMENT + `
void main() {}`],

  wire: [VERTEX + MOVING + `
void main() { gl_Position = project * vec4(mix(x0, x1, between), 1); gl_Position.z -= 1e-4 * gl_Position.w; }`, FRAGMENT + `
uniform vec4 ink; out vec4 colour;
void main() { colour = ink; }`],

  back: [VERTEX + `
out vec2 at;
void main() { at = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4. - 1.; gl_Position = vec4(at, 1, 1); }`, FRAGMENT + `
in vec2 at; out vec4 colour; uniform vec3 high, low, glow; uniform float aspect;
void main() {
  vec2 p = at * vec2(max(aspect, 1.), max(1. / aspect, 1.)) - vec2(0, .12);
  vec3 c = mix(low, high, smoothstep(-1.1, .9, at.y));
  colour = vec4(shown(mix(c, glow, exp(-dot(p, p) * 1.1) * .75)), 1);
}`],

  mask: [VERTEX + MOVING + `
void main() { gl_Position = project * vec4(mix(x0, x1, between), 1); }`, FRAGMENT + `
out vec4 colour;
void main() { colour = vec4(1); }`],

  blur: [VERTEX + `
void main() { gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4. - 1., 0, 1); }`, FRAGMENT + `
uniform sampler2D mask; uniform vec2 along; out vec4 colour;
void main() {
  vec2 at = gl_FragCoord.xy / vec2(textureSize(mask, 0));
  float sum = 0., all = 0.;
  for (int i = -12; i <= 12; i++) {
    float w = exp(-float(i * i) / 60.);
    sum += w * texture(mask, at + along * float(i)).r;
    all += w;
  }
  colour = vec4(sum / all);
}`],

  ground: [VERTEX + `
uniform mat4 project; uniform vec3 middle; uniform float size; out vec3 at;
void main() {
  at = middle + vec3(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2. - 1., 0) * size;
  gl_Position = project * vec4(at, 1);
}`, FRAGMENT + `
in vec3 at; out vec4 colour; uniform sampler2D mask; uniform mat4 light; uniform vec3 middle; uniform float size, strength;
void main() {
  float away = length(at.xy - middle.xy) / size;
  float dark = texture(mask, (light * vec4(at, 1)).xy * .5 + .5).r;
  float alpha = strength * (.85 * dark + .15 * exp(-away * away * 14.)) * smoothstep(1., .3, away);
  colour = vec4(0, 0, .01, alpha + (grain(gl_FragCoord.xy) - .5) / 255.);
}`],

  cloth: [VERTEX + MOVING + `
out vec3 at, normal, threads; out float stretched; out vec2 place;
void main() {
  at = mix(x0, x1, between);
  normal = mix(n0, n1, between);
  threads = thread;
  place = st;
  stretched = mix(s0, s1, between);
  gl_Position = project * vec4(at, 1);
}`, FRAGMENT + SHADE + `
in vec3 at, normal, threads; in float stretched; in vec2 place; out vec4 colour;
uniform vec3 eye, front, keyLight, fillLight, sky, earth; uniform float spacing, full, fade; uniform bool byStretch, pictured;
uniform sampler2D picture;

float hash(vec2 p) { p = fract(p * vec2(.1031, .1030)); p += dot(p, p.yx + 33.33); return fract((p.x + p.y) * p.x); }
float noise(vec2 p) {
  vec2 i = floor(p), f = fract(p); f *= f * (3. - 2. * f);
  return mix(mix(hash(i), hash(i + vec2(1, 0)), f.x), mix(hash(i + vec2(0, 1)), hash(i + vec2(1, 1)), f.x), f.y);
}
/* Plain weave: x is the brightness of the threads, uneven as linen is; yz their slope where one is close enough. */
vec3 weave(vec2 t, float show) {
  float wide = max(length(dFdx(t)), length(dFdy(t)));
  float far = show * (1. - smoothstep(.45, 1.1, wide)), near = show * (1. - smoothstep(.12, .4, wide));
  float uneven = noise(vec2(t.x, t.y * .035)) + noise(vec2(t.x * .035, t.y) + 71.) - 1.;
  vec2 c = fract(t) - .5;
  bool warp = mod(floor(t.x) + floor(t.y), 2.) < 1.;
  vec2 over = warp ? c : c.yx;                       // across the upper thread, along it
  float height = cos(PI * over.x) * (.55 + .45 * cos(PI * over.y));
  vec2 slope = vec2(sin(PI * over.x), .5 * sin(PI * over.y));
  return vec3(.18 * far * uneven + .34 * near * (height - .5), near * .5 * (warp ? slope : slope.yx));
}
vec3 ramp(float s) { // as the legend shows it
  const vec3 c0 = vec3(.62, .71, .78), c1 = vec3(.19, .55, .60), c2 = vec3(.93, .78, .36), c3 = vec3(.88, .40, .22), c4 = vec3(.55, .07, .20);
  s = clamp(s, 0., 1.) * 4.;
  vec3 c = mix(mix(mix(mix(c0, c1, clamp(s, 0., 1.)), c2, clamp(s - 1., 0., 1.)), c3, clamp(s - 2., 0., 1.)), c4, clamp(s - 3., 0., 1.));
  return pow(c, vec3(2.2));
}
void main() {
  vec3 n = normalize(normal), v = normalize(eye - at);
  float side = gl_FrontFacing ? 1. : -1.;
  n *= side;
  vec3 fibre = front;
  if (pictured) fibre *= texture(picture, place).rgb;
  if (!gl_FrontFacing) { // paler and a little greyer, as where the dye did not go through
    vec3 pale = min(mix(fibre, vec3(dot(fibre, vec3(.3, .59, .11))), .2) * .9 + .075, 1.);
    fibre = mix(fibre, pale, fade);
  }
  vec3 w = weave(threads.xy / spacing, byStretch ? 0. : threads.z);
  if (byStretch) fibre = ramp(stretched / full);
  vec3 tu = dFdx(at) * dFdy(threads.y) - dFdy(at) * dFdx(threads.y); // along u, up to length
  vec3 tv = dFdy(at) * dFdx(threads.x) - dFdx(at) * dFdy(threads.x);
  float area = dFdx(threads.x) * dFdy(threads.y) - dFdy(threads.x) * dFdx(threads.y);
  if (w.y != 0. || w.z != 0.) n = normalize(n + (w.y * normalize(tu) + w.z * normalize(tv)) * sign(area) * .45);
  fibre *= 1. + w.x;

  float facing = dot(n, key), view = max(dot(n, v), 0.);
  float sun = lit(at + n * radius * .014, .004, .0028, 20);
  float direct = clamp((facing + .12) / 1.12, 0., 1.) * mix(.08, 1., sun);
  float through = max(-facing, 0.) * .3;             // light that comes through the cloth
  float fill = clamp(dot(n, normalize(vec3(-key.xy, .3))) * .5 + .5, 0., 1.);
  vec3 around = mix(earth, sky, smoothstep(-1., 1., n.z));
  vec3 arriving = keyLight * (direct + through * fibre) + fillLight * fill * fill + around;
  if (byStretch) arriving = vec3(.5 + .5 * dot(arriving, vec3(.3, .59, .11)));
  vec3 c = fibre * arriving;
  float fuzz = pow(1. - view, 4.);                   // fibres that stand up, seen at grazing angles
  c += (fibre * .8 + .05) * (around * 1.4 + keyLight * sun * .35) * fuzz * (byStretch ? .25 : .8);
  c += keyLight * sun * .03 * pow(max(dot(n, normalize(key + v)), 0.), 12.) * step(0., facing) * (byStretch ? 0. : 1.);
  colour = vec4(shown(c), 1);
}`],
};

const RAMP = ["#9eb5c7", "#308c99", "#edc75c", "#e06638", "#8c1233"];
const OBJECT_COLOUR = "#8f9196";
const PALETTE = ["#b94a32", "#3c6a95", "#d8a13c", "#5c8f70", "#865885", "#3b8f90", "#b8678a", "#77803f"];

const THEMES = {
  light: { high: "#f3f1ee", low: "#d9d4cd", glow: "#fbfaf9", keyLight: [1.12, 1.06, .98], fillLight: [.42, .44, .48],
    sky: [.32, .33, .35], earth: [.25, .22, .20], strength: .25, ink: [.08, .09, .13] },
  dark: { high: "#1d2026", low: "#0e0f12", glow: "#2e323b", keyLight: [1.14, 1.06, .96], fillLight: [.24, .28, .36],
    sky: [.15, .165, .20], earth: [.08, .075, .075], strength: .6, ink: [.97, .95, .92] },
};

const linear = (hex) => [1, 3, 5].map((i) => {
  const c = parseInt(hex.slice(i, i + 2), 16) / 255;
  return c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4;
});
/* ---- The renderer ---- */

const compiled = new WeakMap(); // programs of a canvas: compiling takes a while
const CHEAP = 8; // with look.cheap shadows follow in every so many pictures only, and look.sharpness limits pixels per point
const DEPTH_SIZE = 2048, MASK_SIZE = 512, FIELD = 28 * Math.PI / 180, FLOATS = 7; // per vertex: place, normal, stretch

/* model:
 *
 * - vertices, a count; mesh with `corner` and `du1, du2, dv1, dv2` of its `count` triangles;
 * - edges and index of findEdges and wind; thread of layOut;
 * - pieces {firstVertex, vertices, firstTriangle, triangles, colour, shown};
 * - objects {corner, around, colour, shown, wide}.
 *
 * For images also images, st, drawIndex, and `doubles`, the vertices that are there once more, at seams.
 * view.free: how many pixels above and below bars cover; view.side: the share of the width that something covers on the right. */
function create(gl, model) {
  const n = model.vertices, { mesh, edges, index, thread, pieces, objects, images = [], doubles: source = [], st = [], drawIndex = index } = model;
  const look = { wire: false, stretch: false, full: 0, theme: "light", sharpness: 2.5, cheap: false };
  const view = { azimuth: -58, elevation: 24, distance: 1, target: [0, 0, 0], fitted: 1, moved: false, along: [0, 0, 0], free: 190, side: 0 };
  const fresh = new Float32Array(FLOATS * (n + source.length)), weight = new Float32Array(n);
  let middle = [0, 0, 0], radius = 1, ground = 0, largest = 1, light, wideLight;
  for (const p of pieces) p.edges = edgeRange(p);

  /* Edges were found triangle by triangle, and pieces share no vertices: a piece's edges are one run. */
  function edgeRange(p) {
    const inside = (e) => edges[2 * e] >= p.firstVertex && edges[2 * e] < p.firstVertex + p.vertices;
    let from = 0;
    while (from < edges.length / 2 && !inside(from)) from++;
    let to = from;
    while (to < edges.length / 2 && inside(to)) to++;
    return [from, to];
  }

  /* ---- WebGL ---- */

  let owned = []; // what dispose() deletes
  function own(how, thing) {
    owned.push([how, thing]);
    return thing;
  }

  function program([vertex, fragment]) {
    const p = gl.createProgram();
    for (const [type, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const s = gl.createShader(type);
      gl.shaderSource(s, text);
      gl.compileShader(s);
      if (!gl.getShaderParameter(s, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(s));
      gl.attachShader(p, s);
    }
    gl.linkProgram(p);
    if (!gl.getProgramParameter(p, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(p));
    const at = {};
    for (let i = 0; i < gl.getProgramParameter(p, gl.ACTIVE_UNIFORMS); i++) {
      const { name } = gl.getActiveUniform(p, i);
      at[name] = gl.getUniformLocation(p, name);
    }
    return { use: () => gl.useProgram(p), at };
  }

  function buffer(target, data, usage = gl.STATIC_DRAW) {
    const b = own("deleteBuffer", gl.createBuffer());
    gl.bindBuffer(target, b);
    gl.bufferData(target, data, usage);
    return b;
  }

  function texture(format, size) {
    const t = own("deleteTexture", gl.createTexture());
    gl.bindTexture(gl.TEXTURE_2D, t);
    gl.texStorage2D(gl.TEXTURE_2D, 1, format, size, size);
    for (const name of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, name, gl.LINEAR);
    for (const name of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, name, gl.CLAMP_TO_EDGE);
    return t;
  }

  function target(attachment, t) {
    const f = own("deleteFramebuffer", gl.createFramebuffer());
    gl.bindFramebuffer(gl.FRAMEBUFFER, f);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, attachment, gl.TEXTURE_2D, t, 0);
    return f;
  }

  /* Numbers of all vertices, so many each, with those of the doubles after them. */
  function withDoubles(values, each) {
    const all = new Float32Array(each * (n + source.length));
    all.set(values);
    source.forEach((v, i) => all.copyWithin(each * (n + i), each * v, each * (v + 1)));
    return all;
  }

  /* From sRGB to light as it is sampled. */
  function pictureOf(image) {
    const t = own("deleteTexture", gl.createTexture());
    gl.bindTexture(gl.TEXTURE_2D, t);
    gl.pixelStorei(gl.UNPACK_FLIP_Y_WEBGL, true); // v counts from the bottom
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.SRGB8_ALPHA8, gl.RGBA, gl.UNSIGNED_BYTE, image);
    gl.pixelStorei(gl.UNPACK_FLIP_Y_WEBGL, false);
    gl.generateMipmap(gl.TEXTURE_2D);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR_MIPMAP_LINEAR);
    const sharp = gl.getExtension("EXT_texture_filter_anisotropic"); // cloth is often seen at a slant
    if (sharp) gl.texParameteri(gl.TEXTURE_2D, sharp.TEXTURE_MAX_ANISOTROPY_EXT, 8);
    return t;
  }

  let programs, slots, arrays, depth, depthFrame, masks, pictures;
  /* recompile: also what renderers of the same canvas share, as after a context was lost. */
  function setUp(recompile = true) {
    owned = [];
    gl.bindVertexArray(null);
    if (recompile || !compiled.has(gl)) compiled.set(gl, Object.fromEntries(Object.entries(SHADERS).map(([name, text]) => [name, program(text)])));
    programs = compiled.get(gl);
    const triangles = buffer(gl.ELEMENT_ARRAY_BUFFER, drawIndex), lines = buffer(gl.ELEMENT_ARRAY_BUFFER, edges);
    const threads = buffer(gl.ARRAY_BUFFER, withDoubles(thread, 3)), places = images.length ? buffer(gl.ARRAY_BUFFER, new Float32Array(st)) : null;
    slots = [0, 1].map(() => ({ frame: -1, stretch: false, buffer: buffer(gl.ARRAY_BUFFER, 4 * fresh.length, gl.DYNAMIC_DRAW) }));
    arrays = [0, 1].map((first) => [triangles, lines].map((elements) => {
      const a = own("deleteVertexArray", gl.createVertexArray());
      gl.bindVertexArray(a);
      [slots[first], slots[1 - first]].forEach((slot, side) => {
        gl.bindBuffer(gl.ARRAY_BUFFER, slot.buffer);
        [[3, 0], [3, 12], [1, 24]].forEach(([size, offset], k) => {
          gl.enableVertexAttribArray(3 * side + k);
          gl.vertexAttribPointer(3 * side + k, size, gl.FLOAT, false, 4 * FLOATS, offset);
        });
      });
      gl.bindBuffer(gl.ARRAY_BUFFER, threads);
      gl.enableVertexAttribArray(6);
      gl.vertexAttribPointer(6, 3, gl.FLOAT, false, 0, 0);
      if (places) {
        gl.bindBuffer(gl.ARRAY_BUFFER, places);
        gl.enableVertexAttribArray(7);
        gl.vertexAttribPointer(7, 2, gl.FLOAT, false, 0, 0);
      }
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, elements);
      return a;
    }));
    for (const o of objects) {
      o.buffer = buffer(gl.ARRAY_BUFFER, 24 * o.corner.length, gl.DYNAMIC_DRAW);
      o.time = -1;
      o.array = own("deleteVertexArray", gl.createVertexArray());
      gl.bindVertexArray(o.array);
      [0, 1].forEach((k) => {
        gl.enableVertexAttribArray(k);
        gl.vertexAttribPointer(k, 3, gl.FLOAT, false, 24, 12 * k);
      });
    }
    gl.bindVertexArray(null);
    depth = texture(gl.DEPTH_COMPONENT24, DEPTH_SIZE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_COMPARE_FUNC, gl.LEQUAL);
    depthFrame = target(gl.DEPTH_ATTACHMENT, depth);
    gl.drawBuffers([gl.NONE]);
    masks = [0, 1].map(() => {
      const t = texture(gl.R8, MASK_SIZE);
      return { texture: t, frame: target(gl.COLOR_ATTACHMENT0, t) };
    });
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    pictures = images.map(pictureOf);
  }
  setUp(false);
  /* For another one on the same canvas. */
  function dispose() {
    for (const [how, thing] of owned) gl[how](thing);
    owned = [];
  }

  /* ---- frames: places, normals, stretch of the vertices ---- */

  const valence = new Int32Array(n);
  for (const v of edges) valence[v]++;
  /* In a grid of alternating diagonals vertices have four edges or eight, in one of diagonals one way six. */
  const alternates = valence.filter((v) => v === 8).length > .3 * n;
  /* Sums of the triangles' normals, by area; the shader makes them one long after mixing, so lengths are evened here. */
  function addNormals() {
    for (let t = 0; t < index.length; t += 3) {
      const a = FLOATS * index[t], b = FLOATS * index[t + 1], c = FLOATS * index[t + 2];
      const x = fresh[b] - fresh[a], y = fresh[b + 1] - fresh[a + 1], z = fresh[b + 2] - fresh[a + 2];
      const u = fresh[c] - fresh[a], v = fresh[c + 1] - fresh[a + 1], w = fresh[c + 2] - fresh[a + 2];
      const nx = y * w - z * v, ny = z * u - x * w, nz = x * v - y * u;
      fresh[a + 3] += nx; fresh[a + 4] += ny; fresh[a + 5] += nz;
      fresh[b + 3] += nx; fresh[b + 4] += ny; fresh[b + 5] += nz;
      fresh[c + 3] += nx; fresh[c + 4] += ny; fresh[c + 5] += nz;
    }
    evenNormals();
    for (let round = 0; alternates && round < 2; round++) mixNormals();
  }
  function evenNormals() {
    for (let o = 3; o < FLOATS * n; o += FLOATS) {
      const l = Math.sqrt(fresh[o] ** 2 + fresh[o + 1] ** 2 + fresh[o + 2] ** 2) || 1;
      fresh[o] /= l; fresh[o + 1] /= l; fresh[o + 2] /= l;
    }
  }
  /* Alternating diagonals all end at every other vertex of a grid, so that what differs between these and the others
   * would show as a checkerboard. Each normal is mixed with those of its neighbours, half and half. */
  const mixed = alternates ? new Float32Array(3 * n) : null;
  function mixNormals() {
    mixed.fill(0);
    for (let e = 0; e < edges.length; e += 2)
      for (let k = 0; k < 3; k++) {
        mixed[3 * edges[e] + k] += fresh[FLOATS * edges[e + 1] + 3 + k];
        mixed[3 * edges[e + 1] + k] += fresh[FLOATS * edges[e] + 3 + k];
      }
    for (let i = 0; i < n; i++)
      for (let k = 0; k < 3; k++) fresh[FLOATS * i + 3 + k] += mixed[3 * i + k] / (valence[i] || 1);
    evenNormals();
  }

  /* Of a triangle max(|w_u|, |w_v|) - 1; of a vertex the mean of its triangles. Returns the largest of the triangles. */
  function addStretch() {
    const { corner, du1, du2, dv1, dv2 } = mesh;
    let most = 0;
    weight.fill(0);
    for (let t = 0; t < mesh.count; t++) {
      const a = FLOATS * corner[3 * t], b = FLOATS * corner[3 * t + 1], c = FLOATS * corner[3 * t + 2];
      let u = 0, v = 0;
      for (let k = 0; k < 3; k++) {
        const p = fresh[b + k] - fresh[a + k], r = fresh[c + k] - fresh[a + k];
        const wu = du1[t] * p + du2[t] * r, wv = dv1[t] * p + dv2[t] * r;
        u += wu * wu;
        v += wv * wv;
      }
      const s = Math.sqrt(Math.max(u, v)) - 1;
      if (s > most) most = s;
      for (const o of [a, b, c]) { fresh[o + 6] += s; weight[o / FLOATS]++; }
    }
    for (let i = 0; i < n; i++) fresh[FLOATS * i + 6] /= weight[i] || 1;
    return most;
  }

  /* write(fresh) puts the places there, those of vertex i at FLOATS i. number: what the caller knows the frame by. */
  function load(slot, write, number = 0) {
    clear();
    write(fresh);
    addNormals();
    slot.most = look.stretch ? addStretch() : 0;
    slot.stretch = look.stretch;
    slot.frame = number;
    source.forEach((v, i) => fresh.copyWithin(FLOATS * (n + i), FLOATS * v, FLOATS * (v + 1)));
    gl.bindBuffer(gl.ARRAY_BUFFER, slot.buffer);
    gl.bufferSubData(gl.ARRAY_BUFFER, 0, fresh);
  }
  function clear() {
    for (let o = 0; o < FLOATS * n; o += FLOATS) fresh[o + 3] = fresh[o + 4] = fresh[o + 5] = fresh[o + 6] = 0;
  }

  /* The stretch of every vertex in a frame that is not shown. */
  function stretchOf(write) {
    clear();
    write(fresh);
    addStretch();
    return Float32Array.from({ length: n }, (_, i) => fresh[FLOATS * i + 6]);
  }

  /* Every corner with a normal of its own, so that edges stay sharp. */
  function loadObject(o, x) {
    const face = faceNormals(o.corner, x), data = new Float32Array(6 * o.corner.length);
    for (let c = 0; c < o.corner.length; c++) {
      const v = 3 * o.corner[c], normal = [0, 0, 0];
      for (const f of o.around[c]) for (let k = 0; k < 3; k++) normal[k] += face[f][k];
      data.set([x[v], x[v + 1], x[v + 2], ...unit(normal)], 6 * c);
    }
    gl.bindBuffer(gl.ARRAY_BUFFER, o.buffer);
    gl.bufferSubData(gl.ARRAY_BUFFER, 0, data);
  }

  /* ---- camera and light ---- */

  function axes(azimuth = view.azimuth, elevation = view.elevation) {
    const a = azimuth * Math.PI / 180, e = elevation * Math.PI / 180;
    return {
      back: [Math.cos(e) * Math.cos(a), Math.cos(e) * Math.sin(a), Math.sin(e)],
      right: [-Math.sin(a), Math.cos(a), 0],
      up: [-Math.sin(e) * Math.cos(a), -Math.sin(e) * Math.sin(a), Math.cos(e)],
    };
  }

  const shape = () => {
    const width = gl.canvas.clientWidth || innerWidth, height = gl.canvas.clientHeight || innerHeight;
    return { width, height, aspect: width / height };
  };

  /* Turns target and distance so that the points, of which there is one at least, just fit between the bars. centre: where to
   * look at first. */
  function fit(points, centre = middle) {
    const { right, up, back } = axes(), { height, aspect } = shape();
    const free = Math.max(.5, (height - view.free) / height), wide = aspect * .8 * (1 - view.side), tan = Math.tan(FIELD / 2);
    let target = centre.slice(), distance = radius;
    for (let round = 0; round < 6; round++) {
      let l = 0, r = 0, d = 0, u = 0, least = 1e-3 * radius;
      for (const p of points) {
        const v = sub(p, target), z = dot(v, back);
        const x = dot(v, right) / (tan * wide), y = dot(v, up) / (tan * free * .94);
        l = Math.max(l, -x + z); r = Math.max(r, x + z);
        d = Math.max(d, -y + z); u = Math.max(u, y + z);
        least = Math.max(least, z * 1.05);
      }
      const sx = (r - l) / 2 * tan * wide, sy = (u - d) / 2 * tan * free * .94;
      target = target.map((t, k) => t + sx * right[k] + sy * up[k]);
      distance = Math.max((l + r) / 2, (u + d) / 2, least);
    }
    view.target = target;
    view.fitted = distance;
    view.distance = 1;
    view.moved = false;
  }

  function camera() {
    const { right, up, back } = axes(), { aspect } = shape();
    const far = view.distance * view.fitted;
    const eye = view.target.map((t, k) => t + view.along[k] + far * back[k]);
    const away = Math.hypot(...sub(eye, middle)), reach = away + 12 * radius, near = Math.max(away - 4 * radius, reach * 1e-3, far * 1e-2);
    const f = 1 / Math.tan(FIELD / 2);
    const lens = [f / aspect, 0, 0, 0, 0, f, 0, 0, view.side, 0, (reach + near) / (near - reach), -1, 0, 0, 2 * reach * near / (near - reach), 0];
    return { eye, project: multiply(lens, lookAlong(eye, right, up, back)) };
  }

  /* From behind the camera's left shoulder: what stands upright and what lies flat are both lit from the first view. */
  const key = unit([-.5, -.72, .98]);
  function lightOf(reach) {
    const right = unit(cross([0, 0, 1], key)), up = cross(key, right), s = 1 / reach;
    return multiply([s, 0, 0, 0, 0, s, 0, 0, 0, 0, -s, 0, 0, 0, 0, 1], lookAlong(middle, right, up, key));
  }
  /* box: {low, high} of all that is to be lit and to have a shadow. size: of the cloth, for the width of its threads. */
  function setBounds(box, size) {
    middle = [0, 1, 2].map((k) => (box.low[k] + box.high[k]) / 2);
    radius = Math.max(Math.hypot(...sub(box.high, box.low)) / 2, 1e-6);
    ground = box.low[2] - .22 * radius;
    largest = size;
    light = lightOf(1.03 * radius);
    wideLight = lightOf(1.5 * radius);
  }
  /* ---- drawing ---- */

  function drawPieces(first, lines, each) {
    gl.bindVertexArray(arrays[first][lines ? 1 : 0]);
    for (const p of pieces) {
      if (!p.shown) continue;
      if (each) each(p);
      if (lines) gl.drawElements(gl.LINES, 2 * (p.edges[1] - p.edges[0]), gl.UNSIGNED_INT, 8 * p.edges[0]);
      else gl.drawElements(gl.TRIANGLES, 3 * p.triangles, gl.UNSIGNED_INT, 12 * p.firstTriangle);
    }
  }

  /* Objects are in their places already: the second place and the threads are constants that do not count. */
  function drawObjects(at, wide, each) {
    if (!objects.length) return;
    gl.uniform1f(at.between, 0);
    for (const o of objects) {
      if (!o.shown || (o.wide && !wide)) continue;
      if (each) each(o);
      gl.bindVertexArray(o.array);
      gl.drawArrays(gl.TRIANGLES, 0, o.corner.length);
    }
  }

  function drawDepth(first, between) {
    gl.bindFramebuffer(gl.FRAMEBUFFER, depthFrame);
    gl.viewport(0, 0, DEPTH_SIZE, DEPTH_SIZE);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.polygonOffset(1.5, 2);
    programs.depth.use();
    gl.uniformMatrix4fv(programs.depth.at.project, false, light);
    gl.uniform1f(programs.depth.at.between, between);
    drawPieces(first, false);
    drawObjects(programs.depth.at, false);
    gl.disable(gl.POLYGON_OFFSET_FILL);
  }

  /* What the cloth hides from the light, as a picture from the light, made soft: the shadow on the ground. */
  function drawMask(first, between) {
    gl.disable(gl.DEPTH_TEST);
    gl.viewport(0, 0, MASK_SIZE, MASK_SIZE);
    gl.bindFramebuffer(gl.FRAMEBUFFER, masks[0].frame);
    gl.clearColor(0, 0, 0, 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
    programs.mask.use();
    gl.uniformMatrix4fv(programs.mask.at.project, false, wideLight);
    gl.uniform1f(programs.mask.at.between, between);
    drawPieces(first, false);
    drawObjects(programs.mask.at, false);
    gl.bindVertexArray(null);
    programs.blur.use();
    gl.uniform1i(programs.blur.at.mask, 0);
    for (const [from, along] of [[0, [1, 0]], [1, [0, 1]], [0, [1.6, 0]], [1, [0, 1.6]]]) {
      gl.bindFramebuffer(gl.FRAMEBUFFER, masks[1 - from].frame);
      gl.bindTexture(gl.TEXTURE_2D, masks[from].texture);
      gl.uniform2f(programs.blur.at.along, along[0] / MASK_SIZE, along[1] / MASK_SIZE);
      gl.drawArrays(gl.TRIANGLES, 0, 3);
    }
  }

  function setShade(at) {
    gl.uniformMatrix4fv(at.light, false, light);
    gl.uniform3fv(at.key, key);
    gl.uniform1f(at.radius, radius);
    gl.uniform1i(at.depth, 0);
  }

  function drawGround(seen, tone) {
    const { use, at } = programs.ground;
    const above = clamp((seen.eye[2] - ground) / (.5 * radius), 0, 1);
    if (above === 0) return;
    use();
    gl.bindTexture(gl.TEXTURE_2D, masks[0].texture);
    gl.uniform1i(at.mask, 0);
    gl.uniformMatrix4fv(at.light, false, wideLight);
    gl.uniformMatrix4fv(at.project, false, seen.project);
    gl.uniform3f(at.middle, middle[0] - key[0] / key[2] * (middle[2] - ground), middle[1] - key[1] / key[2] * (middle[2] - ground), ground);
    gl.uniform1f(at.size, 3.2 * radius);
    gl.uniform1f(at.strength, tone.strength * above);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    gl.depthMask(false);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    gl.depthMask(true);
    gl.disable(gl.BLEND);
  }

  function drawCloth(first, between, seen, tone) {
    const { use, at } = programs.cloth;
    use();
    setShade(at);
    gl.uniformMatrix4fv(at.project, false, seen.project);
    gl.uniform1f(at.between, between);
    gl.uniform3fv(at.eye, seen.eye);
    for (const name of ["keyLight", "fillLight", "sky", "earth"]) gl.uniform3fv(at[name], tone[name]);
    gl.uniform1f(at.spacing, largest / 260);
    gl.uniform1f(at.full, look.full || 1);
    gl.uniform1i(at.byStretch, look.stretch ? 1 : 0);
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.polygonOffset(1, 1);
    gl.uniform1i(at.picture, 1);
    drawPieces(first, false, (p) => {
      gl.uniform1f(at.fade, p.color ? .4 : 1); // a color that was asked for is there on both sides
      gl.uniform3fv(at.front, linear(p.colour));
      gl.uniform1i(at.pictured, p.image === undefined ? 0 : 1);
      if (p.image === undefined) return;
      gl.activeTexture(gl.TEXTURE1);
      gl.bindTexture(gl.TEXTURE_2D, pictures[p.image]);
      for (const name of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, name, p.repeats ? gl.REPEAT : gl.CLAMP_TO_EDGE);
      gl.activeTexture(gl.TEXTURE0);
    });
    for (const name of ["byStretch", "pictured"]) gl.uniform1i(at[name], 0);
    gl.uniform1f(at.fade, 0);
    gl.polygonOffset(4, 16); // cloth that lies on an object is above it by less than the depth buffer tells
    drawObjects(at, true, (o) => gl.uniform3fv(at.front, linear(o.colour)));
    gl.disable(gl.POLYGON_OFFSET_FILL);
  }

  /* Fine meshes get fainter lines, or they would cover the cloth. */
  function drawWire(first, between, seen, tone) {
    const { use, at } = programs.wire;
    const pixels = gl.canvas.height / (2 * Math.tan(FIELD / 2) * view.distance * view.fitted);
    const edge = 1.6 * radius / Math.sqrt(n);
    use();
    gl.uniformMatrix4fv(at.project, false, seen.project);
    gl.uniform1f(at.between, between);
    gl.uniform4f(at.ink, ...tone.ink, clamp(edge * pixels / 34, .1, .55));
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    gl.depthFunc(gl.LEQUAL);
    drawPieces(first, true);
    gl.disable(gl.BLEND);
  }
  let drawn = 0;
  /* What is in the slot `first`, moved towards the other slot by the share `between`. */
  function draw(first, between) {
    const tone = THEMES[look.theme], scale = Math.min(devicePixelRatio || 1, look.sharpness), { width, height, aspect } = shape();
    if (gl.canvas.width !== Math.round(width * scale) || gl.canvas.height !== Math.round(height * scale)) {
      gl.canvas.width = Math.round(width * scale);
      gl.canvas.height = Math.round(height * scale);
    }
    if (!look.cheap || drawn++ % CHEAP === 0) {
      drawDepth(first, between);
      drawMask(first, between);
    }
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, gl.canvas.width, gl.canvas.height);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.bindVertexArray(null);
    const seen = camera();
    gl.disable(gl.DEPTH_TEST);
    programs.back.use();
    for (const name of ["high", "low", "glow"]) gl.uniform3fv(programs.back.at[name], linear(tone[name]));
    gl.uniform1f(programs.back.at.aspect, aspect);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    gl.enable(gl.DEPTH_TEST);
    drawGround(seen, tone);
    gl.bindTexture(gl.TEXTURE_2D, depth);
    drawCloth(first, between, seen, tone);
    if (look.wire) drawWire(first, between, seen, tone);
  }

  /* ---- turning, moving, zooming ---- */

  function turn(azimuth, elevation) {
    view.azimuth += azimuth;
    view.elevation = clamp(view.elevation + elevation, -89, 89);
  }
  /* By so many pixels. */
  function move(dx, dy) {
    view.moved = true;
    const { right, up } = axes(), size = 2 * Math.tan(FIELD / 2) * view.distance * view.fitted / shape().height;
    view.target = view.target.map((t, k) => t - size * (dx * right[k] - dy * up[k]));
  }
  function zoom(factor) { view.moved = true; view.distance = clamp(view.distance * factor, .02, 12); }

  /* The ray from the eye through a place in the window, in pixels; its direction has length one. */
  function rayAt(x, y) {
    const { right, up, back } = axes(), { width, height, aspect } = shape(), tan = Math.tan(FIELD / 2);
    const a = (2 * x / width - 1 + view.side) * tan * aspect, b = (1 - 2 * y / height) * tan;
    return { eye: camera().eye, along: unit([0, 1, 2].map((k) => a * right[k] + b * up[k] - back[k])) };
  }
  /* Where a point is in the window, in pixels. */
  function pixelOf(p) {
    const m = camera().project, { width, height } = shape();
    const [x, y, , w] = [0, 1, 2, 3].map((r) => m[r] * p[0] + m[4 + r] * p[1] + m[8 + r] * p[2] + m[12 + r]);
    return [(x / w + 1) / 2 * width, (1 - y / w) / 2 * height];
  }

  return {
    look, view, FLOATS, setUp: () => setUp(), dispose, setBounds, fit, axes, shape, turn, move, zoom, rayAt, pixelOf,
    load, loadObject, stretchOf, draw, get slots() { return slots; }, get radius() { return radius; }, get middle() { return middle; },
  };
}

/* Fingers and mouse on the canvas turn, move and zoom the view. grab(event) may take a pointer for itself: it returns
 * {move(event), end(event)}, or nothing. */
function control(canvas, renderer, { redraw, calm, fit, grab = () => null }) {
  const spin = { azimuth: 0, elevation: 0 };
  const coasting = () => Math.abs(spin.azimuth) + Math.abs(spin.elevation) > .02;
  const held = new Map();
  const grabbed = new Map();

  /* A second finger means the view, also where the first has grabbed something. */
  function freeGrabbed(e) {
    for (const [id, taken] of grabbed) {
      taken.end(e);
      held.set(id, { x: taken.x, y: taken.y, moves: false });
    }
    grabbed.clear();
  }

  canvas.addEventListener("pointerdown", (e) => {
    canvas.setPointerCapture(e.pointerId);
    freeGrabbed(e);
    const taken = held.size === 0 && e.button === 0 && !e.shiftKey ? grab(e) : null;
    if (taken) return grabbed.set(e.pointerId, { ...taken, x: e.clientX, y: e.clientY });
    held.set(e.pointerId, { x: e.clientX, y: e.clientY, moves: e.button === 2 || e.button === 1 || e.shiftKey });
    spin.azimuth = spin.elevation = 0;
    canvas.classList.add("held");
  });
  canvas.addEventListener("pointermove", (e) => {
    const p = held.get(e.pointerId);
    const taken = grabbed.get(e.pointerId);
    if (taken) {
      Object.assign(taken, { x: e.clientX, y: e.clientY });
      return taken.move(e);
    }
    if (!p) return;
    const dx = e.clientX - p.x, dy = e.clientY - p.y;
    if (held.size === 1 && !p.moves) {
      renderer.turn(-.3 * dx, .3 * dy);
      if (!calm) { spin.azimuth = -.3 * dx * .5; spin.elevation = .3 * dy * .5; }
    } else if (held.size === 1) {
      renderer.move(dx, dy);
    } else if (held.size === 2) {
      const other = [...held].find(([id]) => id !== e.pointerId)[1];
      const apart = Math.hypot(p.x - other.x, p.y - other.y), now = Math.hypot(e.clientX - other.x, e.clientY - other.y);
      if (apart > 0 && now > 0) renderer.zoom(apart / now);
      renderer.move(dx / 2, dy / 2);
    }
    p.x = e.clientX;
    p.y = e.clientY;
    p.when = e.timeStamp;
    redraw();
  });
  const letGo = (e) => {
    const p = held.get(e.pointerId);
    grabbed.get(e.pointerId)?.end(e);
    grabbed.delete(e.pointerId);
    if (p && e.timeStamp - (p.when || 0) > 60) spin.azimuth = spin.elevation = 0;
    held.delete(e.pointerId);
    if (!held.size) canvas.classList.remove("held");
    redraw();
  };
  canvas.addEventListener("pointerup", letGo);
  canvas.addEventListener("pointercancel", letGo);
  canvas.addEventListener("contextmenu", (e) => e.preventDefault());
  canvas.addEventListener("wheel", (e) => {
    e.preventDefault();
    renderer.zoom(Math.exp(clamp(e.deltaY * (e.deltaMode ? 20 : 1), -300, 300) * .0014));
    redraw();
  }, { passive: false });
  canvas.addEventListener("dblclick", () => fit());

  /* What is left of a turn when the hand is gone; before each picture. True: there is more of it. */
  function coast() {
    if (held.size || !coasting()) return coasting();
    renderer.turn(spin.azimuth, spin.elevation);
    spin.azimuth *= .9;
    spin.elevation *= .9;
    return coasting();
  }
  return { coast, coasting };
}

return { create, control, findEdges, findAround, layOut, wind, sub, dot, cross, unit, clamp, RAMP, PALETTE, OBJECT_COLOUR, FLOATS };
})();
