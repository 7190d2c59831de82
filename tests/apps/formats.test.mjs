// .glb and .usda in other people's readers: Khronos's validator and three.js, which plays the .glb; three.js's and TinyUSDZ's
// parsers of USDA. Positions are compared with those of the .obj files of the same run. DRAPE names the program.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import validator from "gltf-validator";
import { AnimationMixer } from "three";
import { GLTFLoader } from "three/examples/jsm/loaders/GLTFLoader.js";
import { USDLoader } from "three/examples/jsm/loaders/USDLoader.js";
import { USDAParser } from "three/examples/jsm/loaders/usd/USDAParser.js";

const program = process.env.DRAPE ?? fileURLToPath(new URL("../../build/drape", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "drape-formats-"));
const path = (name) => join(folder, name);
const FRAMES = 10; // after the first
const FPS = 25;

// Two pieces whose names are one in USD, where only letters, digits and _ may stand; the second with a seam: its texture coordinates are those of corners.
const SCENE = `drape: 1
name: 'two "sheets" & <more>'
cloth:
  - {name: the sheet, grid: {width: 40 cm, resolution: 9}, velocity: [1, 0, 3], pins: [{where: top-left}]}
  - {name: the-sheet, mesh: seam.obj}
time: {frames: ${FRAMES}, fps: ${FPS}}
`;
const SEAM = `v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 5 5\nvt 6 6\nvt 5 6\nf 1/1 2/2 3/3\nf 1/4 3/5 4/6\n`;

// Colliders that rest, turn as a whole, and change their form.
const OBJECTS = `drape: 1
cloth: [{name: sheet, grid: {width: 40 cm, resolution: 5}, place: {translate: [0, 0, 2 m]}}]
colliders:
  - {name: floor, shape: plane}
  - {name: ball, shape: sphere, radius: 30 cm, place: {translate: [1 m, 0, 1 m]}, move: {keys: [{time: 0 s}, {time: 0.1 s, offset: [0, 0, 10 cm], turn: [0, 90, 0]}]}}
  - {name: leaf, frames: {file: leaf.obj, fps: 25}}
time: {frames: 3}
`;
const leaf = (z) => `v 0 0 0\nv 1 0 0\nv 1 1 ${z}\nv 0 1 0\nf 1 2 3\nf 1 3 4\n`;

const NUMBER = "[-+.0-9e]+";

/* Positions of every piece in a frame: [[x, y, z], ...] each. */
function wanted(frame) {
  const pieces = [];
  for (const line of readFileSync(path(`run_${String(frame).padStart(4, "0")}.obj`), "utf8").split("\n")) {
    if (line.startsWith("o ")) pieces.push([]);
    if (line.startsWith("v ")) pieces.at(-1).push(line.split(" ").slice(1).map(Number));
  }
  return pieces;
}

function largestDifference(got, want) {
  assert.equal(got.length, want.length);
  return Math.max(...got.map((g, i) => Math.max(...g.map((x, k) => Math.abs(x - want[i][k])))));
}

const inThrees = (numbers) => Array.from({ length: numbers.length / 3 }, (_, i) => Array.from(numbers.slice(3 * i, 3 * i + 3)));

before(() => {
  writeFileSync(path("scene.yaml"), SCENE);
  writeFileSync(path("seam.obj"), SEAM);
  writeFileSync(path("objects.yaml"), OBJECTS);
  for (const frame of [0, 1]) writeFileSync(path(`leaf_000${frame}.obj`), leaf(frame));
  execFileSync(program, ["run", path("objects.yaml"), "--quiet", "-o", path("objects.glb")]);
  const outputs = ["glb", "usda", "obj"].flatMap((ending) => ["-o", path(`run.${ending}`)]);
  execFileSync(program, ["run", path("scene.yaml"), "--quiet", ...outputs]);
  execFileSync(program, ["run", "flag", "--resolution", "5", "--frames", "0", "--quiet", "-o", path("still.glb"), "-o", path("still.usda")]);
});

after(() => rmSync(folder, { recursive: true, force: true }));

test("Khronos's validator finds nothing in the .glb", async () => {
  for (const name of ["run.glb", "still.glb", "objects.glb"]) {
    const report = await validator.validateBytes(new Uint8Array(readFileSync(path(name))));
    assert.equal(report.issues.numErrors, 0, JSON.stringify(report.issues));
    assert.equal(report.issues.numWarnings, 0, JSON.stringify(report.issues));
    // Texture coordinates without a texture are for whoever puts one on.
    const others = report.issues.messages.filter((m) => !m.pointer.endsWith("/TEXCOORD_0"));
    assert.deepEqual(others, []);
    assert.equal(report.info.hasMorphTargets, name !== "still.glb");
  }
});

test("the validator would have found a wrong bound", async () => {
  const bytes = new Uint8Array(readFileSync(path("run.glb")));
  const at = Buffer.from(bytes).indexOf('"max":[') + 7;
  bytes[at + 1] = bytes[at + 1] === 0x39 ? 0x38 : 0x39;
  const report = await validator.validateBytes(bytes);
  assert.ok(report.issues.numErrors > 0);
});

