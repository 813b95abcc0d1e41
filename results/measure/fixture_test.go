package measure

import (
	"iter"
	"math"
	"slices"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/unfinished"
)

// settings returns the settings of a small scenario: two classes, one of them guarded by a key, one
// storm, two workers, two policies.
func settings() *Settings {
	return &Settings{
		Scenario: "small", ConfigHash: "0a1b2c3d", Duration: 100 * time.Second, Drain: 100 * time.Second, Warmup: 10 * time.Second,
		Bucket: 10 * time.Second, Nodes: 1, Workers: 2, Classes: []string{"mail", "sums"}, Guards: []Guard{NoGuard, CheckGuard},
		Storms: []Window{{"down", 40 * time.Second, 50 * time.Second}}, Service: 100 * time.Millisecond, Rate: 20,
		Policies: []PolicyInfo{{Kind: "fifo", Label: "FIFO"}, {Kind: "weighted", Label: "Weighted", Entitled: 0.5}},
	}
}

// tape is a Collector with methods that record single events for tests, which give their times in seconds.
type tape struct {
	*Collector
	enqueued map[engine.JobID]float64
	kinds    map[engine.JobID]engine.Kind
	tokens   engine.Token
	claims   map[engine.JobID]int32
	claim    map[engine.Token]int32            // number of the claim
	taken    map[engine.Token]engine.ErrorKind // of reapers: the error of their outcomes
}

func newTape(s *Settings, policy int) *tape {
	return &tape{NewCollector(s, policy), map[engine.JobID]float64{}, map[engine.JobID]engine.Kind{}, 0, map[engine.JobID]int32{},
		map[engine.Token]int32{}, map[engine.Token]engine.ErrorKind{}}
}

func at(seconds float64) engine.Time { return engine.Time(math.Round(seconds * 1e9)) }

func seconds(s float64) time.Duration { return time.Duration(math.Round(s * 1e9)) }

func (t *tape) play(e engine.Event) { t.Record(&e) }

func (t *tape) age(s float64, job engine.JobID) time.Duration { return seconds(s - t.enqueued[job]) }

func (t *tape) enqueue(s float64, job engine.JobID, kind engine.Kind) {
	t.enqueued[job], t.kinds[job] = s, kind
	t.play(engine.Event{At: at(s), Kind: engine.Enqueued, Job: job, JobKind: kind})
}

// lease records the claim, at time s, of a job that had been ready since a time, and returns the lease's token.
func (t *tape) lease(s float64, job engine.JobID, since float64) engine.Token {
	t.tokens++
	t.claims[job]++
	t.claim[t.tokens] = t.claims[job]
	class := engine.Fresh
	if t.claims[job] > 1 {
		class = engine.Retry
	}
	t.play(engine.Event{At: at(s), Kind: engine.Leased, Job: job, JobKind: t.kinds[job], Class: class, Delivery: t.claims[job],
		Token: t.tokens, Waited: seconds(s - since), Age: t.age(s, job)})
	return t.tokens
}

func (t *tape) start(s float64, job engine.JobID, token engine.Token) {
	t.play(engine.Event{At: at(s), Kind: engine.Started, Job: job, JobKind: t.kinds[job], Token: token})
}

func (t *tape) finish(s float64, job engine.JobID, token engine.Token, ran float64, err engine.ErrorKind) {
	t.play(engine.Event{At: at(s), Kind: engine.Finished, Job: job, JobKind: t.kinds[job], Token: token, Delivery: t.claim[token],
		Ran: seconds(ran), Error: err})
}

func (t *tape) outcome(s float64, kind engine.EventKind, job engine.JobID, token engine.Token, delay float64) {
	t.play(engine.Event{At: at(s), Kind: kind, Job: job, JobKind: t.kinds[job], Token: token, From: engine.InFlight,
		Error: t.taken[token], Delivery: t.claims[job], Delay: seconds(delay), Age: t.age(s, job)})
}

func (t *tape) promote(s float64, job engine.JobID, class engine.Class) {
	t.play(engine.Event{At: at(s), Kind: engine.Promoted, Job: job, Class: class, JobKind: t.kinds[job]})
}

// take records that a reaper takes a job's lease from the first life of node 0, and returns the reaper's token.
func (t *tape) take(s float64, job engine.JobID) engine.Token { return t.takeFrom(s, job, 0) }

// takeFrom records that a reaper takes a job's lease from the given holder, and returns the reaper's token.
func (t *tape) takeFrom(s float64, job engine.JobID, holder engine.EngineID) engine.Token {
	t.tokens++
	t.taken[t.tokens] = engine.LeaseExpired
	t.play(engine.Event{At: at(s), Kind: engine.LeaseTaken, Job: job, JobKind: t.kinds[job], Token: t.tokens, Holder: holder,
		Delivery: t.claims[job], Age: t.age(s, job)})
	return t.tokens
}

// loseLease records that the holder of a lease has noticed its loss, before a reaper takes it.
func (t *tape) loseLease(s float64, job engine.JobID, token engine.Token) {
	t.play(engine.Event{At: at(s), Kind: engine.LeaseLost, Job: job, JobKind: t.kinds[job], Token: token})
}

// run records one attempt of a job from the claim, at time s, to the ack, ran seconds later.
func (t *tape) run(s float64, job engine.JobID, since, ran float64) {
	token := t.lease(s, job, since)
	t.start(s, job, token)
	t.finish(s+ran, job, token, ran, engine.NoError)
	t.outcome(s+ran, engine.Acked, job, token, 0)
}

func left(jobs ...unfinished.Job) iter.Seq[unfinished.Job] { return slices.Values(jobs) }

// check compares metrics of the whole run with values computed by hand, to 0.4 %.
func check(t *testing.T, r Run, want map[string]float64) {
	t.Helper()
	for name, v := range want {
		checkQuery(t, r, Query{Metric: name}, v)
	}
}

func checkQuery(t *testing.T, r Run, q Query, want float64) {
	t.Helper()
	v := r.Find(q)
	if v.Null != math.IsNaN(want) {
		t.Errorf("%s = %v, want %v", q, v, want)
		return
	}
	if !v.Null && math.Abs(v.Value-want) > 0.004*math.Abs(want)+1e-9 {
		t.Errorf("%s = %v, want %v", q, v.Value, want)
	}
}
