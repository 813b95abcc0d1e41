//go:build !race

package play

import (
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"qsim/results/report/browsertest"
	"qsim/scenarios"
)

var (
	pictures = flag.String("pictures", "", "write screenshots of the page into this `folder`, to be looked at")
	picture  = flag.String("picture", "", "write the top of the page of retry-storm into this `file`, for the README")
)

// opened opens the page of a scenario in the browser and returns it when its first run has ended, and its address.
func opened(t *testing.T, source, fragment string, width int64, before ...chromedp.Action[chromedp.Void]) (*browsertest.Tab, string) {
	t.Helper()
	s := server(t, source)
	http := httptest.NewServer(s)
	t.Cleanup(http.Close)
	address := http.URL + s.Path()
	tb := browsertest.Open(t, address+fragment, width, before...)
	tb.Until(settled)
	return tb, address
}

// settled is a JavaScript condition: results are shown, and nothing runs any more.
const settled = `document.getElementById("state").className.startsWith("done") && document.querySelector("#out .headline") && !document.querySelector("#out.stale")`

// knobAt is the JavaScript expression for the element with a setting's row.
func knobAt(path string) string {
	return fmt.Sprintf(`[...document.querySelectorAll(".knob")].find(k => k.dataset.path === %q)`, path)
}

const hash = `decodeURIComponent(location.hash)`

