package engine

import (
	"slices"
	"testing"
	"time"

	"qsim/engine/keyed"
)

// asked is a retry policy that stores the arguments of its calls.
type asked struct {
	ages  []time.Duration
	draws []float64
}

func (a *asked) Next(j *Job, _ ErrorKind, u float64) (Verb, time.Duration) {
	a.ages, a.draws = append(a.ages, j.Age), append(a.draws, u)
	return Nack, time.Second
}

// failing has an engine of that seed claim each of the leases in turn, run it for the time given, and fail it.
func failing(seed uint64, ran time.Duration, leases ...Lease) *asked {
	policy := &asked{}
	driver := &Asked{}
	e := New(Config{Workers: 1, Fetch: FetchConfig{Batch: 1, Poll: time.Second}, Commit: CommitConfig{Batch: 1, Calls: 1, Timeout: time.Hour},
		Lease: LeaseConfig{TTL: time.Hour}, Reaper: ReaperConfig{Off: true}, CallTimeout: time.Hour, Rand: keyed.Rand{Seed: seed},
		Kinds: []KindConfig{{Retry: policy}}, Policy: oldest{}}, driver, 0)
	now := Time(0)
	e.Tick(now)
	for _, l := range leases {
		for _, c := range driver.Take() {
			c.Err, c.Leases, c.Results = nil, nil, nil
			switch c.Op {
			case OpClaim:
				c.Leases = []Lease{l}
			case OpCommit:
				c.Results = make([]Result, len(c.Batch.Outcomes))
				for i := range c.Results {
					c.Results[i].Status = Applied
				}
			}
			e.Handle(now, c)
		}
		for _, s := range driver.Starts {
			now = now.Add(ran)
			e.Finish(now, s, FirstErrorKind, ran)
		}
		driver.Starts = nil
	}
	return policy
}

func delivered(job JobID, delivery int32) Lease {
	return Lease{Job: Job{ID: job, Delivery: delivery}, Token: Token(delivery)}
}

// TestJitterIsOfTheDelivery fails two deliveries of one job, and the same of another: each has a random draw that
// depends only on the seed, the job and the delivery.
func TestJitterIsOfTheDelivery(t *testing.T) {
	leases := []Lease{delivered(7, 1), delivered(7, 2), delivered(7, 3), delivered(8, 1), delivered(8, 2)}
	draws := failing(1, time.Second, leases...).draws
	if len(draws) != len(leases) {
		t.Fatalf("asked %d times, want %d", len(draws), len(leases))
	}
	for i, u := range draws {
		for k := range i {
			if u == draws[k] {
				t.Errorf("job %d, delivery %d and job %d, delivery %d have one draw", leases[k].ID, leases[k].Delivery, leases[i].ID, leases[i].Delivery)
			}
		}
		if again := failing(1, time.Minute, leases[i]).draws; again[0] != u {
			t.Errorf("job %d, delivery %d: %v, by itself %v", leases[i].ID, leases[i].Delivery, u, again[0])
		}
		if other := failing(2, time.Second, leases[i]).draws; other[0] == u {
			t.Errorf("job %d, delivery %d: two seeds have one draw", leases[i].ID, leases[i].Delivery)
		}
	}
}

// TestAgeAtTheEnd fails a job that was 3 s old when it was claimed and ran for 7 s: the retry policy gets an age of 10
// s.
func TestAgeAtTheEnd(t *testing.T) {
	l := delivered(7, 1)
	l.Age = 3 * time.Second
	if ages := failing(1, 7*time.Second, l).ages; len(ages) != 1 || ages[0] != 10*time.Second {
		t.Errorf("ages %v, want one of 10s", ages)
	}
}

// decided is a retry policy with one answer for all jobs.
type decided struct {
	verb  Verb
	delay time.Duration
}

func (d decided) Next(*Job, ErrorKind, float64) (Verb, time.Duration) { return d.verb, d.delay }

// TestDeadline fails jobs with a deadline of 10 min: those whose retry would come then or later are buried.
func TestDeadline(t *testing.T) {
	const minute = time.Minute
	for _, tt := range []struct {
		name    string
		retry   decided
		from    EventKind
		age     time.Duration // at the claim
		ran     time.Duration
		want    Verb
		aged    bool
		delayed time.Duration
	}{
		{"young", decided{Nack, minute}, 0, 8*minute - 1, minute, Nack, false, minute},
		{"old when the retry comes", decided{Nack, minute}, 0, 8 * minute, minute, Bury, true, 0},
		{"old", decided{Nack, minute}, 0, 1 << 62, minute, Bury, true, 0},
		{"free, but old", decided{Snooze, minute}, 0, 8 * minute, minute, Bury, true, 0},
		{"old, without a delay", decided{Nack, 0}, 0, 9 * minute, minute, Bury, true, 0},
		{"old, at the last claim", decided{Bury, 0}, 0, 11 * minute, minute, Bury, false, 0},
		{"young, from the failure", decided{Nack, minute}, Finished, 8*minute - 1, minute, Nack, false, minute},
		{"old, from the failure", decided{Nack, minute}, Finished, 8 * minute, minute, Bury, true, 0},
		{"young, from the claim", decided{Nack, 2 * minute}, Leased, 8*minute - 1, minute, Nack, false, 2 * minute},
		{"old, from the claim", decided{Nack, 2 * minute}, Leased, 8 * minute, minute, Bury, true, 0},
		{"young, when the delay is over", decided{Nack, minute}, Leased, 8 * minute, 2*minute - 1, Nack, false, minute},
		{"old, when the delay is over", decided{Nack, minute}, Leased, 8 * minute, 2 * minute, Bury, true, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := Engine{cfg: Config{Kinds: []KindConfig{{Retry: tt.retry, From: tt.from, Deadline: 10 * minute}}}, now: Time(time.Hour)}
			l, o := Lease{Job: Job{Age: tt.age}}, Outcome{}
			e.outcome(&o, &l, FirstErrorKind, e.now.Add(-tt.ran))
			if o.Verb != tt.want || o.Aged != tt.aged || o.Delay != tt.delayed || tt.aged && o.due != 0 {
				t.Errorf("got %v after %v, aged: %v, want %v after %v, %v", o.Verb, o.Delay, o.Aged, tt.want, tt.delayed, tt.aged)
			}
		})
	}
}

