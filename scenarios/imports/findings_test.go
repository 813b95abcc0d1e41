package imports

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"
)

// Records with one row for each job, its last attempt, show that there were earlier attempts though not when.
func TestLastAttemptsOnly(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("id,enqueued,started,finished,attempt\n")
	for i := range 200 {
		fmt.Fprintf(&b, "%d,%d,%d.2,%d.%d,%d\n", i, i, i, i, 3+i%6, 1+i%3)
	}
	found := read(t, "csv", b.String())
	if keys := strings.Join(found.Retry.Keys, ", "); keys != "max-attempts: unlimited" {
		t.Errorf("retry is {%s}", keys)
	}
	if len(found.Retry.Notes) != 1 || !strings.Contains(found.Retry.Notes[0], "up to 3 attempts, but the pauses between them are not known") {
		t.Errorf("notes are %q", found.Retry.Notes)
	}
	folder := t.TempDir()
	if _, err := found.Write(Target{Scenario: filepath.Join(folder, "a.yaml")}); err != nil {
		t.Fatal(err)
	}
	if text := contents(t, folder); strings.Contains(text, "max-attempts: 1") || strings.Contains(text, "no second attempt") ||
		!strings.Contains(text, "   # the pauses between attempts are not recorded: the usual ones\n") {
		t.Errorf("the scenario says that jobs are not tried again, or when:\n%s", text)
	}
}

// retried returns, as CSV, n jobs that fail once for each of the pauses, in s, which last from the end of an attempt to
// the due time of the next.
func retried(n int, pauses ...int) string {
	var b strings.Builder
	b.WriteString("id,enqueued,due,started,finished,attempt,error\n")
	for i := range n {
		at := 10 * i
		for k := 0; k <= len(pauses); k++ {
			failure := "timeout"
			if k == len(pauses) {
				failure = ""
			}
			fmt.Fprintf(&b, "%d,%d,%d,%d.5,%d.%d,%d,%s\n", i, 10*i, at, at, at+3, i%10, k+1, failure)
			if k < len(pauses) {
				at += 3 + pauses[k]
			}
		}
	}
	return b.String()
}

// A row without its end makes one pause longer by a run time, not all of them shorter.
func TestOneBadRowShiftsNoPause(t *testing.T) {
	t.Parallel()
	text := retried(60, 20)
	want := read(t, "csv", text).Retry
	lines := strings.Split(text, "\n")
	cells := strings.Split(lines[21], ",")
	cells[4] = ""
	lines[21] = strings.Join(cells, ",")
	got := read(t, "csv", strings.Join(lines, "\n")).Retry
	if len(want.Pauses) != 1 || len(got.Pauses) != 1 || got.Pauses[0].Recorded != want.Pauses[0].Recorded {
		t.Errorf("with one bad row pauses are %+v, without %+v", got.Pauses, want.Pauses)
	}
	if a, b := strings.Join(got.Keys, ", "), strings.Join(want.Keys, ", "); a != b {
		t.Errorf("with one bad row retry is {%s}, without {%s}", a, b)
	}
}

// Two pauses fit a linear and an exponential backoff: the usual one is written, with a note.
func TestTwoPausesFitTwoFamilies(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		pauses []int
		want   string
		noted  bool
	}{
		{"two", []int{20, 40}, "kind: exponential, first: 20s, factor: 2", true},
		{"two and a bound", []int{20, 40, 40}, "kind: exponential, first: 20s, factor: 2, max: 40s", true},
		{"linear", []int{20, 40, 60}, "kind: linear, first: 20s, step: 20s", false},
		{"exponential", []int{20, 40, 80}, "kind: exponential, first: 20s, factor: 2", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			found := read(t, "csv", retried(60, tt.pauses...)).Retry
			if keys := strings.Join(found.Keys, ", "); !strings.Contains(keys, tt.want) {
				t.Errorf("retry is {%s}, want %s", keys, tt.want)
			}
			if noted := strings.Contains(strings.Join(found.Notes, "\n"), "exponential, linear"); noted != tt.noted {
				t.Errorf("notes are %q", found.Notes)
			}
		})
	}
}

