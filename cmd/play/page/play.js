"use strict";
(() => {
const $ = id => document.getElementById(id);
const make = (tag, properties = {}, ...children) => { const e = Object.assign(document.createElement(tag), properties); e.append(...children); return e; };
const say = (e, text) => { if (e.textContent !== text) e.textContent = text; };

// tell shows a short message, up to the next click.
const tell = text => say($("copied"), text);
addEventListener("click", () => tell(""), true);

// What the page asks for: values laid upon the scenario, in their order, the policies shown (none: those of the
// scenario), and columns beside those of the objectives. A static page asks for one of several scenarios. The address
// keeps it, so that it is a link.
const copyOf = value => JSON.parse(JSON.stringify(value));
const chooser = $("scenario"), begins = document.body.dataset.run;
const nothing = {sets: [], policies: [], metrics: []};
let asked = copyOf(nothing);
let past = [], future = [], scene = null, latest = null, running = null, tracing = null;
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
const spelled = of => [...of.sets.map(s => s.path + "=" + s.value), ...of.policies, ...of.metrics].join(", ") || "as the scenario says";
function fragment() {
  const query = new URLSearchParams(chooser ? {scenario: asked.scenario} : {});
  for (const s of asked.sets) query.append("set", s.path + "=" + s.value);
  for (const p of asked.policies) query.append("policy", p);
  for (const m of asked.metrics) query.append("metric", m);
  return String(query);
}
function follow() {
  const query = new URLSearchParams(location.hash.slice(1));
  asked = {sets: query.getAll("set").filter(s => s.includes("=")).map(s => ({path: s.slice(0, s.indexOf("=")), value: s.slice(s.indexOf("=") + 1)})), policies: query.getAll("policy"), metrics: query.getAll("metric")};
  if (chooser) asked.scenario = query.get("scenario") ?? begins;
}
// change makes a new state of what is asked for; several of one gesture, such as of a slider that moves, are undone at once.
let gesture = null, waiting = 0;
function change(edit, name) {
  const before = copyOf(asked);
  edit();
  if (same(before, asked)) return;
  if (name == null || name !== gesture) { past.push(before); future = []; }
  gesture = name;
  settle(name == null ? 0 : 90);
}
function settle(pause) {
  running?.abort(); // at once, for what it finds is of other settings than those asked for
  $("out").classList.add("stale");
  if (chooser) enter();
  history.replaceState(null, "", "#" + fragment());
  $("undo").disabled = !past.length;
  $("redo").disabled = !future.length;
  $("reset").disabled = same({...asked, scenario: undefined}, nothing);
  say($("changed"), asked.sets.length ? `· ${asked.sets.length} changed` : "");
  clearTimeout(waiting);
  waiting = setTimeout(run, pause);
}
function travel(from, to) {
  if (!from.length) return;
  to.push(copyOf(asked));
  asked = from.pop();
  gesture = null;
  settle(0);
}
// enter forgets what the page has of another scenario.
function enter() {
  chooser.value = asked.scenario;
  if (document.body.dataset.run === asked.scenario) return;
  document.body.dataset.run = asked.scenario;
  document.title = asked.scenario + " – qsim play";
  scene = latest = null;
  tried.clear();
  letGo();
  forget();
  for (const id of ["out", "knobs", "problems"]) $(id).replaceChildren();
  $("policies").replaceChildren($("policies").querySelector("legend"));
  $("hold").disabled = $("lives").hidden = $("hint").hidden = true;
}
// forget takes away a job's life, which is one under other settings.
function forget() {
  tracing?.abort();
  tracing = null;
  $("life").replaceChildren();
}
const lists = /\.\+$/;
function set(path, value, name) {
  change(() => {
    const at = asked.sets.findIndex(s => s.path === path), usual = scene?.knobs.find(k => k.path === path)?.usual;
    if (value === usual && !added(path)) asked.sets = asked.sets.filter(s => s.path !== path);
    else if (at >= 0) asked.sets[at] = {path, value};
    else asked.sets.push({path, value});
  }, name);
}
const added = path => asked.sets.some(s => lists.test(s.path) && path.startsWith(s.path.slice(0, -1) + nameIn(s.value) + "."));
const nameIn = value => /(?:label|name):\s*"?([^",}]+)"?/.exec(value)?.[1].trim() ?? /kind:\s*([\w-]+)/.exec(value)?.[1];
const quoted = text => /^[\w-]+$/.test(text) ? text : JSON.stringify(text);

