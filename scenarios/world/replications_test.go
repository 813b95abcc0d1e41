package world

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"qsim/engine/keyed"
	"qsim/results/measure"
	"qsim/scenarios"
)

// The seed with which there are enough is the last, however many simulations run at once.
func TestRunUntilThereAreEnough(t *testing.T) {
	sc, problems := scenarios.Load("a", []byte("duration: 1m\nwarmup: 5s\nseeds: 3\nseed: 5\npolicies: [{kind: fifo}, {kind: lifo}]\n"+oneClass), nil)
	if sc == nil {
		t.Fatal(problems)
	}
	for _, tt := range []struct{ enough, most, want int }{{4, 9, 4}, {1, 9, 1}, {9, 9, 9}, {10, 9, 9}, {2, 0, 2}, {5, 0, 3}} {
		for _, parallel := range []int{1, 2, 7} {
			var asked []string
			runs, err := Run(context.Background(), sc, Options{Parallel: parallel, MostSeeds: tt.most, Enough: func(seed []measure.Run) bool {
				for i := range seed {
					asked = append(asked, fmt.Sprint(seed[i].Seed, seed[i].Policy))
				}
				return len(asked) == 2*tt.enough
			}})
			var got, want []string
			for i := range runs {
				got = append(got, fmt.Sprint(runs[i].Seed, runs[i].Policy))
			}
			for seed := range tt.want {
				want = append(want, fmt.Sprint(5+seed, 0), fmt.Sprint(5+seed, 1))
			}
			if err != nil || !slices.Equal(got, want) || !slices.Equal(asked, want) {
				t.Errorf("%+v, %d at once: %q after asking about %q, %v", tt, parallel, got, asked, err)
			}
		}
	}
}

// What ends, in which order, and fails changes nothing, if it is of a later seed than the one
// with which there are enough.
func TestEnoughWhateverEndsFirst(t *testing.T) {
	boom := errors.New("boom")
	for _, tt := range []struct {
		name  string
		order []int // order in which simulations end, under two policies
		fails int
		runs  int
		err   error
	}{
		{"in order", []int{0, 1, 2, 3, 4, 5, 6, 7}, -1, 4, nil},
		{"backwards", []int{7, 6, 5, 4, 3, 2, 1, 0}, -1, 4, nil},
		{"the second seed last", []int{0, 1, 4, 5, 6, 7, 3, 2}, -1, 4, nil},
		{"a later one fails before", []int{5, 0, 1, 2, 3, 4, 6, 7}, 5, 4, nil},
		{"a later one fails after", []int{0, 1, 2, 3, 4, 6, 7, 5}, 5, 4, nil},
		{"one that counts fails", []int{7, 6, 5, 4, 3, 2, 1, 0}, 3, 7, boom},
	} {
		seen := 0
		r := newReplications(&scenarios.Scenario{Seeds: 1}, make([]*world, 2), Options{MostSeeds: 50, Enough: func([]measure.Run) bool {
			seen++
			return seen == 2
		}})
		var failed error
		for _, i := range tt.order {
			if i == tt.fails {
				failed = boom
				r.keep(i, nil, boom)
			} else {
				r.keep(i, &measure.Run{Seed: uint64(i / 2), Policy: i % 2}, nil)
			}
		}
		if tt.runs == 4 && (!r.isOver(4) || r.isOver(3)) {
			t.Errorf("%s: the simulations of two seeds are not those that count", tt.name)
		}
		runs, err := r.runs(failed)
		if len(runs) != tt.runs || !errors.Is(err, tt.err) {
			t.Errorf("%s: %d runs, %v; want %d, %v", tt.name, len(runs), err, tt.runs, tt.err)
		}
	}
}

func TestBitmap(t *testing.T) {
	b := bitmap{}
	in := map[uint64]bool{}
	rand := keyed.Rand{Seed: 1}
	for i := range uint64(5000) {
		n := uint64(rand.Uniform(keyed.ForPolicy, i, 0, 0)*200_000) + i%3<<40
		if b.has(n) != in[n] {
			t.Fatalf("%d: %v", n, b.has(n))
		}
		b.add(n)
		in[n] = true
		if !b.has(n) || b.has(n+1) != in[n+1] || b.has(n^1<<50) {
			t.Fatalf("after %d was added: %v, %v", n, b.has(n), b.has(n+1))
		}
	}
	if len(b) > 3*200_000>>pageBits+3 {
		t.Errorf("%d pages", len(b))
	}
}
