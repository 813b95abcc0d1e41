package chaos

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"qsim/engine/keyed"
	"qsim/policies"
	"qsim/results/plain"
)

// die is a random number generator for drawing a world (random scenario); n counts the numbers drawn so far.
type die struct {
	rand keyed.Rand
	n    uint64
}

// as returns a die for one topic of a world, such as a kind of storm, whose draws depend on the seed and the topic's
// name alone: a topic can be added or left out, and all other draws stay as they were.
func (d *die) as(name string) *die {
	hash := fnv.New64a()
	hash.Write([]byte(name))
	return &die{rand: keyed.Rand{Seed: d.rand.Uint64(keyed.ForChaos, hash.Sum64(), 0, 1)}}
}

// below returns a random number in [0, n).
func (d *die) below(n int) int {
	d.n++
	return int(d.rand.Uint64(keyed.ForChaos, d.n, 0, 0) % uint64(n))
}

func (d *die) between(least, most int) int { return least + d.below(most-least+1) }

func (d *die) coin() bool { return d.below(2) == 0 }

// seldom returns true with probability 1/n.
func (d *die) seldom(n int) bool { return d.below(n) == 0 }

func (d *die) milliseconds(least, most int) time.Duration {
	return time.Duration(d.between(least, most)) * time.Millisecond
}

// of returns one of the given words, each with equal probability.
func (d *die) of(words ...string) string { return words[d.below(len(words))] }

// zeroOr returns 0 or the given value, with equal probability.
func zeroOr[T any](d *die, x T) (zero T) {
	if d.coin() {
		return zero
	}
	return x
}

// text returns a pattern with a random draw in place of each placeholder, from left to right, inner ones first:
//
//	<1..8>         a whole number
//	<50ms..2s>     a duration of whole milliseconds
//	<0?1ms..50ms>  zero or, as likely, a draw from the range after the question mark
//	<a|b|b>        one of the words
//	<window>       the text that the function words returns for this word
func (d *die) text(pattern string, words ...func(word string) string) string {
	for {
		end := strings.IndexByte(pattern, '>')
		if end < 0 {
			return pattern
		}
		begin := strings.LastIndexByte(pattern[:end], '<')
		placeholder, drawn := pattern[begin+1:end], ""
		switch {
		case strings.Contains(placeholder, ".."):
			drawn = d.ranged(placeholder)
		case strings.Contains(placeholder, "|"):
			drawn = d.of(strings.Split(placeholder, "|")...)
		default:
			drawn = words[0](placeholder)
		}
		pattern = pattern[:begin] + drawn + pattern[end+1:]
	}
}

// ranged returns, as text, a random value in the range of a placeholder such as 1..8 or 0?1ms..50ms; see text.
func (d *die) ranged(placeholder string) string {
	values, orZero := strings.CutPrefix(placeholder, "0?")
	least, most, _ := strings.Cut(values, "..")
	drawn, zero := "", "0"
	if strings.HasSuffix(most, "s") {
		from, to := duration(least).Milliseconds(), duration(most).Milliseconds()
		drawn, zero = d.milliseconds(int(from), int(to)).String(), "0s"
	} else {
		drawn = fmt.Sprint(d.between(number(least), number(most)))
	}
	return plain.Either(orZero && d.coin(), zero, drawn)
}

// number returns the whole number that a text is, and duration the duration; both panic if it is none.
func number(text string) int { return plain.Must(strconv.Atoi(text)) }

func duration(text string) time.Duration { return plain.Must(time.ParseDuration(text)) }

// healing is the virtual time by which all storms of a world have ended, and latestStart the latest start of one.
const (
	healing     = 40 * time.Second
	latestStart = 30 * time.Second
)

// plan is a world while it is drawn: the keys and storms of the scenario that its method text then writes.
type plan struct {
	seed   uint64
	keys   map[string]string // keys of the scenario with their values: engine.fetch.batch; class.KEY is one of all classes
	storms []string          // each without its name

	nodes, workers, prefetch int
	ttl, poll, cap, p99      time.Duration // longest lease TTL, claim pause, backoff and run time
	jobs, kinds, serials     int
	gap, delay               time.Duration // between two jobs, of the last class
	ranked, poison, loses    bool
	fails                    string // the share of attempts that fail until all is healed; empty: none
	error                    string
	attempts                 int // highest number of attempts; 0: no limit
	policy                   string
	kind                     *policies.Kind // of the policy
}

func (p *plan) set(path string, value any) { p.keys[path] = fmt.Sprint(value) }

func (p *plan) drop(paths ...string) {
	for _, path := range paths {
		delete(p.keys, path)
	}
}

// has reports whether the world has a value other than 0 and 0s for the key at a path, such as engine.reaper.every.
func (p *plan) has(path string) bool {
	value := p.keys[path]
	return value != "" && value != "0" && value != "0s"
}

