package imports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// mostRare is the largest share of the rows of a label whose priorities are too rare for classes of
// their own and that count as another one, rather than that the label has none.
const mostRare = 0.05

// classPriority is what is known of the priority of a class.
type classPriority struct {
	value   int // smaller is more urgent
	known   bool
	several []int  // if it is not known: those of its rows, ascending
	lacking string // if many rows have none: how many
}

// labelGroup are labels that are one class: rows of one name, of which each priority is a label.
type labelGroup struct {
	name     string
	labels   []int
	rows     int64
	priority classPriority
	split    bool // other groups have the same name
}

// className is the name of the class but for what a scenario does not allow in it.
func (g *labelGroup) className() string {
	if g.split {
		return fmt.Sprintf("%s-p%d", g.name, g.priority.value)
	}
	return g.name
}

// labelled is what rows of one name say.
type labelled struct {
	name   string
	rows   int64
	ranked int64        // rows with a priority
	ranks  []labelGroup // rows of one priority, which ascends
	bare   []int        // the label without a priority, if there are such rows
}

// tooManyLabels says which column is to blame for them: that of the class of a row or of its priority.
func (r *reader) tooManyLabels(label, urgency string) error {
	names := map[string]bool{}
	for _, text := range r.labels.all {
		name, _, _ := withoutPriority(text)
		names[name] = true
	}
	if 2*len(names) > mostLabels {
		return fmt.Errorf("there are more than %d classes: is the column that says %s the right one? --columns class=COLUMN names another", mostLabels, shorten(label))
	}
	return fmt.Errorf("there are more than %d classes and priorities of them: is the column that says %s the right one? --columns priority=COLUMN names another", mostLabels, shorten(urgency))
}

// groups makes groups of labels with these rows, the one with the most rows first. There is room for
// each name before that for its priorities.
func (n *classNames) groups(labels []string, rows []int64) (groups []labelGroup) {
	all := byName(labels, rows)
	room := mostClasses - min(len(all), mostClasses/2)
	for i := range all {
		own := n.split(&all[i], room)
		room -= len(own) - 1
		groups = append(groups, own...)
	}
	slices.SortStableFunc(groups, func(a, b labelGroup) int {
		return cmp.Or(cmp.Compare(b.rows, a.rows), strings.Compare(a.name, b.name), cmp.Compare(a.priority.value, b.priority.value))
	})
	return groups
}

// byName lists the names of labels with rows, the one with the most first.
func byName(labels []string, rows []int64) (all []labelled) {
	at := map[string]int{}
	for label, text := range labels {
		if rows[label] == 0 {
			continue
		}
		name, priority, known := withoutPriority(text)
		i, found := at[name]
		if !found {
			i = len(all)
			at[name], all = i, append(all, labelled{name: name})
		}
		l := &all[i]
		if l.rows += rows[label]; !known {
			l.bare = append(l.bare, label)
			continue
		}
		l.ranked += rows[label]
		l.ranks = append(l.ranks, labelGroup{name: name, labels: []int{label}, rows: rows[label], priority: classPriority{value: priority, known: true}})
	}
	for i := range all {
		slices.SortFunc(all[i].ranks, func(a, b labelGroup) int { return cmp.Compare(a.priority.value, b.priority.value) })
	}
	slices.SortFunc(all, func(a, b labelled) int {
		return cmp.Or(cmp.Compare(b.rows, a.rows), strings.Compare(a.name, b.name))
	})
	return all
}

// split makes a group of each priority, up to room more than one. Rows without a priority have the
// most frequent one, those with a rare one the nearest of the others; where most rows are such, or there
// are too many priorities, all are one group without any.
func (n *classNames) split(l *labelled, room int) []labelGroup {
	var kept []labelGroup
	var rare int64
	for _, g := range l.ranks {
		if len(l.ranks) == 1 || g.rows >= FewestToFit { // as many as a distribution needs
			kept = append(kept, g)
		} else {
			rare += g.rows
		}
	}
	bare := l.rows - l.ranked
	if len(kept) == 0 || len(kept) > room+1 || bare > l.ranked || float64(rare) > mostRare*float64(l.ranked) {
		return []labelGroup{l.whole()}
	}
	n.unsaid, n.rare = n.unsaid+bare, n.rare+rare
	frequent := 0
	for i := range kept {
		if kept[i].split = len(kept) > 1; kept[i].rows > kept[frequent].rows {
			frequent = i
		}
	}
	for _, g := range l.ranks {
		to := &kept[nearest(kept, g.priority.value)]
		if g.priority.value != to.priority.value {
			to.labels, to.rows = append(to.labels, g.labels...), to.rows+g.rows
		}
	}
	kept[frequent].labels, kept[frequent].rows = append(kept[frequent].labels, l.bare...), kept[frequent].rows+bare
	return kept
}

// whole is all of it, without a priority.
func (l *labelled) whole() labelGroup {
	g := labelGroup{name: l.name, labels: l.bare, rows: l.rows}
	for _, rank := range l.ranks {
		g.labels = append(g.labels, rank.labels...)
		g.priority.several = append(g.priority.several, rank.priority.value)
	}
	if l.rows-l.ranked > l.ranked {
		g.priority.lacking = "most"
	}
	return g
}

// nearest is the group whose priority is nearest to one, the more urgent of two.
func nearest(groups []labelGroup, priority int) int {
	best := 0
	for i := range groups {
		if distanceOf(groups[i].priority.value, priority) < distanceOf(groups[best].priority.value, priority) {
			best = i
		}
	}
	return best
}

func distanceOf(a, b int) int { return max(a-b, b-a) }

// common is the priority that all of groups have.
func common(groups []labelGroup) (p classPriority) {
	p.known = true
	for _, g := range groups {
		p.known = p.known && g.priority.known
		if g.priority.known {
			p.several = append(p.several, g.priority.value)
		}
		p.several = append(p.several, g.priority.several...)
		if g.priority.lacking != "" {
			p.lacking = "some"
		}
	}
	slices.Sort(p.several)
	p.several = slices.Compact(p.several)
	if p.known = p.known && len(p.several) == 1; p.known {
		return classPriority{value: p.several[0], known: true}
	}
	return p
}

// prioritized reports whether classes have priorities that differ: one for all says nothing.
func (r *Recording) prioritized() bool {
	first := slices.IndexFunc(r.Classes, func(c Class) bool { return c.Ranked })
	return first >= 0 && slices.ContainsFunc(r.Classes, func(c Class) bool { return c.Ranked && c.Priority != r.Classes[first].Priority })
}

// priorityNotes says which priorities are not as recorded.
func (g *gathering) priorityNotes(note func(string, ...any)) {
	differ := g.found.prioritized()
	if differ {
		note("classes have the priorities on record, of which the smaller is taken for the more urgent one")
	}
	if g.names.unsaid > 0 {
		note("%d rows without a priority count as the most frequent one of their class", g.names.unsaid)
	}
	if g.names.rare > 0 {
		note("%d rows with a rare priority count as the nearest frequent one of their class", g.names.rare)
	}
	for i, p := range g.names.priorities {
		if g.index[i] < 0 || p.known {
			continue
		}
		name, counts := g.names.names[i], ""
		if differ {
			counts = ", which counts as 0"
		}
		switch {
		case len(p.several) > 1 && p.lacking == "":
			note("class %s has no priority%s: its rows have %d, too many or too rare for a class of each", name, counts, len(p.several))
		case differ && len(p.several) == 0:
			note("class %s has no priority%s: none is on record", name, counts)
		case differ:
			note("class %s has no priority%s: %s of its rows have none", name, counts, p.lacking)
		}
	}
}
