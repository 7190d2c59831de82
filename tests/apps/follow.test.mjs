// A pin follows point caches that Blender (headless) has written, to 1e-6 m, at frames and between them, as Blender's own Mesh Cache
// modifier plays it. DRAPE names the program, BLENDER Blender.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

const program = process.env.DRAPE ?? fileURLToPath(new URL("../../build/drape", import.meta.url));
const blender = process.env.BLENDER ?? "blender";
const script = fileURLToPath(new URL("blender_follow.py", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "drape-follow-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const vertices = (frame) =>
  readFileSync(join(folder, `out_${String(frame).padStart(4, "0")}.obj`), "utf8").split("\n")
    .filter((line) => line.startsWith("v ")).map((line) => line.split(/\s+/).slice(1, 4).map(Number));

test("a pin follows point caches of Blender", (t) => {
  if (spawnSync(blender, ["--version"]).error) return t.skip("no Blender here");
  execFileSync(blender, ["--background", "--factory-startup", "--python-exit-code", "3", "--python", script, "--", folder],
    { stdio: ["ignore", "pipe", "pipe"] });
  const shown = JSON.parse(readFileSync(join(folder, "shown.json"), "utf8"));
  for (const kind of ["pc2", "mdd"]) follows(kind, shown);
});

function follows(kind, shown) {
  // Frames of the run are a quarter of those of the cache. Half of the sheet is pinned; the other half swings.
  const pinned = [...Array(18).keys()];
  writeFileSync(join(folder, "follow.yaml"), `drape: 1
cloth:
  - mesh: sheet.obj
    uv: false
    pins:
      - vertices: [${pinned.join(", ")}]
        move: {frames: {file: sheet.${kind}, fps: 24}}
time: {fps: 96, frames: ${shown.length - 1}}
`);
  execFileSync(program, ["run", join(folder, "follow.yaml"), "--quiet", "-o", join(folder, "out.obj")]);
  let off = 0, moved = 0;
  for (let frame = 0; frame < shown.length; frame++) {
    const got = vertices(frame);
    assert.equal(got.length, 36);
    for (const v of pinned)
      for (let k = 0; k < 3; k++) {
        off = Math.max(off, Math.abs(got[v][k] - shown[frame][v][k]));
        moved = Math.max(moved, Math.abs(shown[frame][v][k] - shown[0][v][k]));
      }
  }
  assert.ok(moved > 0.1, `${kind}: moved by ${moved} m`);
  assert.ok(off < 1e-6, `${kind}: off by ${off} m`);
}
