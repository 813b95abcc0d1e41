"use strict";
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const $ = id => document.getElementById(id);
const many = data.policies.length > data.together;
const on = data.policies.map(p => p.on);
const charts = []; // {u, box, readout, spec}
let theme = {};
const readTheme = () => {
  const style = getComputedStyle(document.documentElement);
  theme = new Proxy({}, {get: (cache, name) => name in cache ? cache[name] : cache[name] = style.getPropertyValue("--" + name).trim()});
};
readTheme();

const step = data.x.length > 1 ? data.x[1] - data.x[0] : 1;
const first = 0, last = data.x[data.x.length - 1] + step / 2;

// Words, as the rest of the page spells them.
const digits = (v, n) => { const s = v.toPrecision(n); return s.includes("e") ? String(Number(s)) : s.includes(".") ? s.replace(/\.?0+$/, "") : s; };
const two = n => String(n).padStart(2, "0");
function seconds(v) {
  if (v == null) return "–";
  if (v < 0) return "−" + seconds(-v);
  if (v === 0) return "0s";
  if (v < 0.9995e-3) return digits(v * 1e6, 3) + "µs";
  if (v < 0.9995) return digits(v * 1e3, 3) + "ms";
  if (v < 59.95) return digits(v, v < 10 ? 2 : 3) + "s";
  const s = Math.round(v);
  if (s < 3600) return Math.floor(s / 60) + "m" + (s % 60 ? two(s % 60) + "s" : "");
  const m = Math.round(v / 60);
  if (m < 1440) return Math.floor(m / 60) + "h" + (m % 60 ? two(m % 60) + "m" : "");
  const h = Math.round(v / 3600);
  return Math.floor(h / 24) + "d" + (h % 24 ? two(h % 24) + "h" : "");
}
const count = v => v == null ? "–" : v >= 999.5 ? v >= 999500 ? digits(v / 1e6, 3) + "M" : digits(v / 1e3, 3) + "k" : digits(v, v < 10 ? 2 : 3);
const share = v => v == null ? "–" : digits(v * 100, 3) + "%";

const specs = {
  wait: {key: "p99", title: "p99 of fresh waits", height: 300, words: seconds, log: data.wait, band: true, limits: true},
  fresh: {key: "fresh", height: 190, words: count, least: 1},
  retry: {key: "retry", height: 190, words: count, least: 1},
  attempts: {key: "attempts", height: 190, words: v => v == null ? "–" : count(v) + "/s"},
  busy: {key: "busy", height: 160, words: share, top: 1},
};

const clockSteps = [1e-3, 2e-3, 5e-3, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 432000, 864000, 1728000, 4320000, 8640000, 86400000];
const decades = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, .1, 1, 10, 60, 600, 3600, 36000, 864000, 8640000, 86400000, 864000000];

function shade(u, from, to, color) {
  const x0 = Math.max(u.valToPos(from, "x", true), u.bbox.left), x1 = Math.min(u.valToPos(to, "x", true), u.bbox.left + u.bbox.width);
  if (x1 < u.bbox.left || x0 > u.bbox.left + u.bbox.width) return;
  u.ctx.save();
  u.ctx.globalAlpha = .1;
  u.ctx.fillStyle = color;
  u.ctx.fillRect(x0, u.bbox.top, Math.max(x1 - x0, devicePixelRatio), u.bbox.height);
  u.ctx.restore();
}
function drawWindows(u) {
  const c = u.ctx, ratio = devicePixelRatio;
  if (data.warmup > 0) shade(u, 0, data.warmup, theme.warm);
  let free = -Infinity; // where the names so far end
  for (const s of data.storms) {
    shade(u, s.from, s.to, theme.storm);
    const x0 = Math.max(u.valToPos(s.from, "x", true), u.bbox.left), x1 = Math.min(u.valToPos(s.to, "x", true), u.bbox.left + u.bbox.width);
    if (x1 < u.bbox.left || x0 > u.bbox.left + u.bbox.width) continue;
    c.save();
    c.fillStyle = theme.storm;
    c.fillRect(x0, u.bbox.top, Math.max(x1 - x0, ratio), 2 * ratio);
    c.font = `600 ${11 * ratio}px system-ui, sans-serif`;
    c.textBaseline = "bottom";
    const name = s.name.length > 30 ? s.name.slice(0, 19) + "…" + s.name.slice(-10) : s.name;
    const left = Math.min(x0, u.bbox.left + u.bbox.width - c.measureText(name).width);
    if (left > free) {
      c.fillText(name, left, u.bbox.top - ratio);
      free = left + c.measureText(name).width + 6 * ratio;
    }
    c.restore();
  }
}
function drawLimits(u) {
  const c = u.ctx, ratio = devicePixelRatio;
  for (const l of data.limits) {
    const y = u.valToPos(l.at, "y", true);
    if (!(y >= u.bbox.top && y <= u.bbox.top + u.bbox.height)) continue;
    c.save();
    c.strokeStyle = c.fillStyle = theme.ink;
    c.lineWidth = ratio;
    c.setLineDash([5 * ratio, 4 * ratio]);
    c.beginPath(); c.moveTo(u.bbox.left, y); c.lineTo(u.bbox.left + u.bbox.width, y); c.stroke();
    c.font = `${11 * ratio}px system-ui, sans-serif`;
    c.textAlign = "right";
    c.textBaseline = "bottom";
    const x = u.bbox.left + u.bbox.width - 4 * ratio, wide = c.measureText(l.text).width;
    c.save(); c.globalAlpha = .8; c.fillStyle = theme.bg; c.fillRect(x - wide - 2 * ratio, y - 15 * ratio, wide + 4 * ratio, 14 * ratio); c.restore();
    c.fillText(l.text, x, y - 2 * ratio);
    c.restore();
  }
}

