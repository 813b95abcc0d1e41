package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
)

// words returns the visible text of a page, without its elements, scripts and drawings.
func words(page []byte) string {
	text := regexp.MustCompile(`(?s)<(script|style|svg)\b.*?</(script|style|svg)>`).ReplaceAllString(string(page), " ")
	text = regexp.MustCompile(`<[^>]*>`).ReplaceAllString(text, " ")
	return strings.Join(strings.Fields(html.UnescapeString(text)), " ")
}

func wantWords(t *testing.T, page []byte, want ...string) {
	t.Helper()
	text := words(page)
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("the page does not say %q", w)
		}
	}
}

// What one seed leaves unclear stands above the table, and not in each of its cells.
func TestPageOfOneSeed(t *testing.T) {
	t.Parallel()
	for seeds, notes := range map[int]int{1: 0, 2: 1} {
		page := pageOf(t, with(fmt.Sprintf("judged by %d", seeds), func(f *fixture) {
			f.adjust = judged().adjust
			f.seeds = seeds
		}))
		if n := strings.Count(words(page), "unclear; run about 40 seeds"); n != notes {
			t.Errorf("with %d seeds %d cells have the reason, want %d", seeds, n, notes)
		}
	}
}

// little returns a summary without any number, as of a run in which nothing was measured.
func little() *results.Summary {
	return &results.Summary{Scenario: "x", ConfigHash: "0a", Seeds: []uint64{3, 4, 5, 9}, Duration: 60, Partial: true,
		Policies: []results.PolicySummary{{Label: "A", Fingerprint: "f00"}}, Data: make([]results.PolicyData, 1),
		Settings: &measure.Settings{Scenario: "x", Duration: time.Minute, Bucket: time.Second, Policies: []measure.PolicyInfo{{Label: "A"}},
			Tenants: []string{"", "a", "b"}}}
}

