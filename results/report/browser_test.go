package report

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/report/browsertest"
)

func TestMain(m *testing.M) { browsertest.Main(m) }

// quiet fails the test if the browser logged a message or requested anything but the page.
func quiet(t *testing.T, tb *browsertest.Tab) {
	t.Helper()
	if tb.Quiet("file://"); len(tb.Requests) != 1 {
		t.Errorf("requests: %q, want that for the page alone", tb.Requests)
	}
}

// pages holds the report pages of fixtures by their names, each made once: different fixtures need different names.
var pages sync.Map

// figuresOf holds, by fixture name, the figures on its report page.
var figuresOf sync.Map

// drawnOf returns the figures on the page of the fixture with that name, whose page must have been made.
func drawnOf(name string) []Figure {
	figures, _ := figuresOf.Load(name)
	return figures.([]Figure)
}

// pageOf returns the report page of a fixture, as HTML.
func pageOf(t testing.TB, f fixture) []byte {
	t.Helper()
	once, _ := pages.LoadOrStore(f.name, sync.OnceValue(func() []byte { return writePage(t, f) }))
	return once.(func() []byte)()
}

func writePage(t testing.TB, f fixture) []byte {
	t.Helper()
	_, sum := f.build()
	figures, err := Charts(sum, "v0.1.0")
	if err != nil {
		t.Fatal(err)
	}
	figuresOf.Store(f.name, figures)
	html, err := Page(sum, figures, "v0.1.0", []byte("name: retry-storm\n"))
	if err != nil {
		t.Fatal(err)
	}
	return html
}

// ready is a JavaScript condition that holds once a page's script has set it up.
const ready = `document.getElementById("tools") && !document.getElementById("tools").hidden`

const inkOf = `getComputedStyle(document.documentElement).getPropertyValue("--ink").trim()`

