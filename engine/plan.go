package engine

import (
	"fmt"
	"time"
)

// Order is the order in which a Term claims ready jobs. OldestReady and NewestReady order the jobs of each priority,
// most urgent priority first. A store need not support the others: a claim then fails with ErrUnsupported.
type Order uint8

const (
	OldestReady Order = iota // by the store's place rule: smallest ready key first
	NewestReady              // largest ready key first (LIFO)

	OldestOfAny // smallest ready key first, whatever the priority
	// Aging orders by priority, raised by one for each whole Rule.Every that the job has waited, at most by Rule.Cap, then
	// by the time it became ready.
	Aging
	// Deadline orders by the enqueue time plus Rule.Budgets of the job's kind: a retry keeps its deadline. Priorities do
	// not matter.
	Deadline

	// TenantRoundRobin claims one job of each tenant in turn. A tenant that comes to have ready jobs
	// joins at the end. The store keeps the turn for all engines. This order and the next two claim
	// each tenant's jobs by priority, oldest ready first: urgent jobs gain a tenant nothing.
	TenantRoundRobin
	// TenantDeficit is deficit round robin (Shreedhar and Varghese, 1996): a tenant whose turn it is may spend
	// Rule.Quantum more than it had left, on jobs that cost StoreOptions.Service of their kind, or one each with
	// Rule.PerJob. Credit too small for the next job is kept for the next turn, and lost when no job is ready any more.
	TenantDeficit
	// TenantFair claims the oldest ready job of the quiet tenants, then from the noisy
	// tenant with the fewest jobs in flight. A tenant is noisy while it has
	// Rule.AtLeast jobs in flight and more than Rule.Share of all, or has used more than
	// a tenth of the processing time of the last minutes, which is halved every minute;
	// but it is quiet when it has not enqueued for five minutes, and what it used is
	// forgotten when none of its jobs is ready any more (as SQS fair queues).
	TenantFair
)

var orderNames = [...]string{"oldest", "newest", "oldest-of-any", "aging", "deadline", "tenant-round-robin",
	"tenant-drr", "tenant-fair"}

// String returns the name of the claim order in the spelling of scenarios.
func (o Order) String() string { return orderNames[o] }

// ByTenant reports whether claims in this order choose a tenant first and then one of its jobs.
func (o Order) ByTenant() bool { return o >= TenantRoundRobin }

// Rule holds the parameters of a claim order (Order). It must not change once a Plan with it has gone to a store.
type Rule struct {
	Every time.Duration // Aging: waiting time for each step of priority, above 0
	Cap   int64         // Aging: most steps by which waiting raises a priority; 0: no bound
	// Budgets, of Deadline, holds the time from enqueue to deadline by kind; kinds past the end have the last; none: 0.
	Budgets  []time.Duration
	Quantum  int64 // TenantDeficit: credit per turn in nanoseconds, or jobs with PerJob; at least 1
	PerJob   bool  // TenantDeficit: the quantum counts jobs, not service time
	ShareNum int64 // TenantFair: numerator of the share ShareNum / ShareDen in [0, 1]; at most 10^9
	ShareDen int64 // TenantFair: denominator of the share, in [1, 10^9]
	AtLeast  int   // TenantFair: fewest jobs in flight of a noisy tenant
}

// Kinds is a set of job kinds below 64. The empty set stands for all kinds.
type Kinds uint64

// Has reports whether kind k is in the set, or the set is empty.
func (s Kinds) Has(k Kind) bool { return s == 0 || k < 64 && s>>k&1 != 0 }

// With returns the set with kind k added, or unchanged if k is not below 64.
func (s Kinds) With(k Kind) Kinds { return s | 1<<k }

// Term is one step of a claim Plan: it claims up to Limit ready jobs of its class, kinds and tenant, in its Order.
type Term struct {
	Class     Class    // Fresh, Retry or AnyClass
	Order     Order    //
	Kinds     Kinds    // kinds of jobs to claim; empty: every kind
	Tenant    TenantID // 0 matches every tenant
	PerTenant int      // most jobs of one tenant; 0: no limit; OldestReady and NewestReady only
	Limit     int      // most jobs to claim, at least 0
	Rule      *Rule    // parameters of Order; nil if it has none
	// MaxWait, if above 0, is the longest time that a claimed job may have been ready. OldestReady
	// only. Jobs over it are skipped, unless Shed is above 0.
	MaxWait time.Duration
	// Shed is the most matching jobs over MaxWait that a claim buries, longest waiting first: the answer shows each as a
	// Lease with Shed set that counts in no limit. Further late jobs are claimed like any others.
	Shed int32
}

// Validate returns an error for a term by which no store can claim: a wrapped ErrUnsupported if it combines features
// that no store offers.
func (t *Term) Validate() error {
	byPlace, r := t.Order <= NewestReady, t.Rule
	switch {
	case t.Order > TenantFair:
		return fmt.Errorf("order %d: %w", t.Order, ErrUnsupported)
	case t.Class > AnyClass:
		return fmt.Errorf("class %d: %w", t.Class, ErrUnsupported)
	case t.PerTenant < 0 || t.MaxWait < 0 || t.Shed < 0:
		return fmt.Errorf("%d per tenant, wait of %v, %d shed: none may be negative", t.PerTenant, t.MaxWait, t.Shed)
	case t.PerTenant > 0 && !byPlace || t.MaxWait > 0 && t.Order != OldestReady:
		return fmt.Errorf("%d per tenant, wait of %v, order %v: %w", t.PerTenant, t.MaxWait, t.Order, ErrUnsupported)
	case t.Order == Aging && (r == nil || r.Every <= 0),
		t.Order == Deadline && r == nil,
		t.Order == TenantDeficit && (r == nil || r.Quantum < 1),
		t.Order == TenantFair && (r == nil || r.ShareDen < 1):
		return fmt.Errorf("order %v: its rule is missing or impossible", t.Order)
	}
	return nil
}

// Plan is the request for jobs of one claim call: an ordered list of Terms, each of which claims from the jobs left by
// the earlier ones, until Limit jobs are claimed in all. A last Term of AnyClass makes a plan work-conserving.
type Plan struct {
	Limit int
	Terms []Term
}
