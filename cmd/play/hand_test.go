//go:build !race

package play

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"qsim/results/report/browsertest"
	"qsim/scenarios"
)

// hundred is the scenario small with 100 workers, where a step of 5 % rounds to the same two digits, and with 2 seeds.
var hundred = strings.NewReplacer("workers: 8", "workers: 100", "seeds: 12", "seeds: 2").Replace(small)

// drag presses the left mouse button at the first of points, moves through the others, and releases it.
func drag(tb *browsertest.Tab, points ...[2]float64) {
	kind := chromedp.MousePressed
	for _, p := range points {
		tb.Run(chromedp.MouseEvent(kind, p[0], p[1], chromedp.ButtonLeft, chromedp.ClickCount(1)))
		kind = "mouseMoved"
	}
	last := points[len(points)-1]
	tb.Run(chromedp.MouseEvent("mouseReleased", last[0], last[1], chromedp.ButtonLeft, chromedp.ClickCount(1)))
}

// finger swipes on a touch screen from one point to another.
func finger(tb *browsertest.Tab, from, to [2]float64) {
	at := func(kind string, points ...map[string]any) {
		tb.Run(browsertest.Protocol(cdp.Command[map[string]any, any]{Method: "Input.dispatchTouchEvent"}, map[string]any{"type": kind, "touchPoints": append([]map[string]any{}, points...)}))
	}
	at("touchStart", map[string]any{"x": from[0], "y": from[1]})
	for i := 1.; i <= 15; i++ {
		at("touchMove", map[string]any{"x": from[0] + (to[0]-from[0])*i/15, "y": from[1] + (to[1]-from[1])*i/15})
	}
	at("touchEnd")
}

// middle scrolls an element into view and returns its centre once two frames show it in one place: before that, a
// finger may touch what was there.
func middle(tb *browsertest.Tab, selector string) (at [2]float64) {
	p := browsertest.Eval[[]float64](tb, fmt.Sprintf(`new Promise(done => {
		const e = document.querySelector(%q), look = was => {
			e.scrollIntoView({block: "nearest"});
			const r = e.getBoundingClientRect(), is = [r.x + r.width / 2, r.y + r.height / 2];
			if (String(is) === String(was)) return done(is);
			setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(() => look(is))), 100);
		};
		look();
	})`, selector))
	return [2]float64{p[0], p[1]}
}

