package imports

import (
	"regexp"
	"strings"
)

// causes lists error kinds of scenarios with patterns for messages and names of exceptions; the first match counts.
var causes = []struct {
	kind  string
	match *regexp.Regexp
}{
	{"timeout", regexp.MustCompile(`(?i)time[ _-]?d?[ _-]?out|deadline[ _]?exceeded`)},
	{"throttled", regexp.MustCompile(`(?i)throttl|rate[ _-]?limit|too[ _-]?many[ _-]?requests|\b429\b`)},
	{"unavailable", regexp.MustCompile(`(?i)unavailable|connection[ _]?(refused|reset)|econn|\b50[234]\b|` +
		`bad[ _]?gateway|no such host`)},
	{"canceled", regexp.MustCompile(`(?i)cancell?ed`)},
	{"panic", regexp.MustCompile(`(?i)\bpanic`)},
	{"conflict", regexp.MustCompile(`(?i)conflict|deadlock|serializ|optimistic|\b409\b`)},
	{"not-found", regexp.MustCompile(`(?i)not[ _-]?found|no such (file|record)|\b404\b`)},
	{"unauthorized", regexp.MustCompile(`(?i)unauthori[sz]ed|\b401\b`)},
	{"forbidden", regexp.MustCompile(`(?i)forbidden|permission denied|access denied|\b403\b`)},
	{"validation", regexp.MustCompile(`(?i)validation|invalid|\b4(00|22)\b`)},
	{"syntax", regexp.MustCompile(`(?i)syntax|parse|unmarshal|decod`)},
}

const longestKind = 40

var errorWord = regexp.MustCompile(`(?i)(error|exception)$`)

// kindOfError returns the error kind for the error text of an attempt: one of the scenario language, or else the text
// without its variable parts: numbers, quoted text and anything behind a colon.
func kindOfError(text string) string {
	head, _, _ := strings.Cut(text, "\n")
	head = head[:min(len(head), 300)]
	for _, c := range causes {
		if c.match.MatchString(head) {
			return c.kind
		}
	}
	head, _, _ = strings.Cut(head, ": ")
	head, _, _ = strings.Cut(head, `"`)
	if at := strings.LastIndex(head, "::"); at >= 0 {
		head = head[at+2:]
	}
	if cut := errorWord.ReplaceAllString(head, ""); strings.TrimSpace(cut) != "" {
		head = cut
	}
	if name := slug(head, false); name != "" {
		return name
	}
	return "error"
}

var (
	hump     = regexp.MustCompile(`([a-z0-9])([A-Z])`)
	noLetter = regexp.MustCompile(`[^a-z]+`)
	noSign   = regexp.MustCompile(`[^a-z0-9]+`)
)

// slug converts text to a name for a scenario, of a-z, - and, if digits is set, 0-9; "" if nothing is left.
func slug(text string, digits bool) string {
	other := noLetter
	if digits {
		other = noSign
	}
	text = strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r - 'A' + 'a'
		}
		return r
	}, hump.ReplaceAllString(text, "$1-$2"))
	name := strings.Trim(other.ReplaceAllString(text, "-"), "-")
	return strings.TrimRight(name[:min(len(name), longestKind)], "-")
}

// ScenarioName returns the name of a scenario made from any text, such as the name of a file; "" if nothing is left.
func ScenarioName(text string) string { return slug(strings.ToLower(text), true) }

// names numbers texts from 1 in the order in which they are first seen, up to a limit.
type names struct {
	number map[string]uint32
	all    []string // all[0] is the name for errors without one
	most   int
	full   bool // there were more kinds than fit
}

func newNames(most int) *names {
	return &names{number: map[string]uint32{}, all: []string{""}, most: most}
}

// of returns the number of a text; 0 for the empty text and for texts beyond the limit.
func (n *names) of(text string) uint32 {
	if text == "" {
		return 0
	}
	k, ok := n.number[text]
	switch {
	case ok:
		return k
	case len(n.all) > n.most:
		n.full = true
		return 0
	}
	text = strings.Clone(text)
	n.number[text] = uint32(len(n.all))
	n.all = append(n.all, text)
	return n.number[text]
}