func TestPage(t *testing.T) {
	tb, address := opened(t, small, "", 1280, browsertest.Scheme("light", ""))
	tb.Picture(*pictures, "light")
	tb.Run(chromedp.Focus(`#out .timed`), chromedp.KeyEvent(kb.Enter))
	tb.Until(`document.getElementById("storm").open && document.getElementById("storm-at").value === "1m"`)
	tb.Run(chromedp.Focus(`#storm button[formnovalidate]`), chromedp.KeyEvent(kb.Enter))
	tb.Until(`!document.getElementById("storm").open && location.hash === ""`)
	const slide = `#k-engine\.workers-slide`

	// A slider by keyboard: its value, the address, the run, and one step back.
	before := browsertest.Eval[string](tb, `document.querySelector("#head").textContent`)
	tb.Run(chromedp.Focus(slide), chromedp.KeyEvent(kb.ArrowLeft), chromedp.KeyEvent(kb.ArrowLeft))
	tb.Until(hash + ` === "#set=engine.workers=6" && document.activeElement.id === "k-engine.workers-slide" && document.activeElement.getAttribute("aria-valuetext") === "6"`)
	tb.Until(settled + ` && document.querySelector("#head").textContent !== ` + fmt.Sprintf("%q", before))
	if text := browsertest.Eval[string](tb, knobAt("engine.workers")+`.querySelector(".below").textContent`); text != "was 8undo" {
		t.Errorf("beside the changed value is %q", text)
	}
	tb.Run(chromedp.Click("#undo"))
	tb.Until(`location.hash === "#set=engine.workers%3D7"`)
	tb.Run(chromedp.Click("#undo"))
	tb.Until(`location.hash === "#" || location.hash === ""`)
	tb.Until(settled + ` && document.querySelector("#head").textContent === ` + fmt.Sprintf("%q", before))
	tb.Run(chromedp.Click("#redo"), chromedp.Click("#redo"))
	tb.Until(hash + ` === "#set=engine.workers=6"`)

	// A click on the axis of time adds a storm there.
	tb.Until(settled)
	tb.Run(chromedp.ScrollIntoView(`#out svg.time`))
	box := browsertest.Eval[struct{ X, Y, W, H float64 }](tb, `(r => ({X: r.x, Y: r.y, W: r.width, H: r.height}))(document.querySelector("#out svg.time rect").getBoundingClientRect())`)
	tb.Run(chromedp.MouseEvent(chromedp.MousePressed, box.X+box.W*.25, box.Y+box.H/2, chromedp.ButtonLeft, chromedp.ClickCount(1)),
		chromedp.MouseEvent("mouseReleased", box.X+box.W*.25, box.Y+box.H/2, chromedp.ButtonLeft, chromedp.ClickCount(1)))
	tb.Until(`document.getElementById("storm").open && /^[23]\ds$/.test(document.getElementById("storm-at").value)`)
	tb.Run(chromedp.Evaluate[chromedp.Void](`(k => { k.value = "slow"; k.dispatchEvent(new Event("change")); })(document.getElementById("storm-kind"))`))
	tb.Picture(*pictures, "storm")
	tb.Run(chromedp.Click(`#storm button[value=add]`))
	tb.Until(hash + `.includes("set=storms.+={name:+slow-1,+at:+") && ` + settled + ` && [...document.querySelectorAll("#out .name")].some(e => e.textContent.includes("slow-1"))`)

	// Its keys are settings like the others, and it can be taken away.
	if seen := browsertest.Eval[bool](tb, `!`+knobAt("storms.slow-1.for")+`.hidden && !`+knobAt("storms.slow-1.slow.factor")+`.hidden`); !seen {
		t.Error("the keys of the new storm are not shown")
	}

	// Settings are held beside the ones that go on.
	tb.Run(chromedp.Click("#hold"), chromedp.Evaluate[chromedp.Void](`document.querySelector("#k-storms\\.\\+slow-1-row .below button").click()`))
	tb.Until(`!` + hash + `.includes("slow-1") && ` + settled + ` && document.querySelector("#held .headline") && document.querySelector("#held").textContent.includes("slow-1")`)
	tb.Picture(*pictures, "held")
	tb.Accessible()
	tb.Run(chromedp.Click("#held .buttons button:first-child"))
	tb.Until(hash + `.includes("slow-1") && ` + settled)

	// Another policy, by keyboard: it is compared, it has parameters, and it can be taken away.
	tb.Run(chromedp.Focus("#kind"), chromedp.Evaluate[chromedp.Void](`document.getElementById("kind").value = "inflight-cap"`), chromedp.Focus("#add-policy"), chromedp.KeyEvent(kb.Enter))
	tb.Until(hash + `.includes("policies.+={kind:+inflight-cap,+label:+inflight-cap}") && ` + settled + ` && document.querySelectorAll("#head tbody tr").length === 3 && !` + knobAt("policies.inflight-cap.retries") + `.hidden`)
	tb.Run(chromedp.Click("#undo"))
	tb.Until(settled + ` && document.querySelectorAll("#head tbody tr").length === 2`)

	// A link leads to the same settings.
	tb.Run(chromedp.Click("#link"))
	tb.Until(`window.taken?.startsWith("http")`)
	link := browsertest.Eval[string](tb, `window.taken`)
	other := browsertest.Open(t, link, 1280)
	other.Until(settled + ` && ` + knobAt("engine.workers") + `.querySelector("input").value === "6"`)
	if own, want := browsertest.Eval[string](other, `document.querySelector("#out .headline").textContent + document.querySelector("#head").textContent`), browsertest.Eval[string](tb, `document.querySelector("#out .headline").textContent + document.querySelector("#head").textContent`); own != want {
		t.Errorf("by the link it is\n%s\nand was\n%s", own, want)
	}
	tb.Quiet(address)
	other.Quiet(address)
}

