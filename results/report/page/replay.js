// The run again in half a minute: jobs that are ready wait in two lines, fresh ones and retries, before the workers.
(() => {
const {$, data, on, last, step, color, count, seconds, values} = page;
if (!$("film")) return;
const canvas = $("film"), when = $("when"), play = $("play"), c = canvas.getContext("2d");
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const length = 30; // s
let now = 0, playing = 0, before = 0, fresh = true; // now: s of virtual time; fresh: it has not played yet
const flow = data.policies.map(() => 0); // how far the lines have moved, in dots

// A dot stands for so many jobs, unit, that the longest line fits the width.
const most = Math.max(1, ...data.policies.flatMap(p => [...p.fresh, ...p.retry]));
const rows = 4;
let unit = 0;
function fit(dots) {
  const jobs = Math.max(1, Math.ceil(most / Math.min(dots, 440)));
  if (jobs === unit) return;
  unit = jobs;
  $("scale").textContent = (unit > 1 ? `A dot stands for ${count(unit)} jobs` : "A dot stands for a job") +
    "; above: fresh jobs that are ready, below: retries; at the right: the workers, busy with one or the other. Which job stands where in its line is not shown.";
}

const clock = () => last < 60 ? now : Math.round(now);
function at(values) { // between two elements
  const i = Math.min(Math.max(now / step - .5, 0), values.length - 1), k = Math.floor(i), a = values[k] || 0, b = values[Math.min(k + 1, values.length - 1)] || 0;
  return a + (b - a) * (i - k);
}
function draw() {
  const shown = data.policies.map((p, i) => i).filter(i => on[i]), tall = 92, wide = canvas.clientWidth || 600, ratio = devicePixelRatio;
  canvas.height = ratio * (canvas.style.height = 26 + Math.max(shown.length, 1) * tall, 26 + Math.max(shown.length, 1) * tall);
  canvas.width = ratio * wide;
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  const blue = color("fresh"), amber = color("retry"), ink = color("ink"), muted = color("muted"), storm = data.storms.find(s => now >= s.from && now < s.to);
  c.font = "600 13px system-ui, sans-serif";
  c.fillStyle = storm ? color("storm") : muted;
  c.fillText(seconds(clock()) + (storm ? " · " + storm.name : now < data.warmup ? " · warm-up" : ""), 10, 18);
  const side = 9, columns = 10, box = columns * side, end = wide - box - 34; // where the lines end
  const room = Math.max(Math.floor(end / side) - 1, 1);
  fit(room * rows);
  shown.forEach((i, k) => {
    const p = data.policies[i], top = 26 + k * tall, waiting = [at(p.fresh), at(p.retry)], busy = at(p.busy), again = at(p.again);
    c.fillStyle = color("grid");
    c.fillRect(0, top, wide, 1);
    c.fillStyle = color("t" + p.hue);
    c.font = "600 13px system-ui, sans-serif";
    c.fillText(p.name, 10, top + 17, end * .55 - 12); // clear of the counts at the right
    c.fillStyle = muted;
    c.font = "12px system-ui, sans-serif";
    c.textAlign = "right";
    c.fillText(count(Math.round(waiting[0])) + " fresh · " + count(Math.round(waiting[1])) + " retries", end, top + 17, end * .42);
    c.textAlign = "left";
    waiting.forEach((jobs, line) => {
      const dots = Math.min(Math.max(Math.round(jobs / unit), jobs > .5 ? 1 : 0), room * rows), y = top + 27 + line * 30;
      c.fillStyle = line ? amber : blue;
      c.beginPath();
      const shift = dots > rows && playing && !calm.matches ? flow[i] % 1 * side : 0;
      for (let d = 0; d < dots; d++) {
        const x = end - 6 - Math.floor(d / rows) * side + shift;
        if (x > end) continue;
        c.moveTo(x + 2.6, y + d % rows * 7);
        c.arc(x, y + d % rows * 7, 2.6, 0, 7);
      }
      c.fill();
    });
    const cells = 60, full = Math.round(busy * cells), retries = Math.round(full * again);
    for (let w = 0; w < cells; w++) {
      c.fillStyle = w < full - retries ? blue : w < full ? amber : color("grid");
      c.fillRect(end + 16 + w % columns * side, top + 24 + Math.floor(w / columns) * side, side - 2, side - 2);
    }
    c.strokeStyle = ink;
    c.strokeRect(end + 12.5, top + 20.5, box + 6, 6 * side + 5);
  });
  when.value = Math.round(now / last * 1000);
  const i = Math.min(Math.floor(now / step), data.x.length - 1);
  when.setAttribute("aria-valuetext", "at " + seconds(clock()) + ": " + shown.map(k => data.policies[k].name + " " + values.backlog(data.policies[k], i)).join(", "));
}
function frame(time) {
  if (!playing) return;
  const passed = before ? Math.min((time - before) / 1000, .2) : 0;
  if (!calm.matches || time - before > 1000 || !before) { // without motion: a step each second
    const by = calm.matches && before ? 1 : passed;
    before = time;
    now = Math.min(now + by * last / length, last);
    data.policies.forEach((p, i) => flow[i] += by * last / length * at(p.attempts) / unit / rows / 4);
    draw();
  }
  if (now >= last) stop();
  else playing = requestAnimationFrame(frame);
}
function stop() {
  cancelAnimationFrame(playing);
  playing = 0;
  play.textContent = "Play";
  draw();
}
play.addEventListener("click", () => {
  if (playing) return stop();
  if (now >= last || fresh) now = 0;
  fresh = false;
  play.textContent = "Pause";
  before = 0;
  playing = requestAnimationFrame(frame);
});
when.addEventListener("input", () => { fresh = false; now = when.value / 1000 * last; draw(); });
addEventListener("resize", draw);
addEventListener("policies", draw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
$("replay").hidden = false;
const top = data.x.reduce((best, _, i) => { const jobs = Math.max(...data.policies.map(p => p.fresh[i] + p.retry[i])); return jobs > best.jobs ? {i, jobs} : best; }, {i: 0, jobs: 0});
now = data.x[top.i]; // a still of what there is to see
draw();
})();
