package chaos

import (
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/sim"
)

// TestNewLeaderLooks checks the invariant that an engine which becomes leader asks for expired leases at once, unless
// its latest call for them is still under way.
func TestNewLeaderLooks(t *testing.T) {
	const ms = engine.Time(time.Millisecond)
	lines := "engine.reaper.owner: leader\nengine.store: {extend: 10ms, recover: 50ms}\n"
	tests := []struct {
		name    string
		looked  engine.Time // time of its latest call to recover, whose answer takes 60 ms
		answers bool        // that answer arrives
		again   bool        // it asks to lead again, before the answer that makes it the leader
		breaks  bool
	}{
		{"it looked long ago", 6000 * ms, true, false, true},
		{"it looked long ago, and asks again", 6000 * ms, true, true, true},
		{"its call for them timed out", 6000 * ms, false, false, true},
		{"it has just looked", 7900 * ms, true, false, true},
		{"it is looking", 7990 * ms, true, false, false},
		{"it is looking, and asks again", 7990 * ms, true, true, false},
		{"it looks, and will hear nothing", 7900 * ms, false, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := with(t, base, lines).setup()
			if err != nil {
				t.Fatal(err)
			}
			checker := s.listen()
			s.sim = sim.New(s.config)
			network, process := s.config.Network, engine.NewEngineID(0, 1)
			send := func(at engine.Time, answers bool, c engine.Call) {
				c.Engine = process
				if network.Request(at, &c); answers {
					network.Reply(at+10*ms, &c, &engine.Reply{Leading: true}, nil)
				}
			}
			send(5000*ms, true, engine.Call{ID: 1, Op: engine.OpLead, Role: engine.OpRecover}) // from 5.02 s to 8 s
			send(5020*ms, true, engine.Call{ID: 2, Op: engine.OpRecover})
			send(tt.looked, tt.answers, engine.Call{ID: 3, Op: engine.OpRecover})
			send(7995*ms, true, engine.Call{ID: 4, Op: engine.OpLead, Role: engine.OpRecover}) // from 8.015 s on
			if tt.again {
				send(8000*ms, false, engine.Call{ID: 5, Op: engine.OpLead, Role: engine.OpRecover})
			}
			send(8500*ms, false, engine.Call{ID: 6, Op: engine.OpStats})
			if b := checker.Breach(); (b != nil) != tt.breaks {
				t.Errorf("got breach %v, want one: %v", b, tt.breaks)
			}
		})
	}
}