// TestPageSteps checks that an arrow key changes each slider's value by a step, and that the step back restores it.
func TestPageSteps(t *testing.T) {
	tb, address := opened(t, hundred, "", 1280)
	sliders := browsertest.Eval[[]string](tb, `[...document.querySelectorAll(".knob:not([hidden]) input[type=range]")].map(e => e.id)`)
	for _, id := range sliders {
		box := fmt.Sprintf(`document.getElementById(%q)`, strings.TrimSuffix(id, "-slide"))
		tb.Run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.getElementById(%q).focus()`, id)))
		was := browsertest.Eval[string](tb, box+".value")
		there, back := kb.ArrowRight, kb.ArrowLeft
		if browsertest.Eval[bool](tb, fmt.Sprintf(`(e => e.value === e.max)(document.getElementById(%q))`, id)) {
			there, back = back, there
		}
		tb.Run(chromedp.KeyEvent(there))
		if is := browsertest.Eval[string](tb, box+".value"); is == was {
			t.Errorf("%s: a step from %s leads nowhere", id, was)
		}
		tb.Run(chromedp.KeyEvent(back))
		if is := browsertest.Eval[string](tb, box+".value + location.hash"); is != was {
			t.Errorf("%s: a step there and back leads from %s to %s", id, was, is)
		}
	}
	const own = `[...document.querySelectorAll("input[type=range]")].map(e => e.ariaLabel).filter(l => /\b(\S+) of \1,/.test(l))`
	if labels := browsertest.Eval[[]string](tb, own); len(labels) > 0 {
		t.Errorf("sliders are labelled as their own: %q", labels)
	}
	if len(sliders) < 9 {
		t.Errorf("there are sliders %v", sliders)
	}
	tb.Until(settled)
	tb.Quiet(address)
}

// TestPageDragged checks that a slider dragged there and back leaves neither a value nor an undo, and that a finger
// which begins on a slider and scrolls changes nothing.
func TestPageDragged(t *testing.T) {
	tb, address := opened(t, hundred, "", 1280)
	const slide, workers = `#k-policies\.Weighted\%2080\/20\.fresh-slide`, `document.getElementById("k-engine.workers-row").classList.contains("set")`
	at := middle(tb, slide)
	from := [2]float64{at[0] + 84, at[1]} // 80 % of its 297 px
	drag(tb, from, at, from)
	tb.Until(`location.hash === "" && ` + settled)
	tb.Run(chromedp.Focus(`#k-engine\.workers`), chromedp.Evaluate[chromedp.Void](`document.activeElement.select()`), chromedp.KeyEvent("90"+kb.Enter))
	tb.Until(hash + ` === "#set=engine.workers=90" && ` + settled)
	if !browsertest.Eval[bool](tb, workers) {
		t.Error("after a drag the settings are shown as they were")
	}
	tb.Quiet(address)

	tb, _ = opened(t, hundred, "", 390, browsertest.Protocol(cdp.Command[map[string]any, any]{Method: "Emulation.setTouchEmulationEnabled"}, map[string]any{"enabled": true}))
	at = middle(tb, slide)
	finger(tb, at, [2]float64{at[0], at[1] - 260})
	tb.Until(`document.getElementById("settings").scrollTop > 100`)
	time.Sleep(200 * time.Millisecond) // a change would come with it
	if is := browsertest.Eval[string](tb, `location.hash + document.getElementById("undo").disabled`); is != "true" {
		t.Errorf("a finger that scrolls sets %s", is)
	}
	const moved = hash + `.startsWith("#set=policies.Weighted+80/20.fresh=")`
	for try, is := 0, false; try < 5 && !is; try++ { // a finger that comes while a busy browser still scrolls moves nothing
		at = middle(tb, slide)
		finger(tb, at, [2]float64{at[0] - 60, at[1]})
		is = browsertest.Eval[bool](tb, `new Promise(done => setTimeout(() => done(`+moved+`), 1000))`)
	}
	tb.Until(moved + ` && ` + settled)
}

// TestPageTyping checks that a choice from a focused list can be undone, that an answer keeps what is selected in a
// box, and that a search shows how many keys it finds.
func TestPageTyping(t *testing.T) {
	tb, address := opened(t, hundred, "", 1280)
	tb.Run(chromedp.Focus("#search"), chromedp.KeyEvent("fence"))
	tb.Until(`document.getElementById("found").textContent === "1 key"`)
	tb.Run(chromedp.Focus(`#k-engine\.fence`), chromedp.KeyEvent(kb.ArrowDown))
	tb.Until(`location.hash === "#set=engine.fence%3Dstate" && ` + settled + ` && document.activeElement.id === "k-engine.fence"`)
	tb.Run(chromedp.KeyEvent("z", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	tb.Until(`location.hash === "" && ` + settled)
	if is := browsertest.Eval[string](tb, `document.getElementById("k-engine.fence").value + document.activeElement.id`); is != "tokenk-engine.fence" {
		t.Errorf("after the undo it is %s", is)
	}
	find := func(words string) string {
		return browsertest.Eval[string](tb, fmt.Sprintf(`(s => { s.value = %q; s.dispatchEvent(new Event("input")); return document.getElementById("found").textContent; })(document.getElementById("search"))`, words))
	}
	if none, many, all := find("no such key"), find("engine"), find(""); none != "No key is about that." || !strings.HasSuffix(many, " keys; the first 40 are shown.") || all != "" {
		t.Errorf("what is found: %q, %q, %q", none, many, all)
	}

	tb.Run(chromedp.Focus(`#k-engine\.workers-slide`), chromedp.KeyEvent(kb.Tab))
	tb.Run(chromedp.Evaluate[chromedp.Void](`document.getElementById("on-Shared FIFO").click()`))
	tb.Until(settled + ` && document.activeElement.id === "k-engine.lease.ttl" && document.querySelectorAll("#head tbody tr").length === 1`)
	tb.Run(chromedp.KeyEvent("20s" + kb.Enter))
	tb.Until(hash + ` === "#set=engine.lease.ttl=20s&policy=Weighted+80/20" && ` + settled)
	tb.Quiet(address)
}

// TestPageTypesShares checks that a number above 1 typed for a share is per cent, and that more than 100 % is refused.
func TestPageTypesShares(t *testing.T) {
	tb, address := opened(t, hundred, "", 1280)
	const knob = "policies.Weighted 80/20.fresh"
	typed := func(words string) {
		tb.Run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`(e => { const box = e.querySelector("input"); box.focus(); box.select(); })(%s)`, knobAt(knob))), chromedp.KeyEvent(words+kb.Enter))
	}
	typed("60")
	tb.Until(hash + ` === "#set=policies.Weighted+80/20.fresh=60%" && ` + settled)
	typed("700%")
	tb.Until(knobAt(knob) + `.querySelector(".bad")`)
	if is := browsertest.Eval[string](tb, fmt.Sprintf(`(e => { const s = e.querySelector("[type=range]"); return (s.value === s.max) + e.querySelector(".doc").textContent; })(%s)`, knobAt(knob))); !strings.HasPrefix(is, "true") || strings.Contains(is, "-600") {
		t.Errorf("beyond 100 %% the slider is at its end: %s", is)
	}
	tb.Run(chromedp.Evaluate[chromedp.Void](knobAt(knob)+`.querySelector("[type=range]").focus()`), chromedp.KeyEvent(kb.ArrowLeft))
	tb.Until(hash + ` === "#set=policies.Weighted+80/20.fresh=99%" && ` + settled)
	tb.Quiet(address)
}