// Without its data a page is small, and with them not large.
func TestPageSize(t *testing.T) {
	t.Parallel()
	empty, err := Page(little(), nil, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	script := len(asset("page/report.js")) + len(asset("page/replay.js"))
	if n := len(empty); n > 100<<10 {
		t.Errorf("an empty page with its scripts has %d bytes", n)
	}
	if n := len(pageOf(t, storm())); n > 400<<10 {
		t.Errorf("a page of 4 policies and 60 buckets has %d bytes", n)
	}
	size := func(policies, buckets int) int {
		return len(pageOf(t, with(fmt.Sprintf("fine %d %d", policies, buckets), func(f *fixture) {
			f.policies, f.bucket, f.seeds = policies, f.duration/time.Duration(buckets), 2
		})))
	}
	// Each policy adds to a page as much as the one before it, and not a line to every panel of the others.
	ten, twenty := size(10, 480), size(20, 480)
	if twenty > 1200<<10 {
		t.Errorf("a page of 20 policies and 480 buckets has %d bytes", twenty)
	}
	if twenty-script > 2*(ten-script) {
		t.Errorf("a page of 20 policies has %d bytes, of 10 policies %d", twenty, ten)
	}
	for i, f := range drawnOf("fine 20 480") {
		if ten := len(drawnOf("fine 10 480")[i].SVG); len(f.SVG) > 320<<10 || len(f.SVG)*10 > ten*22 {
			t.Errorf("%s has %d bytes for 20 policies, %d for 10", f.Name, len(f.SVG), ten)
		}
	}
}

// A chart with a panel for each policy has the lines of all once, and shows them in all panels.
func TestBackdropIsDrawnOnce(t *testing.T) {
	t.Parallel()
	f := with("12 policies", func(f *fixture) { f.policies = 12 })
	_, sum := f.build()
	sum.Data[3].Series[0].FreshWaitP99[1], sum.Data[3].Series[0].FreshWaitP99[3] = math.NaN(), math.NaN()
	figures, err := Charts(sum, "v0.1.0")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range figures {
		for kind, svg := range map[string][]byte{"inline": f.inline(), "alone": f.SVG} {
			checkBackdrop(t, f.Name+" "+kind, svg, strings.HasPrefix(f.Subtitle, "Wait of") || strings.HasPrefix(f.Subtitle, "Share of") || strings.HasPrefix(f.Subtitle, "Claims"))
		}
	}
}

// checkBackdrop fails the test unless an SVG draws the lines of twelve policies once and uses them twelve times or, if
// they are not wanted, has none.
func checkBackdrop(t *testing.T, name string, svg []byte, want bool) {
	t.Helper()
	if want {
		checkBackdropOf(t, name, svg, 12)
	} else if bytes.Contains(svg, []byte("<defs>")) {
		t.Errorf("%s has a backdrop", name)
	}
}

// checkBackdropOf fails the test unless an SVG draws the lines of that many policies once, and uses them as often.
func checkBackdropOf(t *testing.T, name string, svg []byte, policies int) {
	t.Helper()
	own := regexp.MustCompile(`(?s)<defs><g id="([^"]*)">(.*?)</g></defs>`).FindSubmatch(svg)
	if own == nil {
		t.Fatalf("%s has no backdrop", name)
	}
	if n := bytes.Count(own[2], []byte("<path")); n < policies || bytes.Contains(own[2], []byte("#")) {
		t.Errorf("%s: %d lines, or colours of their own: %.300s", name, n, own[2])
	}
	places := map[string]bool{}
	for _, use := range regexp.MustCompile(`<use xlink:href="#([^"]*)" x="([^"]*)" y="([^"]*)" fill="#C9D0D7" stroke="#C9D0D7"/>`).FindAllSubmatch(svg, -1) {
		places[string(use[2])+" "+string(use[3])] = true
		if string(use[1]) != string(own[1]) {
			t.Errorf("%s uses %s", name, use[1])
		}
	}
	if want := map[bool]int{true: 1, false: policies}[bytes.HasPrefix(svg, []byte("<div"))]; len(places) != want || !places["0 0"] {
		t.Errorf("%s shows its backdrop at %v", name, places) // in a drawing of its own each time, or in all places of one
	}
	if n := bytes.Count(svg, []byte("<use ")); n != policies {
		t.Errorf("%s shows its backdrop %d times", name, n)
	}
}

func TestEqualInputWritesEqualPages(t *testing.T) {
	t.Parallel()
	for _, f := range []fixture{storm(), with("nine policies", func(f *fixture) { f.policies = 9 })} {
		if a, b := pageOf(t, f), writePage(t, f); !bytes.Equal(a, b) {
			t.Errorf("%s: two pages of the same differ", f.name)
		}
	}
}

// drawingTag matches the beginning of a drawing's element in a page; a drawing may have several panels.
var drawingTag = regexp.MustCompile(`<(?:svg class="chart"|div class="panels c[1-4]") role="img" aria-label="`)

// checkPage fails the test if SVG elements of a page have styles or invalid numbers, or if its data has a wrong number
// of times.
func checkPage(t *testing.T, page []byte) {
	t.Helper()
	want := len(standardCharts())
	if !bytes.Contains(page, []byte(`data-toggle="`)) {
		want-- // nothing is compared
	}
	if n := len(drawingTag.FindAll(page, -1)); n != want {
		t.Errorf("%d drawings, want %d", n, want)
	}
	body := regexp.MustCompile(`(?s)<(script|style)>.*?</(script|style)>`).ReplaceAll(page, nil)
	for _, bad := range []string{" style=", "NaN", "Inf", "ZgotmplZ", "<no value>", "%!"} {
		if at := bytes.Index(body, []byte(bad)); at >= 0 {
			t.Errorf("%q in %q", bad, body[max(0, at-80):min(len(body), at+40)])
		}
	}
	data := regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`).FindSubmatch(page)
	if data == nil {
		t.Fatal("the page has no data")
	}
	var live struct {
		X        []float64
		Policies []map[string]any
	}
	if err := json.Unmarshal(data[1], &live); err != nil {
		t.Fatal(err)
	}
	for _, p := range live.Policies {
		p["p99"] = p["p99"].([]any)[0]
		for _, key := range []string{"p99", "fresh", "retry", "attempts", "busy", "again"} {
			if n := len(p[key].([]any)); n != len(live.X) {
				t.Errorf("%s has %d values for %d times", key, n, len(live.X))
			}
		}
	}
}

// Elements close in order, and every reference within the page leads somewhere.
func TestPageIsWellFormed(t *testing.T) {
	t.Parallel()
	page := string(pageOf(t, with("nasty formed", func(f *fixture) { f.policies, f.labels = 8, nasty })))
	page = regexp.MustCompile(`(?s)<(script|style)\b.*?</(script|style)>`).ReplaceAllString(page, "")
	var open []string
	for _, tag := range regexp.MustCompile(`<(/?)([a-z0-9]+)[^>]*?(/?)>`).FindAllStringSubmatch(page, -1) {
		switch name := tag[2]; {
		case name == "meta" || name == "br" || name == "input" || tag[3] == "/":
		case tag[1] == "":
			open = append(open, name)
		case len(open) == 0 || open[len(open)-1] != name:
			t.Fatalf("</%s> closes %q", name, open)
		default:
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		t.Errorf("left open: %q", open)
	}
	ids := map[string]int{}
	for _, id := range regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(page, -1) {
		if ids[id[1]]++; ids[id[1]] > 1 {
			t.Errorf("id %s occurs again", id[1])
		}
	}
	for _, ref := range regexp.MustCompile(` (?:href="#|aria-describedby=")([^"]+)"`).FindAllStringSubmatch(page, -1) {
		if ids[ref[1]] == 0 {
			t.Errorf("nothing has the id %s", ref[1])
		}
	}
	if strings.Count(page, "<th ") != strings.Count(page, "<th scope=") || strings.Count(page, "<table") != strings.Count(page, "<caption>") {
		t.Error("a header cell without a scope, or a table without a caption")
	}
}

// judged returns a fixture whose objectives were met, missed, unclear, and missed as expected.
func judged() fixture {
	return with("judged", func(f *fixture) {
		f.adjust = func(s *measure.Settings, sum *results.Summary) {
			s.Description, s.Rate = "what a page says", 100
			q := measure.Query{Metric: "fresh.wait.p99", During: "payments-down"}
			verdict := func(policy string, value float64, outcome results.Outcome, expect bool) results.Verdict {
				return results.Verdict{Query: q, Policy: policy, Text: "below 10s", Value: value, Half: .5, Outcome: outcome, Expect: expect}
			}
			unclear := verdict("Separate queue", 10.1, results.Unclear, false)
			unclear.Seeds = 40
			sum.Objectives = []results.Verdict{verdict("Weighted 80/20", 54, results.Missed, false), verdict("In-flight cap 20%", 6.5, results.Met, false), unclear,
				verdict("Shared FIFO", 163, results.Missed, true)}
			sum.Warnings = []string{"one job was left over"}
			for i := range sum.Policies {
				for k, name := range []string{"duplicates.lease", "duplicates.crash", "duplicates.ack", "duplicates.timeout", "duplicates.other", "duplicates.count", "duplicates.resubmits"} {
					mean := float64([]int{8, 1, 1, 0, 0, 10, 0}[k] * i)
					sum.Policies[i].Metrics = append(sum.Policies[i].Metrics, results.Estimate{Query: measure.Query{Metric: name}, Mean: mean, Half: 1, N: 10})
				}
				sum.Data[i].Tenants = []measure.TenantCount{{Executions: 900, FreshClaims: 900, WaitSum: 90, WaitMax: 1}, {Executions: 100, FreshClaims: 100, WaitSum: 10 * float64(i+1), WaitMax: 2}}
			}
			s.Tenants = []string{"", "acme", "bolt"}
		}
	})
}

// A usual metric that the main table has already is no second column of all numbers.
func TestNumbersHaveAMetricOnce(t *testing.T) {
	t.Parallel()
	f := storm()
	_, sum := f.build()
	q := measure.Query{Metric: "attempts.mean"}
	for _, table := range []results.Table{{}, {Columns: []results.Column{results.ColumnOf(sum, q)}}, {Alike: []results.Column{results.ColumnOf(sum, q)}}} {
		if n := plain.Count(allNumbers(sum, &table), func(c results.Column) bool { return c.Query == q }); n != 1 {
			t.Errorf("%s is in %d columns", q.Metric, n)
		}
	}
}

func TestPageSays(t *testing.T) {
	t.Parallel()
	page := pageOf(t, judged())
	wantWords(t, page,
		"retry-storm · payments-down 10m–15m · 10 seeds", "Shared FIFO : p99 wait of fresh jobs in payments-down 2m43s.", "what you get",
		"p99 wait of fresh jobs in payments-down goal ≤ 10s", "✗ missed, as the scenario expects: 2m43s", "✗ missed: 54.5s", "? unclear: 18.5s −89% unclear; run about 40 seeds", "✓ met: 6.5s −96%",
		"one job was left over", "All numbers with their intervals", "Shared FIFO baseline", "6.5s (best) ±327ms −96%", "2.2s (best) ±109ms −96%", "1.21 ±0.06 +0.8% ?",
		"Fresh p99 wait in payments-down is 2m43s with Shared FIFO, 6.5s with In-flight cap 20%", "Fresh jobs starve for 7m38s with Shared FIFO",
		"Most duplicates: 30 per seed with In-flight cap 20%, 80% of them: lease expired while its holder lived.", "24 ±1",
		"With In-flight cap 20% the mean of fresh waits is 400ms for bolt and 100ms for acme.", "acme 90%, 0.054/s, 100ms 90%, 0.054/s, 100ms", "bolt 10%, 0.006/s, 100ms 10%, 0.006/s, 200ms",
		"what a page says", "qsim run scenario.yaml --seed 1 --seeds 10", "The full scenario name: retry-storm",
		"qsim v0.1.0 · config 9e41c0d2 · seeds 1–10 · 30m of virtual time, up to 30m more to drain, warm-up 2m · 100 workers · 100 jobs/s")
}

// Only a miss that the scenario expects is as it expects.
func TestPageSaysWhatIsExpected(t *testing.T) {
	t.Parallel()
	for outcome, want := range map[results.Outcome]string{results.Missed: "✗ missed, as the scenario expects: 2m43s",
		results.Met: "✓ met, though the scenario expects a miss: 2m43s", results.Unclear: "? unclear: 2m43s"} {
		f := judged()
		adjust := f.adjust
		f.name += " expecting a miss: " + string(outcome)
		f.adjust = func(s *measure.Settings, sum *results.Summary) {
			adjust(s, sum)
			sum.Objectives[len(sum.Objectives)-1].Outcome = outcome
			s.Rate = 1.0 / 720
		}
		wantWords(t, pageOf(t, f), want, "100 workers · 5 jobs/h")
	}
}

// TestPageOfLittle: a page of a summary without numbers says what was not measured, and one without Settings or Data is
// an error.
func TestPageOfLittle(t *testing.T) {
	t.Parallel()
	sum := little()
	page, err := Page(sum, nil, "1", nil)
	if err != nil {
		t.Fatal(err)
	}
	wantWords(t, page, "qsim 1 · config 0a · seeds 3–5, 9 (some are missing)", "1m of virtual time",
		"Duplicates were not measured.", "Deaths were not measured.", "What tenants got was not measured.", "--seed 3 --seeds 7", "It was not stored with the results.", "A f00")
	for want, lacks := range map[string]func(sum *results.Summary){
		"write report: settings or summary is missing": func(sum *results.Summary) { sum.Settings = nil },
		"write report: data of 0 policies for 1":       func(sum *results.Summary) { sum.Data = nil },
	} {
		sum := little()
		lacks(sum)
		if _, err := Page(sum, nil, "1", nil); err == nil || err.Error() != want {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Tenants without claimed jobs do not count as having equal waits.
func TestTenantsOfLittle(t *testing.T) {
	t.Parallel()
	none, some := measure.TenantCount{}, measure.TenantCount{Executions: 9, FreshClaims: 9, WaitSum: 9}
	for _, tt := range []struct {
		name string
		data [][]measure.TenantCount // by policy
		want string
	}{
		{"nobody", [][]measure.TenantCount{{none, none}}, "No fresh job of any tenant was claimed with Shared FIFO."},
		{"one", [][]measure.TenantCount{{none, some}}, "Fresh jobs of one tenant alone were claimed: there is no other to compare it with."},
		{"alike", [][]measure.TenantCount{{some, some}}, "Tenants wait alike: the mean of their fresh waits differs by less than a quarter."},
		{"without a wait", [][]measure.TenantCount{{{FreshClaims: 2}, {FreshClaims: 3}}}, "Tenants wait alike: the mean of their fresh waits differs by less than a quarter."},
		{"one without", [][]measure.TenantCount{{some, {FreshClaims: 3}}}, "With Shared FIFO the mean of fresh waits is 1s for acme and 0s for bolt."},
		{"one alone with a second policy", [][]measure.TenantCount{{some, some}, {none, some}}, "Tenants wait alike under every policy: the mean of their fresh waits differs by less than a quarter."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := with(tt.name, func(f *fixture) { f.policies = len(tt.data) })
			s, sum := f.build()
			s.Tenants = []string{"", "acme", "bolt"}
			for i, data := range tt.data {
				sum.Data[i].Tenants = data
			}
			if got := tenants(sum).Finding; got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// If each class is one tenant, the page has no section of tenants besides that of classes.
func TestTenantsOfClasses(t *testing.T) {
	t.Parallel()
	for names, want := range map[string]bool{"|orders/0|imports/0": true, "|orders/0|orders/1|imports/0": false, "|acme|bolt": false} {
		f := with("tenants", func(f *fixture) { f.policies = 1 })
		s, sum := f.build()
		s.Classes, s.Tenants = []string{"orders", "imports"}, strings.Split(names, "|")
		for i := range s.Tenants[1:] {
			n := int64(i + 1)
			sum.Data[0].Tenants = append(sum.Data[0].Tenants, measure.TenantCount{Executions: n, FreshClaims: n, WaitSum: float64(n * n)})
		}
		if got := tenants(sum); got.none != want || want == strings.Contains(got.Finding, "wait") {
			t.Errorf("%s: %q, folded: %v, want %v", names, got.Finding, got.none, want)
		}
	}
}

// Causes that are equal under all policies are not described for a single one.
func TestCausesThatAreAlike(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		deaths []float64
		want   string
	}{
		{[]float64{572, 573}, "Deaths: 572 to 573 per seed under every policy, 90% of them: attempts used up."},
		{[]float64{572, 572}, "Deaths: 572 per seed under every policy, 90% of them: attempts used up."},
		{[]float64{573, 57}, "Most deaths: 573 per seed with Shared FIFO, 90% of them: attempts used up."},
		{[]float64{573}, "Most deaths: 573 per seed with Shared FIFO, 90% of them: attempts used up."},
	} {
		f := with("deaths", func(f *fixture) { f.policies = len(tt.deaths) })
		_, sum := f.build()
		for i, n := range tt.deaths {
			for metric, share := range map[string]float64{"deaths.count": 1, "deaths.limit": .9} {
				sum.Policies[i].Metrics = append(sum.Policies[i].Metrics, results.Estimate{Query: measure.Query{Metric: metric}, Mean: n * share, N: 10})
			}
		}
		deaths := plain.Find(families, func(f *family) bool { return f.ID == "deaths" })
		if got := deaths.events.section(sum).Finding; got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

// A storm of no length is at a time, and times of a scenario are spelled as in it.
func TestSceneOfStorms(t *testing.T) {
	t.Parallel()
	f := with("storms", func(f *fixture) {
		f.storms = []measure.Window{{Name: "down", From: time.Minute, To: 65 * time.Second}, {Name: "pile-up", From: 125 * time.Second, To: 125 * time.Second}}
	})
	_, sum := f.build()
	if got, want := strings.Join((&page{summary: sum, Name: "x"}).scene(), " · "), "x · down 1m–1m5s · pile-up at 2m5s · 10 seeds"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Where a table does not name all tenants, a chart shows them all, the slowest first.
func TestTenantsChart(t *testing.T) {
	t.Parallel()
	build := func(policies, n int) (*measure.Settings, *results.Summary) {
		f := with("tenants", func(f *fixture) { f.policies = policies })
		s, sum := f.build()
		s.Tenants = make([]string, n+1)
		for i := range sum.Data {
			for k := range n {
				s.Tenants[k+1] = nasty[k%len(nasty)]
				w := measure.TenantWait{Jobs: int64(k), P99: float64((k*7)%n+1) * float64(i+1), AtLeast: i == 1 && k == n-1}
				sum.Data[i].TenantWaits = append(sum.Data[i].TenantWaits, w)
				sum.Data[i].Tenants = append(sum.Data[i].Tenants, measure.TenantCount{Executions: 1})
			}
			sum.Data[i].TenantWaits[n-1].P99 = 300
		}
		return s, sum
	}
	if s, sum := build(2, tenantLimit); tenantsChart(&drawing{settings: s, summary: sum, policies: make([]policy, 2)}) != nil {
		t.Error("a chart of as many tenants as the table has")
	}
	s, sum := build(2, 20)
	figures, err := Charts(sum, "v0.1.0")
	if err != nil {
		t.Fatal(err)
	}
	f := *plain.Find(figures, func(f *Figure) bool { return f.Name == "7-tenants" })
	checkFigure(t, f)
	save(t, "tenants", f)
	if want := "Fresh p99 wait of the slowest tenant comes to ≥ 5m under every policy"; f.Name != "7-tenants" || f.Title != want {
		t.Errorf("%s: %q, want %q", f.Name, f.Title, want)
	}
	if want := ": Shared FIFO 5m and 11s, Weighted 80/20 ≥ 5m and 22s (1 at least). Storm: "; !strings.Contains(f.Alt, want) || !strings.Contains(f.Subtitle, "; 20 tenants; at least that, where too many were not claimed") {
		t.Errorf("it says %q, %q", f.Alt, f.Subtitle)
	}
	page, err := Page(sum, figures, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	wantWords(t, page, "Fresh p99 wait of the slowest tenant comes to ≥ 5m under every policy. p99 of the fresh waits")
	if n, want := len(drawingTag.FindAll(page, -1)), len(standardCharts())+1; n != want {
		t.Errorf("%d drawings, want %d", n, want)
	}
	// Where an objective is about tenants, the section says first how policies fare by it.
	worst := measure.Query{Metric: waitMetric, Tenant: measure.WorstTenant}
	s.Objectives = []measure.Objective{{Query: worst, Bound: 1, Text: "below 1s"}}
	for i := range sum.Policies {
		sum.Policies[i].Filtered = append(sum.Policies[i].Filtered, results.Estimate{Query: worst, Mean: float64(90 - 80*i), N: 10})
		sum.Objectives = append(sum.Objectives, results.Verdict{Query: worst, Policy: sum.Policies[i].Label, Text: "below 1s", Outcome: results.Missed})
	}
	if figures, err = Charts(sum, "v0.1.0"); err != nil {
		t.Fatal(err)
	}
	if page, err = Page(sum, figures, "", nil); err != nil {
		t.Fatal(err)
	}
	wantWords(t, page, "Tenants Fresh p99 wait of the worst tenant is 1m30s with Shared FIFO, 10.0s with Weighted 80/20")
	_, sum = build(9, 300)
	if figures, err = Charts(sum, "v0.1.0"); err != nil {
		t.Fatal(err)
	}
	f = *plain.Find(figures, func(f *Figure) bool { return f.Name == "7-tenants" })
	checkFigure(t, f)
	checkBackdropOf(t, f.Name, f.inline(), 9)
}

// The p99 waits of tenants are described for the busiest, a middle and the slowest one; tenants with
// few jobs are left out.
func TestTenantWaits(t *testing.T) {
	t.Parallel()
	build := func(n, known int, p99 func(policy, tenant int) measure.TenantWait) *results.Summary {
		f := with("tenants", func(f *fixture) { f.policies = 2 })
		s, sum := f.build()
		s.Tenants = []string{""}
		for k := range n {
			s.Tenants = append(s.Tenants, fmt.Sprintf("t%d", k))
		}
		for i := range sum.Data {
			sum.Data[i].Tenants, sum.Data[i].TenantWaits = nil, nil
			for k := range n {
				sum.Data[i].Tenants = append(sum.Data[i].Tenants, measure.TenantCount{Executions: int64(100000 - k), FreshClaims: 1, WaitSum: 1})
				if k < known {
					sum.Data[i].TenantWaits = append(sum.Data[i].TenantWaits, p99(i, k))
				}
			}
		}
		return sum
	}
	ramp := func(policy, tenant int) measure.TenantWait {
		return measure.TenantWait{Jobs: 5000, P99: float64(1 + policy*tenant), AtLeast: tenant == 3}
	}
	row := func(f finding, name string) string {
		for _, r := range f.Tables[0].Rows {
			if r[0] == name {
				return strings.Join(r[1:], "|")
			}
		}
		return "none"
	}
	for _, tt := range []struct {
		name           string
		n, known       int
		p99            func(policy, tenant int) measure.TenantWait
		rows           int
		finding        string
		key, cell, end string // parts of the last row of the first table
	}{
		{"two", 2, 2, ramp, 2, "With Weighted 80/20 the p99 of fresh waits is 2s for t1 and 1s for t0.", "", "t1", "1s|2s"},
		{"twelve", 12, 12, ramp, 12, "With Weighted 80/20 the p99 of fresh waits is 12s for t11 and 1s for t0.", "", "t3", "≥ 1s|≥ 4s"},
		{"200", 200, 200, ramp, 14, "With Weighted 80/20 the p99 of fresh waits is 3m20s for t199 and 1s for t0.", "The 12 busiest of 200 tenants.", "slowest of all 200", "1s (t0)|3m20s (t199)"},
		{"the middle", 200, 200, ramp, 14, "With Weighted 80/20 the p99 of fresh waits is 3m20s for t199 and 1s for t0.", "", "median of all 200", "1s|1m40s"},
		{"some are not measured", 400, 256, ramp, 14, "With Weighted 80/20 the p99 of fresh waits is 4m16s for t255 and 1s for t0.", "", "slowest of the first 256", "1s (t0)|4m16s (t255)"},
		{"alike", 2, 2, func(_, tenant int) measure.TenantWait {
			return measure.TenantWait{Jobs: 5000, P99: 4 + .5*float64(tenant)}
		}, 2, "Tenants wait alike under every policy: the p99 of their fresh waits differs by less than a quarter.", "", "t1", "4.5s|4.5s"},
		{"without a wait", 2, 2, func(int, int) measure.TenantWait { return measure.TenantWait{Jobs: 5000} }, 2, "Tenants wait alike under every policy: the p99 of their fresh waits differs by less than a quarter.", "", "t0", "0s|0s"},
		{"some without", 2, 2, func(_, tenant int) measure.TenantWait { return measure.TenantWait{Jobs: 5000, P99: float64(tenant)} }, 2, "With Shared FIFO the p99 of fresh waits is 1s for t1 and 0s for t0.", "", "t0", "0s|0s"},
		{"few jobs", 2, 2, func(_, tenant int) measure.TenantWait {
			return measure.TenantWait{Jobs: 20, P99: float64(1 + 9*tenant)}
		}, 2, "Tenants wait alike under every policy: the mean of their fresh waits differs by less than a quarter.", "", "t1", "10s|10s"},
		{"no job", 2, 2, func(_, tenant int) measure.TenantWait {
			return measure.TenantWait{Jobs: int64(5000 * tenant), P99: float64(tenant)}
		}, 2, "Tenants wait alike under every policy: the mean of their fresh waits differs by less than a quarter.", "", "t0", "–|–"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := tenants(build(tt.n, tt.known, tt.p99))
			if f.Finding != tt.finding {
				t.Errorf("it says %q, want %q", f.Finding, tt.finding)
			}
			if len(f.Tables) != 2 || len(f.Tables[0].Rows) != tt.rows || row(f, tt.cell) != tt.end || !strings.HasPrefix(f.Tables[0].Key, tt.key) {
				t.Errorf("%+v", f.Tables)
			}
		})
	}
}

func TestSeedRanges(t *testing.T) {
	var many []uint64
	for i := range uint64(40) {
		many = append(many, 2*i)
	}
	for want, seeds := range map[string][]uint64{"none": nil, "7": {7}, "1–3": {1, 2, 3}, "1, 3–4, 18446744073709551615": {1, 3, 4, math.MaxUint64}, "0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, …": many} {
		if got := seedRanges(seeds); got != want {
			t.Errorf("%v: %q, want %q", seeds, got, want)
		}
	}
}

func TestIndex(t *testing.T) {
	t.Parallel()
	f, other := judged(), storm()
	other.labels = []string{"Shared FIFO", `<b>"x"`}
	other.policies = 2
	_, a := f.build()
	_, b := other.build()
	b.Scenario = "other"
	entries := []IndexEntry{{Summary: a, Href: "retry-storm/1/report.html"}, {Summary: b, Href: "other/2/report.html",
		Made: results.RunInfo{Started: time.Date(2026, 3, 1, 2, 30, 0, 0, time.FixedZone("", 3600)), Commit: "<ab>"}}, {Summary: a, Href: "javascript:alert(1)"}}
	page, err := Index(entries)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := Index(entries)
	if !bytes.Equal(page, again) {
		t.Error("two indexes of the same differ")
	}
	wantWords(t, page, "3 runs · 5 policies", "Shared FIFO ✗ missed: objective 2 2m43s ±8.1s no objective 2m43s",
		"Weighted 80/20 ✗ missed: objective 1 54.5s ±2.7s · not in it", "fresh.wait.p99 during payments-down ≤ 10s fresh.wait.p99 during payments-down ≤ 10s, expected to be missed other none", "2 of 4, 1 unclear", "config 9e41c0d2, seeds 1–10", `<b>"x"`,
		"2026-03-01 01:30 <ab>", " – – other")
	if !bytes.Contains(page, []byte(`href="other/2/report.html"`)) || bytes.Contains(page, []byte("javascript:")) {
		t.Error("a link is missing or leads to a script")
	}
	if _, err := Index(nil); err == nil {
		t.Error("an index of nothing")
	}
}

// The colours of drawings are exactly those replaced by the page's theme.
func TestThemeCoversTheColoursOfCharts(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, c := range themed {
		known[hex(c.color)] = true
		if n := strings.Count(style, fmt.Sprintf("--%s:", c.name)); n != 2 {
			t.Errorf("--%s has %d values, want one by day and one by night", c.name, n)
		}
	}
	for _, f := range []fixture{storm(), with("nine policies", func(f *fixture) { f.policies = 9 })} {
		for _, found := range regexp.MustCompile(`(?:fill|stroke)="(#[0-9A-F]{6})"`).FindAllSubmatch(pageOf(t, f), -1) {
			if !known[string(found[1])] {
				t.Fatalf("%s is a colour of no theme", found[1])
			}
		}
	}
}

// No two of many policies have both colour and dashes in common, nor their swatches, which are dashed as their lines.
func TestLinesOfManyPoliciesDiffer(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for i := range len(hues) * len(hues) {
		swatch := string(written((*markup).swatch)(hueOf(i)))
		for _, look := range []string{fmt.Sprint(hueOf(i).line, hueOf(i).dashes), swatch} {
			if other, is := seen[look]; is {
				t.Fatalf("policies %d and %d look alike", other, i)
			}
			seen[look] = i
		}
		dashes := dashAttribute(hueOf(i).dashes, " ")
		if i >= len(hues) && !strings.Contains(swatch, dashes) {
			t.Errorf("policy %d: the swatch is %s, its lines are dashed as%s", i, swatch, dashes)
		}
	}
}
