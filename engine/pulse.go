package engine

import (
	"time"

	"qsim/engine/keyed"
)

// pulse is one of the periodic timers of a process. Its first pause is a part of its period, drawn for the process and
// the timer, so that processes started together do not stay in step.
type pulse struct {
	timer uint16 // number of the timer, one of the constants below
	begun bool   // the first pause has begun
	beats uint64 // number of period lengths drawn so far
}

// promotes and the constants below number the periodic timers of a process, for their random draws.
const (
	promotes uint16 = iota
	polls
	recovers
	beats
	countsRows
	elects // timer of leader election, plus the role
)

// shortestTick is the least pause of a timer whose pauses are drawn from a distribution, which may reach down to 0.
const shortestTick = time.Millisecond

// pause returns the time to a timer's next tick: the period every or, if draw is not nil, one by that function, but at
// least a millisecond, or every if that is less; at first a part of it.
func (p *pulse) pause(cfg *Config, every time.Duration, draw func(u float64) time.Duration) time.Duration {
	d := every
	if draw != nil {
		p.beats++
		u := cfg.Rand.Uniform(keyed.ForTick, uint64(cfg.Engine), p.beats, p.timer)
		d = max(draw(u), min(every, shortestTick))
	}
	if p.begun {
		return d
	}
	p.begun = true
	if cfg.InStep {
		return d
	}
	return time.Duration(cfg.Rand.Uniform(keyed.ForTick, uint64(cfg.Engine), 0, p.timer) * float64(d))
}
