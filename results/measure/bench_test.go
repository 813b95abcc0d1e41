package measure

import (
	"testing"
	"time"

	"qsim/engine"
)

// mix records the events of a steady stream of jobs: a job each 10 ms, each fifth of which fails once and waits for a
// second; claims and commits of four jobs; ten heartbeats per 40 jobs.
type mix struct {
	c      engine.Recorder
	now    engine.Time
	id     engine.JobID
	tokens engine.Token
	due    []engine.JobID // jobs that failed, to be ready again
	e      engine.Event
	events int
}

func (m *mix) record(kind engine.EventKind, job engine.JobID) *engine.Event {
	m.e = engine.Event{At: m.now, Kind: kind, Job: job, Token: m.tokens, Delivery: 1}
	m.events++
	return &m.e
}

// round records the events of four new jobs, and of the retries that are due.
func (m *mix) round() {
	first := m.id + 1
	for range 4 {
		m.id++
		m.now += engine.Time(10 * time.Millisecond)
		m.c.Record(m.record(engine.Enqueued, m.id))
	}
	for len(m.due) > 20 {
		e := m.record(engine.Promoted, m.due[0])
		e.Class = engine.Retry
		m.c.Record(e)
		m.run(m.due[0], engine.Retry, false)
		m.due = m.due[1:]
	}
	e := m.record(engine.Called, 0)
	e.Op, e.Count = engine.OpClaim, 4
	m.c.Record(e)
	for id := first; id <= m.id; id++ {
		m.run(id, engine.Fresh, id%5 == 0)
	}
	m.c.Record(m.record(engine.Extended, m.id))
}

func (m *mix) run(id engine.JobID, class engine.Class, fails bool) {
	m.tokens++
	m.now += engine.Time(time.Millisecond)
	e := m.record(engine.Leased, id)
	e.Class, e.Waited, e.Age = class, time.Duration(id%97)*time.Millisecond, time.Duration(id%97)*time.Millisecond
	m.c.Record(e)
	m.now += engine.Time(time.Millisecond)
	m.c.Record(m.record(engine.Started, id))
	m.now += engine.Time(time.Millisecond)
	e = m.record(engine.Finished, id)
	e.Ran = time.Millisecond
	verb := engine.Acked
	if fails {
		e.Error, verb = engine.FirstErrorKind, engine.Nacked
		m.due = append(m.due, id)
	}
	m.c.Record(e)
	e = m.record(engine.Called, 0)
	e.Op, e.Count = engine.OpCommit, 1
	m.c.Record(e)
	e = m.record(verb, id)
	e.From, e.Age, e.Delay = engine.InFlight, 3*time.Millisecond, time.Second
	m.c.Record(e)
}

func newMix() *mix {
	s := settings()
	s.Duration, s.Bucket = 30*time.Minute, 5*time.Second
	s.Storms = []Window{{"down", 10 * time.Minute, 15 * time.Minute}}
	s.Workers, s.Rate, s.Service = 100, 100, 500*time.Millisecond
	return &mix{c: NewCollector(s, 0)}
}

type ignorer struct{}

func (ignorer) Record(*engine.Event) {}

// BenchmarkCollector measures the cost of a job with all its events; recorder=none measures the
// benchmark itself.
func BenchmarkCollector(b *testing.B) {
	for _, recorder := range []string{"none", "collector"} {
		b.Run("recorder="+recorder, func(b *testing.B) {
			renew := func() *mix {
				m := newMix()
				if recorder == "none" {
					m.c = ignorer{}
				}
				return m
			}
			m := renew()
			for b.Loop() {
				m.round()
				if m.now > engine.Time(30*time.Minute) {
					m = renew()
				}
			}
			b.ReportMetric(float64(b.Elapsed())/float64(4*b.N), "ns/job")
			b.ReportMetric(float64(m.events)/float64(m.id), "events/job")
		})
	}
}

// BenchmarkHistogram records waits spread over five decades.
func BenchmarkHistogram(b *testing.B) {
	h, x := new(dense), uint64(1)
	for b.Loop() {
		x = x*6364136223846793005 + 1442695040888963407
		v := int64(x >> 44 << (x >> 60))
		h.record(bucketOf(v), v)
	}
}
