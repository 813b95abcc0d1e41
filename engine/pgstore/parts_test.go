package pgstore

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"qsim/engine"
)

// TestFronts begins claims at the front of the line until one has taken long; from then on once a second, or so rarely
// that those claims take a tenth of the time, and the others a little before where the one before them ended.
func TestFronts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const key = int64(time.Hour)
		var f fronts
		begin := func(what string, want place, wantBack time.Duration, wantWhole bool) {
			t.Helper()
			from, back, whole := f.begin(time.Now())
			if from[engine.AnyClass] != want || from[engine.Fresh] != frontOfLine || back != wantBack || whole != wantWhole {
				t.Errorf("%s: from %v, fresh jobs from %v, back %v, whole %v; want %v, %v, %v", what, from[engine.AnyClass],
					from[engine.Fresh], back, whole, want, wantBack, wantWhole)
			}
		}
		end := func(at place, took time.Duration, whole bool, next time.Duration, dear bool) {
			began := time.Now()
			time.Sleep(took)
			ended := [engine.AnyClass + 1]place{frontOfLine, frontOfLine, at}
			f.end(ended, began, whole, next, dear)
		}
		margin := int64(frontMargin)
		begin("the first", frontOfLine, longest, true)
		end(place{3, key}, time.Millisecond, true, time.Hour, false)
		begin("after one that was quick", frontOfLine, longest, true)
		end(place{3, key}, 300*time.Millisecond, true, time.Hour, true)
		begin("after one that took long", place{3, key - margin}, 300*time.Millisecond+frontMargin, false)
		end(place{4, key + 7}, 100*time.Millisecond, false, 0, true)
		begin("while some are due still", place{4, key + 7 - margin}, 400*time.Millisecond+frontMargin, false)
		end(place{4, key + 8}, 2*time.Second, false, 1, true)
		begin("once none is", place{4, key + 8 - margin}, 2*time.Second+frontMargin, false)
		end(place{4, key + 8}, 100*time.Millisecond, false, 1, true)
		begin("however quick those between are", place{4, key + 8 - margin}, 100*time.Millisecond+frontMargin, false)
		end(place{4, math.MinInt64 + margin + 1}, 500*time.Millisecond-1, false, 1, true)
		begin("just before its time", place{4, math.MinInt64 + 1}, 500*time.Millisecond-1+frontMargin, false)
		end(place{4, math.MinInt64 + margin}, 1, false, 1, true)
		begin("after ten times as long as it took", frontOfLine, longest, true)
		end(place{4, math.MinInt64 + margin}, time.Millisecond, true, 1, true)
		begin("where the last one ended at the front", frontOfLine, time.Millisecond+frontMargin, false)
		end(place{4, key}, frontEvery-2*time.Millisecond, false, 1, true)
		begin("just before the second is over", place{4, key - margin}, frontEvery-2*time.Millisecond+frontMargin, false)
		end(place{4, key}, time.Millisecond, false, 1, true)
		begin("after a second", frontOfLine, longest, true)
		end(place{4, key}, time.Millisecond, true, 1, true)
		time.Sleep(200 * 365 * 24 * time.Hour)
		f.whole = time.Now()
		begin("after two hundred years", place{4, key - margin}, longest+frontMargin, false)
	})
}

// TestRestOfReaper lets recoveries that take long rest for twenty times as long, and others not at all.
func TestRestOfReaper(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f fronts
		want := func(rest time.Duration) {
			t.Helper()
			if got := f.restOfReaper(time.Now()); got != rest {
				t.Errorf("rests for %v, want %v", got, rest)
			}
		}
		want(0)
		f.reaped(100*time.Millisecond, true)
		want(2 * time.Second)
		time.Sleep(500 * time.Millisecond)
		want(1500 * time.Millisecond)
		time.Sleep(5 * time.Second)
		want(0)
		f.reaped(time.Minute, true)
		f.reaped(time.Minute, false)
		want(0)
	})
}

