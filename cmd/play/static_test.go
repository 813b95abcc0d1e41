//go:build !race

package play

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"qsim/results/report/browsertest"
	"qsim/scenarios"
	"qsim/scenarios/estimate"
)

var long = flag.Bool("long", false, "hold every shipped scenario to its fingerprints in a browser: an hour")

// TestStatic writes a static page twice, and checks it when opened from disk and from a web server.
func TestStatic(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "page")
	o := Options{Name: "somebody/small.yaml", Source: []byte(small), Run: "somebody/small.yaml", Version: "0.1.0"}
	var pages []map[string]string
	for range 2 { // the second over the first
		page, err := NewStatic(folder, o)
		if err == nil {
			err = page.Write(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		texts := map[string]string{}
		for _, f := range page.files {
			text, err := os.ReadFile(filepath.Join(folder, f.Path))
			if texts[f.Path] = string(text); err != nil || strings.Contains(string(text), "somebody") {
				t.Errorf("%s says where the scenario lies: %v", f.Path, err)
			}
		}
		pages = append(pages, texts)
	}
	for name, text := range pages[0] {
		if pages[1][name] != text {
			t.Errorf("%s is %d bytes, and written again other %d", name, len(text), len(pages[1][name]))
		}
	}
	for name, test := range map[string]func(t *testing.T, folder string){"page": staticPageWorks, "served": staticPageServed, "fingerprints": staticFingerprints} {
		t.Run(name, func(t *testing.T) { test(t, folder) })
	}
}

// static opens a written static page from disk, with a fragment in its address, and returns its folder's address too.
func static(t *testing.T, folder, fragment string) (tb *browsertest.Tab, address string) {
	t.Helper()
	address = "file://" + folder + "/"
	return browsertest.Open(t, address+"index.html"+fragment, 1280), address
}

// mostGzipped is the largest allowed size of all files of a static page together, compressed by gzip, in bytes: 4 MB.
const mostGzipped = 4e6

// staticPageWorks checks the page opened from disk, without a network: charts are shown before the engine has loaded,
// its results equal those of the served page byte for byte, and sliders, undo, links and scenarios work as there.
func staticPageWorks(t *testing.T, folder string) {
	tb, address := static(t, folder, "")
	tb.Until(`document.querySelector("#out .time")`)
	first := browsertest.Eval[float64](tb, `window.timing.began + window.timing[1]`)
	tb.Until(settled)
	t.Logf("the first chart is there after %.0f ms, all seeds after %.0f ms", first, browsertest.Eval[float64](tb, `window.timing.began + window.timing[12]`))
	if !browsertest.Eval[bool](tb, `document.getElementById("reset").disabled`) {
		t.Error("nothing is changed, and can be taken back")
	}
	tb.Picture(*pictures, "static")
	tb.Accessible()

	_, lines := post(t, server(t, small), "run", `{}`)
	want := decode[result](t, lines[len(lines)-1])
	asked := browsertest.Eval[string](tb, `fetch("run", {body: JSON.stringify({scenario: "small.yaml", sets: [], policies: [], metrics: []}), signal: new AbortController().signal}).then(r => r.text())`)
	lines = strings.Split(strings.TrimSpace(asked), "\n")
	if n := []int{strings.Count(asked, `{"problems":`), strings.Count(asked, `{"first":`), strings.Count(asked, `{"seeds":1,`)}; !slices.Equal(n, []int{1, 2, 1}) {
		t.Errorf("the scene, first figures of two policies and charts of one seed are sent %d times", n)
	}
	is := decode[result](t, lines[len(lines)-1])
	if !reflect.DeepEqual(is, want) || want.Prints == "" {
		t.Errorf("in the browser it is\n%+v\nwant\n%+v", is, want)
	}

	// A slider that moves on drops what is under way; undo goes back; a link leads to the same.
	browsertest.Eval[bool](tb, `(async () => {
		for (const workers of [60, 50, 30]) {
			const s = document.getElementById("k-engine.workers-slide");
			s.value = workers; s.dispatchEvent(new Event("input")); s.dispatchEvent(new Event("change"));
			await new Promise(done => setTimeout(done, 150));
		}
		return true;
	})()`)
	tb.Until(settled)
	workers := browsertest.Eval[string](tb, `document.getElementById("k-engine.workers").value`)
	link := browsertest.Eval[string](tb, `location.href`)
	if want := "#scenario=small.yaml&set=engine.workers%3D" + workers; workers == "8" || !strings.HasSuffix(link, want) {
		t.Errorf("with %s workers the link is %s, want %s", workers, link, want)
	}
	prints := browsertest.Eval[string](tb, `document.getElementById("state").title`)
	tb.Run(chromedp.Click("#undo"), chromedp.Click("#undo"), chromedp.Click("#undo"))
	tb.Until(`location.hash === "#scenario=small.yaml" && ` + settled)
	other, _ := static(t, folder, link[strings.Index(link, "#"):])
	other.Until(settled)
	if is := browsertest.Eval[string](other, `document.getElementById("state").title`); is != prints || is == "" {
		t.Errorf("by the link there are %s, want %s", is, prints)
	}

	// Another scenario, and back.
	shipped := lightest()[0]
	if left := browsertest.Eval[string](tb, fmt.Sprintf(`((s, $) => { $("hold").click(); s.value = %q; s.dispatchEvent(new Event("change")); $("yaml").click(); $("save").click();
		return [!$("hold").disabled, $("out").children.length, $("life").children.length, document.querySelector(".knob, .check"), !$("lives").hidden, !$("hint").hidden, !$("held").hidden].join(); })(document.getElementById("scenario"), id => document.getElementById(id))`, shipped)); left != "false,0,0,,false,false,false" {
		t.Errorf("of the scenario before, there is left %s", left)
	}
	tb.Until(fmt.Sprintf(`location.hash === "#scenario=" + encodeURIComponent(%q) && document.title.startsWith(%[1]q) && document.getElementById("flags") && %s && document.getElementById("state").title !== %q`, shipped, settled, prints))
	tb.Run(chromedp.Click("#flags"))
	tb.Until(fmt.Sprintf(`window.taken?.startsWith("qsim run %s")`, shipped))
	tb.Run(chromedp.Click("#undo"))
	tb.Until(`document.getElementById("scenario").value === "small.yaml" && !document.getElementById("redo").disabled && ` + settled)
	tb.Run(chromedp.Evaluate[chromedp.Void](`location.hash = "#scenario=small.yaml&set=seeds%3D1"`))
	tb.Until(`document.getElementById("redo").disabled && ` + settled)
	tb.Quiet(address, "blob:")
	other.Quiet(address, "blob:")

	other, _ = static(t, folder, "#scenario=none")
	other.Until(`document.getElementById("state").textContent === 'the page has no scenario "none"'`)

	// An engine built from another source than the program.
	mixed := filepath.Join(t.TempDir(), "mixed")
	text, err := os.ReadFile(filepath.Join(folder, "opening.js"))
	if err := errors.Join(err, os.CopyFS(mixed, os.DirFS(folder)), os.WriteFile(filepath.Join(mixed, "opening.js"), bytes.Replace(text, []byte(`fingerprints\":\" `), []byte(`fingerprints\":\" 0`), 1), 0o600)); err != nil {
		t.Fatal(err)
	}
	other, _ = static(t, mixed, "")
	other.Until(`document.getElementById("state").textContent.includes("its engine is of another version than its first charts")`)
}

// staticPageServed checks the size of a static page, and that it works from an ordinary web server.
func staticPageServed(t *testing.T, folder string) {
	var weight int64
	files, err := os.ReadDir(folder)
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(folder, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		weight += gzipped(t, text)
	}
	if t.Logf("%d files, %d bytes gzipped", len(files), weight); err != nil || weight > mostGzipped || len(files) != 6 {
		t.Errorf("%d files of %d bytes gzipped, want 6 and %.0f at most: %v", len(files), weight, mostGzipped, err)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(folder)))
	defer server.Close()
	tb := browsertest.Open(t, server.URL+"/#set=engine.workers%3D7", 390)
	tb.Until(settled + ` && document.getElementById("k-engine.workers").value === "7"`)
	if wide := browsertest.Eval[int64](tb, `document.documentElement.scrollWidth`); wide > 390 {
		t.Errorf("the page is %d wide", wide)
	}
	tb.Picture(*pictures, "static-390")
	tb.Quiet(server.URL, "blob:")

	// Another scenario is chosen when the network is gone.
	server.Close()
	prints, shipped := browsertest.Eval[string](tb, `document.getElementById("state").title`), lightest()[0]
	browsertest.Eval[bool](tb, fmt.Sprintf(`((s) => { s.value = %q; return s.dispatchEvent(new Event("change")); })(document.getElementById("scenario"))`, shipped))
	tb.Until(fmt.Sprintf(`document.title.startsWith(%q) && document.getElementById("out").textContent && %s && document.getElementById("state").title !== %q`, shipped, settled, prints))
	tb.Picture(*pictures, "static-390-offline")
}

