package results

import (
	"fmt"
	"strings"

	"qsim/results/plain"
)

// Case is one condition that decides the exit code of a command, with its outcome for one policy.
type Case struct {
	Policy  string // label of the policy
	Name    string // condition, such as the objective "sojourn.mean below 10s"
	Outcome Outcome
	Failed  bool   // the outcome makes the command exit with 1
	Words   string // measured value with its 95 % interval; if unclear, the seeds that would decide
	Line    int    // line of the condition in the scenario's file, from 1; 0: it is not in the file
}

// String returns the case as a sentence.
func (c *Case) String() string {
	return fmt.Sprintf("%s: %s: %s, %s", c.Policy, c.Name, c.Outcome, c.Words)
}

// Cases returns a case for each objective and policy. Under strict an unclear one fails.
func (s *Summary) Cases(strict bool) (all []Case) {
	for i := range s.Objectives {
		v := &s.Objectives[i]
		c := Case{Policy: v.Policy, Name: v.Query.String() + " " + v.Text, Outcome: v.Outcome, Failed: v.Failed(strict),
			Words: v.Words(), Line: v.Line}
		if v.Expect {
			c.Name += ", expected to be missed"
		}
		if v.Outcome == Unclear {
			c.Words += "; " + strings.TrimPrefix(unclear(v.Seeds, v.Reason), "unclear; ")
		}
		all = append(all, c)
	}
	return all
}

// Cases returns a case for each change that the gate judges.
func (c *Comparison) Cases() (all []Case) {
	for i := range c.Changes {
		d := &c.Changes[i]
		if d.Verdict == "" {
			continue
		}
		words := d.Words()
		measured := fmt.Sprintf("%s after %s (%s)", words.New, words.Base, strings.TrimSpace(words.Difference+" "+words.Half))
		if d.Verdict == Unclear {
			measured += "; " + strings.TrimPrefix(d.Note(), "unclear; ")
		}
		name := d.Query.String() + " worse by at most " + plain.Digits(100*c.Gate.Most, 3) + "%"
		all = append(all, Case{Policy: d.Policy, Name: name, Outcome: d.Verdict,
			Failed: d.Verdict == Missed || d.Verdict == Unclear && c.Gate.Strict, Words: measured})
	}
	return all
}

// Cases returns a case for each policy: whether a setting was found that meets the objectives.
func (t *Tuning) Cases() (all []Case) {
	for i := range t.Policies {
		p := &t.Policies[i]
		name := strings.TrimSpace(t.Goal + " that meets " + strings.Join(t.Objectives, ", "))
		all = append(all, Case{Policy: p.Label, Name: name, Outcome: p.Outcome,
			Failed: p.Outcome != Met, Words: strings.Join(p.Said, " ")})
	}
	return all
}
