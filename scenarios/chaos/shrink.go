package chaos

import (
	"fmt"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v4"

	"qsim/engine"
	"qsim/results/plain"
	"qsim/scenarios/spec"
	"qsim/scenarios/tree"
)

// mostTries and mostEvents end the search for a smaller world that fails alike.
const (
	mostTries  = 1500       // worlds
	mostEvents = 20_000_000 // events of all simulations together
)

// shrinker searches for a smaller world that fails in the same way as a given one.
type shrinker struct {
	runner *runner
	twice  bool
	want   Report
	best   *World
	report Report // result of best
	tries  int
	events int64
	stop   func() bool // whether to stop shrinking; nil: never
}

// shrink returns the smallest world found that fails in the same way as w, with its report: it has fewer storms, jobs,
// nodes, workers and unusual settings. stop, if not nil, ends the search early.
func (r *runner) shrink(w *World, failed Report, twice bool, stop func() bool) (*World, Report) {
	s := &shrinker{runner: r, twice: twice, want: failed, best: w, report: failed, stop: stop}
	for before := ""; before != s.best.Text && !s.over(); {
		before = s.best.Text
		s.dropJobs()
		s.reduce(nil)
	}
	return s.best, s.report
}

func (s *shrinker) over() bool {
	return s.tries >= mostTries || s.events >= mostEvents || s.stop != nil && s.stop()
}

// yaml returns the YAML tree of the smallest world, parsed anew.
func (s *shrinker) yaml() *yaml.Node {
	root, _ := tree.Parse([]byte(s.best.Text)) // which is a valid scenario
	return root
}

// inside returns the node of a YAML tree to which a path of indexes in the Content of nodes leads.
func inside(node *yaml.Node, path []int) *yaml.Node {
	for _, i := range path {
		node = node.Content[i]
	}
	return node
}

// try runs the smallest world with a change to its YAML tree, and reports whether that fails like the original; if so,
// it becomes the smallest.
func (s *shrinker) try(change func(root *yaml.Node)) bool {
	if s.over() {
		return false
	}
	root := s.yaml()
	change(root)
	text, err := yaml.Dump(root, yaml.WithLineWidth(-1), yaml.WithCompactSeqIndent(false))
	w, wrong := Parse("world", string(text))
	if err != nil || wrong != nil || w.Text == s.best.Text {
		return false
	}
	s.tries++
	report := s.runner.run(w, s.twice)
	s.events += report.Events
	if !report.Failed() || !report.same(&s.want) {
		return false
	}
	s.best, s.report = w, report
	return true
}

// reduce makes the map or list at a path, and those inside it, as small as it can: fewer keys and elements, and lower
// numbers of nodes, workers, a class's tenants and a burst's jobs. Which jobs arrive is left to dropJobs.
func (s *shrinker) reduce(path []int) {
	at := inside(s.yaml(), path)
	size := plain.Either(at.Kind == yaml.MappingNode, 2, 1)
	without(len(at.Content)/size, func(from, to int) bool {
		return s.try(func(root *yaml.Node) {
			n := inside(root, path)
			n.Content = slices.Delete(n.Content, from*size, to*size)
		})
	})
	at = inside(s.yaml(), path)
	for i, child := range slices.Backward(at.Content) { // storms before the engine
		key := at.Content[i/size*size].Value // of a list: nothing
		switch inner := append(slices.Clone(path), i); {
		case key == "arrivals", key == "nodes" && child.Kind == yaml.SequenceNode:
		case child.Kind != yaml.ScalarNode:
			s.reduce(inner)
		case key == "nodes", key == "workers", key == "count":
			s.lower(inner)
		}
	}
}

// lower reduces the number at a path to the smallest with which the world fails in the same way; of more than eight it
// tries powers of two. Indexes of nodes follow the number of nodes.
func (s *shrinker) lower(path []int) {
	most, _ := strconv.Atoi(inside(s.yaml(), path).Value) // 0 of a share
	for n := 1; n < most; n += plain.Either(most > 8, n, 1) {
		if s.try(func(root *yaml.Node) {
			inside(root, path).Value = strconv.Itoa(n)
			if tree.Lookup(tree.Lookup(root, "engine"), "nodes") == inside(root, path) {
				lowerIndexes(root, n-1)
			}
		}) {
			return
		}
	}
}

// lowerIndexes lowers the indexes of nodes in all lists of them in a YAML tree to at most last.
func lowerIndexes(node *yaml.Node, last int) {
	for key, value := range tree.Pairs(node) {
		for _, index := range value.Content {
			if n, _ := strconv.Atoi(index.Value); key.Value == "nodes" && n > last {
				index.Value = strconv.Itoa(last)
			}
		}
	}
	for _, child := range node.Content {
		lowerIndexes(child, last)
	}
}

// without tries to remove as many of n elements as possible: it calls remove for ranges of them, long ranges first.
// remove reports whether the range could be removed; later elements have then moved up.
func without(n int, remove func(from, to int) bool) {
	for size := n; size >= 1; size /= 2 {
		for from := 0; from < n; {
			to := min(n, from+size)
			if remove(from, to) {
				n -= to - from
			} else {
				from = to
			}
		}
	}
}

func (s *shrinker) dropJobs() {
	ids := s.best.arrivals()
	if b := s.report.Breach; b != nil && b.Job != 0 && slices.Contains(ids, b.Job) {
		if alone := []engine.JobID{b.Job}; s.only(alone) {
			ids = alone
		}
	}
	without(len(ids), func(from, to int) bool {
		left := slices.Delete(slices.Clone(ids), from, to)
		if !s.only(left) {
			return false
		}
		ids = left
		return true
	})
}

// only tries the smallest world with only those of its arrivals that have these IDs.
func (s *shrinker) only(ids []engine.JobID) bool {
	return s.try(func(root *yaml.Node) {
		for class, job := range tree.Lookup(root, "jobs").Content {
			these := tree.ListOf(root)
			for _, id := range ids {
				if of, index := spec.Arrival(id); of == class {
					these.Content = append(these.Content, tree.Scalar(fmt.Sprint(index)))
				}
			}
			change := tree.MapOf(root, "only", these)
			if len(these.Content) == 0 {
				change = tree.MapOf(root, "stop", "1ns") // no job arrives
			}
			i := tree.Position(job, "arrivals") + 1
			job.Content[i] = tree.Merged(job.Content[i], change)
		}
	})
}

// arrivals returns the IDs of the jobs that arrive in a world, without those that bursts bring.
func (w *World) arrivals() (ids []engine.JobID) {
	s, err := w.setup()
	if err != nil {
		return nil
	}
	s.Jobs(func(_ engine.Time, j engine.NewJob) bool {
		if _, index := spec.Arrival(j.ID); index < 1<<spec.BurstShift {
			ids = append(ids, j.ID)
		}
		return true
	})
	return ids
}
