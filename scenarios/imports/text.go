package imports

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"qsim/results/plain"
	"qsim/scenarios"
)

// text returns the scenario file as text, with comments on the origin of each value.
func (w *writing) text(to *Written) string {
	var b strings.Builder
	line := func(format string, arguments ...any) { fmt.Fprintf(&b, format+"\n", arguments...) }
	seeds := w.target.Seeds
	if seeds == 0 {
		seeds = 5
	}
	jobs := plain.Grouped(fmt.Sprint(w.Jobs))
	line("# yaml-language-server: $schema=%s", scenarios.SchemaFile)
	line("# %s jobs of %s records, from %s on. Arrivals are as recorded;", jobs, w.From, w.When(0))
	line("# run times are drawn, failures too.")
	line("version: 1")
	line("name: %s", w.name)
	line("duration: %s", scenarios.Duration(w.Length.Truncate(time.Second)+emptyTail))
	tail := min(w.Tail.Truncate(time.Second)+emptyTail, longest/time.Duration(to.Nodes)-w.Length)
	if tail > w.Length+emptyTail {
		line("drain: %s   # attempts are on record for so long", scenarios.Duration(tail.Truncate(time.Second)))
	}
	line("warmup: 0s   # all of it is on record")
	line("seeds: %d", seeds)
	line("")
	line("engine:")
	if hasPreset(w.From) {
		line("  preset: %s", w.From)
	}
	line("  nodes: %d", to.Nodes)
	line("  workers: %d   # %s", to.Workers, w.whyWorkers())
	line("  timeout: 0s   # run times are as recorded, whatever cut them short")
	line("")
	line("retry: {%s}%s", w.Retry.keys(), w.Retry.comment())
	line("")
	line("jobs:")
	for i := range w.Classes {
		w.classText(&w.Classes[i], line)
	}
	line("")
	line("policies:")
	line("  - {kind: fifo}")
	return b.String()
}

func (w *writing) whyWorkers() string {
	switch {
	case w.target.Workers > 0:
		return "as asked for"
	case w.Workers.Each == 0:
		return "nothing is recorded"
	}
	return fmt.Sprintf("%d attempts at most ran at once", w.Workers.Most)
}

// keys returns the keys of the scenario's `retry` section; if none were found, keys for no retries.
func (r *Retry) keys() string { return cmp.Or(r.text(), "max-attempts: 1, backoff: {kind: none}") }

func (r *Retry) comment() string {
	if len(r.Keys) == 0 {
		return "   # no second attempt is recorded"
	}
	if !r.paced {
		return "   # the pauses between attempts are not recorded: the usual ones"
	}
	return ""
}

func (w *writing) classText(c *Class, line func(string, ...any)) {
	line("  - class: %s", c.Name)
	line("    arrivals: {process: trace, file: %s}", w.beside(c, ".csv"))
	switch {
	case w.prioritized() && c.Ranked:
		line("    priority: %d   # as recorded; smaller is more urgent", c.Priority)
	case w.prioritized():
		line("    # no priority: its jobs have none on record, or several; that counts as 0")
	}
	line("    service: %s   # %s", w.distribution(c, &c.Service, serviceFile), c.Service.comment())
	if c.Failed > 0 && c.Rate > 0 {
		fails := "rate: " + percent(c.Rate)
		if len(c.Takes.Values) >= FewestToFit {
			fails += ", takes: " + w.distribution(c, &c.Takes, takesFile)
		}
		line("    fails: {%s, errors: {%s}}", fails, strings.Join(shares(c.Kinds), ", "))
	}
	if c.Poison > 0 {
		line("    poison: %s   # second attempts fail more often than first ones", percent(c.Poison))
	}
	if names := c.tenantNames(); len(c.Tenants) > 0 && names != nil {
		line("    tenants: {names: [%s]}", strings.Join(names, ", "))
	} else if len(c.Tenants) > 0 {
		line("    tenants: {count: %d}", len(c.Tenants)+1)
	}
	if c.Retry != nil {
		line("    retry: {%s}", c.Retry.keys())
	}
}

// distribution returns a class's run time in scenario syntax: a fit, a file of recorded values, or the user's own.
func (w *writing) distribution(c *Class, t *Times, file string) string {
	switch {
	case len(t.Values) == 0:
		return w.options.Service
	case t.Chosen < 0:
		return "{dist: empirical, file: " + w.beside(c, file) + "}"
	}
	return Spelled(&t.Fits[t.Chosen])
}

// Spelled returns a fitted distribution in scenario syntax.
func Spelled(f *Fit) string {
	if f.Kind == "constant" {
		return spellDigits(f.Parameters[0].Value, 4)
	}
	words := []string{"dist: " + f.Kind}
	for _, p := range f.Parameters {
		value := strconv.FormatFloat(p.Value, 'g', 4, 64)
		if p.Time {
			value = spellDigits(p.Value, 4)
		}
		words = append(words, p.Name+": "+value)
	}
	return "{" + strings.Join(words, ", ") + "}"
}

// comment returns a comment for the scenario file on how well the distribution fits the recorded times.
func (t *Times) comment() string {
	switch {
	case len(t.Values) == 0:
		return "as asked for: no run time is recorded"
	case t.Chosen < 0 && len(t.Fits) == 0:
		return fmt.Sprintf("%d run times are too few to fit", len(t.Values))
	case t.Chosen < 0:
		return "no distribution fits: the recorded values"
	}
	f, seen := &t.Fits[t.Chosen], "of "+plain.Grouped(fmt.Sprint(t.Seen))+" recorded"
	if math.IsNaN(f.P) {
		return seen
	}
	return fmt.Sprintf("Kolmogorov-Smirnov distance %.3f, p %.2f, %s", f.Distance, f.P, seen)
}

// percent returns a share as a percentage with up to three digits.
func percent(share float64) string {
	return strconv.FormatFloat(share*100, 'g', 3, 64) + "%"
}

// shares returns the shares of error kinds in scenario syntax, in tenths of a percent, with the rounding error in the
// first.
func shares(kinds []Kind) []string {
	all := int64(0)
	for _, k := range kinds {
		all += k.Count
	}
	const whole = 1000
	parts, rest := make([]int64, len(kinds)), int64(whole)
	for i, k := range kinds {
		parts[i] = max(1, k.Count*whole/max(all, 1))
		rest -= parts[i]
	}
	parts[0] += rest // the most frequent one carries what rounding leaves
	var words []string
	for i, k := range kinds {
		words = append(words, fmt.Sprintf("%s: %s%%", k.Name, strconv.FormatFloat(float64(parts[i])/10, 'f', -1, 64)))
	}
	return words
}