// TestMessages announces in durations, as two machines' clocks differ, and takes any text it does not know for the news
// that jobs are ready.
func TestMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		for _, tt := range []struct {
			ready int
			in    time.Duration // 0: nothing will be due
			want  string
		}{{1, 0, "0"}, {0, 5 * time.Second, "5000000000"}, {2, 7, "0 0 7"}, {0, -time.Hour, "1"}, {0, 0, ""}, {1e9, 0, "0" + strings.Repeat(" 0", 99)}} {
			due := now.Add(tt.in)
			if tt.in == 0 {
				due = time.Time{}
			}
			if got := message(tt.ready, due); got != tt.want {
				t.Errorf("%v, %v: %q, want %q", tt.ready, tt.in, got, tt.want)
			}
		}
		for _, tt := range []struct {
			text  string
			ready int
			in    time.Duration // 0: nothing will be due
		}{{"", 1, 0}, {"0", 1, 0}, {"0 0 0 7", 3, 7}, {"5000000000", 0, 5 * time.Second}, {"0 7", 1, 7}, {"7 0", 1, 7}, {"9 7 8", 0, 7},
			{"soon", 1, 0}, {"-5", 1, 0}, {"99999999999999999999", 1, 0}, {"9223372036854775807", 0, longest}} {
			ready, due := hear(tt.text)
			if ready != tt.ready || due.IsZero() != (tt.in == 0) || tt.in > 0 && due.Sub(now) != tt.in {
				t.Errorf("%q: %v, due after %v; want %v, %v", tt.text, ready, due.Sub(now), tt.ready, tt.in)
			}
		}
	})
}

// TestAnnounceNew announces of new jobs that some are ready, and when the first of the others is due; where jobs are
// claimed before they are due, all are ready.
func TestAnnounceNew(t *testing.T) {
	const soon, later = time.Hour, 2 * time.Hour
	for _, tt := range []struct {
		name   string
		o      engine.StoreOptions
		delays []time.Duration
		ready  int
		due    time.Duration // 0: none is
	}{
		{"ready", engine.StoreOptions{}, []time.Duration{0, 0}, 2, 0},
		{"due later", engine.StoreOptions{}, []time.Duration{later, soon}, 0, soon},
		{"both", engine.StoreOptions{}, []time.Duration{soon, 0, later}, 1, soon},
		{"claimed before they are due", engine.StoreOptions{Held: true}, []time.Duration{soon}, 1, 0},
		{"promoted by a call", engine.StoreOptions{Promoted: true}, []time.Duration{soon, 1, 0}, 1, 0},
		{"due before the answer", engine.StoreOptions{}, []time.Duration{soon, 1, time.Second}, 2, soon},
		{"of which nobody is told", engine.StoreOptions{SilentDue: true}, []time.Duration{1}, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := Store{rules: rules{tt.o}}
				s.news.waiting = make(chan struct{}, 1)
				var jobs []engine.NewJob
				for _, delay := range tt.delays {
					jobs = append(jobs, engine.NewJob{ID: 1, Delay: delay})
				}
				s.announceNew(jobs, time.Second)
				ready, due := s.news.take()
				if ready != tt.ready || due.IsZero() != (tt.due == 0) || tt.due > 0 && time.Until(due) != tt.due {
					t.Errorf("ready %v, due in %v; want %v, %v", ready, time.Until(due), tt.ready, tt.due)
				}
			})
		})
	}
}

// TestReadyIn returns after how long an outcome makes its job ready.
func TestReadyIn(t *testing.T) {
	for _, tt := range []struct {
		verb engine.Verb
		held bool
		want time.Duration
	}{
		{engine.Ack, false, engine.Forever}, {engine.Bury, false, engine.Forever}, {engine.Return, false, 0}, {engine.Redo, false, 0},
		{engine.Nack, false, time.Minute}, {engine.Snooze, false, time.Minute}, {engine.Nack, true, 0}, {engine.Snooze, true, 0}, {engine.Ack, true, engine.Forever},
	} {
		r := rules{engine.StoreOptions{Held: tt.held}}
		if got := r.readyIn(&engine.Outcome{Verb: tt.verb, Delay: time.Minute}, time.Second); got != tt.want {
			t.Errorf("%v, held %v: %v, want %v", tt.verb, tt.held, got, tt.want)
		}
		if tt.want == time.Minute {
			tt.want = 0 // it is due at once
		}
		if got := r.readyIn(&engine.Outcome{Verb: tt.verb}, 0); got != tt.want {
			t.Errorf("%v without delay, held %v: %v, want %v", tt.verb, tt.held, got, tt.want)
		}
	}
}