func TestPageInBrowser(t *testing.T) {
	tb := browsertest.OpenFile(t, pageOf(t, storm()), 1100)
	tb.Until(ready)
	tb.Picture(*pictures, "light")

	// The pointer moves one cursor in all charts.
	tb.Run(chromedp.ScrollIntoView(`#waits svg.time`))
	box := browsertest.Eval[struct{ X, Y, W, H float64 }](tb, `(r => ({X: r.x, Y: r.y, W: r.width, H: r.height}))(document.querySelector("#waits svg.time rect").getBoundingClientRect())`)
	middle := box.Y + box.H/2
	tb.Run(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, box.X+box.W*.45, middle))
	tb.Until(`document.getElementById("at").textContent.startsWith("at 13m")`)
	if words := browsertest.Eval[string](tb, `document.getElementById("at").textContent`); !strings.Contains(words, "Shared FIFO") || !strings.Contains(words, "In-flight cap 20%") {
		t.Errorf("the readout is %q", words)
	}
	cursors := browsertest.Eval[[]string](tb, `[...document.querySelectorAll("svg.time")].map(e => e.querySelector(".cursor").getAttribute("visibility"))`)
	if len(cursors) < 8 || slices.ContainsFunc(cursors, func(v string) bool { return v != "visible" }) {
		t.Errorf("cursors are %q, want one in each plot", cursors)
	}
	if words := browsertest.Eval[string](tb, `document.querySelector("#backlog .remark").textContent`); !strings.Contains(words, "fresh") || strings.Contains(words, "peak") {
		t.Errorf("a panel says %q at the cursor", words)
	}
	tb.Picture(*pictures, "cursor")

	// Dragging zooms all of them, the address keeps it, and the button shows the whole run again.
	tb.Run(chromedp.MouseEvent(chromedp.MousePressed, box.X+box.W*.32, middle, chromedp.ButtonLeft, chromedp.ClickCount(1)),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, box.X+box.W*.4, middle, chromedp.ButtonLeft), chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, box.X+box.W*.6, middle, chromedp.ButtonLeft),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMouseReleased, box.X+box.W*.6, middle, chromedp.ButtonLeft, chromedp.ClickCount(1)))
	tb.Until(`document.getElementById("range").textContent.startsWith("9m") && location.hash.startsWith("#t=9m")`)
	if same := browsertest.Eval[int](tb, `new Set([...document.querySelectorAll("svg.time")].map(e => (v => Math.round(1000 * v.width / e.width.baseVal.value))(e.viewBox.baseVal))).size`); same != 1 {
		t.Errorf("plots show stretches of %d lengths", same)
	}
	tb.Picture(*pictures, "zoomed")
	tb.Run(chromedp.Click("#reset"))
	tb.Until(`document.getElementById("range").textContent === "" && location.hash === ""`)
	for _, step := range []struct{ button, range_ string }{{"#zoom-in", `^\d`}, {"#later", `^\d`}, {"#earlier", `^\d`}, {"#zoom-out", `^$`}} {
		before := browsertest.Eval[string](tb, `document.getElementById("range").textContent`)
		tb.Run(chromedp.Click(step.button))
		tb.Until(fmt.Sprintf(`(r => r !== %q && /%s/.test(r))(document.getElementById("range").textContent)`, before, step.range_))
	}
	// A link leads to a stretch of time. The storm is named above what is seen of it, and not beside the plot.
	tb.Run(chromedp.Evaluate[chromedp.Void](`location.hash = "#t=14m-22m"`))
	tb.Until(`document.getElementById("range").textContent === "14m to 22m"`)
	if wrong := browsertest.Eval[string](tb, `(() => {
		const plot = document.querySelector("#waits svg.time"), m = plot.ownerSVGElement.getScreenCTM(), box = {left: m.a * plot.x.baseVal.value + m.e, width: m.a * plot.width.baseVal.value}, name = [...plot.parentNode.querySelectorAll(".name")].find(e => e.textContent.trim() === "payments-down");
		const at = name.getBoundingClientRect(), ticks = plot.nextElementSibling.textContent;
		return at.left < box.left - 5 || at.right > box.left + box.width / 2 ? "the name is from " + at.left + " to " + at.right + " on a plot from " + box.left + ", " + box.width + " wide" : !/16m/.test(ticks) || /5m/.test(ticks) ? "the ticks are " + ticks : "";
	})()`); wrong != "" {
		t.Error(wrong)
	}
	tb.Picture(*pictures, "linked")
	tb.Run(chromedp.Click("#reset"))

	// A toggle hides its policy everywhere, by click and by keyboard.
	const shown = `[...document.querySelectorAll('[data-policy="0"]:not(svg.time)')].filter(e => e.getClientRects().length > 0).length`
	if n := browsertest.Eval[int](tb, shown); n < 8 {
		t.Fatalf("%d parts are of the first policy", n)
	}
	tb.Run(chromedp.Click(`[data-toggle="0"]`))
	tb.Until(`document.querySelector('[data-toggle="0"]').getAttribute("aria-pressed") === "false"`)
	if n := browsertest.Eval[int](tb, shown); n > 0 {
		t.Errorf("%d parts of a policy that is switched off", n)
	}
	tb.Run(chromedp.Focus(`[data-toggle="0"]`), chromedp.KeyEvent(" "))
	tb.Until(`document.querySelector('[data-toggle="0"]').getAttribute("aria-pressed") === "true"`)

	// The cursor by keyboard, which is spoken.
	tb.Run(chromedp.Focus(`#waits .timed`), chromedp.KeyEvent(kb.End))
	tb.Until(`/^at 29m45s, Shared FIFO /.test(document.getElementById("spoken").textContent)`)
	tb.Run(chromedp.KeyEvent(kb.ArrowLeft), chromedp.KeyEvent("+"))
	tb.Until(`/^at 29m15s, /.test(document.getElementById("spoken").textContent) && document.getElementById("range").textContent !== ""`)
	tb.Run(chromedp.KeyEvent(kb.Escape))
	tb.Until(`document.getElementById("range").textContent === ""`)

	// A click on the head of a column sorts by it, and a second one the other way.
	const first = `document.querySelector("#head tbody th").textContent.trim()`
	tb.Run(chromedp.Click(`#head thead tr:last-child th:nth-child(2) button`))
	tb.Until(first + ` === "In-flight cap 20%"`)
	tb.Run(chromedp.Click(`#head thead tr:last-child th:nth-child(2) button`))
	tb.Until(first + `.startsWith("Shared FIFO")`)
	quiet(t, tb)
}

