// Package play is the page of `qsim play`: sliders for the keys of a scenario, and what the engine does under each
// setting, simulated by the process that serves the page. It writes no file, and reads none that a request names.
package play

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"qsim/cmd/input"
	"qsim/cmd/ui"
	"qsim/results/report"
	"qsim/scenarios"
	"qsim/scenarios/pool"
)

// mostBody and the constants below limit the requests of a page.
const (
	mostBody        = 64 << 10 // bytes of a request
	mostSets        = 200
	mostAtOnce      = 4 // requests; further ones wait
	mostPolicies    = 24
	mostSimulations = 480              // of one request: policies × seeds
	mostJobs        = 20e6             // of one simulation: some ten seconds
	longest         = time.Minute      // that a request may simulate
	slowest         = 10 * time.Second // that a browser may take to send a request, or to take a line of the answer
	idle            = 2 * time.Minute  // that a connection may be kept without a request
)

// Options are the initial scenario of the page, and the address to serve it at.
type Options struct {
	input.Scenario
	Run      string                             // its name, as commands take it
	Fits     func(sc *scenarios.Scenario) error // refuses a setting that takes too much memory
	Parallel int                                // simulations at once, of all requests; 0: one for each processor
	Host     string                             // that the page is served at: that of another machine lets others in
	Version  string                             // of the program
}

// Server serves the interactive page of one scenario. Every address on it begins with a token, which the person who
// started the program alone knows.
type Server struct {
	o      Options
	token  string
	page   []byte
	usual  map[string]string        // values of the settings that the page begins with, by path
	keys   map[string]scenarios.Key // of these settings
	storms []offer
	places pool.Gate // for requests
	gate   pool.Gate // for simulations
	asks   map[string]func(ctx context.Context, a *ask, out *stream)
}

//go:embed page
var assets embed.FS

var pages = template.Must(template.ParseFS(assets, "page/*.html"))

// New returns the server of a page.
func New(o Options) *Server {
	s := &Server{o: o, token: rand.Text(), usual: map[string]string{}, keys: map[string]scenarios.Key{},
		places: make(pool.Gate, mostAtOnce), gate: pool.NewGate(o.Parallel)}
	s.asks = map[string]func(context.Context, *ask, *stream){"run": s.run, "trace": s.trace}
	sc, _ := s.loaded(nil)
	for _, setting := range sc.Explain(o.Sets) {
		s.usual[setting.Path] = setting.Value
		s.keys[setting.Path], _ = scenarios.KeyOf(setting.Path)
	}
	s.storms = s.offers(sc)
	var page strings.Builder
	if err := pages.ExecuteTemplate(&page, "play.html", o); err != nil {
		panic("play: " + err.Error()) // it is this package's own
	}
	s.page = []byte(page.String())
	return s
}

// Path returns the path of the page's address, with the token.
func (s *Server) Path() string { return "/" + s.token + "/" }

// Serve serves the page until ctx ends, and then returns nil.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	server := &http.Server{Handler: s, ReadHeaderTimeout: slowest / 2, WriteTimeout: slowest, IdleTimeout: idle,
		MaxHeaderBytes: 16 << 10, BaseContext: func(net.Listener) context.Context { return ctx }}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the page: %w", err)
	}
	return nil
}

// ServeHTTP answers requests for the page and its data.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "+
		"img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	token, path, inside := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch {
	case !s.serves((&url.URL{Host: r.Host}).Hostname()): // another site's name that was made to lead here
		http.Error(w, "the page is for this machine alone", http.StatusForbidden)
	case subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) != 1:
		http.Error(w, "want the whole address that qsim play printed, with its token", http.StatusForbidden)
	case !inside && reads:
		http.Redirect(w, r, s.Path(), http.StatusFound)
	case r.Method == http.MethodPost && s.asks[path] != nil:
		s.answer(w, r, s.asks[path])
	case s.asks[path] != nil || !reads:
		http.Error(w, "want a page, or a request that the page makes", http.StatusMethodNotAllowed)
	default:
		s.show(w, r, path)
	}
}

