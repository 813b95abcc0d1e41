package policies

import (
	"fmt"

	"qsim/engine"
	"qsim/engine/bound"
)

var _ = builtIn(Kind{
	rank: 110, Name: "aimd", Needs: NeedsRetries, Cost: CostJobs, State: StateNode, Drawn: Drawn{Weight: 1},
	Doc: "As inflight-cap, with a cap in each node that starts at max, falls to nine tenths at every retry that " +
		"fails and rises by one whenever as many retries as the cap have succeeded.",
	Params: []Param{
		{Name: "min", Type: TypeCountOrShare, Default: "1", Positive: true,
			Doc: "lowest cap: a count of at least 1, or a share of the workers of a node"},
		{Name: "max", Type: TypeCountOrShare, Default: "100%", Doc: "highest cap"},
	},
	New: func(a Arguments) (engine.Policy, error) {
		p := &AIMD{Min: a.OfWorkers("min"), Max: a.OfWorkers("max")}
		if p.Max < p.Min {
			return nil, fmt.Errorf("max: %v is less than min, %v, of %d workers", a.Value("max"), a.Value("min"), a.Workers)
		}
		return p, nil
	},
})

// AIMD is the policy aimd, a cap on retries in flight with additive increase and multiplicative decrease: each retry
// that fails cuts it to nine tenths, and it rises by one whenever as many retries as the cap have succeeded. An outage
// brings it down within a few dozen failures; a steady share p of failing retries holds it near √(10(1−p)/p). Fresh
// jobs do not move it. Each engine has a cap of its own: divide Min and Max for a fleet by the number of engines.
type AIMD struct {
	Min int // smallest cap: at least 1
	Max int // largest cap: at least Min

	cap       int64 // current cap in units of 1 ÷ capUnit retries; 0: not set yet
	successes int64 // retries that succeeded since the cap last rose
}

// capUnit is the scale of AIMD.cap, a fixed-point number: thousandths of a retry, so that it can be cut to nine tenths.
const capUnit = 1000

// Plan appends terms (parts of a claim) for any jobs, but for retries only up to the present cap on those in flight.
func (p *AIMD) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	p.begin()
	return capped(dst, v.Idle, int(p.cap/capUnit)-v.InFlight[engine.Retry])
}

// Observe raises the cap on retries in flight once enough retries have succeeded, and lowers it after each that fails.
func (p *AIMD) Observe(o *engine.Observation) {
	p.begin()
	if o.Class != engine.Retry {
		return
	}
	switch {
	case o.Succeeded():
		p.successes++
		if p.successes*capUnit >= p.cap {
			p.successes = 0
			p.cap = min(p.cap+capUnit, int64(p.Max)*capUnit)
		}
	case o.Failed():
		p.cap = max(p.cap*9/10, int64(p.Min)*capUnit)
	}
}

func (p *AIMD) begin() {
	if p.cap == 0 {
		p.cap = int64(p.Max) * capUnit
	}
}

// Guarantees declares for the invariant checker: the cap on retries in flight starts at Max, falls to nine tenths at
// every retry that fails, rises by one when as many as the cap have succeeded, and stays within Min and Max. Recorded
// events show Max, and how far failures lower the cap; a Law (plan checker) verifies how it rises again.
func (p *AIMD) Guarantees() Promise {
	var brakes []bound.Brake
	most, thousandths := p.Max, 1000*int64(p.Max)
	for failures := 1; most > p.Min; failures++ {
		thousandths -= thousandths / 10
		if half := max(p.Min, most/2); thousandths <= 1000*int64(half) { // it has fallen by half once more
			most = half
			brakes = append(brakes, bound.Brake{Class: engine.Retry, Failures: failures, AtOnce: most})
		}
	}
	return Promise{Capped: true, Cap: p.Max, Brakes: brakes, Law: func() Law {
		thousandths, succeeded := 1000*int64(p.Max), int64(0)
		return ration(func(v *engine.View) (least, most int64) {
			most = thousandths/1000 - int64(v.InFlight[engine.Retry])
			return most, most
		}, func(o *engine.Observation) {
			switch {
			case !o.Ended || o.Class == engine.Fresh:
			case o.Error != engine.NoError:
				thousandths = max(1000*int64(p.Min), thousandths-(thousandths+9)/10)
			default:
				if succeeded++; 1000*succeeded >= thousandths {
					thousandths, succeeded = min(1000*int64(p.Max), thousandths+1000), 0
				}
			}
		})
	}}
}
