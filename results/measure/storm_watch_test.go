package measure

import (
	"math"
	"strings"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/keyed"
	"qsim/engine/unfinished"
)

// calmSettings returns settings with a storm from 600 s to 700 s of 1800 s, and sliding windows of 15 s for recovery.
func calmSettings() *Settings {
	s := settings()
	s.Duration, s.Warmup, s.Drain = 1800*time.Second, 60*time.Second, 600*time.Second
	s.Storms = []Window{{"down", 600 * time.Second, 700 * time.Second}}
	s.Service, s.Rate = 500*time.Millisecond, 20
	return s
}

// waits measures fresh jobs that come at 20/s for 1800 s and wait for as long as the function wait returns, in s.
func waits(s *Settings, wait func(at, uniform float64) float64) Run {
	c := NewCollector(s, 0)
	rand := keyed.Rand{Seed: 11}
	type claim struct {
		at     float64
		waited float64
	}
	var pending []claim
	id := engine.JobID(0)
	release := func(until float64) {
		for len(pending) > 0 && pending[0].at <= until {
			p := pending[0]
			pending = pending[1:]
			id++
			c.Record(&engine.Event{At: at(p.at), Kind: engine.Leased, Job: id, Delivery: 1, Token: 1, Waited: seconds(p.waited), Age: seconds(p.waited)})
		}
	}
	last := 0.0
	for i := range 36_000 {
		now := float64(i) / 20
		w := wait(now, rand.Uniform(keyed.ForPolicy, uint64(i), 0, 0))
		release(now)
		c.Record(&engine.Event{At: at(now), Kind: engine.Enqueued, Job: 1})
		last = max(last, now+w) // in order
		pending = append(pending, claim{last, last - now})
	}
	release(1e9)
	return c.Finish(c.views[0].now, nil)
}

func exponential(mean float64) func(at, u float64) float64 {
	return func(_, u float64) float64 { return -mean * math.Log(u) }
}

func TestRecoveryWithoutEffectIsNearZero(t *testing.T) {
	for _, mean := range []float64{0.001, 0.2, 2} {
		r := waits(calmSettings(), exponential(mean))
		v := r.Find(Query{Metric: "recovery.time", After: "down"})
		if v.Null || v.Bound != "" || v.Value > 15 {
			t.Errorf("mean wait %v s: recovery takes %+v, want less than a window", mean, v)
		}
	}
}

// All jobs are of one class, of which nothing else is asked that a storm delays.
func TestRecoveryAfterAnEffect(t *testing.T) {
	calm, s := exponential(0.05), calmSettings()
	s.Asked = []Query{{Metric: "recovery.time", Class: "mail"}}
	r := waits(s, func(at, u float64) float64 {
		if at >= 610 && at < 1000 {
			return 3
		}
		return calm(at, u)
	})
	// The windows hold waits of 3 s until those of before 1003 s have left, 15 s later, but for the last 5 %.
	for _, class := range []string{"", "mail"} {
		v := r.Find(Query{Metric: "recovery.time", Class: class})
		if v.Null || v.Bound != "" || v.Value < 300 || v.Value > 320 {
			t.Errorf("recovery.time = %+v, want 1003 s + 15 s − 700 s", v)
		}
	}
}

func TestRecoveryThatIsOutOfSight(t *testing.T) {
	r := waits(calmSettings(), func(at, u float64) float64 {
		if at >= 600 {
			return 3
		}
		return 0.05 * u
	})
	if v := r.Find(Query{Metric: "recovery.time"}); v.Bound != ">=" || math.Abs(v.Value-1103) > 1 {
		t.Errorf("recovery.time = %+v, want at least 1103 s", v)
	}
}

// Fresh jobs that are never claimed are no recovery, although no long wait is measured either.
func TestStarvedIsNotRecovered(t *testing.T) {
	s := calmSettings()
	c := NewCollector(s, 0)
	for i := range 12_000 {
		now := float64(i) / 20
		c.Record(&engine.Event{At: at(now), Kind: engine.Enqueued, Job: 1})
		c.Record(&engine.Event{At: at(now), Kind: engine.Leased, Job: engine.JobID(i + 1), Delivery: 1, Token: 1})
	}
	c.Record(&engine.Event{At: at(650), Kind: engine.Enqueued, Job: 99_999})
	r := c.Finish(at(2400), left(unfinished.Job{ID: 99_999, State: engine.Ready, Age: 1750 * time.Second, Waited: 1750 * time.Second}))
	if v := r.Find(Query{Metric: "recovery.time"}); v.Bound != ">=" || v.Value != 1700 {
		t.Errorf("recovery.time = %+v, want at least 1700 s", v)
	}
	if v := r.Find(Query{Metric: "drain.time"}); v.Bound != ">=" || v.Value != 1700 {
		t.Errorf("drain.time = %+v, want at least 1700 s", v)
	}
}

