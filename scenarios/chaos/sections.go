package chaos

import (
	"fmt"
	"strconv"
	"time"

	"qsim/engine"
)

// section is a line of the text of a world.
type section struct {
	name   string
	fields []field
}

var (
	standWords  = []string{"usual", "head", "due", "tail", "created"}
	jitterWords = []string{"none", "full", "equal", "decorrelated"}
	errorWords  = errorNames()
	eventWords  = words(0, int(engine.NumEventKinds), func(i int) engine.EventKind { return engine.EventKind(i) })
	opWords     = words(0, int(engine.NumOps), func(i int) engine.Op { return engine.Op(i) })
)

// errorNames are the kinds of error that handlers may fail with, the first of a
// program's own being "failure".
func errorNames() []string {
	return append(append([]string(nil), engine.ReservedErrorKinds[:]...), "failure")
}

// sections are the lines of w but for its policy and its faults, in their order.
func (w *World) sections() []section {
	e := &w.Engine
	return []section{
		{"world", []field{number("seed", &w.Seed), duration("heal", &w.Heal), number("nodes", &w.Nodes), number("workers", &e.Workers),
			duration("call-timeout", &e.CallTimeout), duration("timeout", &w.Timeout), duration("restart", &w.Restart),
			word("wake", &w.Wake, 0, 0, "one", "all", "none"), truth("makes-room", &w.MakesRoom)}},
		{"load", []field{number("jobs", &w.Load.Jobs), duration("gap", &w.Load.Gap), number("kinds", &w.Load.Kinds), truth("ranked", &w.Load.Ranked),
			number("tenants", &w.Load.Tenants), number("keys", &w.Load.Keys), duration("delay", &w.Load.Delay), list("only", &w.Load.Only,
				func(id engine.JobID) string { return strconv.FormatUint(uint64(id), 10) }, parseJob)}},
		{"work", []field{duration("p50", &w.Work.P50), duration("p99", &w.Work.P99), duration("cap", &w.Work.Cap), share("fails", &w.Work.Fails),
			share("poison", &w.Work.Poison), word("error", &w.Work.Error, 0, 0, errorWords...), share("kills", &w.Work.Kills),
			truth("ignores-cancel", &w.Work.IgnoresCancel)}},
		{"retry", []field{number("attempts", &w.Retry.Attempts), duration("first", &w.Retry.First), share("factor", &w.Retry.Factor), duration("max", &w.Retry.Max),
			word("jitter", &w.Retry.Jitter, 0, 0, jitterWords...), word("free", &w.Retry.Free, 0, 0, errorWords...), word("never", &w.Retry.Never, 0, 0, errorWords...)}},
		{"store", w.storeFields()},
		{"links", w.linkFields()},
		{"fetch", []field{number("batch", &e.Fetch.Batch), duration("poll", &e.Fetch.Poll), number("prefetch", &e.Fetch.Prefetch),
			duration("cooldown", &e.Fetch.Cooldown), duration("error-pause", &e.Fetch.ErrorPause)}},
		{"commit", []field{number("batch", &e.Commit.Batch), duration("linger", &e.Commit.Linger), number("calls", &e.Commit.Calls), duration("timeout", &e.Commit.Timeout),
			number("tries", &e.Commit.Tries), word("give-up", &e.Commit.GiveUp, 0, 0, "requeue", "drop"), number("backpressure", &e.Commit.Backpressure),
			durations("backoff", &e.Commit.Backoff)}},
		{"lease", []field{duration("ttl", &e.Lease.TTL), duration("heartbeat", &e.Lease.Heartbeat), word("late-claim", &e.Lease.LateClaim, 0, 0, "return", "run", "ignore"),
			duration("max", &e.Lease.Max), truth("of-node", &e.Lease.OfNode), truth("kept", &e.Lease.Kept), truth("local", &e.Lease.Local), truth("ack-at-start", &e.Lease.AckAtStart)}},
		{"reaper", []field{truth("off", &e.Reaper.Off), duration("every", &e.Reaper.Every), number("batch", &e.Reaper.Batch), duration("grace", &e.Reaper.Grace),
			truth("on-start", &e.Reaper.OnStart), truth("nothing", &e.Reaper.Nothing), word("owner", &e.Reaper.Owner, 0, 0, "every", "leader"),
			number("bury-at", &e.Reaper.BuryAt), word("after", &e.Reaper.After, 0, 0, "failure", "ready", "dead"), word("stand", &e.Reaper.Stand, 0, 0, standWords...),
			word("guard", &e.Reaper.Guard, 0, 0, "store", "token", "state", "none"), duration("gap", &e.Reaper.Gap)}},
		{"promoter", []field{duration("every", &e.Promoter.Every), number("batch", &e.Promoter.Batch), word("order", &e.Promoter.Order, 0, 0, "oldest", "newest"),
			word("owner", &e.Promoter.Owner, 0, 0, "every", "leader"), duration("gap", &e.Promoter.Gap), duration("drawn", &w.Drawn), duration("first", &w.First)}},
		{"leader", []field{duration("ttl", &e.Leader.TTL), duration("renew", &e.Leader.Renew)}},
	}
}

