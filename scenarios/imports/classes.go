package imports

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"qsim/results/plain"
)

// mostRare is the largest share of a job class's rows that may have priorities too rare for a class of their own: those
// rows count under the nearest frequent priority. With more of them, the class gets no priority.
const mostRare = 0.05

// mostClasses is the highest number of job classes that an import distinguishes; the rest share one class.
const mostClasses = 24

// jobClasses holds the job classes of the scenario, and the class of each label: a recorded class name with a priority.
type jobClasses struct {
	all    []*collected
	index  []int // index of the class in all, by label
	unsaid int64 // rows without a priority in classes that have one
	rare   int64 // rows with another priority than their class
}

// labelGroup is a group of labels (recorded class names, each with a priority) that become one job class.
type labelGroup struct {
	names    []string // recorded class names
	labels   []int
	rows     int64
	bare     int64 // rows without a priority
	priority int   // smaller is more urgent; 0 unless ranked
	ranked   bool  // the class has the priority
	several  []int // priorities on record
	split    bool  // other groups have the same name
}

// prioritySign separates a class name from its priority in a label. No class name contains it: those are valid UTF-8.
const prioritySign = "\xff"

// ranked returns a row's label: its class name with its priority, since all jobs of a scenario's class have the same.
func (r *reader) ranked(one *row, label string) string {
	text := strings.TrimSpace(one.text[priority])
	if empty(text) {
		return label
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n != float64(int16(n)) {
		r.repairs.add(noPriority, one.at)
		return label
	}
	return label + prioritySign + strconv.Itoa(int(n))
}

// tooManyLabels returns the error for a column, class or priority, with too many different values.
func (r *reader) tooManyLabels(label, rank string) error {
	names := map[string]bool{}
	for _, text := range r.labels.all {
		name, _, _ := strings.Cut(text, prioritySign)
		names[name] = true
	}
	what, column, value := "classes", class, label
	if 2*len(names) <= mostLabels {
		what, column, value = "classes and priorities of them", priority, rank
	}
	return fmt.Errorf("there are more than %d %s: is the column that says %s the right one? "+
		"--columns %s=COLUMN names another", mostLabels, what, quoted(value), column)
}

// jobClasses chooses the recorded class names and priorities that become job classes: those with the most rows.
func (r *reader) jobClasses() jobClasses {
	rows := make([]int64, len(r.labels.all)) // by label
	for i := range r.records {
		rows[r.records[i].class]++
	}
	n := jobClasses{index: make([]int, len(rows))}
	var names []string
	for i, g := range n.groups(r.labels.all, rows) {
		for _, label := range g.labels {
			n.index[label] = i
		}
		c := newCollected(Class{Labels: g.names, Priority: g.priority, Ranked: g.ranked})
		c.group = g
		name := plain.Either(i < mostClasses, g.names[0]+plain.When(g.split, fmt.Sprintf("-p%d", g.priority)), "others")
		names, n.all = append(names, cmp.Or(slug(name, true), noName)), append(n.all, c)
	}
	for i, name := range plain.Numbered(names) {
		n.all[i].class.Name = name
	}
	return n
}

// noName is the name of a class or a tenant of whose recorded name nothing is left in a scenario.
const noName = "jobs"

// groups joins labels (class names with priorities) to groups that become job classes, the one with the most rows
// first; one more has all the others. Each name gets a group before any name is split by priority.
func (n *jobClasses) groups(labels []string, rows []int64) (groups []labelGroup) {
	byName := map[string][]labelGroup{} // a group for each label
	for label, text := range labels {
		if rows[label] == 0 {
			continue
		}
		name, rank, known := strings.Cut(text, prioritySign)
		value, _ := strconv.Atoi(rank) // it was written by ranked
		byName[name] = append(byName[name], labelGroup{names: []string{name}, labels: []int{label}, rows: rows[label],
			bare: plain.Either(known, 0, rows[label]), priority: value, ranked: known,
			several: plain.Either(known, []int{value}, nil)})
	}
	var all []labelGroup
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		own := byName[name]
		slices.SortFunc(own, func(a, b labelGroup) int { return cmp.Compare(a.priority, b.priority) })
		all = append(all, joined(own))
	}
	mostRows := func(a, b labelGroup) int {
		return cmp.Or(cmp.Compare(b.rows, a.rows), strings.Compare(a.names[0], b.names[0]),
			cmp.Compare(a.priority, b.priority))
	}
	slices.SortFunc(all, mostRows)
	room := mostClasses - min(len(all), mostClasses/2)
	for _, one := range all {
		own := n.split(byName[one.names[0]], room)
		if own == nil {
			own = []labelGroup{one}
		}
		room -= len(own) - 1
		groups = append(groups, own...)
	}
	slices.SortStableFunc(groups, mostRows)
	if len(groups) > mostClasses {
		groups = append(groups[:mostClasses], joined(groups[mostClasses:]))
	}
	return groups
}

