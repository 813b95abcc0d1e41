package memstore

import (
	"cmp"
	"slices"

	"qsim/engine"
)

// lines holds the queues of all ready jobs: a lane for each priority or, once a claim selects jobs by kind, for each
// priority and kind.
type lines struct {
	lanes  []lane   // append-only: rows refer to them by index
	order  []uint16 // lanes ordered by their keys
	byKind bool
	latest uint16 // lane of the latest job

	moved bool // the ready key of some job has differed from the time it became ready: no queue is in order of age
}

// lane holds the ready jobs of one priority and, once split by kind, one kind: either those that may be claimed, or
// those that may not because an earlier job of their serial key has not ended.
type lane struct {
	key      int64 // see laneKey
	priority int16
	kind     engine.Kind // job kind; 0 if lanes are not split by kind
	behind   bool        // its jobs may not be claimed
	ready    [engine.NumClasses]queue
	cell     cell // search trees of the jobs in ready, in other orders
}

// laneKey is the number by which lanes are ordered: by priority, kind, and whether their jobs are behind others.
func laneKey(priority int16, kind engine.Kind, behind bool) int64 {
	key := int64(priority)<<32 | int64(kind)<<1
	if behind {
		key++
	}
	return key
}

// of returns the index of the lane (queues of ready jobs) for a priority, a kind and jobs that may be claimed or stand
// behind others of their serial key, and adds a lane if there is none.
func (x *lines) of(priority int16, kind engine.Kind, behind bool) uint16 {
	if !x.byKind {
		kind = 0
	}
	key := laneKey(priority, kind, behind)
	if int(x.latest) < len(x.lanes) && x.lanes[x.latest].key == key {
		return x.latest
	}
	at, found := slices.BinarySearchFunc(x.order, key, func(have uint16, key int64) int {
		return cmp.Compare(x.lanes[have].key, key)
	})
	if !found {
		i := uint16(len(x.lanes))
		x.order = slices.Insert(x.order, at, i)
		x.lanes = append(x.lanes, lane{key: key, priority: priority, kind: kind, behind: behind, cell: cell{lane: i}})
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
		if r.lane = s.lines.of(old[r.lane].priority, r.kind, old[r.lane].behind); r.state == engine.Ready {
			r.place = inList
			s.lineOf(r).insert(&s.late, ref, r)
		}
	}
}
