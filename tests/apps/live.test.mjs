// The page that simulates (web/dist, `make web`) in a real browser: from disk and from its server, with mouse and finger.
// CHROMIUM names the browser (default: /usr/bin/chromium). With SHOTS=FOLDER pictures stay there; SECONDS says how long
// random input lasts (default: 20).
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { validateBytes } from "gltf-validator";
import { chromium } from "playwright-core";

const dist = fileURLToPath(new URL("../../web/dist/", import.meta.url));
const disk = pathToFileURL(join(dist, "index.html")).href;
const KEPT_ITERATIONS = 400; // of a residual history: web/live/live.c
const LIMIT = { timeout: 900000 };
const SECONDS = Number(process.env.SECONDS ?? 20);

let browser, server, served;

before(async () => {
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--headless", "--no-sandbox", "--disable-gpu", "--use-gl=angle", "--use-angle=swiftshader", "--disable-quic",
      "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
  server = spawn(join(dist, "serve"), ["0"], { stdio: ["ignore", "pipe", "ignore"] });
  served = await new Promise((kept) => { server.stdout.once("data", (line) => kept(String(line).trim())); });
});

after(async () => {
  await browser?.close();
  server?.kill();
});

/* The page, with everything that goes wrong in it: errors, and requests to anywhere but its own folder. */
async function open(t, options = "#cheap", settings = {}, address = disk) {
  const context = await browser.newContext({ viewport: { width: 640, height: 480 }, colorScheme: "light", acceptDownloads: true, ...settings });
  t.after(() => context.close());
  context.setDefaultTimeout(240000);
  const page = await context.newPage(), wrong = [], home = new URL(".", address).href;
  page.on("console", (m) => { if (m.type() === "error") wrong.push(m.text()); });
  page.on("pageerror", (e) => wrong.push(e.message));
  page.on("request", (r) => { if (!r.url().startsWith(home) && !/^(data|blob):/.test(r.url())) wrong.push(`asked for ${r.url()}`); });
  await page.goto(address + options);
  await page.evaluate(() => window.drape.ready);
  return { page, wrong };
}

const state = (page) => page.evaluate(() => window.drape.state());
const shot = async (page, name) => {
  if (!process.env.SHOTS) return;
  mkdirSync(process.env.SHOTS, { recursive: true });
  await page.waitForTimeout(700);
  await page.screenshot({ path: join(process.env.SHOTS, `live-${name}.png`) });
};

/* Waits until check(state) holds; how long does not matter. */
async function until(page, check, what) {
  for (let i = 0; i < 400; i++) {
    const s = await state(page);
    assert.ok(s.finite, "the cloth is finite");
    if (check(s)) return s;
    await page.waitForTimeout(150);
  }
  assert.fail(`never: ${what}; ${await page.evaluate(() => document.getElementById("told").textContent)}`);
}
const runs = async (page) => { const { time } = await state(page); return until(page, (s) => s.time > time, "time goes on"); };

/* The pixel of the free lower corner, a little inside of the cloth. */
const corner = (page) => page.evaluate(() => {
  const { vertices } = window.drape.state(), all = Array.from({ length: vertices }, (_, i) => window.drape.vertexAt(i));
  const worth = (p) => p[2] + .3 * p[0], lowest = all.reduce((a, b) => (worth(b) < worth(a) ? b : a));
  const middle = [0, 1, 2].map((k) => all.reduce((sum, p) => sum + p[k], 0) / vertices);
  return window.drape.pixelOf(lowest.map((c, k) => c + .04 * (middle[k] - c)));
});
/* How far the patch in the hand is from where the hand wants it, m. */
const astray = (page) => page.evaluate(() => {
  const patch = window.drape.patch();
  return patch ? Math.max(...patch.vertices.map((v, i) => Math.hypot(...window.drape.vertexAt(v).map((c, k) => c - patch.targets[3 * i + k])))) : Infinity;
});