// Asking. A newer request makes the answers of an older one stale: it is given up.
const last = l => l.done || l.error || l.findings || l.problems?.some(p => p.error);
async function ask(path, body, line, controller, lost = why => state("stopped", why)) {
  try {
    const answer = await fetch(path, {method: "POST", body: JSON.stringify(body), signal: controller.signal});
    if (!answer.ok) return void lost("Refused: " + await answer.text());
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = "", over = false; !controller.signal.aborted;) {
      const {value, done} = await reader.read();
      if (done && !over) throw new Error("its answer breaks off");
      if (done) return;
      const lines = (rest + value).split("\n");
      rest = lines.pop();
      for (const l of lines.filter(Boolean).map(JSON.parse)) {
        over ||= last(l);
        line(l);
      }
    }
  } catch (error) {
    if (!controller.signal.aborted) lost("The page has lost qsim: " + error.message + (chooser ? "" : ". Start qsim play again, and open the address that it prints."));
  }
}
function state(kind, text) { $("state").className = kind; say($("state"), text); }
async function run() {
  const mine = running = new AbortController(), began = performance.now();
  window.timing = {began};
  $("first").replaceChildren();
  if (tracing && !same(tracing.sets, asked.sets)) forget();
  state("running", "Simulating …");
  await ask("run", asked, line => {
    if (mine !== running) return;
    if (line.problems) {
      show(line);
      if (!scene) begin(line);
    }
    else if (line.error) state("stopped", line.error);
    else if ("first" in line) figure(line, began);
    else result(line, began);
  }, mine);
  $("first").hidden = true;
}
// begin shows the scenario as it is, where the settings of a link do not load, and what is wrong with them.
function begin(wrong) {
  const once = new AbortController();
  ask("run", {...asked, ...nothing}, line => {
    if (!line.problems) return;
    scene = {...line, asked: null};
    show(wrong);
    once.abort();
  }, once);
}
function figure(line, began) {
  window.timing.first ??= performance.now() - began;
  const label = scene.policies.filter(p => p.on)[line.first].label;
  $("first").append(make("li", {}, swatch(line.first), " " + label + " ", make("b", {textContent: line.value})));
  $("first").hidden = false;
  state("running", `First seed: ${line.metric} …`);
}
function result(line, began) {
  window.timing[line.seeds] ??= performance.now() - began;
  latest = {...line, asked: copyOf(asked)};
  $("now").replaceChildren("Now: ", make("code", {textContent: spelled(asked)}));
  $("first").hidden = true;
  const panels = () => [...$("out").querySelectorAll(".scroll")], places = panels().map(p => p.scrollLeft), focus = panels().indexOf(document.activeElement);
  $("out").innerHTML = line.done ? line.html : line.html.replaceAll("run about", "it takes about"); // the page runs them by itself
  panels().forEach((p, i) => { p.scrollLeft = places[i]; });
  panels()[focus]?.focus({preventScroll: true});
  watch();
  $("out").classList.remove("stale");
  $("state").title = "Fingerprints:" + line.fingerprints;
  state(!line.done ? "running" : line.sure.startsWith("Sure") ? "done sure" : "done", line.sure);
  $("hold").disabled = false;
  for (const t of $("out").querySelectorAll("svg.time")) { // a ground that the pointer hits
    const ground = document.createElementNS(t.namespaceURI, "rect");
    for (const key of ["x", "y", "width", "height"]) ground.setAttribute(key, t.getAttribute(key));
    ground.setAttribute("fill", "transparent");
    t.prepend(ground);
  }
  $("lives").hidden = $("hint").hidden = false;
}
// Values tried: what each run says of the number to watch, by policy. A slider shows those that differ in its value alone,
// so that one sees between which two the limit lies.
const tried = new Map();
function watch() {
  const heads = [...$("head").querySelectorAll("thead tr:last-child th")], {sets, metrics} = latest.asked, key = JSON.stringify([sets, metrics]);
  const watched = metrics[0] ?? scene.columns[0].metric, column = heads.findIndex(h => h.title === watched), goal = heads[column]?.querySelector("small")?.textContent;
  if (column < 1) return; // alike under every policy, and so no column
  const cells = {...tried.get(key)?.cells}, on = scene.policies.filter(p => p.on);
  $("head").querySelectorAll("tbody tr").forEach((r, i) => { cells[on[i].label] = [r.children[column].firstChild, [latest.halves?.[i], latest.seeds === 1 ? "1 seed" : latest.seeds + " seeds"].filter(Boolean).join(", ")]; });
  for (const r of $("head").querySelectorAll("thead tr:last-child, tbody tr")) r.children[column].classList.add("watched");
  tried.set(key, {sets, metrics, cells, knobs: scene.knobs, what: heads[column].firstChild.textContent + (goal ? ", " + goal : "")});
  mark();
}
function mark() {
  const on = scene.policies.filter(p => p.on);
  for (const e of document.querySelectorAll(".tried")) {
    const path = e.parentNode.dataset.path, words = wordsOf(path), label = words[0] === "policies" ? words[1] : on.length === 1 && on[0].label;
    const others = t => JSON.stringify([t.sets.filter(s => s.path !== path), t.metrics]), now = others(asked), value = t => t.knobs.find(k => k.path === path)?.value;
    const those = [...tried.values()].filter(t => t.cells[label] && others(t) === now && parse(value(t) ?? "")).sort((a, b) => parse(value(a)).number - parse(value(b)).number);
    e.replaceChildren(...those.length < 2 ? [] : ["Tried: " + those[0].what, make("ol", {}, ...those.map(t => make("li", {title: t.cells[label][0].textContent + " " + t.cells[label][1]}, make("b", {textContent: value(t)}), " ", t.cells[label][0].cloneNode(true), make("span", {className: "hide", textContent: " " + t.cells[label][1]}))))]);
  }
}
function swatch(index) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  e.setAttribute("class", "swatch");
  e.setAttribute("viewBox", "0 0 16 10");
  e.setAttribute("aria-hidden", "true");
  e.innerHTML = `<line x1="0" y1="5" x2="16" y2="5" stroke-width="8" class="hue${index % 8}"/>`;
  return e;
}

