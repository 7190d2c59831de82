/* plots.js: small curves that follow a simulation.
 *
 *   const p = DrapePlots.create({iterations: canvas, residual: canvas, stages: canvas, energy: canvas});
 *   p.add(numbers);  p.solved([{history, colour}]);  p.draw();
 *
 * The last STEPS steps are kept. */
"use strict";
const DrapePlots = (() => {

const STEPS = 300;
const STAGES = [["assemble", "--c0"], ["precondition", "--c3"], ["solve", "--c1"], ["contact", "--c5"], ["update", "--c2"]];
const ENERGIES = [["kinetic", "--c1"], ["elastic", "--c0"], ["weight", "--c4"]];

/* 1, 2 or 5 times a power of ten, so that `range` has at most `most` of them. */
function niceStep(range, most) {
  const power = 10 ** Math.floor(Math.log10(range / most));
  return power * [1, 2, 5, 10].find((k) => k * power * most >= range * .999);
}
const brief = (x) => (x === 0 ? "0" : Math.abs(x) >= 1e-3 && Math.abs(x) < 1e5 ? String(+x.toPrecision(3)) : x.toExponential(0).replace("e+", "e"));

function create(canvases) {
  const rows = [];
  let curves = [];

  function begin(canvas) {
    const style = getComputedStyle(document.documentElement), scale = Math.min(devicePixelRatio || 1, 2);
    const width = canvas.clientWidth, height = canvas.clientHeight;
    if (canvas.width !== Math.round(width * scale)) canvas.width = Math.round(width * scale);
    if (canvas.height !== Math.round(height * scale)) canvas.height = Math.round(height * scale);
    const c = canvas.getContext("2d");
    c.setTransform(scale, 0, 0, scale, 0, 0);
    c.clearRect(0, 0, width, height);
    c.font = "10px ui-sans-serif, system-ui, sans-serif";
    c.lineJoin = "round";
    return { c, left: 34, right: width - 2, top: 6, bottom: height - 4, colour: (name) => style.getPropertyValue(name).trim() };
  }

  function axis(p, low, high) {
    const { c, left, right, top, bottom } = p, up = (v) => bottom - (bottom - top) * (v - low) / (high - low || 1);
    const step = niceStep(high - low || 1, 4);
    c.lineWidth = 1;
    c.textAlign = "right";
    for (let k = Math.ceil(low / step - 1e-6); k * step <= high + 1e-6 * step; k++) {
      c.strokeStyle = p.colour(k === 0 ? "--soft" : "--edge");
      c.globalAlpha = k === 0 ? .5 : 1;
      c.beginPath();
      c.moveTo(left, up(k * step));
      c.lineTo(right, up(k * step));
      c.stroke();
      c.globalAlpha = 1;
      c.fillStyle = p.colour("--soft");
      c.fillText(brief(+(k * step).toPrecision(6)).replace("-", "\u2212"), left - 4, up(k * step) + 3);
    }
    return up;
  }

  const across = (p, i, count) => p.left + (p.right - p.left) * (count < 2 ? 1 : i / (count - 1));

  function line(p, values, up, colour) {
    const { c } = p;
    c.strokeStyle = colour;
    c.lineWidth = 1.4;
    c.beginPath();
    values.forEach((v, i) => c.lineTo(across(p, i, values.length), up(v)));
    c.stroke();
  }

  /* Names in their colours. */
  function names(p, list) {
    const { c } = p;
    c.textAlign = "left";
    let at = p.left + 4;
    for (const [name, colour] of list) {
      c.fillStyle = p.colour(colour);
      c.fillText(name, at, p.top - 7);
      at += c.measureText(name).width + 6;
    }
  }

  function drawIterations() {
    const p = begin(canvases.iterations), values = rows.map((r) => r.iterations), most = Math.max(1, ...values);
    line(p, values, axis(p, 0, most), p.colour("--c1"));
  }

  function drawStages() {
    const p = { ...begin(canvases.stages), top: 17 }, { c } = p; // names stand above
    const shown = STAGES.filter(([name]) => rows.some((r) => r[name] > 0));
    const totals = rows.map((r) => 1000 * shown.reduce((sum, [name]) => sum + r[name], 0));
    const high = Math.max(1e-3, totals.slice().sort((a, b) => a - b)[Math.floor(.98 * (totals.length - 1))] * 1.15); // one late step does not flatten all others
    const up = axis(p, 0, high), sums = rows.map(() => 0);
    for (const [name, colour] of shown) {
      const from = sums.slice();
      rows.forEach((r, i) => { sums[i] += 1000 * r[name]; });
      c.fillStyle = p.colour(colour);
      c.globalAlpha = .8;
      c.beginPath();
      sums.forEach((v, i) => c.lineTo(across(p, i, rows.length), up(Math.min(v, high))));
      for (let i = rows.length - 1; i >= 0; i--) c.lineTo(across(p, i, rows.length), up(Math.min(from[i], high)));
      c.fill();
      c.globalAlpha = 1;
    }
    names(p, shown.map(([name, colour]) => [{ precondition: "set-up", update: "rest" }[name] ?? name, colour]));
  }

  function drawEnergy() {
    const p = { ...begin(canvases.energy), top: 17 };
    let low = 0, high = 0;
    for (const r of rows) for (const [name] of ENERGIES) { low = Math.min(low, r[name]); high = Math.max(high, r[name]); }
    const up = axis(p, low, high || (low ? 0 : 1));
    for (const [name, colour] of ENERGIES) line(p, rows.map((r) => r[name]), up, p.colour(colour));
    names(p, ENERGIES);
  }

  /* Decades of the residual over the iterations. */
  function drawResidual() {
    const p = begin(canvases.residual), { c } = p;
    const most = Math.max(2, ...curves.map((k) => k.history.length));
    let low = -1;
    for (const k of curves) for (const r of k.history) if (r > 0) low = Math.min(low, Math.max(Math.floor(Math.log10(r)), -14));
    const up = (v) => p.bottom - (p.bottom - p.top) * (v - low) / (0 - low);
    c.textAlign = "right";
    for (let k = 0; k >= low; k -= Math.ceil(-low / 3)) {
      c.strokeStyle = p.colour("--edge");
      c.lineWidth = 1;
      c.beginPath();
      c.moveTo(p.left, up(k));
      c.lineTo(p.right, up(k));
      c.stroke();
      c.fillStyle = p.colour("--soft");
      c.fillText(k === 0 ? "1" : `1e${k}`.replace("-", "\u2212"), p.left - 4, up(k) + 3);
    }
    for (const k of curves) {
      c.strokeStyle = p.colour(k.colour);
      c.lineWidth = 1.4;
      c.beginPath();
      k.history.forEach((r, i) => c.lineTo(p.left + (p.right - p.left) * i / (most - 1), up(Math.min(0, Math.log10(Math.max(r, 1e-14))))));
      c.stroke();
    }
  }

  return {
    add(row) { rows.push(row); if (rows.length > STEPS) rows.shift(); },
    clear() { rows.length = 0; curves = []; },
    solved(list) { curves = list; },
    draw() { if (rows.length) { drawIterations(); drawResidual(); drawStages(); drawEnergy(); } },
    get rows() { return rows; }, get curves() { return curves; },
  };
}

return { create, brief };
})();