// TestPageTakenAlong: buttons copy the table as the terminal prints it, and save a chart in the page's colours.
func TestPageTakenAlong(t *testing.T) {
	tb := browsertest.OpenFile(t, pageOf(t, storm()), 1100, browsertest.Scheme("light", ""))
	tb.Until(ready)
	browsertest.Eval[bool](tb, `(() => { window.taken = []; URL.createObjectURL = blob => { taken.push(blob); return "#"; }; HTMLAnchorElement.prototype.click = function () { taken.push(this.download); }; return true; })()`)
	tb.Run(chromedp.Click("#csv"))
	tb.Until(`taken[1] === "retry-storm.csv"`)
	if csv := browsertest.Eval[string](tb, `taken[0].text()`); !strings.HasPrefix(csv, "policy,") || strings.Count(csv, "\n") != 5 {
		t.Errorf("the CSV is %q", csv)
	}
	tb.Run(chromedp.Click("#copy"))
	tb.Until(`document.getElementById("copied").textContent === "Copied."`)
	if markdown := browsertest.Eval[string](tb, `page.data.markdown`); !strings.Contains(markdown, "| Shared FIFO (base) | 2m43s") {
		t.Errorf("the Markdown is %q", markdown)
	}
	tb.Run(chromedp.Click(`#waits .save`))
	tb.Until(`taken[3] === "retry-storm-1-fresh-p99.png"`)
	if n := browsertest.Eval[int](tb, `createImageBitmap(taken[2]).then(image => {
		const c = new OffscreenCanvas(image.width, image.height).getContext("2d"), orange = [0xd5, 0x5e, 0];
		c.drawImage(image, 0, 0);
		const d = c.getImageData(0, 0, image.width, image.height).data;
		let n = 0;
		for (let i = 0; i < d.length; i += 4) if (orange.every((v, k) => d[i + k] === v)) n++;
		return n;
	})`); n < 500 {
		t.Errorf("the PNG has %d pixels of the first policy's line", n)
	}
	quiet(t, tb)
}

// The replay of a run of two seconds tells the time in thousandths.
func TestReplayOfAShortRun(t *testing.T) {
	f := with("short", func(f *fixture) {
		f.duration, f.bucket, f.warmup = 2*time.Second, 5*time.Millisecond, 0
		f.storms = []measure.Window{{Name: "down", From: 800 * time.Millisecond, To: 850 * time.Millisecond}}
	})
	tb := browsertest.OpenFile(t, pageOf(t, f), 1100)
	tb.Until(ready)
	browsertest.Eval[bool](tb, `(e => { e.value = 412; return e.dispatchEvent(new Event("input")); })(document.getElementById("when"))`)
	if got := browsertest.Eval[string](tb, `document.getElementById("when").getAttribute("aria-valuetext")`); !strings.HasPrefix(got, "at 82") {
		t.Errorf("got %q, want the time in ms", got)
	}
}

// The replay moves when started, and in steps if the user prefers no motion.
func TestPageReplay(t *testing.T) {
	at := func(tb *browsertest.Tab) int {
		return browsertest.Eval[int](tb, `Number(document.getElementById("when").value)`)
	}
	tb := browsertest.OpenFile(t, pageOf(t, storm()), 1100)
	tb.Until(ready)
	still := at(tb)
	if still < 480 || still > 520 {
		t.Errorf("the still is at %d in a thousand, want the end of the storm, when most jobs are ready", still)
	}
	if n := browsertest.Eval[int](tb, `(() => {
		const c = document.getElementById("film"), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data, amber = [0xe6, 0x9f, 0];
		let n = 0;
		for (let i = 0; i < d.length; i += 4) if (amber.every((v, k) => d[i + k] === v)) n++;
		return n;
	})()`); n < 2000 {
		t.Errorf("%d pixels of retries are drawn", n)
	}
	tb.Picture(*pictures, "replay")
	perDot := func(tb *browsertest.Tab) int {
		return browsertest.Eval[int](tb, `Number(document.getElementById("scale").textContent.match(/for ([\d,]+) jobs/)[1].replace(",", ""))`)
	}
	phone := browsertest.OpenFile(t, pageOf(t, storm()), 390)
	phone.Until(ready)
	if wide, narrow := perDot(tb), perDot(phone); narrow < 2*wide {
		t.Errorf("a dot stands for %d jobs on a phone, for %d on a wide page: the longest line does not fit", narrow, wide)
	}
	tb.Run(chromedp.Click("#play"))
	tb.Until(`document.getElementById("play").textContent === "Pause" && Number(document.getElementById("when").value) > 20`)
	tb.Run(chromedp.Focus("#play"), chromedp.KeyEvent(" "))
	tb.Until(`document.getElementById("play").textContent === "Play"`)
	before := at(tb)
	tb.Run(chromedp.Focus("#when"), chromedp.KeyEvent(kb.End))
	tb.Until(`/^at 30m: Shared FIFO 0 fresh/.test(document.getElementById("when").getAttribute("aria-valuetext"))`)
	if at(tb) <= before {
		t.Errorf("the end lies at %d, it stood at %d", at(tb), before)
	}
	quiet(t, tb)

	tb = browsertest.OpenFile(t, pageOf(t, storm()), 1100, browsertest.Protocol(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: "reduce"}}}))
	tb.Until(ready)
	tb.Run(chromedp.Click("#play"))
	seen := browsertest.Eval[[]int](tb, `new Promise(done => { const seen = [], look = () => { seen.push(Number(document.getElementById("when").value)); if (seen.length < 70) setTimeout(look, 50); else done(seen); }; look(); })`)
	values := map[int]bool{}
	for _, v := range seen {
		values[v] = true
	}
	if len(values) < 2 || len(values) > 6 {
		t.Errorf("it stood at %d places in three and a half seconds: %v", len(values), seen)
	}
}

