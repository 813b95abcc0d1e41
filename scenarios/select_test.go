package scenarios

import (
	"slices"
	"testing"
)

// TestSelectObjectives checks that Select keeps which policies an objective is about: a name that is the label of one
// policy does not come to mean a kind when that policy is removed.
func TestSelectObjectives(t *testing.T) {
	const text = `
duration: 1m
seeds: 1
engine: {workers: 2}
jobs: [{class: mail, arrivals: {process: poisson, rate: 1/s}, service: 100ms}]
policies: [{kind: fifo}, {kind: fifo, label: other}, {kind: lifo, label: one}, {kind: lifo, label: two}]
objectives:
  - {metric: goodput, above: 1/s, policies: [fifo]}
  - {metric: goodput, above: 2/s, policies: [lifo]}
  - {metric: goodput, above: 3/s, policies: [fifo, other]}
  - {metric: goodput, above: 4/s}
`
	for _, tt := range []struct {
		keep []string
		want []string // the objectives left, each with its policies
	}{
		{[]string{"fifo"}, []string{"1/s fifo", "3/s fifo", "4/s"}},
		{[]string{"other"}, []string{"3/s other", "4/s"}},
		{[]string{"other", "two"}, []string{"2/s lifo", "3/s other", "4/s"}},
	} {
		sc, problems := Load("select.yaml", []byte(text), nil)
		if sc == nil {
			t.Fatal(problems)
		}
		selected, err := sc.Select(tt.keep)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, o := range selected.Objectives {
			left := o.Above.Text
			for _, name := range o.Policies {
				left += " " + name
			}
			got = append(got, left)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%q: objectives %q, want %q", tt.keep, got, tt.want)
		}
	}
}
