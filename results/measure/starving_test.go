package measure

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/unfinished"
)

// mayWait holds the waits, in s, beyond which fresh jobs starve in random worlds, by class.
var mayWait = []float64{1, 2.5}

// hungryByHand returns the metrics of starvation as byHand returns others: by definition, for the jobs that are in.
func hungryByHand(list []life, in func(l *life) bool, from, to float64) map[string]float64 {
	times := []float64{from, to}
	starves := func(l *life, now float64) bool {
		return in(l) && l.tries[0].ready+mayWait[l.kind] <= now && now < l.tries[0].runs
	}
	for i := range list {
		times = append(times, list[i].tries[0].runs, list[i].tries[0].ready+mayWait[list[i].kind])
	}
	slices.Sort(times)
	m := map[string]float64{}
	stretch := 0.0
	for k, now := range times {
		if now < from || now >= to {
			continue
		}
		hungry := false
		for i := range list {
			hungry = hungry || starves(&list[i], now)
		}
		if d := times[k+1] - now; hungry {
			m["starved.share"] += d / (to - from)
			stretch += d
			m["starved.longest"] = max(m["starved.longest"], stretch)
		} else {
			stretch = 0
		}
	}
	claims, crowded := 0.0, 0.0
	for i := range list {
		for n, t := range list[i].tries {
			if t.runs < from || t.runs >= to {
				continue
			}
			some, passed := false, false
			for j := range list {
				if before := math.Nextafter(t.runs, 0); starves(&list[j], before) {
					some = true
					passed = passed || n > 0 || list[j].tries[0].ready < t.ready
				}
			}
			if some {
				claims++
			}
			if passed {
				crowded++
			}
		}
	}
	m[crowding] = crowded / claims // nothing of nothing is none
	starved, jobs := 0.0, 0.0
	for i := range list {
		if t := list[i].tries[0]; in(&list[i]) && t.ready >= from && t.ready < min(to, 100) {
			jobs++
			if t.runs-t.ready > mayWait[list[i].kind] {
				starved++
			}
		}
	}
	m["starved.jobs"] = starved / jobs
	return m
}

// Times in which jobs starve, of all, of a class, a tenant or both, and the claims then, equal their definitions in
// random worlds, over the run, during a storm and after it; so does the value of the worst tenant.
func TestStarvingByHand(t *testing.T) {
	names := []string{"starved.jobs", "starved.share", "starved.longest", crowding}
	tenants := []string{"", "a", "b", "c"}
	values := map[string]map[float64]bool{}
	for seed := range uint64(40) {
		list := world(rand.New(rand.NewPCG(seed, 5)))
		s := settings()
		s.Workers, s.Tenants = 50, tenants
		s.StarvedAfter = []time.Duration{seconds(mayWait[0]), seconds(mayWait[1])}
		type asked struct {
			Query
			want float64
		}
		var queries []asked
		for _, window := range []struct {
			during, after string
			from, to      float64
		}{{"", "", 10, 100}, {"down", "", 40, 50}, {"", "down", 50, 110}} {
			for class := -1; class < 2; class++ {
				worst := map[string]float64{}
				for _, name := range names {
					worst[name] = math.NaN()
				}
				for tenant := range len(tenants) + 1 {
					of, want := WorstTenant, worst
					if tenant < len(tenants) {
						of, want = tenants[tenant], hungryByHand(list, func(l *life) bool {
							return (class < 0 || class == int(l.kind)) && (tenant == 0 || tenant == int(l.tenant))
						}, window.from, window.to)
					}
					for _, name := range names {
						if v := want[name]; tenant > 0 && !(v <= worst[name]) && !math.IsNaN(v) {
							worst[name] = v
						}
						q := Query{Metric: name, During: window.during, After: window.after, Tenant: of}
						if class >= 0 {
							q.Class = s.Classes[class]
						}
						s.Objectives = append(s.Objectives, Objective{Query: q})
						queries = append(queries, asked{q, want[name]})
					}
				}
			}
		}
		c := NewCollector(s, 0)
		playLives(c, list)
		r := c.Finish(at(110), nil)
		for _, q := range queries {
			v := r.Find(q.Query)
			if v.Null != math.IsNaN(q.want) || !v.Null && math.Abs(v.Value-q.want) > 1e-6 {
				t.Errorf("seed %d: %s = %v %s, want %v", seed, q.Query, v.Value, v.Reason, q.want)
			}
			key := fmt.Sprint(q.Metric, q.Tenant == WorstTenant)
			if values[key] == nil {
				values[key] = map[float64]bool{}
			}
			values[key][q.want] = true
		}
	}
	for key, list := range values {
		if len(list) < 50 {
			t.Errorf("%s has but %d values", key, len(list))
		}
	}
}

