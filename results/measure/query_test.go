package measure

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParseQuery(t *testing.T) {
	for _, tt := range []struct {
		text string
		want Query
		err  string
	}{
		{"goodput", Query{Metric: "goodput"}, ""},
		{" fresh.wait.p99  during down ", Query{Metric: "fresh.wait.p99", During: "down"}, ""},
		{"sojourn.p99 class mail tenant three after down", Query{Metric: "sojourn.p99", Class: "mail", Tenant: "three", After: "down"}, ""},
		{"fresh.within limit 2s", Query{Metric: "fresh.within", Limit: 2 * time.Second}, ""},
		{"", Query{}, "want a metric"},
		{"goodput during", Query{}, "a value is missing after during"},
		{"goodput in down", Query{}, "want during, after, class, tenant or limit"},
		{"goodput during a during b", Query{}, "during is there twice"},
		{"fresh.within limit 2s limit 3s", Query{}, "limit is there twice"},
		{"fresh.within limit soon", Query{}, "want a duration"},
		{"fresh.within limit -2s", Query{}, "want a duration"},
		{"fresh.within limit 0s", Query{}, "want a duration"},
		{"fresh.within limit 2s class mail", Query{Metric: "fresh.within", Class: "mail", Limit: 2 * time.Second}, ""},
	} {
		t.Run(tt.text, func(t *testing.T) {
			got, err := ParseQuery(tt.text)
			switch {
			case tt.err == "" && (err != nil || got != tt.want):
				t.Fatalf("got %+v (%v), want %+v", got, err, tt.want)
			case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)):
				t.Fatalf("got %v, want %q in it", err, tt.err)
			case tt.err != "":
				return
			}
			if again, err := ParseQuery(got.String()); err != nil || again != got {
				t.Errorf("%q reads as %+v (%v)", got.String(), again, err)
			}
		})
	}
}

// A requested query is measured, whether or not an objective uses it.
func TestAskedIsMeasured(t *testing.T) {
	s := &Settings{Objectives: []Objective{{Query: Query{Metric: "goodput", During: "down"}}}, Asked: []Query{
		{Metric: "goodput", During: "down"}, {Metric: "goodput"}, {Metric: "goodput", Class: "mail"}, {Metric: "slowdown"}}}
	want := []Query{{Metric: "goodput", During: "down"}, {Metric: "goodput", Class: "mail"}, {Metric: "slowdown"}} // goodput is measured anyway
	if got := Queries(s); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if !s.Wants("slowdown") || s.Wants("jain") {
		t.Error("slowdown is asked for, jain is not")
	}
}