// Values with a gap on both sides are dots: a line needs two.
function lonely(values, size, color) {
  const at = values.flatMap((v, i) => v != null && values[i - 1] == null && values[i + 1] == null ? [i] : []);
  return {show: false, size, width: 0, stroke: color, fill: color, filter: () => at.length ? at : null};
}

function build(box, readout, spec) {
  const own = data.policies.map(p => spec.log ? p[spec.key].map(v => v == null ? null : Math.min(Math.max(v, spec.log.from), spec.log.to)) : p[spec.key]);
  const edge = values => values.map(v => v == null ? null : Math.min(Math.max(v, spec.log.from), spec.log.to));
  const columns = [data.x], series = [{}], bands = [], lines = [];
  const dashes = [[], [7, 4], [2, 3]];
  if (many) data.policies.forEach((p, i) => { // the others, in grey, below all
    columns.push(own[i]);
    series.push({stroke: () => theme.backdrop, width: 1, points: lonely(own[i], 3, () => theme.backdrop)});
  });
  data.policies.forEach((p, i) => {
    const line = {i, at: 0, parts: []};
    if (spec.band && data.seeds > 1) {
      columns.push(edge(p.high), edge(p.low));
      for (const _ of [0, 1]) { series.push({stroke: "transparent", width: 0, points: {show: false}, show: on[i]}); line.parts.push(series.length - 1); }
      bands.push({series: [series.length - 2, series.length - 1], fill: () => theme["p" + p.hue] + "30"});
    }
    columns.push(own[i]);
    series.push({label: p.name, stroke: () => theme["p" + p.hue], width: 1.7, dash: dashes[Math.min(Math.floor(i / 8), 2)], points: lonely(own[i], 5, () => theme["p" + p.hue]), show: on[i]});
    line.at = series.length - 1;
    line.parts.push(line.at);
    lines.push(line);
  });
  const axis = {stroke: () => theme.muted, ticks: {show: false}, font: "12px system-ui, sans-serif"};
  const y = spec.log ? {distr: 3, range: () => [spec.log.from, spec.log.to]}
    : {range: (u, low, high) => [0, spec.top ? spec.top * 1.04 : Math.max(high || 0, spec.least || 0) * 1.06 || 1]};
  const marks = decades.filter(v => spec.log && v >= spec.log.from * .999 && v <= spec.log.to * 1.001);
  const chart = {box, readout, spec, lines, at: null}; // at: where the cursor is, or will be when all is drawn
  chart.u = new uPlot({
    width: Math.max(box.clientWidth, 200), height: spec.height, padding: [18, 20, 0, 0],
    legend: {show: false}, series, bands,
    cursor: {sync: {key: "qsim", setSeries: false}, drag: {x: true, y: false, setScale: true}, points: {size: 7}, y: false},
    scales: {x: {time: false, range: (u, min, max) => [min <= data.x[0] ? first : min, max >= data.x[data.x.length - 1] ? last : max]}, y},
    axes: [
      {...axis, size: 32, grid: {show: false}, incrs: clockSteps, space: 74, values: (u, ticks) => ticks.map(seconds)},
      {...axis, size: 58, grid: {stroke: () => theme.grid, width: 1}, space: 34,
        ...(spec.log ? {splits: () => marks, filter: (u, splits) => splits, values: (u, ticks) => ticks.map((v, i) => i === 0 && spec.log.floor && v <= spec.log.floor * 3 ? "≤ " + seconds(v) : seconds(v))}
          : {values: (u, ticks) => ticks.map(v => spec.top ? share(v) : count(v))})},
    ],
    hooks: {
      drawClear: [drawWindows],
      draw: spec.limits ? [drawLimits] : [],
      setCursor: [u => { chart.at = u.cursor.left >= 0 ? u.cursor.idx : null; read(chart); }],
      setScale: [(u, key) => { if (key === "x") follow(u); }],
    },
  }, columns, box);
  charts.push(chart);
}

// What the cursor is at, below a chart.
function read(chart) {
  const at = chart.u.cursor.idx;
  const none = at == null || chart.u.cursor.left < 0;
  chart.readout.classList.toggle("hint", none);
  chart.readout.replaceChildren(none && chart === charts[0] ? "Point at a chart, or move through it with the arrow keys, for values; drag to zoom." : "");
  if (none) return;
  const part = (text, hue) => {
    const span = document.createElement("span");
    if (hue != null) {
      const mark = document.createElement("i");
      mark.style.background = theme["p" + hue];
      span.append(mark);
    }
    span.append(text);
    chart.readout.append(span);
  };
  part("at " + seconds(data.x[at]));
  data.policies.forEach((p, i) => { if (on[i]) part(p.name + " " + chart.spec.words(p[chart.spec.key][at]), p.hue); });
}