// TestSplit divides a batch into parts in which no job is twice, each in the order of jobs; of one job, the outcomes keep
// their order.
func TestSplit(t *testing.T) {
	for _, tt := range []struct {
		jobs []engine.JobID
		want [][]int32
	}{
		{[]engine.JobID{7}, [][]int32{{0}}},
		{[]engine.JobID{7, 3, 5}, [][]int32{{1, 2, 0}}},
		{[]engine.JobID{5, 3, 5, 3, 5, 1}, [][]int32{{5, 1, 0}, {3, 2}, {4}}},
		{[]engine.JobID{2, 2}, [][]int32{{0}, {1}}},
		{[]engine.JobID{1, 2, 2, 1, 3}, [][]int32{{0, 1, 4}, {3, 2}}},
	} {
		var outcomes []engine.Outcome
		for _, id := range tt.jobs {
			outcomes = append(outcomes, engine.Outcome{LeaseKey: engine.LeaseKey{Job: id}})
		}
		if d := cmp.Diff(tt.want, split(outcomes)); d != "" {
			t.Errorf("%v (-want +got):\n%s", tt.jobs, d)
		}
	}
}

// TestClaimed sorts leases that came in any order by their places in the plan and then by job, and notes the last place
// at which a class was taken: by priority, then by key.
func TestClaimed(t *testing.T) {
	before := engine.Lease{Job: engine.Job{ID: 99}}
	for _, places := range [][]int64{{3, 1, 2}, {1, 2, 3}, {2, 1, 3}, {3}, {2, 1, 2, 1}, nil} {
		var got placed
		want := []engine.JobID{99}
		for i, at := range places {
			id := engine.JobID(10*at) - engine.JobID(i) // at one place, the later rows are of smaller numbers
			got.add(at, engine.Lease{Job: engine.Job{ID: id}})
			want = append(want, id)
		}
		slices.Sort(want[1:])
		sorted := append([]engine.Lease{before}, got.sorted()...)
		for i, id := range want {
			if sorted[i].ID != id {
				t.Errorf("%v: lease %d is of job %d, want %d", places, i, sorted[i].ID, id)
			}
		}
	}
	c := claimed{ended: [engine.AnyClass + 1]place{frontOfLine, frontOfLine, frontOfLine}}
	last := frontOfLine
	for _, tt := range []struct {
		at   place
		ends bool
	}{{place{1, 5}, true}, {place{1, 3}, false}, {place{1, 9}, true}, {place{0, 100}, false}, {place{2, 1}, true}, {place{-3, 1}, false}} {
		if c.ends(engine.Retry, tt.at); tt.ends {
			last = tt.at
		}
		if c.ended != [engine.AnyClass + 1]place{frontOfLine, last, frontOfLine} {
			t.Errorf("after %v: %v, want %v for retries", tt.at, c.ended, last)
		}
	}
}

