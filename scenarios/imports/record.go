package imports

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"regexp"
	"strings"

	"qsim/engine/keyed"
	"qsim/results/plain"
	"qsim/scenarios/checks"
)

// record holds the columns of one row about a job and an attempt, in as few bytes as possible.
type record struct {
	try
	key      key
	sort     recordSort
	state    jobState
	class    uint16
	queue    uint16
	tenant   uint32
	most     int32 // declared limit on attempts; 0: none
	enqueued timestamp
	check    uint32 // checksum of the whole row, to detect duplicates
}

// try holds the recorded facts about one attempt at a job.
type try struct {
	at       sourcePos
	number   int32     // number of the attempt, from 1; 0: unknown
	due      timestamp // intended start; of the first attempt: later than the enqueue time, or unknown
	started  timestamp
	finished timestamp
	failure  uint16 // error kind; 0: no known failure
	ended    bool   // the outcome is known
	node     uint32
}

// key identifies a job: a hash of its id, or of the place of its row in the input.
type key [16]byte

// hash returns a number by which samples are chosen: it is uniform, and the same for the same job and n.
func (k key) hash(n uint64) uint64 {
	return keyed.Rand{}.Uint64(keyed.ForRunTime, binary.LittleEndian.Uint64(k[:8]), n, 0)
}

// recordSort is the subject of an imported row: an attempt, a job, or the start, the end or the error of an attempt.
type recordSort uint8

const (
	ofAttempt recordSort = iota + 1 // a row for one attempt, or the last one of a job
	ofJob                           // a job, and how often it has failed
	ofStart                         // lines of a log
	ofEnd
	ofCause
)

// jobState is the state or the outcome of a job or of an attempt.
type jobState uint8

const (
	stateUnknown jobState = iota
	stateDone
	stateDead
	stateWaiting // waits for a retry, until it is due, or for a worker
	stateRunning
	stateFailed // failed, with no further information
)

// states maps the names of states in all formats to states of jobs and attempts.
var states = map[string]jobState{
	"done": stateDone, "completed": stateDone, "complete": stateDone, "success": stateDone, "succeeded": stateDone,
	"successful": stateDone, "ok": stateDone, "finished": stateDone, "processed": stateDone, "acked": stateDone,
	"6": stateDone,

	"dead": stateDead, "discarded": stateDead, "archived": stateDead, "buried": stateDead, "cancelled": stateDead,
	"canceled": stateDead, "exhausted": stateDead, "5": stateDead,

	"retry": stateWaiting, "retryable": stateWaiting, "scheduled": stateWaiting, "waiting": stateWaiting,
	"delayed": stateWaiting, "ready": stateWaiting, "available": stateWaiting, "pending": stateWaiting,
	"queued": stateWaiting, "enqueued": stateWaiting, "aggregating": stateWaiting, "2": stateWaiting, "3": stateWaiting,
	"4": stateWaiting, "7": stateWaiting,

	"running": stateRunning, "active": stateRunning, "inflight": stateRunning, "executing": stateRunning,
	"started": stateRunning, "processing": stateRunning, "1": stateRunning,

	"failed": stateFailed, "failure": stateFailed, "error": stateFailed, "errored": stateFailed, "fail": stateFailed,
}

// compareRecords orders records by job, then by attempt, by time and by place in the input.
func compareRecords(a, b record) int {
	if c := bytes.Compare(a.key[:], b.key[:]); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.when(), b.when()), cmp.Compare(a.sort, b.sort),
		cmp.Compare(a.at, b.at), cmp.Compare(a.started, b.started), cmp.Compare(a.failure, b.failure))
}

// when returns the first recorded time of the record's attempt.
func (r *record) when() timestamp {
	switch {
	case r.sort == ofEnd: // its start has a line of its own, with another rounding
		return r.finished
	case r.try.when().known():
		return r.try.when()
	case r.due.known():
		return r.due
	}
	return r.enqueued
}

// same reports whether two records are equal except for their places in the input.
func (r *record) same(other *record) bool {
	a, b := *r, *other
	a.at, b.at = 0, 0
	return a == b
}

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
// without its variable parts: numbers, quoted text and anything behind a colon. Reserved names get the ending -error.
func kindOfError(text string) string {
	kind := kindOfText(text)
	return kind + plain.When(checks.BadErrorKind(kind) != "", "-error")
}

func kindOfText(text string) string {
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
	return cmp.Or(slug(head, false), "error")
}

var (
	hump     = regexp.MustCompile(`([a-z0-9])([A-Z])`)
	noLetter = regexp.MustCompile(`[^a-z]+`)
	noSign   = regexp.MustCompile(`[^a-z0-9]+`)
)

// slug converts text to a name for a scenario, of a-z, - and, if digits is set, 0-9; "" if nothing is left, or only the
// word null, which in YAML is no text.
func slug(text string, digits bool) string {
	text = strings.ToLower(hump.ReplaceAllString(text, "$1-$2"))
	name := strings.Trim(plain.Either(digits, noSign, noLetter).ReplaceAllString(text, "-"), "-")
	if name == "null" {
		return ""
	}
	return strings.TrimRight(name[:min(len(name), longestKind)], "-")
}

// ScenarioName returns the name of a scenario made from that of a file; "" if nothing is left of it, as of -.
func ScenarioName(path string) string { return slug(strings.ToLower(nameOf(path)), true) }

// names assigns numbers to texts, from 1 in the order in which they are first seen, up to a limit.
type names struct {
	number map[string]uint32
	all    []string // texts by number; all[0] is the empty text
	most   int
	full   bool // there were more texts than fit
}

func newNames(most int) *names {
	return &names{number: map[string]uint32{}, all: []string{""}, most: most}
}

// of returns the number assigned to a text; 0 for the empty text and for texts beyond the limit.
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
