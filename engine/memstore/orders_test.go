package memstore

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"qsim/engine"
)

// tenantsOf claims n jobs one by one and returns their tenants as text.
func (c *client) tenantsOf(n int, term engine.Term) string {
	c.t.Helper()
	var out strings.Builder
	term.Class, term.Limit = engine.AnyClass, 1
	for range n {
		for _, l := range c.plan(1, term) {
			fmt.Fprintf(&out, "%c", 'a'+rune(l.Tenant)-1)
		}
	}
	check(c.t.(fatal), c.Store)
	return out.String()
}

// crowd enqueues count jobs of each tenant and kind, tenant by tenant.
func (c *client) crowd(count int, tenants ...engine.TenantID) {
	for _, t := range tenants {
		for range count {
			c.at++
			c.add(engine.NewJob{ID: engine.JobID(c.at), Tenant: t, Kind: engine.Kind(t - 1)})
		}
	}
}

func TestTenantRoundRobin(t *testing.T) {
	term := engine.Term{Order: engine.TenantRoundRobin}
	t.Run("in turn", func(t *testing.T) {
		c := newClient(t, plain)
		c.crowd(6, 1, 2, 3)
		c.crowd(1, 4)
		if got := c.tenantsOf(8, term); got != "abcdabca" {
			t.Errorf("got %s", got)
		}
		c.crowd(2, 4) // it joins again, at the end
		if got := c.tenantsOf(99, term); got != "bcadbcadbcabc" {
			t.Errorf("then %s", got)
		}
	})
	t.Run("who has nothing for a term keeps the turn", func(t *testing.T) {
		c := newClient(t, plain)
		c.crowd(4, 1, 2, 3)
		some := term
		some.Kinds = 1<<1 | 1<<2
		if got := c.tenantsOf(3, some) + c.tenantsOf(4, term); got != "bcbacba" {
			t.Errorf("got %s", got)
		}
	})
	t.Run("urgency gains nothing but among one's own", func(t *testing.T) {
		c := newClient(t, plain)
		c.crowd(2, 1, 2)
		c.at++
		c.add(engine.NewJob{ID: 9, Tenant: 2, Priority: -5}, engine.NewJob{ID: 10, Tenant: 1, Priority: 5})
		l := c.plan(9, engine.Term{Class: engine.AnyClass, Order: engine.TenantRoundRobin, Limit: 9})
		c.wantIDs("claimed", ids(l), 1, 9, 2, 3, 10, 4)
	})
	t.Run("the shares are equal to one job", func(t *testing.T) {
		c := newClient(t, plain)
		c.crowd(300, 1, 2, 3, 4, 5)
		var got [5]int
		for _, n := range []int{1, 2, 3, 7, 11, 50, 101, 333} {
			for _, l := range c.plan(n, engine.Term{Class: engine.AnyClass, Order: engine.TenantRoundRobin, Limit: n}) {
				got[l.Tenant-1]++
			}
			if low, high := slices.Min(got[:]), slices.Max(got[:]); high-low > 1 {
				t.Fatalf("after %d claims: %v", n, got)
			}
		}
	})
}