// TestPageShowsLonelyValues: a value between two gaps is drawn as a dot, as a line alone would not show it.
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
				if n, want := strings.Count(string(figure.inline()), " 0 1 0 -"), 2*60/every; n != want {
					t.Errorf("%d dots for %d values alone", n, want)
				}
			}
		}
	}
}

// A link to a section leads to its heading, visible below the tools on top, however many lines those
// take.
func TestPageLinksLeadBelowTheTools(t *testing.T) {
	for _, f := range []fixture{storm(), with("nasty links", func(f *fixture) { f.policies, f.labels = 8, nasty })} {
		tb := browsertest.OpenFile(t, pageOf(t, f), 1100)
		tb.Until(ready)
		if at := browsertest.Eval[string](tb, `getComputedStyle(document.getElementById("tools")).position`); at != "sticky" {
			t.Fatalf("the tools are %s: what is tried here is nothing", at)
		}
		ids := browsertest.Eval[[]string](tb, `[...document.querySelectorAll("#tools ~ section h2")].map(h => h.parentNode.id)`)
		if len(ids) < 6 {
			t.Errorf("%d sections", len(ids))
		}
		for _, id := range ids {
			tb.Run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`scrollTo(0, 0); location.hash = %q`, id)))
			browsertest.Eval[bool](tb, `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`)
			if covered := browsertest.Eval[bool](tb, fmt.Sprintf(`(() => {
				const h = document.querySelector("#%s h2").getBoundingClientRect(), tools = document.getElementById("tools").getBoundingClientRect();
				return h.top < 0 || h.top < tools.bottom && h.bottom > tools.top;
			})()`, id)); covered {
				t.Errorf("%s: the heading of %s is covered", f.name, id)
			}
		}
		quiet(t, tb)
	}
}

func TestPageInTheDark(t *testing.T) {
	light := browsertest.OpenFile(t, pageOf(t, storm()), 1100)
	dark := browsertest.OpenFile(t, pageOf(t, storm()), 1100, browsertest.Scheme("dark", ""))
	dark.Until(ready)
	if a, b := browsertest.Eval[string](light, inkOf), browsertest.Eval[string](dark, inkOf); a == b {
		t.Errorf("ink is %s by day and by night", a)
	}
	if c := browsertest.Eval[string](dark, `getComputedStyle(document.querySelector("#comparison .chart [fill='#1B1F24']")).fill`); c != "rgb(230, 237, 243)" {
		t.Errorf("words in drawings are %s in the dark", c)
	}
	if c := browsertest.Eval[string](dark, `getComputedStyle(document.querySelector(".legend [stroke='#0072B2']")).stroke`); c != "rgb(74, 168, 224)" {
		t.Errorf("a line of a legend is %s in the dark, not as in the drawing", c)
	}
	light.Accessible()
	dark.Accessible()
	dark.Picture(*pictures, "dark")
	dark.Run(browsertest.Scheme("light", ""))
	dark.Until(inkOf + ` === "#1b1f24"`)
	quiet(t, dark)
}