// TestPageWrongValues checks that a wrong value shows the loader's message beside it and runs nothing, that the next
// right one is run, and that a link with a wrong value shows the scenario as it is.
func TestPageWrongValues(t *testing.T) {
	tb, address := opened(t, small, "", 1280)
	tb.Run(chromedp.Focus(`#k-engine\.workers`), chromedp.Evaluate[chromedp.Void](`document.activeElement.select()`), chromedp.KeyEvent("some"+kb.Enter))
	tb.Until(knobAt("engine.workers") + `.querySelector(".bad")?.textContent.startsWith("want a whole number, not \"some\"") && document.getElementById("state").className === "stopped"`)
	if is := browsertest.Eval[string](tb, `document.getElementById("k-engine.workers").getAttribute("aria-invalid")`); is != "true" {
		t.Errorf("it is invalid: %q", is)
	}
	if wrong := browsertest.Eval[string](tb, `(r => r.bottom > innerHeight || r.top < 0 ? "the words are at " + r.top : document.getElementById("state").textContent)(document.querySelector(".knob .bad").getBoundingClientRect())`); wrong != `Not simulated: want a whole number, not "some"` {
		t.Error(wrong)
	}
	tb.Picture(*pictures, "wrong")
	tb.Accessible()
	tb.Run(chromedp.Focus(`#k-engine\.workers`), chromedp.Evaluate[chromedp.Void](`document.activeElement.select()`), chromedp.KeyEvent("9"+kb.Enter))
	tb.Until(settled + ` && !document.querySelector(".knob .bad")`)
	tb.Quiet(address)

	s := server(t, small)
	http := httptest.NewServer(s)
	t.Cleanup(http.Close)
	tb = browsertest.Open(t, http.URL+s.Path()+"#set=engine.workers%3Dnone", 1280)
	tb.Until(knobAt("engine.workers") + `?.querySelector(".bad")`)
}

// TestPageStale moves a slider faster than a run takes, and checks that the page cancels the requests in between, which
// ends their simulations (TestStale), and shows only the last.
func TestPageStale(t *testing.T) {
	s := server(t, strings.NewReplacer("duration: 2m", "duration: 20m", "seeds: 12", "seeds: 4").Replace(small))
	http := httptest.NewServer(s)
	defer http.Close()
	tb := browsertest.Open(t, http.URL+s.Path(), 1280)
	tb.Until(`!document.getElementById("k-engine.workers-slide") === false`)
	browsertest.Eval[bool](tb, `(async () => {
		const plain = window.fetch;
		window.dropped = 0;
		window.fetch = (path, options) => { options.signal.addEventListener("abort", () => window.dropped++); return plain(path, options); };
		for (const workers of [60, 50, 40, 30, 20, 10]) {
			const s = document.getElementById("k-engine.workers-slide");
			s.value = workers; s.dispatchEvent(new Event("input")); s.dispatchEvent(new Event("change"));
			await new Promise(done => setTimeout(done, 150));
		}
		return true;
	})()`)
	tb.Until(settled)
	if n := browsertest.Eval[int](tb, `window.dropped`); n != 5 {
		t.Errorf("%d requests are given up, want all but the last of 6", n)
	}
	workers := browsertest.Eval[string](tb, `document.getElementById("k-engine.workers").value`)
	sc, _ := s.loaded([]set{{"engine.workers", workers}})
	if text := browsertest.Eval[string](tb, `document.querySelector("#out").textContent`); workers != "11" || !strings.Contains(text, "config "+sc.ConfigHash()) {
		t.Errorf("with %s workers, config %s, the page shows another run: %s", workers, sc.ConfigHash(), text)
	}
	if s.simulations() > 0 || len(s.places) > 0 {
		t.Errorf("%d simulations and %d requests go on", s.simulations(), len(s.places))
	}
	tb.Quiet(http.URL)
}