// TestPageBegun checks a page begun with overrides and a choice of policies, one with dots in its label: the rest can
// be chosen, the last stays, what is added is shown, and the copied command does all the same.
func TestPageBegun(t *testing.T) {
	source := strings.NewReplacer("{kind: fifo, label: Shared FIFO}", "{kind: fifo}\n  - {kind: fifo, label: v1}", `"Weighted 80/20"`, "v1.5").Replace(hundred)
	s := server(t, source)
	o := s.o
	o.Sets, o.Policies = []scenarios.Override{{Path: "engine.workers", Value: "12"}}, []string{"v1.5", "v1"}
	s = New("127.0.0.1", o)
	http := httptest.NewServer(s)
	defer http.Close()
	tb := browsertest.Open(t, http.URL+s.Path()+"#metric=goodput", 1280)
	copied := func(want string) {
		t.Helper()
		tb.Run(chromedp.Click("#flags"))
		tb.Until(fmt.Sprintf(`window.taken === %q`, want))
	}
	checks := func() string {
		return browsertest.Eval[string](tb, `[...document.querySelectorAll("#policies input")].map(e => e.labels[0].textContent + (e.checked ? "+" : "")).join(" ")`)
	}
	tb.Until(settled)
	copied("qsim run small --set engine.workers=12 --policy v1.5 --policy v1 --metric goodput")
	if is := checks() + browsertest.Eval[string](tb, `document.getElementById("column").value`); is != "fifo v1+ v1.5+goodput" {
		t.Errorf("it begins with %s", is)
	}
	tb.Run(chromedp.Focus(`#k-policies\.v1\.5\.fresh-slide`), chromedp.KeyEvent(kb.ArrowLeft))
	tb.Until(settled + ` && document.querySelector("#head").textContent.includes("v1.5, fresh 79%")`)
	if heads := browsertest.Eval[string](tb, `document.querySelector("#knobs .group:not([hidden]) h2").textContent + document.querySelector("#head tbody").textContent.includes("v1, ")`); heads != "v1.5false" {
		t.Errorf("its parameter is shown under %s", heads)
	}
	copied("qsim run small --set engine.workers=12 --set policies.v1.5.fresh=79% --policy v1.5 --policy v1 --metric goodput")
	tb.Run(chromedp.Click(`#add-policy`))
	tb.Until(settled + ` && document.querySelectorAll("#head tbody tr").length === 3`)
	tb.Run(chromedp.Click("#undo"))
	tb.Until(settled + ` && document.querySelectorAll("#head tbody tr").length === 2`)
	tb.Run(chromedp.Click("#on-fifo"))
	tb.Until(settled + ` && document.querySelectorAll("#head tbody tr").length === 3 && location.hash.includes("policy=fifo&policy=v1&policy=v1.5")`)
	browsertest.Eval[bool](tb, `(() => { for (const p of ["on-fifo", "on-v1.5", "on-v1"]) document.getElementById(p).click(); return true; })()`)
	tb.Until(settled + ` && document.querySelectorAll("#head tbody tr").length === 1`)
	if is := checks() + browsertest.Eval[string](tb, `document.getElementById("copied").textContent`); is != "fifo v1+ v1.5One policy must stay." {
		t.Errorf("there are left %s", is)
	}
	tb.Quiet(http.URL)
}

