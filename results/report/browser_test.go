package report

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdpruntime "github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"qsim/results"
	"qsim/results/measure"
)

// chromium is the browser that pages are tried in, "" if there is none.
func chromium() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

var browserOnce = sync.OnceValues(func() (context.Context, func()) {
	folder, err := os.MkdirTemp("", "qsim-browser-")
	if err != nil {
		panic(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium()), chromedp.UserDataDir(folder), chromedp.NoSandbox, chromedp.Headless,
		chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true), chromedp.Flag("hide-scrollbars", true))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	browser, closeBrowser := chromedp.NewContext(allocator)
	return browser, func() {
		closeBrowser()
		stop()
		os.RemoveAll(folder)
	}
})

// TestMain closes the browser that tests have opened.
func TestMain(m *testing.M) {
	code := m.Run()
	if browserUsed {
		_, stop := browserOnce()
		stop()
	}
	os.Exit(code)
}

var browserUsed bool

// tab is a page that is open in the browser, with what the browser said and asked for meanwhile.
type tab struct {
	context.Context
	t        *testing.T
	mutex    sync.Mutex
	messages []string
	requests []string
}

// openTab shows a page in a tab of its own, so many pixels wide.
func openTab(t *testing.T, html []byte, width int64, before ...chromedp.Action[chromedp.Void]) *tab {
	t.Helper()
	if chromium() == "" {
		t.Skip("NO CHROMIUM: THE PAGE IS NOT TRIED IN A BROWSER; scripts/test installs one")
	}
	browserUsed = true
	browser, _ := browserOnce()
	if err := chromedp.Do(browser); err != nil {
		t.Fatalf("start %s: %v", chromium(), err)
	}
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, html, 0o666); err != nil {
		t.Fatal(err)
	}
	inside, closeTab := chromedp.NewContext(browser)
	limited, cancel := context.WithTimeout(inside, time.Minute)
	t.Cleanup(func() { cancel(); closeTab() })
	tb := &tab{Context: limited, t: t}
	tb.run() // which opens it
	if err := chromedp.Listen(limited, tb.note); err != nil {
		t.Fatal(err)
	}
	tb.run(protocol(network.Enable, network.EnableParams{}), protocol(log.Enable, cdp.Empty{}), protocol(cdpruntime.Enable, cdp.Empty{}),
		protocol(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 900, DeviceScaleFactor: 1, Mobile: width < 500}))
	tb.run(append(before, chromedp.Navigate("file://"+file), chromedp.WaitReady("footer, #runs"))...)
	return tb
}

// protocol is an action that the protocol has.
func protocol[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, c, params)
		return err
	})
}

// note keeps what matters of what the browser tells.
func (tb *tab) note(event any) {
	tb.mutex.Lock()
	defer tb.mutex.Unlock()
	switch e := event.(type) {
	case *log.EventEntryAdded:
		tb.messages = append(tb.messages, fmt.Sprintf("%s: %s", e.Entry.Level, e.Entry.Text))
	case *cdpruntime.EventExceptionThrown:
		tb.messages = append(tb.messages, "exception: "+e.ExceptionDetails.Text)
	case *cdpruntime.EventConsoleAPICalled:
		tb.messages = append(tb.messages, "console."+string(e.Type))
	case *network.EventRequestWillBeSent:
		tb.requests = append(tb.requests, e.Request.URL)
	}
}

// run does actions, which must succeed.
func (tb *tab) run(actions ...chromedp.Action[chromedp.Void]) {
	tb.t.Helper()
	if err := chromedp.Do(tb, actions...); err != nil {
		tb.t.Fatal(err)
	}
}

// eval is the value of an expression in the page.
func eval[T any](tb *tab, expression string) T {
	tb.t.Helper()
	value, err := chromedp.Run(tb, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		tb.t.Fatalf("%s: %v", expression, err)
	}
	return value
}

// until waits for a condition in the page.
func (tb *tab) until(condition string) {
	tb.t.Helper()
	if !eval[bool](tb, fmt.Sprintf(`new Promise(done => {
		const last = Date.now() + 20000, look = () => { if (%s) done(true); else if (Date.now() > last) done(false); else setTimeout(look, 20); };
		look();
	})`, condition)) {
		tb.t.Fatalf("it does not come to pass that %s", condition)
	}
}

