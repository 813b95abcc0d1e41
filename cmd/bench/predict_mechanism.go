package bench

import (
	"fmt"
	"io"
	"strings"
	"time"

	"qsim/engine"
	"qsim/results/plain"
	"qsim/results/text"
	"qsim/scenarios/world"
)

// follow adds the store calls and executions of a real run, as recorded by its probes, to the engine statistics m.
func follow(m *world.Mechanics, probes []*probe) {
	for node, p := range probes {
		for op := range p.samples {
			call := engine.Call{Op: engine.Op(op), Engine: engine.NewEngineID(int32(node), 1)}
			for _, s := range p.samples[op] {
				call.Woken = s.woken
				m.Call(&call, s.rows, s.asked(), time.Duration(s.ended)+s.hop)
			}
		}
		for began, end := range p.executions {
			m.Attempt(time.Duration(began), time.Duration(end.At))
		}
	}
	m.Over()
}

// mechanismJSON holds engine statistics (calls, batches, utilization) of one phase of the simulated or of the real
// runs, on the wall clock. A share or a mean of nothing is 0.
type mechanismJSON struct {
	Phase    string  `json:"phase"`
	From     float64 `json:"from_s"` // start of the phase in scenario time
	Of       string  `json:"of"`     // source: "simulated" or "real"
	Attempts float64 `json:"attempts_per_s"`
	Busy     float64 `json:"busy_workers"`
	Claims   float64 `json:"claims_per_s"`
	Woken    float64 `json:"woken_share"` // share of the claims caused by a wake
	Claimed  float64 `json:"rows_per_claim"`
	Claim    float64 `json:"claim_mean_s"`
	Gap      float64 `json:"gap_mean_s"` // mean time from a claim's answer to the next claim
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

// mechanism returns engine statistics (calls, batches, utilization) of simulated and real runs, in pairs by phase.
func (p *prediction) mechanism() (rows []mechanismJSON) {
	for i := range p.mechanics[0].Phases {
		rows = append(rows, rated(&p.mechanics[0].Phases[i], "simulated"), rated(&p.mechanics[1].Phases[i], "real"))
	}
	return rows
}

// writeMechanism prints a table of engine statistics of the simulated and the real runs, width columns wide.
func (p *prediction) writeMechanism(out io.Writer, width int) {
	const heading = "how the engines worked, on the wall clock (a claim is woken if new work caused it, and the gap is " +
		"from the answer to a claim until the next one):"
	fmt.Fprint(out, "\n"+text.Paragraph(heading, width))
	t := text.Table{Columns: []text.Column{{Key: true, Wrap: true}, {Key: true}}}
	for _, title := range []string{"attempts/s", "busy workers", "claims/s", "woken", "rows", "a claim", "gap",
		"commits/s", "rows", "a commit"} {
		t.Columns = append(t.Columns, text.Column{Title: title, Right: true})
	}
	for i, r := range p.mechanism() {
		phase := plain.When(i%2 == 0, fmt.Sprintf("%s from %s", r.Phase, plain.Duration(r.From)))
		whole := func(v float64) string { return fmt.Sprintf("%.0f", v) }
		tenths := func(v float64) string { return fmt.Sprintf("%.1f", v) }
		t.Add(phase, r.Of, whole(r.Attempts), tenths(r.Busy), whole(r.Claims), whole(r.Woken*100)+"%", tenths(r.Claimed),
			seconds(r.Claim), seconds(r.Gap), whole(r.Commits), tenths(r.Batch), seconds(r.Commit))
	}
	fmt.Fprintln(out, strings.Join(t.Lines(width, false), "\n"))
}
