// The page that `drape run SCENE -o NAME.html` writes, in a real browser: it shows cloth, plays, and asks for nothing.
// DRAPE names the program (default: build/drape), CHROMIUM the browser (default: /usr/bin/chromium). With SHOTS=FOLDER
// the pictures stay there.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { inflateSync } from "node:zlib";
import { chromium } from "playwright-core";

const program = process.env.DRAPE ?? fileURLToPath(new URL("../../build/drape", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "drape-player-"));
const sheet = join(folder, "sheet.html"), ball = join(folder, "ball.html");
const FRAMES = 12; // after the first
const BALL = `drape: 1
cloth: [{grid: {width: 60 cm, resolution: 5}, place: {translate: [0, 0, 40 cm]}}]
colliders:
  - {name: ball, shape: sphere, radius: 30 cm, move: {keys: [{time: 0 s}, {time: 0.16 s, offset: [40 cm, 0, 0], turn: [0, 0, 90]}]}}
  - {name: floor, shape: plane, place: {translate: [0, 0, -30 cm]}}
forces: {gravity: [0, 0, 0]}
time: {frames: 4}
`;
const LIMIT = { timeout: 120000 };
/* The first scene that a document shows. */
const firstScene = (name) => /```yaml\n(drape: 1\n[^`]*)```/.exec(readFileSync(fileURLToPath(new URL(`../../${name}`, import.meta.url)), "utf8"))[1];

let browser;

before(async () => {
  execFileSync(program, ["run", "drooping", "--resolution", "21", "--frames", String(FRAMES), "--quiet", "-o", sheet]);
  writeFileSync(join(folder, "ball.yaml"), BALL);
  execFileSync(program, ["run", join(folder, "ball.yaml"), "--quiet", "-o", ball]);
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--headless", "--no-sandbox", "--disable-gpu", "--use-gl=angle", "--use-angle=swiftshader", "--disable-quic",
      "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
});

after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

/* A page at these options (#...), with everything that went wrong in it. */
async function open(t, options, settings = {}, file = sheet) {
  const context = await browser.newContext({ viewport: { width: 800, height: 600 }, colorScheme: "light", ...settings });
  t.after(() => context.close());
  const page = await context.newPage();
  const wrong = [];
  page.on("console", (m) => { if (m.type() === "error") wrong.push(m.text()); });
  page.on("pageerror", (e) => wrong.push(e.message));
  page.on("request", (r) => { if (r.url().split("#")[0] !== pathToFileURL(file).href && !r.url().startsWith("data:")) wrong.push(`asked for ${r.url()}`); });
  await page.goto(pathToFileURL(file).href + options);
  await page.evaluate(() => window.drape.ready);
  await page.waitForSelector("#message.gone", { state: "attached" });
  await page.waitForTimeout(600); // the message fades
  return { page, wrong };
}

/* Pixels of a PNG as Chromium writes it: 8 bits, RGB or RGBA, not interlaced. */
function pixels(png) {
  let at = 8, width = 0, height = 0, channels = 0;
  const parts = [];
  while (at < png.length) {
    const size = png.readUInt32BE(at), type = png.toString("latin1", at + 4, at + 8), data = png.subarray(at + 8, at + 8 + size);
    if (type === "IHDR") [width, height, channels] = [data.readUInt32BE(0), data.readUInt32BE(4), data[9] === 6 ? 4 : 3];
    if (type === "IDAT") parts.push(data);
    at += 12 + size;
  }
  const raw = inflateSync(Buffer.concat(parts)), row = width * channels, out = new Uint8Array(row * height);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (row + 1)];
    for (let x = 0; x < row; x++) {
      const left = x < channels ? 0 : out[y * row + x - channels], up = y ? out[(y - 1) * row + x] : 0;
      const corner = x < channels || !y ? 0 : out[(y - 1) * row + x - channels], p = left + up - corner;
      const near = [left, up, corner].reduce((a, b) => (Math.abs(p - b) < Math.abs(p - a) ? b : a));
      out[y * row + x] = raw[y * (row + 1) + 1 + x] + [0, left, up, (left + up) >> 1, near][filter];
    }
  }
  return { width, height, at: (i) => out.subarray(channels * i, channels * i + 3), count: width * height };
}

let shots = 0;
async function shot(page) {
  const png = await page.screenshot();
  if (process.env.SHOTS) {
    mkdirSync(process.env.SHOTS, { recursive: true });
    writeFileSync(join(process.env.SHOTS, `${String(++shots).padStart(2, "0")}.png`), png);
  }
  return pixels(png);
}

/* Cloth is red and neither the light nor the dark background is. */
const clothShare = (p) => { let n = 0; for (let i = 0; i < p.count; i++) { const [r, , b] = p.at(i); if (r > b + 40) n++; } return n / p.count; };
const difference = (a, b) => { let n = 0; for (let i = 0; i < a.count; i++) { const p = a.at(i), q = b.at(i); if (Math.abs(p[0] - q[0]) + Math.abs(p[1] - q[1]) + Math.abs(p[2] - q[2]) > 24) n++; } return n / a.count; };

/* Whether it comes true within some seconds: transitions take their time, more so on a busy machine. */
async function soon(check) {
  for (let i = 0; i < 40; i++) {
    if (await check()) return true;
    await new Promise((done) => setTimeout(done, 250));
  }
  return false;
}

test("shows cloth, and another picture at another frame", LIMIT, async (t) => {
  const { page, wrong } = await open(t, "#frame=0&paused&bare");
  const first = await shot(page);
  assert.equal(await page.evaluate(() => window.drape.frames), FRAMES + 1);
  assert.equal(await page.evaluate(() => window.drape.vertices), 21 * 21);
  assert.equal(await page.evaluate(() => window.drape.frame), 0);
  await page.evaluate((n) => window.drape.setFrame(n), FRAMES);
  assert.equal(await page.evaluate(() => window.drape.frame), FRAMES);
  const last = await shot(page);
  assert.ok(clothShare(first) > .1, `cloth on ${clothShare(first)} of the picture`);
  assert.ok(clothShare(last) > .1);
  assert.ok(difference(first, last) > .01, `frames differ on ${difference(first, last)}`);
  assert.deepEqual(wrong, []);
});

test("the first scene of the documents moves", { timeout: 300000 }, async (t) => {
  const towel = join(folder, "towel.html");
  assert.equal(firstScene("README.md"), firstScene("docs/writing-scenes.md"));
  writeFileSync(join(folder, "towel.yaml"), firstScene("README.md"));
  execFileSync(program, ["run", join(folder, "towel.yaml"), "--quiet", "-o", towel]);
  const { page, wrong } = await open(t, "#frame=0&paused&bare", {}, towel);
  const pictures = [];
  for (const frame of [0, 25, 50]) {
    await page.evaluate((f) => window.drape.setFrame(f), frame);
    pictures.push(await shot(page));
  }
  for (const [a, b] of [[0, 1], [1, 2], [0, 2]]) {
    const share = difference(pictures[a], pictures[b]);
    assert.ok(share > .1, `pictures ${a} and ${b} differ on ${share}`);
  }
  assert.deepEqual(wrong, []);
});

test("follows cloth that goes far", LIMIT, async (t) => {
  const far = join(folder, "far.html");
  writeFileSync(join(folder, "far.yaml"), "drape: 1\ncloth: [{grid: {width: 60 cm, resolution: 5}, velocity: [9, 0, 0]}]\nforces: {gravity: [0, 0, 0]}\n");
  execFileSync(program, ["run", join(folder, "far.yaml"), "--quiet", "-o", far]);
  const { page, wrong } = await open(t, "#frame=0&paused&bare", {}, far);
  for (const frame of [0, 12, 25]) {
    await page.evaluate((f) => window.drape.setFrame(f), frame);
    const share = clothShare(await shot(page));
    assert.ok(share > .1, `cloth on ${share} of the picture`);
  }
  assert.deepEqual(wrong, []);
});

/* A sheet that stands upright and looks to the camera with either side: neither is black, in light or dark. */
test("both sides of a cloth are lit", LIMIT, async (t) => {
  for (const [name, angle] of [["front", 90], ["back", -90]]) {
    const file = join(folder, `${name}.html`);
    writeFileSync(join(folder, `${name}.yaml`), `drape: 1\ncloth: [{grid: {width: 60 cm, resolution: 5}, place: {rotate: [${angle}, 0, 0]}}]\ntime: {frames: 0}\n`);
    execFileSync(program, ["run", join(folder, `${name}.yaml`), "--quiet", "-o", file]);
    const { page } = await open(t, "#frame=0&paused&bare", {}, file);
    const p = await shot(page), middle = p.at(p.width * Math.floor(p.height / 2) + Math.floor(p.width / 2));
    assert.ok(middle[0] > 120, `${name}: ${[...middle]}`);
  }
});

/* Of every hue that a test asks for: the share of the picture whose pixels are of it, clearly. */
const share = (p, is) => { let n = 0; for (let i = 0; i < p.count; i++) if (is(...p.at(i))) n++; return n / p.count; };
const HUES = {
  teal: (r, g, b) => g > r + 50 && b > r + 50 && Math.abs(g - b) < 40,
  red: (r, g, b) => r > g + 70 && r > b + 70,
  green: (r, g, b) => g > r + 40 && g > b + 40,
  blue: (r, g, b) => b > r + 60 && b > g + 60,
  gold: (r, g, b) => r > b + 70 && g > b + 70,
};

test("a color is on both sides of a piece, and on a collider", LIMIT, async (t) => {
  for (const [name, angle] of [["front", 90], ["back", -90]]) {
    const file = join(folder, `color-${name}.html`);
    writeFileSync(join(folder, `color-${name}.yaml`), `drape: 1