// The scenario: what can be set, and what is wrong with what was.
let moving = false; // a slider, which must stay what it is meanwhile
function show(line) {
  const ok = line.knobs != null, bad = line.problems.some(p => p.error);
  if (ok) scene = {...line, asked: copyOf(asked)};
  if (scene && !moving) draw();
  for (const e of document.querySelectorAll(".knob .said")) e.replaceChildren();
  for (const e of document.querySelectorAll("[aria-invalid]")) e.removeAttribute("aria-invalid");
  $("problems").replaceChildren();
  for (const p of line.problems) {
    const words = make("p", {className: p.error ? "bad" : "warn"}, make("b", {textContent: p.place}), p.message, p.help ? make("i", {textContent: " " + p.help}) : "");
    const at = p.set >= 0 && row(asked.sets[p.set].path, asked.sets[p.set].value);
    if (!at) { $("problems").append(words); continue; }
    at.querySelector(".said").append(words);
    at.hidden = false;
    if (p.error) at.querySelector("input:not([type=range]),select").setAttribute("aria-invalid", "true");
    words.scrollIntoView({block: "nearest"});
  }
  if (bad) state("stopped", "Not simulated: " + line.problems.find(p => p.error).message);
}
const row = (path, value) => [...document.querySelectorAll(".knob")].find(k => k.dataset.path === path && (!lists.test(path) || k.dataset.value === value));
const titles = {policies: "", engine: "Engine", storms: "Storms", jobs: "Jobs", retry: "Retries", dependencies: "Dependencies"};
function draw() {
  const focus = document.activeElement, field = focus?.matches(".knob input:not([type=range])") && {typed: focus.value !== focus.defaultValue ? focus.value : null, from: focus.selectionStart, to: focus.selectionEnd};
  const kind = $("kind")?.value;
  $("policies").replaceChildren($("policies").querySelector("legend"));
  let hue = 0;
  for (const p of scene.policies) {
    const box = make("input", {type: "checkbox", checked: p.on, id: "on-" + p.label});
    box.addEventListener("change", () => change(() => {
      p.on = box.checked; // the next box may change before there is an answer
      if (!scene.policies.some(q => q.on)) {
        p.on = box.checked = true;
        tell("One policy must stay.");
      }
      asked.policies = scene.policies.every(q => q.on === q.begun) ? [] : scene.policies.filter(q => q.on).map(q => q.label);
    }));
    $("policies").append(make("div", {className: "check"}, box, p.on ? swatch(hue++) : "", make("label", {htmlFor: box.id, textContent: p.label})));
  }
  const kinds = make("select", {id: "kind"}, ...scene.kinds.map(k => make("option", {value: k.name, textContent: k.name}))), about = make("p", {className: "doc", id: "kind-doc"}), add = make("button", {type: "button", id: "add-policy", textContent: "Add"});
  const describe = () => say(about, scene.kinds.find(k => k.name === kinds.value).doc);
  kinds.value = kind || kinds.value;
  kinds.setAttribute("aria-label", "Kind of policy to add");
  kinds.setAttribute("aria-describedby", about.id);
  kinds.addEventListener("change", describe);
  describe();
  add.setAttribute("aria-label", "Add this policy");
  add.addEventListener("click", () => change(() => {
    const taken = new Set(scene.policies.map(p => p.label));
    let label = kinds.value;
    for (let n = 2; taken.has(label); n++) label = kinds.value + " " + n;
    asked.sets.push({path: "policies.+", value: `{kind: ${kinds.value}, label: ${quoted(label)}}`});
    if (!scene.policies.every(p => p.on)) asked.policies = [...scene.policies.filter(p => p.on).map(p => p.label), label];
  }));
  $("policies").append(make("div", {className: "more"}, kinds, add, about));
  const columns = [...scene.columns];
  for (const m of asked.metrics) if (!columns.some(c => c.metric === m)) columns.push({metric: m, label: m});
  $("column").replaceChildren(...columns.map(c => make("option", {value: c.metric, textContent: c.label})));
  $("column").value = asked.metrics[0] ?? columns[0].metric;
  say($("about"), scene.description ?? "");
  const groups = new Map(), seen = new Set();
  const into = path => {
    const words = wordsOf(path), named = words.length > 2 && namedLists.test(path), key = named ? words[1] : titles[words[0]] || "The run";
    if (!groups.has(key)) groups.set(key, make("div", {className: "group"}, make("h2", {textContent: key}), named && words[0] === "storms" && !added(path) ? away(words[1]) : ""));
    return groups.get(key);
  };
  for (const s of asked.sets) if (lists.test(s.path)) into(s.path).append(knob({path: s.path, value: s.value, usual: "", doc: "", takes: "map", front: true}));
  for (const order of ["policies", "storms", "jobs", "engine", "retry", ""]) for (const k of scene.knobs) {
    if (seen.has(k.path) || !k.path.startsWith(order)) continue;
    seen.add(k.path);
    into(k.path).append(knob(k));
  }
  for (const s of asked.sets) if (!lists.test(s.path) && !seen.has(s.path)) into(s.path).append(knob({...s, usual: "", doc: "", front: true}));
  const storm = make("button", {type: "button", id: "add-storm", className: "add", textContent: "Add a storm …"});
  storm.addEventListener("click", () => openStorm(seconds(parse(scene.duration).number / 2)));
  $("knobs").replaceChildren(storm, ...groups.values());
  mark();
  find();
  whose();
  const again = focus?.id && $(focus.id);
  if (again && again !== focus) {
    if (field?.typed != null) again.value = field.typed;
    again.focus();
    if (field) again.setSelectionRange?.(field.from, field.to);
  } else if (!document.contains(focus)) $("undo").focus(); // a button that is gone with what it removed
}
// away is the button that takes one of the scenario's own storms away.
function away(storm) {
  const path = "storms." + storm, button = make("button", {type: "button", textContent: "remove"});
  button.setAttribute("aria-label", "Remove storm " + storm);
  button.addEventListener("click", () => change(() => { asked.sets = [...asked.sets.filter(s => !s.path.startsWith(path + ".")), {path, value: "none"}]; }));
  return button;
}
// wordsOf splits a path; a policy's label is one word, with its dots.
function wordsOf(path) {
  const label = scene.policies.map(p => p.label).filter(l => path.startsWith("policies." + l + ".")).sort((a, b) => b.length - a.length)[0];
  return label == null ? path.split(".") : ["policies", label, ...path.slice(10 + label.length).split(".")];
}
const namedLists = /^(policies|storms|jobs|dependencies)\./;
const changedAt = path => asked.sets.find(s => s.path === path);
function knob(k) {
  const was = scene.asked?.sets.some(s => s.path === k.path) ? k.usual : k.value; // where there is no answer yet
  const value = changedAt(k.path) && !lists.test(k.path) ? changedAt(k.path).value : was, id = "k-" + encodeURI(k.path + (lists.test(k.path) ? nameIn(k.value) : ""));
  const words = wordsOf(k.path), name = namedLists.test(k.path) && !lists.test(k.path) ? words.slice(2).join(" ") || words[1] : lists.test(k.path) ? "added: " + nameIn(k.value) : words.join(" ").replace(/^(engine|retry) /, "");
  const e = make("div", {className: "knob", id: id + "-row"}), scale = lists.test(k.path) ? null : scaleOf(k, value), choices = / \| /.test(k.takes || "") && !scale ? k.takes.split(" | ").filter(c => /^[\w-]+$/.test(c) && c !== "choice") : [];
  e.dataset.path = k.path;
  e.dataset.value = k.value;
  e.dataset.front = k.front;
  e.dataset.words = (k.path + " " + k.doc).toLowerCase();
  e.classList.toggle("wide", !scale && !choices.length && value.length > 9);
  e.classList.toggle("set", Boolean(changedAt(k.path)));
  const box = choices.includes(value) ? make("select", {id}, ...choices.map(c => make("option", {value: c, textContent: c, selected: c === value}))) : make("input", {id, value, defaultValue: value, spellcheck: false, autocomplete: "off"});
  box.setAttribute("aria-describedby", id + "-doc " + id + "-said");
  const commit = text => lists.test(k.path) ? change(() => { asked.sets = asked.sets.map(s => s.path === k.path && s.value === k.value ? {path: k.path, value: text} : s); }) : set(k.path, text);
  box.addEventListener("change", () => {
    const typed = box.value.trim();
    if (scale?.share && Number(typed) > 1) box.value = typed + "%";
    box.defaultValue = box.value;
    commit(box.value.trim());
  });
  e.append(make("label", {htmlFor: id, textContent: name, title: k.path + (k.doc && ": " + k.doc)}), box);
  const both = /go to (\w+) jobs, the rest to (\w+)/.exec(k.doc), parts = make("div", {className: "parts"}); // a share of two
  const split = text => both && text.endsWith("%") && parseFloat(text) <= 100 ? `${text} ${both[1]}, ${Number((100 - parseFloat(text)).toPrecision(6))}% ${both[2]}` : "";
  const about = make("p", {className: "doc", id: id + "-doc", textContent: k.doc + (k.origin && !changedAt(k.path) ? ` (${k.origin})` : "")});
  if (scale) {
    const slide = make("input", {type: "range", id: id + "-slide", min: 0, max: scale.steps, step: 1, value: scale.place(parse(value).number)});
    const owner = words[namedLists.test(k.path) ? 1 : 0];
    slide.setAttribute("aria-label", name + (words.length > 1 ? " of " + owner : "") + ", slider");
    const valued = text => { say(parts, split(text)); slide.setAttribute("aria-valuetext", split(text) || text); };
    valued(value);
    slide.addEventListener("input", () => {
      moving = true;
      box.value = scale.text(Number(slide.value));
      valued(box.value);
      set(k.path, box.value, k.path);
    });
    const still = () => { if (moving) { moving = false; gesture = null; draw(); } };
    for (const end of ["change", "pointerup"]) slide.addEventListener(end, still);
    slide.addEventListener("pointercancel", () => { // a finger that scrolls began here
      if (moving && gesture === k.path) { asked = past.pop(); settle(0); }
      still();
    });
    e.append(parts, slide, make("div", {className: "tried"}));
  }
  e.append(about, make("div", {className: "said", id: id + "-said"}));
  if (changedAt(k.path)) {
    const back = make("button", {type: "button", textContent: lists.test(k.path) ? "remove" : "undo"});
    back.setAttribute("aria-label", lists.test(k.path) ? "Remove " + nameIn(k.value) : (k.usual ? "Back to " + k.usual + " for " : "Undo ") + k.path);
    back.addEventListener("click", () => change(() => {
      const name = k.path.slice(0, -1) + nameIn(k.value), gone = lists.test(k.path);
      asked.sets = asked.sets.filter(s => gone ? !(s.path === k.path && s.value === k.value) && !s.path.startsWith(name + ".") : s.path !== k.path);
      if (gone) asked.policies = asked.policies.filter(p => p !== nameIn(k.value));
    }));
    e.append(make("div", {className: "below"}, make("span", {textContent: k.usual && !lists.test(k.path) ? "was " + k.usual : ""}), back));
  }
  return e;
}
const most = 40;
function find() {
  const wanted = $("search").value.trim().toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const k of document.querySelectorAll(".knob")) {
    const hit = wanted.length ? wanted.every(w => k.dataset.words.includes(w)) : k.dataset.front === "true" || k.classList.contains("set") || k.querySelector(".bad");
    k.hidden = !hit || wanted.length && ++shown > most;
  }
  say($("found"), !wanted.length ? "" : !shown ? "No key is about that." : shown > most ? `${shown} keys; the first ${most} are shown.` : shown === 1 ? "1 key" : shown + " keys");
  for (const g of document.querySelectorAll(".group")) g.hidden = ![...g.querySelectorAll(".knob")].some(k => !k.hidden);
}