// quiet fails unless the browser had nothing to say and asked for nothing but the page.
func (tb *tab) quiet() {
	tb.t.Helper()
	tb.mutex.Lock()
	defer tb.mutex.Unlock()
	if len(tb.messages) > 0 {
		tb.t.Errorf("the browser said %q", tb.messages)
	}
	if len(tb.requests) != 1 || !strings.HasPrefix(tb.requests[0], "file://") {
		tb.t.Errorf("requests: %q, want that for the page alone", tb.requests)
	}
}

// picture keeps a screenshot of the whole page if -pictures asks for it.
func (tb *tab) picture(name string) {
	tb.t.Helper()
	if *pictures == "" {
		return
	}
	shot, err := chromedp.Run(tb, chromedp.FullScreenshot(100))
	if err != nil {
		tb.t.Fatal(err)
	}
	if err := os.MkdirAll(*pictures, 0o755); err != nil {
		tb.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*pictures, name+".png"), shot, 0o644); err != nil {
		tb.t.Fatal(err)
	}
}

// pages are the reports of fixtures by name, each made once: two that differ must have two names.
var pages sync.Map

// figuresOf are the figures on those pages.
var figuresOf sync.Map

// drawnOf are the figures on the page of the fixture of that name, which must have been made.
func drawnOf(name string) []Figure {
	figures, _ := figuresOf.Load(name)
	return figures.([]Figure)
}

// pageOf is the report of a fixture.
func pageOf(t testing.TB, f fixture) []byte {
	t.Helper()
	once, _ := pages.LoadOrStore(f.name, sync.OnceValue(func() []byte { return writePage(t, f) }))
	return once.(func() []byte)()
}

func writePage(t testing.TB, f fixture) []byte {
	t.Helper()
	s, sum := f.build()
	figures, err := Charts(s, sum, "v0.1.0")
	if err != nil {
		t.Fatal(err)
	}
	figuresOf.Store(f.name, figures)
	html, err := Page(sum, figures, PageOptions{Version: "v0.1.0", Scenario: []byte("name: retry-storm\n")})
	if err != nil {
		t.Fatal(err)
	}
	return html
}

// scheme makes the browser prefer dark or light pages, on a screen or, for "print", on paper.
func scheme(name, media string) chromedp.Action[chromedp.Void] {
	return protocol(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: media, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}})
}

// ready is when the script has done its part.
const ready = `document.getElementById("tools") && !document.getElementById("tools").hidden`

const inkOf = `getComputedStyle(document.documentElement).getPropertyValue("--ink").trim()`