// Where some fresh jobs are claimed at once, those that became ready meanwhile and wait on are no recovery either, unless
// they are few, or as many waited before the storm: in general, not at the moment when it began. A share of the jobs is
// not claimed, until 900 s if they ever are.
func TestSomeStarvedIsNotRecovered(t *testing.T) {
	for _, tt := range []struct {
		name   string
		every  int     // of so many jobs one waits
		from   float64 // time from which on it does
		value  float64
		queued float64 // time at which the others are claimed; 0: never
		pause  float64 // s before the storm in which none waits
	}{
		{"every other job, until claimed", 2, 600, 900 + 15 - 700, 900, 0},
		{"every other job, to the end", 2, 600, 2400 - 700, 0, 0},
		{"every other job, from just before the storm", 2, 597, 900 + 15 - 700, 900, 0},
		{"one in forty", 40, 600, 0, 0, 0},
		{"every other job, before the storm too", 2, 0, 0, 0, 0},
		{"every other job, but for the last minute before the storm", 2, 0, 0, 0, 60},
	} {
		c := NewCollector(calmSettings(), 0)
		var queue []int
		claim := func(i int, now float64) {
			c.Record(&engine.Event{At: at(now), Kind: engine.Leased, Job: engine.JobID(i + 1), Delivery: 1, Token: 1,
				Waited: seconds(now - float64(i)/20)})
		}
		for i := range 36_000 {
			now := float64(i) / 20
			if tt.queued > 0 && now >= tt.queued {
				for _, old := range queue {
					claim(old, now)
				}
				queue, tt.every = nil, 1<<30
			}
			c.Record(&engine.Event{At: at(now), Kind: engine.Enqueued, Job: engine.JobID(i + 1)})
			if i%tt.every == 0 && now >= tt.from && (now < 600-tt.pause || now >= 600) {
				queue = append(queue, i)
				continue
			}
			claim(i, now)
		}
		r := c.Finish(at(2400), left(unfinished.Job{ID: 5, State: engine.Ready, Age: time.Second, Waited: time.Second}))
		if v := r.Find(Query{Metric: "recovery.time"}); math.Abs(v.Value-tt.value) > 2 || (v.Bound != "") != (tt.value == 1700) {
			t.Errorf("%s: recovery.time %s %v s, want %v s", tt.name, v.Bound, v.Value, tt.value)
		}
	}
}

// Where half of the jobs of one class wait from the beginning of the storm on, scheduled ones that nobody promotes, that
// class does not recover, nor do all jobs together, but the other class does.
func TestSomeStarvedOfAClass(t *testing.T) {
	s := calmSettings()
	s.Classes, s.Loads, s.Promoted = []string{"mail", "sums"}, []Load{{10, s.Service}, {10, s.Service}}, true
	s.Asked = []Query{{Metric: "recovery.time"}, {Metric: "recovery.time", Class: "sums"}, {Metric: "recovery.time", Class: "mail"}}
	c := NewCollector(s, 0)
	for i := range 36_000 {
		e := engine.Event{At: at(float64(i) / 20), Kind: engine.Enqueued, Job: engine.JobID(i + 1), JobKind: engine.Kind(i % 2)}
		if i%4 == 1 && e.At >= at(600) {
			e.Delay = time.Second
		}
		c.Record(&e)
		if e.Delay == 0 {
			e.Kind, e.Delivery, e.Token = engine.Leased, 1, 1
			c.Record(&e)
		}
	}
	r := c.Finish(at(2400), left(unfinished.Job{ID: 5, State: engine.Waiting, Age: time.Second}))
	for _, q := range s.Asked {
		if v := r.Find(q); (v.Bound != "" && v.Value >= 1100) != (q.Class != "mail") || q.Class == "mail" && v.Value != 0 {
			t.Errorf("%s: %s %v s", q, v.Bound, v.Value) // arrivals last for 1100 s after the storm
		}
	}
}