// A hole in a row is a repair that is counted, with its line.
func TestHolesAreRepairs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, column, want string }{
		{"no start", "3", "1 ended and do not say when they began"},
		{"no finish", "4", "1 began and do not say when they ended"},
		{"no enqueued time beside a due one", "1", "1 do not say when they were enqueued: when they were due stands in"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			lines := strings.Split(retried(60), "\n")
			cells := strings.Split(lines[21], ",")
			cells[tt.column[0]-'0'] = ""
			lines[21] = strings.Join(cells, ",")
			found := read(t, "csv", strings.Join(lines, "\n"))
			if len(found.Repairs) != 1 || found.Repairs[0].Line != 22 || !strings.HasPrefix(fmt.Sprint(found.Repairs[0].Count, " ", found.Repairs[0].What), tt.want) {
				t.Errorf("got repairs %+v, want %q", found.Repairs, tt.want)
			}
		})
	}
}

// In autumn an hour comes twice: the order of rows determines which one is meant. In spring one is
// skipped.
func TestClockChanges(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString(head)
	begin := time.Date(2026, 10, 24, 23, 0, 0, 0, time.UTC) // 01:00 in Berlin
	for i := range 240 {
		at := begin.Add(time.Duration(i) * time.Minute)
		local := func(after time.Duration) string { return at.Add(after).In(berlin).Format("2006-01-02 15:04:05") }
		fmt.Fprintf(&b, "%d,%s,%s,%s\n", i, local(0), local(time.Second), local(time.Duration(2+i%3)*time.Second))
	}
	found, err := Read(context.Background(), []File{{"jobs.csv", strings.NewReader(b.String())}}, Options{From: "csv", Zone: berlin})
	if err != nil {
		t.Fatal(err)
	}
	if found.Length != 239*time.Minute || found.Classes[0].Wait.Max() > 2*time.Second {
		t.Errorf("the jobs came over %v with waits up to %v, want 3h59m and 1 s", found.Length, found.Classes[0].Wait.Max())
	}
	if len(found.Repairs) != 1 || found.Repairs[0].Count != 120 || found.Repairs[0].Line != 62 {
		t.Errorf("got repairs %+v, want 120 from line 62 on", found.Repairs)
	}
	_, err = Read(context.Background(), []File{{"jobs.csv", strings.NewReader(head + "1,2026-03-29 02:30:00,,\n")}}, Options{From: "csv", Zone: berlin})
	if err == nil || !strings.Contains(err.Error(), "line 2: enqueued: \"2026-03-29 02:30:00\" is in an hour that a clock change skips") {
		t.Errorf("got %v", err)
	}
}

// Where attempts are on record for long after the last arrival, the simulation goes on as long, or it would
// have fewer of them; never for longer than a scenario may.
func TestDrainCoversTheRecords(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, last, want string }{
		{"soon", "2026-01-05 09:00:50", ""},
		{"later", "2026-01-05 11:00:40.5", "drain: 2h1s "},
		{"a clock gone mad", "2199-01-05 09:00:00", "drain: 23999h59m20s "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			text := "id,enqueued,started,finished,attempt,error\n"
			for i := range 40 {
				text += fmt.Sprintf("%d,2026-01-05 09:00:%02d,2026-01-05 09:00:%02d,2026-01-05 09:00:%02d.5,1,timeout\n", i, i, i, i)
			}
			text += fmt.Sprintf("0,2026-01-05 09:00:00,%s,%[1]s,2,\n", tt.last)
			text += "40,2026-01-05 09:00:40,2026-01-05 09:00:40,2026-01-05 09:00:40.5,1,\n"
			found, folder := read(t, "csv", text), t.TempDir()
			if _, err := found.Write(Target{Scenario: filepath.Join(folder, "a.yaml")}); err != nil {
				t.Fatal(err)
			}
			if got := contents(t, folder); tt.want == "" && strings.Contains(got, "drain:") || !strings.Contains(got, tt.want) {
				t.Errorf("want %q in\n%s", tt.want, got)
			}
		})
	}
}

