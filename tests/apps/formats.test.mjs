// .glb and .usda in other people's readers: Khronos's validator and three.js, which plays the .glb; three.js's and TinyUSDZ's
// parsers of USDA. Positions are compared with those of the .obj files of the same run. DRAPE names the program.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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

// A color; an image once over the piece; an image that repeats, times a color, on a tube, which has a seam; nothing; and colliders.
const LOOKS = `drape: 1
cloth:
  - {name: colored, grid: {width: 40 cm, resolution: 5}, color: teal}
  - {name: once, grid: {width: 40 cm, resolution: 5}, texture: quarters.png}
  - {name: tube, grid: {width: 40 cm, resolution: 9, tube: true}, color: "#fc8", texture: {file: two.jpg, size: 10 cm}}
  - {name: plain, grid: {width: 40 cm, resolution: 5}}
colliders: [{name: Materials, shape: plane, color: olive, place: {translate: [0, 0, -2 m]}}, {name: floor, shape: plane, place: {translate: [0, 0, -3 m]}}]
time: {frames: 2}
`;
const linear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
const near = (got, want) => got.every((x, k) => Math.abs(x - want[k]) < 1e-6);

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
  writeFileSync(path("looks.yaml"), LOOKS);
  for (const image of ["quarters.png", "two.jpg"]) copyFileSync(fileURLToPath(new URL(`../fuzz/corpus/image/${image}`, import.meta.url)), path(image));
  execFileSync(program, ["run", path("looks.yaml"), "--quiet", "-o", path("looks.glb"), "-o", path("looks.usda")]);
  execFileSync(program, ["run", "flag", "--resolution", "5", "--frames", "0", "--quiet", "-o", path("still.glb"), "-o", path("still.usda")]);
});

after(() => rmSync(folder, { recursive: true, force: true }));

test("Khronos's validator finds nothing in the .glb", async () => {
  for (const name of ["run.glb", "still.glb", "objects.glb", "looks.glb"]) {
    const report = await validator.validateBytes(new Uint8Array(readFileSync(path(name))));
    assert.equal(report.issues.numErrors, 0, JSON.stringify(report.issues));
    assert.equal(report.issues.numWarnings, 0, JSON.stringify(report.issues));
    // Texture coordinates without a texture are for those who add one.
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

test("three.js finds colors and images in the .glb", async () => {
  const bytes = readFileSync(path("looks.glb")), loads = [];
  globalThis.self ??= globalThis;
  // There are no pictures without a browser: that the loader asks for them, and for which bytes, is seen here.
  globalThis.createImageBitmap = async (blob) => { loads.push(Buffer.from(await blob.arrayBuffer())); return { width: 8, height: 4, close() {} }; };
  const gltf = await new GLTFLoader().parseAsync(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length), "");
  const meshes = {};
  gltf.scene.traverse((o) => { if (o.isMesh) meshes[o.name] = o.material; });
  const color = (name) => meshes[name].color.toArray();
  assert.ok(near(color("colored"), [0, linear(128 / 255), linear(128 / 255)]), String(color("colored")));
  assert.ok(near(color("once"), [1, 1, 1]));
  assert.ok(near(color("tube"), [1, linear(0xcc / 255), linear(0x88 / 255)]));
  assert.ok(near(color("plain"), [0.6, 0.6, 0.65]));
  assert.ok(near(color("Materials"), [linear(128 / 255), linear(128 / 255), 0]));
  assert.deepEqual([!!meshes.colored.map, !!meshes.once.map, !!meshes.tube.map], [false, true, true]);
  const stored = ["quarters.png", "two.jpg"].map((name) => readFileSync(path(name)));
  for (const image of stored) assert.ok(loads.some((load) => load.equals(image)), "the image is there byte by byte");
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

test("three.js finds colors and images in the .usda", () => {
  const specs = new USDAParser().parseData(readFileSync(path("looks.usda"), "utf8")).specsByPath;
  const of = (prim, name) => specs[`/drape/${prim}.${name}`].fields;
  // A mesh of the name of the scope of materials: names are numbered.
  assert.ok(near(of("colored_0", "primvars:displayColor").default, [0, linear(128 / 255), linear(128 / 255)]));
  assert.ok(near(of("Materials/colored_0/surface", "inputs:diffuseColor").default, [0, linear(128 / 255), linear(128 / 255)]));
  assert.equal(of("Materials/once_1/image", "inputs:file").default.replaceAll("@", ""), "./looks_texture_0.png");
  assert.equal(of("Materials/tube_2/image", "inputs:file").default.replaceAll("@", ""), "./looks_texture_1.jpg");
  assert.equal(specs["/drape/plain_3.material:binding"], undefined);
  for (const [made, given] of [["looks_texture_0.png", "quarters.png"], ["looks_texture_1.jpg", "two.jpg"]])
    assert.ok(readFileSync(path(made)).equals(readFileSync(path(given))));
  const meshes = [], withoutImages = readFileSync(path("looks.usda"), "utf8").replaceAll(/^.*asset inputs:file.*$/gm, ""); // it needs a browser for these
  new USDLoader().parse(withoutImages).traverse((o) => { if (o.isMesh) meshes.push(o); });
  assert.equal(meshes.length, 6);
  assert.ok(near(meshes[0].material.color.toArray(), [0, linear(128 / 255), linear(128 / 255)]), String(meshes[0].material.color.toArray()));
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
  const looks = load(readFileSync(path("looks.usda"), "utf8"));
  assert.ok(looks[0], looks[1].error());
  assert.equal(looks[1].numMeshes(), 6);
  for (const wrong of [text.slice(0, text.length / 2), text.replace("point3f[] points = ", "pont3f[] points = "),
    text.replace(new RegExp(`5: \\[\\((${NUMBER}), `), "5: [($1 ")])
    assert.ok(!load(wrong)[0], "it would have told");
});