// serves reports whether host is a name or address under which the page may be requested. An address is never another
// site's name.
func (s *Server) serves(host string) bool {
	return ui.IsLocal(host) || !ui.IsLocal(s.o.Host) && (host == s.o.Host || net.ParseIP(host) != nil)
}

// show writes one of the files of the page.
func (s *Server) show(w http.ResponseWriter, r *http.Request, path string) {
	var text []byte
	switch path {
	case "":
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		text = s.page
	case "play.js":
		w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
		text, _ = assets.ReadFile("page/play.js")
	case "play.css":
		w.Header().Set("Content-Type", "text/css; charset=utf-8")
		text, _ = assets.ReadFile("page/play.css")
		text = append([]byte(report.Style()), text...)
	default:
		http.NotFound(w, r)
		return
	}
	_, _ = w.Write(text) // whoever asked has gone
}

// ask is the body of a request: overrides of the scenario's keys, and the results wanted.
type ask struct {
	Sets     []set    `json:"sets"`
	Policies []string `json:"policies"` // labels; none: those that the page begins with
	Metrics  []string `json:"metrics"`  // columns beside those of the objectives, as --metric takes them
	Policy   string   `json:"policy"`   // whose trace
	Find     string   `json:"find"`     // which job of it
}

type set struct {
	Path  string `json:"path"`
	Value string `json:"value"`
}

var crossOrigin = http.NewCrossOriginProtection()

// answer reads a request and answers it with lines of JSON, each as soon as its content is computed. It ends when the
// browser gives the request up, which the page does when a newer setting makes it stale.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, do func(context.Context, *ask, *stream)) {
	if err := crossOrigin.Check(r); err != nil {
		http.Error(w, "the page asks for itself alone", http.StatusForbidden)
		return
	}
	out := &stream{w: w, control: http.NewResponseController(w)}
	_ = out.control.SetReadDeadline(time.Now().Add(slowest)) // a recorder of tests has none
	var a ask
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, mostBody))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(&a)
	if _, more := decoder.Token(); err == nil && !errors.Is(more, io.EOF) {
		err = cmp.Or(more, errors.New("text after the request"))
	}
	if err == nil && max(len(a.Sets), len(a.Metrics)) > mostSets {
		err = errors.New("too many settings, or columns")
	}
	if err != nil {
		http.Error(w, "this is no request of the page: "+err.Error(), http.StatusBadRequest)
		return
	}
	_ = out.control.SetReadDeadline(time.Time{})
	ctx, cancel := context.WithTimeout(r.Context(), longest)
	defer cancel()
	if s.places.Enter(ctx) != nil {
		_ = out.control.SetWriteDeadline(time.Now().Add(slowest))
		http.Error(w, "the page is busy", http.StatusServiceUnavailable)
		return
	}
	defer s.places.Leave()
	w.Header().Set("Content-Type", "application/x-ndjson")
	do(ctx, &a, out)
}

// stream writes an answer line by line.
type stream struct {
	w       io.Writer
	control *http.ResponseController
}

// send writes one line of an answer. If nobody reads it any more, the request's context ends soon.
func (o *stream) send(line any) {
	_ = o.control.SetWriteDeadline(time.Now().Add(slowest))
	encoder := json.NewEncoder(o.w)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(line)
	_ = o.control.Flush()
}

// failed sends the error that ends a request early, unless the browser has canceled it.
func (o *stream) failed(ctx context.Context, err error) {
	switch {
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(ctx.Err(), context.DeadlineExceeded):
		o.send(map[string]string{"error": "stopped after " + longest.String() + ", which is all that one setting gets: " +
			"shorten the duration, or lower the load"})
	case err != nil && !errors.Is(err, context.Canceled):
		o.send(map[string]string{"error": err.Error()})
	}
}
