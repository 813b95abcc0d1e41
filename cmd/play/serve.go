//go:build !js

package play

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"qsim/cmd/ui"
	"qsim/scenarios/pool"
)

// mostAtOnce and the constants below limit HTTP requests, so that no page can overload the process that serves it.
const (
	mostAtOnce = 4                // further ones wait
	slowest    = 10 * time.Second // longest time for a browser to send a request or take a line
	idle       = 2 * time.Minute  // longest time that a connection may stay open without a request
)

// Server serves the page of one scenario by HTTP, at addresses with a token that only whoever started it knows.
type Server struct {
	*stage
	host   string // host name of the page: that of another machine allows access from there
	token  string
	page   []byte
	places pool.Gate // limit on concurrent requests
}

// New returns a Server of the scenario in the options; host is the host name by which browsers open the page.
func New(host string, o Options) *Server {
	return &Server{newStage(o), host, rand.Text(), document{Run: o.Run}.html(), make(pool.Gate, mostAtOnce)}
}

// Path returns the path of the page's address, which is its token between slashes.
func (s *Server) Path() string { return "/" + s.token + "/" }

// Serve serves the page to connections of listener until ctx ends, and then returns nil.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	server := &http.Server{Handler: s, ReadHeaderTimeout: slowest / 2, WriteTimeout: slowest, IdleTimeout: idle,
		MaxHeaderBytes: 16 << 10, BaseContext: func(net.Listener) context.Context { return ctx }}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the page: %w", err)
	}
	return nil
}

// ServeHTTP answers a request for the page, for a file of it, or for simulations. Without the token it refuses.
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
	case r.Method == http.MethodPost && s.answers(path) != nil:
		s.answer(w, r, s.answers(path))
	case s.answers(path) != nil || !reads:
		http.Error(w, "want a page, or a request that the page makes", http.StatusMethodNotAllowed)
	default:
		s.show(w, r, path)
	}
}

// serves reports whether a request may have this host name: one of this machine or, if the page is also for others, the
// page's own or an IP address. Any other may be that of a site whose name was made to lead here (DNS rebinding).
func (s *Server) serves(host string) bool {
	return ui.IsLocal(host) || !ui.IsLocal(s.host) && (host == s.host || net.ParseIP(host) != nil)
}

// show answers a request with the page itself (path is "") or its script or style sheet.
func (s *Server) show(w http.ResponseWriter, r *http.Request, path string) {
	kind, known := map[string]string{"": "html", "play.js": "javascript", "play.css": "css"}[path]
	if !known {
		http.NotFound(w, r)
		return
	}
	text := s.page
	if path != "" {
		text = asset(path)
	}
	w.Header().Set("Content-Type", "text/"+kind+"; charset=utf-8")
	_, _ = w.Write(text) // whoever asked has gone
}

var crossOrigin = http.NewCrossOriginProtection()

// answer reads a request for simulations and answers it by do with lines of JSON, each sent as soon as it is computed.
// It stops when the browser gives the request up, which the page does when a newer setting makes it stale.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, do func(context.Context, *ask, *stream)) {
	if err := crossOrigin.Check(r); err != nil {
		http.Error(w, "the page asks for itself alone", http.StatusForbidden)
		return
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(slowest)) // a recorder of tests has none
	a, err := readAsk(http.MaxBytesReader(w, r.Body, mostBody))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	_ = control.SetReadDeadline(time.Time{})
	ctx, cancel := context.WithTimeout(r.Context(), longest)
	defer cancel()
	if s.places.Enter(ctx) != nil {
		_ = control.SetWriteDeadline(time.Now().Add(slowest))
		http.Error(w, "the page is busy", http.StatusServiceUnavailable)
		return
	}
	defer s.places.Leave()
	w.Header().Set("Content-Type", "application/x-ndjson")
	do(ctx, a, &stream{flushed{w, control}})
}

// flushed is a writer of an HTTP answer that sends each write to the browser at once.
type flushed struct {
	to      io.Writer
	control *http.ResponseController
}

// Write sends one line of an answer, for which the browser has the time slowest.
func (f flushed) Write(line []byte) (int, error) {
	_ = f.control.SetWriteDeadline(time.Now().Add(slowest))
	n, err := f.to.Write(line)
	_ = f.control.Flush()
	return n, err
}