func TestPageInBrowser(t *testing.T) {
	tb := openTab(t, pageOf(t, storm()), 1100)
	tb.until(ready)
	tb.picture("light")

	// The pointer moves one cursor in all charts.
	tb.run(chromedp.ScrollIntoView(`#waits svg.time`))
	box := eval[struct{ X, Y, W, H float64 }](tb, `(r => ({X: r.x, Y: r.y, W: r.width, H: r.height}))(document.querySelector("#waits svg.time rect").getBoundingClientRect())`)
	middle := box.Y + box.H/2
	tb.run(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, box.X+box.W*.45, middle))
	tb.until(`document.getElementById("at").textContent.startsWith("at 13m")`)
	if words := eval[string](tb, `document.getElementById("at").textContent`); !strings.Contains(words, "Shared FIFO") || !strings.Contains(words, "In-flight cap 20%") {
		t.Errorf("the readout is %q", words)
	}
	if n := eval[int](tb, `[...document.querySelectorAll(".cursor")].filter(e => e.getAttribute("visibility") === "visible").length`); n != 8 {
		t.Errorf("%d cursors, want one in each of 4 + 1 + 1 + 2 plots", n)
	}
	if words := eval[string](tb, `document.querySelector("#backlog .remark").textContent`); !strings.Contains(words, "fresh") || strings.Contains(words, "peak") {
		t.Errorf("a panel says %q at the cursor", words)
	}
	tb.picture("cursor")

	// Dragging zooms all of them, the address keeps it, and the button shows the whole run again.
	tb.run(chromedp.MouseEvent(chromedp.MousePressed, box.X+box.W*.32, middle, chromedp.ButtonLeft, chromedp.ClickCount(1)),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, box.X+box.W*.4, middle, chromedp.ButtonLeft), chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, box.X+box.W*.6, middle, chromedp.ButtonLeft),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMouseReleased, box.X+box.W*.6, middle, chromedp.ButtonLeft, chromedp.ClickCount(1)))
	tb.until(`document.getElementById("range").textContent.startsWith("9m") && location.hash.startsWith("#t=9m")`)
	if same := eval[int](tb, `new Set([...document.querySelectorAll("svg.time")].map(e => (v => Math.round(1000 * v.width / e.width.baseVal.value))(e.viewBox.baseVal))).size`); same != 1 {
		t.Errorf("plots show stretches of %d lengths", same)
	}
	tb.picture("zoomed")
	tb.run(chromedp.Click("#reset"))
	tb.until(`document.getElementById("range").textContent === "" && location.hash === ""`)
	for _, step := range []struct{ button, range_ string }{{"#zoom-in", `^\d`}, {"#later", `^\d`}, {"#earlier", `^\d`}, {"#zoom-out", `^$`}} {
		before := eval[string](tb, `document.getElementById("range").textContent`)
		tb.run(chromedp.Click(step.button))
		tb.until(fmt.Sprintf(`(r => r !== %q && /%s/.test(r))(document.getElementById("range").textContent)`, before, step.range_))
	}
	// A link leads to a stretch of time. The storm is named above what is seen of it, and not beside the plot.
	tb.run(chromedp.Evaluate[chromedp.Void](`location.hash = "#t=14m-22m"`))
	tb.until(`document.getElementById("range").textContent === "14m to 22m"`)
	if wrong := eval[string](tb, `(() => {
		const plot = document.querySelector("#waits svg.time"), m = plot.ownerSVGElement.getScreenCTM(), box = {left: m.a * plot.x.baseVal.value + m.e, width: m.a * plot.width.baseVal.value}, name = [...plot.parentNode.querySelectorAll(".name")].find(e => e.textContent.trim() === "payments-down");
		const at = name.getBoundingClientRect(), ticks = plot.nextElementSibling.textContent;
		return at.left < box.left - 5 || at.right > box.left + box.width / 2 ? "the name is from " + at.left + " to " + at.right + " on a plot from " + box.left + ", " + box.width + " wide" : !/16m/.test(ticks) || /5m/.test(ticks) ? "the ticks are " + ticks : "";
	})()`); wrong != "" {
		t.Error(wrong)
	}
	tb.picture("linked")
	tb.run(chromedp.Click("#reset"))

	// A toggle hides its policy everywhere, by click and by keyboard.
	const shown = `[...document.querySelectorAll('[data-policy="0"]:not(svg.time)')].filter(e => e.getClientRects().length > 0).length`
	if n := eval[int](tb, shown); n < 8 {
		t.Fatalf("%d parts are of the first policy", n)
	}
	tb.run(chromedp.Click(`[data-toggle="0"]`))
	tb.until(`document.querySelector('[data-toggle="0"]').getAttribute("aria-pressed") === "false"`)
	if n := eval[int](tb, shown); n > 0 {
		t.Errorf("%d parts of a policy that is switched off", n)
	}
	tb.run(chromedp.Focus(`[data-toggle="0"]`), chromedp.KeyEvent(" "))
	tb.until(`document.querySelector('[data-toggle="0"]').getAttribute("aria-pressed") === "true"`)

	// The cursor by keyboard, which is spoken.
	tb.run(chromedp.Focus(`#waits .timed`), chromedp.KeyEvent(kb.End))
	tb.until(`/^at 29m45s, Shared FIFO /.test(document.getElementById("spoken").textContent)`)
	tb.run(chromedp.KeyEvent(kb.ArrowLeft), chromedp.KeyEvent("+"))
	tb.until(`/^at 29m15s, /.test(document.getElementById("spoken").textContent) && document.getElementById("range").textContent !== ""`)
	tb.run(chromedp.KeyEvent(kb.Escape))
	tb.until(`document.getElementById("range").textContent === ""`)

	// A click on the head of a column sorts by it, and a second one the other way.
	const first = `document.querySelector("#head tbody th").textContent.trim()`
	tb.run(chromedp.Click(`#head thead tr:last-child th:nth-child(2) button`))
	tb.until(first + ` === "In-flight cap 20%"`)
	tb.run(chromedp.Click(`#head thead tr:last-child th:nth-child(2) button`))
	tb.until(first + `.startsWith("Shared FIFO")`)
	tb.quiet()
}

