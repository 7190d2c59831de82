// Blender (headless) shows the vertices of every format it can open at the right places, at three frames. DRAPE names the
// program, BLENDER Blender.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

const program = process.env.DRAPE ?? fileURLToPath(new URL("../../build/drape", import.meta.url));
const blender = process.env.BLENDER ?? "blender";
const script = fileURLToPath(new URL("blender_formats.py", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "drape-blender-"));
after(() => rmSync(folder, { recursive: true, force: true }));

test("Blender opens .pc2, .mdd, .glb, .obj and .ply", (t) => {
  if (spawnSync(blender, ["--version"]).error) return t.skip("no Blender here");
  const outputs = ["pc2", "mdd", "glb", "obj", "ply"].flatMap((ending) => ["-o", join(folder, `sheet.${ending}`)]);
  execFileSync(program, ["run", "flag", "--resolution", "21", "--frames", "10", "--quiet", ...outputs]);
  const said = execFileSync(blender, ["--background", "--factory-startup", "--python-exit-code", "3",
    "--python", script, "--", folder], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  for (const kind of ["PC2", "MDD", "GLB", "OBJ", "PLY"])
    assert.equal(said.match(new RegExp(`^${kind} frame \\d+: \\d+ vertices`, "gm"))?.length, 3, said);
});
