package pgstore

import (
	"testing"
	"time"

	"qsim/engine"
)

// TestNews merges notifications about jobs due at several times before they are sent: the earliest due time is
// announced, whatever their order, and also that jobs are ready.
func TestNews(t *testing.T) {
	soon := time.Now().Add(time.Minute)
	later, latest := soon.Add(time.Hour), soon.Add(2*time.Hour)
	for _, tt := range []struct {
		name  string
		due   []time.Time
		ready int // index of the notification with ready jobs; -1: none
		want  time.Time
	}{
		{"one", []time.Time{later}, -1, later},
		{"the earlier comes second", []time.Time{later, soon}, -1, soon},
		{"the earlier comes first", []time.Time{soon, later}, -1, soon},
		{"in the midst", []time.Time{later, soon, latest}, -1, soon},
		{"ready, then due", []time.Time{{}, later, soon}, 0, soon},
		{"due, then ready", []time.Time{later, soon, {}}, 2, soon},
		{"ready alone", []time.Time{{}}, 0, time.Time{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var n news
			n.waiting = make(chan struct{}, 1)
			for i, due := range tt.due {
				n.add(map[bool]int{true: 2}[i == tt.ready], due)
			}
			if ready, due := n.take(); ready != map[bool]int{true: 2}[tt.ready >= 0] || !due.Equal(tt.want) {
				t.Errorf("ready %v, due in %v; want %v, in %v", ready, time.Until(due), tt.ready >= 0, time.Until(tt.want))
			}
			if ready, due := n.take(); ready != 0 || !due.IsZero() {
				t.Errorf("taken twice: ready %v, due %v", ready, due)
			}
		})
	}
}

// TestWakeAfter announces for a batch the time at which its first job will be ready, wherever that is in the batch,
// counting only applied outcomes.
func TestWakeAfter(t *testing.T) {
	after := func(delay time.Duration) engine.Outcome { return engine.Outcome{Verb: engine.Nack, Delay: delay} }
	const soon, later = time.Hour, 2 * time.Hour
	for _, tt := range []struct {
		name     string
		outcomes []engine.Outcome
		stale    int // index of the stale outcome; -1: none
		freed    int // number of serial keys
		ready    int
		due      time.Duration // time until the first job is due; 0: none is
	}{
		{"the shortest first", []engine.Outcome{after(soon), after(later)}, -1, 0, 0, soon},
		{"the shortest last", []engine.Outcome{after(later), after(soon)}, -1, 0, 0, soon},
		{"the shortest is stale", []engine.Outcome{after(soon), after(later)}, 0, 0, 0, later},
		{"two go back, one is done", []engine.Outcome{after(soon), {Verb: engine.Return}, {Verb: engine.Ack}, {Verb: engine.Return}}, -1, 3, 5, soon},
		{"due before the answer", []engine.Outcome{after(0), after(soon), after(time.Second)}, -1, 0, 2, soon},
		{"done", []engine.Outcome{{Verb: engine.Ack}}, -1, 0, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var s Store
			s.news.waiting = make(chan struct{}, 1)
			results := make([]engine.Result, len(tt.outcomes))
			for i := range results {
				results[i].Status = engine.Applied
				if i == tt.stale {
					results[i].Status = engine.Stale
				}
			}
			from := time.Now()
			s.wakeAfter(tt.outcomes, results, tt.freed, time.Second)
			ready, due := s.news.take()
			if ready != tt.ready || due.IsZero() != (tt.due == 0) {
				t.Errorf("ready %v, due at %v; want %v, after %v", ready, due, tt.ready, tt.due)
			}
			if tt.due > 0 && (due.Before(from.Add(tt.due)) || due.After(time.Now().Add(tt.due))) {
				t.Errorf("due after %v, want %v", due.Sub(from), tt.due)
			}
		})
	}
}
