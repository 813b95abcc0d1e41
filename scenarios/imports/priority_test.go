package imports

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
		all, err := found.Compare(context.Background(), written, 1)
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

// priorityRows returns records of jobs as CSV, each with its queue and its priority.
func priorityRows(jobs ...[2]string) string {
	var b strings.Builder
	b.WriteString("id,queue,priority,enqueued,started,finished\n")
	for i, job := range jobs {
		fmt.Fprintf(&b, "%d,%s,%s,%d,%d,%d.5\n", i, job[0], job[1], 100+i, 100+i, 100+i)
	}
	return b.String()
}

// times returns n jobs for priorityRows, of one queue, with the given priorities in turn.
func times(n int, queue string, priorities ...string) (jobs [][2]string) {
	for i := range n {
		jobs = append(jobs, [2]string{queue, priorities[i%len(priorities)]})
	}
	return jobs
}

func numbers(from, to int) (words []string) {
	for n := from; n <= to; n++ {
		words = append(words, fmt.Sprint(n))
	}
	return words
}

// Invalid priorities are left out, with a note: such rows get the most frequent one of their class.
// A single priority for all jobs is ignored; so are too many for a class each.
func TestPrioritiesThatSayNothing(t *testing.T) {
	t.Parallel()
	rest := times(200, "rest", "3") // a class whose priority is known
	for _, tt := range []struct {
		name     string
		jobs     [][2]string
		classes  []string // classes and their priorities in the scenario; - is no priority
		repaired int64
		notes    []string
	}{
		{"one", times(40, "mail", "2"), []string{"mail -"}, 0, nil},
		{"none", times(40, "mail", ""), []string{"mail -"}, 0, nil},
		{"words", times(40, "mail", "high", "low"), []string{"mail -"}, 40, nil},
		{"too large", times(40, "mail", "1e9", "3"), []string{"mail -"}, 20, []string{"20 rows without a priority count as the most frequent"}},
		{"below 0", times(40, "mail", "-1", "1.0"), []string{"mail-p-1 -1", "mail-p1 1"}, 0, nil},
		{"half are empty", slices.Concat(times(100, "mail", "", "5"), rest), []string{"rest 3", "mail 5"}, 0, []string{"50 rows without a priority count as the most frequent"}},
		{"the most frequent", slices.Concat(times(120, "mail", "7", "", "7", "2"), rest), []string{"rest 3", "mail-p7 7", "mail-p2 2"}, 0, []string{"30 rows without a priority count as the most frequent"}},
		{"most are empty", slices.Concat(times(100, "mail", "", "", "5"), rest), []string{"rest -", "mail -"}, 0, nil},
		{"most are empty beside two", slices.Concat(times(90, "mail", "", "", "5"), rest, times(100, "bulk", "9")),
			[]string{"rest 3", "bulk 9", "mail -"}, 0, []string{"class mail has no priority, which counts as 0: most of its rows have none"}},
		{"two that most lack", slices.Concat(times(150, "mail", "", "", "5", "", "6"), rest, times(100, "bulk", "9")),
			[]string{"rest 3", "mail -", "bulk 9"}, 0, []string{"class mail has no priority, which counts as 0: most of its rows have none"}},
		{"none beside two", slices.Concat(times(90, "mail", ""), rest, times(100, "bulk", "9")),
			[]string{"rest 3", "bulk 9", "mail -"}, 0, []string{"class mail has no priority, which counts as 0: none is on record"}},
		{"a rare one", slices.Concat(times(100, "mail", "5"), times(2, "mail", "4", "900"), rest), []string{"rest 3", "mail 5"}, 0, []string{"2 rows with a rare priority count as the nearest frequent one of their class"}},
		{"rare ones that are many", slices.Concat(times(100, "mail", "5"), times(12, "mail", "4"), rest, times(150, "bulk", "9")), []string{"rest 3", "bulk 9", "mail -"}, 0,
			[]string{"class mail has no priority, which counts as 0: its rows have 2, too many or too rare"}},
		{"room for one of two", slices.Concat(times(3*300, "mail", "1", "2", "3"), times(22*20, "bulk", numbers(1, 22)...), rest), []string{"bulk -", "mail-p1 1", "mail-p2 2", "mail-p3 3", "rest 3"}, 0,
			[]string{"class bulk has no priority, which counts as 0: its rows have 22"}},
		{"two rare ones beside two", slices.Concat(times(100, "mail", "5", "100"), times(3, "mail", "4", "900", "52"), rest), []string{"rest 3", "mail-p5 5", "mail-p100 100"}, 0, []string{"3 rows with a rare priority"}},
		{"too small to fit", slices.Concat(times(38, "mail", "1", "5"), rest, times(100, "bulk", "9")), []string{"rest 3", "bulk 9", "mail -"}, 0,
			[]string{"class mail has no priority, which counts as 0: its rows have 2, too many or too rare for a class of each"}},
		{"too small, alone", times(38, "mail", "1", "5"), []string{"mail -"}, 0, []string{"class mail has no priority: its rows have 2, too many"}},
		{"as many as there is room for", times(24*20, "mail", numbers(1, 24)...), nil, 0, nil},
		{"more than there is room for", times(25*20, "mail", numbers(1, 25)...), []string{"mail -"}, 0, []string{"class mail has no priority: its rows have 25"}},
		{"thousands", times(6000, "mail", numbers(0, 5000)...), []string{"mail -"}, 0, []string{"class mail has no priority: its rows have 5001"}},
		{"no room beside others", slices.Concat(times(23*20, "mail", numbers(1, 23)...), rest, times(100, "bulk", "9")), []string{"mail -", "rest 3", "bulk 9"}, 0,
			[]string{"class mail has no priority, which counts as 0: its rows have 23"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			found := read(t, "csv", priorityRows(tt.jobs...))
			classes := classesWritten(t, found)
			if tt.classes == nil && len(classes) != mostClasses || tt.classes != nil && !slices.Equal(classes, tt.classes) {
				t.Errorf("got classes %q, want %q", classes, tt.classes)
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
			checkNotes(t, found, tt.notes...)
		})
	}
}

// checkNotes checks that the notes of a recording about single priorities are the given ones and no others.
func checkNotes(t *testing.T, found *Recording, want ...string) {
	t.Helper()
	var got []string
	for _, n := range found.Notes {
		if strings.Contains(n, "priorit") && !strings.HasPrefix(n, "classes have the priorities on record") {
			got = append(got, n)
		}
	}
	if len(got) != len(want) {
		t.Fatalf("got notes %q, want %q", got, want)
	}
	for i := range want {
		if !strings.Contains(got[i], want[i]) {
			t.Errorf("got note %q, want %q", got[i], want[i])
		}
	}
}

// classesWritten returns the classes of the scenario that a recording writes, each with its priority, or - for none.
func classesWritten(t *testing.T, found *Recording) (classes []string) {
	t.Helper()
	folder := t.TempDir()
	if _, err := found.Write(Target{Scenario: filepath.Join(folder, "said.yaml"), Seeds: 1}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(folder, "said.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(text), "\n") {
		if name, is := strings.CutPrefix(line, "  - class: "); is {
			classes = append(classes, name+" -")
		}
		if value, is := strings.CutPrefix(line, "    priority: "); is {
			number, recorded := strings.CutSuffix(value, "   # as recorded; smaller is more urgent")
			if !recorded {
				t.Errorf("got the line %q, which is not as recorded", line)
			}
			classes[len(classes)-1] = strings.TrimSuffix(classes[len(classes)-1], "-") + number
		}
	}
	return classes
}

// Classes with few jobs that are one class have its priority only if they have one in common.
func TestPriorityOfOthers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		small [2]string // priorities of the last two queues
		want  string
		notes []string
	}{
		{"equal", [2]string{"7", "7"}, "others 7", nil},
		{"different", [2]string{"7", "8"}, "others -", []string{"class others has no priority, which counts as 0: its rows have 2"}},
		{"unknown", [2]string{"7", ""}, "others -", []string{"class others has no priority, which counts as 0: some of its rows have none"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var jobs [][2]string
			for i := range mostClasses {
				jobs = append(jobs, times(30, fmt.Sprintf("queue%d", i), fmt.Sprint(i%2+1))...)
			}
			for i, p := range tt.small {
				jobs = append(jobs, times(22, fmt.Sprintf("small%d", i), p)...)
			}
			found := read(t, "csv", priorityRows(jobs...))
			classes := classesWritten(t, found)
			if len(classes) != mostClasses+1 || classes[mostClasses] != tt.want {
				t.Errorf("got classes %q, want %q at the end", classes, tt.want)
			}
			checkNotes(t, found, tt.notes...)
			if n := strings.Join(found.Notes, "\n"); !strings.Contains(n, "2 classes with few jobs are one, others") {
				t.Errorf("got notes %s", n)
			}
		})
	}
}