// Once arrivals have stopped and no fresh job is left, that none waits shows no recovery, however long retries still
// run: a longer storm would seem to be over sooner. Without a fresh job during arrivals nobody waits.
func TestEndOfArrivalsIsNoRecovery(t *testing.T) {
	for _, tt := range []struct {
		last  float64 // time of the last arrival
		bound string
		value float64
	}{{1800, ">=", 1116.5}, {1500, "", 816.5}} { // 15 s after it no wait is in the window; a step is 1.5 s
		c := NewCollector(calmSettings(), 0)
		for i := range int(20 * tt.last) {
			now := float64(i) / 20
			waited := engine.Time(0)
			if now >= 600 {
				waited = at(3)
			}
			c.Record(&engine.Event{At: at(now), Kind: engine.Enqueued, Job: 1})
			c.Record(&engine.Event{At: at(now), Kind: engine.Leased, Job: engine.JobID(i + 1), Delivery: 1, Token: 1,
				Waited: time.Duration(waited)})
		}
		r := c.Finish(at(2400), left(unfinished.Job{ID: 5, State: engine.InFlight, Class: engine.Retry, Age: time.Second}))
		if v := r.Find(Query{Metric: "recovery.time"}); v.Bound != tt.bound || math.Abs(v.Value-tt.value) > 1.5 {
			t.Errorf("arrivals until %v s: recovery.time %s %v, want %s %v s", tt.last, v.Bound, v.Value, tt.bound, tt.value)
		}
	}
}

// A fresh job that becomes ready after all that, as a scheduled one does, is waited for again: until the end of the run if
// it is not claimed. A storm that ends later is not recovered from in less than no time.
func TestScheduledJobAfterTheArrivals(t *testing.T) {
	for _, tt := range []struct {
		storm   string
		claimed float64 // time of the claim; 0: none
		value   float64
	}{{"down", 0, 1700}, {"down", 2000.9, 1316}, {"down", 2100, 1415}, {"late", 2100, 0}} { // 15 s after the claim no wait is in the window
		s := calmSettings()
		s.Storms = append(s.Storms, Window{"late", 2200 * time.Second, 2300 * time.Second})
		s.Objectives = []Objective{{Query: Query{Metric: "recovery.time", After: tt.storm}}}
		c := NewCollector(s, 0)
		run := func(enqueued, claimed float64, id engine.JobID) {
			c.Record(&engine.Event{At: at(enqueued), Kind: engine.Enqueued, Job: id})
			if claimed > 0 {
				c.Record(&engine.Event{At: at(claimed), Kind: engine.Leased, Job: id, Delivery: 1, Token: 1, Waited: at(claimed).Sub(at(enqueued))})
			}
		}
		for i := 1; i < 20*600; i++ {
			run(float64(i)/20, float64(i)/20, engine.JobID(i))
		}
		for i := range 1200 {
			run(600+float64(i), 600.9+float64(i), engine.JobID(20_000+i))
		}
		run(2000, tt.claimed, 7)
		r := c.Finish(at(2400), left(unfinished.Job{ID: 7, State: engine.InFlight, Age: 400 * time.Second}))
		if v := r.Find(Query{Metric: "recovery.time", After: tt.storm}); v.Bound != ">=" || math.Abs(v.Value-tt.value) > 1.5 {
			t.Errorf("after %s, claimed at %v s: recovery.time %s %v, want >= %v s", tt.storm, tt.claimed, v.Bound, v.Value, tt.value)
		}
	}
}

// A recovery that the end of the run cuts off is a bound if jobs are left, and stands if not.
func TestRecoveryAtTheEnd(t *testing.T) {
	s := calmSettings()
	s.Storms[0].To = 1790 * time.Second
	s.Storms[0].From = 1000 * time.Second
	play := func() *Collector {
		c := NewCollector(s, 0)
		for i := range 36_000 {
			c.Record(&engine.Event{At: at(float64(i) / 20), Kind: engine.Enqueued, Job: 1})
			c.Record(&engine.Event{At: at(float64(i) / 20), Kind: engine.Leased, Job: engine.JobID(i + 1), Delivery: 1, Token: 1})
		}
		return c
	}
	r := play().Finish(at(1800), nil)
	checkQuery(t, r, Query{Metric: "recovery.time"}, 0)
	if v := r.Find(Query{Metric: "recovery.time"}); v.Bound != "" {
		t.Errorf("recovery.time = %+v, want no bound", v)
	}
	r = play().Finish(at(1800), left(unfinished.Job{ID: 5, State: engine.InFlight, Class: engine.Retry, Age: time.Second}))
	if v := r.Find(Query{Metric: "recovery.time"}); v.Bound != ">=" || v.Value != 0 {
		t.Errorf("recovery.time = %+v, want at least 0", v)
	}
}