// TestRow reads integers of every width, with their signs, null as 0, and nothing else.
func TestRow(t *testing.T) {
	wide := func(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }
	r := row{values: [][]byte{wide(-7), binary.BigEndian.AppendUint32(nil, math.MaxUint32-1), {0xff, 0xfd}, nil, wide(1 << 40), {1, 2, 3}}}
	for _, want := range []int64{-7, -2, -3, 0, 1 << 40} {
		if got := r.int64(); got != want {
			t.Errorf("got %d, want %d", got, want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("three bytes are an integer")
		}
	}()
	r.int64()
}

// TestExplain finds for what server and connection answer the error that tells a caller what to do: to wait and ask
// again, or not; and whether the connections of a pool are lost.
func TestExplain(t *testing.T) {
	reply := func(code, message string) error { return &pgconn.PgError{Code: code, Message: message} }
	sentinels := []error{engine.ErrUnavailable, engine.ErrDuplicate, ErrDenied, ErrFull, ErrStatementTimeout}
	again, timeout := sentinels[:1], []error{engine.ErrUnavailable, ErrStatementTimeout}
	full := []error{engine.ErrUnavailable, ErrFull}
	network := &net.OpError{Op: "read", Err: errors.New("connection reset by peer")}
	for _, tt := range []struct {
		err  error
		want []error // of sentinels
		cut  bool
	}{
		{reply("42501", "permission denied"), []error{ErrDenied}, false},
		{reply("28P01", "password authentication failed"), []error{ErrDenied}, false},
		{reply("28000", "no such role"), []error{ErrDenied}, false},
		{reply("53100", "no space left"), full, false},
		{reply("58030", "could not extend file \"base/5/1\""), full, false},
		{reply("58030", "could not write block 3: File too large"), full, false},
		{reply("58030", "could not write block 3: input/output error"), again, false},
		{reply("58030", "could not read block 3: File too large"), again, false},
		{reply("57014", "canceling statement"), timeout, false},
		{reply("55P03", "lock not available"), timeout, false},
		{reply("3D000", "no such database"), nil, false},
		{reply("3F000", "no such schema"), nil, false},
		{reply("42P01", "no such table"), nil, false},
		{reply("42P07", "table exists"), nil, false},
		{&pgconn.PgError{Code: "23505", ConstraintName: "jobs_pkey", Detail: "Key (id)=(1)"}, []error{engine.ErrDuplicate}, false},
		{&pgconn.PgError{Code: "23505", ConstraintName: "unique_keys", Detail: "Key (kind)=(1)"}, []error{engine.ErrDuplicate}, false},
		{&pgconn.PgError{Code: "23505", ConstraintName: "batches_pkey"}, nil, false},
		{&pgconn.PgError{Code: "23514", ConstraintName: "jobs_pkey"}, nil, false},
		{reply("08006", "connection failure"), again, true},
		{reply("25006", "read only"), again, true},
		{reply("40P01", "deadlock detected"), again, false},
		{reply("53300", "too many connections"), again, false},
		{reply("57P01", "terminating connection"), again, true},
		{reply("58P01", "no such file"), again, false},
		{reply("XX000", "internal error"), again, false},
		{reply("22012", "division by zero"), nil, false},
		{reply("", "a code that is none"), nil, false},
		{context.Canceled, []error{engine.ErrUnavailable, context.Canceled}, false},
		{fmt.Errorf("wait: %w", context.DeadlineExceeded), []error{engine.ErrUnavailable, context.DeadlineExceeded}, false},
		{&net.OpError{Op: "read", Err: context.DeadlineExceeded}, []error{engine.ErrUnavailable, context.DeadlineExceeded}, false},
		{network, again, true},
		{io.EOF, again, true},
		{io.ErrUnexpectedEOF, again, true},
		{net.ErrClosed, again, true},
		{errors.New("conn closed"), again, true},
		{errors.New("something\n else"), again, false},
		{fmt.Errorf("write failed: %w", errors.New("message body too large")), nil, false},
	} {
		t.Run(tt.err.Error(), func(t *testing.T) {
			err := wrap("claim", tt.err)
			for _, sentinel := range append(sentinels, context.Canceled, context.DeadlineExceeded) {
				if got, want := errors.Is(err, sentinel), slices.Contains(tt.want, sentinel); got != want {
					t.Errorf("%v is %v: %v, want %v", err, sentinel, got, want)
				}
			}
			if cut(tt.err) != tt.cut {
				t.Errorf("connection lost: %v, want %v", !tt.cut, tt.cut)
			}
			if !strings.HasPrefix(err.Error(), "claim: ") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%q", err)
			}
			if again := wrap("open", err); strings.Count(again.Error(), engine.ErrUnavailable.Error()) > 1 {
				t.Errorf("explained twice: %v", again)
			}
		})
	}
	if cut(nil) || wrap("claim", nil) != nil {
		t.Error("no error is one")
	}
	if got := withoutRepeats("a\n b\nc \n b\na"); got != "a\nb\nc" {
		t.Errorf("%q", got)
	}
}

