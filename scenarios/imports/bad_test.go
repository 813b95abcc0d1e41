package imports

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// rows returns n valid records as CSV, of a job a second that runs for 0.1 s or more.
func rows(n int) string {
	var b strings.Builder
	for i := range n {
		at := epoch.Add(time.Duration(i) * time.Second)
		fmt.Fprintf(&b, "%d,%s,%s,%s\n", i, at.Format(time.RFC3339Nano), at.Add(50*time.Millisecond).Format(time.RFC3339Nano), at.Add(time.Duration(150+i%70)*time.Millisecond).Format(time.RFC3339Nano))
	}
	return b.String()
}

const head = "id,enqueued,started,finished\n"

func TestBadInput(t *testing.T) {
	t.Parallel()
	good := head + rows(40)
	for _, tt := range []struct {
		name, text string
		options    Options
		want       string
	}{
		{"empty", "", Options{}, "jobs.csv, line 1: the file is empty"},
		{"names only", head, Options{}, "there is no job in it"},
		{"a table for a log", good, Options{From: "sidekiq"}, "there is no job in it: no line is a payload in JSON, nor of a job in Sidekiq's log"},
		{"a log without jobs", "2026-01-31T09:30:00.123Z pid=7 tid=abc INFO: Booted\n", Options{From: "sidekiq"}, "no line is a payload in JSON, nor of a job in Sidekiq's log"},
		{"a log without the queue", `{"jid": "1", "class": "A", "queue": "a"}`, Options{From: "sidekiq", Queues: []string{"b"}}, "there is no job in it\n"},
		{"no time", "a,b\n1,2\n", Options{}, "line 1: no column says when: there are a, b; map them, as --columns enqueued=COLUMN"},
		{"two columns of a name", "id,Enqueued,enqueued_\n", Options{}, "line 1: columns 2 and 3 are both called"},
		{"a hole", good + "77,2026-01-05T10:00:00Z\n", Options{}, "line 42: the row has more or fewer than 4 cells"},
		{"a quote that is not closed", good + "\"77,2026-01-05T10:00:00Z,,\n1,2,3,4\n", Options{}, "line 42: a quote"},
		{"no date", good + "77,yesterday,,\n", Options{}, `line 42: enqueued: "yesterday" is not a time`},
		{"a date that there is not", good + "77,2026-02-30T10:00:00Z,,\n", Options{}, `line 42: enqueued: "2026-02-30T10:00:00Z" is not a time`},
		{"zones here and none there", good + "77,2026-01-05 10:00:00,,\n", Options{}, "line 42: enqueued: \"2026-01-05 10:00:00\" has no time zone where others have one: say --timezone"},
		{"a number beyond the calendar", good + "77,9999999999,,\n", Options{}, `line 42: enqueued: "9999999999" is not a time`},
		{"a number beyond nanoseconds", good + "77,100000000000000000000,,\n", Options{}, `line 42: enqueued: "100000000000000000000" is not a time`},
		{"dates and seconds", good + "77,12.5,,\n", Options{}, "line 42: enqueued: \"12.5\": some times count from 1970"},
		{"UTF-16", "\xff\xfei\x00d\x00", Options{}, "the file is UTF-16"},
		{"UTF-16, the higher byte first", "\xfe\xff\x00i\x00d", Options{}, "the file is UTF-16"},
		{"compressed", "\x1f\x8b\x08", Options{}, "the file is compressed"},
		{"zero bytes", "id,enqueued\n1,\x002\n", Options{}, "line 2: there is a zero byte"},
		{"an attempt that is no number", "id,enqueued,attempt\n1,1,two\n", Options{}, `line 2: attempt: "two" is not a whole number`},
		{"an attempt twice", "id,enqueued,started,finished,attempt\n1,1,2,3,1\n1,1,5,6,1\n", Options{}, "line 3: the job of this row had its attempt 1 in line 2 already"},
		{"a clock that runs backwards", good + strings.Repeat("99,2026-01-05T10:00:09Z,2026-01-05T10:00:09Z,2026-01-05T10:00:01Z\n", 1) + backwards(30), Options{}, "line 42: 31 of 71 rows, from here on, end before they start"},
		{"strict", good + "77,2026-01-05T10:00:09Z,2026-01-05T10:00:09Z,2026-01-05T10:00:01Z\n", Options{Strict: true}, "line 42: 1 rows from here on end before they start"},
		{"no run times", "id,enqueued\n1,1\n2,2\n", Options{}, "class jobs: no run time of a job that succeeded is recorded"},
		{"an unknown role", good, Options{Columns: []string{"when=enqueued"}}, "there is no role when"},
		{"a column that is not there", good, Options{Columns: []string{"started=begun"}}, "--columns started=begun: there is no such column; there are id, enqueued, started, finished"},
		{"a wrong limit", good, Options{Since: "noon"}, `--since: "noon" is not a time`},
		{"nothing left", good, Options{Since: "2027-01-01T00:00:00Z"}, "no job is left to import"},
		{"nothing left from a day on", good, Options{Since: "2026-01-06"}, "no job is left to import"},
		{"nothing left until a day", good, Options{Until: "2026-01-05"}, "no job is left to import"},
		{"no day", good, Options{Since: "2026-02-30"}, `--since: "2026-02-30" is not a time`},
		{"JSON that ends", `[{"id": 1, "enqueued": 5}, {"id": 2`, Options{}, "line 1: the JSON ends in the middle"},
		{"JSON that is none", "{\"id\": 1, \"enqueued\": 5}\n{id: 2}\n", Options{}, "line 2: invalid character"},
		{"JSON of numbers", "[1, 2]", Options{}, "want an object for each job, not 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.options.From = cmp.Or(tt.options.From, "csv")
			_, err := Read(context.Background(), []File{{"jobs.csv", strings.NewReader(tt.text)}}, tt.options)
			if err == nil {
				t.Fatal("there is no error")
			}
			if !strings.Contains(err.Error()+"\n", tt.want) {
				t.Errorf("got %q, want %q in it", err, tt.want)
			}
		})
	}
}