cloth: [{grid: {width: 60 cm, resolution: 5}, place: {rotate: [${angle}, 0, 0]}, color: teal}]
colliders: [{name: ball, shape: sphere, radius: 15 cm, color: gold, place: {translate: [60 cm, 0, 0]}}]
time: {frames: 0}
`);
    execFileSync(program, ["run", join(folder, `color-${name}.yaml`), "--quiet", "-o", file]);
    const { page, wrong } = await open(t, "#frame=0&paused&bare", {}, file);
    const p = await shot(page);
    assert.ok(share(p, HUES.teal) > .08, `${name}: teal on ${share(p, HUES.teal)} of the picture`);
    assert.ok(share(p, HUES.gold) > .01, `${name}: gold on ${share(p, HUES.gold)} of the picture`);
    assert.ok(share(p, HUES.red) < .001, "nothing is of the color that pieces have otherwise");
    assert.deepEqual(wrong, []);
  }
});

/* The image has red and green above, blue and white below. */
test("an image lies on a piece as it is, and repeats where it is smaller", LIMIT, async (t) => {
  copyFileSync(fileURLToPath(new URL("../fuzz/corpus/image/quarters.png", import.meta.url)), join(folder, "quarters.png"));
  const made = async (name, texture, more = "") => {
    const file = join(folder, `${name}.html`);
    writeFileSync(join(folder, `${name}.yaml`), `drape: 1
