package engine_test

import (
	"runtime"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/sim"
)

// keeper is a Recorder of events that it takes many at a time.
type keeper struct {
	events
	pass func()
}

func (k *keeper) Take(events []engine.Event) { k.events = append(k.events, events...) }

func (k *keeper) Await(pass func()) { k.pass = pass }

// TestRecordJobsAsEvents passes every call of a JobRecorder to a Recorder of events, and compares
// the digest of each event with that which a simulation computes from its source.
func TestRecordJobsAsEvents(t *testing.T) {
	lease := engine.Lease{Job: engine.Job{ID: 1 << 40, Kind: 300, Tenant: 1 << 30, Delivery: 1 << 20, Waited: time.Hour, Age: 9 * time.Hour},
		Token: 1 << 50, Ref: 7, Holder: engine.NewEngineID(3, 4)}
	early := lease
	early.Waited, early.Delivery = -time.Second, 1
	outcome := engine.Outcome{LeaseKey: lease.Key(), Verb: engine.Nack, Error: 400, Kind: 300, Tenant: 1 << 30, Delivery: 2, Delay: time.Minute}
	result := engine.Result{Status: engine.Applied, From: engine.InFlight, Class: engine.Retry, Age: time.Hour}
	job := engine.NewJob{ID: 1 << 40, Kind: 300, Tenant: 1 << 30, Delay: time.Minute}
	promotion := engine.Promotion{Job: 1 << 40, Kind: 300, Tenant: 1 << 30, Class: engine.Retry}
	for _, tt := range []struct {
		name   string
		record func(r engine.JobRecorder)
		want   engine.Event
	}{
		{"called", func(r engine.JobRecorder) { r.Called(9, 5, engine.OpExtend, 11) },
			engine.Event{At: 9, Kind: engine.Called, Node: 5, Op: engine.OpExtend, Count: 11}},
		{"enqueued", func(r engine.JobRecorder) { r.Enqueued(9, &job) },
			engine.Event{At: 9, Kind: engine.Enqueued, Node: -1, Job: 1 << 40, JobKind: 300, Tenant: 1 << 30, Delay: time.Minute}},
		{"promoted", func(r engine.JobRecorder) { r.Promoted(9, -1, &promotion) },
			engine.Event{At: 9, Kind: engine.Promoted, Node: -1, Job: 1 << 40, JobKind: 300, Tenant: 1 << 30, Class: engine.Retry}},
		{"leased", func(r engine.JobRecorder) { r.Leased(9, 5, &lease) },
			engine.Event{At: 9, Kind: engine.Leased, Node: 5, Job: 1 << 40, JobKind: 300, Tenant: 1 << 30, Class: engine.Retry, Delivery: 1 << 20, Token: 1 << 50,
				Holder: engine.NewEngineID(3, 4), Waited: time.Hour, Age: 9 * time.Hour}},
		{"leased before it is due", func(r engine.JobRecorder) { r.Leased(9, 5, &early) },
			engine.Event{At: 9, Kind: engine.Leased, Node: 5, Job: 1 << 40, JobKind: 300, Tenant: 1 << 30, Delivery: 1, Token: 1 << 50,
				Holder: engine.NewEngineID(3, 4), Age: 9 * time.Hour}},
		{"started", func(r engine.JobRecorder) { r.Started(9, 5, 6, &lease, time.Second) },
			engine.Event{At: 9, Kind: engine.Started, Node: 5, Slot: 6, Job: 1 << 40, JobKind: 300, Tenant: 1 << 30, Class: engine.Retry, Delivery: 1 << 20, Token: 1 << 50,
				Waited: time.Second}},
		{"finished", func(r engine.JobRecorder) { r.Finished(9, 5, 6, &lease, 400, time.Second) },
			engine.Event{At: 9, Kind: engine.Finished, Node: 5, Slot: 6, Job: 1 << 40, JobKind: 300, Tenant: 1 << 30, Class: engine.Retry, Delivery: 1 << 20, Token: 1 << 50,
				Error: 400, Ran: time.Second}},
		{"committed", func(r engine.JobRecorder) { r.Committed(9, 5, engine.Nacked, &outcome, &result) },
			engine.Event{At: 9, Kind: engine.Nacked, Node: 5, Job: 1 << 40, JobKind: 300, Tenant: 1 << 30, Class: engine.Retry, Delivery: 2, Token: 1 << 50,
				From: engine.InFlight, Error: 400, Age: time.Hour, Delay: time.Minute}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var alone, beside events // recorders used alone, and together with a JobRecorder
			tt.record(engine.RecordJobs(&beside, engine.RecordJobs(nil, &alone)))
			tt.record(engine.RecordJobs(nil)) // nobody listens
			var own keeper
			many := engine.RecordJobs(&own)
			for n := range 513 {
				if tt.record(many); len(own.events) != (n+1)/512*512 {
					t.Errorf("%d events were passed on after %d", len(own.events), n+1)
				}
			}
			if own.pass(); len(own.events) != 513 || own.events[0] != tt.want || own.events[512] != tt.want {
				t.Errorf("%d events were passed on, want 513 of %+v", len(own.events), tt.want)
			}
			if len(alone) != 1 || alone[0] != tt.want || len(beside) != 1 || beside[0] != tt.want {
				t.Errorf("recorded %+v and %+v, want %+v", alone, beside, tt.want)
			}
			var passed events
			direct, folded := sim.Witness{Digest: 3, Next: engine.RecordJobs(&passed)}, sim.Digest(3)
			tt.record(&direct)
			if folded.Add(&tt.want); direct.Digest != folded || len(passed) != 1 || passed[0] != tt.want {
				t.Errorf("digest %016x, that of the event is %016x; passed on were %+v", uint64(direct.Digest), uint64(folded), passed)
			}
		})
	}
	engine.RecordJobs().Record(new(engine.Event))
}

// TestRecordJobsMemory gives a Recorder that takes events one by one memory for one event, not for many: every process
// with a recorder of its own has two such.
func TestRecordJobsMemory(t *testing.T) {
	var before, after runtime.MemStats
	var listens events
	const recorders = 100
	runtime.ReadMemStats(&before)
	for range recorders {
		engine.RecordJobs(&listens)
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / recorders; each > 1000 {
		t.Errorf("it takes %d bytes, want 1000 at the most", each)
	}
}
