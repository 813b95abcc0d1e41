package apply

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"qsim/engine/quantity"
	"qsim/policies"
	"qsim/results/plain"
	"qsim/scenarios"
)

// values fills in the text of one row of a job system's table with the values of a scenario.
type values struct {
	t     *sheet
	row   *Translation
	scope string // "jobs.CLASS." or ""
	class int    // index of the class; -1: all
	name  string // placeholder being replaced, such as value
}

// of returns the scenario's value of a key, as text, for the job class being translated; there is false if it has none.
func (v *values) of(key string) (value string, there bool) {
	if rest, ofClass := strings.CutPrefix(key, "jobs.CLASS."); ofClass {
		value, there = v.t.mine[v.scope+rest]
		return value, there
	}
	value, there = v.t.mine[v.scope+key]
	_, ownMap := v.t.mine[v.scope+v.row.Key+".kind"]
	if !there && !(ownMap && below(key, v.row.Key)) {
		value, there = v.t.mine[key]
	}
	return value, there
}

// joined returns, as "key: value, ...", the keys inside the row's map and the further keys that its setting covers.
func (v *values) joined() string {
	var parts []string
	for _, k := range scenarios.Keys() {
		value, there := v.of(k.Path)
		if name, ok := strings.CutPrefix(k.Path, v.row.Key+"."); ok && there {
			parts = append(parts, name+": "+value)
		}
	}
	for _, key := range v.row.With {
		value, _ := v.of(key)
		parts = append(parts, key[strings.LastIndexByte(key, '.')+1:]+": "+value)
	}
	return strings.Join(parts, ", ")
}

// placeholder matches the parts of a setting's text that values replace: {NAME}, or {NAME:UNIT}, as in {value:ms}.
var placeholder = regexp.MustCompile(`\{([a-z-]+)(?::([a-z]+))?\}`)

// setting returns the text of a row's setting for a value, with its placeholders replaced, or why there is none.
func (v *values) setting(value string) (string, error) {
	as := v.row.As
	if kind, _ := v.of(v.row.Key + ".kind"); v.row.Kinds != nil {
		if as = v.row.Kinds[kind]; as == "" {
			return "", fmt.Errorf("no backoff of kind %s", kind)
		}
	}
	if err := v.presumed(as, value); err != nil {
		return "", err
	}
	if other, there := v.row.When[value]; there {
		return other, nil
	}
	var problem error // the first: of several names one value may be the cause
	text := placeholder.ReplaceAllStringFunc(as, func(match string) string {
		parts := placeholder.FindStringSubmatch(match)
		word, err := v.word(parts[1], cmp.Or(parts[2], v.t.system.Unit))
		problem = cmp.Or(problem, err)
		return word
	})
	return text, problem
}