/* Pulls the corner to another place, and sees that it comes there; then lets go. */
async function drag(page) {
  await page.evaluate(() => window.drape.pause());
  const [x, y] = await corner(page);
  await page.mouse.move(x, y);
  await page.mouse.down();
  assert.ok((await state(page)).pull?.vertices >= 3, "a patch of the cloth is held");
  await page.mouse.move(x + 50, y - 40, { steps: 12 });
  let far = Infinity;
  for (let i = 0; i < 300 && far > .01; i++) {
    await page.waitForTimeout(100);
    far = await astray(page);
    assert.ok((await state(page)).finite);
  }
  assert.ok(far <= .01, `the corner is ${far} m from the hand`);
  await page.mouse.up();
  assert.equal((await state(page)).pull, null);
  return until(page, (s) => s.held === 0, "it is let go");
}

test("the page is small, and asks for nothing", () => {
  const size = gzipSync(readFileSync(join(dist, "index.html")), { level: 9 }).length;
  assert.ok(size <= 600000, `${size} bytes compressed`);
});

describe("the page", { concurrency: 2 }, () => {
  test(`bears ${SECONDS} s of random input`, LIMIT, async (t) => {
    const { page, wrong } = await open(t, "#resolution=21&cheap", { viewport: { width: 900, height: 600 } });
    await page.evaluate(() => { document.getElementById("open").remove(); document.getElementById("save").remove(); }); // windows of the system
    let seed = 20240501;
    const random = (n) => { seed = (Math.imul(seed, 1103515245) + 12345) >>> 0; return (seed >>> 8) % n; };
    const end = Date.now() + 1000 * SECONDS;
    const places = () => [random(900), random(600)];
    const keys = ["w", "s", "f", "d", "p", "o", "r", " ", "+", "-", "Escape", "Tab"];
    const selects = ["scene", "fabric", "resolution", "model", "self", "step", "integrator", "method", "precond", "tolerance", "other-method", "other-precond"];
    while (Date.now() < end) {
      const what = random(10);
      if (what < 4) {
        await page.mouse.move(...places());
        await page.mouse.down({ button: random(5) ? "left" : "right" });
        for (let i = 0; i < 6; i++) await page.mouse.move(...places());
        await page.mouse.up();
        await page.mouse.up({ button: "right" });
      } else if (what < 5) await page.mouse.wheel(0, random(600) - 300);
      else if (what < 6) await page.keyboard.press(keys[random(keys.length)]);
      else if (what < 9) await page.evaluate(([id, n]) => {
        const s = document.getElementById(id), coarse = id === "resolution" ? 4 : s.options.length;
        s.selectedIndex = n % coarse;
        s.dispatchEvent(new Event("change", { bubbles: true }));
      }, [selects[random(selects.length)], random(1000)]);
      else await page.evaluate((n) => { const w = document.getElementById("wind"); w.value = n; w.dispatchEvent(new Event("input", { bubbles: true })); }, random(15));
      assert.ok((await state(page)).finite);
    }
    assert.ok(!(await state(page)).dead);
    await page.evaluate(() => window.drape.openScene("hanging"));
    await runs(page);
    assert.deepEqual(wrong, []);
  });

  test("opens from disk on one thread; a corner follows the hand and falls", LIMIT, async (t) => {
    const { page, wrong } = await open(t);
    assert.equal(await page.evaluate(() => window.drape.tables.threads), 1);
    assert.equal((await state(page)).vertices, 31 * 31);
    await runs(page);
    await drag(page);
    await runs(page);
    assert.deepEqual(wrong, []);
  });

  test("opens from its server with threads; a corner follows the hand", LIMIT, async (t) => {
    const { page, wrong } = await open(t, "#threads=2&cheap", {}, served);
    assert.equal(await page.evaluate(() => crossOriginIsolated), true);
    assert.equal(await page.evaluate(() => window.drape.tables.threads), 2);
    await runs(page);
    await drag(page);
    assert.deepEqual(wrong, []);
  });

  test("solver, fabric and the rest change while it runs", LIMIT, async (t) => {
    const { page, wrong } = await open(t, "#resolution=21&cheap", { viewport: { width: 1000, height: 700 } });
    /* goes: time does not restart. Another mesh or model may not be able to go on from where the cloth is. */
    const choose = async (id, value, goes = true) => {
      const { time, frames } = await runs(page);
      await page.selectOption(`#${id}`, value);
      return until(page, (s) => String(s.choices[id]) === value && s.frames > frames + 1 && (!goes || s.time > time), `${id} ${value}`);
    };
    await choose("method", "mpcg");
    await choose("precond", "diagonal");
    const used = (await until(page, (s) => s.used.precond === "diagonal", "diagonal is used")).used;
    assert.deepEqual(used, { method: "mpcg", precond: "diagonal" });
    await choose("fabric", "silk");
    await choose("model", "choi_ko", false);
    await choose("model", "", false);
    await choose("integrator", "implicit-euler");
    await choose("step", "0.004");
    await choose("tolerance", "0.000001");
    await choose("self", "1");
    assert.equal((await choose("resolution", "11", false)).vertices, 11 * 11);
    await page.evaluate(() => { const w = document.getElementById("wind"); w.value = 6; w.dispatchEvent(new Event("input")); });
    assert.ok((await runs(page)).choices.wind[1] > 5);
    // What cannot be: an explicit method at a step of 1/30 s. It is told, and the simulation goes on as it was.
    await choose("resolution", "31", false);
    await choose("step", String(1 / 30), false);
    await page.selectOption("#integrator", "explicit-euler");
    await page.waitForSelector("#told.wrong:not([hidden])");
    assert.equal((await runs(page)).choices.integrator, "implicit-euler");
    assert.equal(await page.inputValue("#integrator"), "implicit-euler");
    assert.deepEqual(wrong, []);
  });

  test("a wrong scene is told with line and column, and the last one goes on", LIMIT, async (t) => {
    const { page, wrong } = await open(t);
    const before = await runs(page);
    await page.evaluate(() => document.getElementById("edit").click());
    await page.fill("#source", "drape: 1\ncloth:\n  - grid: {width: 1 m, resolution: 21}\n    material: coton\ntime: {step: 5 ms}\n");
    await page.click("#run");
    await page.waitForSelector("#mistake:not([hidden])");
    const words = await page.textContent("#mistake");
    assert.match(words, /^scene\.yaml:4:15: .*coton/);
    assert.match(words, /cotton/);
    assert.equal(await page.evaluate(() => { const s = document.getElementById("source"); return s.value.slice(s.selectionStart, s.selectionEnd); }), "coton");
    await shot(page, "mistake");
    assert.equal((await runs(page)).vertices, before.vertices);
    await page.fill("#source", "drape: 1\ncloth: [{grid: {width: 1 m, resolution: 5}, pins: [{where: corners}]}]\n");
    await page.keyboard.press("Control+Enter");
    await until(page, (s) => s.vertices === 25, "the new scene");
    assert.ok(await page.isHidden("#mistake"));
    assert.deepEqual(wrong, []);
  });

  test("two solvers on the same system", LIMIT, async (t) => {
    const { page, wrong } = await open(t, "#cheap", { viewport: { width: 1100, height: 760 } });
    await page.selectOption("#method", "ppcg");
    await page.selectOption("#precond", "amg");
    await page.selectOption("#other-method", "ppcg");
    await page.selectOption("#other-precond", "amg");
    const same = (await until(page, (s) => s.compared?.every((c) => c.precond === "amg"), "a comparison")).compared;
    assert.deepEqual([...Object.values(same[0].history)], [...Object.values(same[1].history)]);
    await page.selectOption("#other-precond", "diagonal");
    const { compared: [a, b] } = await until(page, (s) => s.compared?.[1]?.precond === "diagonal", "another one");
    for (const c of [a, b]) {
      assert.equal(c.reason, "converged");
      const history = Object.values(c.history), whole = c.iterations < KEPT_ITERATIONS;
      assert.equal(history.length, whole ? c.iterations + 1 : KEPT_ITERATIONS);
      assert.ok(!whole || history[c.iterations] <= 1e-3, `${history[c.iterations]}`);
    }
    assert.ok(a.iterations < b.iterations, `${a.iterations} of amg, ${b.iterations} of diagonal`);
    await shot(page, "compared");
    assert.ok(await page.isVisible("#compared"));
    assert.deepEqual(wrong, []);
  });

  test("a mesh that is dropped falls on a ball, and is saved as GLB", LIMIT, async (t) => {
    const { page, wrong } = await open(t);
    const lines = [];
    for (let j = 0; j < 9; j++) for (let i = 0; i < 9; i++) lines.push(`v ${i / 8} ${j / 8} 0`);
    for (let j = 0; j < 8; j++) for (let i = 0; i < 8; i++) lines.push(`f ${9 * j + i + 1} ${9 * j + i + 2} ${9 * j + i + 11}`, `f ${9 * j + i + 1} ${9 * j + i + 11} ${9 * j + i + 10}`);
    await page.evaluate((text) => {
      const data = new DataTransfer();
      data.items.add(new File([text], "my sheet.obj"));
      dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
    }, `${lines.join("\n")}\n`);
    const there = await until(page, (s) => s.vertices === 81 && s.objects === 2, "the mesh");
    await until(page, (s) => s.time > .3, "it falls");
    assert.ok(there.size > 1.4 && there.size < 1.5);
    const [download] = await Promise.all([page.waitForEvent("download"), page.evaluate(() => document.getElementById("save").click())]);
    const bytes = readFileSync(await download.path());
    const report = await validateBytes(new Uint8Array(bytes));
    assert.equal(report.issues.numErrors, 0, JSON.stringify(report.issues.messages));
    assert.ok(report.info.animationCount === 1);
    // A file that is no mesh: told, and what there was stays.
    await page.evaluate(() => window.drape.openFile(new File(["f 1 2 3\n"], "bad.obj")));
    await page.waitForSelector("#told.wrong:not([hidden])");
    assert.equal((await runs(page)).vertices, 81);
    assert.deepEqual(wrong, []);
  });

  test("scenes with colliders and contact run; a slow clock is told", LIMIT, async (t) => {
    const { page, wrong } = await open(t, "#scene=sphere&cheap", { viewport: { width: 900, height: 600 } });
    await until(page, (s) => s.time > .25 && s.objects === 1, "the sheet falls");
    await shot(page, "sphere");
    await page.evaluate(() => window.drape.load("drape: 1\ncloth: [{grid: {width: 1 m, resolution: 101}, pins: [{where: corners}]}]\ntime: {step: 0.5 ms}\n"));
    await until(page, (s) => s.vertices === 10201 && s.frames > 3 && s.rate < .9, "it is slow");
    await page.waitForFunction(() => /slow motion/.test(document.getElementById("rate").textContent));
    assert.deepEqual(wrong, []);
  });

  test("fingers grab, and two of them zoom; it looks right on a phone", LIMIT, async (t) => {
    const { page, wrong } = await open(t, "#cheap", { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 1 });
    await runs(page);
    await shot(page, "phone");
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing is wider than the screen");
    await page.evaluate(() => window.drape.pause());
    const [x, y] = await corner(page), touch = await page.context().newCDPSession(page);
    const fingers = (type, ...points) => touch.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([px, py], id) => ({ x: px, y: py, id })) });
    await fingers("touchStart", [x, y]);
    await fingers("touchMove", [x + 20, y - 20]);
    await until(page, (s) => s.pull, "a finger holds the cloth");
    await fingers("touchStart", [x + 20, y - 20], [x < 195 ? x + 100 : x - 100, y - 100]); // within the screen
    await until(page, (s) => s.pull === null, "the second finger lets it go");
    await fingers("touchEnd");
    for (const id of ["show-panel", "show-plots"]) {
      await page.click(`#${id}`);
      await shot(page, `phone-${id}`);
      const box = await page.locator(id === "show-panel" ? "#panel" : "#plots").boundingBox();
      assert.ok(id === "show-panel" || await page.evaluate(() => [...document.querySelectorAll("#plots canvas")].every((c) => c.getBoundingClientRect().right < document.getElementById("tools").getBoundingClientRect().left)));
      assert.ok(box.x >= 0 && box.y >= 0 && box.x + box.width <= 390 && box.y + box.height <= 844);
    }
    assert.deepEqual(wrong, []);
  });
});
