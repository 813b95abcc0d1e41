package sim

import (
	"testing"

	"qsim/engine"
)

// TestPatience bounds the events of one instant: 4096 of nothing, and eight for each job, lease, call, execution, worker
// and node, at each node and eight times more. A simulation that goes beyond that by eight events is endless, and so is
// one in which jobs are leased more than 4096 times each.
func TestPatience(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(s *Sim)
		most   int64
	}{
		{"two nodes", func(*Sim) {}, 4096 + 8*2*10},
		{"jobs that came and leases", func(s *Sim) { s.witness.moves = 3 }, 4096 + 8*5*10},
		{"jobs", func(s *Sim) { s.witness.live = 3 }, 4096 + 8*5*10},
		{"calls", func(s *Sim) { s.messages.used = 3 }, 4096 + 8*5*10},
		{"executions", func(s *Sim) { s.runs.used = 3 }, 4096 + 8*5*10},
		{"jobs on their way", func(s *Sim) { s.late.used = 3 }, 4096 + 8*5*10},
		{"workers", func(s *Sim) { s.cfg.Nodes[1].Workers = 3 }, 4096 + 8*5*10},
		{"five nodes", func(s *Sim) { s.cfg.Nodes, s.nodes = make([]engine.Config, 5), make([]node, 5) }, 4096 + 8*5*13},
		{"as many leases as there may be", func(s *Sim) { s.witness.moves, s.tally.enqueued = 4096*3, 2 }, 4096 + 8*(2+4096*3)*10},
		{"one lease more", func(s *Sim) { s.witness.moves, s.tally.enqueued = 4096*3+1, 2 }, 0},
	} {
		s := &Sim{cfg: Config{Nodes: make([]engine.Config, 2)}, nodes: make([]node, 2)}
		tt.change(s)
		events := int64(0)
		func() {
			defer func() {
				if e, ok := recover().(*Endless); !ok || e.Events != events || len(e.Last) != lastEvents {
					t.Errorf("%s: got %+v after %d events", tt.name, e, events)
				}
			}()
			for events < 1e6 { // as Step counts them
				if events++; events > s.tally.patience {
					s.tally.events = events
					s.linger()
				}
			}
		}()
		if events != tt.most+lastEvents {
			t.Errorf("%s: the clock stands still after %d events, want %d", tt.name, events, tt.most+lastEvents)
		}
	}
}