// TestPageStaleCopies checks that what is copied while newer settings are simulated belongs to the results shown, and
// that a job's life of older settings disappears, but not the focus or the place in a wide table.
func TestPageStaleCopies(t *testing.T) {
	tb, address := opened(t, strings.NewReplacer("seeds: 12", "seeds: 2", "mean: 200ms", "mean: 400ms").Replace(small), "", 390)
	tb.Run(chromedp.Click(`#whose button`))
	tb.Until(`document.querySelector("#life pre")`)
	tb.Run(chromedp.Evaluate[chromedp.Void](`document.querySelector("#out .scroll").scrollLeft = 5; document.querySelector("#out .timed").focus()`))
	is := browsertest.Eval[string](tb, `(async () => {
		const plain = window.fetch; let go; const gate = new Promise(done => { go = done; });
		window.fetch = (...all) => gate.then(() => plain(...all));
		window.taken = "";
		location.hash = "#set=engine.workers%3D30";
		for (let i = 0; i < 1000 && document.querySelector("#life pre"); i++) await new Promise(done => setTimeout(done, 10)); // a busy browser is late
		for (const id of ["hold", "markdown", "yaml"]) document.getElementById(id).click();
		const held = document.querySelector("#held code").textContent + document.querySelectorAll("#held .stale").length + window.taken + document.getElementById("copied").textContent + document.getElementById("life").textContent;
		go();
		return held;
	})()`)
	if is != "as the scenario says0Not copied: there is nothing yet under these settings." {
		t.Errorf("held and copied are %s", is)
	}
	tb.Until(settled)
	if is := browsertest.Eval[string](tb, `document.querySelector("#out .scroll").scrollLeft + document.activeElement.className`); is != "5drawing scroll timed" {
		t.Errorf("the place is %s", is)
	}
	tb.Run(chromedp.Evaluate[chromedp.Void](`document.querySelector("#held .scroll").scrollLeft = 3`))
	tb.Until(`document.querySelector("#out .scroll").scrollLeft === 3`)
	tb.Quiet(address)
}

// TestPageHeld checks that held results stand beside the new ones in readable charts, and that messages move no button.
func TestPageHeld(t *testing.T) {
	tb, _ := opened(t, hundred, "", 1280)
	before := middle(tb, "#flags")
	tb.Run(chromedp.Click("#flags"))
	tb.Until(`document.getElementById("copied").textContent === "Command copied."`)
	if after := middle(tb, "#flags"); after != before {
		t.Errorf("a message moves the buttons from %v to %v", before, after)
	}
	tb.Run(chromedp.Click("#hold"))
	if width := browsertest.Eval[float64](tb, `document.querySelector("#held section:last-of-type .drawing svg").getBoundingClientRect().width`); width < 600 {
		t.Errorf("the chart of waits is %.0f px wide", width)
	}
	near := browsertest.Eval[string](tb, `(() => { const plot = document.querySelector("#out svg.time"), r = plot.querySelector("rect").getBoundingClientRect();
		plot.dispatchEvent(new MouseEvent("click", {bubbles: true, clientX: r.x + r.width * 115 / 120 , clientY: r.y + 5}));
		return document.getElementById("storm-at").value + " for " + document.getElementById("storm-for").value; })()`)
	if near != "1m55s for 5s" {
		t.Errorf("a storm near the end is at %s", near)
	}
}