// What the buttons give is the table in the words of the terminal, and the chart in the colours of the page.
func TestPageTakenAlong(t *testing.T) {
	tb := openTab(t, pageOf(t, storm()), 1100, scheme("light", ""))
	tb.until(ready)
	eval[bool](tb, `(() => { window.taken = []; URL.createObjectURL = blob => { taken.push(blob); return "#"; }; HTMLAnchorElement.prototype.click = function () { taken.push(this.download); }; return true; })()`)
	tb.run(chromedp.Click("#csv"))
	tb.until(`taken[1] === "retry-storm.csv"`)
	if csv := eval[string](tb, `taken[0].text()`); !strings.HasPrefix(csv, "policy,") || strings.Count(csv, "\n") != 5 {
		t.Errorf("the CSV is %q", csv)
	}
	tb.run(chromedp.Click("#copy"))
	tb.until(`document.getElementById("copied").textContent === "Copied."`)
	if markdown := eval[string](tb, `page.data.markdown`); !strings.Contains(markdown, "| Shared FIFO (base) | 2m43s") {
		t.Errorf("the Markdown is %q", markdown)
	}
	tb.run(chromedp.Click(`#waits .save`))
	tb.until(`taken[3] === "retry-storm-1-fresh-p99.png"`)
	if n := eval[int](tb, `createImageBitmap(taken[2]).then(image => {
		const c = new OffscreenCanvas(image.width, image.height).getContext("2d"), orange = [0xd5, 0x5e, 0];
		c.drawImage(image, 0, 0);
		const d = c.getImageData(0, 0, image.width, image.height).data;
		let n = 0;
		for (let i = 0; i < d.length; i += 4) if (orange.every((v, k) => d[i + k] === v)) n++;
		return n;
	})`); n < 500 {
		t.Errorf("the PNG has %d pixels of the first policy's line", n)
	}
	tb.quiet()
}

// The replay moves when it is told to, and in steps where no motion is wanted.
func TestPageReplay(t *testing.T) {
	at := func(tb *tab) int { return eval[int](tb, `Number(document.getElementById("when").value)`) }
	tb := openTab(t, pageOf(t, storm()), 1100)
	tb.until(ready)
	still := at(tb)
	if still < 480 || still > 520 {
		t.Errorf("the still is at %d in a thousand, want the end of the storm, when most jobs are ready", still)
	}
	if n := eval[int](tb, `(() => {
		const c = document.getElementById("film"), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data, amber = [0xe6, 0x9f, 0];
		let n = 0;
		for (let i = 0; i < d.length; i += 4) if (amber.every((v, k) => d[i + k] === v)) n++;
		return n;
	})()`); n < 2000 {
		t.Errorf("%d pixels of retries are drawn", n)
	}
	tb.picture("replay")
	tb.run(chromedp.Click("#play"))
	tb.until(`document.getElementById("play").textContent === "Pause" && Number(document.getElementById("when").value) > 20`)
	tb.run(chromedp.Focus("#play"), chromedp.KeyEvent(" "))
	tb.until(`document.getElementById("play").textContent === "Play"`)
	before := at(tb)
	tb.run(chromedp.Focus("#when"), chromedp.KeyEvent(kb.End))
	tb.until(`/^at 30m: Shared FIFO 0 fresh/.test(document.getElementById("when").getAttribute("aria-valuetext"))`)
	if at(tb) <= before {
		t.Errorf("the end lies at %d, it stood at %d", at(tb), before)
	}
	tb.quiet()

	tb = openTab(t, pageOf(t, storm()), 1100, protocol(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: "reduce"}}}))
	tb.until(ready)
	tb.run(chromedp.Click("#play"))
	seen := eval[[]int](tb, `new Promise(done => { const seen = [], look = () => { seen.push(Number(document.getElementById("when").value)); if (seen.length < 70) setTimeout(look, 50); else done(seen); }; look(); })`)
	values := map[int]bool{}
	for _, v := range seen {
		values[v] = true
	}
	if len(values) < 2 || len(values) > 6 {
		t.Errorf("it stood at %d places in three and a half seconds: %v", len(values), seen)
	}
}