// Of two tenants one's jobs cost 30 ns, the other's 10: by cost the second gets three
// for one of the first, whatever the quantum.
func TestTenantDeficit(t *testing.T) {
	costs := engine.StoreOptions{LapseAfter: -1, Service: []time.Duration{30, 10}}
	for _, tt := range []struct {
		quantum int64
		perJob  bool
		want    string
	}{
		{30, false, "abbbabbbabbbabbb"},
		{60, false, "aabbbbbbaabbbbbb"},
		{10, false, "bbabbbabbbabbbab"}, // a job costs three turns: whole rounds are skipped at once
		{20, false, "bbabbabbbbabbabb"}, // 10 ns are left over of the first two turns, so the next job costs one
		{1, true, "abababababababab"},
		{3, true, "aaabbbaaabbbaaab"},
	} {
		t.Run(fmt.Sprint(tt.quantum, tt.perJob), func(t *testing.T) {
			c := newClient(t, costs)
			c.crowd(30, 1, 2)
			if got := c.tenantsOf(16, engine.Term{Order: engine.TenantDeficit, Rule: &engine.Rule{Quantum: tt.quantum, PerJob: tt.perJob}}); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
	t.Run("exact over many", func(t *testing.T) {
		for quantum := int64(1); quantum <= 91; quantum += 7 {
			c := newClient(t, costs)
			c.crowd(400, 1, 2)
			spent := [3]int64{}
			for range 60 {
				for _, l := range c.plan(5, engine.Term{Class: engine.AnyClass, Order: engine.TenantDeficit, Limit: 5, Rule: &engine.Rule{Quantum: quantum}}) {
					spent[l.Tenant] += int64(costs.Service[l.Kind])
				}
				if off := spent[1] - spent[2]; off > 30+quantum || -off > 30+quantum {
					t.Fatalf("quantum %d: %v ns are spent", quantum, spent[1:])
				}
			}
		}
	})
	t.Run("nothing is saved up without a job", func(t *testing.T) {
		c := newClient(t, costs)
		c.crowd(1, 2)
		term := engine.Term{Order: engine.TenantDeficit, Rule: &engine.Rule{Quantum: 1000}}
		got := c.tenantsOf(1, term) // b has 990 ns left, which are lost
		c.crowd(60, 1, 2)
		if got += c.tenantsOf(33, term); got != "b"+strings.Repeat("a", 33) {
			t.Errorf("got %s", got)
		}
		if got := c.tenantsOf(80, term); !strings.HasPrefix(got, strings.Repeat("b", 60)+"a") {
			t.Errorf("then %s", got)
		}
	})
	t.Run("a quantum far too small", func(t *testing.T) {
		c := newClient(t, plain) // a job costs 1 s
		c.crowd(2, 1, 2)
		if got := c.tenantsOf(4, engine.Term{Order: engine.TenantDeficit, Rule: &engine.Rule{Quantum: 1}}); got != "abab" {
			t.Errorf("got %s", got)
		}
	})
	t.Run("no overflow", func(t *testing.T) {
		c := newClient(t, plain)
		c.crowd(3, 1, 2)
		if got := c.tenantsOf(6, engine.Term{Order: engine.TenantDeficit, Rule: &engine.Rule{Quantum: 1<<63 - 1}}); got != "aaabbb" {
			t.Errorf("got %s", got)
		}
	})
}

func TestTenantFair(t *testing.T) {
	fair := func(percent int64, least int) engine.Term {
		return engine.Term{Class: engine.AnyClass, Order: engine.TenantFair, Rule: &engine.Rule{ShareNum: percent, ShareDen: 100, AtLeast: least}}
	}
	t.Run("quiet before noisy", func(t *testing.T) {
		c := newClient(t, plain)
		c.crowd(20, 1)
		if got := c.tenantsOf(5, fair(50, 3)); got != "aaaaa" { // it is alone
			t.Errorf("got %s", got)
		}
		c.crowd(4, 2, 3) // a has 5 in flight, all of them
		if got := c.tenantsOf(10, fair(30, 5)); got != "bbbbccccaa" {
			t.Errorf("then %s", got)
		}
	})
	t.Run("who has enqueued lately, before the first claim by tenant", func(t *testing.T) {
		c := newClient(t, plain)
		c.at = c.at.Add(10 * time.Minute)
		c.crowd(4, 1)
		c.claim(3)
		c.crowd(1, 2)
		if got := c.tenantsOf(2, fair(50, 3)); got != "ba" { // all in flight are a's
			t.Errorf("got %s", got)
		}
	})
	t.Run("the share is to be exceeded, the least reached", func(t *testing.T) {
		for _, tt := range []struct {
			percent int64
			least   int
			want    string
		}{{50, 3, "a"}, {49, 3, "b"}, {49, 4, "a"}, {100, 0, "a"}} {
			c := newClient(t, plain)
			c.crowd(9, 1)
			c.crowd(9, 2)
			c.tenantsOf(3, fair(100, 0))
			c.plan(3, engine.Term{Class: engine.AnyClass, Tenant: 2, Limit: 3}) // three each
			c.commit(c.plan(1, engine.Term{Class: engine.AnyClass, Tenant: 2, Limit: 1})[0], engine.Return)
			if tt.want == "b" {
				c.crowd(1, 3)
				tt.want = "c" // both are noisy
			}
			if got := c.tenantsOf(1, fair(tt.percent, tt.least)); got != tt.want {
				t.Errorf("%+v: got %s", tt, got)
			}
		}
	})
	t.Run("of the noisy the one with the fewest", func(t *testing.T) {
		c := newClient(t, plain)
		c.crowd(9, 1, 2)
		c.plan(3, engine.Term{Class: engine.AnyClass, Tenant: 1, Limit: 3})
		if got := c.tenantsOf(5, fair(0, 0)); got != "bbbab" {
			t.Errorf("got %s", got)
		}
	})
	// used has b work for so long, then a for a second, and asks who comes first by
	// processing time alone: a's jobs are older.
	used := func(t *testing.T, works, then time.Duration) string {
		c := newClient(t, plain)
		c.crowd(5, 1, 2)
		mine := func(id engine.TenantID) engine.Lease {
			return c.plan(1, engine.Term{Class: engine.AnyClass, Tenant: id, Limit: 1})[0]
		}
		b := mine(2)
		c.at = c.at.Add(works)
		c.commit(b, engine.Ack)
		a := mine(1)
		c.at = c.at.Add(time.Second)
		c.commit(a, engine.Ack)
		c.at = c.at.Add(then)
		return c.tenantsOf(1, fair(100, 0))
	}
	t.Run("more than a tenth of the processing time", func(t *testing.T) {
		for _, tt := range []struct {
			works, then time.Duration
			want        string
		}{
			{9*time.Second - 1, 0, "a"}, // both have used more than a tenth: the oldest of those with the fewest in flight
			{9 * time.Second, 0, "a"},   // a has used a tenth, and no more: it is quiet
			{500 * time.Millisecond, 0, "a"},
			{500 * time.Millisecond, 6 * time.Minute, "a"}, // nobody has enqueued for long
		} {
			if got := used(t, tt.works, tt.then); got != tt.want {
				t.Errorf("b works for %v: got %s", tt.works, got)
			}
		}
		for works, want := range map[time.Duration]string{10 * time.Second / 3: "b", 3500 * time.Millisecond: "a"} { // beside 30 s: exactly a tenth, and more
			for _, then := range []time.Duration{0, time.Minute, 3 * time.Minute} { // which halves what both have used
				c := newClient(t, plain)
				c.crowd(3, 1, 2)
				a := c.plan(1, engine.Term{Class: engine.AnyClass, Tenant: 1, Limit: 1})[0]
				c.at = c.at.Add(time.Minute / 2)
				c.commit(a, engine.Ack)
				b := c.plan(1, engine.Term{Class: engine.AnyClass, Tenant: 2, Limit: 1})[0]
				c.at = c.at.Add(works)
				c.commit(b, engine.Ack)
				c.at = c.at.Add(then)
				if got := c.tenantsOf(1, fair(100, 0)); got != want {
					t.Errorf("b works for %v, %v ago: got %s", works, then, got)
				}
			}
		}
	})
	t.Run("forgotten", func(t *testing.T) {
		noisy := func() *client { // a has used all of the time, and has jobs ready, older than b's
			c := newClient(t, plain)
			c.crowd(4, 1, 2)
			a := c.plan(1, engine.Term{Class: engine.AnyClass, Tenant: 1, Limit: 1})[0]
			c.at = c.at.Add(time.Minute)
			c.commit(a, engine.Ack)
			return c
		}
		if got := noisy().tenantsOf(2, fair(100, 0)); got != "bb" {
			t.Errorf("at once: got %s", got)
		}
		for since, want := range map[time.Duration]string{quietAfter - 1: "b", quietAfter: "a"} {
			c := noisy()
			c.at = c.tenants.called(1).enqueuedAt.Add(since)
			if got := c.tenantsOf(1, fair(100, 0)); got != want {
				t.Errorf("it sends nothing for %v: got %s, want %s", since, got, want)
			}
		}
		c := noisy()
		l := c.plan(3, engine.Term{Class: engine.AnyClass, Tenant: 1, Limit: 3}) // none is ready
		c.commit(l[0], engine.Return)
		c.commit(l[1], engine.Return)
		c.commit(l[2], engine.Return)
		c.nack(c.plan(1, engine.Term{Class: engine.AnyClass, Tenant: 2, Limit: 1})[0], 0)
		if got := c.tenantsOf(3, engine.Term{Order: engine.TenantFair, Class: engine.AnyClass, Rule: &engine.Rule{ShareNum: 1, ShareDen: 1}}); got != "bbb" {
			t.Errorf("b's are older now: got %s", got)
		}
		if got := c.tenantsOf(1, fair(100, 0)); got != "a" {
			t.Errorf("and a is quiet as b is: got %s", got)
		}
	})
}

// TestTenantsOfLargeNumbers tells tenants apart whose IDs no table has room for.
func TestTenantsOfLargeNumbers(t *testing.T) {
	c := newClient(t, plain)
	c.add(engine.NewJob{ID: 1, Tenant: mostFew}, engine.NewJob{ID: 2, Tenant: mostFew}, engine.NewJob{ID: 3, Tenant: mostFew - 1}, engine.NewJob{ID: 4, Tenant: 1<<32 - 1})
	c.wantIDs("one of each", ids(c.plan(9, engine.Term{Class: engine.AnyClass, PerTenant: 1, Limit: 9})), 1, 3, 4)
}

// TestAging makes a job of priority 2 wait while younger ones of priority 0 arrive.
func TestAging(t *testing.T) {
	for _, tt := range []struct {
		waited, every time.Duration
		most          int64
		want          engine.JobID
	}{
		{199, 100, 0, 2}, // it has gained 1
		{200, 100, 0, 1}, // it has gained 2: level, and older
		{400, 200, 0, 1},
		{399, 200, 0, 2},
		{9999, 100, 1, 2}, // it may gain no more
		{9999, 100, 2, 1},
	} {
		c := newClient(t, engine.StoreOptions{LapseAfter: -1, Place: engine.PlaceTail})
		c.add(engine.NewJob{ID: 1, Priority: 2})
		c.at = engine.Time(tt.waited)
		c.add(engine.NewJob{ID: 2}, engine.NewJob{ID: 3})
		term := engine.Term{Class: engine.AnyClass, Order: engine.Aging, Limit: 1, Rule: &engine.Rule{Every: tt.every, Cap: tt.most}}
		c.wantIDs(fmt.Sprint(tt), ids(c.plan(1, term)), tt.want)
	}
}

// TestDeadline has two kinds with budgets of 100 and 10.
func TestDeadline(t *testing.T) {
	c := newClient(t, plain)
	budgets := []time.Duration{100, 10}
	term := func(b ...time.Duration) engine.Term {
		return engine.Term{Class: engine.AnyClass, Order: engine.Deadline, Limit: 9, Rule: &engine.Rule{Budgets: b}}
	}
	c.add(engine.NewJob{ID: 1, Priority: 3})
	c.at = 50
	c.add(engine.NewJob{ID: 2, Kind: 1}, engine.NewJob{ID: 3, Kind: 7, Priority: -9}) // past the end: as the last
	c.at = 90
	c.add(engine.NewJob{ID: 4, Kind: 1}) // level with 1, but younger
	c.at = 91
	c.add(engine.NewJob{ID: 5, Kind: 1})
	l := c.plan(9, term(budgets...))
	c.wantIDs("by budget", ids(l), 2, 3, 1, 4, 5)
	for i := range l {
		c.nack(l[i], time.Duration(10-i))
	}
	c.at = 200
	l = c.plan(9, term(budgets...))
	c.wantIDs("a retry keeps its deadline", ids(l), 2, 3, 1, 4, 5)
	for i := range l {
		c.commit(l[i], engine.Return)
	}
	c.wantIDs("no budgets", ids(c.plan(9, term())), 1, 2, 3, 4, 5)
}

// TestOldestOfAny gives an eighth of the claims to the oldest, whatever its priority.
func TestOldestOfAny(t *testing.T) {
	c := newClient(t, plain)
	for id := range engine.JobID(6) {
		c.at++
		c.add(engine.NewJob{ID: id + 1, Priority: int16(5 - id)})
	}
	term := engine.Term{Class: engine.AnyClass, Limit: 2}
	oldest := engine.Term{Class: engine.AnyClass, Order: engine.OldestOfAny, Limit: 2}
	c.wantIDs("claimed", ids(c.plan(4, term, oldest)), 6, 5, 1, 2)
}

// TestMaxWait has jobs that have waited 40, 30, 20, 10 and 0.
func TestMaxWait(t *testing.T) {
	fill := func(t *testing.T) *client {
		c := newClient(t, engine.StoreOptions{LapseAfter: -1, Place: engine.PlaceTail})
		for i := range engine.JobID(5) {
			c.at = engine.Time(i * 10)
			c.add(engine.NewJob{ID: i + 1, Priority: int16(i % 2)})
		}
		return c
	}
	term := func(wait time.Duration, shed int32, limit int) engine.Term {
		return engine.Term{Class: engine.AnyClass, MaxWait: wait, Shed: shed, Limit: limit}
	}
	t.Run("left", func(t *testing.T) {
		c := fill(t)
		c.wantIDs("timely", ids(c.plan(9, term(20, 0, 9))), 3, 5, 4)
		c.wantIDs("the others", ids(c.claim(9)), 1, 2)
	})
	t.Run("shed", func(t *testing.T) {
		c := fill(t)
		got := c.plan(2, term(20, 1000, 9)) // what is shed counts in no limit
		c.wantIDs("shed and claimed", ids(got), 1, 2, 3, 5)
		for i, l := range got {
			if l.Shed != (i < 2) || l.Shed && (l.Token != 0 || l.Waited != time.Duration(40-10*i)) || l.Class() != engine.Fresh {
				t.Errorf("%+v", l)
			}
		}
		if s := c.stats(); s.Dead != 2 || s.InFlight[engine.Fresh] != 2 || c.Live() != 3 {
			t.Errorf("%+v", s)
		}
	})
	t.Run("a retry is shed as one", func(t *testing.T) {
		c := fill(t)
		c.commit(c.claim(1)[0], engine.Return)
		c.at = 100
		for _, l := range c.plan(0, engine.Term{Class: engine.Retry, MaxWait: 1, Shed: 1000}) {
			if l.ID != 1 || !l.Shed || l.Class() != engine.Retry {
				t.Errorf("%+v", l)
			}
		}
		if s := c.stats(); s.Dead != 1 || s.Ready[engine.Fresh] != 4 {
			t.Errorf("%+v", s)
		}
	})
	t.Run("at most so many, the others are claimed", func(t *testing.T) {
		c := newClient(t, plain)
		for i := range engine.JobID(1005) {
			c.add(engine.NewJob{ID: i + 1})
		}
		c.at = 9
		l := c.plan(2, term(1, 1000, 9))
		if len(l) != 1002 || l[1000].ID != 1001 || l[1000].Shed {
			t.Errorf("%d, %+v", len(l), l[len(l)-1])
		}
	})
	t.Run("of one tenant", func(t *testing.T) {
		c := newClient(t, plain)
		c.crowd(2, 1, 2)
		c.at += 100
		all := term(1, 1000, 9)
		all.Tenant = 2
		c.wantIDs("shed", ids(c.plan(9, all)), 3, 4)
		late := term(1, 0, 9)
		late.PerTenant = 1
		c.wantIDs("left", ids(c.plan(9, late)))
	})
}

func TestPerTenant(t *testing.T) {
	c := newClient(t, plain)
	c.crowd(4, 1, 2, 3)
	term := func(o engine.Order, id engine.TenantID, most int) engine.Term {
		return engine.Term{Class: engine.AnyClass, Order: o, Tenant: id, PerTenant: most, Limit: 9}
	}
	c.wantIDs("two each", ids(c.plan(5, term(engine.OldestReady, 0, 2))), 1, 2, 5, 6, 9)
	c.wantIDs("the newest of each", ids(c.plan(5, term(engine.NewestReady, 0, 1))), 12, 8, 4)
	c.wantIDs("one of one, then of the others", ids(c.plan(9, term(engine.OldestReady, 3, 1), term(engine.OldestReady, 0, 1))), 10, 3, 7, 11)
	c.wantIDs("nobody", ids(c.plan(9, term(engine.OldestReady, 8, 0))))
}
