package chaos

import (
	"math"
	"time"

	"qsim/engine"
	"qsim/engine/dist"
	"qsim/engine/sim"
)

// handlers decide how the executions of a world go. Every draw is keyed by (job,
// delivery), or by the job alone.
type handlers struct {
	w       *World
	rand    engine.Rand
	service dist.Dist
	running int
	windows []sim.Window // of the faults, by index

	begun, ended int
	met          []int64 // by index of a fault: the executions of which it made something else
}

func (w *World) handlers() (*handlers, error) {
	h := &handlers{w: w, rand: engine.Rand{Seed: w.Seed}}
	h.met = make([]int64, len(w.Faults))
	for i := range w.Faults {
		h.windows = append(h.windows, w.Faults[i].window())
	}
	var err error
	h.service, err = dist.LogNormalQuantiles(w.Work.P50.Seconds(), w.Work.P99.Seconds())
	return h, err
}

// Draws of one purpose and key are told apart by these numbers; those of fault i are
// above them.
const (
	drawRest = iota
	drawWhen
	drawsAtRest
)

func (h *handlers) happens(p float64, purpose engine.Purpose, j *engine.Job, delivery bool, n int) bool {
	d := uint64(0)
	if delivery {
		d = uint64(j.Delivery)
	}
	return p > 0 && h.rand.Uniform(purpose, uint64(j.ID), d, uint16(n)) < p
}

// Begin draws how an execution goes.
func (h *handlers) Begin(now engine.Time, _ int32, j *engine.Job) sim.Execution {
	w := &h.w.Work
	x := sim.Execution{IgnoresCancel: w.IgnoresCancel}
	x.Runs = min(w.Cap, h.service.Duration(h.rand.Uniform(engine.ForRunTime, uint64(j.ID), uint64(j.Delivery), 0)))
	fails := h.happens(w.Poison, engine.ForPoison, j, false, drawRest)
	kills := false
	if now < engine.Time(h.w.Heal) {
		fails = fails || h.happens(w.Fails, engine.ForFailure, j, true, drawRest)
		kills = h.happens(w.Kills, engine.ForKill, j, true, drawRest)
	}
	for i := range h.w.Faults {
		if f := &h.w.Faults[i]; !f.Kind.isControl() && h.windows[i].Has(now) {
			before := x
			nowFails, nowKills := h.befall(f, i, j, &x, fails, kills)
			if nowFails != fails || nowKills != kills || x != before {
				h.met[i]++
			}
			fails, kills = nowFails, nowKills
		}
	}
	if fails {
		x.Error = max(w.Error, engine.Timeout)
	}
	if kills {
		x.Kills = true
		x.Runs = scaled(x.Runs, h.rand.Uniform(engine.ForKill, uint64(j.ID), uint64(j.Delivery), drawWhen))
	}
	h.running++
	h.begun++
	return x
}

// befall is what fault i does to an execution that begins in its time.
func (h *handlers) befall(f *Fault, i int, j *engine.Job, x *sim.Execution, fails, kills bool) (bool, bool) {
	n := drawsAtRest + i
	switch f.Kind {
	case Fail:
		fails = fails || h.happens(f.Share, engine.ForFailure, j, true, n)
	case Overload:
		fails = fails || h.running >= f.Limit && h.happens(f.Share, engine.ForFailure, j, true, n)
	case Slow:
		x.Runs = scaled(x.Runs, f.Factor)
	case Hang:
		if h.happens(f.Share, engine.ForRunTime, j, true, n) {
			x.Runs, x.IgnoresCancel = x.Runs+f.Extra, true
		}
	case Kill:
		kills = kills || h.happens(f.Share, engine.ForKill, j, false, n)
	}
	return fails, kills
}

// End counts executions.
func (h *handlers) End(engine.Time, int32, *engine.Job, engine.ErrorKind, bool) {
	h.running--
	h.ended++
}

// scaled is factor times d, at most an hour.
func scaled(d time.Duration, factor float64) time.Duration {
	if x := float64(factor * float64(d)); x < float64(time.Hour) {
		return time.Duration(math.Round(x))
	}
	return time.Hour
}
