// Package browsertest opens web pages in a headless Chromium, for tests of what they show and do.
package browsertest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdpruntime "github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// chromium returns the path of the browser's program, Chromium or Chrome; "" if none is installed.
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
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium()), chromedp.UserDataDir(folder),
		chromedp.NoSandbox, chromedp.Headless, chromedp.DisableGPU, chromedp.NoFirstRun)
	for _, flag := range []string{"disable-quic", "disable-background-networking", "disable-component-update",
		"disable-sync", "hide-scrollbars"} {
		options = append(options, chromedp.Flag(flag, true))
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	browser, closeBrowser := chromedp.NewContext(allocator)
	return browser, func() {
		closeBrowser()
		stop()
		os.RemoveAll(folder)
	}
})

// Main runs the tests of a package, closes the browser that they share, and exits: it is all that a TestMain must call.
func Main(m *testing.M) { os.Exit(Run(m)) }

// Run runs the tests of a package, closes the browser that they share, and returns the exit code.
func Run(m *testing.M) int {
	code := m.Run()
	if browserUsed {
		_, stop := browserOnce()
		stop()
	}
	return code
}

var browserUsed bool

// Tab is a page open in the browser, with its console messages and the addresses that it requested.
type Tab struct {
	context.Context
	t        *testing.T
	mutex    sync.Mutex
	Messages []string
	Requests []string
}

// OpenFile opens html, a page with a footer or an element #runs, as Open does, and waits until that element is there.
func OpenFile(t *testing.T, html []byte, width int64, before ...chromedp.Action[chromedp.Void]) *Tab {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, html, 0o666); err != nil {
		t.Fatal(err)
	}
	tb := Open(t, "file://"+file, width, before...)
	tb.Run(chromedp.WaitReady("footer, #runs"))
	return tb
}

// Open opens an address in a new tab of a width in pixels, after the actions in before; it skips without a browser.
func Open(t *testing.T, address string, width int64, before ...chromedp.Action[chromedp.Void]) *Tab {
	t.Helper()
	if chromium() == "" {
		t.Skip("NO CHROMIUM: THE PAGE IS NOT TRIED IN A BROWSER; scripts/test installs one")
	}
	browserUsed = true
	browser, _ := browserOnce()
	if err := chromedp.Do(browser); err != nil {
		t.Fatalf("start %s: %v", chromium(), err)
	}
	inside, closeTab := chromedp.NewContext(browser)
	limited, cancel := context.WithTimeout(inside, lifetime)
	t.Cleanup(func() { cancel(); closeTab() })
	tb := &Tab{Context: limited, t: t}
	tb.Run() // which opens it
	if err := chromedp.Listen(limited, tb.note); err != nil {
		t.Fatal(err)
	}
	screen := emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 900, DeviceScaleFactor: 1}
	screen.Mobile = width < 500
	tb.Run(Protocol(network.Enable, network.EnableParams{}), Protocol(log.Enable, cdp.Empty{}),
		Protocol(cdpruntime.Enable, cdp.Empty{}), Protocol(emulation.SetDeviceMetricsOverride, screen))
	tb.Run(append(before, chromedp.Navigate(address))...)
	return tb
}

// Protocol returns an action that calls a method of the DevTools protocol and drops its answer.
func Protocol[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, c, params)
		return err
	})
}

// note stores what an event of the browser reports: a console message, an error or a request.
func (tb *Tab) note(event any) {
	tb.mutex.Lock()
	defer tb.mutex.Unlock()
	switch e := event.(type) {
	case *log.EventEntryAdded:
		tb.Messages = append(tb.Messages, fmt.Sprintf("%s: %s", e.Entry.Level, e.Entry.Text))
	case *cdpruntime.EventExceptionThrown:
		tb.Messages = append(tb.Messages, "exception: "+e.ExceptionDetails.Text)
	case *cdpruntime.EventConsoleAPICalled:
		tb.Messages = append(tb.Messages, "console."+string(e.Type))
	case *network.EventRequestWillBeSent:
		tb.Requests = append(tb.Requests, e.Request.URL)
	}
}

