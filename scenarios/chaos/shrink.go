package chaos

import (
	"slices"
	"strings"
	"time"

	"qsim/engine"
)

// What a shrinker spends at the most.
const (
	mostTries  = 1500       // worlds
	mostEvents = 20_000_000 // in all of them
)

// shrinker looks for a smaller world that fails alike.
type shrinker struct {
	runner *runner
	twice  bool
	want   Report
	best   *World
	report Report // of best
	tries  int
	events int64
	stop   func() bool // nil: never
}

// shrink returns the smallest world that it finds which fails as w does, and its report:
// fewer troubles, jobs, nodes and workers, less that is not as usual, a shorter run.
func (r *runner) shrink(w *World, failed Report, twice bool, stop func() bool) (*World, Report) {
	s := &shrinker{runner: r, twice: twice, want: failed, best: w, report: failed, stop: stop}
	for before := ""; before != s.best.String() && !s.over(); {
		before = s.best.String()
		s.dropFaults()
		s.dropJobs()
		s.shorten()
		s.fewer(func(w *World) *int { return &w.Nodes })
		s.fewer(func(w *World) *int { return &w.Engine.Workers })
		s.dropWords()
	}
	return s.best, s.report
}

func (s *shrinker) over() bool {
	return s.tries >= mostTries || s.events >= mostEvents || s.stop != nil && s.stop()
}

// try takes the world of a text for the best if it fails alike.
func (s *shrinker) try(text string) bool {
	if s.over() {
		return false
	}
	w, err := Parse(text)
	if err != nil {
		return false
	}
	s.tries++
	report := s.runner.run(w, s.twice)
	s.events += report.Events
	if !report.Failed() || !report.same(&s.want) {
		return false
	}
	s.best, s.report = w, report
	return true
}

// change tries the best world as f changes it.
func (s *shrinker) change(f func(w *World)) bool {
	w, err := Parse(s.best.String())
	if err != nil {
		return false
	}
	f(w)
	return s.try(w.String())
}

// dropFaults tries to do without troubles: all, then halves, then single ones.
func (s *shrinker) dropFaults() {
	without(len(s.best.Faults), func(from, to int) bool {
		return s.change(func(w *World) { w.Faults = slices.Delete(w.Faults, from, to) })
	})
}

// without tries to remove stretches of n things, long ones first. remove says whether it
// could: those behind have moved up then.
func without(n int, remove func(from, to int) bool) {
	for size := n; size >= 1; size /= 2 {
		for from := 0; from < n; {
			to := min(n, from+size)
			if remove(from, to) {
				n -= to - from
			} else {
				from = to
			}
		}
	}
}

// dropJobs tries to keep jobs away.
func (s *shrinker) dropJobs() {
	ids := s.best.ids()
	if b := s.report.Breach; b != nil && b.Job != 0 && len(ids) > 1 {
		s.change(func(w *World) { w.Load.Only = []engine.JobID{b.Job} })
		ids = s.best.ids()
	}
	without(len(ids), func(from, to int) bool {
		left := slices.Delete(slices.Clone(ids), from, to)
		if len(left) == 0 || !s.change(func(w *World) { w.Load.Only = left }) {
			return false
		}
		ids = left
		return true
	})
}

// ids are the jobs that come.
func (w *World) ids() []engine.JobID {
	if w.Load.Only != nil {
		return w.Load.Only
	}
	var ids []engine.JobID
	for i := range w.Load.Jobs {
		ids = append(ids, engine.JobID(i+1))
	}
	for i := range w.Faults {
		if f := &w.Faults[i]; f.Kind == Burst {
			for n := range f.Count * max(1, f.Times) {
				ids = append(ids, f.ID+engine.JobID(n))
			}
		}
	}
	slices.Sort(ids)
	return ids
}

// fewer tries smaller counts.
func (s *shrinker) fewer(of func(w *World) *int) {
	for n := 1; n < *of(s.best); n++ {
		done := s.change(func(w *World) {
			*of(w) = n
			for i := range w.Faults {
				w.Faults[i].Node = min(w.Faults[i].Node, int32(w.Nodes-1))
			}
		})
		if done {
			return
		}
	}
}

// dropWords tries to leave everything as usual that is not.
func (s *shrinker) dropWords() {
	lines := strings.Split(strings.TrimSpace(s.best.String()), "\n")
	for i := range lines {
		words := strings.Fields(lines[i])
		fixed := 1 // the first word says what the line is about
		if words[0] == "fault" || words[0] == "policy" {
			fixed = 2
		}
		for k := len(words) - 1; k >= fixed; k-- {
			if strings.HasPrefix(words[k], "only=") {
				continue // without it, all jobs come
			}
			without := slices.Delete(slices.Clone(words), k, k+1)
			kept := lines[i]
			if lines[i] = strings.Join(without, " "); s.try(strings.Join(lines, "\n")) {
				words = without
			} else {
				lines[i] = kept
			}
		}
	}
}

// shorten tries earlier ends.
func (s *shrinker) shorten() {
	last := time.Duration(0)
	for i := range s.best.Faults {
		last = max(last, s.best.Faults[i].last())
	}
	for _, heal := range []time.Duration{0, last, s.report.At.Sub(0) + time.Second} {
		if heal < s.best.Heal && s.change(func(w *World) { w.Heal = heal.Round(time.Millisecond) }) {
			return
		}
	}
}
