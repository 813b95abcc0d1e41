package world

import (
	"reflect"
	"testing"

	"qsim/engine"
	"qsim/engine/sim"
	"qsim/scenarios"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// onlyEvents is a recorder that passes on events alone, without the methods of a JobRecorder, and digests them.
type onlyEvents struct {
	next   engine.Recorder
	digest sim.Digest
}

func (o *onlyEvents) Record(e *engine.Event) {
	o.digest.Add(e)
	o.next.Record(e)
}

// TestEventsTellTheSame runs scenarios with every kind of storm twice: once the collector gets the
// methods of a JobRecorder, once events. Both must give the same results, and the fingerprint must
// be that of the events.
func TestEventsTellTheSame(t *testing.T) {
	for _, tt := range []struct {
		name     string
		duration string
	}{
		{"retry-storm", "12m"}, {"lease-records-evicted", ""}, {"noisy-tenant-before-quiet", "2m"}, {"leaseq", ""}, {"jobqueue", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sets := []scenarios.Override{{Path: "seeds", Value: "1"}}
			if tt.duration != "" {
				sets = append(sets, scenarios.Override{Path: "duration", Value: tt.duration})
			}
			file, src, err := scenarios.Open(tt.name)
			if err != nil {
				t.Fatal(err)
			}
			sc, problems := scenarios.Load(file, src, sets)
			if sc == nil {
				t.Fatal(problems)
			}
			direct, err := Run(t.Context(), sc, Options{})
			if err != nil {
				t.Fatal(err)
			}
			var watched *onlyEvents
			byEvents, err := Run(t.Context(), sc, Options{Parallel: 1, Alter: func(policy int, seed uint64, cfg *sim.Config) {
				watch := &onlyEvents{next: cfg.Recorder}
				if cfg.Recorder = watch; policy == 0 && watched == nil {
					watched = watch
				}
			}})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(direct, byEvents, cmpopts.EquateNaNs(), cmp.Exporter(func(reflect.Type) bool { return true })); d != "" {
				t.Errorf("(-by methods +by events):\n%s", d)
			}
			if uint64(watched.digest) != direct[0].Fingerprint {
				t.Errorf("fingerprint %016x, that of the events is %016x", direct[0].Fingerprint, uint64(watched.digest))
			}
		})
	}
}
