"use strict";
// What the parts of the script share.
const page = (() => {
const $ = id => document.getElementById(id);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const data = JSON.parse($("data").textContent);
const on = data.policies.map(p => p.on);
const step = data.x.length > 1 ? data.x[1] - data.x[0] : 1, last = data.x[data.x.length - 1] + step / 2;
const color = name => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();

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
const parse = words => [...words.matchAll(/([\d.]+)(ms|µs|d|h|m|s)/g)].reduce((sum, [, n, unit]) => sum + n * {d: 86400, h: 3600, m: 60, s: 1, ms: 1e-3, µs: 1e-6}[unit], 0);
const count = v => v == null ? "–" : v >= 999.5 ? v >= 999500 ? digits(v / 1e6, 3) + "M" : digits(v / 1e3, 3) + "k" : digits(v, v < 10 ? 2 : 3);
const share = v => v == null ? "–" : digits(v * 100, 3) + "%";
const values = { // of a policy at a time, by what a plot shows
  wait: (p, i, row) => seconds(p.p99[row][i]),
  backlog: (p, i) => count(p.fresh[i]) + " fresh, " + count(p.retry[i]) + (p.retry[i] === 1 ? " retry" : " retries"),
  attempts: (p, i) => p.attempts[i] == null ? "–" : count(p.attempts[i]) + "/s",
  busy: (p, i) => share(p.busy[i]),
};

// Plots over time: the part of a drawing that the script zooms, and what stands around it.
const svg = (name, attributes, into) => {
  const e = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key in attributes) e.setAttribute(key, attributes[key]);
  return into.appendChild(e);
};
const number = (e, name) => Number(e.getAttribute(name));
const plots = all("svg.time").map(el => {
  const root = el.ownerSVGElement, box = {x: number(el, "x"), y: number(el, "y"), w: number(el, "width"), h: number(el, "height")};
  el.prepend(svg("rect", {x: box.x, y: box.y, width: box.w, height: box.h, fill: "transparent"}, el)); // which the pointer hits
  const line = svg("line", {class: "cursor", y1: box.y, y2: box.y + box.h, visibility: "hidden"}, el);
  const chosen = svg("rect", {class: "chosen", y: box.y, height: box.h, visibility: "hidden"}, el);
  const ticks = el.nextElementSibling, around = [];
  for (let e = ticks.nextElementSibling; e && !e.matches("svg.time"); e = e.nextElementSibling) around.push(e);
  return {el, root, box, line, chosen, ticks, until: Number(el.dataset.until), from: 0, to: Number(el.dataset.until), show: el.dataset.show, policy: el.dataset.policy,
    row: Number(el.dataset.row || 0), first: all("text", ticks).map(t => t.cloneNode(true)), names: around.filter(e => e.matches("g.name")).map(e => ({e, from: Number(e.dataset.from), to: Number(e.dataset.to), box: null})),
    remark: around.find(e => e.matches("g.remark"))?.querySelector("text")};
});
for (const p of plots) if (p.remark) p.peak = p.remark.cloneNode(true);
const timeAt = (plot, event) => {
  const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(plot.el.getScreenCTM().inverse());
  return Math.min(Math.max((at.x - plot.box.x) / plot.box.w * plot.until, 0), plot.until);
};
const place = (plot, t) => plot.box.x + plot.box.w * t / plot.until;

let cursor = null; // index of data.x
function point(i) {
  cursor = i;
  for (const p of plots) {
    const seen = i != null && data.x[i] <= p.until;
    p.line.setAttribute("visibility", seen ? "visible" : "hidden");
    if (seen) for (const end of ["x1", "x2"]) p.line.setAttribute(end, place(p, data.x[i]));
    if (!p.remark || p.policy == null || !values[p.show]) continue;
    p.remark.textContent = seen ? values[p.show](data.policies[p.policy], i, p.row) : p.peak.textContent;
    if (seen) { // it ends where it ended
      p.remark.removeAttribute("textLength");
      p.remark.setAttribute("text-anchor", "end");
      p.remark.setAttribute("x", p.box.x + p.box.w);
    } else {
      p.remark.removeAttribute("text-anchor");
      for (const name of ["x", "textLength"]) if (p.peak.hasAttribute(name)) p.remark.setAttribute(name, p.peak.getAttribute(name));
    }
  }
}
// In words: what a plot shows at the cursor, or the backlog if it shows something else.
function read(plot) {
  if (cursor == null) return;
  const show = values[plot.show] ? plot.show : "backlog";
  const parts = ["at " + seconds(data.x[cursor]) + (show === "wait" && data.classes[plot.row] ? ", " + data.classes[plot.row] : "")];
  data.policies.forEach((p, i) => { if (on[i]) parts.push(p.name + " " + values[show](p, cursor, plot.row)); });
  $("at").replaceChildren(...parts.map(words => Object.assign(document.createElement("span"), {textContent: words})));
  return parts.join(", ");
}
const indexAt = t => Math.min(Math.max(Math.round((t - data.x[0]) / step), 0), data.x.length - 1);

// Zoom. All plots show the same stretch, and the address keeps it: #t=9m-22m.
const clockSteps = [1e-3, 2e-3, 5e-3, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 432000, 864000, 1728000, 4320000, 8640000];
let from = 0, to = last;
const whole = () => from <= 0 && to >= last * .9999;
function show(min, max) {
  const wide = Math.min(Math.max(max - min, 4 * step), last);
  from = Math.min(Math.max((min + max - wide) / 2, 0), last - wide);
  to = from + wide;
  for (const p of plots) {
    p.from = whole() ? 0 : Math.min(from, p.until - step);
    p.to = whole() ? p.until : Math.min(to, p.until);
    const {x, y, w, h} = p.box, left = x + w * p.from / p.until;
    p.el.setAttribute("viewBox", [left, y, w * (p.to - p.from) / p.until, h].join(" "));
    const seen = t => x + w * (t - p.from) / (p.to - p.from);
    p.ticks.replaceChildren();
    if (whole()) p.ticks.append(...p.first.map(t => t.cloneNode(true)));
    else {
      const most = Math.max(p.first.length - 1, 2), every = clockSteps.find(s => (p.to - p.from) / s <= most) || 864e4;
      for (let t = Math.ceil(p.from / every - 1e-9) * every; t <= p.to; t += every) {
        const tick = p.first[0].cloneNode(true);
        tick.removeAttribute("textLength");
        tick.setAttribute("text-anchor", "middle");
        tick.setAttribute("x", seen(t));
        tick.textContent = t ? seconds(t) : "0";
        p.ticks.append(tick);
      }
    }
    for (const n of p.names) { // over the middle of what is seen of their stretch, and not beyond the plot
      if (!n.e.getClientRects().length) continue;
      n.box ||= n.e.querySelector("text").getBBox();
      const a = Math.max(n.from, p.from), b = Math.min(n.to, p.to);
      n.e.setAttribute("visibility", a <= b ? "visible" : "hidden");
      const point = n.from === n.to, middle = (seen(a) + seen(b)) / 2, home = place(p, n.from);
      const at = whole() ? n.box.x : point ? n.box.x + seen(a) - home : middle - n.box.width / 2;
      n.e.setAttribute("transform", `translate(${Math.min(Math.max(at, x), x + w - n.box.width) - n.box.x} 0)`);
    }
  }
  $("range").textContent = whole() ? "" : seconds(from) + " to " + seconds(to);
}
function zoomed(min, max) {
  show(min, max);
  history.replaceState(null, "", whole() ? location.pathname + location.search : "#t=" + seconds(from) + "-" + seconds(to));
}
const zoom = factor => { const middle = cursor != null ? data.x[cursor] : (from + to) / 2, half = (to - from) * factor / 2; zoomed(middle - half, middle + half); };
const move = part => { const by = (to - from) * part; zoomed(from + by, to + by); };
function follow() {
  const wanted = /^#t=([^-]+)-(.+)$/.exec(decodeURIComponent(location.hash));
  if (wanted) show(parse(wanted[1]), parse(wanted[2]));
  const target = /^#[\w-]+$/.test(location.hash) && $(location.hash.slice(1));
  if (target instanceof HTMLDetailsElement) target.open = true;
}

for (const plot of plots) {
  let began = null;
  plot.el.addEventListener("pointermove", event => {
    const t = timeAt(plot, event);
    point(indexAt(t));
    read(plot);
    if (began == null) return;
    for (const p of plots) {
      p.chosen.setAttribute("visibility", "visible");
      p.chosen.setAttribute("x", place(p, Math.min(began, t)));
      p.chosen.setAttribute("width", Math.max(p.box.w * Math.abs(t - began) / p.until, 0));
    }
  });
  plot.el.addEventListener("pointerdown", event => { if (event.button === 0 && event.pointerType === "mouse") { began = timeAt(plot, event); plot.el.setPointerCapture(event.pointerId); event.preventDefault(); } });
  plot.el.addEventListener("pointerup", event => {
    const t = timeAt(plot, event), start = began;
    began = null;
    for (const p of plots) p.chosen.setAttribute("visibility", "hidden");
    if (start != null && Math.abs(t - start) > (to - from) / 100) zoomed(Math.min(start, t), Math.max(start, t));
  });
  plot.el.addEventListener("pointerleave", () => { if (began == null) point(null); });
  plot.el.addEventListener("dblclick", () => zoomed(0, last));
}
// The cursor by keyboard, spoken.
function onKey(event, plot) {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const by = event.shiftKey ? 10 : 1, first = indexAt(from + step / 2), end = indexAt(to - step / 2);
  let at = cursor;
  switch (event.key) {
  case "ArrowRight": at = at == null ? first : Math.min(at + by, data.x.length - 1); break;
  case "ArrowLeft": at = at == null ? end : Math.max(at - by, 0); break;
  case "Home": at = first; break;
  case "End": at = end; break;
  case "+": case "=": zoom(.5); break;
  case "-": zoom(2); break;
  case "Escape": zoomed(0, last); break;
  default: return;
  }
  event.preventDefault();
  if (at == null) return;
  if (data.x[at] < from || data.x[at] > to) zoomed(data.x[at] - (to - from) / 2, data.x[at] + (to - from) / 2);
  point(at);
  $("spoken").textContent = read(plot);
}
for (const box of all(".timed")) {
  box.setAttribute("role", "application");
  box.setAttribute("aria-describedby", "keys");
  const plot = plots.find(p => box.contains(p.el));
  box.addEventListener("keydown", event => onKey(event, plot));
}
for (const [id, act] of [["zoom-in", () => zoom(.5)], ["zoom-out", () => zoom(2)], ["earlier", () => move(-.25)], ["later", () => move(.25)], ["reset", () => zoomed(0, last)]]) $(id).addEventListener("click", act);

// Policies: a click shows or hides one, with shift that one alone.
function apply() {
  for (const e of all("[data-policy]")) if (!e.matches("svg.time")) e.classList.toggle("off", !on[e.dataset.policy]);
  for (const b of all("[data-toggle]")) b.setAttribute("aria-pressed", String(on[b.dataset.toggle]));
  dispatchEvent(new Event("policies"));
}
for (const button of all("[data-toggle]")) {
  const i = Number(button.dataset.toggle);
  button.title = "Shift: this one alone";
  button.addEventListener("click", event => { if (event.shiftKey) on.fill(false); on[i] = event.shiftKey || !on[i]; apply(); });
  const dim = state => all("g[data-policy]").forEach(e => e.classList.toggle("dim", state && e.dataset.policy != i));
  button.addEventListener("mouseenter", () => dim(true));
  button.addEventListener("mouseleave", () => dim(false));
}
for (const [id, state] of [["all", true], ["none", false]]) $(id)?.addEventListener("click", () => { on.fill(state); apply(); });

// The table: sorted by a column, and the rows that are hidden at first.
const table = $("head");
if (table && table.tBodies[0].rows.length > 1) for (const [k, th] of all("thead tr:last-child th", table).entries()) {
  const button = Object.assign(document.createElement("button"), {type: "button", className: "sort"});
  button.append(...th.childNodes);
  th.append(button);
  button.addEventListener("click", () => {
    const down = th.getAttribute("aria-sort") === "ascending", rows = [...table.tBodies[0].rows];
    const key = row => k === 0 ? row.cells[0].textContent : Number(row.cells[k].dataset.value ?? Infinity);
    rows.sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0) * (down ? -1 : 1));
    table.tBodies[0].append(...rows);
    for (const other of all("th", table)) other.removeAttribute("aria-sort");
    th.setAttribute("aria-sort", down ? "descending" : "ascending");
  });
}
if ($("more")) {
  const more = $("more"), words = more.textContent;
  const fold = state => {
    for (const row of all("tr.more", table)) row.hidden = state;
    more.setAttribute("aria-expanded", String(!state));
    more.textContent = state ? words : "Show fewer policies";
  };
  fold(true);
  more.hidden = false;
  more.addEventListener("click", () => fold(more.getAttribute("aria-expanded") === "true"));
}
const signs = () => { for (const e of all(".scroll")) e.classList.toggle("wide", e.scrollWidth > e.clientWidth + 4); };

