// The page that `drape bench NAME -o DIR` writes, in a real browser. Every plot has curves that are drawn inside of it, with
// colours that differ from the paper's, in light, in dark and in print. No table or plot is wider than the page.
// BENCH names the program (default: build/bench/drape-bench), CHROMIUM the browser (default: /usr/bin/chromium). With SHOTS=FOLDER the
// pictures stay there.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const bench = process.env.BENCH ?? fileURLToPath(new URL("../../build/bench/drape-bench", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "drape-bench-page-"));
const LIMIT = { timeout: 300000, skip: !existsSync(bench) && "built without benchmarks" };
const NAMES = ["notes", "chen", "hauth", "tamstorf", "ascher-boxerman"];

let browser;

before(async () => {
  if (LIMIT.skip) return;
  execFileSync(bench, [...NAMES, "--quick", "-o", folder], { stdio: "ignore" });
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"],
  });
});

after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

/* What is wrong with the plots of the page, as text. */
const findWrong = () => {
  const wrong = [];
  for (const svg of document.querySelectorAll("svg[data-plot]")) {
    const frame = svg.getBoundingClientRect(), name = svg.dataset.plot;
    const shapes = [...svg.querySelectorAll("path.curve, circle.dot, circle.ring, rect.dot")];
    const drawn = shapes.filter((s) => { const b = s.getBoundingClientRect(); return b.width > 3 || b.height > 3; });
    if (!drawn.length) wrong.push(`${name}: nothing is drawn`);
    for (const s of [...drawn, ...svg.querySelectorAll("text")]) {
      const b = s.getBoundingClientRect();
      if (b.left < frame.left - 2 || b.right > frame.right + 2 || b.top < frame.top - 2 || b.bottom > frame.bottom + 2)
        wrong.push(`${name}: ${s.textContent || s.className.baseVal} lies outside`);
    }
    const paper = getComputedStyle(document.body).backgroundColor;
    for (const s of drawn) if (s.matches("path") && getComputedStyle(s).stroke === paper) wrong.push(`${name}: a curve is invisible`);
    for (const part of ["text.tick", "text.label", "text.legend"]) if (!svg.querySelector(part)) wrong.push(`${name}: no ${part}`);
  }
  if (document.documentElement.scrollWidth > innerWidth + 1) wrong.push("the page is wider than the window");
  return wrong;
};

for (const [name, media] of [["light", { colorScheme: "light" }], ["dark", { colorScheme: "dark" }], ["print", { media: "print" }]]) {
  test(`every plot is drawn: ${name}`, LIMIT, async (t) => {
    const context = await browser.newContext({ viewport: { width: 1240, height: 1600 } });
    t.after(() => context.close());
    const page = await context.newPage();
    await page.emulateMedia(media);
    await page.goto(pathToFileURL(join(folder, "index.html")).href);
    assert.ok(await page.locator("svg[data-plot]").count() >= 30);
    assert.deepEqual(await page.evaluate(findWrong), []);
    if (process.env.SHOTS) {
      mkdirSync(process.env.SHOTS, { recursive: true });
      await page.screenshot({ path: join(process.env.SHOTS, `bench-${name}.png`), fullPage: true });
    }
  });
}