// Values as scenarios spell them: 80, 2.5, 80%, 72/s, 1m30s.
const units = {h: 3600, m: 60, s: 1, ms: 1e-3, us: 1e-6, µs: 1e-6, ns: 1e-9};
function parse(text) {
  let m;
  if ((m = /^([\d.]+)%$/.exec(text))) return {kind: "share", number: Number(m[1])};
  if ((m = /^([\d.]+)(k?)\/([smh])$/.exec(text))) return {kind: "rate", number: m[1] * (m[2] ? 1000 : 1), unit: m[3]};
  if (/^([\d.]+(h|ms|us|µs|ns|m|s))+$/.test(text)) return {kind: "duration", number: [...text.matchAll(/([\d.]+)(h|ms|us|µs|ns|m|s)/g)].reduce((sum, [, n, unit]) => sum + n * units[unit], 0)};
  if ((m = /^([\d.]+)(k?)$/.exec(text))) return {kind: /\./.test(text) ? "number" : "count", number: m[1] * (m[2] ? 1000 : 1)};
}
function seconds(v) {
  if (v === 0) return "0s";
  for (const [unit, least] of [["us", 1e-6], ["ms", 1e-3]]) if (v < 1000 * least) return Number((v / least).toPrecision(2)) + unit;
  if (v < 60) return Number(v.toPrecision(2)) + "s";
  const whole = Math.round(v), parts = [["h", Math.floor(whole / 3600)], ["m", Math.floor(whole / 60) % 60], ["s", whole % 60]];
  return parts.filter(([, n]) => n).map(([unit, n]) => n + unit).join("");
}
// scaleOf is the range of a slider: a share from 0 to 100 %, anything else from a tenth to ten times what it was at
// first, within the bounds of the key. Each step is another value; that of now and the first one are among them.
function scaleOf(k, value) {
  const was = parse(k.usual || value), now = parse(value);
  if (!was || !now || was.unit !== now.unit || was.kind !== now.kind && ![was.kind, now.kind].every(kind => kind === "count" || kind === "number")) return now && k.usual ? scaleOf({...k, usual: ""}, value) : null;
  const {kind, number, unit} = was;
  let low = number / 10, high = number ? number * 10 : kind === "duration" ? 60 : 10;
  if (kind === "share") { low = 0; high = 100; }
  if (kind === "count") { low = Math.max(Math.floor(low), k.least); high = k.most ? Math.min(high, k.most) : high; }
  if (kind !== "share") { low = Math.min(low, now.number); high = Math.max(high, now.number); }
  const steps = kind === "count" && high - low <= 100 ? high - low : 100, log = low > 0 && high / low > 4 && steps === 100;
  const at = step => log ? low * (high / low) ** (step / steps) : low + (high - low) * step / steps;
  const words = {share: v => v + "%", count: v => String(Math.round(v > 99 ? Number(v.toPrecision(2)) : v)), number: v => String(Number(v.toPrecision(2))), rate: v => Number(v.toPrecision(2)) + "/" + unit, duration: v => seconds(Number(v.toPrecision(2)))};
  const texts = new Map();
  for (const text of [...Array(steps + 1).keys()].map(step => words[kind](at(step))).concat(k.usual || [], value)) if (parse(text) && (kind !== "share" || parse(text).number <= high)) texts.set(parse(text).number, text);
  const values = [...texts.keys()].sort((a, b) => a - b);
  return {share: kind === "share", steps: values.length - 1, place: v => values.indexOf(Math.min(v, high)), text: at => texts.get(values[at])};
}