func TestWhyStormMetricsAreNull(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(s *Settings)
		reason string
	}{
		{"no storm", func(s *Settings) { s.Storms = nil }, noStorms},
		{"no calm", func(s *Settings) { s.Storms[0].From = 10 * time.Second }, noCalm},
		{"past the end", func(s *Settings) { s.Storms[0].To = 3000 * time.Second }, "the run ended before the storm did"},
		{"few windows", func(s *Settings) { s.Storms[0].From = 80 * time.Second }, "fewer than 20 windows"},
		{"nothing known", func(s *Settings) { s.Storms[0].To, s.Service, s.Rate = s.Storms[0].From, 0, 0 }, "are not known"},
	} {
		s := calmSettings()
		tt.change(s)
		r := NewCollector(s, 0).Finish(at(1800), nil)
		if v := r.Find(Query{Metric: "recovery.time"}); !v.Null || !strings.Contains(v.Reason, tt.reason) {
			t.Errorf("%s: recovery.time = %+v, want null: %s", tt.name, v, tt.reason)
		}
	}
}

// A wait counts for as long as the window is, whatever that length, and no longer.
func TestRecoverySlides(t *testing.T) {
	for _, window := range []time.Duration{10 * time.Second, 12345 * time.Millisecond, 99, 7} {
		r := newRecovery(settings(), window)
		r.claimed(5)
		steps := 0
		for ; r.total > 0 && steps < 1000; steps++ {
			r.slide()
		}
		if kept := time.Duration(steps) * r.step; kept < window || kept >= window+r.step {
			t.Errorf("a wait counts for %d steps of %v, the window is %v", steps, r.step, window)
		}
	}
}

func TestRecoveryWindow(t *testing.T) {
	for _, tt := range []struct {
		service, storm time.Duration
		rate           float64
		want           time.Duration
	}{
		{time.Second, time.Hour, 100, 30 * time.Second},
		{time.Millisecond, time.Hour, 100, 2 * time.Second},
		{time.Second, 10 * time.Second, 100, 10 * time.Second},
		{time.Second, 0, 100, 30 * time.Second},
		{time.Second, time.Minute, 0, time.Minute},
		{time.Second, 0, 0, 30 * time.Second},
		{time.Second, time.Hour, 1e-30, time.Hour},
		{10 * 365 * 24 * time.Hour, time.Hour, 100, time.Hour}, // the longest duration
		{0, 0, 0, 0},
	} {
		if got := recoveryWindow(Load{Service: tt.service, Rate: tt.rate}, Window{To: tt.storm}); got != tt.want {
			t.Errorf("S %v, rate %v, storm %v: window = %v, want %v", tt.service, tt.rate, tt.storm, got, tt.want)
		}
	}
}

// A storm of a nanosecond does not make a run crawl.
func TestShortStorm(t *testing.T) {
	s := calmSettings()
	s.Storms[0].To = s.Storms[0].From + 1
	if r := newRecovery(s, recoveryWindow(Load{s.Rate, s.Service}, s.Storms[0])); r.step < 24*time.Millisecond {
		t.Errorf("a step of %v is too short for a run of %v", r.step, s.Duration+s.Drain)
	}
}

