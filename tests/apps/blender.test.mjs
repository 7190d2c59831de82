// Blender (headless) shows the vertices of a point cache at the right places. DRAPE names the program, BLENDER Blender.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

const program = process.env.DRAPE ?? fileURLToPath(new URL("../../build/drape", import.meta.url));
const script = fileURLToPath(new URL("blender_pc2.py", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "drape-blender-"));
after(() => rmSync(folder, { recursive: true, force: true }));

test("Blender's Mesh Cache plays the .pc2", () => {
  execFileSync(program, ["run", "flag", "--resolution", "21", "--frames", "10", "--quiet", "-o", join(folder, "sheet.pc2"),
    "-o", join(folder, "sheet.obj")]);
  const said = execFileSync(process.env.BLENDER ?? "blender", ["--background", "--factory-startup", "--python-exit-code", "3",
    "--python", script, "--", folder], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  assert.equal(said.match(/^frame \d+: \d+ vertices/gm)?.length, 3, said);
});