// With more priorities than the importer can distinguish, the error names the column of priorities, not that of
// classes.
func TestTooManyPriorities(t *testing.T) {
	t.Parallel()
	text := priorityRows(times(mostLabels+1, "mail", numbers(1, mostLabels+1)...)...)
	_, err := Read(t.Context(), []File{{Name: "jobs.csv", Reader: strings.NewReader(text)}}, Options{From: "csv"})
	if err == nil || !strings.Contains(err.Error(), "line 10002: there are more than 10000 classes and priorities of them: is the column that says \"10001\" the right one? --columns priority=COLUMN names another") {
		t.Errorf("got %v", err)
	}
}

// A class for each job is the fault of its column, whatever the priority.
func TestTooManyClasses(t *testing.T) {
	t.Parallel()
	var jobs [][2]string
	for _, name := range numbers(1, mostLabels+1) {
		jobs = append(jobs, [2]string{name, "5"})
	}
	_, err := Read(t.Context(), []File{{Name: "jobs.csv", Reader: strings.NewReader(priorityRows(jobs...))}}, Options{From: "csv"})
	if err == nil || !strings.Contains(err.Error(), "line 10002: there are more than 10000 classes: is the column that says \"10001\" the right one? --columns class=COLUMN names another") {
		t.Errorf("got %v", err)
	}
}