func backwards(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "b%d,2026-01-05T10:00:09Z,2026-01-05T10:00:09Z,2026-01-05T10:00:01Z\n", i)
	}
	return b.String()
}

func TestRepairs(t *testing.T) {
	t.Parallel()
	good := rows(60)
	for _, tt := range []struct {
		name, text string
		jobs       int64
		want       string // expected text of the repairs, "" for none
	}{
		{"a byte order mark, quoted newlines and spaces", "\ufeffid,enqueued,started,finished,error\n\"a\nb\",1,2,3,\"line\nline\"\n" + manyRelative(30), 31, ""},
		{"semicolons", strings.ReplaceAll(head+good, ",", ";"), 60, ""},
		{"names longer than what is looked at first", strings.ReplaceAll(strings.Replace(head, "finished", `"finished`+strings.Repeat(" ", peeked)+`"`, 1)+good, ",", ";"), 60, ""},
		{"carriage returns", strings.ReplaceAll(head+good, "\n", "\r\n"), 60, ""},
		{"a run time with an exponent", "id,finished,took\n1,1.7e9,2.5e-05\n", 1, "1 do not say when"},
		{"a row twice", head + good + good[strings.LastIndex(good, "\n59,")+1:], 60, "1 stand there twice"},
		{"an end before its start", head + good + "77,2026-01-05T09:00:09Z,2026-01-05T09:00:09Z,2026-01-05T09:00:01Z\n", 61, "1 end before they start"},
		{"a start a little before", head + good + "77,2026-01-05T09:00:09Z,2026-01-05T09:00:08.5Z,2026-01-05T09:00:10Z\n", 61, "1 start up to a second before"},
		{"a start long before", head + good + "77,2026-01-05T09:00:09Z,2026-01-05T09:00:01Z,2026-01-05T09:00:10Z\n", 61, "1 start more than a second before"},
		{"no enqueued time", head + good + "77,,2026-01-05T09:00:01Z,2026-01-05T09:00:10Z\n", 61, "1 do not say when"},
		{"no time at all", head + good + "77,,,\n", 60, "1 say no time"},
		{"unknown states", "id,enqueued,started,finished,state\na,1,2,3,Ok\nb,2,3,4,timed out\nc,3,4,5,0\nd,4,5,6,NULL\n" + manyRelative(30), 34, "2 have a state other than done"},
		{"unfinished", head + good + "77,2026-01-05T09:00:01Z,,\n", 61, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			found := read(t, "csv", tt.text)
			if found.Jobs != tt.jobs {
				t.Errorf("got %d jobs, want %d", found.Jobs, tt.jobs)
			}
			var got []string
			for _, r := range found.Repairs {
				got = append(got, fmt.Sprintf("%d %s (line %d)", r.Count, r.What, r.Line))
			}
			if text := strings.Join(got, "; "); tt.want == "" && text != "" || !strings.HasPrefix(text, tt.want) {
				t.Errorf("got repairs %q, want %q", text, tt.want)
			}
		})
	}
}

