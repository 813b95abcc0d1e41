package chaos

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"qsim/engine"
	"qsim/results/plain"
	"qsim/scenarios/spec"
)

// mostTries and mostEvents end the search for a smaller world that fails alike.
const (
	mostTries  = 1500       // worlds
	mostEvents = 20_000_000 // events of all simulations together
)

// shrinker searches for a smaller world that fails in the same way as a given one.
type shrinker struct {
	runner *runner
	twice  bool
	want   Report
	best   *World
	report Report // result of best
	tries  int
	events int64
	stop   func() bool // whether to stop shrinking; nil: never
}

// shrink returns the smallest world found that fails in the same way as w, with its report: it has fewer storms, jobs,
// nodes, workers and unusual settings. It removes lines of the text that Draw writes: each storm, class of jobs or
// other key has one. stop, if not nil, ends the search early.
func (r *runner) shrink(w *World, failed Report, twice bool, stop func() bool) (*World, Report) {
	s := &shrinker{runner: r, twice: twice, want: failed, best: w, report: failed, stop: stop}
	for before := ""; before != s.best.Text && !s.over(); {
		before = s.best.Text
		s.dropStorms()
		s.dropJobs()
		for i := range s.lines() {
			s.lower(i)
		}
		s.dropKeys()
	}
	return s.best, s.report
}

func (s *shrinker) over() bool {
	return s.tries >= mostTries || s.events >= mostEvents || s.stop != nil && s.stop()
}

// try runs the world with these lines of text and reports whether it fails like the original; if so it is the smallest.
func (s *shrinker) try(lines []string) bool {
	if s.over() {
		return false
	}
	var kept []string
	for i, line := range lines {
		if !strings.HasSuffix(line, ":") || i+1 < len(lines) && strings.HasPrefix(lines[i+1], " ") {
			kept = append(kept, line) // and no map without keys
		}
	}
	w, err := Parse("world", strings.Join(kept, "\n")+"\n")
	if err != nil || w.Text == s.best.Text {
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

func (s *shrinker) lines() []string { return strings.Split(strings.TrimSpace(s.best.Text), "\n") }

// entries returns the indexes of the lines that are elements of the list under a top-level key, such as storms.
func entries(lines []string, key string) (at []int) {
	within := false
	for i, line := range lines {
		if !strings.HasPrefix(line, " ") {
			within = line == key+":"
		} else if within {
			at = append(at, i)
		}
	}
	return at
}

// dropStorms removes storms that the smallest world does not need to fail: all at once, then halves, then single ones.
func (s *shrinker) dropStorms() {
	without(len(entries(s.lines(), "storms")), func(from, to int) bool {
		lines := s.lines()
		at := entries(lines, "storms")
		return s.try(slices.Delete(lines, at[from], at[to-1]+1))
	})
}

// without tries to remove as many of n elements as possible: it calls remove for ranges of them, long ranges first.
// remove reports whether the range could be removed; later elements have then moved up.
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

func (s *shrinker) dropJobs() {
	ids := s.best.arrivals()
	if b := s.report.Breach; b != nil && b.Job != 0 && slices.Contains(ids, b.Job) {
		if alone := []engine.JobID{b.Job}; s.try(s.only(alone)) {
			ids = alone
		}
	}
	without(len(ids), func(from, to int) bool {
		left := slices.Delete(slices.Clone(ids), from, to)
		if !s.try(s.only(left)) {
			return false
		}
		ids = left
		return true
	})
}

var (
	amount      = regexp.MustCompile(`^  (nodes|workers): (\d+)$|(count): (\d+)}`)
	arrivalOnly = regexp.MustCompile(`(, only: \[[0-9, ]*\])?(, stop: [0-9a-zµ.]+)(, only: \[[0-9, ]*\])?}`)
	nodeIndex   = regexp.MustCompile(`nodes: \[\d+\]`)
)

// arrivals returns the IDs of the jobs that arrive in a world, without those that bursts bring.
func (w *World) arrivals() (ids []engine.JobID) {
	s, err := w.setup()
	if err != nil {
		return nil
	}
	s.Jobs(func(_ engine.Time, j engine.NewJob) bool {
		if _, index := spec.Arrival(j.ID); index < 1<<spec.BurstShift {
			ids = append(ids, j.ID)
		}
		return true
	})
	return ids
}

// only returns the lines of the smallest failing world, changed so that of its arrivals only those with these IDs come.
func (s *shrinker) only(ids []engine.JobID) []string {
	lines := s.lines()
	for class, i := range entries(lines, "jobs") {
		var these []string
		for _, id := range ids {
			if of, index := spec.Arrival(id); of == class {
				these = append(these, fmt.Sprint(index))
			}
		}
		with := "${2}, only: [" + strings.Join(these, ", ") + "]}"
		if len(these) == 0 {
			with = ", stop: 1ns}" // no job arrives
		}
		lines[i] = arrivalOnly.ReplaceAllString(lines[i], with)
	}
	return lines
}

// lower reduces the number of nodes, workers, a class's tenants or a burst's jobs in a line to the smallest with which
// the world fails in the same way; of more than eight it tries powers of two.
func (s *shrinker) lower(i int) {
	at := amount.FindStringSubmatch(s.lines()[i])
	if at == nil {
		return
	}
	key, text := at[1]+at[3], at[2]+at[4]
	most := number(text)
	for n := 1; n < most; n += plain.Either(most > 8, n, 1) {
		lines := s.lines()
		lines[i] = strings.Replace(lines[i], key+": "+text, fmt.Sprintf("%s: %d", key, n), 1)
		for _, i := range entries(lines, "storms") {
			if key == "nodes" {
				lines[i] = nodeIndex.ReplaceAllStringFunc(lines[i], func(list string) string {
					index := 0
					fmt.Sscanf(list, "nodes: [%d]", &index) // which is what matched
					return fmt.Sprintf("nodes: [%d]", min(index, n-1))
				})
			}
		}
		if s.try(lines) {
			return
		}
	}
}

// dropKeys removes keys that the smallest world does not need to fail: whole lines, then single keys within a line.
func (s *shrinker) dropKeys() {
	for i := len(s.lines()) - 1; i >= 0; i-- {
		lines := s.lines()
		if i >= len(lines) || s.try(slices.Delete(slices.Clone(lines), i, i+1)) {
			continue
		}
		for k := len(keysOf(lines[i])) - 1; k >= 0; k-- {
			lines := s.lines()
			from, _, ok := strings.Cut(lines[i], "{")
			if keys := keysOf(lines[i]); ok && k < len(keys) && !strings.HasPrefix(keys[k], "arrivals:") {
				lines[i] = from + "{" + strings.Join(slices.Delete(keys, k, k+1), ", ") + "}"
				s.try(lines)
			}
		}
	}
}

// keysOf returns the texts "KEY: VALUE" in the outermost braces of a line, split at commas; nil if it has no braces.
func keysOf(line string) (keys []string) {
	from, to := strings.IndexByte(line, '{'), strings.LastIndexByte(line, '}')
	if from < 0 || to < from {
		return nil
	}
	depth, start := 0, from+1
	for i := from + 1; i <= to; i++ {
		switch c := line[i]; {
		case c == '{' || c == '[':
			depth++
		case (c == '}' || c == ']') && i < to:
			depth--
		case i == to || c == ',' && depth == 0:
			keys = append(keys, strings.TrimSpace(line[start:i]))
			start = i + 1
		}
	}
	return keys
}