// A value with none before or after it is a dot: lines alone would not show it.
func TestPageShowsLonelyValues(t *testing.T) {
	t.Parallel()
	for _, every := range []int{2, 20} {
		f := with(fmt.Sprintf("lonely %d", every), func(f *fixture) {
			f.policies, f.seeds = 2, 1
			f.adjust = func(_ *measure.Settings, sum *results.Summary) {
				for i := range sum.Data {
					values := sum.Data[i].Series[0].FreshWaitP99
					for b := range values {
						if values[b] = []float64{.01, 5}[i]; b%every != 0 {
							values[b] = math.NaN()
						}
					}
				}
			}
		})
		pageOf(t, f)
		for _, figure := range drawnOf(f.name) {
			if figure.Name == "1-fresh-p99" {
				if n, want := strings.Count(string(figure.inline), " 0 1 0 -"), 2*60/every; n != want {
					t.Errorf("%d dots for %d values alone", n, want)
				}
			}
		}
	}
}

// A link to a section leads to where its heading is to be seen, below the tools that stay on top, however
// many lines those take.
func TestPageLinksLeadBelowTheTools(t *testing.T) {
	for _, f := range []fixture{storm(), with("nasty links", func(f *fixture) { f.policies, f.labels = 8, nasty })} {
		tb := openTab(t, pageOf(t, f), 1100)
		tb.until(ready)
		if at := eval[string](tb, `getComputedStyle(document.getElementById("tools")).position`); at != "sticky" {
			t.Fatalf("the tools are %s: what is tried here is nothing", at)
		}
		ids := eval[[]string](tb, `[...document.querySelectorAll("#tools ~ section h2")].map(h => h.parentNode.id)`)
		if len(ids) < 6 {
			t.Errorf("%d sections", len(ids))
		}
		for _, id := range ids {
			tb.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`scrollTo(0, 0); location.hash = %q`, id)))
			eval[bool](tb, `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`)
			if covered := eval[bool](tb, fmt.Sprintf(`(() => {
				const h = document.querySelector("#%s h2").getBoundingClientRect(), tools = document.getElementById("tools").getBoundingClientRect();
				return h.top < 0 || h.top < tools.bottom && h.bottom > tools.top;
			})()`, id)); covered {
				t.Errorf("%s: the heading of %s is covered", f.name, id)
			}
		}
		tb.quiet()
	}
}

func TestPageInTheDark(t *testing.T) {
	light := openTab(t, pageOf(t, storm()), 1100)
	dark := openTab(t, pageOf(t, storm()), 1100, scheme("dark", ""))
	dark.until(ready)
	if a, b := eval[string](light, inkOf), eval[string](dark, inkOf); a == b {
		t.Errorf("ink is %s by day and by night", a)
	}
	if c := eval[string](dark, `getComputedStyle(document.querySelector("#comparison .chart [fill='#1B1F24']")).fill`); c != "rgb(230, 237, 243)" {
		t.Errorf("words in drawings are %s in the dark", c)
	}
	if c := eval[string](dark, `getComputedStyle(document.querySelector(".legend [stroke='#0072B2']")).stroke`); c != "rgb(74, 168, 224)" {
		t.Errorf("a line of a legend is %s in the dark, not as in the drawing", c)
	}
	dark.picture("dark")
	dark.run(scheme("light", ""))
	dark.until(inkOf + ` === "#1b1f24"`)
	dark.quiet()
}

