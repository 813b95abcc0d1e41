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

// classPriority is the priority of a class, or the reason why it has none.
type classPriority struct {
	value   int    // smaller is more urgent
	known   bool   // value is on record
	several []int  // ascending priorities of the rows, if they have no common one
	lacking string // number of rows without a priority, as text, if there are many
}

// labelGroup is a group of labels (recorded class names, each with a priority) that become one job class.
type labelGroup struct {
	name     string
	labels   []int
	rows     int64
	priority classPriority
	split    bool // other groups have the same name
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
	add := func(name string, labels []string, p classPriority) {
		c := newCollected(Class{Labels: labels, Priority: p.value, Ranked: p.known})
		c.priority = p
		names, n.all = append(names, name), append(n.all, c)
	}
	groups := n.groups(r.labels.all, rows)
	for i, g := range groups {
		for _, label := range g.labels {
			n.index[label] = min(i, mostClasses)
		}
	}
	own := groups[:min(len(groups), mostClasses)]
	for _, g := range own {
		name := g.name + plain.When(g.split, fmt.Sprintf("-p%d", g.priority.value))
		add(cmp.Or(slug(name, true), noName), []string{g.name}, g.priority)
	}
	if rest := groups[len(own):]; len(rest) > 0 {
		add("others", plain.Distinct(plain.Map(rest, func(g labelGroup) string { return g.name })), common(rest))
	}
	for i, name := range plain.Numbered(names) {
		n.all[i].class.Name = name
	}
	return n
}

// noName is the name of a class or a tenant of whose recorded name nothing is left in a scenario.
const noName = "jobs"

// groups joins labels (class names with priorities) to groups that become job classes, the one with the most rows
// first. Each name gets a group before any name is split by priority.
func (n *jobClasses) groups(labels []string, rows []int64) (groups []labelGroup) {
	byName := map[string][]labelGroup{} // a group for each label
	for label, text := range labels {
		if rows[label] == 0 {
			continue
		}
		name, rank, known := strings.Cut(text, prioritySign)
		value, _ := strconv.Atoi(rank) // it was written by ranked
		byName[name] = append(byName[name], labelGroup{name: name, labels: []int{label}, rows: rows[label],
			priority: classPriority{value: value, known: known}})
	}
	var all []labelGroup
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		own := byName[name]
		slices.SortFunc(own, func(a, b labelGroup) int { return cmp.Compare(a.priority.value, b.priority.value) })
		all = append(all, whole(own))
	}
	mostRows := func(a, b labelGroup) int {
		return cmp.Or(cmp.Compare(b.rows, a.rows), strings.Compare(a.name, b.name),
			cmp.Compare(a.priority.value, b.priority.value))
	}
	slices.SortFunc(all, mostRows)
	room := mostClasses - min(len(all), mostClasses/2)
	for _, one := range all {
		own := n.split(byName[one.name], room)
		if own == nil {
			own = []labelGroup{one}
		}
		room -= len(own) - 1
		groups = append(groups, own...)
	}
	slices.SortStableFunc(groups, mostRows)
	return groups
}

// whole joins the groups of one class name, one for each priority, to a single group without a priority.
func whole(groups []labelGroup) labelGroup {
	all, bare := labelGroup{name: groups[0].name}, int64(0)
	for _, g := range groups {
		all.labels, all.rows = append(all.labels, g.labels...), all.rows+g.rows
		if g.priority.known {
			all.priority.several = append(all.priority.several, g.priority.value)
		} else {
			bare += g.rows
		}
	}
	if 2*bare > all.rows {
		all.priority.lacking = "most"
	}
	return all
}

// split divides the rows of one class name into a group for each priority, with at most room additional groups. Rows
// without a priority join the most frequent one, those with a rare one the nearest. It returns nil where most rows have
// none, too many have a rare one, or there are too many priorities.
func (n *jobClasses) split(groups []labelGroup, room int) (kept []labelGroup) {
	var ranked, rare, bare int64 // rows
	priorities := len(whole(groups).priority.several)
	for _, g := range groups {
		switch {
		case !g.priority.known:
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
		to := plain.Either(g.priority.known, nearest(kept, g.priority.value), frequent)
		if g.priority.known && g.priority.value == kept[to].priority.value {
			continue // it is kept itself
		}
		kept[to].labels, kept[to].rows = append(kept[to].labels, g.labels...), kept[to].rows+g.rows
	}
	return kept
}

// nearest returns the index of the group of rows with the priority nearest to the given one; of two, the more urgent.
func nearest(groups []labelGroup, priority int) (best int) {
	away := func(i int) int { return max(groups[i].priority.value-priority, priority-groups[i].priority.value) }
	for i := range groups {
		if away(i) < away(best) {
			best = i
		}
	}
	return best
}

// common returns the priority that all groups of labels share, or the reason why there is none.
func common(groups []labelGroup) (p classPriority) {
	known := true
	for _, g := range groups {
		p.several = append(p.several, g.priority.several...)
		if g.priority.known {
			p.several = append(p.several, g.priority.value)
		}
		if known = known && g.priority.known; g.priority.lacking != "" {
			p.lacking = "some"
		}
	}
	slices.Sort(p.several)
	p.several = slices.Compact(p.several)
	if known && len(p.several) == 1 {
		return classPriority{value: p.several[0], known: true}
	}
	return p
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
		p := c.priority
		if p.known {
			continue
		}
		several, why := len(p.several) > 1 && p.lacking == "", p.lacking+" of its rows have none"
		if several {
			why = fmt.Sprintf("its rows have %d, too many or too rare for a class of each", len(p.several))
		} else if len(p.several) == 0 {
			why = "none is on record"
		}
		note(several || differ, "class %s has no priority%s: %s", c.class.Name, counts, why)
	}
}
