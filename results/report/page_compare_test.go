package report

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/report/browsertest"
)

// compared returns a base result with a storm, a new one with values worse by half, and their comparison.
func compared() (base, new *results.Summary, c *results.Comparison) {
	f := storm()
	_, base = f.build()
	f.wait *= 1.5
	_, new = f.build()
	c = &results.Comparison{Scenario: "retry-storm", Base: results.Side{Name: "before", ConfigHash: "0a", Seeds: base.Seeds}, New: results.Side{Name: "after", ConfigHash: "0b", Seeds: base.Seeds}}
	for i := range base.Policies {
		for k, q := range []measure.Query{{Metric: "fresh.wait.p99", During: "payments-down"}, {Metric: "attempts.mean"}} {
			a, b := base.Policies[i].Find(q), new.Policies[i].Find(q)
			c.Changes = append(c.Changes, results.Change{Policy: base.Policies[i].Label, Base: *a, New: *b,
				Contrast: results.Contrast{Query: q, Difference: b.Mean - a.Mean, Half: a.Half, Shown: k == 0}})
		}
	}
	return base, new, c
}

// Each side of a comparison has its own storms, which may be at another time than those of the other.
func TestComparedStorms(t *testing.T) {
	base, new, _ := compared()
	new.Settings.Storms = slices.Clone(base.Settings.Storms)
	new.Settings.Storms[0].To += time.Minute
	sum, err := paired(base, new)
	if err != nil {
		t.Fatal(err)
	}
	for i, side := range []*results.Summary{base, new, base, new} {
		if got, want := sum.Settings.StormsOf(i), side.Settings.Storms; !slices.Equal(got, want) || sum.Settings.Policies[i].Label != sum.Policies[i].Label {
			t.Errorf("%s has the storms %v, want %v", sum.Settings.Policies[i].Label, got, want)
		}
	}
}

// A policy of several rows is named once, for all of them, and what is measured is a heading of its row.
func TestChangesNameAPolicyOnce(t *testing.T) {
	_, _, c := compared()
	for i := range c.Changes {
		c.Changes[i].Shown = true
	}
	shown, _ := changeTables(c)
	html := string(written((*markup).plainTable)(shown))
	label := clean(c.Changes[0].Policy)
	if want := `<tr><th scope="rowgroup" rowspan="2">` + label + `</th><th scope="row">p99 wait`; !strings.Contains(html, want) {
		t.Errorf("no %s in %s", want, html)
	}
	for _, row := range shown.Rows {
		if n := strings.Count(html, ">"+row[0]+"<"); n != 1 {
			t.Errorf("%s is there %d times", row[0], n)
		}
	}
	if want := `<tr><th scope="row">attempts per job</th><td>`; !strings.Contains(html, want) {
		t.Errorf("no %s in %s", want, html)
	}
}

// The headline is of the change that is the largest as a factor: a fall to a tenth is more than a rise to the double.
func TestMagnitude(t *testing.T) {
	ascending := []float64{0, -0.1, 0.2, -0.5, 4, -0.995, -1}
	for i, relative := range ascending[1:] {
		if before := ascending[i]; magnitude(relative) <= magnitude(before) {
			t.Errorf("a change of %v is not more than one of %v", relative, before)
		}
	}
	for relative, reverse := range map[float64]float64{1: -0.5, math.NaN(): -1} { // a rise from 0 is that of a fall to 0
		if got, want := magnitude(relative), magnitude(reverse); !(math.Abs(got-want) < 1e-9) || math.IsInf(got, 0) {
			t.Errorf("a change of %v is %v, that of %v is %v", relative, got, reverse, want)
		}
	}
}