// Runs shorter than the records' resolution have no length: alone or among others they need no
// workers, and are no error.
func TestRunsOfNoLength(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		every int // every n-th job runs for a second
		want  int // workers at once
	}{{"all", 0, 0}, {"some", 4, 1}, {"none", 1, 1}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			text := "id,enqueued,started,finished\n"
			for i := range 40 {
				ends := 100 + 3*i
				if tt.every > 0 && i%tt.every == 0 {
					ends++
				}
				text += fmt.Sprintf("%d,%d,%[2]d,%d\n", i, 100+3*i, ends)
			}
			found := read(t, "csv", text)
			if found.Workers.Most != tt.want {
				t.Errorf("%d ran at once, want %d", found.Workers.Most, tt.want)
			}
			if _, err := found.Write(Target{Scenario: filepath.Join(t.TempDir(), "a.yaml")}); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestClassKeepsItsRetries: the class with the most retries has others than most jobs. Its own stay its own, though all
// retries together look like them.
func TestClassKeepsItsRetries(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("id,class,enqueued,due,started,finished,attempt,error\n")
	id := 0
	add := func(class string, jobs, failing, pause int) {
		for i := range jobs {
			id++
			at, attempt := 10*id, 1
			if i < failing {
				fmt.Fprintf(&b, "%d,%s,%d,%d,%d.5,%d,1,timeout\n", id, class, at, at, at, at+3)
				at, attempt = at+3+pause, 2
			}
			fmt.Fprintf(&b, "%d,%s,%d,%d,%d.5,%d,%d,\n", id, class, 10*id, at, at, at+3, attempt)
		}
	}
	add("busy", 500, 500, 10)
	add("mails", 400, 12, 60)
	add("hooks", 400, 12, 60)
	found := read(t, "csv", b.String())
	if keys := strings.Join(found.Retry.Keys, ", "); !strings.Contains(keys, "delay: 1m") {
		t.Errorf("most jobs have {%s}", keys)
	}
	own := map[string]string{}
	for _, c := range found.Classes {
		if c.Retry != nil {
			own[c.Name] = strings.Join(c.Retry.Keys, ", ")
		}
	}
	if len(own) != 1 || !strings.Contains(own["busy"], "delay: 10s") {
		t.Errorf("classes have retries of their own: %v", own)
	}
}

// Where only poisoned jobs fail, the scenario has their run times and error kinds too.
func TestPoisonAloneFails(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("id,enqueued,due,started,finished,attempt,error\n")
	for i := range 400 {
		at, attempts, failure := 10*i, 1, ""
		if i%10 == 0 {
			attempts, failure = 3, "timeout"
		}
		for k := range attempts {
			fmt.Fprintf(&b, "%d,%d,%d,%d,%d,%d,%s\n", i, 10*i, at, at, at+1+5*attempts/3, k+1, failure)
			at += 20
		}
	}
	found, folder := read(t, "csv", b.String()), t.TempDir()
	if _, err := found.Write(Target{Scenario: filepath.Join(folder, "a.yaml")}); err != nil {
		t.Fatal(err)
	}
	if text := contents(t, folder); !strings.Contains(text, "fails: {rate: 0%, takes: 6s, errors: {timeout: 100%}}\n    poison: 10%") {
		t.Errorf("the scenario is\n%s", text[strings.Index(text, "engine:"):])
	}
}

// A job that was put back by hand is so however often the records have it, until they have it dead.
func TestPutBackTwice(t *testing.T) {
	waits, dead := record{sort: ofJob, state: stateWaiting}, record{sort: ofJob, state: stateDead}
	for _, records := range [][]record{{waits}, {waits, waits}, {dead, waits, waits}, {waits, dead}} {
		last := records[len(records)-1].state == stateDead
		j := job{most: 3, tries: []try{{number: 3, failure: 1, ended: true, due: unknown}}}
		if j.settle(records); j.putBack == last || j.dead != last {
			t.Errorf("%d rows, dead in the last %v: dead %v, put back %v", len(records), last, j.dead, j.putBack)
		}
	}
}

// Of jobs that failed as often as they may, those whose own row says that they wait were put back by hand: they are open,
// not dead, and a note says so. A row of an earlier attempt says nothing of that.
func TestPutBackByHand(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, states string // of each attempt, the last of which is the third of three
		dead         int64
	}{
		{"dead", "retry retry dead", 40},
		{"dead by the limit", "retry retry failed", 40},
		{"dead by the limit, which nothing says", "retry retry ", 40},
		{"waiting", "retry retry retry", 0},
		{"ready", "retry retry available", 0},
		{"waiting again", "retry dead scheduled", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var b strings.Builder
			b.WriteString("id,enqueued,started,finished,attempt,max_attempts,state,error\n")
			for i := range 40 {
				for k, state := range strings.Split(tt.states, " ") {
					fmt.Fprintf(&b, "%d,%d,%d,%d,%d,3,%s,timeout\n", i, 10*i, 10*i+3*k, 10*i+3*k+1, k+1, state)
				}
			}
			b.WriteString("40,400,400,401,1,3,done,\n")
			found := read(t, "csv", b.String())
			noted := strings.Contains(strings.Join(found.Notes, "\n"), "40 jobs wait for another attempt although they had all of theirs")
			if c := found.Classes[0]; c.Dead != tt.dead || c.Done != 1 || noted != (tt.dead == 0) {
				t.Errorf("%d of %d jobs are dead, want %d; notes are %q", c.Dead, c.Jobs, tt.dead, found.Notes)
			}
		})
	}
}