cloth: [{grid: {width: 60 cm, resolution: 9${more}}, place: {rotate: [90, 0, 0]}, texture: ${texture}}]
time: {frames: 0}
`);
    execFileSync(program, ["run", join(folder, `${name}.yaml`), "--quiet", "-o", file]);
    const { page, wrong } = await open(t, "#frame=0&paused&bare&view=-90,0", {}, file);
    const p = await shot(page);
    assert.deepEqual(wrong, []);
    return p;
  };
  const once = await made("once", "quarters.png");
  const place = (x, y) => once.at(once.width * Math.round(once.height / 2 - y * 100) + Math.round(once.width / 2 + x * 100));
  for (const [x, y, hue] of [[-1, 1, "red"], [1, 1, "green"], [-1, -1, "blue"]])
    assert.ok(HUES[hue](...place(x, y)), `${hue} at ${x}, ${y}: ${[...place(x, y)]}`);
  assert.ok(Math.min(...place(1, -1)) > 170, `white: ${[...place(1, -1)]}`);
  const edges = (p) => { // how often red begins along the middle of the upper half
    let n = 0, y = Math.round(p.height / 2 - 70);
    for (let x = 1; x < p.width; x++) if (HUES.red(...p.at(p.width * y + x)) && !HUES.red(...p.at(p.width * y + x - 1))) n++;
    return n;
  };
  assert.equal(edges(once), 1);
  assert.equal(edges(await made("tiles", "{file: quarters.png, size: [20 cm, 60 cm]}")), 3);
  const tube = await made("tube", "quarters.png", ", tube: true"); // its seam must not show the whole image once more
  for (const hue of ["red", "blue"]) assert.ok(share(tube, HUES[hue]) > .005, hue);
});

test("energies over time: a chart with a curve and a number for each that is not zero", LIMIT, async (t) => {
  const { page, wrong } = await open(t, "#frame=8&paused&energy");
  const names = await page.$$eval("#curve-names li", (all) => all.map((e) => e.childNodes[1].textContent));
  assert.deepEqual(names, ["kinetic", "elastic", "weight", "to fabric", "to integrator"]); // no wind, and pins that stand still
  assert.equal(await page.$$eval("#curves .curve", (all) => all.length), names.length);
  const numbers = () => page.$$eval("#curve-names output", (all) => all.map((e) => e.textContent).join());
  const before = await numbers();
  await page.evaluate(() => window.drape.setFrame(2));
  assert.notEqual(await numbers(), before);
  const inside = await page.$$eval("#curve-names output", (all) => all.every((e) => e.getBoundingClientRect().right <= document.getElementById("energy").getBoundingClientRect().right));
  assert.ok(inside, "numbers stay within the chart");
  await page.keyboard.press("e");
  assert.equal(await page.isVisible("#energy"), false);
  await page.click("#energies");
  assert.equal(await page.isVisible("#energy"), true);
  assert.deepEqual(wrong, []);
});

test("the same address gives the same picture", LIMIT, async (t) => {
  const address = "#frame=7&paused&dark&view=-40,35,1.2";
  const one = await open(t, address), a = await shot(one.page);
  const two = await open(t, address), b = await shot(two.page);
  assert.equal(difference(a, b), 0);
});

test("wireframe, stretch, light and dark change the picture, and back", LIMIT, async (t) => {
  const { page, wrong } = await open(t, "#frame=8&paused");
  const plain = await shot(page);
  for (const [key, button, least] of [["w", "wire", .005], ["s", "stretch", .05], ["d", "theme", .5]]) {
    await page.keyboard.press(key);
    assert.ok(await soon(async () => difference(plain, await shot(page)) > least), `${key} changes the picture`);
    await page.click(`#${button}`);
    await page.mouse.move(5, 300);
    assert.ok(await soon(async () => difference(plain, await shot(page)) < .001), `${button} goes back`);
  }
  assert.deepEqual(wrong, []);
});

