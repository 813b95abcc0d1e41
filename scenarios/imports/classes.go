package imports

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// classNames tells which class of the scenario a label is.
type classNames struct {
	names    []string
	labels   [][]string
	priority []int
	index    []int // by label
}

func (n *classNames) of(label uint16) int { return n.index[label] }

// prioritySign stands between a label and its priority, in no text that was trimmed.
const prioritySign = "\x00"

// withoutPriority splits a label; known: it has one.
func withoutPriority(label string) (name string, priority int, known bool) {
	name, text, known := strings.Cut(label, prioritySign)
	if known {
		priority, _ = strconv.Atoi(text) // it was written by urgent
	}
	return name, priority, known
}

// classNames chooses the labels that are classes of their own, those with the most rows. Jobs of
// one label with several priorities are several classes.
func (r *reader) classNames() classNames {
	for len(r.labelRows) < len(r.labels.all) {
		r.labelRows = append(r.labelRows, 0)
	}
	order := make([]int, len(r.labels.all))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(r.labelRows[b], r.labelRows[a]), strings.Compare(r.labels.all[a], r.labels.all[b]))
	})
	n, several := classNames{index: make([]int, len(order))}, map[string]int{}
	for label, text := range r.labels.all {
		if name, _, _ := withoutPriority(text); r.labelRows[label] > 0 {
			several[name]++
		}
	}
	for _, label := range order {
		if r.labelRows[label] == 0 {
			continue
		}
		if len(n.names) == mostClasses {
			n.names, n.labels, n.priority = append(n.names, "others"), append(n.labels, nil), append(n.priority, 0)
		}
		at := min(len(n.names), mostClasses)
		name, priority, known := withoutPriority(r.labels.all[label])
		if len(n.names) < mostClasses {
			n.names, n.labels, n.priority = append(n.names, ""), append(n.labels, nil), append(n.priority, 0)
			if several[name] > 1 && known {
				name = fmt.Sprintf("%s-p%d", name, priority)
			}
			n.names[at] = n.unused(slug(name, true))
		}
		if len(n.labels[at]) == 0 {
			n.priority[at] = priority
		}
		n.index[label] = at
		n.labels[at] = append(n.labels[at], name)
	}
	return n
}

// unused is name, with a number behind it if it is taken.
func (n *classNames) unused(name string) string {
	if name == "" {
		name = "jobs"
	}
	for i, first := 2, name; slices.Contains(n.names, name); i++ {
		name = fmt.Sprintf("%s-%d", first, i)
	}
	return name
}