// All charts show the same stretch of time.
let following = false;
function follow(from) {
  if (following) return;
  following = true;
  const {min, max} = from.scales.x;
  if (min != null) {
    for (const c of charts) if (c.u !== from && (c.u.scales.x.min !== min || c.u.scales.x.max !== max)) c.u.setScale("x", {min, max});
    $("range").textContent = min > first || max < last ? seconds(Math.max(min, 0)) + " to " + seconds(max) : "";
  }
  following = false;
}
function show(min, max) {
  const wide = Math.min(Math.max(max - min, 4 * step), last - first);
  min = Math.min(Math.max((min + max - wide) / 2, first), last - wide);
  if (charts.length) charts[0].u.setScale("x", {min, max: min + wide});
}
const zoom = factor => {
  const {min, max} = charts[0].u.scales.x, at = charts.map(c => c.at).find(at => at != null);
  const middle = at != null ? data.x[at] : (min + max) / 2, half = (max - min) * factor / 2;
  show(middle - half, middle + half);
};
const move = part => { const {min, max} = charts[0].u.scales.x, by = (max - min) * part; show(min + by, max + by); };
const reset = () => show(first, last);

function toggle(i, state) {
  on[i] = state;
  document.querySelector(`.toggle[data-policy="${i}"]`).setAttribute("aria-pressed", String(state));
  for (const c of charts) {
    c.u.batch(() => c.lines[i].parts.forEach(k => c.u.setSeries(k, {show: state})));
    read(c);
  }
}

// The cursor by keyboard, spoken.
function onKey(event, chart) {
  const u = chart.u, n = data.x.length;
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  let at = chart.at;
  const step = event.shiftKey ? 10 : 1;
  const from = data.x.findIndex(v => v >= u.scales.x.min), to = data.x.findLastIndex(v => v <= u.scales.x.max);
  switch (event.key) {
  case "ArrowRight": at = at == null ? from : Math.min(at + step, n - 1); break;
  case "ArrowLeft": at = at == null ? to : Math.max(at - step, 0); break;
  case "Home": at = from; break;
  case "End": at = to; break;
  case "+": case "=": zoom(.5); break;
  case "-": zoom(2); break;
  case "Escape": reset(); break;
  default: return;
  }
  event.preventDefault();
  if (at == null) return;
  chart.at = at;
  if (data.x[at] < u.scales.x.min || data.x[at] > u.scales.x.max) {
    const half = (u.scales.x.max - u.scales.x.min) / 2;
    show(data.x[at] - half, data.x[at] + half);
  }
  requestAnimationFrame(() => { // when a new stretch of time is laid out
    u.setCursor({left: u.valToPos(data.x[at], "x"), top: u.over.clientHeight / 2});
    $("spoken").textContent = [...chart.readout.children].map(part => part.textContent).join(", ");
  });
}

if (data.x.length > 1) {
  for (const live of document.querySelectorAll(".live")) {
    live.hidden = false;
    for (const still of live.closest("figure").querySelectorAll(".still")) still.hidden = true;
  }
  for (const live of document.querySelectorAll(".chart-box")) {
    const box = live.querySelector(".plot");
    build(box, live.querySelector(".readout"), specs[box.dataset.chart]);
    const chart = charts[charts.length - 1];
    box.addEventListener("keydown", event => onKey(event, chart));
  }
  charts.forEach(read);
  $("tools").hidden = false;
  $("tools").classList.toggle("few", !many);
  // What links and the keyboard lead to must not lie below the tools, where they stay on top.
  if (!many) new ResizeObserver(() => document.documentElement.style.setProperty("--tools", $("tools").offsetHeight + 8 + "px")).observe($("tools"));
  for (const button of document.querySelectorAll(".toggle")) {
    const i = Number(button.dataset.policy);
    button.addEventListener("click", () => toggle(i, !on[i]));
  }
  for (const [id, state] of [["all", true], ["none", false]]) if ($(id)) $(id).addEventListener("click", () => on.forEach((_, i) => toggle(i, state)));
  $("zoom-in").addEventListener("click", () => zoom(.5));
  $("zoom-out").addEventListener("click", () => zoom(2));
  $("earlier").addEventListener("click", () => move(-.25));
  $("later").addEventListener("click", () => move(.25));
  $("reset").addEventListener("click", reset);
  addEventListener("resize", () => charts.forEach(c => c.u.setSize({width: Math.max(c.box.clientWidth, 200), height: c.spec.height})));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readTheme(); charts.forEach(c => c.u.redraw(false)); });
}

// A printed page shows all there is.
let opened = [];
addEventListener("beforeprint", () => { opened = [...document.querySelectorAll("details:not([open])")]; opened.forEach(d => d.open = true); });
addEventListener("afterprint", () => opened.forEach(d => d.open = false));
})();
