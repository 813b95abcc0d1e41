package chaos

import (
	"strconv"
	"strings"
	"testing"

	"qsim/engine"
)

// base is a world in which nothing goes wrong, to which the catalogue adds.
const base = `world seed=1 heal=1m nodes=3 workers=4 call-timeout=1s restart=1s timeout=3s
load jobs=300 gap=60ms kinds=2
work p50=300ms p99=1s cap=2s fails=0.1 error=failure ignores-cancel=true
retry attempts=10 first=500ms factor=2 max=10s jitter=full
links claim=2ms commit=2ms extend=2ms recover=2ms promote=2ms lead=2ms stats=2ms
fetch batch=4 poll=500ms
commit batch=4 linger=2ms calls=2 timeout=1s
lease ttl=3s heartbeat=1s
reaper every=1s batch=20
promoter batch=20
leader ttl=3s renew=1s
policy fifo
`

// with returns the text of a world with what lines say instead of what it says.
func with(text, lines string) string {
	all := strings.Split(strings.TrimSpace(text), "\n")
	for line := range strings.SplitSeq(lines, "\n") {
		words := strings.Fields(line)
		at := -1
		for i := range all {
			if words[0] != "fault" && strings.Fields(all[i])[0] == words[0] {
				at = i
			}
		}
		if at < 0 {
			all = append(all, line)
			continue
		}
		for _, word := range words[1:] {
			name, _, _ := strings.Cut(word, "=")
			kept := []string{}
			for _, old := range strings.Fields(all[at]) {
				if !strings.HasPrefix(old, name+"=") {
					kept = append(kept, old)
				}
			}
			all[at] = strings.Join(append(kept, word), " ")
		}
	}
	return strings.Join(all, "\n") + "\n"
}

// TestCatalogue brings about every trouble of the catalogue: it makes a difference, and
// every invariant holds.
func TestCatalogue(t *testing.T) {
	calm, err := Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	at := calm.Run(0, false)
	for i, entry := range Catalogue {
		if want := "F" + strconv.Itoa(i+1); entry.ID != want {
			t.Errorf("entry %d is %s, want %s", i, entry.ID, want)
		}
		for _, lines := range entry.Texts {
			t.Run(entry.ID, func(t *testing.T) {
				w, err := Parse(with(base, lines))
				if err != nil {
					t.Fatalf("%v\n%s", err, with(base, lines))
				}
				if f := Replay(w, 0); f != nil {
					t.Errorf("%s\n%s", f.Report.String(), f.History)
				}
				trouble := *w
				trouble.Faults = nil
				report := w.Run(0, false)
				if report.Digest == at.Digest || len(w.Faults) > 0 && report.Digest == trouble.runDigest() {
					t.Errorf("it makes no difference:\n%s", w)
				}
			})
		}
	}
	if len(Catalogue) != 41 {
		t.Errorf("%d entries, want 41", len(Catalogue))
	}
}

func (w *World) runDigest() engine.Digest {
	r := w.Run(0, false)
	return r.Digest
}