// Run performs actions and fails the test if one of them fails.
func (tb *Tab) Run(actions ...chromedp.Action[chromedp.Void]) {
	tb.t.Helper()
	if err := chromedp.Do(tb, actions...); err != nil {
		tb.t.Fatal(err)
	}
}

// Eval returns the value of a JavaScript expression in the page, once a promise is kept; the test fails if it throws.
func Eval[T any](tb *Tab, expression string) T {
	tb.t.Helper()
	value, err := chromedp.Run(tb, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		tb.t.Fatalf("%s: %v", expression, err)
	}
	return value
}

// longest limits how long Until waits, and lifetime how long a tab lives: both are there for tests that hang, and far
// longer than a busy machine needs.
const (
	longest  = 5 * time.Minute
	lifetime = 20 * time.Minute
)

// Until waits until a JavaScript condition holds in the page; one that throws an error does not hold yet. If it does
// not hold in time, the test fails and prints what the page shows.
func (tb *Tab) Until(condition string) {
	tb.t.Helper()
	if problem := tb.await(condition, longest); problem != "" {
		tb.t.Fatal(problem)
	}
}

// await waits until a JavaScript condition holds and returns "", or if it never does in that time, the page's state.
func (tb *Tab) await(condition string, within time.Duration) (problem string) {
	tb.t.Helper()
	thrown := Eval[*string](tb, fmt.Sprintf(`new Promise(done => {
		const last = Date.now() + %d, look = () => {
			let thrown = "";
			try { if (%s) return done(null); } catch (error) { thrown = " (" + error + ")"; }
			if (Date.now() > last) done(thrown); else setTimeout(look, 20);
		};
		look();
	})`, within.Milliseconds(), condition))
	if thrown == nil {
		return ""
	}
	state := Eval[string](tb, shown)
	tb.mutex.Lock()
	defer tb.mutex.Unlock()
	return fmt.Sprintf("after %v this does not hold%s: %s\n%s\nmessages of the browser: %q", within, *thrown, condition,
		state, tb.Messages)
}

// shown is a JavaScript expression for the state of the page: address, title, size, focus, the elements that report a
// state, and the beginning of the visible text.
const shown = `["at " + location.href, "titled " + document.title,
	innerWidth + " x " + innerHeight + ", the focus on " + document.activeElement?.outerHTML.slice(0, 120),
	...[...document.querySelectorAll("#state, .bad, .stale, dialog[open]")].map(e => e.outerHTML.slice(0, 300)),
	document.body?.innerText.slice(0, 1500)].join("\n")`

// Quiet fails the test if the browser logged a message or requested an address without one of the given prefixes.
func (tb *Tab) Quiet(addresses ...string) {
	tb.t.Helper()
	tb.mutex.Lock()
	defer tb.mutex.Unlock()
	if len(tb.Messages) > 0 {
		tb.t.Errorf("the browser said %q", tb.Messages)
	}
	for _, request := range tb.Requests {
		if !slices.ContainsFunc(addresses, func(address string) bool { return strings.HasPrefix(request, address) }) {
			tb.t.Errorf("the page asks for %q", request)
		}
	}
}

// Picture saves a screenshot of the whole page as name.png in a folder, which it creates, unless the folder is "".
func (tb *Tab) Picture(folder, name string) {
	tb.t.Helper()
	if folder == "" {
		return
	}
	shot, err := chromedp.Run(tb, chromedp.FullScreenshot(100))
	if err != nil {
		tb.t.Fatal(err)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		tb.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name+".png"), shot, 0o644); err != nil {
		tb.t.Fatal(err)
	}
}

// Scheme returns an action that sets the preferred colours, dark or light, and the medium: "print", or "" for a screen.
func Scheme(name, media string) chromedp.Action[chromedp.Void] {
	scheme := emulation.MediaFeature{Name: "prefers-color-scheme", Value: name}
	return Protocol(emulation.SetEmulatedMedia,
		emulation.SetEmulatedMediaParams{Media: media, Features: []*emulation.MediaFeature{&scheme}})
}