test("three.js plays the .glb", async () => {
  const bytes = readFileSync(path("run.glb"));
  globalThis.self ??= globalThis; // the loader asks for it
  const gltf = await new GLTFLoader().parseAsync(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length), "");
  const mixer = new AnimationMixer(gltf.scene);
  mixer.clipAction(gltf.animations[0]).play();
  assert.ok(Math.abs(gltf.animations[0].duration - FRAMES / FPS) < 1e-6);
  const meshes = [];
  gltf.scene.traverse((o) => { if (o.isMesh) meshes.push(o); });
  assert.equal(meshes.length, 2);
  for (const frame of [0, 5, FRAMES]) {
    mixer.setTime(frame === FRAMES ? FRAMES / FPS - 1e-7 : frame / FPS);
    meshes.forEach((mesh, piece) => {
      const base = mesh.geometry.attributes.position, targets = mesh.geometry.morphAttributes.position;
      const want = wanted(frame)[piece];
      const got = want.map((_, i) => [0, 1, 2].map((k) => base.getComponent(i, k) +
        targets.reduce((sum, t, n) => sum + mesh.morphTargetInfluences[n] * t.getComponent(i, k), 0)));
      const turned = want.map(([x, y, z]) => [x, z, -y]);
      assert.ok(largestDifference(got, turned) < 1e-5, `frame ${frame}: ${largestDifference(got, turned)}`);
    });
  }
});

test("three.js's parser reads the time samples of the .usda", () => {
  const text = readFileSync(path("run.usda"), "utf8");
  const specs = new USDAParser().parseData(text).specsByPath;
  const root = specs["/"].fields;
  assert.equal(root.upAxis, "Z");
  assert.equal(root.metersPerUnit, 1);
  assert.equal(root.timeCodesPerSecond, FPS);
  assert.match(text, new RegExp(`\n    startTimeCode = 0\n`));
  assert.match(text, new RegExp(`\n    endTimeCode = ${FRAMES}\n`));
  for (const piece of [0, 1]) {
    const of = (name) => specs[`/drape/the_sheet_${piece}.${name}`].fields;
    const { times, values } = of("points").timeSamples;
    assert.deepEqual(times, Array.from({ length: FRAMES + 1 }, (_, i) => i));
    for (const frame of [0, 5, FRAMES]) {
      const got = inThrees(values[frame]), want = wanted(frame)[piece];
      assert.ok(largestDifference(got, want) < 1e-6);
      const extent = inThrees(of("extent").timeSamples.values[frame]);
      const bounds = [Math.min, Math.max].map((f) => [0, 1, 2].map((k) => f(...got.map((p) => p[k]))));
      assert.deepEqual(extent, bounds);
      const normals = inThrees(of("normals").timeSamples.values[frame]);
      assert.equal(normals.length, got.length);
      for (const n of normals) assert.ok(Math.abs(Math.hypot(...n) - 1) < 1e-4);
    }
    assert.deepEqual(of("points").default, values[0]);
  }
  assert.equal(specs["/drape/the_sheet_0.primvars:st"].fields.default.length, 2 * 81);
  assert.deepEqual(specs["/drape/the_sheet_1.primvars:st:indices"].fields.default, [0, 1, 2, 3, 4, 5]);
});

test("three.js makes meshes of the .usda", () => {
  for (const [name, count] of [["run.usda", 2], ["still.usda", 1]]) {
    const meshes = [];
    new USDLoader().parse(readFileSync(path(name), "utf8")).traverse((o) => { if (o.isMesh) meshes.push(o); });
    assert.equal(meshes.length, count);
    for (const mesh of meshes)
      for (const attribute of ["position", "normal", "uv"]) assert.ok(mesh.geometry.attributes[attribute].count > 0);
  }
});

/* TinyUSDZ keeps to the grammar. It was built for browsers, and looks whether this is one. */
async function strictReader() {
  globalThis.window ??= globalThis;
  process.type = "renderer";
  const { default: create } = await import("tinyusdz/tinyusdz.js");
  return create({ wasmBinary: readFileSync(fileURLToPath(import.meta.resolve("tinyusdz/tinyusdz.wasm"))) });
}

test("TinyUSDZ, a strict parser, reads the .usda", async () => {
  const usd = await strictReader();
  const load = (text) => {
    const loader = new usd.TinyUSDZLoaderNative();
    return [loader.loadFromBinary(new Uint8Array(Buffer.from(text)), "run.usda"), loader];
  };
  const text = readFileSync(path("run.usda"), "utf8");
  const [good, loader] = load(text);
  assert.ok(good, loader.error());
  assert.equal(loader.numMeshes(), 2);
  const first = loader.getMesh(0);
  assert.equal(first.points.length, 3 * 81);
  assert.ok(largestDifference(inThrees(first.points), wanted(0)[0]) < 1e-6);
  for (const wrong of [text.slice(0, text.length / 2), text.replace("point3f[] points = ", "pont3f[] points = "),
    text.replace(new RegExp(`5: \\[\\((${NUMBER}), `), "5: [($1 ")])
    assert.ok(!load(wrong)[0], "it would have told");
});