// Storms: a click on a time axis says when.
function openStorm(at) {
  $("storm-kind").replaceChildren(...scene.storms.map(s => make("option", {value: s.name, textContent: s.name})));
  const all = parse(scene.duration).number, rest = all - parse(at).number, usual = Number((all / 10).toPrecision(1));
  $("storm-at").value = at;
  $("storm-for").value = seconds(rest > 0 ? Math.min(usual, rest) : usual);
  chosen();
  $("storm").showModal();
}
function chosen() {
  const s = scene.storms.find(s => s.name === $("storm-kind").value);
  $("storm-map").value = s.map;
  say($("storm-doc"), s.doc);
}
$("storm-kind").addEventListener("change", chosen);
$("storm").addEventListener("close", () => {
  if ($("storm").returnValue !== "add") return;
  change(() => {
    const kind = $("storm-kind").value, names = new Set(scene.knobs.map(k => k.path.split(".")).filter(w => w[0] === "storms").map(w => w[1]));
    let n = 1;
    while (names.has(kind + "-" + n)) n++;
    asked.sets.push({path: "storms.+", value: `{name: ${kind}-${n}, at: ${$("storm-at").value}, for: ${$("storm-for").value}, ${kind}: ${$("storm-map").value}}`});
  });
  $("storm").returnValue = "";
});
$("out").addEventListener("click", event => {
  const plot = event.target.closest("svg.time");
  if (!plot || !scene) return;
  const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(plot.getScreenCTM().inverse()), number = name => Number(plot.getAttribute(name));
  const t = Math.min(Math.max((at.x - number("x")) / number("width"), 0), 1) * Number(plot.dataset.until);
  openStorm(seconds(Math.round(t / 5) * 5));
});

