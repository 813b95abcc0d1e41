package chaos

import (
	"fmt"
	"go/format"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"qsim/engine"
	"qsim/scenarios"
)

// mostRare is how many seeds the list rare has, rarePool out of how many they are chosen.
const mostRare, rarePool = 64, 1000

// TestRareSeeds compares what the worlds of the list rare reach, see reach, with as many others: if it is not a quarter
// more, seeds draw other worlds than when the list was made, and it is to be written anew by -rewrite.
func TestRareSeeds(t *testing.T) {
	if *rewrite {
		rewriteRare(t)
		return
	}
	if len(rare) != mostRare {
		t.Errorf("%d rare seeds, want %d", len(rare), mostRare)
	}
	of := func(seeds []uint64) int {
		all := map[string]bool{}
		for _, seed := range seeds {
			for _, what := range reach(Draw(seed)) {
				all[what] = true
			}
		}
		return len(all)
	}
	var others []uint64
	for seed := uint64(1_000_001); len(others) < len(rare); seed++ {
		others = append(others, seed)
	}
	got, usual := of(rare), of(others)
	t.Logf("%d combinations, %d others reach %d", got, len(others), usual)
	if 4*got < 5*usual {
		t.Errorf("%d combinations are reached, want a quarter more than %d: write the list anew", got, usual)
	}
}

// TestOrder checks the order in which swarms run ranges of seeds: each comes once, those of the list rare first.
func TestOrder(t *testing.T) {
	least := slices.Min(rare)
	for _, tt := range []struct{ first, seeds uint64 }{
		{1, rarePool}, {1, 5}, {2, rarePool}, {500, 1000}, {rarePool + 1, 10}, {1, least - 1}, {least, 5},
	} {
		o := Options{First: tt.first, Seeds: tt.seeds}
		order := o.order()
		var all []uint64
		for i := range int(tt.seeds) {
			all = append(all, order(i))
		}
		within := slices.DeleteFunc(slices.Clone(rare), func(s uint64) bool { return s < tt.first || s >= tt.first+tt.seeds })
		if !slices.Equal(all[:len(within)], within) {
			t.Errorf("from %d on: %v come first, want %v", tt.first, all[:len(within)], within)
		}
		if rest := all[len(within):]; !slices.IsSorted(rest) {
			t.Errorf("from %d on: then come %v", tt.first, rest)
		}
		slices.Sort(all)
		for i, seed := range all {
			if seed != tt.first+uint64(i) {
				t.Fatalf("from %d on: of %d seeds the %dth is %d", tt.first, tt.seeds, i+1, seed)
			}
		}
	}
	endless := Options{First: rarePool, Time: 1}
	if order := endless.order(); order(100_000) < 100_000 {
		t.Errorf("without a number of seeds the last of many is %d", order(100_000))
	}
}

// TestFinished checks the words by which Options.Finished names the seeds that a swarm has run when it is stopped.
func TestFinished(t *testing.T) {
	defer func(list []uint64) { rare = list }(rare)
	rare = []uint64{20, 7, 5, 30}
	for _, tt := range []struct {
		o    Options
		n    uint64
		want string
	}{
		{Options{First: 1, Seeds: 2000}, 2000, "2,000 seeds from 1 on"},
		{Options{First: 1, Seeds: 2000}, 0, "0 seeds from 1 on"},
		{Options{First: 1, Seeds: 2000}, 1, "1 seed of rare worlds, which come first of those from 1 on"},
		{Options{First: 9, Seeds: 1}, 1, "1 seed from 9 on"},
		{Options{First: 1, Seeds: 2000}, 4, "4 seeds of rare worlds, which come first of those from 1 on"},
		{Options{First: 1, Seeds: 2000}, 8, "8 seeds, those from 1 to 4 and 4 of rare worlds beyond"},
		{Options{First: 1, Seeds: 2000}, 9, "9 seeds, those from 1 to 6 and 3 of rare worlds beyond"},
		{Options{First: 1, Seeds: 2000}, 29, "29 seeds, those from 1 to 28 and 1 of rare worlds beyond"},
		{Options{First: 1, Seeds: 2000}, 31, "31 seeds from 1 on"},
		{Options{First: 1, Seeds: 10}, 10, "10 seeds from 1 on"},
		{Options{First: 1, Time: 1}, 25, "25 seeds, those from 1 to 24 and 1 of rare worlds beyond"},
		{Options{First: 5_000_000, Time: 1}, 935, "935 seeds from 5000000 on"},
	} {
		if got := tt.o.Finished(tt.n); got != tt.want {
			t.Errorf("%d of %d from %d on: got %q, want %q", tt.n, tt.o.Seeds, tt.o.First, got, tt.want)
		}
	}
}

