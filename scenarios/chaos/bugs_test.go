package chaos

import (
	"context"
	"slices"
	"time"

	"qsim/engine"
	"qsim/engine/check"
	"qsim/engine/memstore"
	"qsim/engine/quantity"
	"qsim/engine/sim"
	"qsim/policies"
)

// bug is a mistake that somebody might make in the engine, store or policy: plant makes it in the setup of a world.
type bug struct {
	name  string
	plant func(*setup)
	only  check.Set // the invariants that look for it; none: all
}

// tampered is a memory store of which a bug replaces some methods.
type tampered struct {
	*memstore.Store
	enqueue func(jobs []engine.NewJob) []engine.NewJob
	claim   func(plan engine.Plan, leases []engine.Lease) []engine.Lease
	limit   func(e engine.EngineID, plan engine.Plan) engine.Plan
	commit  func(b engine.Batch, dst []engine.Result) ([]engine.Result, error)
	extend  func(keys []engine.LeaseKey, ttl time.Duration, dst []engine.Status) ([]engine.Status, error)
	given   func(e engine.EngineID, leases []engine.Lease)
	recover func(grace time.Duration) time.Duration
	taken   func(leases []engine.Lease)
	promote func(p []engine.Promotion) []engine.Promotion
	stats   func(st engine.Stats) engine.Stats
}

func (s *tampered) Enqueue(ctx context.Context, jobs []engine.NewJob) error {
	if s.enqueue != nil {
		if jobs = s.enqueue(jobs); len(jobs) == 0 {
			return nil
		}
	}
	return s.Store.Enqueue(ctx, jobs)
}

func (s *tampered) Claim(ctx context.Context, e engine.EngineID, plan engine.Plan, ttl time.Duration, dst []engine.Lease) ([]engine.Lease, time.Duration, error) {
	if s.limit != nil {
		plan = s.limit(e, plan)
	}
	leases, next, err := s.Store.Claim(ctx, e, plan, ttl, dst)
	if s.claim != nil {
		leases = s.claim(plan, leases)
	}
	if s.given != nil {
		s.given(e, leases)
	}
	return leases, next, err
}

func (s *tampered) Commit(ctx context.Context, b engine.Batch, dst []engine.Result) ([]engine.Result, error) {
	if s.commit != nil {
		return s.commit(b, dst)
	}
	return s.Store.Commit(ctx, b, dst)
}

func (s *tampered) ExtendLease(ctx context.Context, keys []engine.LeaseKey, ttl time.Duration, dst []engine.Status) ([]engine.Status, error) {
	if s.extend != nil {
		return s.extend(keys, ttl, dst)
	}
	return s.Store.ExtendLease(ctx, keys, ttl, dst)
}

func (s *tampered) Recover(ctx context.Context, e engine.EngineID, limit int, grace, ttl time.Duration, dst []engine.Lease) ([]engine.Lease, time.Duration, error) {
	if s.recover != nil {
		grace = s.recover(grace)
	}
	leases, next, err := s.Store.Recover(ctx, e, limit, grace, ttl, dst)
	if s.taken != nil {
		s.taken(leases)
	}
	return leases, next, err
}

func (s *tampered) Promote(ctx context.Context, limit int, o engine.Order, dst []engine.Promotion) ([]engine.Promotion, error) {
	p, err := s.Store.Promote(ctx, limit, o, dst)
	if s.promote != nil {
		p = s.promote(p)
	}
	return p, err
}

func (s *tampered) Stats(ctx context.Context, limit int) (engine.Stats, error) {
	st, err := s.Store.Stats(ctx, limit)
	if s.stats != nil {
		st = s.stats(st)
	}
	return st, err
}

// store returns a plant, see bug, of a mistake in the store: f replaces methods of t.
func store(f func(s *setup, t *tampered)) func(*setup) {
	return func(s *setup) {
		s.wrap = func(m *memstore.Store) sim.Store {
			t := &tampered{Store: m}
			f(s, t)
			return t
		}
	}
}