// A name that runs from right to left takes nothing of the headline with it.
func TestHeadlineKeepsItsOrder(t *testing.T) {
	tb := browsertest.OpenFile(t, pageOf(t, with("from right to left", func(f *fixture) { f.labels = []string{"FIFO", "תור תשלומים", "תור", "תשלומים"} })), 2400)
	rest := browsertest.Eval[[]float64](tb, `[...document.querySelectorAll("h1 span")].filter(e => /[א-ת]/.test(e.textContent)).map(e => {
		const after = new Range();
		after.setStart(e.nextSibling, 0);
		after.setEnd(e.nextSibling, 1);
		return after.getBoundingClientRect().left - e.getBoundingClientRect().right;
	})`)
	if len(rest) == 0 || slices.ContainsFunc(rest, func(distance float64) bool { return math.Abs(distance) > 1 }) {
		t.Errorf("what follows a name stands this far from its end: %v", rest)
	}
}

// Nothing is wider than the narrowest screens, whatever the names.
func TestPageOnATelephone(t *testing.T) {
	for _, f := range []fixture{storm(), with("nasty narrow", func(f *fixture) {
		f.policies, f.labels, f.storms[0].Name, f.limits[0].During = 8, nasty, nasty[7], nasty[7]
	}), with("20 policies", func(f *fixture) { f.policies = 20 })} {
		for _, width := range []int64{390, 320} {
			tb := browsertest.OpenFile(t, pageOf(t, f), width)
			tb.Until(ready)
			if wide := browsertest.Eval[int64](tb, `document.documentElement.scrollWidth`); wide > width {
				t.Errorf("%s: the page is %d pixels wide on a screen of %d: %s", f.name, wide, width,
					browsertest.Eval[string](tb, `[...document.querySelectorAll("body *")].filter(e => !e.closest(".scroll, pre, .hide, .skip") && e.getBoundingClientRect().right > innerWidth).map(e => e.tagName + "." + e.className + "#" + e.id).slice(0, 5).join(" ")`))
			}
			if silent := browsertest.Eval[string](tb, `[...document.querySelectorAll(".scroll")].filter(e => e.checkVisibility() && e.scrollWidth > e.clientWidth + 4 && !e.matches(".wide")).map(e => e.getAttribute("aria-label")).join(", ")`); silent != "" {
				t.Errorf("%s: cut off without a sign: %s", f.name, silent)
			}
			tb.Accessible()
			tb.Picture(*pictures, fmt.Sprintf("%s-%d", strings.ReplaceAll(f.name, " ", "-"), width))
			quiet(t, tb)
		}
	}
}

// Without scripts the page shows the drawings, and no buttons that need scripts.
func TestPageWithoutScripts(t *testing.T) {
	tb := browsertest.OpenFile(t, pageOf(t, storm()), 1100, browsertest.Protocol(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}))
	shown := func(selector string) int {
		return browsertest.Eval[int](tb, fmt.Sprintf(`[...document.querySelectorAll(%q)].filter(e => e.getClientRects().length > 0).length`, selector))
	}
	if n := shown(".drawing"); n != len(standardCharts()) {
		t.Errorf("%d drawings are shown, want %d", n, len(standardCharts()))
	}
	if n := shown(".tools, .buttons, #replay, .save"); n != 0 {
		t.Errorf("%d parts that need a script are shown", n)
	}
	tb.Picture(*pictures, "no-script")
	quiet(t, tb)
}

func TestPagePrints(t *testing.T) {
	tb := browsertest.OpenFile(t, pageOf(t, storm()), 1100, browsertest.Scheme("dark", ""))
	tb.Until(ready)
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
	tb.Run(browsertest.Scheme("dark", "print"))
	tb.Picture(*pictures, "print")
	if n := browsertest.Eval[int](tb, `[...document.querySelectorAll(".drawing")].filter(e => e.getClientRects().length > 0).length`); n != len(standardCharts()) {
		t.Errorf("%d drawings are printed, want %d", n, len(standardCharts()))
	}
	if n := browsertest.Eval[int](tb, `[...document.querySelectorAll(".tools, .buttons, #replay, .save")].filter(e => e.getClientRects().length > 0).length`); n != 0 {
		t.Errorf("%d parts for a screen are printed", n)
	}
	if ink := browsertest.Eval[string](tb, inkOf); ink != "#1b1f24" {
		t.Errorf("it is printed in %s, as on a dark screen", ink)
	}
	quiet(t, tb)
}

