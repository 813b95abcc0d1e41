package imports

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

const urgent = `
name: urgent
duration: 20m
drain: 20m
seeds: 1
engine: {workers: 4}
retry: {max-attempts: 1}
jobs:
  - class: first
    arrivals: {process: poisson, rate: 2/s}
    service: 500ms
    priority: 1
  - class: last
    arrivals: {process: poisson, rate: 5/s}
    service: 500ms
    priority: 4
policies: [{kind: fifo}]
`

// Jobs of one queue with two priorities are two classes that keep theirs, so that the simulation has the
// waits of both; without them it has not.
func TestPriorities(t *testing.T) {
	t.Parallel()
	if raced {
		t.Skip("other tests read and simulate as this one does")
	}
	x := exportOf(t, urgent)
	var with, without strings.Builder
	with.WriteString("id,queue,priority,enqueued,started,finished\n")
	without.WriteString("id,queue,enqueued,started,finished\n")
	for i := range x.rows {
		r := &x.rows[i]
		fmt.Fprintf(&with, "%d,mail,%d,%s,%s,%s\n", r.job, map[string]int{"first": 1, "last": 4}[r.class], stamp(r.enqueued), stamp(r.started), stamp(r.finished))
		fmt.Fprintf(&without, "%d,%s,%s,%s,%s\n", r.job, r.class, stamp(r.enqueued), stamp(r.started), stamp(r.finished))
	}
	differ := func(text string) (found *Recording, folder string, far []string) {
		t.Helper()
		found, folder = read(t, "csv", text), t.TempDir()
		written, err := found.Write(Target{Scenario: filepath.Join(folder, "urgent.yaml"), Seeds: 2})
		if err != nil {
			t.Fatal(err)
		}
		all, err := found.Compare(context.Background(), written, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range all {
			if strings.HasPrefix(c.What, "fresh wait ") && c.Distance > closeDistance {
				far = append(far, c.What)
			}
		}
		return found, folder, far
	}
	found, folder, far := differ(with.String())
	if len(found.Classes) != 2 || found.Classes[0].Name != "mail-p4" || found.Classes[0].Priority != 4 || found.Classes[1].Name != "mail-p1" || found.Classes[1].Priority != 1 {
		t.Errorf("got classes %s %d and %s %d", found.Classes[0].Name, found.Classes[0].Priority, found.Classes[1].Name, found.Classes[1].Priority)
	}
	if text := contents(t, folder); !strings.Contains(text, "priority: 1   #") || !strings.Contains(text, "priority: 4   #") {
		t.Errorf("the scenario has no priorities:\n%s", text)
	}
	if len(far) > 0 {
		t.Errorf("with priorities %v are far off", far)
	}
	if _, _, far := differ(without.String()); len(far) == 0 {
		t.Error("without priorities all waits are as recorded: the test shows nothing")
	}
}

// What is no priority is left out, and that is said; one priority for all says nothing.
func TestPrioritiesThatSayNothing(t *testing.T) {
	t.Parallel()
	text := func(priorities ...string) string {
		var b strings.Builder
		b.WriteString("id,queue,priority,enqueued,started,finished\n")
		for i := range 40 {
			fmt.Fprintf(&b, "%d,mail,%s,%d,%d,%d.5\n", i, priorities[i%len(priorities)], 100+i, 100+i, 100+i)
		}
		return b.String()
	}
	for _, tt := range []struct {
		name     string
		text     string
		classes  []string
		repaired int64
	}{
		{"one", text("2"), []string{"mail"}, 0},
		{"none", text(""), []string{"mail"}, 0},
		{"words", text("high", "low"), []string{"mail"}, 40},
		{"too large", text("1e9", "3"), []string{"mail", "mail-p3"}, 20},
		{"below 0", text("-1", "1.0"), []string{"mail-p-1", "mail-p1"}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			found := read(t, "csv", tt.text)
			var names []string
			for _, c := range found.Classes {
				names = append(names, c.Name)
			}
			if fmt.Sprint(names) != fmt.Sprint(tt.classes) {
				t.Errorf("got classes %v, want %v", names, tt.classes)
			}
			repaired := int64(0)
			for _, r := range found.Repairs {
				if strings.Contains(r.What, "priority") {
					repaired += r.Count
				}
			}
			if repaired != tt.repaired {
				t.Errorf("%d rows are repaired, want %d", repaired, tt.repaired)
			}
		})
	}
}