// TestPageTakenAlong checks what the page copies (a command, YAML, tables), a job's life, and the search for keys.
func TestPageTakenAlong(t *testing.T) {
	tb, address := opened(t, small, "#set=retry.jitter%3Dnone&policy=Shared+FIFO", 1280)
	for button, want := range map[string]string{"flags": `qsim run small --set retry.jitter=none --policy 'Shared FIFO'`, "yaml": "jitter: none", "markdown": "| Shared FIFO"} {
		tb.Run(chromedp.Click("#" + button))
		tb.Until(fmt.Sprintf(`window.taken?.includes(%q)`, want))
	}
	tb.Run(chromedp.Focus("#search"), chromedp.KeyEvent("linger"))
	tb.Until(`[...document.querySelectorAll(".knob")].filter(k => !k.hidden).map(k => k.dataset.path).includes("engine.commit.linger")`)
	if n := browsertest.Eval[int](tb, `[...document.querySelectorAll(".knob")].filter(k => !k.hidden).length`); n > 6 {
		t.Errorf("%d keys are about linger", n)
	}
	tb.Run(chromedp.Click(`#whose button`))
	tb.Until(`/^mail\/\d+ under Shared FIFO with seed 1: /.test(document.querySelector("#life pre")?.textContent)`)
	tb.Run(chromedp.Evaluate[chromedp.Void](`document.getElementById("search").value = ""; document.getElementById("search").dispatchEvent(new Event("input"))`))
	tb.Accessible()
	tb.Picture(*pictures, "life")
	tb.Quiet(address)
}

// TestPageOwn changes parts of the scenario: its storm is removed and brought back, by keyboard; the `with:` of a
// policy is set; the table gets a column; and a billion jobs are refused beside the value that brings them.
func TestPageOwn(t *testing.T) {
	tb, address := opened(t, strings.Replace(small, "fresh: 80%}", "fresh: 80%, with: {retry.max-attempts: 3, retry.jitter: none}}", 1), "", 1280)
	tb.Run(chromedp.Focus(`#knobs button[aria-label="Remove storm down"]`), chromedp.KeyEvent(kb.Enter))
	tb.Until(hash + ` === "#set=storms.down=none" && ` + settled + ` && !` + knobAt("storms.down.for") + ` && document.activeElement.id === "undo"`)
	if said := browsertest.Eval[string](tb, knobAt("storms.down")+`.querySelector(".warn").textContent`); said != "objectives about this storm go with it: 1 of 1" {
		t.Errorf("it says %q", said)
	}
	tb.Run(chromedp.Click("#flags"))
	tb.Until(`window.taken === "qsim run small --set storms.down=none"`)
	tb.Run(chromedp.Click("#yaml"))
	tb.Until(`window.taken.includes("class: mail") && !window.taken.includes("name: down")`)
	tb.Accessible()
	tb.Picture(*pictures, "removed")
	tb.Run(chromedp.Focus(`#k-storms\.down-row .below button`), chromedp.KeyEvent(kb.Enter))
	tb.Until(`location.hash === "" && ` + settled + ` && ` + knobAt("storms.down.for") + ` && document.querySelector("#head").textContent.includes("goal ≤ 10m")`)

	tb.Run(chromedp.Focus(`#k-policies\.Weighted\%2080\/20\.with\.retry\.max-attempts-slide`), chromedp.KeyEvent(kb.ArrowRight))
	tb.Until(hash + ` === "#set=policies.Weighted+80/20.with.retry.max-attempts=4" && ` + settled + ` && document.querySelector("#head").textContent.includes("Weighted 80/20, retry.max-attempts 4")`)
	if is := browsertest.Eval[string](tb, knobAt("policies.Weighted 80/20.with.retry.jitter")+`.textContent`); !strings.Contains(is, "with retry jitter") {
		t.Errorf("the other key of the policy is %q", is)
	}
	if is := browsertest.Eval[string](tb, `[...document.getElementById("column").options].map(o => o.text).join("; ")`); is != "p99 wait of fresh jobs in down; p99 wait of fresh jobs" {
		t.Errorf("to be watched are %s", is)
	}
	tb.Run(chromedp.Focus("#column"), chromedp.KeyEvent(kb.ArrowDown))
	tb.Until(hash + `.endsWith("&metric=fresh.wait.p99") && ` + settled + ` && document.querySelector("#out th.asked")`)
	tb.Run(chromedp.Click("#flags"))
	tb.Until(`window.taken.endsWith("--metric fresh.wait.p99")`)

	const rate = `#k-jobs\.mail\.arrivals\.rate`
	tb.Run(chromedp.Focus(rate), chromedp.Evaluate[chromedp.Void](`document.activeElement.select()`), chromedp.KeyEvent("8333333.3/s"+kb.Enter))
	tb.Until(knobAt("jobs.mail.arrivals.rate") + `.querySelector(".bad")?.textContent.startsWith("jobs.mail.arrivals brings most of 999,999,996 jobs in one simulation, and the page takes 20,000,000 at most") && document.getElementById("state").className === "stopped"`)
	tb.Picture(*pictures, "billion")
	tb.Accessible()
	tb.Run(chromedp.Click("#undo"))
	tb.Until(settled + ` && !document.querySelector(".knob .bad")`)
	tb.Quiet(address)
}