// outcomes returns a plant, see bug, of a mistake in how the store takes outcomes of jobs: f changes a copy of each.
func outcomes(f func(o *engine.Outcome)) func(*setup) {
	return store(func(_ *setup, t *tampered) {
		t.commit = func(b engine.Batch, dst []engine.Result) ([]engine.Result, error) {
			b.Outcomes = append([]engine.Outcome(nil), b.Outcomes...)
			for i := range b.Outcomes {
				f(&b.Outcomes[i])
			}
			return t.Store.Commit(context.Background(), b, dst)
		}
	})
}

// node returns a plant, see bug, of a mistake in the configuration of every engine: f changes it.
func node(f func(s *setup, c *engine.Config)) func(*setup) {
	return func(s *setup) {
		for i := range s.config.Nodes {
			f(s, &s.config.Nodes[i])
		}
	}
}

// retryBug is a broken retry policy: what becomes of a failed job, and its delay; right is the policy of the world.
type retryBug func(j engine.Job, e engine.ErrorKind, u float64, right *policies.Backoff) (engine.Verb, time.Duration)

type wrongRetry struct {
	right *policies.Backoff
	next  retryBug
}

func (w wrongRetry) Next(j *engine.Job, e engine.ErrorKind, u float64) (engine.Verb, time.Duration) {
	return w.next(*j, e, u, w.right)
}

func retry(next retryBug) func(*setup) {
	return node(func(s *setup, c *engine.Config) {
		kind := c.Kinds[0]
		kind.Retry = wrongRetry{s.Retry(0), next}
		c.Kinds = []engine.KindConfig{kind}
	})
}

// policy returns a plant, see bug, of a mistake in the fetch policy: f returns the policy to use, for one of type P.
func policy[P engine.Policy](f func(s *setup, right P) engine.Policy) func(*setup) {
	return func(s *setup) {
		s.config.Policy = func(int32) engine.Policy {
			right := s.Policy()
			if p, ok := right.(P); ok {
				return f(s, p)
			}
			return right
		}
	}
}

// tamperedCalls is a network that changes the calls sent by the engine.
type tamperedCalls struct {
	sim.Network
	request func(c *engine.Call)
}

func (n tamperedCalls) Request(now engine.Time, c *engine.Call) sim.Fate {
	n.request(c)
	return n.Network.Request(now, c)
}

func calls(f func(c *engine.Call)) func(*setup) {
	return func(s *setup) { s.config.Network = tamperedCalls{s.config.Network, f} }
}

// deaf is a network that loses every answer to one commit, the first that seldom picks, however often it is repeated.
type deaf struct {
	sim.Network
	seldom func() bool
	batch  engine.BatchID
}

func (n *deaf) Request(now engine.Time, c *engine.Call) sim.Fate {
	f := n.Network.Request(now, c)
	if c.Op == engine.OpCommit && n.batch.Seq == 0 && n.seldom() {
		n.batch = c.Batch.ID
	}
	f.LoseReply = f.LoseReply || c.Op == engine.OpCommit && c.Batch.ID == n.batch
	return f
}

// silent is a network that loses every request for a lease without end, which a queue that acks at the start makes.
type silent struct{ sim.Network }

func (n silent) Request(now engine.Time, c *engine.Call) sim.Fate {
	f := n.Network.Request(now, c)
	f.LoseRequest = f.LoseRequest || c.Op == engine.OpExtend && c.TTL == engine.Forever
	return f
}

// stubborn wraps handlers so that their executions ignore cancellation.
type stubborn struct{ sim.Handlers }

func (h stubborn) Begin(now engine.Time, node int32, j *engine.Job) sim.Execution {
	x := h.Handlers.Begin(now, node, j)
	x.IgnoresCancel = true
	return x
}

// stuck wraps handlers so that some of their executions do not end.
type stuck struct {
	sim.Handlers
	seldom func() bool
}

func (h stuck) Begin(now engine.Time, node int32, j *engine.Job) sim.Execution {
	x := h.Handlers.Begin(now, node, j)
	if h.seldom() {
		x.Runs, x.IgnoresCancel = 1000*time.Hour, true
	}
	return x
}

// unfenced returns a plant, see bug, of a broken retry policy in worlds whose store does not fence by token.
func unfenced(next retryBug) func(*setup) {
	return func(s *setup) {
		if s.options.Fence != engine.FenceToken {
			retry(next)(s)
		}
	}
}