$("out").addEventListener("keydown", event => { if (event.key === "Enter" && event.target.matches(".timed")) openStorm(seconds(parse(scene.duration).number / 2)); });

// Held beside: what the page shows now stays, while the sliders go on.
$("panes").addEventListener("scroll", event => { // the same part of both
  const [one, other] = event.target.closest("#held") ? ["held", "out"] : ["out", "held"], twin = $(other).querySelectorAll(".scroll")[[...$(one).querySelectorAll(".scroll")].indexOf(event.target)];
  if (twin) twin.scrollLeft = event.target.scrollLeft;
}, true);
function letGo() {
  $("held").hidden = true;
  $("panes").classList.remove("two");
}
$("hold").addEventListener("click", () => {
  const held = $("out").cloneNode(true), own = latest.asked;
  held.classList.remove("stale");
  held.removeAttribute("tabindex");
  for (const e of [held, ...held.querySelectorAll("[id]")]) if (e.id) e.id = "held-" + e.id;
  for (const e of held.querySelectorAll("use")) for (const key of ["href", "xlink:href"]) if (e.getAttribute(key)) e.setAttribute(key, e.getAttribute(key).replace("#", "#held-"));
  for (const e of held.querySelectorAll("[aria-label]")) e.setAttribute("aria-label", "Held: " + e.getAttribute("aria-label"));
  const back = make("button", {type: "button", textContent: "Back to these settings"}), drop = make("button", {type: "button", textContent: "Let go"});
  back.addEventListener("click", () => change(() => { asked = copyOf(own); }));
  drop.addEventListener("click", () => { letGo(); $("hold").focus(); });
  $("held").replaceChildren(make("p", {className: "what"}, "Held: ", make("code", {textContent: spelled(own)})), make("p", {className: "what", textContent: latest.sure}), make("div", {className: "buttons"}, back, drop), held);
  $("held").hidden = false;
  $("panes").classList.add("two");
});