func TestComparePage(t *testing.T) {
	base, new, c := compared()
	c.Keys = []results.KeyChange{{Key: "engine.workers", Base: "8", New: "6"}, {Key: "storms.down", New: "<b>"}}
	page, err := ComparePage(base, new, c, "v0.1.0")
	if err != nil {
		t.Fatal(err)
	}
	again, _ := ComparePage(base, new, c, "v0.1.0")
	if !bytes.Equal(page, again) {
		t.Error("two pages of the same differ")
	}
	wantWords(t, page, "retry-storm · base before · new after · 10 seeds", "Shared FIFO: p99 wait of fresh jobs in payments-down 4m04s, was 2m43s",
		"What differs in the scenario: engine.workers: 8 → 6; storms.down: – → <b>.",
		"What became different", "Shared FIFO p99 wait of fresh jobs in payments-down 2m43s 4m04s +1m21s", "No difference is shown in 4 other numbers.", "base: config 0a, seeds 1–10")
	tb := browsertest.OpenFile(t, page, 1100)
	tb.Until(ready)
	if same := browsertest.Eval[bool](tb, `document.querySelector("[data-toggle='0'] svg").outerHTML === document.querySelector("[data-toggle='1'] svg").outerHTML`); same {
		t.Error("the buttons of a pair look the same")
	}
	dashes := func(of string) string {
		return browsertest.Eval[string](tb, `document.querySelector("`+of+` line").getAttribute("stroke-dasharray")`)
	}
	for i := 1; i < 4; i += 2 {
		if button, legend := dashes(fmt.Sprintf("[data-toggle='%d']", i)), dashes(fmt.Sprintf("li[data-policy='%d']", i)); button != legend {
			t.Errorf("new result %d: its button is dashed as %q, its lines as %q", i, button, legend)
		}
	}
	tb.Run(chromedp.ScrollIntoView(`#backlog .chart`))
	box := browsertest.Eval[struct{ X, Y, W, H float64 }](tb, `(r => ({X: r.x, Y: r.y, W: r.width, H: r.height}))(document.querySelector("#backlog svg.time rect").getBoundingClientRect())`)
	tb.Run(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, box.X+box.W*.45, box.Y+box.H/2))
	tb.Until(`/^at 13m.*Shared FIFO · base .*Shared FIFO · new /.test(document.getElementById("at").textContent)`)
	if n := browsertest.Eval[int](tb, `[...document.querySelectorAll("svg.time .cursor")].filter(e => e.getAttribute("visibility") !== "visible").length`); n > 0 {
		t.Errorf("%d plots have no cursor", n)
	}
	tb.Accessible()
	tb.Picture(*pictures, "compared")
	quiet(t, tb)
}

// What cannot be drawn over each other is refused, and a policy that only one of them has is left out.
func TestComparePageRefuses(t *testing.T) {
	t.Parallel()
	for want, spoil := range map[string]func(base, new *results.Summary){
		"compare before with after: what charts draw is not stored with both":                                      func(_, new *results.Summary) { new.Data = nil },
		"compare before with after: their series have steps of 30s and 1m0s: they cannot be drawn over each other": func(_, new *results.Summary) { new.Settings.Bucket = time.Minute },
	} {
		base, new, c := compared()
		spoil(base, new)
		if _, err := ComparePage(base, new, c, ""); err == nil || err.Error() != want {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	base, new, c := compared()
	new.Policies[2].Label = "renamed"
	new.Settings.Storms = append(new.Settings.Storms[:1:1], measure.Window{Name: "again", From: 20 * time.Minute, To: 21 * time.Minute})
	for i := range c.Changes {
		c.Changes[i].Shown, c.Changes[i].Difference = false, math.NaN()
	}
	page, err := ComparePage(base, new, c, "")
	if err != nil {
		t.Fatal(err)
	}
	wantWords(t, page, "Nothing is shown to have become different", "No difference is shown in 8 other numbers.")
	for policy, want := range map[string]bool{"Weighted 80/20 · base": true, "Separate queue · base": false, "renamed · new": false} {
		if strings.Contains(string(page), fmt.Sprintf(`"name":%q`, policy)) != want {
			t.Errorf("%s is drawn: %v", policy, !want)
		}
	}
	if !bytes.Contains(page, []byte(`{"name":"again","from":1200,"to":1260}`)) {
		t.Error("the storm that only the new run has is not drawn")
	}
}