func TestDrainTimes(t *testing.T) {
	s := settings()
	s.Storms = append(s.Storms, Window{"rush", 45 * time.Second, 45 * time.Second},
		Window{"again", 60 * time.Second, 70 * time.Second})
	s.Objectives = []Objective{{Query: Query{Metric: "drain.time", After: "down"}}, {Query: Query{Metric: "drain.time", After: "rush"}}}
	tp := newTape(s, 0)
	for id := engine.JobID(1); id <= 3; id++ { // one job ready for 21 s of the 30 s of calm
		tp.enqueue(2+8*float64(id), id, 0)
		tp.run(9+8*float64(id), id, 2+8*float64(id), 0)
	}
	for id := engine.JobID(10); id < 14; id++ {
		tp.enqueue(45, id, 0)
	}
	tp.run(52, 10, 45, 0)
	tp.run(55, 11, 45, 0)
	tp.run(58, 12, 45, 0) // one left: calm
	tp.run(59, 13, 45, 0)
	r := tp.Finish(at(100), nil)
	checkQuery(t, r, Query{Metric: "drain.time", After: "down"}, 8)
	checkQuery(t, r, Query{Metric: "drain.time", After: "rush"}, 13) // its jobs come at the instant at which it ends
	checkQuery(t, r, Query{Metric: "drain.time"}, 0)
	// Above the mean of 21/30 before: 3.3 for 7 s, 2.3 and 1.3 for 3 s each, 0.3 for 1 s.
	checkQuery(t, r, Query{Metric: "backlog.area"}, 7*3.3+3*2.3+3*1.3+0.3)
}

// The last storm stands in where no storm is named, and for none that has another name.
func TestStormOf(t *testing.T) {
	s := settings()
	s.Storms = append(s.Storms, Window{"again", 60 * time.Second, 70 * time.Second})
	tp := newTape(s, 0)
	for name, want := range map[string]string{"down": "down", "again": "again", "": "again", "flood": ""} {
		got := ""
		if w := tp.whole.stormOf(name); w != nil {
			got = w.name
		}
		if got != want {
			t.Errorf("%q: got storm %q, want %q", name, got, want)
		}
	}
}

// What jobs waited before the end of the warm-up is no measure of calm.
func TestRecoveryIgnoresTheWarmUp(t *testing.T) {
	calm := exponential(0.05)
	var want Value
	for i, early := range []float64{0, 30} {
		s := calmSettings()
		s.Storms[0] = Window{"down", 150 * time.Second, 250 * time.Second} // before it, few enough windows for one to count
		r := waits(s, func(at, u float64) float64 {
			switch {
			case at < 20: // claimed by 50 s, in order
				return early
			case at >= 160 && at < 550:
				return 3
			}
			return calm(at, u)
		})
		got := r.Find(Query{Metric: "recovery.time"})
		if i == 0 {
			want = got
		}
		if got != want || got.Value < 300 {
			t.Errorf("waits of %v s in the warm-up: recovery takes %v s, want %v s", early, got.Value, want.Value)
		}
	}
}

// The load at rest is that of the class where one is known, else that of the scenario.
func TestLoadAtRest(t *testing.T) {
	s := settings()
	s.Loads = []Load{{1, time.Second}, {5, 100 * time.Millisecond}}
	c := NewCollector(s, 0)
	for kind, want := range map[int32]Load{-1: {s.Rate, s.Service}, 0: s.Loads[0], 1: s.Loads[1], 2: {s.Rate, s.Service}} {
		if got := newView(c, filter{kind: kind}).rest; got != want {
			t.Errorf("class %d: %v, want %v", kind, got, want)
		}
	}
}

// What waits have to come back to is at least their mean before the storm and a tenth of a service time.
func TestRangeOfCalmWaits(t *testing.T) {
	s := settings()
	s.Service = time.Second
	tp := newTape(s, 0)
	for i := range 25 {
		tp.enqueue(11+float64(i), engine.JobID(i+1), 0)
		tp.run(12+float64(i), engine.JobID(i+1), 11+float64(i), 0.1)
	}
	tp.enqueue(45, 99, 0)
	for _, r := range tp.whole.storms.recoveries {
		if got := time.Duration(r.threshold); got < 1099*time.Millisecond || got > 1101*time.Millisecond {
			t.Errorf("waits of 1 s have to come back to %v, want 1.1 s", got)
		}
	}
	if len(tp.whole.storms.recoveries) != 1 {
		t.Errorf("%d recoveries are watched", len(tp.whole.storms.recoveries))
	}
}

// TestSlidingQuantile reads the p95 of the waits in a window, those of before it left out.
func TestSlidingQuantile(t *testing.T) {
	r := newRecovery(settings(), 10*time.Second)
	r.claimed(200)
	for range 5 {
		r.slide()
	}
	if got := r.p95(0); got != 200 {
		t.Errorf("of one wait of 200 ns the p95 is %d", got)
	}
	for bucket := 1; bucket <= 20; bucket++ {
		r.claimed(bucket)
	}
	if got := r.p95(0); got != 20 { // the 20th of 21
		t.Errorf("of 1 to 20 ns and 200 the p95 is %d", got)
	}
	for range 5 {
		r.slide()
	}
	if got := r.p95(0); got != 19 {
		t.Errorf("of 1 to 20 ns the p95 is %d", got)
	}
}