// TestPageAsksForNoSeeds checks that the page does not tell users to run more seeds while it adds them by itself.
func TestPageAsksForNoSeeds(t *testing.T) {
	tb, _ := opened(t, hundred, "", 1280)
	tb.Run(chromedp.Evaluate[chromedp.Void](`window.fetch = async (path, {body}) => new Response(JSON.stringify({seeds: 2, done: body.includes("98"), sure: "2 seeds", html: document.getElementById("out").innerHTML.replace(/<p id="note.*/s, "") + "<p id='note'>unclear; run about 18 seeds</p>"}) + "\n" + '{"error": "over"}\n')`))
	for _, tt := range []struct{ workers, want string }{{"99", "unclear; it takes about 18 seeds"}, {"98", "unclear; run about 18 seeds"}} {
		tb.Run(chromedp.Focus(`#k-engine\.workers`), chromedp.Evaluate[chromedp.Void](`document.activeElement.select()`), chromedp.KeyEvent(tt.workers+kb.Enter))
		tb.Until(fmt.Sprintf(`document.getElementById("note")?.textContent === %q`, tt.want))
	}
}

// TestPageWatchesWhatItSays checks that the column of the chosen metric is marked, or none if the metric has no column
// because it is alike under every policy.
func TestPageWatchesWhatItSays(t *testing.T) {
	tb, address := opened(t, strings.NewReplacer("seeds: 12", "seeds: 4", "objectives:", "objectives:\n  - {metric: duplicates.per10k, below: 10}").Replace(small), "", 1280)
	watched := func() string {
		return browsertest.Eval[string](tb, `document.getElementById("column").selectedOptions[0].text + ": " + [...document.querySelectorAll("th.watched")].map(h => h.textContent).join()`)
	}
	if is := watched(); !strings.HasPrefix(is, "duplicate") || !strings.HasSuffix(is, ": ") {
		t.Errorf("it watches %s", is)
	}
	tb.Run(chromedp.Focus("#column"), chromedp.KeyEvent(kb.ArrowDown))
	tb.Until(hash + ` === "#metric=fresh.wait.p99" && ` + settled + ` && document.querySelector("th.watched")`)
	if is := watched(); is != "p99 wait of fresh jobs: p99 wait of fresh jobs" {
		t.Errorf("it watches %s", is)
	}
	tb.Run(chromedp.KeyEvent(kb.ArrowUp))
	tb.Until(`location.hash === "" && ` + settled)
	tb.Quiet(address)
}

// TestPageLost checks the messages when there is no answer: qsim is gone or interrupted, or the settings do not load.
func TestPageLost(t *testing.T) {
	s := server(t, strings.Replace(hundred, "duration: 2m", "duration: 6h", 1))
	http := httptest.NewServer(s)
	tb := browsertest.Open(t, http.URL+s.Path(), 1280)
	tb.Until(`document.getElementById("knobs").children.length > 0`)
	for s.simulations() == 0 {
		time.Sleep(time.Millisecond)
	}
	http.CloseClientConnections()
	again := `document.getElementById("state").className === "stopped" && document.getElementById("state").textContent.endsWith(". Start qsim play again, and open the address that it prints.")`
	tb.Until(again)
	http.Close()
	tb.Run(chromedp.Click("#on-Shared\\ FIFO"))
	tb.Until(again)

	tb, _ = opened(t, hundred, "", 1280)
	answer := func(lines string) {
		tb.Run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`window.fetch = async () => new Response(%q)`, lines)))
	}
	answer(`{"problems":[]}` + "\n")
	tb.Run(chromedp.Click(`#whose button`))
	tb.Until(`document.getElementById("life").textContent.includes("its answer breaks off")`)
	answer(`{"problems":[{"set":-1,"error":true,"message":"no such policy"}]}` + "\n")
	tb.Run(chromedp.Click(`#whose button`))
	tb.Until(`document.getElementById("life").textContent === "no such policy"`)
	tb.Run(chromedp.Evaluate[chromedp.Void](`window.fetch = async () => new Response("the page is busy", {status: 503})`), chromedp.Click("#on-Shared\\ FIFO"))
	tb.Until(`document.getElementById("state").textContent === "Refused: the page is busy"`)
}

// TestChosen checks that the policy with a chosen label is shown as chosen, and not others of which that is the kind.
func TestChosen(t *testing.T) {
	s := server(t, strings.Replace(small, "label: Shared FIFO}", "label: other}\n  - {kind: fifo}", 1))
	_, lines := post(t, s, "run", `{"policies": ["other"], "sets": [{"path": "seeds", "value": "1"}]}`)
	if is := fmt.Sprint(decode[scene](t, lines[0]).Policies); is != "[{other true true} {fifo false true} {Weighted 80/20 false true}]" {
		t.Error(is)
	}
}
