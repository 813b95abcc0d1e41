package chaos

import (
	"fmt"
	"strings"

	"qsim/engine/check"
)

// ParseInvariants parses the numbers of invariants, separated by commas: "I-1,I-6".
func ParseInvariants(text string) (check.Set, error) { return check.ParseSet(text) }

// Invariants returns all invariants, each as a number and a sentence.
func Invariants() (numbers, says []string) {
	for i := check.Conservation; i < check.NumInvariants; i++ {
		numbers, says = append(numbers, i.String()), append(says, i.Says())
	}
	return numbers, says
}

// Holds reports whether the i-th of Invariants is among those checked.
func (o *Options) Holds(i int) bool { return o.Only.Has(check.Conservation + check.Invariant(i)) }

// String returns a failure in words: the invariant, the history of the job, and the command line that repeats it.
func (f *Failure) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "seed %d: %s\n", f.Seed, f.Report.String())
	if f.History != "" {
		fmt.Fprintf(&text, "\nWhat happened to job %d:\n%s", f.Report.Breach.Job, f.History)
	}
	if f.World != f.Drawn {
		fmt.Fprintf(&text, "\nThe seed draws %s. So it breaks with %s:\n", f.Drawn.Size(), f.World.Size())
	} else {
		text.WriteString("\nTo see it again:\n")
	}
	fmt.Fprintf(&text, "\n# A scenario as any other: qsim run, trace and explain take it too.\n"+
		"qsim chaos --replay - <<'END'\n%sEND\n", f.World.Text)
	return text.String()
}
