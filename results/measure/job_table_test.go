package measure

import (
	"testing"

	"qsim/engine"
	"qsim/engine/keyed"
)

// used returns the number of jobs in the table: of its entries, those that are not free.
func (t *jobTable) used() int {
	n := t.entries
	for j := t.free; j != nil; j = j.next {
		n--
	}
	return n
}

// The table agrees with a map through any sequence of puts and removes of jobs that get in each other's way, as their
// hashes are few. It grows while some have been removed, and has room for no more jobs than there were at once.
func TestJobTableAgainstAMap(t *testing.T) {
	table, model := newJobTable(), make(map[engine.JobID]uint16)
	var ids []engine.JobID
	for id := engine.JobID(1); len(ids) < 600; id++ {
		if uint64(id)*0x9e3779b97f4a7c15>>table.shift < 10 {
			ids = append(ids, id)
		}
	}
	rand := keyed.Rand{Seed: 7}
	most := 0
	for i := range uint64(200_000) {
		id := ids[int(rand.Uniform(keyed.ForPolicy, i, 0, 0)*float64(50+min(i/200, 550)))]
		switch op := rand.Uniform(keyed.ForPolicy, i, 1, 0); {
		case op < 0.5:
			j := table.put(id)
			j.running++
			model[id]++
		default:
			if j := table.find(id); j != nil {
				table.remove(j)
			}
			delete(model, id)
		}
		most = max(most, len(model))
		j := table.find(id)
		if want, ok := model[id]; (j != nil) != ok || ok && j.running != want {
			t.Fatalf("step %d: job %d is %+v, want %d, %v", i, id, j, want, ok)
		}
	}
	if table.used() != len(model) || table.entries != most || len(table.heads) < 4*most {
		t.Errorf("%d used, want %d; room for %d, want %d, in %d lists", table.used(), len(model), table.entries, most,
			len(table.heads))
	}
	for id, want := range model {
		if j := table.find(id); j == nil || j.running != want {
			t.Errorf("job %d is %+v, want %d", id, j, want)
		}
	}
}

// Jobs with a claim that has no further events do not pile up.
func TestLimboIsBounded(t *testing.T) {
	tp := newTape(settings(), 0)
	for id := engine.JobID(1); id <= 3*limboSize; id++ {
		tp.enqueue(20, id, 0)
		tp.lease(20, id, 20) // lost
		tp.outcome(20, engine.Nacked, id, tp.take(20, id), 0)
	}
	if n := tp.known.used(); n > limboSize {
		t.Errorf("%d jobs are remembered, want at most %d", n, limboSize)
	}
}
