package world

import (
	"math/big"
	"math/bits"
	"reflect"
	"strings"
	"time"

	"qsim/engine"
	"qsim/engine/quantity"
)

// Speed is the ratio of scenario time to wall-clock time: Num/Den, both in [1, 10^6]. The zero Speed is not valid.
type Speed struct{ Num, Den int64 }

// mostSpeed is the largest Speed; its inverse is the smallest.
const mostSpeed = 1_000_000

// UnmarshalText parses a speed such as 20x, 7.5x or 0.5x.
func (s *Speed) UnmarshalText(text []byte) error {
	body, found := strings.CutSuffix(strings.TrimSpace(string(text)), "x")
	if !found {
		body, found = strings.CutSuffix(body, "×")
	}
	if !found && quantity.IsNumber(body) {
		return quantity.Errorf("speed %s has no unit: write %[1]sx", quantity.Quote(string(text)))
	}
	value, ok := quantity.ParseNumber(body)
	if !found || !ok || strings.ContainsAny(body, "kM") {
		return quantity.Errorf("bad speed %s: want how many times as fast as the scenario, such as 20x or 0.5x",
			quantity.Quote(string(text)))
	}
	limit := big.NewRat(mostSpeed, 1)
	if value.Sign() <= 0 || value.Cmp(limit) > 0 || value.Cmp(new(big.Rat).Inv(limit)) < 0 {
		return quantity.Errorf("speed %s is out of range: want 0.000001x to %dx", quantity.Quote(string(text)), mostSpeed)
	}
	if !value.IsInt() && (value.Num().Cmp(limit.Num()) > 0 || value.Denom().Cmp(limit.Num()) > 0) {
		return quantity.Errorf("speed %s has too many digits", quantity.Quote(string(text)))
	}
	*s = Speed{value.Num().Int64(), value.Denom().Int64()}
	return nil
}

// String returns the speed in the form that UnmarshalText parses.
func (s Speed) String() string { return quantity.Decimal(big.NewRat(s.Num, s.Den), 18) + "x" }

// Float returns the speed as a number: seconds of the scenario in one second of the wall clock.
func (s Speed) Float() float64 { return float64(s.Num) / float64(s.Den) }

// Real converts a duration of the scenario to the wall clock, rounded to a nanosecond, but to 0 only if it is 0.
// Forever and negative durations, which have special meanings, stay as they are.
func (s Speed) Real(d time.Duration) time.Duration {
	if d <= 0 || d == engine.Forever {
		return d
	}
	return max(1, ratioOf(d, s.Den, s.Num))
}

// Virtual converts a duration of the wall clock to the scenario's time, to the nearest nanosecond.
func (s Speed) Virtual(d time.Duration) time.Duration {
	if d == engine.Forever {
		return d
	}
	if d < 0 {
		return -ratioOf(-d, s.Num, s.Den)
	}
	return ratioOf(d, s.Num, s.Den)
}

// At returns the time of the scenario at a reading of the wall clock.
func (s Speed) At(t engine.Time) engine.Time { return engine.Time(s.Virtual(time.Duration(t))) }

// ratioOf returns d × num / den to the nearest whole number, at most the longest finite duration. d is at least 0.
func ratioOf(d time.Duration, num, den int64) time.Duration {
	hi, lo := bits.Mul64(uint64(d), uint64(num))
	lo, carry := bits.Add64(lo, uint64(den)/2, 0)
	if hi += carry; hi >= uint64(den) {
		return engine.Forever - 1
	}
	quotient, _ := bits.Div64(hi, lo, uint64(den))
	return time.Duration(min(quotient, uint64(engine.Forever-1)))
}

// A wall-clock run converts what it gives to engines and store, and its events. A scaled clock with a store around the
// store takes no less code: it wraps nine methods, copies every batch, which the engine may send again, and keeps apart
// stores that lack TwoStep, Announcer or Registry; the driver must convert its timer, its contexts and the limits of a
// stop; store options and the delays measured for prediction stay. Nor could a simulation prove it, as TestSpeedIsExact
// proves this to the nanosecond, since it does not use the wall clock's driver.

// onWall returns a configuration of the engine or of a store with every duration in it converted to the wall clock:
// those of its structs and slices, those that functions draw, and the delays of retry policies, which decide in
// scenario time. Slices are copied. A pointer or another interface is kept: what it holds is not converted.
func onWall[T any](s Speed, configuration T) T {
	s.convert(reflect.ValueOf(&configuration).Elem(), s.Real)
	return configuration
}

// convert replaces every duration in v, as onWall describes, by the result of the function to.
func (s Speed) convert(v reflect.Value, to func(d time.Duration) time.Duration) {
	switch x := v.Addr().Interface().(type) {
	case *time.Duration:
		*x = to(*x)
		return
	case *func(u float64) time.Duration:
		if usual := *x; usual != nil {
			*x = func(u float64) time.Duration { return to(usual(u)) }
		}
		return
	case *engine.RetryPolicy:
		*x = fastRetry{*x, s}
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Field(i); field.CanSet() {
				s.convert(field, to)
			}
		}
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice {
			own := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(own, v)
			v.Set(own)
		}
		for i := range v.Len() {
			s.convert(v.Index(i), to)
		}
	}
}

// fastRetry is a retry policy of a scenario in an engine that runs speed times as fast: it converts times to the
// scenario's before each decision, and the decided delay back.
type fastRetry struct {
	engine.RetryPolicy
	speed Speed
}

// Next returns the retry policy's decision after a failure, with its delay on the wall clock.
func (r fastRetry) Next(j *engine.Job, e engine.ErrorKind, u float64) (engine.Verb, time.Duration) {
	slow := *j
	slow.Age, slow.Waited, slow.LastDelay = r.speed.Virtual(j.Age), r.speed.Virtual(j.Waited), r.speed.Virtual(j.LastDelay)
	verb, delay := r.RetryPolicy.Next(&slow, e, u)
	return verb, r.speed.Real(delay)
}

// fastPolicy is a policy of a scenario in an engine that runs speed times as fast: the policy sees times of the
// scenario, and times in its plans are converted to those of the engine.
type fastPolicy struct {
	engine.Policy
	speed Speed
	view  engine.View
	seen  engine.Observation
	rules map[*engine.Rule]*engine.Rule // converted rules, kept since a rule must not change once a plan has used it
}

func (p *fastPolicy) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	p.view = *v
	p.view.Now = p.speed.At(v.Now)
	for class, oldest := range v.Store.OldestReady {
		p.view.Store.OldestReady[class] = p.speed.Virtual(oldest)
	}
	if v.StatsAge > 0 {
		p.view.StatsAge = p.speed.Virtual(v.StatsAge)
	}
	first := len(dst)
	dst = p.Policy.Plan(&p.view, dst)
	for i := first; i < len(dst); i++ {
		t := &dst[i]
		t.MaxWait = p.speed.Real(t.MaxWait)
		if t.Rule != nil {
			t.Rule = p.rule(t.Rule)
		}
	}
	return dst
}

// rule returns a copy of a claim rule (parameters of a claim order) with its times converted to the wall clock.
func (p *fastPolicy) rule(r *engine.Rule) *engine.Rule {
	fast := p.rules[r]
	if fast == nil {
		own := onWall(p.speed, *r)
		if !r.PerJob {
			own.Quantum = int64(p.speed.Real(time.Duration(r.Quantum)))
		}
		fast = &own
		p.rules[r] = fast
	}
	return fast
}

func (p *fastPolicy) Observe(o *engine.Observation) {
	p.seen = *o
	p.seen.Now = p.speed.At(o.Now)
	p.Policy.Observe(&p.seen)
}