test("drag, wheel and keys", LIMIT, async (t) => {
  const { page, wrong } = await open(t, "#frame=5&paused&bare");
  const plain = await shot(page);
  await page.mouse.move(400, 300);
  await page.mouse.down();
  await page.mouse.move(520, 330, { steps: 4 });
  await page.mouse.up();
  assert.ok(await soon(async () => difference(plain, await shot(page)) > .05), "turned");
  await page.mouse.wheel(0, -600);
  assert.ok(await soon(async () => clothShare(await shot(page)) > 1.2 * clothShare(plain)), "nearer");
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.evaluate(() => window.drape.frame), 6);
  await page.keyboard.press("Home");
  assert.equal(await page.evaluate(() => window.drape.frame), 0);
  assert.deepEqual(wrong, []);
});

test("plays by itself, pauses, and rests; expected less motion", LIMIT, async (t) => {
  const small = { viewport: { width: 320, height: 240 } }; // drawn in software: leave the page time to answer
  const { page } = await open(t, "", small);
  await page.waitForFunction(() => window.drape.frame > 1);
  await page.keyboard.press(" ");
  const frame = await page.evaluate(() => window.drape.frame);
  await page.waitForTimeout(300);
  assert.equal(await page.evaluate(() => window.drape.frame), frame);
  const calm = await open(t, "", { ...small, reducedMotion: "reduce" });
  assert.equal(await calm.page.evaluate(() => window.drape.frame), 0);
  assert.equal(await calm.page.evaluate(() => document.body.classList.contains("playing")), false);
});

test("follows the system's dark, fits a phone, names its buttons", LIMIT, async (t) => {
  const { page, wrong } = await open(t, "#frame=5&paused", { colorScheme: "dark", viewport: { width: 390, height: 780 }, hasTouch: true, deviceScaleFactor: 2 });
  const p = await shot(page);
  assert.equal(p.width, 780);
  assert.ok(p.at(0)[0] < 80, "dark");
  assert.ok(clothShare(p) > .03);
  const unnamed = await page.evaluate(() => [...document.querySelectorAll("button, input")].filter((b) => !b.getAttribute("aria-label")).length);
  assert.equal(unnamed, 0);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
  assert.deepEqual(wrong, []);
});

test("says so where there is no WebGL 2", LIMIT, async (t) => {
  const context = await browser.newContext();
  t.after(() => context.close());
  const page = await context.newPage();
  await page.addInitScript(() => { HTMLCanvasElement.prototype.getContext = () => null; });
  await page.goto(pathToFileURL(sheet).href);
  await page.waitForSelector("#message.error");
  assert.match(await page.textContent("#message"), /WebGL 2/);
});

test("shows colliders, which move and can be hidden", LIMIT, async (t) => {
  const { page, wrong } = await open(t, "#frame=0&paused", {}, ball);
  assert.equal(await page.evaluate(() => window.drape.objects), 2);
  const first = await shot(page);
  await page.evaluate(() => window.drape.setFrame(4));
  const last = await shot(page);
  assert.ok(difference(first, last) > .02, `frames differ on ${difference(first, last)}`);
  assert.equal(await page.locator("#pieces button").count(), 3);
  await page.locator("#pieces button", { hasText: "ball" }).click();
  assert.ok(await soon(async () => difference(last, await shot(page)) > .02));
  assert.deepEqual(wrong, []);
});