// TestDeadlineOfTheRecovered recovers jobs that are ready again at once, whatever the delay of a retry: those that are
// 10 min old then are buried.
func TestDeadlineOfTheRecovered(t *testing.T) {
	for age, want := range map[time.Duration]Verb{10*time.Minute - 1: Redo, 10 * time.Minute: Bury} {
		e := Engine{cfg: Config{Kinds: []KindConfig{{Retry: decided{Nack, time.Minute}, Deadline: 10 * time.Minute}}, Reaper: ReaperConfig{After: Redo}}}
		l, o := Lease{Job: Job{Age: age}}, Outcome{slot: noSlot}
		if e.outcome(&o, &l, LeaseExpired, e.now); o.Verb != want || o.Aged != (want == Bury) {
			t.Errorf("%v old: %v, aged: %v, want %v", age, o.Verb, o.Aged, want)
		}
	}
}

// TestKeysOfAHeartbeatStay sends a heartbeat that gets no answer in time and then another: the first still names its
// leases, as it may be on its way, and a late answer to it is understood although the driver used the record again.
func TestKeysOfAHeartbeatStay(t *testing.T) {
	driver := &Asked{}
	e := New(Config{Workers: 2, Fetch: FetchConfig{Batch: 1, Poll: time.Hour}, Commit: CommitConfig{Batch: 1, Calls: 1, Timeout: time.Hour},
		Lease: LeaseConfig{TTL: time.Hour, Heartbeat: 10 * time.Second}, Reaper: ReaperConfig{Off: true}, CallTimeout: time.Second,
		Kinds: []KindConfig{{Retry: burying{}}}, Policy: oldest{}}, driver, 0)
	var beats []*Call
	sort := func(now Time, next *Lease) {
		for _, c := range driver.Take() {
			switch {
			case c.Op == OpExtend:
				beats = append(beats, c)
			case c.Op == OpClaim && next != nil:
				c.Err, c.Leases = nil, []Lease{*next}
				e.Handle(now, c)
			}
		}
	}
	seven, eight := delivered(7, 1), delivered(8, 1)
	e.Tick(0)
	sort(0, &seven)
	e.Wake(Time(4 * time.Second))
	sort(Time(4*time.Second), &eight)
	for now := e.Deadline(); now < Time(15*time.Second); now = e.Deadline() {
		e.Tick(now)
		sort(now, nil)
	}
	if len(beats) != 2 || len(beats[0].Keys) != 1 || beats[0].Keys[0] != seven.Key() || beats[1].Keys[0] != eight.Key() {
		t.Fatalf("heartbeats %+v, want one of job 7 and then one of job 8", beats)
	}
	beats[1].Keys[0] = LeaseKey{Job: 99} // the record is the driver's: what it does with it is not seen
	beats[1].Err, beats[1].Extensions = nil, []Status{Stale}
	now := e.Deadline() - 1
	e.Handle(now, beats[1])
	if len(driver.Cancels) != 1 || driver.Cancels[0] != driver.Starts[1] {
		t.Errorf("told to stop: %v, want the handler of job 8 in slot %d", driver.Cancels, driver.Starts[1])
	}
}

// TestLateAnswerTwice delivers an answer twice that came too late, with a job that the claim shed: the lease in it is
// handed back once, and the answer stays as it is.
func TestLateAnswerTwice(t *testing.T) {
	driver := &Asked{}
	e := New(Config{Workers: 2, Fetch: FetchConfig{Batch: 2, Poll: time.Hour, ErrorPause: time.Hour}, Commit: CommitConfig{Batch: 1, Calls: 4, Timeout: time.Hour},
		Lease: LeaseConfig{TTL: time.Hour}, Reaper: ReaperConfig{Off: true}, CallTimeout: time.Second, Kinds: []KindConfig{{Retry: burying{}}}, Policy: oldest{}}, driver, 0)
	e.Tick(0)
	claim := driver.Take()[0]
	e.Tick(Time(time.Second))
	driver.Take()
	shed, seven := Lease{Job: Job{ID: 9}, Shed: true}, delivered(7, 1)
	answer := []Lease{shed, seven}
	var returned []LeaseKey
	for now := Time(2 * time.Second); now < Time(4*time.Second); now += Time(time.Second) {
		claim.Err, claim.Leases = nil, answer
		e.Handle(now, claim)
		e.Tick(now)
		for _, c := range driver.Take() {
			if c.Op == OpCommit {
				for _, o := range c.Batch.Outcomes {
					returned = append(returned, o.LeaseKey)
				}
			}
		}
	}
	if !slices.Equal(returned, []LeaseKey{seven.Key()}) {
		t.Errorf("handed back %v, want %v", returned, seven.Key())
	}
	if answer[0].Key() != shed.Key() || answer[1].Key() != seven.Key() {
		t.Errorf("the answer became %v", answer)
	}
}