// joined joins groups to a single one, which has a priority if they all have the same.
func joined(groups []labelGroup) labelGroup {
	all := labelGroup{priority: groups[0].priority, ranked: true}
	for _, g := range groups {
		all.names, all.several = append(all.names, g.names...), append(all.several, g.several...)
		all.labels, all.rows, all.bare = append(all.labels, g.labels...), all.rows+g.rows, all.bare+g.bare
		all.ranked = all.ranked && g.ranked && g.priority == all.priority
	}
	all.priority = plain.Either(all.ranked, all.priority, 0)
	all.names = slices.Compact(slices.Sorted(slices.Values(all.names)))
	all.several = slices.Compact(slices.Sorted(slices.Values(all.several)))
	return all
}

// split divides the rows of one class name into a group for each priority, with at most room additional groups. Rows
// without a priority join the most frequent one, those with a rare one the nearest. It returns nil where most rows have
// none, too many have a rare one, or there are too many priorities.
func (n *jobClasses) split(groups []labelGroup, room int) (kept []labelGroup) {
	var ranked, rare, bare int64 // rows
	priorities := len(joined(groups).several)
	for _, g := range groups {
		switch {
		case !g.ranked:
			bare += g.rows
			continue
		case priorities == 1 || g.rows >= FewestToFit: // as many as a distribution needs
			kept = append(kept, g)
		default:
			rare += g.rows
		}
		ranked += g.rows
	}
	if len(kept) == 0 || len(kept) > room+1 || bare > ranked || float64(rare) > mostRare*float64(ranked) {
		return nil
	}
	n.unsaid, n.rare = n.unsaid+bare, n.rare+rare
	frequent := 0
	for i := range kept {
		if kept[i].split = len(kept) > 1; kept[i].rows > kept[frequent].rows {
			frequent = i
		}
	}
	for _, g := range groups {
		to := plain.Either(g.ranked, nearest(kept, g.priority), frequent)
		if g.ranked && g.priority == kept[to].priority {
			continue // it is kept itself
		}
		kept[to].labels, kept[to].rows = append(kept[to].labels, g.labels...), kept[to].rows+g.rows
	}
	return kept
}

// nearest returns the index of the group of rows with the priority nearest to the given one; of two, the more urgent.
func nearest(groups []labelGroup, priority int) (best int) {
	away := func(i int) int { return max(groups[i].priority-priority, priority-groups[i].priority) }
	for i := range groups {
		if away(i) < away(best) {
			best = i
		}
	}
	return best
}

// prioritized reports whether the scenario gets priorities: whether those of classes differ, as one for all is useless.
func (r *Recording) prioritized() bool {
	first := slices.IndexFunc(r.Classes, func(c Class) bool { return c.Ranked })
	differs := func(c Class) bool { return c.Ranked && c.Priority != r.Classes[first].Priority }
	return first >= 0 && slices.ContainsFunc(r.Classes, differs)
}

func (g *gathering) priorityNotes(note func(when bool, format string, arguments ...any)) {
	differ := g.found.prioritized()
	counts := plain.When(differ, ", which counts as 0")
	note(differ, "classes have the priorities on record, of which the smaller is taken for the more urgent one")
	note(g.classes.unsaid > 0, "%d rows without a priority count as the most frequent one of their class",
		g.classes.unsaid)
	note(g.classes.rare > 0, "%d rows with a rare priority count as the nearest frequent one of their class",
		g.classes.rare)
	for _, c := range g.classes.all {
		own := &c.group
		if own.ranked {
			continue
		}
		several := len(own.several) > 1 && 2*own.bare <= own.rows
		why := plain.Either(2*own.bare > own.rows, "most", "some") + " of its rows have none"
		if several {
			why = fmt.Sprintf("its rows have %d, too many or too rare for a class of each", len(own.several))
		} else if len(own.several) == 0 {
			why = "none is on record"
		}
		note(several || differ, "class %s has no priority%s: %s", c.class.Name, counts, why)
	}
}