// Nothing is wider than the narrowest screens, whatever the names.
func TestPageOnATelephone(t *testing.T) {
	for _, f := range []fixture{storm(), with("nasty narrow", func(f *fixture) {
		f.policies, f.labels, f.storms[0].Name, f.limits[0].During = 8, nasty, nasty[7], nasty[7]
	}), with("20 policies", func(f *fixture) { f.policies = 20 })} {
		for _, width := range []int64{390, 320} {
			tb := openTab(t, pageOf(t, f), width)
			tb.until(ready)
			if wide := eval[int64](tb, `document.documentElement.scrollWidth`); wide > width {
				t.Errorf("%s: the page is %d pixels wide on a screen of %d: %s", f.name, wide, width,
					eval[string](tb, `[...document.querySelectorAll("body *")].filter(e => !e.closest(".scroll, pre, .hide, .skip") && e.getBoundingClientRect().right > innerWidth).map(e => e.tagName + "." + e.className + "#" + e.id).slice(0, 5).join(" ")`))
			}
			if silent := eval[string](tb, `[...document.querySelectorAll(".scroll")].filter(e => e.checkVisibility() && e.scrollWidth > e.clientWidth + 4 && !e.matches(".wide")).map(e => e.getAttribute("aria-label")).join(", ")`); silent != "" {
				t.Errorf("%s: cut off without a sign: %s", f.name, silent)
			}
			tb.picture(fmt.Sprintf("%s-%d", strings.ReplaceAll(f.name, " ", "-"), width))
			tb.quiet()
		}
	}
}

// Without scripts the drawings are there, and the buttons for what is not are not.
func TestPageWithoutScripts(t *testing.T) {
	tb := openTab(t, pageOf(t, storm()), 1100, protocol(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}))
	shown := func(selector string) int {
		return eval[int](tb, fmt.Sprintf(`[...document.querySelectorAll(%q)].filter(e => e.getClientRects().length > 0).length`, selector))
	}
	if n := shown(".drawing"); n != 6 {
		t.Errorf("%d drawings are shown, want 6", n)
	}
	if n := shown(".tools, .buttons, #replay, .save"); n != 0 {
		t.Errorf("%d parts that need a script are shown", n)
	}
	tb.picture("no-script")
	tb.quiet()
}