// TestConfigure checks that configure keeps what a DSN sets, and sets the rest itself.
func TestConfigure(t *testing.T) {
	for _, name := range []string{"PGAPPNAME", "PGCONNECT_TIMEOUT"} {
		t.Setenv(name, "")
	}
	for _, tt := range []struct {
		dsn         string
		connections int
		wantMost    int32
		wantName    string
		wantTimeout time.Duration
	}{
		{"host=/x", 0, 8, "qsim", 10 * time.Second},
		{"host=/x pool_max_conns=5 application_name=billing connect_timeout=3", 0, 5, "billing", 3 * time.Second},
		{"postgres://h/x?pool_max_conns=6", 0, 6, "qsim", 10 * time.Second},
		{"host=/x pool_max_conns=5", 3, 3, "qsim", 10 * time.Second},
		{"host=/x", math.MaxInt, math.MaxInt32, "qsim", 10 * time.Second},
	} {
		c, err := configure(tt.dsn, &Options{Schema: "work", Connections: tt.connections})
		if err != nil {
			t.Fatal(err)
		}
		of := c.ConnConfig
		if c.MaxConns != tt.wantMost || of.RuntimeParams["application_name"] != tt.wantName || of.ConnectTimeout != tt.wantTimeout ||
			of.RuntimeParams["search_path"] != `"work"` || of.RuntimeParams["plan_cache_mode"] != "force_generic_plan" ||
			of.RuntimeParams["default_transaction_isolation"] != "read committed" || of.StatementCacheCapacity < 1000 || c.ShouldPing(t.Context(), pgxpool.ShouldPingParams{}) {
			t.Errorf("%s: %d connections, timeout %v, %v", tt.dsn, c.MaxConns, of.ConnectTimeout, of.RuntimeParams)
		}
	}
}

// TestNewJobsThatCannotBe checks that impossible jobs are refused before anything is sent, and which jobs are plain.
func TestNewJobsThatCannotBe(t *testing.T) {
	key := strings.Repeat("k", longestKey)
	for _, tt := range []struct {
		job       engine.NewJob
		plain, ok bool
	}{
		{engine.NewJob{ID: 1, Kind: 2, Priority: -3, Tenant: 4, Payload: []byte{0}}, true, true},
		{engine.NewJob{ID: math.MaxInt64}, true, true},
		{engine.NewJob{ID: 1, Delay: 1}, false, true},
		{engine.NewJob{ID: 1, Serial: 1}, false, true},
		{engine.NewJob{ID: 1, Unique: key}, false, true},
		{engine.NewJob{ID: 1, Unique: key + "k"}, false, false},
		{engine.NewJob{ID: 1, Unique: "\xff"}, false, false},
		{engine.NewJob{ID: 1, Unique: "a\x00b"}, false, false},
		{engine.NewJob{}, false, false},
		{engine.NewJob{ID: 1, Delay: -1}, false, false},
		{engine.NewJob{ID: math.MaxInt64 + 1}, false, false},
	} {
		for _, jobs := range [][]engine.NewJob{{tt.job}, {{ID: 7}, tt.job, {ID: 8}}} {
			if plain, err := checkNew(jobs); plain != tt.plain || (err == nil) != tt.ok {
				t.Errorf("%+v: plain %v, %v; want %v, possible %v", jobs, plain, err, tt.plain, tt.ok)
			}
		}
	}
}

// TestColumns gives a job without a serial key none, and takes each stripe of those that there are once, in order.
func TestColumns(t *testing.T) {
	columns, locks := columnsOf([]engine.NewJob{{ID: 1, Serial: 5 + stripes}, {ID: 2, Unique: "k"}, {ID: 3, Serial: 2}, {ID: 4, Serial: 5}})
	if !slices.Equal(locks, []int32{2, 5}) {
		t.Errorf("stripes %v", locks)
	}
	var serials []int64
	for _, key := range columns[4].([]*int64) {
		if key == nil {
			serials = append(serials, -1)
		} else {
			serials = append(serials, *key)
		}
	}
	if keys := columns[7].([]*string); !slices.Equal(serials, []int64{5 + stripes, -1, 2, 5}) || keys[0] != nil || *keys[1] != "k" {
		t.Errorf("serial keys %v, unique keys %v", serials, keys)
	}
	if _, locks := columnsOf([]engine.NewJob{{ID: 1}}); locks != nil {
		t.Errorf("stripes %v without a serial key", locks)
	}
}