// A job that is never claimed starves until the end, one that is not ready does not.
func TestStarvingAtTheEnd(t *testing.T) {
	s := settings()
	s.Objectives = []Objective{{Query: Query{Metric: "starved.share", After: "down"}}}
	tp := newTape(s, 0)
	tp.enqueue(80, 1, 0)
	tp.enqueue(80, 2, 0)
	r := tp.Finish(at(150), left(unfinished.Job{ID: 1, State: engine.Ready, Age: 70 * time.Second, Waited: 70 * time.Second},
		unfinished.Job{ID: 2, State: engine.Waiting, Age: 70 * time.Second}))
	check(t, r, map[string]float64{"starved.jobs": 1, "starved.share": 19.0 / 90, "starved.longest": 19, crowding: math.NaN()})
	checkQuery(t, r, Query{Metric: "starved.share", After: "down"}, 69.0/100)
}

// More spells than are kept one by one add up all the same, each in the windows that it lies in.
func TestManySpells(t *testing.T) {
	const jobs, gap = 3 * mostSpells, 10.0
	s := settings()
	s.Warmup, s.Duration, s.Bucket = 0, time.Duration(jobs*gap*1e9), 0
	s.Storms = []Window{{"down", 60_003 * time.Second, 70_000 * time.Second}}
	during := Query{Metric: "starved.share", During: "down"}
	s.Objectives = []Objective{{Query: during}}
	tp := newTape(s, 0)
	for i := range jobs {
		tp.enqueue(gap*float64(i), engine.JobID(i+1), 0)
		tp.run(gap*float64(i)+5, engine.JobID(i+1), gap*float64(i), 0.1) // starves for 4 s
	}
	if n := len(tp.starving.hungers[0].spells); n >= mostSpells {
		t.Errorf("%d spells are kept", n)
	}
	r := tp.Finish(tp.whole.now, nil)
	check(t, r, map[string]float64{"starved.share": .4, "starved.longest": 4})
	checkQuery(t, r, during, (2+999*4)/9997.0)
}

// A lane has the right number of ready jobs, and the oldest, in whatever order jobs leave.
func TestLane(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 6))
	var l lane
	var ready []engine.Time
	longest := 0
	for now := engine.Time(0); now < 200_000; now++ {
		for range r.IntN(4) {
			l.push(now)
			ready = append(ready, now)
		}
		for len(ready) > 0 && r.IntN(5) < 3 {
			at := len(ready) - 1 - r.IntN(min(len(ready), 40)) // the latest
			if now > 150_000 {
				at = 0
			}
			l.leave(ready[at])
			ready = slices.Delete(ready, at, at+1)
		}
		if l.live != len(ready) || l.live > 0 && l.queue[l.first].at != ready[0] {
			t.Fatalf("%d: %d live, the oldest of %v; want %d", now, l.live, l.queue[l.first], len(ready))
		}
		longest = max(longest, len(l.queue)-4*len(ready))
	}
	if longest > 4096 {
		t.Errorf("the queue has %d elements more than four for each job", longest)
	}
	l = lane{}
	if l.leave(3); l.live != 0 || l.first != 0 {
		t.Errorf("one leaves that was not there: %+v", l)
	}
	l.push(5)
	l.push(7)
	l.leave(6) // of a time when none became ready: the next one
	if l.live != 1 || l.queue[l.first].at != 5 {
		t.Errorf("%+v", l)
	}
	for _, tt := range []struct {
		leaves []engine.Time
		left   engine.Time
	}{{[]engine.Time{7, 6, 5}, 9}, {[]engine.Time{9, 10, 5}, 7}} { // one that has left is neither the next nor the last
		l = lane{}
		for _, at := range []engine.Time{5, 7, 8, 9} {
			l.push(at)
		}
		for _, at := range tt.leaves {
			l.leave(at)
		}
		if l.live != 1 || l.queue[l.first].at != tt.left {
			t.Errorf("%+v, want that of %d left", l, tt.left)
		}
		l.push(20)
		if l.leave(tt.left); l.live != 1 || l.queue[l.first].at != 20 {
			t.Errorf("%+v, want that of 20 left", l)
		}
	}
}

// A job that starved before spells that are added up already counts from then on alone: no time counts twice.
func TestSpellAcrossMany(t *testing.T) {
	const jobs, gap = 2 * mostSpells, 10.0
	s := settings()
	s.Warmup, s.Duration, s.Bucket, s.Storms = 0, time.Duration(jobs*gap*1e9), 0, nil
	tp := newTape(s, 0)
	tp.enqueue(0, 1, 0)
	for i := range jobs {
		tp.enqueue(gap*float64(i), engine.JobID(i+2), 0)
		tp.run(gap*float64(i)+5, engine.JobID(i+2), gap*float64(i), 0.1)
	}
	tp.run(gap*jobs, 1, 0, 0.1)
	r := tp.Finish(tp.whole.now, nil)
	if v := r.Find(Query{Metric: "starved.share"}); v.Value < 0.4 || v.Value > 1 {
		t.Errorf("starved.share = %v", v.Value)
	}
}

