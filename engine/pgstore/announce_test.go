package pgstore

import (
	"testing"
	"time"
)

// TestNews leaves word of jobs that are due at several times before it is sent: what is announced is the earliest of
// them, in whichever order they came, and that jobs are ready stays said beside it.
func TestNews(t *testing.T) {
	soon := time.Now().Add(time.Minute)
	later, latest := soon.Add(time.Hour), soon.Add(2*time.Hour)
	for _, tt := range []struct {
		name  string
		due   []time.Time
		ready int // which of them comes with jobs that are ready; -1: none
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
			n.init()
			for i, due := range tt.due {
				n.add(i == tt.ready, due)
			}
			if ready, due := n.take(); ready != (tt.ready >= 0) || !due.Equal(tt.want) {
				t.Errorf("ready %v, due in %v; want %v, in %v", ready, time.Until(due), tt.ready >= 0, time.Until(tt.want))
			}
			if ready, due := n.take(); ready || !due.IsZero() {
				t.Errorf("taken twice: ready %v, due %v", ready, due)
			}
		})
	}
}
