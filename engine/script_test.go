package engine_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"qsim/engine"
	"qsim/policies"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the expected output in testdata")

// TestScripts plays each testdata/scripts/*.txt against one engine. A script begins with
// what it shows and why. A line "config key=value..." says what differs from the
// configuration in newScript. Then come inputs, each followed by "----" and what the
// engine did: what it recorded, asked for, started and canceled, when it wants to be
// ticked next and how many leases and outcomes it holds.
//
//	at 5ms tick|wake|stop
//	at 5ms stall|resume reaper|promoter
//	at 5ms clock 30s                                        ahead of what it was started with
//	at 6ms claimed 1 [jobs=7,8/3#2] [shed=9] [next=50ms] [error]     8/3#2: token 3, delivery 2; then ~5s: due in 5 s; !2: recovered twice
//	at 9ms finish slot=0 [failed|timeout|canceled|...]
//	at 9ms committed 2 [stale|error|applied,unapplied...]
//	at 9ms extended 3 [gone=7,8] [error]
//	at 9ms recovered 4 [jobs=7/2] [next=5s] [error]
//	at 9ms promoted 5 [jobs=7,8] [error]
//	at 9ms lead 6 yes|no|error
//	at 9ms stats 7 [ready=3,5] [oldest=1s,2s] [error]
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/scripts/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("found no scripts: %v", err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, string(want))
			if *rewrite {
				if err := os.WriteFile(f, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != string(want) {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

// script plays one file.
type script struct {
	t      *testing.T
	out    strings.Builder
	cfg    engine.Config
	engine *engine.Engine
	sent   map[uint64]*engine.Call // copies of the calls, by ID
	began  map[engine.Slot]engine.Time

	now     engine.Time
	calls   strings.Builder // requests since the last printed output
	starts  strings.Builder
	cancels strings.Builder
}

func newScript(t *testing.T) *script {
	s := &script{t: t, sent: map[uint64]*engine.Call{}, began: map[engine.Slot]engine.Time{}}
	s.cfg = engine.Config{
		Engine: engine.NewEngineID(3, 1), Workers: 2, CallTimeout: time.Second,
		Fetch:    engine.FetchConfig{Batch: 10, Poll: 50 * time.Millisecond},
		Commit:   engine.CommitConfig{Batch: 2, Linger: 5 * time.Millisecond, Calls: 1, Timeout: time.Second},
		Lease:    engine.LeaseConfig{TTL: 30 * time.Second},
		Reaper:   engine.ReaperConfig{Off: true, Batch: 10},
		Promoter: engine.PromoterConfig{Batch: 10},
		Leader:   struct{ TTL, Renew time.Duration }{10 * time.Second, 5 * time.Second},
		Kinds:    []engine.KindConfig{{}},
		Policy:   policies.FIFO{}, Recorder: s, InStep: true,
	}
	s.cfg.Kinds[0].Retry = &policies.Backoff{MaxAttempts: 3, Kind: policies.Exponential, First: time.Second, Factor: 2, Max: time.Minute}
	return s
}

func play(t *testing.T, text string) string {
	s := newScript(t)
	defer func() {
		if p := recover(); p != nil {
			t.Fatalf("%v after\n%s", p, s.out.String())
		}
	}()
	for i, paragraph := range strings.Split(strings.TrimSpace(text), "\n\n") {
		input, _, _ := strings.Cut(paragraph, "\n----")
		if i > 0 {
			s.out.WriteString("\n")
		}
		s.out.WriteString(input + "\n")
		lines := strings.Split(input, "\n")
		words := strings.Fields(lines[len(lines)-1])
		switch words[0] {
		case "config":
			for _, w := range words[1:] {
				s.configure(w)
			}
		case "at":
			if s.engine == nil {
				s.engine = engine.New(s.cfg, s, 0)
			}
			s.out.WriteString("----\n")
			s.now = engine.Time(s.duration(words[1]))
			s.input(s.now, words[2], words[3:])
			s.effects()
		case "#": // only words
		default:
			t.Fatalf("unknown line %q", lines[len(lines)-1])
		}
	}
	return s.out.String()
}

func (s *script) duration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		s.t.Fatal(err)
	}
	return d
}

func (s *script) number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

var errorKinds = func() (names []string) {
	for k := range engine.FirstErrorKind {
		names = append(names, k.Name())
	}
	return append(names, "failed")
}()

func (s *script) input(now engine.Time, verb string, words []string) {
	switch verb {
	case "tick":
		s.engine.Tick(now)
	case "wake":
		s.engine.Wake(now)
	case "stop":
		s.engine.Stop(now)
	case "stall", "resume":
		role, ok := map[string]engine.Op{"reaper": engine.OpRecover, "promoter": engine.OpPromote}[words[0]]
		if !ok {
			s.t.Fatalf("unknown role %q", words[0])
		}
		s.engine.Stall(now, role, verb == "stall")
	case "clock":
		s.engine.SetWallClock(now, s.duration(words[0]))
	case "finish":
		slot := engine.Slot(s.number(strings.TrimPrefix(words[0], "slot=")))
		kind := 0
		if len(words) > 1 {
			if kind = slices.Index(errorKinds, words[1]); kind < 0 {
				s.t.Fatalf("unknown error %q", words[1])
			}
		}
		s.engine.Finish(now, slot, engine.ErrorKind(kind), now.Sub(s.began[slot]))
	default:
		s.engine.Handle(now, s.reply(verb, words))
	}
}

var replies = map[string]engine.Op{"claimed": engine.OpClaim, "committed": engine.OpCommit, "extended": engine.OpExtend, "recovered": engine.OpRecover,
	"promoted": engine.OpPromote, "lead": engine.OpLead, "stats": engine.OpStats}

var statuses = map[string]engine.Status{"unapplied": engine.Unapplied, "applied": engine.Applied, "stale": engine.Stale, "repeated": engine.Applied.Again()}

// reply reads an answer to the call words[0].
func (s *script) reply(verb string, words []string) *engine.Call {
	r := &engine.Call{ID: uint64(s.number(words[0]))}
	if c := s.sent[r.ID]; c != nil {
		r.CopyFrom(c)
	}
	r.Op, r.Reply = replies[verb], engine.Reply{Next: engine.Forever}
	status := "applied"
	var gone []engine.JobID
	for _, w := range words[1:] {
		switch key, value, _ := strings.Cut(w, "="); key {
		case "error":
			r.Err = errors.New("refused")
		case "jobs":
			for j := range strings.SplitSeq(value, ",") {
				l := s.lease(j)
				r.Leases = append(r.Leases, l)
				r.Promoted = append(r.Promoted, engine.Promotion{Job: l.ID, Class: engine.Retry})
			}
		case "shed":
			for j := range strings.SplitSeq(value, ",") {
				l := s.lease(j)
				l.Shed = true
				r.Leases = append(r.Leases, l)
			}
		case "gone":
			for j := range strings.SplitSeq(value, ",") {
				gone = append(gone, engine.JobID(s.number(j)))
			}
		case "next":
			r.Next = s.duration(value)
		case "ready":
			fresh, retry, _ := strings.Cut(value, ",")
			r.Stats.Ready = [engine.NumClasses]int{s.number(fresh), s.number(retry)}
		case "oldest":
			fresh, retry, _ := strings.Cut(value, ",")
			r.Stats.OldestReady = [engine.NumClasses]time.Duration{s.duration(fresh), s.duration(retry)}
		case "yes", "no":
			r.Leading = key == "yes"
		default:
			status = w
		}
	}
	switch r.Op {
	case engine.OpCommit:
		each := strings.Split(status, ",")
		for i := range r.Batch.Outcomes {
			v, ok := statuses[each[min(i, len(each)-1)]]
			if !ok {
				s.t.Fatalf("unknown status %q", status)
			}
			r.Results = append(r.Results, engine.Result{Status: v})
		}
	case engine.OpExtend:
		for _, k := range r.Keys {
			given := statuses[status]
			if slices.Contains(gone, k.Job) {
				given = engine.Stale
			}
			r.Extensions = append(r.Extensions, given)
		}
	case 0:
		s.t.Fatalf("unknown input %q", verb)
	}
	return r
}

// lease reads job[/token][#delivery].
func (s *script) lease(text string) engine.Lease {
	text, recoveries, recovered := strings.Cut(text, "!")
	text, due, early := strings.Cut(text, "~")
	text, delivery, delivered := strings.Cut(text, "#")
	id, token, fenced := strings.Cut(text, "/")
	l := engine.Lease{Token: 1, Job: engine.Job{ID: engine.JobID(s.number(id)), Delivery: 1}}
	if delivered {
		l.Delivery = int32(s.number(delivery))
		l.Token = engine.Token(l.Delivery)
	}
	if fenced {
		l.Token = engine.Token(s.number(token))
	}
	if early {
		l.Waited = -s.duration(due)
	}
	if recovered {
		l.Recoveries = int32(s.number(recoveries))
	}
	l.Charged, l.Failures = l.Delivery, l.Delivery-1
	return l
}

// Record prints an event of the engine.
func (s *script) Record(e *engine.Event) {
	fmt.Fprintf(&s.out, "  record %v", e.Kind)
	if e.Node != 3 {
		s.t.Errorf("%v is of node %d, want 3", e.Kind, e.Node)
	}
	if e.Op != 0 {
		fmt.Fprintf(&s.out, " %v", e.Op)
	}
	if e.Count != 0 {
		fmt.Fprintf(&s.out, " count=%d", e.Count)
	}
	if e.Job != 0 {
		fmt.Fprintf(&s.out, " %d/%d delivery=%d %v", e.Job, e.Token, e.Delivery, e.Class)
	}
	if e.Error != 0 {
		fmt.Fprintf(&s.out, " %s", errorKinds[e.Error])
	}
	if e.Ran != 0 {
		fmt.Fprintf(&s.out, " ran=%v", e.Ran)
	}
	if e.Waited != 0 {
		fmt.Fprintf(&s.out, " waited=%v", e.Waited)
	}
	s.out.WriteString("\n")
}

func (s *script) effects() {
	for _, b := range []*strings.Builder{&s.calls, &s.starts, &s.cancels} {
		s.out.WriteString(b.String())
		b.Reset()
	}
	deadline, due := "never", s.engine.Due()
	if d := s.engine.Deadline(); d != engine.Never {
		deadline = time.Duration(d).String()
	}
	if exact := s.engine.Deadline(); due > max(exact, s.now) || s.engine.Due() != exact {
		s.t.Errorf("at %v: the engine was sure of nothing before %v, its deadline is %v", time.Duration(s.now), time.Duration(due), deadline)
	}
	fmt.Fprintf(&s.out, "  deadline %s held %d idle %d\n", deadline, s.engine.Held(), s.engine.Idle())
}

// Call implements engine.Driver.
func (s *script) Call() *engine.Call { return new(engine.Call) }

// Start implements engine.Driver.
func (s *script) Start(slot engine.Slot, l *engine.Lease) {
	s.began[slot] = s.now
	fmt.Fprintf(&s.starts, "  start slot=%d job=%d\n", slot, l.ID)
}

// Cancel implements engine.Driver.
func (s *script) Cancel(slot engine.Slot, why engine.ErrorKind) {
	fmt.Fprintf(&s.cancels, "  cancel slot=%d %s\n", slot, errorKinds[why])
}

// Send implements engine.Driver.
func (s *script) Send(c *engine.Call) {
	sent, out := &engine.Call{}, &s.calls
	sent.CopyFrom(c)
	s.sent[c.ID] = sent
	fmt.Fprintf(out, "  call %d %v", c.ID, c.Op)
	switch c.Op {
	case engine.OpClaim:
		fmt.Fprintf(out, " limit=%d ttl=%v", c.Limit, c.TTL)
		for _, term := range c.Terms {
			fmt.Fprintf(out, " [%v %v %d]", term.Class, term.Order, term.Limit)
		}
	case engine.OpCommit:
		fmt.Fprintf(out, " batch=%d settled=%d:", c.Batch.ID.Seq, c.Batch.Settled)
		for _, o := range c.Batch.Outcomes {
			fmt.Fprintf(out, " %v %d/%d", o.Verb, o.Job, o.Token)
			if o.Error != 0 {
				fmt.Fprintf(out, " (%s)", errorKinds[o.Error])
			}
			if o.Delay != 0 {
				fmt.Fprintf(out, " after %v", o.Delay)
			}
			if o.Passed != 0 {
				fmt.Fprintf(out, ", drawn as %v", o.Delay+o.Passed)
			}
			if o.Stand != engine.PlaceDefault {
				fmt.Fprintf(out, " at=%s", stands[o.Stand])
			}
			if o.Guard != engine.FenceDefault {
				fmt.Fprintf(out, " if=%s", guards[o.Guard])
			}
		}
	case engine.OpExtend:
		fmt.Fprintf(out, " ttl=%v:", c.TTL)
		if c.OfNode {
			out.WriteString(" all of the node")
		}
		if c.OfNode && c.Kept {
			out.WriteString(" and its former lives")
		}
		for _, k := range c.Keys {
			fmt.Fprintf(out, " %d/%d", k.Job, k.Token)
		}
	case engine.OpRecover:
		fmt.Fprintf(out, " limit=%d grace=%v ttl=%v", c.Limit, c.Grace, c.TTL)
		if c.Step == 1 {
			out.WriteString(" read")
		}
	case engine.OpPromote:
		switch c.Step {
		case 2:
			fmt.Fprintf(out, " insert %v", c.Jobs)
		case 1:
			fmt.Fprintf(out, " take limit=%d %v", c.Limit, c.Order)
		default:
			fmt.Fprintf(out, " limit=%d %v", c.Limit, c.Order)
		}
	case engine.OpLead:
		fmt.Fprintf(out, " %s ttl=%v", map[engine.Op]string{engine.OpRecover: "reaper", engine.OpPromote: "promoter"}[c.Role], c.TTL)
	case engine.OpStats:
		fmt.Fprintf(out, " limit=%d", c.Limit)
	}
	out.WriteString("\n")
}
