package check

import (
	"slices"
	"time"

	"qsim/engine"
)

// tenant is the checker's state of one tenant, kept where the policy's order of claims depends on tenants.
type tenant struct {
	ready, running int         // numbers of ready and running jobs; those held by a reaper do not run
	turn           int64       // turn at which it last got ready jobs, or was served; 0: before the first claim
	enqueued       engine.Time // enqueue time of its latest job
	used           int64       // processing time in nanoseconds while it has ready jobs, halved every minute
	// ahead holds, by other tenant, how much more service than that one it got since the lowest point, while both had
	// ready jobs.
	ahead []int64
}

// tenants is the checker's state of all tenants: whose turn it is, and how much service each has had.
type tenants struct {
	of           []tenant        // states of tenants, by ID
	turns        int64           // number of turns given so far
	running      int             // jobs in flight of all tenants, without those held by a reaper
	used, halved int64           // processing time of all tenants in nanoseconds, halved every minute; number of halvings
	spent        int64           // service of the latest tenant in a row, while others had ready jobs
	served       engine.TenantID // latest tenant served
	many         bool            // there are too many tenants or jobs to compare
}

// mostTenants is the highest number of tenants for which fairness is verified, and mostCompared the highest number of
// jobs for which claim orders are: a claimed job is compared with all others.
const mostTenants, mostCompared = 64, 1 << 10

// tenant returns the record of a tenant; nil where the policy does not choose by tenant, or there are too many tenants.
func (c *Checker) tenant(id engine.TenantID) *tenant {
	if !c.d.byTenant {
		return nil
	}
	if c.tenants.many = c.tenants.many || id >= mostTenants; c.tenants.many {
		return nil
	}
	for int(id) >= len(c.tenants.of) {
		c.tenants.of = append(c.tenants.of, tenant{ahead: make([]int64, mostTenants)})
	}
	return &c.tenants.of[id]
}

// readied adds by (1 or -1) to the number of a tenant's ready jobs.
func (c *Checker) readied(id engine.TenantID, by int) {
	t, x := c.tenant(id), &c.tenants
	if t == nil {
		return
	}
	if t.ready += by; t.ready > 1 || t.ready == 1 && by < 0 {
		return
	}
	if t.used = 0; c.events[engine.Leased] > 0 {
		x.turns++
		t.turn = x.turns
	}
	for i := range x.of { // the tenant has joined or left: earlier service does not count
		t.ahead[i], x.of[i].ahead[id] = 0, 0
	}
	if x.served == id {
		x.spent = 0
	}
}

// runs adds by (1 or -1) to the number of jobs in flight of a job's tenant.
func (c *Checker) runs(j *job, by int) {
	t, x := c.tenant(j.tenant), &c.tenants
	if t == nil || j.reaped {
		return
	}
	t.running += by
	x.running += by
	for minutes := int64(c.now) / int64(time.Minute); x.halved < minutes; x.halved++ {
		x.used >>= 1
		for i := range x.of {
			x.of[i].used >>= 1
		}
	}
	if ran := int64(c.now.Sub(j.claimed)); by < 0 {
		if x.used += ran; t.ready > 0 {
			t.used += ran
		}
	}
}

// others calls yield for each tenant with ready jobs except the given one, in order of tenant ID.
func (x *tenants) others(id engine.TenantID, yield func(other engine.TenantID, t *tenant)) {
	for i := range x.of {
		if i != int(id) && x.of[i].ready > 0 {
			yield(engine.TenantID(i), &x.of[i])
		}
	}
}

// turnsRound checks the order TenantRoundRobin: no tenant is served before one that has waited for its turn for longer.
func (c *Checker) turnsRound(s *subject) bool {
	t := c.tenant(s.Tenant)
	if t == nil {
		return false
	}
	c.tenants.others(s.Tenant, func(id engine.TenantID, other *tenant) {
		if other.turn < t.turn {
			c.complain(Shares, "it is tenant %d's, and it was tenant %d's turn", s.Tenant, id)
		}
	})
	return true
}

// cost returns the price of a job of kind k under the order TenantDeficit: 1, or its mean run time in nanoseconds.
func (c *Checker) cost(k engine.Kind) int64 {
	switch service := c.rules.Store.Service; {
	case c.rules.Rule.PerJob:
		return 1
	case len(service) == 0:
		return int64(time.Second)
	default:
		return int64(*ofKind(service, k))
	}
}