// reached is an engine.Recorder that keeps the different events of a run, each as a kind with the state the job was in,
// class, call and error, alone and with each fault in force.
type reached struct {
	windows []span
	events  map[engine.Event]bool // with a fault as Count, 0 for none
}

// span is when a fault is in force; fault is 1 and its index in scenarios.Troubles, or a higher number for a control's.
type span struct {
	fault       int32
	from, until engine.Time
}

// Record implements engine.Recorder: it keeps an event, if it is a new one.
func (c *reached) Record(e *engine.Event) {
	what := engine.Event{Kind: e.Kind, From: e.From, Class: e.Class, Op: e.Op, Error: e.Error}
	c.events[what] = true
	for _, w := range c.windows {
		if w.from <= e.At && e.At < w.until {
			what.Count = w.fault
			c.events[what] = true
		}
	}
}

// watch makes c the recorder of a run without a checker, and tells it when faults are in force.
func (c *reached) watch(s *setup) {
	faults := map[string]int32{}
	for i, kind := range scenarios.Troubles() {
		faults[kind] = int32(i) + 1
	}
	for i := range s.Scenario.Storms {
		storm := &s.Scenario.Storms[i]
		if storm.Effect().Control == nil {
			for _, at := range storm.Starts() {
				c.windows = append(c.windows, span{faults[storm.Kind()], engine.Time(at), engine.Time(at + storm.For.Std())})
			}
		}
	}
	met := s.config.Befell
	s.config.Befell = func(control int, node int32, at engine.Time) {
		met(control, node, at)
		x := &s.config.Controls[control] // for a second more: what follows is due to it
		c.windows = append(c.windows, span{int32(len(faults)) + 1 + int32(x.Kind), at, at.Add(x.For + 1e9)})
	}
	s.config.Recorder = c
}

// reach runs a world and returns what it reaches, in order: its events, each with a fault in force and with the policy,
// and the invariants that were checked, each with a fault that came and with the policy.
func reach(w *World) (all []string) {
	c := &reached{events: map[engine.Event]bool{}}
	silent := runner{plant: c.watch}
	silent.once(w, false, nil)
	policy := w.scenario.Policies[0].Kind
	for e := range c.events {
		if all = append(all, fmt.Sprint(e)); e.Count == 0 {
			all = append(all, fmt.Sprint(e, policy))
		}
	}
	checked := runner{}
	report := checked.once(w, true, nil)
	for i, n := range slices.Concat(report.Checks[:], report.Parts[:]) {
		if n == 0 {
			continue
		}
		all = append(all, fmt.Sprint(i, policy))
		for fault, n := range report.Faults {
			if n > 0 {
				all = append(all, fmt.Sprint(i, "during", fault))
			}
		}
	}
	slices.Sort(all)
	return all
}

// rewriteRare chooses the list rare anew and writes it to rare.go: seed after seed, that which reaches most, where what
// n chosen worlds reach already counts as 1/√(n+1).
func rewriteRare(t *testing.T) {
	worlds, times := map[uint64][]string{}, map[string]int{}
	for seed := uint64(1); seed <= rarePool; seed++ {
		worlds[seed] = reach(Draw(seed))
	}
	var chosen []uint64
	for len(chosen) < mostRare {
		best, most := uint64(0), 0.0
		for _, seed := range slices.Sorted(maps.Keys(worlds)) {
			sum := 0.0
			for _, what := range worlds[seed] {
				sum += 1 / math.Sqrt(float64(times[what]+1))
			}
			if sum > most {
				best, most = seed, sum
			}
		}
		for _, what := range worlds[best] {
			times[what]++
		}
		chosen = append(chosen, best)
		delete(worlds, best)
	}
	text, err := os.ReadFile("rare.go")
	if err != nil {
		t.Fatal(err)
	}
	before, after, _ := strings.Cut(string(text), "var rare = []uint64{\n")
	_, after, _ = strings.Cut(after, "\n}\n")
	list := ""
	for i, seed := range chosen {
		if list += fmt.Sprintf("%d, ", seed); i%16 == 15 {
			list += "\n"
		}
	}
	source, err := format.Source([]byte(before + "var rare = []uint64{\n" + list + "}\n" + after))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("rare.go", source, 0o644); err != nil {
		t.Fatal(err)
	}
}