// An incident is found by all attempts of the jobs in the window asked for, also those long after it, and no others.
func TestIncident(t *testing.T) {
	t.Parallel()
	text := "id,enqueued,started,finished,error\n"
	for i := 1; i <= 1800; i++ { // a job a second, of which some fail from 600 to 900 s, and are tried an hour later
		failed := i >= 600 && i < 900 && i%5 > 0
		at := i
		for _, kind := range []string{"timeout", ""} {
			if failed || kind == "" {
				text += fmt.Sprintf("%d,%d,%d,%d.5,%s\n", i, i, at, at, kind)
				at += 3600
			}
		}
	}
	text += "last,1000000,1000000,1000000.5,\n"
	for until, want := range map[string]string{
		"1000": "from 10m08s to 14m56s 80% of attempts failed: an incident",
		"1800": "from 10m08s to 14m56s 80% of attempts failed: an incident",
		"500":  "",
		"":     "",
	} {
		found, err := Read(context.Background(), []File{{"jobs.csv", strings.NewReader(text)}}, Options{From: "csv", Until: until})
		if err != nil {
			t.Fatal(err)
		}
		notes := strings.Join(found.Notes, "\n")
		if strings.Contains(notes, "incident") != (want != "") || !strings.Contains(notes, want) {
			t.Errorf("until %s: got notes %s, want %s", until, notes, want)
		}
	}
	line := timeline{first: unknown, last: unknown, width: 1e9, bins: map[int64]bin{}}
	for i := range timestamp(500) {
		line.add(i*1e9, i < 50)
	}
	if line.width != 4e9 || line.bins[3] != (bin{4, 4}) || line.bins[124] != (bin{4, 0}) {
		t.Errorf("got bins %v of %v", line.bins, line.width)
	}
}

// Errors, repairs and rows without an id are told by the file and the line where they are.
func TestSeveralFiles(t *testing.T) {
	t.Parallel()
	const names, good = "id,enqueued,started,finished,attempt\n", "1,2,3,4,1\n2,2,3,4,1\n3,2,3,4,1\n"
	for _, tt := range []struct {
		second, third string
		jobs          int64
		want          string // error, or repairs
	}{
		{names + good, names + good, 3, "6 stand there twice, word for word: taken once (b.csv, line 2)"},
		{names + "4,2,3,4,1\n", names + "5,2,3,x,1\n", 0, "c.csv, line 2: finished"},
		{names + "4,2,3,4,1\n", names + "4,2,3,5,1\n", 0, "c.csv, line 2: the job of this row had its attempt 1 in line 2 already"},
		{names + "4,2,3,4,1\n", names + "\n6,,6,7,2\n6,,3,4,1\n7,,3,4,1\n", 6, "2 do not say when they were enqueued: the first time that they do say stands in, and their wait is not known (c.csv, line 3)"},
		{"enqueued,started,finished\n2,3,4\n", "enqueued,started,finished\n2,3,4\n", 5, ""},
	} {
		files := []File{{"a.csv", strings.NewReader(names + good)}, {"b.csv", strings.NewReader(tt.second)}, {"c.csv", strings.NewReader(tt.third)}}
		found, err := Read(context.Background(), files, Options{From: "csv"})
		got := fmt.Sprint(err)
		if err == nil {
			got = ""
			for _, r := range found.Repairs {
				got += fmt.Sprintf("%d %s (%s, line %d)", r.Count, r.What, r.File, r.Line)
			}
			if found.Jobs != tt.jobs {
				t.Errorf("got %d jobs, want %d", found.Jobs, tt.jobs)
			}
		}
		if !strings.HasPrefix(got, tt.want) || tt.want == "" && got != "" {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}