// presumed returns an error if a setting, whose text is as, would not do what the scenario asks: it omits a key of the
// map, another key lacks the value that it needs, a job's timeout is longer, or the poll is shorter than the cooldown.
func (v *values) presumed(as, value string) error {
	if v.row.Kinds != nil {
		for _, k := range scenarios.Keys() {
			name, inside := strings.CutPrefix(k.Path, v.row.Key+".")
			own, there := v.of(k.Path)
			if inside && there && name != "kind" && !strings.Contains(as, "{"+name+"}") {
				return fmt.Errorf("no %s of %s", name, own)
			}
		}
		first, _ := v.of(v.row.Key + ".first")
		most, bounded := v.of(v.row.Key + ".max")
		least, err := quantity.ParseDuration(first)
		if longest, _ := quantity.ParseDuration(most); bounded && err == nil && longest < least {
			return fmt.Errorf("a max of at least the first, %s, not %s", first, most)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(v.row.Needs)) {
		if other, _ := v.of(key); other != v.row.Needs[key] {
			return fmt.Errorf("only with %s: %s, not %s", key, v.row.Needs[key], other)
		}
	}
	fetch := &v.t.sc.Engine.Fetch
	if poll := fetch.Poll.Dist().Duration(0); v.row.Paced && poll < fetch.Cooldown.Std() {
		return fmt.Errorf("a poll of at least the cooldown, %s, not %s", fetch.Cooldown, quantity.Duration(poll))
	}
	if d, err := quantity.ParseDuration(value); v.row.OverTimeouts && err == nil {
		for class := range v.t.sc.Jobs {
			if timeout := v.t.sc.TimeoutOf(class); timeout > d {
				return fmt.Errorf("at least the longest timeout, %s, not %s", quantity.Duration(timeout), value)
			}
		}
	}
	return nil
}

// word returns the text that replaces the placeholder {name:unit} of a setting; units of durations: go, s, whole, ms.
func (v *values) word(name, unit string) (string, error) {
	switch v.name = name; name {
	case "value":
		value, _ := v.of(v.row.Key)
		return v.converted(value, unit)
	case "retries":
		value, _ := v.of(v.row.Key)
		n, err := strconv.Atoi(value)
		if err != nil {
			return "", fmt.Errorf("no %s number of retries", value)
		}
		return strconv.Itoa(n - 1), nil
	case "workers":
		return v.t.mine["engine.workers"], nil
	case "multiplier": // of the workers: jobs that run count as prefetched
		prefetch, workers := int(v.t.sc.Engine.Fetch.Prefetch), int(v.t.sc.Engine.Workers)
		if prefetch%workers != 0 {
			return "", fmt.Errorf("a multiple of the %d workers, not %d", workers, prefetch)
		}
		return strconv.Itoa(prefetch/workers + 1), nil
	case "delays", "last", "low", "span":
		return v.ofRetry(name, unit)
	}
	key := v.row.Key + "." + name
	for _, other := range v.row.With {
		if strings.HasSuffix(other, "."+name) {
			key = other
		}
	}
	value, there := v.of(key)
	if !there {
		return "", fmt.Errorf("the %s is not given", name)
	}
	return v.converted(value, unit)
}

// ofRetry returns the text for a placeholder about retries: {delays}, their {last} index, or jitter's {low} and {span}.
func (v *values) ofRetry(name, unit string) (string, error) {
	b, err := v.t.sc.RetryPolicy(v.class)
	if err != nil {
		return "", err
	}
	if name == "low" || name == "span" {
		low, span, known := spread(b.Jitter)
		if !known {
			return "", fmt.Errorf("no jitter %s: want a share of the delay", b.Jitter)
		}
		return number(plain.Either(name == "low", low, span)), nil
	}
	if b.Kind == policies.Random {
		return "", errors.New("no delays of a distribution")
	}
	delays, err := delaysOf(b)
	if err != nil {
		return "", err
	}
	if name == "last" {
		return strconv.Itoa(len(delays) - 1), nil
	}
	var words []string
	for _, d := range delays {
		word, err := v.duration(d, unit)
		if err != nil {
			return "", err
		}
		words = append(words, word)
	}
	return strings.Join(words, ", "), nil
}

// mostDelays is the highest number of retry delays that a setting lists; a policy with more of them has no setting.
const mostDelays = 25

// delaysOf returns a retry policy's delays by number of failures, before jitter; the last stands for all that follow.
// It is an error if more than mostDelays differ.
func delaysOf(b *policies.Backoff) (delays []time.Duration, err error) {
	last := max(b.MaxAttempts-1, 1)
	if b.MaxAttempts == 0 { // unlimited
		last = math.MaxInt32
	}
	for n := range min(last, mostDelays) {
		delays = append(delays, b.Delay(int64(n+1)))
	}
	listed := delays[len(delays)-1]
	for _, n := range []int{mostDelays + 1, last} {
		if last > mostDelays && b.Delay(int64(n)) != listed {
			return nil, fmt.Errorf("no delays that still change after %d failures", mostDelays)
		}
	}
	for n := len(delays); n > 1 && delays[n-2] == delays[n-1]; n-- {
		delays = delays[:n-1]
	}
	return delays, nil
}

// spread returns the range [low, low+span] of the factor by which jitter multiplies a delay; known: it is a factor.
func spread(j policies.Jitter) (low, span float64, known bool) {
	share := j.Share.Float()
	of, known := map[policies.JitterKind][2]float64{
		policies.NoJitter: {1, 0}, policies.Full: {0, 1}, policies.Equal: {0.5, 0.5},
		policies.Around: {1 - share, 2 * share}, policies.Above: {1, share}, policies.Below: {1 - share, share},
	}[j.Kind]
	return of[0], of[1], known
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', 10, 64) }

// converted returns a value in a job system's notation: a duration in a unit, a number, or words; no "unlimited".
func (v *values) converted(value, unit string) (string, error) {
	if strings.HasPrefix(value, "{") || slices.Contains([]string{"unlimited", "none", ""}, value) {
		return "", fmt.Errorf("no value %s", value)
	}
	if x, err := strconv.ParseFloat(value, 64); err == nil {
		return value, v.bounded(x, "")
	}
	if d, err := quantity.ParseDuration(value); err == nil {
		return v.duration(d, unit)
	}
	return strings.Trim(value, "[]"), nil
}

// duration returns a duration as text in a unit: go (5*time.Second), s, whole (seconds) or ms; an error if inexact.
func (v *values) duration(d time.Duration, unit string) (string, error) {
	if err := v.bounded(d.Seconds(), " s"); err != nil {
		return "", err
	}
	switch unit {
	case "go":
		for _, u := range []struct {
			of   time.Duration
			name string
		}{{time.Hour, "Hour"}, {time.Minute, "Minute"}, {time.Second, "Second"}, {time.Millisecond, "Millisecond"}} {
			if d%u.of == 0 && d != 0 {
				return fmt.Sprintf("%d*time.%s", d/u.of, u.name), nil
			}
		}
		return strconv.FormatInt(int64(d), 10), nil // a number of nanoseconds
	case "ms":
		if d%time.Millisecond != 0 {
			return "", fmt.Errorf("whole milliseconds alone, not %s", d)
		}
		return strconv.FormatInt(d.Milliseconds(), 10), nil
	case "whole":
		if d%time.Second != 0 {
			return "", fmt.Errorf("whole seconds alone, not %s", d)
		}
	}
	return number(d.Seconds()), nil
}

// bounded returns an error if a number (of seconds, for a duration) is outside the row's bounds Least, Leasts and Most.
func (v *values) bounded(x float64, unit string) error {
	least, most := max(v.row.Least, v.row.Leasts[v.name]), v.row.Most
	switch {
	case x < least:
		return fmt.Errorf("at least %s%s, not %s%s", number(least), unit, number(x), unit)
	case most > 0 && x > most:
		return fmt.Errorf("at most %s%s, not %s%s", number(most), unit, number(x), unit)
	}
	return nil
}
