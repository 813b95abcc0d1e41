package chaos

import (
	_ "embed"
	"strings"
)

// Entry is a known production fault, with the scenario keys that simulate it.
type Entry struct {
	ID    string // "F1"
	Where string // component that the fault hits
	What  string
	Texts []string // each of one line or several, of a key and its value
}

//go:embed catalogue.txt
var catalogueText string

// Catalogue lists known production faults. It leaves out a failover that loses the latest writes, since no invariant
// can hold for a store that loses confirmed writes. In its source, catalogue.txt, an entry is a line with ID, component
// and fault; indented below it are the scenario keys that simulate the fault, with a line "or" between alternatives.
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
