package chaos

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// text returns the scenario file of the world: each key on a line, and each map of a list on a line.
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