func gzipped(t *testing.T, text []byte) int64 {
	t.Helper()
	var n counter
	zip, _ := gzip.NewWriterLevel(&n, gzip.BestCompression)
	if _, err := zip.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return int64(n)
}

type counter int64

func (c *counter) Write(text []byte) (int, error) {
	*c += counter(len(text))
	return len(text), nil
}

// lightest returns the names of the shipped scenarios, those with the fewest jobs to simulate first.
func lightest() (names []string) {
	jobs := map[string]float64{}
	for _, b := range scenarios.Builtin() {
		name, source, _ := scenarios.OpenBuiltin(b.Name)
		sc, _ := scenarios.Load(name, source, nil)
		jobs[b.Name] = estimate.Of(sc).All * float64(len(sc.Policies))
		names = append(names, b.Name)
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(jobs[a], jobs[b]) })
	return names
}

// someScenarios is how many scenarios staticFingerprints compares without -long.
const someScenarios = 8

// staticFingerprints compares the fingerprints of shipped scenarios, simulated in a browser with two seeds under each
// policy, with the native ones, which scenarios/world keeps.
func staticFingerprints(t *testing.T, folder string) {
	text, err := os.ReadFile("../../scenarios/world/testdata/fingerprints.txt")
	if err != nil {
		t.Fatal(err)
	}
	names := lightest()
	if !*long {
		names = names[:someScenarios]
	}
	var tb *browsertest.Tab
	for _, name := range names {
		hold := func(t *testing.T) {
			want, fragment, before := "Fingerprints:", "#scenario="+url.QueryEscape(name)+"&set=seeds%3D2", ""
			for line := range strings.Lines(string(text)) {
				if words := strings.Fields(line); words[1] == name {
					want += " " + words[0]
				}
			}
			if tb == nil || *long { // a tab has a few minutes
				tb, _ = static(t, folder, fragment)
			} else {
				before = browsertest.Eval[string](tb, `document.getElementById("state").title`)
				tb.Run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`location.hash = %q`, fragment)))
			}
			over := fmt.Sprintf(`document.title.startsWith(%q) && ((state, sums) => state === "stopped" || state === "done" && sums !== %q)(document.getElementById("state").className.split(" ")[0], document.getElementById("state").title)`, name, before)
			for last := time.Now().Add(4 * time.Minute); !browsertest.Eval[bool](tb, over) && time.Now().Before(last); {
				time.Sleep(20 * time.Millisecond)
			}
			if is := browsertest.Eval[string](tb, `document.getElementById("state").title`); is != want || !strings.Contains(want, " ") {
				t.Errorf("%s: %s, want %s: %s", name, is, want, browsertest.Eval[string](tb, `document.getElementById("state").textContent`))
			}
		}
		if *long {
			t.Run(name, hold)
		} else {
			hold(t)
		}
	}
}