func TestPagePrints(t *testing.T) {
	tb := openTab(t, pageOf(t, storm()), 1100, scheme("dark", ""))
	tb.until(ready)
	pdf, err := chromedp.Run(tb, chromedp.PrintToPDF(chromedp.PDFPrintBackground()))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(pdf), "%PDF-") || len(pdf) < 20_000 {
		t.Errorf("the print is %d bytes, %.8q", len(pdf), pdf)
	}
	if *pictures != "" {
		if err := os.WriteFile(filepath.Join(*pictures, "print.pdf"), pdf, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tb.run(scheme("dark", "print"))
	tb.picture("print")
	if n := eval[int](tb, `[...document.querySelectorAll(".drawing")].filter(e => e.getClientRects().length > 0).length`); n != 6 {
		t.Errorf("%d drawings are printed, want 6", n)
	}
	if n := eval[int](tb, `[...document.querySelectorAll(".tools, .buttons, #replay, .save")].filter(e => e.getClientRects().length > 0).length`); n != 0 {
		t.Errorf("%d parts for a screen are printed", n)
	}
	if ink := eval[string](tb, inkOf); ink != "#1b1f24" {
		t.Errorf("it is printed in %s, as on a dark screen", ink)
	}
	tb.quiet()
}

// The key tab leads through all that can be used, in the order of the page: each has a name and shows that it is
// where one is, clear of the tools that stay on top. Nothing moves by itself.
func TestPageByKeyboard(t *testing.T) {
	tb := openTab(t, pageOf(t, judged()), 1100, scheme("dark", ""))
	tb.until(ready)
	eval[bool](tb, `window.focusable = [...document.querySelectorAll("a, button, input, summary, [tabindex]")].filter(e => e.checkVisibility()), focusable.length > 30`)
	all := eval[int](tb, `focusable.length`)
	for i := range all {
		tb.run(chromedp.KeyEvent(kb.Tab))
		if wrong := eval[string](tb, fmt.Sprintf(`(() => {
				const e = document.activeElement, style = getComputedStyle(e), box = e.getBoundingClientRect(), tools = document.getElementById("tools");
				const name = e.getAttribute("aria-label") || e.textContent.trim();
				if (e !== focusable[%d]) return "it is at " + e.outerHTML.slice(0, 80) + ", not at " + focusable[%d].outerHTML.slice(0, 80);
				if (!name) return "no name: " + e.outerHTML.slice(0, 80);
				if (style.outlineStyle === "none" || parseFloat(style.outlineWidth) < 2) return "not to be seen: " + name;
				if (box.bottom < 0 || box.top > innerHeight) return "out of sight: " + name;
				if (!tools.contains(e) && box.bottom <= tools.getBoundingClientRect().bottom && box.top >= tools.getBoundingClientRect().top) return "below the tools: " + name;
				return "";
			})()`, i, i)); wrong != "" {
			t.Errorf("step %d of %d: %s", i+1, all, wrong)
		}
	}
	if moving := eval[string](tb, `[...document.querySelectorAll("*")].map(e => [e, getComputedStyle(e)]).filter(([e, s]) => s.animationName !== "none" || s.transitionDuration !== "0s" || s.scrollBehavior !== "auto").map(([e]) => e.tagName).join(" ")`); moving != "" {
		t.Errorf("%s moves", moving)
	}
	tb.quiet()
}

// On a sheet of A4 less its margins the names of policies and tenants are read as words, and the tables do
// not run out of the page, however many columns they have.
func TestPagePrintsTables(t *testing.T) {
	const sheet = 688 // px
	many := judged()
	many.adjust = func(s *measure.Settings, sum *results.Summary) {
		judged().adjust(s, sum)
		for _, name := range []string{"retry.wait.p99", "retry.wait.mean", "fresh.wait.mean", "fresh.wait.max", "idle.ready", "claim.gap.longest"} {
			q := measure.Query{Metric: name}
			for i := range sum.Policies {
				mean := 12345 / float64(i+1)
				sum.Policies[i].Metrics = append(sum.Policies[i].Metrics, results.Estimate{Query: q, Mean: mean, Half: 1234, N: 10})
				sum.Objectives = append(sum.Objectives, results.Verdict{Query: q, Policy: sum.Policies[i].Label, Text: "below 10s", Value: mean, Outcome: results.Missed})
			}
		}
	}
	wide := openTab(t, pageOf(t, many), sheet, scheme("light", "print"))
	if cut := eval[string](wide, `[...document.querySelectorAll("th, td")].filter(e => e.checkVisibility() && (e.getBoundingClientRect().right > innerWidth + 1 || e.scrollWidth > e.clientWidth + 1)).map(e => e.textContent).slice(0, 5).join(", ")`); cut != "" {
		t.Errorf("cut off on a sheet of %d: %s", sheet, cut)
	}
	if n := eval[int](wide, `[...document.querySelectorAll("#quiet figure")].filter(e => e.checkVisibility()).length`); n != 0 {
		t.Errorf("%d figures are printed in which there is nothing to see", n)
	}
	wide.picture("print-wide")
	wide.quiet()
	tb := openTab(t, pageOf(t, judged()), sheet, scheme("light", "print"))
	if n := eval[int](tb, `document.querySelectorAll("tbody th").length`); n < 8 {
		t.Fatalf("%d rows", n)
	}
	if narrow := eval[string](tb, `[...document.querySelectorAll("tbody th")].filter(e => e.getBoundingClientRect().width < 110).map(e => e.textContent).join(", ")`); narrow != "" {
		t.Errorf("no room for the names %s", narrow)
	}
	if wide := eval[int64](tb, `document.documentElement.scrollWidth`); wide > sheet {
		t.Errorf("the print is %d pixels wide on a sheet of %d", wide, sheet)
	}
	if torn := eval[int](tb, `[...document.querySelectorAll("h2, .finding")].filter(e => getComputedStyle(e).breakAfter != "avoid" || getComputedStyle(e).breakInside != "avoid").length`); torn != 0 {
		t.Errorf("%d titles may stand on another sheet than what they are about", torn)
	}
	tb.picture("print-a4")
	tb.quiet()
}

// Names are words, whatever they look like.
func TestPageBearsAnyNames(t *testing.T) {
	f := with("nasty labels", func(f *fixture) {
		f.policies, f.labels, f.storms[0].Name, f.limits[0].During = 8, nasty, `</script><script>document.title="broken"</script>`, `</script><script>document.title="broken"</script>`
	})
	s, sum := f.build()
	s.Scenario, sum.Scenario, s.Description = nasty[2], nasty[2], `<img src=x onerror=alert(1)> "'`
	sum.Warnings = []string{`<b onclick="x">` + nasty[3]}
	figures, err := Charts(s, sum, "v0.1.0")
	if err != nil {
		t.Fatal(err)
	}
	html, err := Page(sum, figures, PageOptions{Version: `"><script>1</script>`, Scenario: []byte("</code></pre><script>alert(1)</script>")})
	if err != nil {
		t.Fatal(err)
	}
	tb := openTab(t, html, 1100)
	tb.until(ready)
	if n := eval[int](tb, `document.querySelectorAll("script").length`); n != 2 {
		t.Errorf("%d scripts, want 2", n)
	}
	if n := eval[int](tb, `document.querySelectorAll("img, b, [onclick], [onerror], [style*=url]").length`); n != 0 {
		t.Errorf("%d elements that a name has made", n)
	}
	if title := eval[string](tb, `document.title`); !strings.HasPrefix(title, `<script>alert("x")</script> & 'y'`) {
		t.Errorf("the title is %q", title)
	}
	if words := eval[string](tb, `document.querySelector('[data-toggle="2"]').textContent`); words != nasty[2] {
		t.Errorf("a toggle says %q", words)
	}
	tb.picture("nasty")
	tb.quiet()
}

// Served over HTTP, too, the page asks for nothing but itself.
func TestPageAsksForNothing(t *testing.T) {
	html := pageOf(t, storm())
	var mutex sync.Mutex
	var paths []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mutex.Lock()
		paths = append(paths, r.URL.Path)
		mutex.Unlock()
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write(html)
	}))
	defer server.Close()
	tb := openTab(t, html, 1100)
	tb.run(chromedp.Navigate(server.URL + "/report.html"))
	tb.until(ready)
	mutex.Lock()
	defer mutex.Unlock()
	if len(paths) != 1 {
		t.Errorf("the server was asked for %q", paths)
	}
	if got := eval[string](tb, `fetch("/more").then(() => "fetched", () => "refused")`); got != "refused" {
		t.Errorf("a fetch of more was %s", got)
	}
}

