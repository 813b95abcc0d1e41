package imports

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// classNames tells which class of the scenario a label is.
type classNames struct {
	names      []string
	labels     [][]string
	priorities []classPriority
	index      []int // by label
	unsaid     int64 // rows without a priority in classes that have one
	rare       int64 // rows with another priority than their class
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

// classNames chooses the groups of labels that are classes of their own, those with the most rows.
func (r *reader) classNames() classNames {
	for len(r.labelRows) < len(r.labels.all) {
		r.labelRows = append(r.labelRows, 0)
	}
	n := classNames{index: make([]int, len(r.labels.all))}
	var rest []labelGroup
	for _, g := range n.groups(r.labels.all, r.labelRows) {
		at := min(len(n.names), mostClasses)
		if at == mostClasses {
			rest = append(rest, g)
		} else {
			n.names, n.labels, n.priorities = append(n.names, n.unused(slug(g.className(), true))), append(n.labels, []string{g.name}), append(n.priorities, g.priority)
		}
		for _, label := range g.labels {
			n.index[label] = at
		}
	}
	if len(rest) > 0 {
		var labels []string
		for _, g := range rest {
			if !slices.Contains(labels, g.name) {
				labels = append(labels, g.name)
			}
		}
		n.names, n.labels, n.priorities = append(n.names, n.unused("others")), append(n.labels, labels), append(n.priorities, common(rest))
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