// TestCalmWindows counts the windows of 10 s, one each second, that lie in the 30 s before the storm, and those in which
// a fresh job was claimed alone.
func TestCalmWindows(t *testing.T) {
	for _, tt := range []struct {
		from, to float64 // claims
		windows  int
	}{{10, 40, 21}, {10, 25, 15}, {37, 40, 3}, {9.95, 10.05, 1}} { // the last one at the end of the warm-up
		s := settings()
		s.Bucket = 700 * time.Millisecond // not a multiple of it
		tp := newTape(s, 0)
		for i := range int(math.Round(10 * (tt.to - tt.from))) {
			s := tt.from + float64(i)/10 + 0.05
			tp.enqueue(s, engine.JobID(i+1), 0)
			tp.run(s, engine.JobID(i+1), s, 0.01)
		}
		tp.enqueue(45, 9999, 0)
		if got := tp.whole.storms.recoveries[0].windows; got != tt.windows {
			t.Errorf("claims from %v s to %v s: %d windows, want %d", tt.from, tt.to, got, tt.windows)
		}
	}
}

// steady returns a collector with a fresh job claimed every half second from 10.5 s to the storm at 40 s, after a wait.
func steady(s *Settings, waited time.Duration) *Collector {
	c := NewCollector(s, 0)
	for now := at(10.5); now < at(40); now = now.Add(time.Second / 2) {
		claimAfter(c, now, waited)
	}
	return c
}

func claimAfter(c *Collector, now engine.Time, waited time.Duration) {
	id := engine.JobID(now)
	c.Record(&engine.Event{At: now.Add(-waited), Kind: engine.Enqueued, Job: id})
	c.Record(&engine.Event{At: now, Kind: engine.Leased, Job: id, Delivery: 1, Token: 1, Waited: waited, Age: waited})
}

// TestBackAtTheLimit has waits that are just what they may be for a recovery, or a nanosecond more: in a window, and, if
// nothing is claimed, of the job that is ready.
func TestBackAtTheLimit(t *testing.T) {
	for _, tt := range []struct {
		name    string
		service time.Duration
		waited  time.Duration // before the storm
		play    func(c *Collector)
		want    float64
	}{
		{"waits as before", 0, 100, func(c *Collector) { claimAfter(c, at(49.5), 100) }, 0},
		{"longer ones", 0, 100, func(c *Collector) { claimAfter(c, at(49.5), 101) }, 10}, // leave the window of 10 s at 60 s
		{"a job is ready for as long as one may wait", time.Second, time.Second, func(c *Collector) { readyUntil(c, at(49.9), at(51)) }, 0},
		{"for longer", time.Second, time.Second, func(c *Collector) { readyUntil(c, at(49.9)-1, at(51)) }, 2},
	} {
		s := settings()
		s.Service = tt.service
		c := steady(s, tt.waited)
		tt.play(c)
		checkQuery(t, c.Finish(at(100), nil), Query{Metric: "recovery.time"}, tt.want)
	}
}

// TestStormEndsWithinAStep has waits that fall back just before the storm ends: the next step of the window tells it.
func TestStormEndsWithinAStep(t *testing.T) {
	s := settings()
	s.Storms[0].To, s.Service = 50500*time.Millisecond, 0
	c := steady(s, 100)
	claimAfter(c, at(49.5), 101)
	for i := range 50 {
		claimAfter(c, at(50.2).Add(time.Duration(1000*i)), 100)
	}
	checkQuery(t, c.Finish(at(100), nil), Query{Metric: "recovery.time"}, 0.5)
}

// readyUntil records a fresh job that is ready from one time until another, when it is buried without a claim.
func readyUntil(c *Collector, from, until engine.Time) {
	c.Record(&engine.Event{At: from, Kind: engine.Enqueued, Job: 1})
	c.Record(&engine.Event{At: until, Kind: engine.Buried, Job: 1, From: engine.Ready, Age: until.Sub(from), Waited: until.Sub(from)})
}