func TestIndexInBrowser(t *testing.T) {
	f := with("20 policies", func(f *fixture) { f.policies, f.labels = 20, nasty })
	_, sum := f.build()
	g := judged()
	_, other := g.build()
	other.Scenario = nasty[7]
	html, err := Index([]IndexEntry{{Summary: sum, Href: "a/report.html"}, {Summary: other, Href: "b/report.html"}})
	if err != nil {
		t.Fatal(err)
	}
	tb := openTab(t, html, 390)
	if wide := eval[int64](tb, `document.documentElement.scrollWidth`); wide > 390 {
		t.Errorf("the index is %d pixels wide on a screen of 390", wide)
	}
	tb.picture("index")
	tb.quiet()
}

// Of many policies four are shown at first, in the charts and in the table, and all may be.
func TestPageOfManyPolicies(t *testing.T) {
	tb := openTab(t, pageOf(t, with("20 policies", func(f *fixture) { f.policies = 20 })), 1100)
	tb.until(ready)
	const pressed = `document.querySelectorAll('.toggle[aria-pressed="true"]').length`
	const rows = `[...document.querySelectorAll("#head tbody tr")].filter(e => e.getClientRects().length > 0).length`
	const panels = `[...document.querySelectorAll("#backlog .chart")].filter(e => e.getClientRects().length > 0).length`
	for what, count := range map[string]string{"toggles": pressed, "rows": rows, "panels": panels} {
		if n := eval[int](tb, count); n != 4 {
			t.Errorf("%d %s are on at first, want 4", n, what)
		}
	}
	tb.picture("20-policies")
	tb.run(chromedp.Focus("#more"), chromedp.KeyEvent(" "))
	tb.until(rows + ` === 20`)
	tb.run(chromedp.Click("#all"))
	tb.until(pressed + ` === 20 && ` + panels + ` === 20`)
	tb.run(chromedp.Click("#none"))
	tb.until(pressed + ` === 0`)
	tb.quiet()
}