// roundsUp is the policy weighted without its carry: it rounds the fresh jobs' share of each claim up.
type roundsUp struct {
	policies.FIFO
	share quantity.Share
}

func (p roundsUp) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	num, den := p.share.Fraction()
	fresh := int((int64(v.Idle)*num + den - 1) / den)
	return append(dst, engine.Term{Class: engine.Fresh, Limit: fresh}, engine.Term{Class: engine.Retry, Limit: v.Idle - fresh}, engine.Term{Class: engine.AnyClass, Limit: v.Idle})
}

// runs counts worlds set up with the bug "a policy remembers other runs", which differs between them.
var runs int

// forgetful is a policy that in 15 of 16 minutes claims no jobs of the second job class.
type forgetful struct{ engine.Policy }

func (p forgetful) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	if v.Now.Sub(0)%(16*time.Minute) > 15*time.Minute {
		return p.Policy.Plan(v, dst)
	}
	return append(dst, engine.Term{Class: engine.AnyClass, Kinds: engine.Kinds(0).With(0).With(2), Limit: v.Idle})
}

// every returns a function which is true at each n-th call.
func every(n int) func() bool {
	came := 0
	return func() bool { came++; return came%n == 0 }
}

var bugs = []bug{
	{name: "nothing is fenced", plant: func(s *setup) { s.options.Fence = engine.FenceNone }},
	{name: "whoever commits is let through while the job is in flight", plant: func(s *setup) { s.options.Fence = max(s.options.Fence, engine.FenceState) }},
	{name: "the reaper overwrites a completed job", plant: store(func(_ *setup, t *tampered) {
		t.commit = func(b engine.Batch, dst []engine.Result) ([]engine.Result, error) {
			from := len(dst)
			dst, err := t.Store.Commit(context.Background(), b, dst)
			for i := range dst[from:] {
				o, r := &b.Outcomes[i], &dst[from+i]
				if o.Error == engine.LeaseExpired && r.Status == engine.Stale && t.Store.Enqueue(context.Background(), []engine.NewJob{{ID: o.Job, Kind: o.Kind, Tenant: o.Tenant, Delay: 1}}) == nil {
					*r = engine.Result{Status: engine.Applied, From: engine.InFlight}
				}
			}
			return dst, err
		}
	})},
	{name: "the reaper overrules a new attempt", plant: node(func(_ *setup, c *engine.Config) {
		if c.Reaper.Guard == engine.FenceToken {
			c.Reaper.Guard = engine.FenceState
		}
	})},
	{name: "the reaper reads, and writes later", plant: node(func(_ *setup, c *engine.Config) {
		if c.Reaper.Guard == engine.FenceDefault && c.Reaper.Every > 0 {
			c.Reaper.Guard, c.Reaper.Gap = engine.FenceState, 2*time.Second
		}
	})},
	{name: "attempts are counted twice when a reply is lost", plant: store(func(_ *setup, t *tampered) {
		extra := map[engine.JobID]int32{}
		t.commit = func(b engine.Batch, dst []engine.Result) ([]engine.Result, error) {
			from := len(dst)
			dst, err := t.Store.Commit(context.Background(), b, dst)
			for i := range dst[from:] {
				if dst[from+i].Status == engine.Applied.Again() {
					extra[b.Outcomes[i].Job]++
				}
			}
			return dst, err
		}
		t.claim = func(_ engine.Plan, leases []engine.Lease) []engine.Lease {
			for i := range leases {
				leases[i].Charged += extra[leases[i].ID]
			}
			return leases
		}
	})},
	{name: "one attempt more than the limit", plant: retry(func(j engine.Job, e engine.ErrorKind, u float64, right *policies.Backoff) (engine.Verb, time.Duration) {
		j.Charged--
		return right.Next(&j, e, u)
	})},
	{name: "one attempt less than the limit", plant: retry(func(j engine.Job, e engine.ErrorKind, u float64, right *policies.Backoff) (engine.Verb, time.Duration) {
		j.Charged++
		return right.Next(&j, e, u)
	})},
	{name: "jobs die at half of their deadline", plant: deadlines(func(d time.Duration) time.Duration { return d / 2 })},
	{name: "jobs are tried beyond their deadline", plant: deadlines(func(d time.Duration) time.Duration { return 2 * d })},
	{name: "a heartbeat extends a recovered lease", plant: store(func(_ *setup, t *tampered) {
		t.extend = func(keys []engine.LeaseKey, ttl time.Duration, dst []engine.Status) ([]engine.Status, error) {
			from := len(dst)
			dst, err := t.Store.ExtendLease(context.Background(), keys, ttl, dst)
			for i := range dst[from:] {
				dst[from+i] = engine.Applied
			}
			return dst, err
		}
	})},
	{name: "a heartbeat shortens a lease", plant: store(func(_ *setup, t *tampered) {
		t.extend = func(keys []engine.LeaseKey, ttl time.Duration, dst []engine.Status) ([]engine.Status, error) {
			return t.Store.ExtendLease(context.Background(), keys, ttl/8, dst)
		}
	})},
	{name: "a current lease is not extended", plant: store(func(_ *setup, t *tampered) {
		t.extend = func(keys []engine.LeaseKey, _ time.Duration, dst []engine.Status) ([]engine.Status, error) {
			return append(dst, slices.Repeat([]engine.Status{engine.Stale}, len(keys))...), nil
		}
	})},
	{name: "a promoter that dies loses what it took", plant: node(func(_ *setup, c *engine.Config) {
		if c.Promoter.Every > 0 && c.Promoter.Gap == 0 {
			c.Promoter.Gap = 500 * time.Millisecond
		}
	})},
	{name: "a cap leaks a slot for every recovery", plant: store(func(s *setup, t *tampered) {
		leaked := 0
		t.taken = func(leases []engine.Lease) { leaked += len(leases) }
		t.limit = func(_ engine.EngineID, plan engine.Plan) engine.Plan {
			if most := s.options.MaxInFlight; most > 0 {
				st, _ := t.Store.Stats(context.Background(), 0)
				plan.Limit = max(0, min(plan.Limit, most-leaked-st.InFlight[0]-st.InFlight[1]))
			}
			return plan
		}
	})},
	{name: "a weighted share starves retries at batch 1", plant: policy(func(_ *setup, right *policies.Weighted) engine.Policy { return roundsUp{share: right.Fresh} })},
	{name: "a weighted share is that of the other class", plant: policy(func(_ *setup, right *policies.Weighted) engine.Policy {
		num, den := right.Fresh.Fraction()
		return &policies.Weighted{Fresh: quantity.Fraction(den-num, den)}
	})},
	{name: "a cap on retries is off by one", plant: policy(func(_ *setup, right policies.InFlightCap) engine.Policy {
		return policies.InFlightCap{Retries: right.Retries + 1}
	})},
	{name: "half of a batch is applied", plant: store(func(_ *setup, t *tampered) {
		t.commit = func(b engine.Batch, dst []engine.Result) ([]engine.Result, error) {
			half := b
			half.Outcomes = b.Outcomes[:(len(b.Outcomes)+1)/2]
			dst, err := t.Store.Commit(context.Background(), half, dst)
			for range b.Outcomes[len(half.Outcomes):] {
				dst = append(dst, engine.Result{Status: engine.Applied, From: engine.InFlight})
			}
			return dst, err
		}
	})},
	{name: "acks are answered and forgotten", plant: store(func(_ *setup, t *tampered) {
		seldom := every(30)
		t.commit = func(b engine.Batch, dst []engine.Result) ([]engine.Result, error) {
			if len(b.Outcomes) == 1 && b.Outcomes[0].Verb == engine.Ack && seldom() {
				return append(dst, engine.Result{Status: engine.Applied, From: engine.InFlight}), nil
			}
			return t.Store.Commit(context.Background(), b, dst)
		}
	})},
	{name: "a batch that comes again is not recognised", plant: store(func(_ *setup, t *tampered) {
		seq := uint64(0)
		t.commit = func(b engine.Batch, dst []engine.Result) ([]engine.Result, error) {
			seq++
			b.ID.Seq, b.Settled = seq, seq-1
			return t.Store.Commit(context.Background(), b, dst)
		}
	})},
	{name: "a batch is given up after one try", plant: node(func(_ *setup, c *engine.Config) { c.Commit.Tries, c.Commit.Drop = 1, true })},
	{name: "the clocks of nodes are trusted", plant: node(func(_ *setup, c *engine.Config) { c.Lease.Local = true })},
	{name: "the store's clock is ahead of its due times", plant: func(s *setup) {
		s.clock = func(clock func() engine.Time) func() engine.Time {
			return func() engine.Time { return clock().Add(50 * time.Millisecond) }
		}
	}},
	{name: "a delay is halved", plant: outcomes(func(o *engine.Outcome) { o.Delay /= 2 })},
	{name: "a backoff grows past its bound", plant: retry(func(j engine.Job, e engine.ErrorKind, u float64, right *policies.Backoff) (engine.Verb, time.Duration) {
		v, delay := right.Next(&j, e, u)
		return v, 2 * delay
	})},
	{name: "a backoff is one failure ahead", only: check.Set(0).With(check.Delays), plant: retry(func(j engine.Job, e engine.ErrorKind, u float64, right *policies.Backoff) (engine.Verb, time.Duration) {
		ahead := *right
		ahead.First = min(ahead.Max, time.Duration(float64(ahead.First)*ahead.Factor))
		return ahead.Next(&j, e, u)
	})},
	{name: "a backoff has no bound", only: check.Set(0).With(check.Delays), plant: retry(func(j engine.Job, e engine.ErrorKind, u float64, right *policies.Backoff) (engine.Verb, time.Duration) {
		unbound := *right
		unbound.Max = 0
		return unbound.Next(&j, e, u)
	})},
	{name: "a job is buried at its first recovery", plant: node(func(_ *setup, c *engine.Config) { c.Reaper.BuryAt = min(c.Reaper.BuryAt, 1) })},
	{name: "a job is recovered once more than it may be", plant: node(func(_ *setup, c *engine.Config) {
		if c.Reaper.BuryAt > 0 {
			c.Reaper.BuryAt++
		}
	})},
	{name: "recoveries count for ever", plant: func(s *setup) { s.options.RecoveriesWithin = 0 }},
	{name: "executions do not time out", plant: node(func(_ *setup, c *engine.Config) {
		kind := c.Kinds[0]
		kind.Timeout = 0
		c.Kinds = []engine.KindConfig{kind}
	})},
	{name: "executions time out too early", plant: node(func(_ *setup, c *engine.Config) {
		kind := c.Kinds[0]
		kind.Timeout /= 2
		c.Kinds = []engine.KindConfig{kind}
	})},
	{name: "every node reaps where the leader should", plant: node(func(_ *setup, c *engine.Config) { c.Reaper.LeaderOnly = false })},
	{name: "a stop hands nothing back", plant: store(func(_ *setup, t *tampered) {
		t.commit = func(b engine.Batch, dst []engine.Result) ([]engine.Result, error) {
			kept := b
			kept.Outcomes = nil
			for i := range b.Outcomes {
				if b.Outcomes[i].Error != engine.Canceled {
					kept.Outcomes = append(kept.Outcomes, b.Outcomes[i])
				}
			}
			results, err := t.Store.Commit(context.Background(), kept, nil)
			for i := range b.Outcomes {
				if b.Outcomes[i].Error != engine.Canceled {
					dst, results = append(dst, results[0]), results[1:]
				} else {
					dst = append(dst, engine.Result{Status: engine.Applied.Again()})
				}
			}
			return dst, err
		}
	})},
	{name: "no backoff at all", plant: retry(func(j engine.Job, e engine.ErrorKind, u float64, right *policies.Backoff) (engine.Verb, time.Duration) {
		v, _ := right.Next(&j, e, u)
		return v, 0
	})},
	{name: "an error that is final is tried again", plant: retry(func(j engine.Job, e engine.ErrorKind, u float64, right *policies.Backoff) (engine.Verb, time.Duration) {
		forgiving := *right
		forgiving.Never = nil
		return forgiving.Next(&j, e, u)
	})},
	{name: "a claim does not raise the token", plant: store(func(_ *setup, t *tampered) {
		t.claim = func(_ engine.Plan, leases []engine.Lease) []engine.Lease {
			for i := range leases {
				leases[i].Token = 1
			}
			return leases
		}
	})},
	{name: "a recovery does not raise the token", plant: store(func(_ *setup, t *tampered) {
		t.taken = func(leases []engine.Lease) {
			for i := range leases {
				leases[i].Token--
			}
		}
	})},
	{name: "a claim is not counted as a delivery", plant: store(func(_ *setup, t *tampered) {
		seldom := every(25)
		t.claim = func(_ engine.Plan, leases []engine.Lease) []engine.Lease {
			for i := range leases {
				if leases[i].Delivery > 1 && seldom() {
					leases[i].Delivery--
				}
			}
			return leases
		}
	})},
	{name: "leases are recovered before they end", plant: store(func(_ *setup, t *tampered) {
		t.recover = func(grace time.Duration) time.Duration { return grace - time.Second }
	})},
	{name: "leases that lapsed are honoured", plant: func(s *setup) { s.options.LapseAfter = -1 }},
	{name: "nobody recovers leases", plant: node(func(_ *setup, c *engine.Config) { c.Reaper.Off = true })},
	{name: "recoveries are rare", only: check.Set(0).With(check.Recovery), plant: node(func(_ *setup, c *engine.Config) { c.Reaper.Every = time.Hour })},
	{name: "a restarted node keeps the leases of its former life", plant: node(func(_ *setup, c *engine.Config) {
		c.Lease.OfNode, c.Lease.Kept, c.Lease.Heartbeat, c.Lease.AckAtStart = true, true, time.Second, false
	})},
	{name: "one job is claimed twice", plant: store(func(_ *setup, t *tampered) {
		seldom := every(50)
		var last engine.Lease
		t.claim = func(plan engine.Plan, leases []engine.Lease) []engine.Lease {
			if len(leases) > 0 {
				last = leases[0]
			} else if last.ID != 0 && plan.Limit > 0 && seldom() {
				leases = append(leases, last)
			}
			return leases
		}
	})},
	{name: "a job is lost on its way into the store", plant: store(func(_ *setup, t *tampered) {
		seldom := every(40)
		t.enqueue = func(jobs []engine.NewJob) []engine.NewJob {
			if seldom() {
				return nil
			}
			return jobs
		}
	})},
	{name: "a job changes its tenant", plant: store(func(_ *setup, t *tampered) {
		t.enqueue = func(jobs []engine.NewJob) []engine.NewJob {
			j := jobs[0]
			j.Tenant = max(1, j.Tenant-1)
			return []engine.NewJob{j}
		}
	})},
	{name: "serial keys are ignored", plant: store(func(_ *setup, t *tampered) {
		t.enqueue = func(jobs []engine.NewJob) []engine.NewJob {
			j := jobs[0]
			j.Serial = 0
			return []engine.NewJob{j}
		}
	})},
	{name: "dead jobs come back", plant: outcomes(func(o *engine.Outcome) {
		if o.Verb == engine.Bury {
			o.Verb, o.Delay = engine.Nack, time.Second
		}
	})},
	{name: "a return costs an attempt", plant: outcomes(func(o *engine.Outcome) {
		if o.Verb == engine.Return {
			o.Verb = engine.Redo
		}
	})},
	{name: "a free failure costs an attempt", plant: outcomes(func(o *engine.Outcome) {
		if o.Verb == engine.Snooze {
			o.Verb = engine.Nack
		}
	})},
	{name: "a limit on a class is off by one", plant: func(s *setup) {
		if s.options.MaxRunning != nil {
			s.options.MaxRunning = []int{s.options.MaxRunning[0] + 1}
		}
	}},
	{name: "a limit on what is in flight is off by one", plant: func(s *setup) {
		if s.options.MaxInFlight > 0 {
			s.options.MaxInFlight++
		}
	}},
	{name: "nobody wakes, and polls are rare", plant: func(s *setup) {
		s.config.Wake = sim.WakeNone
		node(func(_ *setup, c *engine.Config) { c.Fetch.Poll = time.Hour })(s)
	}},
	{name: "workers idle beside ready jobs", only: check.Set(0).With(check.Idleness), plant: func(s *setup) {
		s.config.Wake = sim.WakeNone
		node(func(_ *setup, c *engine.Config) { c.Fetch.Poll = time.Minute })(s)
	}},
	{name: "a class of jobs is claimed every quarter of an hour", only: check.Set(0).With(check.Starvation), plant: func(s *setup) {
		right := s.config.Policy
		s.config.Policy = func(node int32) engine.Policy { return forgetful{right(node)} }
	}},
	{name: "waits are counted from the wrong time", plant: store(func(_ *setup, t *tampered) {
		t.claim = func(_ engine.Plan, leases []engine.Lease) []engine.Lease {
			for i := range leases {
				leases[i].Waited = leases[i].Age
			}
			return leases
		}
	})},
	{name: "a promotion is forgotten", plant: store(func(_ *setup, t *tampered) {
		t.promote = func(p []engine.Promotion) []engine.Promotion { return p[:max(0, len(p)-1)] }
	})},
	{name: "the dead are not counted", plant: store(func(_ *setup, t *tampered) {
		t.stats = func(st engine.Stats) engine.Stats { st.Dead = 0; return st }
	})},
	{name: "a failed attempt is acked", plant: calls(func(c *engine.Call) {
		for i := range c.Batch.Outcomes {
			if o := &c.Batch.Outcomes[i]; o.Verb == engine.Nack && o.Error == engine.Timeout {
				o.Verb = engine.Ack
			}
		}
	})},
	{name: "two outcomes of a batch change places", plant: calls(func(c *engine.Call) {
		if o := c.Batch.Outcomes; len(o) > 1 {
			o[0].LeaseKey, o[1].LeaseKey = o[1].LeaseKey, o[0].LeaseKey
			o[0].Delivery, o[1].Delivery = o[1].Delivery, o[0].Delivery
		}
	})},
	{name: "what is committed stays pending", plant: func(s *setup) { s.config.Network = &deaf{Network: s.config.Network, seldom: every(10)} }},
	{name: "a lost lease keeps its place in the process", plant: store(func(_ *setup, t *tampered) {
		lost := map[int32]int{}
		holders := map[engine.LeaseKey]int32{}
		t.given = func(e engine.EngineID, leases []engine.Lease) {
			for i := range leases {
				holders[leases[i].Key()] = e.Node()
			}
		}
		t.extend = func(keys []engine.LeaseKey, ttl time.Duration, dst []engine.Status) ([]engine.Status, error) {
			from := len(dst)
			dst, err := t.Store.ExtendLease(context.Background(), keys, ttl, dst)
			for i, status := range dst[from:] {
				if status == engine.Stale {
					lost[holders[keys[i]]]++
				}
			}
			return dst, err
		}
		t.limit = func(e engine.EngineID, plan engine.Plan) engine.Plan {
			plan.Limit = max(0, plan.Limit-lost[e.Node()])
			return plan
		}
	})},
	{name: "no heartbeats are sent", plant: node(func(_ *setup, c *engine.Config) {
		if !c.Lease.OfNode {
			c.Lease.Heartbeat = 0
		}
	})},
	{name: "no heartbeats of nodes are sent", plant: node(func(_ *setup, c *engine.Config) {
		if c.Lease.OfNode {
			c.Lease.Heartbeat = time.Hour
		}
	})},
	{name: "heartbeats are half as frequent", plant: node(func(_ *setup, c *engine.Config) { c.Lease.Heartbeat *= 2 })},
	{name: "leases are prolonged beyond their limit", plant: node(func(_ *setup, c *engine.Config) { c.Lease.Max = 0 })},
	{name: "an execution does not end", plant: func(s *setup) { // its job goes on without it, after a timeout
		if k := &s.Node.Kinds[0]; k.Timeout > 0 && !k.WaitOut {
			s.config.Handlers = stuck{s.config.Handlers, every(60)}
		}
	}, only: check.Set(0).With(check.Liveness)},
	{name: "an execution is not told to stop", plant: func(s *setup) { s.config.Handlers = stubborn{s.config.Handlers} }},
	{name: "a claim brings one job less", plant: store(func(_ *setup, t *tampered) {
		t.limit = func(_ engine.EngineID, plan engine.Plan) engine.Plan {
			plan.Limit = max(1, plan.Limit-1)
			return plan
		}
	})},
	{name: "a claim is larger than a batch", plant: node(func(_ *setup, c *engine.Config) { c.Fetch.Batch *= 2 })},
	{name: "a commit is larger than a batch", plant: node(func(_ *setup, c *engine.Config) { c.Commit.Batch *= 2 })},
	{name: "a recovery is larger than a batch", plant: node(func(_ *setup, c *engine.Config) { c.Reaper.Batch *= 2 })},
	{name: "what is held for its time runs at once", plant: store(func(_ *setup, t *tampered) {
		t.claim = func(_ engine.Plan, leases []engine.Lease) []engine.Lease {
			for i := range leases {
				leases[i].Waited = max(0, leases[i].Waited)
			}
			return leases
		}
	})},
	{name: "what comes late is not handed back", plant: node(func(_ *setup, c *engine.Config) {
		if !c.Lease.RunLate {
			c.Lease.IgnoreLate = true
		}
	})},
	{name: "nobody looks for leases at a start", plant: node(func(_ *setup, c *engine.Config) { c.Reaper.OnStart = false })},
	{name: "backpressure is ignored", plant: node(func(_ *setup, c *engine.Config) { c.Commit.Backpressure = 0 })},
	{name: "priorities are turned round", plant: store(func(_ *setup, t *tampered) {
		t.enqueue = func(jobs []engine.NewJob) []engine.NewJob {
			j := jobs[0]
			j.Priority = -j.Priority
			return []engine.NewJob{j}
		}
	})},
	{name: "the newest job comes first", plant: policy(func(_ *setup, _ policies.FIFO) engine.Policy { return policies.Ordered{Order: engine.NewestReady} })},
	{name: "what is refused of a batch is taken for done", plant: store(func(_ *setup, t *tampered) {
		t.commit = func(b engine.Batch, dst []engine.Result) ([]engine.Result, error) {
			from := len(dst)
			dst, err := t.Store.Commit(context.Background(), b, dst)
			for i := range dst[from:] {
				if dst[from+i].Status == engine.Unapplied {
					dst[from+i].Status = engine.Applied.Again()
				}
			}
			return dst, err
		}
	})},
	{name: "a promotion makes one job ready", only: check.Set(0).With(check.Due), plant: node(func(_ *setup, c *engine.Config) { c.Promoter.Batch = min(c.Promoter.Batch, 1) })},
	{name: "the ack at the start is not sent", plant: func(s *setup) { s.config.Network = silent{s.config.Network} }},
	{name: "without a fence a job dies at once", plant: unfenced(func(j engine.Job, e engine.ErrorKind, u float64, right *policies.Backoff) (engine.Verb, time.Duration) {
		return engine.Bury, 0
	})},
	{name: "without a fence a job goes on past its limit", plant: unfenced(func(j engine.Job, e engine.ErrorKind, u float64, right *policies.Backoff) (engine.Verb, time.Duration) {
		if v, delay := right.Next(&j, e, u); v != engine.Bury {
			return v, delay
		}
		return engine.Nack, right.Max
	})},
	{name: "a policy remembers other runs", only: check.Set(0).With(check.Determinism), plant: func(s *setup) {
		if runs++; runs%2 == 0 {
			s.config.Policy = func(int32) engine.Policy { return policies.Ordered{Order: engine.NewestReady} }
		}
	}},
}

// deadlines returns a plant, see bug, after which engines have other deadlines for retries than the scenario.
func deadlines(other func(time.Duration) time.Duration) func(*setup) {
	return node(func(_ *setup, c *engine.Config) {
		c.Kinds = slices.Clone(c.Kinds)
		for i := range c.Kinds {
			c.Kinds[i].Deadline = other(c.Kinds[i].Deadline)
		}
	})
}