// paysByTurns checks the order TenantDeficit: while others have jobs ready, a tenant gets in a row at most the cost of
// the dearest job and the quanta that pay for one; while two tenants have jobs ready, neither gets ahead of the other
// by more than a quantum and two such jobs.
func (c *Checker) paysByTurns(s *subject) bool {
	x, quantum, cost, dearest := &c.tenants, c.rules.Rule.Quantum, c.cost(s.j.kind), c.cost(0)
	for k := range c.rules.Store.Service {
		dearest = max(dearest, c.cost(engine.Kind(k)))
	}
	t, contested := c.tenant(s.Tenant), false
	if t == nil {
		return false
	}
	x.others(s.Tenant, func(id engine.TenantID, other *tenant) {
		contested = true
		other.ahead[s.Tenant] = max(0, other.ahead[s.Tenant]-cost)
		if t.ahead[id] += cost; t.ahead[id] > quantum+2*dearest {
			c.complain(Shares, "tenant %d has got %d more than tenant %d, and both had jobs ready: quantum %d, dearest job %d",
				s.Tenant, t.ahead[id], id, quantum, dearest)
		}
	})
	if x.spent += cost; x.served != s.Tenant || !contested {
		x.spent, x.served = 0, s.Tenant
		if contested {
			x.spent = cost
		}
	}
	if turns := (dearest + quantum - 1) / quantum; x.spent >= turns*quantum+dearest { // until other tenants can pay too
		c.complain(Shares, "tenant %d has got %d in a row, and others had jobs ready: quantum %d, dearest job %d",
			s.Tenant, x.spent, quantum, dearest)
	}
	return true
}

// sparesQuiet checks the order TenantFair: no noisy tenant is served while a quiet one has a job ready, and of noisy
// ones the one with the fewest jobs in flight is.
func (c *Checker) sparesQuiet(s *subject) bool {
	t := c.tenant(s.Tenant)
	if t == nil || c.events[engine.LeaseForgotten] > 0 || !c.isNoisy(t) {
		return t != nil
	}
	c.tenants.others(s.Tenant, func(id engine.TenantID, other *tenant) {
		if !c.isNoisy(other) || other.running < t.running {
			c.complain(Shares, "tenant %d is noisy, with %d of %d jobs in flight; tenant %d has %d, and a job that is ready",
				s.Tenant, t.running, c.tenants.running, id, other.running)
		}
	})
	return true
}

func (c *Checker) isNoisy(t *tenant) bool {
	r, x := c.rules.Rule, &c.tenants
	const quietAfter, share = 5 * time.Minute, 10
	return c.now.Sub(t.enqueued) < quietAfter &&
		(t.running >= r.AtLeast && int64(t.running)*r.ShareDen > r.ShareNum*int64(x.running) || t.used > x.used/share)
}

// goesFirst checks that a claimed job is the first by the policy's order: of all ready jobs, or of its tenant's where
// the policy chooses by tenant.
func (c *Checker) goesFirst(s *subject) bool {
	if c.jobs.size > mostCompared {
		return false
	}
	mine := c.standing(s.j)
	for r := range c.jobs.size {
		j := c.jobs.at(r)
		if j.state != engine.Ready || c.d.byTenant && j.tenant != s.j.tenant {
			continue
		}
		if its := c.standing(j); slices.Compare(its[:], mine[:]) < 0 {
			c.complain(Due, "job %d comes before it by the order %v", j.id, c.rules.Order)
			break
		}
	}
	return true
}

// standing returns the sort key of a ready job in the policy's order of claims; the smallest is claimed first.
func (c *Checker) standing(j *job) [2]int64 {
	r, priority := c.rules.Rule, int64(*ofKind(c.rules.Priorities, j.kind))
	switch c.rules.Order {
	case engine.Aging:
		gained := max(0, int64(c.now.Sub(j.ready)/r.Every))
		if r.Cap > 0 {
			gained = min(gained, r.Cap)
		}
		return [2]int64{priority - gained, int64(j.ready)}
	case engine.Deadline:
		budget := time.Duration(0)
		if len(r.Budgets) > 0 {
			budget = *ofKind(r.Budgets, j.kind)
		}
		return [2]int64{int64(j.enqueued.Add(budget)), int64(j.enqueued)}
	}
	return [2]int64{priority, 0}
}