func (w *World) storeFields() []field {
	o := &w.Store
	lapse := field{"lapse-after", func() string { return unless(o.LapseAfter < 0, o.LapseAfter.String()) }, func(s string) (err error) {
		if o.LapseAfter, err = time.ParseDuration(s); err == nil && o.LapseAfter < 0 {
			err = strconv.ErrRange
		}
		return because(err, "%q is no duration of at least 0", s)
	}}
	return []field{word("fence", &o.Fence, engine.FenceToken, engine.FenceToken, "token", "state", "none"), word("place", &o.Place, engine.PlaceDue, engine.PlaceHead, standWords[1:]...), truth("promoted", &o.Promoted), lapse,
		duration("recoveries-within", &o.RecoveriesWithin), truth("orphans", &o.Orphans), list("max-running", &o.MaxRunning, strconv.Itoa, parseCount), truth("keep-dead", &o.KeepDead),
		number("max-in-flight", &o.MaxInFlight), truth("count-ahead", &o.CountAhead), truth("held", &o.Held)}
}

func (w *World) linkFields() []field {
	l := &w.Links
	fields := make([]field, 0, engine.NumOps+4)
	for op := engine.OpClaim; op < engine.NumOps; op++ {
		fields = append(fields, duration(op.String(), &l.Delay[op]))
	}
	return append(fields, duration("per-job", &l.PerJob), duration("per-row", &l.PerRow), duration("enqueue", &l.Enqueue), number("parallel", &l.Parallel))
}

func durations(name string, at *[]time.Duration) field {
	return list(name, at, time.Duration.String, func(s string) (time.Duration, error) {
		d, err := time.ParseDuration(s)
		if err == nil && d < 0 {
			err = strconv.ErrRange
		}
		return d, because(err, "%q is no duration of at least 0", s)
	})
}

func parseCount(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 31)
	return int(n), because(err, "%q is no whole number", s)
}

func parseJob(s string) (engine.JobID, error) {
	n, err := strconv.ParseUint(s, 10, 63)
	return engine.JobID(n), because(err, "%q is no job", s)
}

// fields are what a line of f may say, in its order: of those of any fault the ones that
// its kind heeds.
func (f *Fault) fields() []field {
	fields := []field{duration("at", &f.At), duration("for", &f.For), number("times", &f.Times), duration("every", &f.Every)}
	if f.Kind.isControl() {
		fields = append(fields, word("on", &f.On, 0, 0, eventWords...), number("nth", &f.Nth), word("op", &f.Op, 0, 0, opWords...))
	}
	if f.Kind.ofNode() || f.Kind == Calls {
		fields = append(fields, f.nodeField())
	}
	switch f.Kind {
	case Crash:
		fields = append(fields, truth("rolls", &f.Rolls))
	case Skew:
		fields = append(fields, duration("offset", &f.Offset))
	case Pool:
		fields = append(fields, number("limit", &f.Limit))
	case LoseLeases, Fail, Kill:
		fields = append(fields, share("share", &f.Share))
	case Redrive:
		fields = append(fields, share("share", &f.Share), truth("reset", &f.Reset))
	case Calls:
		fields = append(fields, f.opsField(), share("lose-request", &f.LoseRequest), share("lose-reply", &f.LoseReply), share("duplicate", &f.Duplicate),
			share("error", &f.Err), share("partial", &f.Part), duration("delay", &f.Delay))
	case SlowStore, Slow:
		fields = append(fields, share("factor", &f.Factor))
	case Hang:
		fields = append(fields, share("share", &f.Share), duration("extra", &f.Extra))
	case Overload:
		fields = append(fields, share("share", &f.Share), number("limit", &f.Limit))
	case Burst:
		fields = append(fields, number("count", &f.Count), number("id", &f.ID), number("tenant", &f.Tenant), duration("extra", &f.Extra))
	}
	return fields
}

func (f *Fault) nodeField() field {
	return field{"node", func() string {
		switch f.Node {
		case EveryNode:
			return "all"
		case ThatNode:
			return "that"
		}
		return unless(f.Node == 0, fmt.Sprint(f.Node))
	}, func(s string) error {
		switch s {
		case "all":
			f.Node = EveryNode
			return nil
		case "that":
			f.Node = ThatNode
			return nil
		}
		n, err := strconv.ParseUint(s, 10, 31)
		f.Node = int32(n)
		return because(err, "%q is no node, all or that", s)
	}}
}

func (f *Fault) opsField() field {
	var ops []engine.Op
	for op := engine.OpClaim; op < engine.NumOps; op++ {
		if f.Ops[op] {
			ops = append(ops, op)
		}
	}
	read := list("ops", &ops, engine.Op.String, func(s string) (engine.Op, error) {
		for op := engine.OpClaim; op < engine.NumOps; op++ {
			if op.String() == s {
				f.Ops[op] = true
				return op, nil
			}
		}
		return 0, fmt.Errorf("%q is no call", s)
	})
	return read
}
