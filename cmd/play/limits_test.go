package play

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"qsim/scenarios"
	"qsim/scenarios/pool"
)

// TestLimits checks that more policies than charts can show, and simulations beyond the memory limit, are refused.
func TestLimits(t *testing.T) {
	large := server(t, small)
	large.o.Fits = func(sc *scenarios.Scenario) error { return fmt.Errorf("%d workers take too much", sc.Engine.Workers) }
	if _, lines := post(t, large, "run", `{}`); len(lines) != 1 || !strings.Contains(lines[0], `"error":true,"message":"8 workers take too much"`) {
		t.Errorf("%q", lines)
	}
	var sets []string
	for i := range 24 {
		sets = append(sets, fmt.Sprintf(`{"path": "policies.+", "value": "{kind: fifo, label: f%d}"}`, i))
	}
	_, lines := post(t, server(t, small), "run", `{"sets": [`+strings.Join(sets, ",")+`]}`)
	if len(lines) != 1 || !strings.Contains(lines[0], "shows 24 policies at once, and here are 26") {
		t.Errorf("%q", lines)
	}
}

// pipes is a listener for connections without buffers, net.Pipe, whose time is that of a synctest bubble.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if c, open := <-p; open {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p pipes) Close() error { close(p); return nil }

// dial serves s on pipes until the test ends, and returns a connection to it.
func dial(t *testing.T, s *Server) net.Conn {
	t.Helper()
	listener, served := make(pipes), make(chan error, 1)
	ctx, stop := context.WithCancel(t.Context())
	go func() { served <- s.Serve(ctx, listener) }()
	client, end := net.Pipe()
	listener <- end
	t.Cleanup(func() {
		_ = client.Close()
		stop()
		if err := <-served; err != nil {
			t.Errorf("in the end: %v", err)
		}
	})
	return client
}

// ahead is an HTTP request to run the scenario without changes.
const ahead = "POST TOKENrun HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}"

// TestLongest checks that a request which takes longer than a minute ends with a message: here it waits for a
// processor, or for a place among concurrent requests.
func TestLongest(t *testing.T) {
	for name, tt := range map[string]struct {
		gate func(*Server) pool.Gate
		want string
	}{
		"a processor": {func(s *Server) pool.Gate { return s.gate }, `"error":"The page stops after 1m0s: figures are of`},
		"a place":     {func(s *Server) pool.Gate { return s.places }, "503 Service Unavailable"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := server(t, small)
				for range cap(tt.gate(s)) {
					_ = tt.gate(s).Enter(t.Context())
				}
				client := dial(t, s)
				begun := time.Now()
				_, _ = io.WriteString(client, strings.ReplaceAll(ahead, "TOKEN", s.Path()))
				answer, err := io.ReadAll(client)
				if took := time.Since(begun); err != nil || took != time.Minute || !strings.Contains(string(answer), tt.want) {
					t.Errorf("after %v: %v, %.200s", took, err, answer)
				}
			})
		})
	}
}

// TestSlow checks that clients are dropped that send nothing, or send a request or read its answer a byte a second.
func TestSlow(t *testing.T) {
	for _, tt := range []struct {
		name, fast, slow string // bytes sent, at once and then one a second
		until            string // text read at once, then a byte a second
		within           time.Duration
	}{
		{"sends nothing", "", "", "", slowest / 2},
		{"sends its head", "POST ", "TOKENrun HTTP/1.1\r\nHost: localhost\r\n\r\n", "", slowest/2 + slowest},
		{"sends its body", "POST TOKENrun HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900\r\n\r\n", strings.Repeat(" ", 900), "", 2 * slowest},
		{"reads the page", "GET TOKENplay.js HTTP/1.1\r\nHost: localhost\r\n\r\n", "", "", slowest},
		{"reads the scene", ahead, "", "", slowest},
		{"reads the results", ahead, "", `{"problems":`, slowest},
		{"asks no more", "GET TOKEN HTTP/1.1\r\nHost: localhost\r\n\r\n", "", "</html>", idle},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := server(t, small)
				client := dial(t, s)
				spell := strings.NewReplacer("TOKEN", s.Path())
				if _, err := io.WriteString(client, spell.Replace(tt.fast)); err != nil {
					t.Fatal(err)
				}
				begun := time.Now()
				answer, err := bufio.NewReader(client), error(nil)
				for line := ""; tt.until != "" && !strings.Contains(line, tt.until) && err == nil; {
					line, err = answer.ReadString('\n')
				}
				var sending sync.WaitGroup
				sending.Go(func() {
					for _, b := range []byte(spell.Replace(tt.slow)) {
						if _, err := client.Write([]byte{b}); err != nil {
							return
						}
						time.Sleep(time.Second)
					}
				})
				for one := make([]byte, 1); ; time.Sleep(time.Second) {
					if _, err := client.Read(one); err != nil {
						break
					}
				}
				if took := time.Since(begun); took > tt.within+2*time.Second || took < tt.within/2 {
					t.Errorf("it is dropped after %v, want %v", took, tt.within)
				}
				synctest.Wait()
				if len(s.places) > 0 || s.simulations() > 0 {
					t.Errorf("%d requests and %d simulations are held", len(s.places), s.simulations())
				}
				_ = client.Close()
				sending.Wait()
			})
		})
	}
}