// One job's life.
function trace(policy, find) {
  tracing?.abort();
  tracing = Object.assign(new AbortController(), {sets: copyOf(asked.sets)});
  say($("life"), "Following …");
  ask("trace", {...asked, policy, find}, line => {
    const why = line.error ?? line.problems?.find(p => p.error)?.message;
    if (why) say($("life"), why);
    if (!line.findings) return;
    const items = line.findings.filter(f => f.job).map(f => {
      const button = make("button", {type: "button", textContent: f.find.replace("-", " ")});
      button.setAttribute("aria-pressed", String(f.find === find));
      button.addEventListener("click", () => trace(policy, f.find));
      return make("li", {}, button, " " + f.job + " " + f.words);
    });
    const text = make("pre", {tabIndex: 0, textContent: line.life});
    text.setAttribute("aria-label", "The job’s life");
    text.setAttribute("role", "region");
    $("life").replaceChildren(make("ul", {className: "finds"}, ...items), text);
  }, tracing, why => say($("life"), why));
}
function whose() {
  $("whose").replaceChildren(...scene.policies.filter(p => p.on).map((p, i) => {
    const button = make("button", {type: "button", className: "toggle"}, swatch(i), p.label);
    button.addEventListener("click", () => trace(p.label, "worst-wait"));
    return button;
  }));
}