// TestPageByKeyboard checks that the tab key reaches and leaves every control, with a visible focus, on any screen.
func TestPageByKeyboard(t *testing.T) {
	for _, width := range []int64{1280, 390} {
		tb, address := opened(t, small, "#set=engine.workers%3D7", width)
		want := browsertest.Eval[[]string](tb, `(window.stops = () => [...document.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']")].filter(e => e.checkVisibility() && !e.disabled))().map(e => e.outerHTML.slice(0, 90))`)
		tb.Run(chromedp.Evaluate[chromedp.Void](`window.met = []; addEventListener("focusin", e => window.met.push(window.stops().indexOf(e.target) + (getComputedStyle(e.target).outlineStyle === "none" ? " without an outline" : "")))`))
		for range want {
			tb.Run(chromedp.KeyEvent(kb.Tab))
		}
		for i, at := range browsertest.Eval[[]string](tb, `window.met.map(String)`) {
			if at != fmt.Sprint(i) {
				t.Errorf("%d px: stop %d, %s, is met as %s", width, i, want[i], at)
			}
		}
		if n := browsertest.Eval[int](tb, `window.met.length`); n != len(want) || n < 40 {
			t.Errorf("%d px: %d stops of %d", width, n, len(want))
		}
		tb.Quiet(address)
	}
}

// TestPageNarrow checks the page on the screen of a phone, dark and light.
func TestPageNarrow(t *testing.T) {
	for _, scheme := range []string{"dark", "light"} {
		for _, width := range []int64{390, 1280} {
			tb, address := opened(t, small, "#set=engine.workers%3D7", width, browsertest.Scheme(scheme, ""))
			if wide := browsertest.Eval[int64](tb, `document.documentElement.scrollWidth`); wide > width {
				t.Errorf("%s, %d px: the page is %d wide", scheme, width, wide)
			}
			tb.Accessible()
			tb.Picture(*pictures, fmt.Sprintf("%s-%d", scheme, width))
			tb.Run(browsertest.Scheme(scheme, "print")) // with what it is of, and without controls
			paper := browsertest.Eval[string](tb, `document.body.innerText`)
			if !strings.HasPrefix(paper, "qsim play small") || !strings.Contains(paper, "engine.workers=7") || regexp.MustCompile("Undo|Settings|Click|life").MatchString(paper) {
				t.Errorf("%s, %d px: on paper is %.2000s", scheme, width, paper)
			}
			tb.Quiet(address)
		}
	}
}

