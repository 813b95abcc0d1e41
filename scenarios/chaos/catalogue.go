package chaos

import (
	_ "embed"
	"strings"
)

// Entry is a fault known from production systems, with the scenario keys that make a simulation show it.
type Entry struct {
	ID    string // "F1"
	Where string // component that the fault hits
	What  string
	Texts []string // alternatives, each of lines "KEY: VALUE" of a scenario
}

//go:embed catalogue.txt
var catalogueText string

// Catalogue lists faults known from production systems, by ID. A failover that loses the latest writes is not among
// them: no invariant can hold for a store that loses confirmed writes. It is read from catalogue.txt: a line with ID,
// component and fault; indented below it the scenario keys, with a line "or" between alternatives.
var Catalogue = func() (all []Entry) {
	var lines []string
	for line := range strings.SplitSeq(strings.TrimSpace(catalogueText), "\n") {
		if text, indented := strings.CutPrefix(line, "\t"); indented {
			lines = append(lines, text)
			all[len(all)-1].Texts = strings.Split(strings.Join(lines, "\n"), "\nor\n")
			continue
		}
		id, fault, _ := strings.Cut(line, " ")
		where, what, _ := strings.Cut(fault, ": ")
		all, lines = append(all, Entry{ID: id, Where: where, What: what}), nil
	}
	return all
}()