// What can be taken along.
const shell = word => /^[\w\-./:=,%+@]+$/.test(word) ? word : "'" + word.replaceAll("'", "'\\''") + "'";
async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const box = make("textarea", {value: text, className: "hide"});
    document.body.append(box);
    box.select();
    document.execCommand("copy");
    box.remove();
  }
  window.taken = text;
  tell(what + " copied.");
}
// ready returns what belongs to the settings as they are, or says that it is not there yet.
const ready = of => same(of?.asked, asked) ? of : void tell("Not copied: there is nothing yet under these settings.");
const takes = {
  yaml: () => ready(scene) && copy(scene.yaml, "YAML"),
  flags: () => ready(scene) && copy(["qsim", "run", document.body.dataset.run, ...[...scene.begun.sets, ...asked.sets].flatMap(s => ["--set", s.path + "=" + s.value]), ...(asked.policies.length ? asked : scene.begun).policies.flatMap(p => ["--policy", p]), ...asked.metrics.flatMap(m => ["--metric", m])].map(shell).join(" "), "Command"),
  markdown: () => ready(latest) && copy(latest.markdown, "Markdown"),
  link: () => copy(location.href, "Link"),
  save: () => {
    if (!ready(scene)) return;
    const a = make("a", {href: URL.createObjectURL(new Blob([scene.yaml], {type: "text/yaml"})), download: document.body.dataset.run.replace(/.*\//, "").replace(/\.ya?ml$/, "") + "-played.yaml"});
    a.click();
    setTimeout(() => URL.revokeObjectURL(a.href), 1000);
  },
  undo: () => travel(past, future),
  redo: () => travel(future, past),
  reset: () => change(() => { asked = {...asked, ...copyOf(nothing)}; }),
};
for (const id in takes) $(id).addEventListener("click", takes[id]);
$("search").addEventListener("input", find);
$("column").addEventListener("change", () => change(() => { asked.metrics = [$("column").value].filter(m => m !== scene.columns[0].metric); }));
new ResizeObserver(() => document.documentElement.style.setProperty("--bar", document.querySelector(".bar").offsetHeight + "px")).observe(document.querySelector(".bar"));
addEventListener("keydown", event => {
  if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z" || /^(text|search)$/.test(event.target.type)) return;
  event.preventDefault();
  takes[event.shiftKey ? "redo" : "undo"]();
});
addEventListener("hashchange", () => { const before = fragment(); past.push(copyOf(asked)); follow(); if (fragment() !== before) { future = []; settle(0); } else past.pop(); });
chooser?.addEventListener("change", () => change(() => { asked = {...copyOf(nothing), scenario: chooser.value}; }));
follow();
settle(0);
})();