// After two storms jobs starve for other shares of the time. One that waits for as long as it may does not starve, nor
// one that is not due.
func TestStarvingAfterTwoStorms(t *testing.T) {
	s := settings()
	s.Storms = append(s.Storms, Window{"again", 60 * time.Second, 70 * time.Second})
	first, second := Query{Metric: "starved.share", After: "down"}, Query{Metric: "starved.share", After: "again"}
	jobs := []Query{{Metric: "jobs", During: "down"}, {Metric: "jobs", During: "again"}}
	s.Asked = append([]Query{first, second}, jobs...)
	tp := newTape(s, 0)
	tp.enqueue(45, 1, 0)
	tp.run(46, 1, 45, 1)
	tp.enqueue(54, 2, 0)
	tp.run(60, 2, 54, 1)
	r := tp.Finish(at(100), left(unfinished.Job{ID: 3, State: engine.Ready, Age: time.Second / 2, Waited: time.Second / 2}, unfinished.Job{ID: 4, State: engine.Waiting, Age: time.Second}))
	checkQuery(t, r, first, 5/50.0)
	checkQuery(t, r, second, 0)
	checkQuery(t, r, jobs[0], 1)
	checkQuery(t, r, jobs[1], 0)
	check(t, r, map[string]float64{"starved.jobs": 0.5})
}

// TestCrowdingBesideHeldJobs claims a job before and after it is due, where such jobs are claimable at once: it was never
// among the ready jobs, and another that starves goes on starving.
func TestCrowdingBesideHeldJobs(t *testing.T) {
	s := settings()
	s.Held, s.StarvedAfter = true, []time.Duration{5 * time.Second, 5 * time.Second}
	s.Asked = []Query{{Metric: crowding}}
	tp := newTape(s, 0)
	tp.play(engine.Event{At: at(19), Kind: engine.Enqueued, Job: 2, Delay: 10 * time.Second})
	tp.enqueue(20, 1, 0)
	tp.play(engine.Event{At: at(29), Kind: engine.Leased, Job: 2, Token: 1, Delivery: 1, Age: 10 * time.Second})
	tp.enqueue(28, 3, 0)
	tp.lease(30, 3, 28)
	tp.lease(40, 1, 20) // starved from 25 to 40, while two others were claimed
	tp.enqueue(46, 4, 0)
	tp.lease(50, 4, 46) // none starves
	check(t, tp.Finish(at(70), left()), map[string]float64{crowding: 2.0 / 3, "starved.jobs": 1.0 / 4})
}

// TestCrowdingBeforePromotion promotes a scheduled job long after it was due: it starves from its due time on, and claims
// pass over it from then on, also where no other job is ready.
func TestCrowdingBeforePromotion(t *testing.T) {
	s := settings()
	s.Promoted, s.StarvedAfter = true, []time.Duration{5 * time.Second, 5 * time.Second}
	s.Asked = []Query{{Metric: crowding}}
	tp := newTape(s, 0)
	leased := func(now float64, id engine.JobID, delivery int32, waited, age time.Duration) {
		tp.play(engine.Event{At: at(now), Kind: engine.Leased, Job: id, Token: engine.Token(delivery), Delivery: delivery,
			Class: engine.Class(min(delivery-1, 1)), Waited: waited * time.Second, Age: age * time.Second})
	}
	scheduled := func(now float64, id engine.JobID, delay time.Duration) {
		tp.play(engine.Event{At: at(now), Kind: engine.Enqueued, Job: id, Delay: delay * time.Second})
	}
	promoted := func(now float64, id engine.JobID) {
		tp.play(engine.Event{At: at(now), Kind: engine.Promoted, Job: id})
	}
	leased(5, 9, 2, 0, 4)
	scheduled(10, 1, 20)
	scheduled(11, 2, 10)
	leased(27, 9, 3, 0, 26) // the second starves from 26 on
	promoted(28, 2)
	leased(28, 2, 1, 7, 17)
	tp.enqueue(32, 3, 0)
	leased(36, 9, 4, 0, 35) // the first starves from 35 on
	promoted(40, 1)
	tp.lease(42, 3, 32)
	leased(43, 1, 1, 13, 33)
	scheduled(44, 4, 8)
	leased(50, 9, 5, 0, 49) // nobody starves
	leased(58, 9, 6, 0, 57) // the fourth starves from 57 on
	promoted(60, 4)
	leased(60, 4, 1, 8, 16)
	leased(61, 9, 7, 0, 60)
	scheduled(61, 5, 1)
	promoted(62, 5)
	leased(62, 5, 1, 0, 1) // at the instant at which it is due
	leased(68, 9, 8, 0, 67)
	check(t, tp.Finish(at(70), left()), map[string]float64{crowding: 4.0 / 7, "starved.jobs": 0.8, "starved.longest": 8})
}