// So many classes in a log of Sidekiq, which has no columns, are an error too: the rest were one class without a word.
func TestTooManyClassesOfALog(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	for i := range mostLabels + 1 {
		fmt.Fprintf(&log, "2026-01-05T10:00:00.000Z pid=7 tid=1 class=Job%d jid=%x INFO: start\n", i, i)
	}
	_, err := Read(t.Context(), []File{{Name: "sidekiq.log", Reader: strings.NewReader(log.String())}}, Options{From: "sidekiq"})
	if err == nil || !strings.Contains(err.Error(), "line 10001: there are more than 10000 classes") {
		t.Errorf("got %v", err)
	}
}

// TestZeroByteInClass reads a class whose name has a zero byte and digits behind it, escaped in JSON: they are no
// priority.
func TestZeroByteInClass(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 40 {
		fmt.Fprintf(&text, `{"id": %d, "class": "a\u00005", "enqueued": %d, "started": %d, "finished": %d}`+"\n", i, 1700000000+i, 1700000000+i, 1700000001+i)
	}
	found := read(t, "csv", text.String())
	if c := &found.Classes[0]; len(found.Classes) != 1 || c.Ranked || c.Name != "a-5" {
		t.Errorf("got %d classes, the first of them %s with priority %d (%t), want a-5 without one", len(found.Classes), c.Name, c.Priority, c.Ranked)
	}
}