// On paper no word and no number of a table is broken: columns of 55 pixels are those of twelve on a page of A4.
func TestPrintedWordsAreWhole(t *testing.T) {
	tb := browsertest.OpenFile(t, pageOf(t, storm()), 400, browsertest.Scheme("light", "print"))
	tb.Until(ready)
	if broken := browsertest.Eval[[]string](tb, `(() => {
			const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), broken = [];
			for (const details of document.querySelectorAll("details")) details.open = true;
			while (texts.nextNode()) {
				const text = texts.currentNode;
				if (!text.parentElement.closest("table.numbers, .head") || !text.parentElement.checkVisibility()) continue;
				for (const word of text.data.matchAll(/[^\s-]+/g)) {
					const range = document.createRange();
					range.setStart(text, word.index);
					range.setEnd(text, word.index + word[0].length);
					if (new Set([...range.getClientRects()].map(r => r.top)).size > 1) broken.push(word[0]);
				}
			}
			return broken;
		})()`); len(broken) > 0 {
		t.Errorf("broken: %q", broken)
	}
	quiet(t, tb)
}

// The key tab leads through all that can be used, in the order of the page: each has a name and shows that it is
// where one is, clear of the tools that stay on top. Nothing moves by itself.
func TestPageByKeyboard(t *testing.T) {
	tb := browsertest.OpenFile(t, pageOf(t, judged()), 1100, browsertest.Scheme("dark", ""))
	tb.Until(ready)
	browsertest.Eval[bool](tb, `window.focusable = [...document.querySelectorAll("a, button, input, summary, [tabindex]")].filter(e => e.checkVisibility()), focusable.length > 30`)
	all := browsertest.Eval[int](tb, `focusable.length`)
	for i := range all {
		tb.Run(chromedp.KeyEvent(kb.Tab))
		if wrong := browsertest.Eval[string](tb, fmt.Sprintf(`(() => {
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
	if moving := browsertest.Eval[string](tb, `[...document.querySelectorAll("*")].map(e => [e, getComputedStyle(e)]).filter(([e, s]) => s.animationName !== "none" || s.transitionDuration !== "0s" || s.scrollBehavior !== "auto").map(([e]) => e.tagName).join(" ")`); moving != "" {
		t.Errorf("%s moves", moving)
	}
	quiet(t, tb)
}

// On a sheet of A4 less its margins the names of policies and tenants are read as words, and the tables do
// not run out of the page, however many columns they have.
func TestPagePrintsTables(t *testing.T) {
	const sheet = 688 // px
	many := judged()
	many.name = "many columns"
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
	wide := browsertest.OpenFile(t, pageOf(t, many), sheet, browsertest.Scheme("light", "print"))
	if cut := browsertest.Eval[string](wide, `[...document.querySelectorAll("th, td")].filter(e => e.checkVisibility() && (e.getBoundingClientRect().right > innerWidth + 1 || e.scrollWidth > e.clientWidth + 1)).map(e => e.textContent).slice(0, 5).join(", ")`); cut != "" {
		t.Errorf("cut off on a sheet of %d: %s", sheet, cut)
	}
	wide.Picture(*pictures, "print-wide")
	quiet(t, wide)
	tb := browsertest.OpenFile(t, pageOf(t, judged()), sheet, browsertest.Scheme("light", "print"))
	if n := browsertest.Eval[int](tb, `document.querySelectorAll("tbody th").length`); n < 8 {
		t.Fatalf("%d rows", n)
	}
	if narrow := browsertest.Eval[string](tb, `[...document.querySelectorAll("tbody th")].filter(e => e.getBoundingClientRect().width < 110).map(e => e.textContent).join(", ")`); narrow != "" {
		t.Errorf("no room for the names %s", narrow)
	}
	if wide := browsertest.Eval[int64](tb, `document.documentElement.scrollWidth`); wide > sheet {
		t.Errorf("the print is %d pixels wide on a sheet of %d", wide, sheet)
	}
	if torn := browsertest.Eval[int](tb, `[...document.querySelectorAll("h2, .finding, caption, summary")].filter(e => getComputedStyle(e).breakAfter != "avoid" || getComputedStyle(e).breakInside != "avoid").length`); torn != 0 {
		t.Errorf("%d titles may stand on another sheet than what they are about", torn)
	}
	tb.Picture(*pictures, "print-a4")
	quiet(t, tb)
	tb = browsertest.OpenFile(t, pageOf(t, with("no difference", func(f *fixture) { f.factor = func(int) float64 { return 20 } })), sheet, browsertest.Scheme("light", "print"))
	tb.Until(ready)
	tb.Run(chromedp.Evaluate[chromedp.Void](`dispatchEvent(new Event("beforeprint"))`))
	if figures := browsertest.Eval[string](tb, `(all => all.length + " figures, printed " + all.filter(e => e.checkVisibility()).length)([...document.querySelectorAll("#quiet figure")])`); !regexp.MustCompile(`^[1-9]\d* figures, printed 0$`).MatchString(figures) {
		t.Errorf("with nothing to see there are %s", figures)
	}
}

// TestPageBearsAnyNames: names with markup or odd characters are shown as text.
func TestPageBearsAnyNames(t *testing.T) {
	f := with("nasty labels", func(f *fixture) {
		f.policies, f.labels, f.storms[0].Name, f.limits[0].During = 8, nasty, `</script><script>document.title="broken"</script>`, `</script><script>document.title="broken"</script>`
	})
	s, sum := f.build()
	s.Scenario, sum.Scenario, s.Description = nasty[2], nasty[2], `<img src=x onerror=alert(1)> "'`
	sum.Warnings = []string{`<b onclick="x">` + nasty[3]}
	figures, err := Charts(sum, "v0.1.0")
	if err != nil {
		t.Fatal(err)
	}
	html, err := Page(sum, figures, `"><script>1</script>`, []byte("</code></pre><script>alert(1)</script>"))
	if err != nil {
		t.Fatal(err)
	}
	tb := browsertest.OpenFile(t, html, 1100)
	tb.Until(ready)
	if n := browsertest.Eval[int](tb, `document.querySelectorAll("script").length`); n != 2 {
		t.Errorf("%d scripts, want 2", n)
	}
	if n := browsertest.Eval[int](tb, `document.querySelectorAll("img, b, [onclick], [onerror], [style*=url]").length`); n != 0 {
		t.Errorf("%d elements that a name has made", n)
	}
	if title := browsertest.Eval[string](tb, `document.title`); !strings.HasPrefix(title, `<script>alert("x")</script> & 'y'`) {
		t.Errorf("the title is %q", title)
	}
	if words := browsertest.Eval[string](tb, `document.querySelector('[data-toggle="2"]').textContent`); words != nasty[2] {
		t.Errorf("a toggle says %q", words)
	}
	tb.Picture(*pictures, "nasty")
	quiet(t, tb)
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
	tb := browsertest.OpenFile(t, html, 1100)
	tb.Run(chromedp.Navigate(server.URL + "/report.html"))
	tb.Until(ready)
	mutex.Lock()
	defer mutex.Unlock()
	if len(paths) != 1 {
		t.Errorf("the server was asked for %q", paths)
	}
	if got := browsertest.Eval[string](tb, `fetch("/more").then(() => "fetched", () => "refused")`); got != "refused" {
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
	tb := browsertest.OpenFile(t, html, 390)
	if wide := browsertest.Eval[int64](tb, `document.documentElement.scrollWidth`); wide > 390 {
		t.Errorf("the index is %d pixels wide on a screen of 390", wide)
	}
	tb.Accessible()
	tb.Picture(*pictures, "index")
	quiet(t, tb)
}

// Of many policies four are shown at first, in the charts and in the table, and all may be.
func TestPageOfManyPolicies(t *testing.T) {
	tb := browsertest.OpenFile(t, pageOf(t, with("20 policies", func(f *fixture) { f.policies = 20 })), 1100)
	tb.Until(ready)
	const pressed = `document.querySelectorAll('.toggle[aria-pressed="true"]').length`
	const rows = `[...document.querySelectorAll("#head tbody tr")].filter(e => e.getClientRects().length > 0).length`
	const panels = `[...document.querySelectorAll("#backlog .chart")].filter(e => e.getClientRects().length > 0).length`
	for what, count := range map[string]string{"toggles": pressed, "rows": rows, "panels": panels} {
		if n := browsertest.Eval[int](tb, count); n != 4 {
			t.Errorf("%d %s are on at first, want 4", n, what)
		}
	}
	tb.Picture(*pictures, "20-policies")
	tb.Run(chromedp.Focus("#more"), chromedp.KeyEvent(" "))
	tb.Until(rows + ` === 20`)
	tb.Run(chromedp.Click("#all"))
	tb.Until(pressed + ` === 20 && ` + panels + ` === 20`)
	tb.Run(chromedp.Click("#none"))
	tb.Until(pressed + ` === 0`)
	quiet(t, tb)
}
