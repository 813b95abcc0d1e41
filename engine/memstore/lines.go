package memstore

import (
	"slices"

	"qsim/engine"
)

// lines holds the queues of all ready jobs: a lane for each priority or, once a claim selects jobs by kind, for each
// priority and kind.
type lines struct {
	lanes  []lane   // append-only: rows refer to them by index
	order  []uint16 // lanes ordered by (priority, kind)
	byKind bool
	latest uint16 // lane of the latest job

	moved  bool   // the ready key of some job has differed from the time it became ready: no queue is in order of age
	ages   *treap // search trees of all ready rows by the time they became ready; nil: Stats has not needed them
	oldest [engine.NumClasses]uint32
}

// lane holds the ready jobs of one priority and, once split by kind, one kind.
type lane struct {
	priority int16
	kind     engine.Kind // job kind; 0 if lanes are not split by kind
	ready    [engine.NumClasses]queue
	// behind holds ready jobs that may not be claimed, since an earlier job of their serial key has not ended.
	behind [engine.NumClasses]queue
	cell   cell // search trees of the jobs in ready, in other orders
}

func (l *lane) each(visit func(c engine.Class, q *queue)) {
	for c := range engine.NumClasses {
		visit(c, &l.ready[c])
		visit(c, &l.behind[c])
	}
}

// of returns the index of the lane (queues of ready jobs) for a priority and kind, and adds a lane if there is none.
func (x *lines) of(priority int16, kind engine.Kind) uint16 {
	if !x.byKind {
		kind = 0
	}
	if int(x.latest) < len(x.lanes) {
		if l := &x.lanes[x.latest]; l.priority == priority && l.kind == kind {
			return x.latest
		}
	}
	at, found := slices.BinarySearchFunc(x.order, kind, func(have uint16, _ engine.Kind) int {
		l := &x.lanes[have]
		if d := int(l.priority) - int(priority); d != 0 {
			return d
		}
		return int(l.kind) - int(kind)
	})
	if !found {
		i := uint16(len(x.lanes))
		x.order = slices.Insert(x.order, at, i)
		x.lanes = append(x.lanes, lane{priority: priority, kind: kind, cell: cell{lane: i}})
	}
	x.latest = x.order[at]
	return x.latest
}

// splitByKind replaces each lane (the queues of a priority) by one for each job kind, for good: claims select kinds.
func (s *Store) splitByKind() {
	if s.lines.byKind {
		return
	}
	old := s.lines.lanes
	s.lines.lanes, s.lines.order, s.lines.byKind, s.lines.latest = nil, nil, true, 0
	for ref, r := range s.rows.all {
		if r.lane = s.lines.of(old[r.lane].priority, r.kind); r.state == engine.Ready {
			r.place = inList
			s.lineOf(ref, r).insert(&s.late, ref, r)
		}
	}
}