func manyRelative(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d,%d,%d.5,%d.75,\n", i, i+1, i+1, i+2+i%3)
	}
	return b.String()
}

func TestMoments(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	want := time.Date(2026, 7, 1, 8, 30, 0, 250e6, time.UTC).UnixNano()
	for _, tt := range []struct {
		text string
		zone *time.Location
	}{
		{"2026-07-01T08:30:00.25Z", nil}, {"2026-07-01 08:30:00.25+00", nil}, {"2026-07-01 10:30:00.25+02", nil}, {"2026-07-01T10:30:00.25+02:00", nil},
		{"2026-07-01 14:00:00.25+0530", nil}, {"2026-07-01 08:30:00.25 UTC", nil}, {"2026-07-01 08:30:00.25 +0000", nil}, {"2026-07-01 08:30:00.25 +0000 UTC", nil},
		{"2026-07-01 08:30:00.25", nil}, {"2026-07-01 10:30:00.25", berlin}, {"2026-07-01T08:30:00.25Z", berlin},
		{"1782894600.25", nil}, {"1782894600250", nil}, {"1782894600250000", nil}, {"1782894600250000000", nil},
	} {
		m := timestamps{zone: tt.zone}
		if got, _, err := m.read(tt.text); err != nil || int64(got) != want {
			t.Errorf("%q is %v with error %v, want %v", tt.text, time.Unix(0, int64(got)).UTC(), err, time.Unix(0, want).UTC())
		}
	}
	if got, _, err := new(timestamps).read("1.7e9"); got != 1.7e18 {
		t.Errorf("1.7e9 is %d with error %v", got, err)
	}
}

// More attempts than the memory limit are an error with the row and advice.
func TestMostRecords(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		most int
		want string
	}{
		{60, ""},
		{59, "jobs.csv, line 61: more than 59 attempts are on record, which is how many are imported at once: " +
			"import one queue of them with --queue, or split the files"},
	} {
		files := []File{{"jobs.csv", strings.NewReader(head + rows(60))}}
		_, err := Read(context.Background(), files, Options{From: "csv", mostRecords: tt.most})
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || err.Error() != tt.want) {
			t.Errorf("with at most %d records got %v, want %q", tt.most, err, tt.want)
		}
	}
}

func TestReadIsInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Read(ctx, []File{{"jobs.csv", strings.NewReader(head + rows(5))}}, Options{From: "csv"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// Writing neither overwrites existing files nor leaves incomplete ones behind.
func TestWriteIsCareful(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	own := filepath.Join(folder, "a-jobs.csv")
	if err := os.WriteFile(own, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, force := range []bool{false, true} {
		found := read(t, "csv", head+rows(60))
		if _, err := found.Write(Target{Scenario: filepath.Join(folder, "a.yaml"), Force: force, Keep: []string{own}}); err == nil {
			t.Errorf("the imported file is overwritten, force %v", force)
		}
		if got := contents(t, folder); got != "-- a-jobs.csv --\nmine" {
			t.Errorf("the folder holds %s", got)
		}
	}
}