// TestPageShipped opens retry-storm with the task of a user who wants mails to wait for less than a second, with as
// few claims as possible reserved for fresh jobs: the wait of mails is watched, then the share of the weighted policy
// is changed by keyboard. Below the slider stand the values tried, each with what became of the goal, and the share of
// retries.
func TestPageShipped(t *testing.T) {
	_, source, err := scenarios.Open("retry-storm")
	if err != nil {
		t.Fatal(err)
	}
	seeds := "seeds: 4"
	if *picture != "" {
		seeds = "seeds: 20"
	}
	tb, address := opened(t, strings.Replace(string(source), "seeds: 20", seeds, 1), "", 1280, browsertest.Scheme("light", ""),
		browsertest.Protocol(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 1280, Height: 1110, DeviceScaleFactor: 1}))
	tb.Accessible()
	if *picture != "" {
		shot, err := chromedp.Run(tb, chromedp.CaptureScreenshot())
		if err == nil {
			err = os.WriteFile(*picture, shot, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	browsertest.Eval[bool](tb, `["Shared FIFO", "Separate queue", "In-flight cap 20%"].every(p => { document.getElementById("on-" + p).click(); return true; })`)
	tb.Run(chromedp.Focus("#column"), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowDown))
	const mail = "mail: p99 wait of fresh jobs in payments-down"
	tb.Until(hash + `.startsWith("#policy=Weighted+80/20&metric=") && ` + settled + ` && document.querySelectorAll("#head tbody tr").length === 1 && document.querySelector("th.watched").textContent === "` + mail + `goal ≤ 1s"`)
	if is := browsertest.Eval[string](tb, `document.getElementById("column").selectedOptions[0].text + document.querySelectorAll("#head .watched").length + document.querySelectorAll(".tried ol").length`); is != mail+"20" {
		t.Errorf("it watches %s", is)
	}
	const row = `document.getElementById("k-policies.Weighted%2080/20.fresh-row")`
	tb.Run(chromedp.Focus(`#k-policies\.Weighted\%2080\/20\.fresh-slide`))
	for _, step := range []struct{ keys, share string }{{kb.PageDown + kb.ArrowLeft + kb.ArrowLeft, "68%"}, {strings.Repeat(kb.ArrowRight, 6), "74%"}} {
		for _, key := range step.keys {
			tb.Run(chromedp.KeyEvent(string(key)))
		}
		tb.Until(fmt.Sprintf(`document.querySelector("#head tbody th").textContent === "Weighted 80/20, fresh %s" && `, step.share) + settled)
	}
	tried := browsertest.Eval[string](tb, row+`.querySelector(".tried").textContent`)
	if want := regexp.MustCompile(`^Tried: ` + mail + `, goal ≤ 1s68% ✗missed: [2-9]\.\ds ±[\d.]+m?s, 4 seeds74% ✓met: \d+ms ±\d+ms, 4 seeds80% ✓met: \d+ms ±\d+ms, 4 seeds$`); !want.MatchString(tried) {
		t.Errorf("below the slider stands %q", tried)
	}
	if parts := browsertest.Eval[string](tb, row+`.querySelector(".parts").textContent + "; " + `+row+`.querySelector("[type=range]").getAttribute("aria-valuetext")`); parts != "74% fresh, 26% retries; 74% fresh, 26% retries" {
		t.Errorf("the share is %q", parts)
	}
	if headline := browsertest.Eval[string](tb, `document.querySelector(".headline").textContent`); !strings.HasPrefix(headline, "Weighted 80/20, fresh 74%: "+mail+" ") {
		t.Errorf("%s is watched, and the headline is %q", mail, headline)
	}
	if n := browsertest.Eval[int](tb, `[...document.querySelectorAll(".knob")].filter(k => !k.hidden && k.dataset.path.startsWith("policies.")).length`); n != 1 {
		t.Errorf("%d parameters of policies are shown, want that of the one policy", n)
	}
	tb.Accessible()
	tb.Picture(*pictures, "shipped")

	// Under other settings nothing has been tried yet; back under these, all of it is there.
	tb.Run(chromedp.Focus(`#k-engine\.workers-slide`), chromedp.KeyEvent(kb.ArrowRight))
	tb.Until(hash + `.includes("engine.workers") && ` + settled + ` && ` + row + `.querySelector(".tried").textContent === "" && document.getElementById("k-engine.workers-row").querySelectorAll(".tried li").length === 2`)
	tb.Run(chromedp.Click("#undo"))
	tb.Until(`!` + hash + `.includes("engine.workers") && ` + row + `.querySelector(".tried").textContent === ` + fmt.Sprintf("%q", tried))
	tb.Quiet(address)
}
