// What the library computes under WebAssembly has the bits that are kept for x86-64 (tests/golden/hashes.txt): with vectors, with
// kernels compiled without them, and on one to three threads.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const at = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const kept = readFileSync(at("tests/golden/hashes.txt"), "utf8").split("\n").filter((line) => line && !line.startsWith("#"));

for (const [program, threads] of [["simd", 1], ["scalar", 1], ["threads", 1], ["threads", 2], ["threads", 3]])
  test(`golden hashes: ${program}, ${threads} ${threads > 1 ? "threads" : "thread"}`, { timeout: 240000 }, () => {
    const module = at(`build-web/wasm/golden-${program}.js`);
    assert.ok(existsSync(module), `${module} is there`);
    // Emscripten 3.1 takes a node that has fetch for a browser.
    const found = execFileSync(process.execPath, ["--no-experimental-fetch", module, "/system", String(threads), "best"], { encoding: "utf8", maxBuffer: 1 << 24 }).trim().split("\n");
    assert.deepEqual(kept.filter((line) => !found.includes(line)), []);
    assert.ok(found.length >= kept.length && kept.length > 50);
  });