// What can be taken along.
function save(blob, name) {
  const a = Object.assign(document.createElement("a"), {href: URL.createObjectURL(blob), download: name});
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 1000);
}
// A drawing of the page as a bitmap: its elements drawn again, as nothing may be loaded.
function bitmap(figure) {
  const roots = all("svg.chart", figure).filter(e => e.getClientRects().length), area = figure.querySelector(".drawing").getBoundingClientRect();
  const above = 58, ratio = 2, wide = Math.max(area.width, ...roots.map(e => e.getBoundingClientRect().right - area.left)), canvas = document.createElement("canvas"), c = canvas.getContext("2d");
  canvas.width = ratio * (wide + 32);
  canvas.height = ratio * (area.height + above + 44);
  c.fillStyle = color("bg");
  c.fillRect(0, 0, canvas.width, canvas.height);
  const base = new DOMMatrix([ratio, 0, 0, ratio, ratio * (16 - area.left), ratio * (above - area.top)]);
  const words = (text, font, y, ink) => { c.setTransform(ratio, 0, 0, ratio, 0, 0); c.fillStyle = color(ink); c.font = font + " sans-serif"; c.fillText(text, 16, y, wide); };
  const section = figure.closest("section, details");
  words((section.querySelector(".finding, summary") || {}).textContent || "", "bold 17px", 26, "ink");
  words([...all(".legend li", figure).filter(e => e.getClientRects().length).map(e => e.textContent), ""].join("   ") + figure.querySelector(".what").textContent, "12px", 46, "muted");
  words(figure.querySelector(".key").textContent, "11px", area.height + above + 30, "muted");
  const paint = (e, matrix) => {
    const style = getComputedStyle(e), clip = e.closest("svg.time");
    c.save();
    if (clip) { c.setTransform(base.multiply(clip.getScreenCTM())); const v = clip.viewBox.baseVal; c.beginPath(); c.rect(v.x, v.y, v.width, v.height); c.clip(); }
    c.setTransform(base.multiply(matrix));
    c.globalAlpha = style.opacity;
    if (e.tagName === "text") {
      c.font = `${style.fontWeight} ${e.getAttribute("font-size")}px "Liberation Sans", Arial, sans-serif`;
      c.fillStyle = style.fill;
      c.textAlign = {end: "right", middle: "center"}[style.textAnchor] || "left";
      c.fillText(e.textContent, number(e, "x"), number(e, "y"));
    } else {
      const path = new Path2D(e.getAttribute("d"));
      if (style.fill !== "none") { c.globalAlpha = style.fillOpacity; c.fillStyle = style.fill; c.fill(path); }
      if (style.stroke !== "none") {
        c.globalAlpha = style.strokeOpacity;
        c.strokeStyle = style.stroke;
        c.lineWidth = number(e, "stroke-width") || 1;
        c.setLineDash((e.getAttribute("stroke-dasharray") || "").split(",").filter(Boolean).map(Number));
        c.stroke(path);
      }
    }
    c.restore();
  };
  for (const root of roots) for (const e of all("path, text, use", root)) {
    if (e.closest("defs") || !e.checkVisibility({visibilityProperty: true})) continue;
    if (e.tagName !== "use") { paint(e, e.getScreenCTM()); continue; }
    const shared = document.getElementById(e.getAttribute("xlink:href").slice(1));
    c.strokeStyle = color("backdrop");
    c.setTransform(base.multiply(e.getScreenCTM()).translate(number(e, "x"), number(e, "y")));
    for (const path of all("path", shared)) { c.lineWidth = number(path, "stroke-width") || .6; c.stroke(new Path2D(path.getAttribute("d"))); }
  }
  return canvas;
}
const png = figure => bitmap(figure).toBlob(blob => save(blob, data.name + "-" + figure.dataset.chart + ".png"));
for (const figure of all("figure[data-chart]")) {
  const button = Object.assign(document.createElement("button"), {type: "button", className: "save", textContent: "PNG"});
  button.setAttribute("aria-label", "Save this chart as PNG");
  button.addEventListener("click", () => png(figure));
  figure.querySelector("figcaption").prepend(button);
}
$("csv").addEventListener("click", () => save(new Blob([data.csv], {type: "text/csv"}), data.name + ".csv"));
$("png").addEventListener("click", () => png(document.querySelector("section > figure[data-chart]")));
$("copy").addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText(data.markdown);
  } catch {
    const box = Object.assign(document.createElement("textarea"), {value: data.markdown, className: "hide"});
    document.body.append(box);
    box.select();
    document.execCommand("copy");
    box.remove();
  }
  $("copied").textContent = "Copied.";
});

for (const id of ["tools", "copies"]) $(id).hidden = false;
$("tools").classList.toggle("few", data.policies.length <= 8);
// What links and the keyboard lead to must not lie below the tools, where they stay on top.
if (data.policies.length <= 8) new ResizeObserver(() => document.documentElement.style.setProperty("--tools", $("tools").offsetHeight + 8 + "px")).observe($("tools"));
addEventListener("resize", signs);
addEventListener("hashchange", follow);
apply();
signs();
follow();

// A printed page shows all there is but the scenario, which lies beside it.
let opened = [];
addEventListener("beforeprint", () => { opened = all("details:not([open]):not(#scenario):not(#quiet *)"); opened.forEach(d => d.open = true); });
addEventListener("afterprint", () => opened.forEach(d => d.open = false));
return {$, data, on, last, step, color, count, seconds, values};
})();
