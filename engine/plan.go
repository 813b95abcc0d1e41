package engine

import (
	"fmt"
	"time"
)

// Order is the order in which a Term claims ready jobs. The first two go by priority and order the jobs of one. A store
// need not offer those that follow: a claim then fails with ErrUnsupported.
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

	// TenantRoundRobin claims one job of each tenant in turn. A tenant that comes to
	// have ready jobs joins at the end. The turn is kept by the store, for all engines.
	// Of one tenant this order and the next two claim by priority, oldest ready first:
	// no tenant gains by urgency.
	TenantRoundRobin
	// TenantDeficit is deficit round robin (Shreedhar and Varghese, 1996): a tenant
	// whose turn it is may spend Rule.Quantum more than it had left, on jobs that cost
	// StoreOptions.Service of their kind, or one each with Rule.PerJob. What a job cannot
	// be paid from is left for the next turn, and lost when no job is ready any more.
	TenantDeficit
	// TenantFair claims the oldest ready job of the quiet tenants, then from the noisy
	// tenant with the fewest jobs in flight. A tenant is noisy while it has
	// Rule.AtLeast jobs in flight and more than Rule.Share of all, or has used more than
	// a tenth of the processing time of the last minutes, which is halved every minute;
	// but it is quiet when it has not enqueued for five minutes, and what it used is
	// forgotten when none of its jobs is ready any more (as SQS fair queues).
	TenantFair
)

var orderNames = [...]string{"oldest", "newest", "oldest-of-any", "aging", "deadline", "tenant-round-robin", "tenant-drr", "tenant-fair"}

// String returns the order's name in the spelling of scenarios.
func (o Order) String() string { return orderNames[o] }

// ByTenant reports whether the order chooses a tenant before it chooses a job.
func (o Order) ByTenant() bool { return o >= TenantRoundRobin }

// Rule holds the parameters of an Order. It must not change once a plan has used it.
type Rule struct {
	Every    time.Duration   // Aging: above 0
	Cap      int64           // Aging: 0: no bound
	Budgets  []time.Duration // Deadline: by kind; kinds past the end are as the last; none: 0
	Quantum  int64           // TenantDeficit: nanoseconds, or jobs with PerJob; at least 1
	PerJob   bool            // TenantDeficit
	ShareNum int64           // TenantFair: the share is ShareNum / ShareDen, in [0, 1], both at most 10^9
	ShareDen int64           // TenantFair: at least 1
	AtLeast  int             // TenantFair
}

// Kinds is a set of job kinds below 64. The empty set stands for all kinds.
type Kinds uint64

// Has reports whether kind k is in the set, or the set is empty.
func (s Kinds) Has(k Kind) bool { return s == 0 || k < 64 && s>>k&1 != 0 }

// With returns the set with kind k added, or unchanged if k is not below 64.
func (s Kinds) With(k Kind) Kinds { return s | 1<<k }

// Term is the part of a Plan that claims up to Limit ready jobs that match its fields.
type Term struct {
	Class     Class    // Fresh, Retry or AnyClass
	Order     Order    //
	Kinds     Kinds    // empty: every kind
	Tenant    TenantID // 0 matches every tenant
	PerTenant int      // at most this many per tenant; 0 means no cap; OldestReady and NewestReady only
	Limit     int      // at least 0
	Rule      *Rule    // of the orders that have parameters
	// MaxWait, if above 0, is how long a job may have waited since it became ready.
	// OldestReady only. Longer ones are left where they are, unless Shed is above 0.
	MaxWait time.Duration
	// Shed is how many at the most of the jobs that match and have waited longer than MaxWait are buried, longest waiting first:
	// the answer shows each as a Lease that is Shed and that counts in no limit. What is late beyond that is claimed
	// as any other.
	Shed int32
}

// Validate returns an error if no store can claim by the term: ErrUnsupported, wrapped, for features that none offers.
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

// Plan is an ordered list of Terms: each claims from the jobs left by the earlier ones, until Limit jobs are claimed in
// all. A last Term of AnyClass makes a plan work-conserving.
type Plan struct {
	Limit int
	Terms []Term
}