// TestRecoveryIsConfirmed ends the run when waits have stayed back for three windows of 10 s, or just before: until then
// a job that is left may undo the recovery.
func TestRecoveryIsConfirmed(t *testing.T) {
	for end, bound := range map[float64]string{80: "", 79.999: ">="} {
		c := steady(settings(), 100)
		r := c.Finish(at(end), left(unfinished.Job{ID: 5, State: engine.InFlight, Class: engine.Retry, Age: time.Second}))
		if v := r.Find(Query{Metric: "recovery.time"}); v.Null || v.Value != 0 || v.Bound != bound {
			t.Errorf("the run ends at %v s: recovery takes %+v, want 0 and bound %q", end, v, bound)
		}
	}
}

// TestBacklogAfterArrivals adds up the backlog from the storm until the end of arrivals, and no longer.
func TestBacklogAfterArrivals(t *testing.T) {
	tp := newTape(settings(), 0)
	tp.enqueue(90, 1, 0)
	tp.run(120, 1, 90, 1)
	check(t, tp.Finish(at(150), nil), map[string]float64{"backlog.area": 10})
}

// TestRecoveryFromAnInstant has a storm that is over as it begins, without any effect.
func TestRecoveryFromAnInstant(t *testing.T) {
	s := settings()
	s.Storms[0].To = s.Storms[0].From
	s.Service = 0
	check(t, steady(s, 100).Finish(at(100), nil), map[string]float64{"recovery.time": 0})
}

// TestRecoveriesApart has a storm within a storm: each has its recovery, which later waits do not undo.
func TestRecoveriesApart(t *testing.T) {
	for _, length := range []time.Duration{10 * time.Second, 5 * time.Second} { // with windows as of the other storm, and shorter ones
		s := settings()
		s.Duration, s.Drain = 300*time.Second, 0
		s.Storms = []Window{{"long", 40 * time.Second, 140 * time.Second}, {"short", 45 * time.Second, 45*time.Second + length}}
		short := Query{Metric: "recovery.time", After: "short"}
		c := steady(s, 100)
		if n, want := len(c.whole.storms.recoveries), map[time.Duration]int{10 * time.Second: 1, 5 * time.Second: 2}[length]; n != want {
			t.Errorf("windows of %d lengths, want %d", n, want)
		}
		claimAfter(c, at(143.5), time.Second)
		r := c.Finish(at(300), left(unfinished.Job{ID: 5, State: engine.InFlight, Class: engine.Retry, Age: time.Second}))
		checkQuery(t, r, short, 0)
		checkQuery(t, r, Query{Metric: "recovery.time", After: "long"}, 14)
		for _, q := range []Query{short, {Metric: "recovery.time", After: "long"}} {
			if v := r.Find(q); v.Bound != "" {
				t.Errorf("%v: %+v, want it to be confirmed", q, v)
			}
		}
	}
}

// TestRecoveryOfAClass leaves a job of another class: it undoes no recovery.
func TestRecoveryOfAClass(t *testing.T) {
	s := settings()
	s.Loads = []Load{{s.Rate, s.Service}, {s.Rate, s.Service}}
	for _, class := range s.Classes {
		s.Asked = append(s.Asked, Query{Metric: "recovery.time", Class: class})
	}
	r := steady(s, 100).Finish(at(60), left(unfinished.Job{ID: 5, Kind: 0, State: engine.InFlight, Class: engine.Retry, Age: time.Second}))
	if v := r.Find(s.Asked[0]); v.Null || v.Value != 0 || v.Bound != ">=" {
		t.Errorf("of the class of the job that is left: %+v", v)
	}
	c := NewCollector(s, 0)
	for now := at(10.5); now < at(40); now = now.Add(time.Second / 2) {
		c.Record(&engine.Event{At: now, Kind: engine.Enqueued, Job: engine.JobID(now), JobKind: 1})
		c.Record(&engine.Event{At: now, Kind: engine.Leased, Job: engine.JobID(now), JobKind: 1, Delivery: 1, Token: 1})
	}
	r = c.Finish(at(60), left(unfinished.Job{ID: 5, Kind: 0, State: engine.InFlight, Class: engine.Retry, Age: time.Second}))
	if v := r.Find(s.Asked[1]); v.Null || v.Value != 0 || v.Bound != "" {
		t.Errorf("of another class than that of the job that is left: %+v", v)
	}
}