// TestStaticRefusals checks what --static refuses: scenarios that use files or are too large, folders with other files,
// and machines without a Go that can build the engine.
func TestStaticRefusals(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "waits.csv"), []byte("0.3s\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	page := filepath.Join(folder, "page")
	taken := t.TempDir()
	if err := os.WriteFile(filepath.Join(taken, "play.js"), []byte("own"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ folder, was, is, want string }{
		{page, "{dist: exponential, mean: 200ms}", "{dist: empirical, file: waits.csv}", "own.yaml names files beside it, which a static page cannot read"},
		{page, "rate: 20/s", "rate: 200k/s", "jobs.mail.arrivals brings most of 24,000,000 jobs in one simulation, and the page takes 20,000,000 at most"},
		{page, "rate: 20/s", "rate: 100k/s", "jobs.mail.arrivals brings so many jobs that about"},
		{taken, "", "", "play.js is there already, and of no page of qsim play"},
	} {
		own := Options{Name: filepath.Join(folder, "own.yaml"), Source: []byte(strings.Replace(small, tt.was, tt.is, 1))}
		if _, err := NewStatic(tt.folder, own); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.want, err)
		}
	}
	t.Setenv("PATH", "")
	without, err := NewStatic(page, Options{Name: "small.yaml", Source: []byte(small)})
	if err == nil {
		err = without.Write(t.Context())
	}
	if err == nil || !strings.Contains(err.Error(), "built for the browser by Go from qsim's source: GOOS=js GOARCH=wasm go ") {
		t.Errorf("without Go: %v", err)
	}
	if _, err := os.Stat(page); err == nil {
		t.Error("a page is there all the same")
	}
}

// TestStaticModules checks that modules which the engine takes and the machine does not have yet are fetched.
func TestStaticModules(t *testing.T) {
	there, err := goCommand(t.Context(), "off", "env", "GOMODCACHE")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOPROXY", "file://"+filepath.Join(there, "cache", "download"))
	t.Setenv("GOMODCACHE", t.TempDir())
	t.Cleanup(func() { // what is fetched is for reading only, and TempDir could not remove it
		if _, err := goCommand(context.Background(), "off", "clean", "-modcache"); err != nil {
			t.Error(err)
		}
	})
	if _, err := lean(t.Context(), t.TempDir()); err != nil {
		t.Error(err)
	}
}
