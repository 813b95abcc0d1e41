package bench

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"qsim/engine"
	"qsim/results/plain"
	"qsim/scenarios/world"
)

// follow adds the calls and executions of a real run, which its probes recorded, to m.
func follow(m *world.Mechanics, probes []*probe) {
	for node, p := range probes {
		for op := range p.samples {
			call := engine.Call{Op: engine.Op(op), Engine: engine.NewEngineID(int32(node), 1)}
			for _, s := range p.samples[op] {
				call.Woken = s.woken
				m.Call(&call, s.rows, time.Duration(s.ended)-s.took, time.Duration(s.ended))
			}
		}
		for began, end := range p.executions {
			m.Attempt(time.Duration(began), time.Duration(end.At))
		}
	}
	m.Over()
}

// mechanismJSON is one phase of the simulated or of the real runs, on the wall clock. A share or a
// mean of nothing is 0.
type mechanismJSON struct {
	Phase    string  `json:"phase"`
	From     float64 `json:"from_s"` // of the scenario
	Of       string  `json:"of"`     // "simulated" or "real"
	Attempts float64 `json:"attempts_per_s"`
	Busy     float64 `json:"busy_workers"`
	Claims   float64 `json:"claims_per_s"`
	Woken    float64 `json:"woken_share"` // of the claims
	Claimed  float64 `json:"rows_per_claim"`
	Claim    float64 `json:"claim_mean_s"`
	Gap      float64 `json:"gap_mean_s"` // from a claim's answer to the next claim
	Commits  float64 `json:"commits_per_s"`
	Batch    float64 `json:"rows_per_commit"`
	Commit   float64 `json:"commit_mean_s"`
}

func rated(m *world.Mechanism, of string) mechanismJSON {
	per := func(sum, n float64) float64 {
		if n == 0 {
			return 0
		}
		return sum / n
	}
	lasts, claims, commits := m.Lasts.Seconds(), float64(m.Claims.Count), float64(m.Commits.Count)
	return mechanismJSON{Phase: m.Phase, From: m.From.Seconds(), Of: of,
		Attempts: per(float64(m.Attempts), lasts), Busy: per(m.Busy.Seconds(), lasts), Claims: per(claims, lasts),
		Woken: per(float64(m.Woken), claims), Claimed: per(float64(m.Claims.Rows), claims),
		Claim: per(m.Claims.Took.Seconds(), claims), Gap: per(m.Gap.Seconds(), claims), Commits: per(commits, lasts),
		Batch: per(float64(m.Commits.Rows), commits), Commit: per(m.Commits.Took.Seconds(), commits)}
}

// mechanism is how engines worked in the simulation and in the run, phase by phase.
func (p *prediction) mechanism() (rows []mechanismJSON) {
	if p.mechanics[0] == nil {
		return nil
	}
	for i := range p.mechanics[0].Phases {
		rows = append(rows, rated(&p.mechanics[0].Phases[i], "simulated"), rated(&p.mechanics[1].Phases[i], "real"))
	}
	return rows
}

// writeMechanism prints the table of mechanism.
func (p *prediction) writeMechanism(out io.Writer) {
	rows := p.mechanism()
	if rows == nil {
		return
	}
	fmt.Fprint(out, "\nhow the engines worked, on the wall clock (a claim is woken if new work caused it, and the gap is from "+
		"the answer to a claim until the next one):\n")
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "\t\tattempts/s\tbusy workers\tclaims/s\twoken\trows\ta claim\tgap\tcommits/s\trows\ta commit\t\n")
	for i, r := range rows {
		phase := ""
		if i%2 == 0 {
			phase = fmt.Sprintf("%s from %s", r.Phase, plain.Duration(r.From))
		}
		fmt.Fprintf(w, "%s\t%s\t%.0f\t%.1f\t%.0f\t%.0f%%\t%.1f\t%s\t%s\t%.0f\t%.1f\t%s\t\n",
			phase, r.Of, r.Attempts, r.Busy, r.Claims, r.Woken*100, r.Claimed, seconds(r.Claim), seconds(r.Gap),
			r.Commits, r.Batch, seconds(r.Commit))
	}
	w.Flush()
}