// keys draws values for keys of a world, from patterns such as "engine.fetch.batch: <1..10>": one a line, or several
// with semicolons. Those on a line that begins with 1/4 are set one time in four. The draws depend on the text of their
// own line alone (see as), so that other lines can change.
func (d *die) keys(p *plan, patterns string) {
	for line := range strings.Lines(patterns) {
		line = strings.TrimSpace(line)
		d := d.as(line)
		if rest, found := strings.CutPrefix(line, "1/"); found {
			n, keys, _ := strings.Cut(rest, " ")
			if line = keys; !d.seldom(number(n)) {
				continue
			}
		}
		for pattern := range strings.SplitSeq(line, "; ") {
			if path, value, found := strings.Cut(pattern, ": "); found {
				p.keys[path] = d.text(value)
			}
		}
	}
}

// storm adds a storm to a world, drawn from a pattern (see text) in which <node> is the index of a random node.
func (d *die) storm(p *plan, pattern string) {
	p.storms = append(p.storms, d.text(pattern, func(string) string { return fmt.Sprint(d.below(p.nodes)) }))
}

// takes sets the run time of jobs of all classes to a uniform distribution between two durations.
func (p *plan) takes(least, most string) {
	p.keys["class.service"] = "{dist: uniform, min: " + least + ", max: " + most + "}"
	p.p99 = duration(most)
}

// kind sets the policy of a world to one of the named kind, with parameters chosen at random from those the kind lists.
func (d *die) kind(p *plan, name string) {
	k := plain.Must(policies.Find(name))
	p.kind = k
	if p.policy = "{kind: " + name; len(k.Drawn.Params) > 0 {
		p.policy += ", " + d.of(k.Drawn.Params...)
	}
	p.policy += "}"
}

// text returns the YAML text of the world's scenario.
func (p *plan) text() string {
	p.set("engine.nodes", p.nodes)
	p.set("engine.workers", p.workers)
	p.set("engine.fetch.prefetch", p.prefetch)
	p.set("engine.lease.ttl", p.ttl.Round(time.Millisecond))
	if p.has("engine.fetch.poll") { // it is drawn anew each time
		p.set("engine.fetch.poll", fmt.Sprintf("{dist: uniform, min: %v, max: %v}", p.poll/4, p.poll))
	} else {
		p.set("engine.fetch.poll", p.poll)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "name: chaos\nseed: %d\nseeds: 1\nduration: 3m\ndrain: 1h\nwarmup: 0s\n", p.seed)
	for _, section := range []string{"engine", "retry"} {
		b.WriteString(section + ":\n")
		within := map[string][]string{}
		for _, path := range slices.Sorted(maps.Keys(p.keys)) {
			rest, ok := strings.CutPrefix(path, section+".")
			if !ok {
				continue
			}
			name, key, nested := strings.Cut(rest, ".")
			if entry := p.keys[path]; nested {
				within[name] = append(within[name], key+": "+entry)
			} else {
				fmt.Fprintf(&b, "  %s: %s\n", name, entry)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(within)) {
			fmt.Fprintf(&b, "  %s: {%s}\n", name, strings.Join(within[name], ", "))
		}
	}
	b.WriteString("dependencies:\n  - {name: api, limit: {concurrency: 1000}}\n" +
		"  - {name: bank, limit: {concurrency: 1000}}\njobs:\n")
	for i := range p.kinds {
		rate, stop := 1/p.gap.Seconds()/float64(p.kinds), (time.Duration(p.jobs) * p.gap).Round(time.Millisecond)
		fmt.Fprintf(&b, "  - {class: %c, arrivals: {process: poisson, rate: %.6g/s, stop: %v}", 'a'+i, rate, stop)
		for _, path := range slices.Sorted(maps.Keys(p.keys)) {
			if key, ofClass := strings.CutPrefix(path, "class."); ofClass {
				fmt.Fprintf(&b, ", %s: %s", key, p.keys[path])
			}
		}
		fmt.Fprintf(&b, ", calls: %s", [...]string{"api", "bank"}[i%2])
		if p.ranked {
			fmt.Fprintf(&b, ", priority: %d", i)
		}
		if i == p.kinds-1 && p.delay > 0 {
			fmt.Fprintf(&b, ", delay: %v", p.delay)
		}
		if p.serials > 0 {
			fmt.Fprintf(&b, ", serial: {keys: %d}", 1+p.serials/p.kinds)
		}
		b.WriteString("}\n")
	}
	if len(p.storms) > 0 || p.fails != "" {
		b.WriteString("storms:\n")
	}
	if p.fails != "" {
		fmt.Fprintf(&b, "  - {name: s0, at: 0s, for: %v, fail: {rate: %s, error: %s}}\n", healing, p.fails, p.error)
	}
	for i, storm := range p.storms {
		fmt.Fprintf(&b, "  - {name: s%d, %s}\n", i+1, storm)
	}
	fmt.Fprintf(&b, "policies:\n  - %s\n", p.policy)
	return b.String()
}