// TestOverlaps finds whether two terms may select the same job, which must not be leased twice.
func TestOverlaps(t *testing.T) {
	for _, tt := range []struct {
		one, other engine.Class
		want       bool
	}{
		{engine.Fresh, engine.Fresh, true}, {engine.Fresh, engine.Retry, false}, {engine.Retry, engine.Fresh, false},
		{engine.Fresh, engine.AnyClass, true}, {engine.AnyClass, engine.Retry, true}, {engine.AnyClass, engine.AnyClass, true},
	} {
		if got := (shape{class: tt.one}).overlaps(shape{class: tt.other}); got != tt.want {
			t.Errorf("%v and %v overlap: %v", tt.one, tt.other, got)
		}
	}
}

// TestShapes takes from a term what its statement depends on. Jobs are buried only by a term with a longest wait: without
// one, none is too late.
func TestShapes(t *testing.T) {
	for _, tt := range []struct {
		term engine.Term
		want shape
		err  error
	}{
		{engine.Term{Shed: 5}, shape{}, nil},
		{engine.Term{MaxWait: 1}, shape{wait: waitLeave}, nil},
		{engine.Term{MaxWait: 1, Shed: 5}, shape{wait: waitShed, shed: 5}, nil},
		{engine.Term{Kinds: 1 << 63, Order: engine.OldestOfAny}, shape{kinds: 1, order: whatever}, nil},
		{engine.Term{Kinds: 1<<63 | 1, Order: engine.NewestReady}, shape{kinds: 2, order: newest}, nil},
		{engine.Term{Tenant: 1, PerTenant: 1}, shape{tenant: true, perTenant: true}, nil},
		{engine.Term{Order: engine.OldestOfAny + 1}, shape{}, engine.ErrUnsupported},
		{engine.Term{Order: engine.TenantFair + 1}, shape{}, engine.ErrUnsupported},
		{engine.Term{MaxWait: 1, Order: engine.NewestReady}, shape{}, engine.ErrUnsupported},
	} {
		got, err := shapeOf(&tt.term)
		if text := fmt.Sprint(err); strings.Contains(text, "PANIC") {
			t.Errorf("order %d has no name: %s", tt.term.Order, text)
		}
		if !errors.Is(err, tt.err) || err == nil && got != tt.want {
			t.Errorf("%+v: %+v, %v, want %+v, %v", tt.term, got, err, tt.want, tt.err)
		}
	}
}

// TestPlanKeys keeps the statements of plans apart that differ in any property of a term, and makes each once.
func TestPlanKeys(t *testing.T) {
	base := shape{class: engine.Fresh}
	all := []shape{base}
	for _, change := range []func(s *shape){
		func(s *shape) { s.class = engine.Retry }, func(s *shape) { s.order = newest }, func(s *shape) { s.kinds = 1 }, func(s *shape) { s.kinds = 2 },
		func(s *shape) { s.tenant = true }, func(s *shape) { s.perTenant = true }, func(s *shape) { s.wait = waitLeave },
		func(s *shape) { s.wait, s.shed = waitShed, 3 }, func(s *shape) { s.wait, s.shed = waitShed, 300 },
	} {
		s := base
		change(&s)
		all = append(all, s)
	}
	seen := map[*plan][]shape{}
	var s Store
	for _, one := range all {
		for _, shapes := range [][]shape{{one}, {base, one}, {one, one, base}} {
			made := s.planOf(shapes)
			if before, ok := seen[made]; ok && !slices.Equal(before, shapes) {
				t.Errorf("%+v and %+v share a statement", before, shapes)
			}
			seen[made] = shapes
			if made != s.planOf(slices.Clone(shapes)) {
				t.Errorf("%+v: made twice", shapes)
			}
		}
	}
}
