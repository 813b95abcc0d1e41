package bench

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"qsim/cmd/ui"
	"qsim/results"
	"qsim/results/plain"
	"qsim/results/text"
	"qsim/scenarios"
)

type noiseFlags struct {
	runFlags
	tell scenarios.Share
}

func newNoise() *cobra.Command {
	f := noiseFlags{runFlags: runFlags{format: "table"}}
	c := &cobra.Command{
		Use:   "noise [flags]",
		Short: "measure how noisy this machine is",
		Long: `noise runs one candidate again and again and measures how much the numbers scatter when
nothing has changed: how much two results may differ for no reason, which difference the
same number of rounds would show, and how many rounds it takes to show one of --tell. It
also checks whether the machine drifts, by comparing the first half of the rounds with the
second.`,
		Example: `  qbench noise                                  of a burn-down in memory
  qbench noise --store postgres --rate 500/s --for 5s --rounds 20
  qbench noise --tell 2%`,
		Args: ui.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error { return noise(c, &f) },
	}
	flags := c.Flags()
	addArrivalFlags(c, &f.load)
	addWorkFlags(c, &f.load)
	addValue(c, &f.rounds, "rounds", "COUNT", "12", "number of measurements")
	addValue(c, &f.tell, "tell", "SHARE", "5%", "the difference that should be detected")
	flags.StringArrayVar(&f.policies, "policy", nil, "one `POLICY` (default fifo)")
	addStores(c, &f.stores, "memory or postgres (default memory)")
	flags.StringVar(&f.dsn, "dsn", "", dsnUsage)
	ui.AddChoice(c, &f.format, "format", "FORMAT", "of the result: table, bench or json", "table", "bench", "json")
	ui.Group(c, "What to run", slices.Concat(arrivalFlags, workFlags, []string{"policy", "store", "dsn"})...)
	ui.Group(c, "How often", "rounds", "tell")
	ui.Group(c, "Output", "format")
	ui.AddTerminal(c, &f.Terminal, "quiet", "verbose", "color", "progress")
	return c
}

// scatter is the spread of one metric over repeated runs that should be equal.
type scatter struct {
	Metric     string   `json:"metric"`
	Unit       string   `json:"unit"`
	Mean       float64  `json:"mean"`
	Least      float64  `json:"least"`
	Most       float64  `json:"most"`
	CV         float64  `json:"cv"`         // standard deviation ÷ mean
	Detectable float64  `json:"detectable"` // difference, as a share of the mean, that as many rounds on each side detect
	Rounds     int      `json:"rounds"`     // rounds on each side that detect a difference of --tell; 0: no number does
	Drift      float64  `json:"drift"`      // mean of the second half of the rounds ÷ that of the first − 1
	DriftP     *float64 `json:"drift_p"`    // p value of the drift; null: too few rounds
}

func noise(c *cobra.Command, f *noiseFlags) error {
	if err := f.check(c); err != nil {
		return err
	}
	if f.rounds < 4 {
		return ui.UsageError("--rounds %d: want at least 4 to say anything about scatter", f.rounds)
	}
	if len(f.policies) > 1 || len(f.stores) > 1 {
		return ui.UsageError("noise is about one candidate: name one policy and one store")
	}
	if f.tell.Num == 0 {
		return ui.UsageError("%s: want more than 0%%", typed(c, "tell"))
	}
	tell := c.Flags().Lookup("tell").Value.String()
	return inSession(c, &f.runFlags, func(s *session, ctx context.Context) error {
		return s.runLoads(ctx, func(candidates []*candidate, _ string) error {
			if len(candidates[0].rounds) < 4 {
				return nil // the command was interrupted before
			}
			return s.printNoise(candidates[0], f, tell)
		})
	})
}

// scatters returns the scatter of each metric over the rounds of a candidate; tell is the share of a mean to detect.
func scatters(c *candidate, tell float64) []scatter {
	names, all := c.summary()
	differ := func(name string) bool { return slices.Min(all[name].Values) != slices.Max(all[name].Values) }
	family := 1 + plain.Count(names, differ) // comparisons that qbench compare makes: one is of the time per job
	var list []scatter
	for _, name := range names {
		m := all[name]
		n := len(m.Values)
		if name == "lost" || name == "duplicates" || n < 4 {
			continue
		}
		x := scatter{Metric: name, Unit: m.Unit, Mean: m.Mean, Least: slices.Min(m.Values), Most: slices.Max(m.Values)}
		if m.Mean > 0 {
			x.CV = math.Sqrt(results.VarianceAbout(m.Values, m.Mean)) / m.Mean
			x.Detectable, x.Rounds = results.Detectable(x.CV, n, family), results.RunsToDetect(x.CV, tell, family)
			first, second := m.Values[:n/2], m.Values[n/2:]
			before, _ := results.Interval(first)
			against := results.Against(first, second, false)
			if before > 0 {
				x.Drift = against.Difference / before
			}
			if !math.IsNaN(against.P) {
				x.DriftP = &against.P
			}
		}
		list = append(list, x)
	}
	return list
}

// printNoise prints the scatter of a candidate's metrics in the format of the flags; tell is the difference to detect.
func (s *session) printNoise(c *candidate, f *noiseFlags, tell string) error {
	list := scatters(c, f.tell.Float())
	encoded := ui.JSON(struct {
		Version int       `json:"version"`
		Name    string    `json:"name"`
		Rounds  int       `json:"rounds"`
		Tell    float64   `json:"tell"`
		Metrics []scatter `json:"metrics"`
	}{1, c.name, len(c.rounds), f.tell.Float(), list}, " ")
	table := func(o text.TableOptions) string { return noiseTable(c, list, tell, o) }
	return f.Output(encoded, table).Print(s.stdout, f.format)
}

func noiseTable(c *candidate, list []scatter, tell string, o text.TableOptions) string {
	var b strings.Builder
	line := func(words string) { b.WriteString(text.Paragraph(words, o.Width)) }
	line(fmt.Sprintf("%s, %d rounds", c.name, len(c.rounds)))
	b.WriteString("\n")
	t := text.Table{Columns: []text.Column{{Key: true}}}
	for _, title := range []string{"mean", "spread", "least – most", "drift", "shown from", "rounds for " + tell} {
		t.Columns = append(t.Columns, text.Column{Title: title, Right: true})
	}
	drifts := false
	for _, x := range list {
		of := func(v float64) string {
			if x.Unit == "s" {
				return seconds(v)
			}
			return number(v)
		}
		drift := errorText(x.Drift)
		if x.DriftP != nil && *x.DriftP < .05/float64(len(list)) {
			drift, drifts = drift+" !", true
		}
		t.Add(x.Metric, of(x.Mean), fmt.Sprintf("±%.1f%%", x.CV*100), of(x.Least)+" – "+of(x.Most), drift,
			fmt.Sprintf("%.1f%%", x.Detectable*100), plain.Either(x.Rounds == 0, plain.Missing, fmt.Sprint(x.Rounds)))
	}
	b.WriteString(t.Render(o) + "\n")
	line(fmt.Sprintf("spread = standard deviation ÷ mean; drift = second half against first; shown from = the least "+
		"difference that %d rounds on each side show in four cases of five, in qbench compare of all metrics at once "+
		"(a smaller one is, with --unit); rounds = on each side", len(c.rounds)))
	if len(list) > 0 {
		x := list[0]
		switch {
		case x.Rounds == 0:
			line(fmt.Sprintf("a difference of %s in %s cannot be shown on this machine", tell, x.Metric))
		case x.Rounds <= len(c.rounds):
			line(fmt.Sprintf("a difference of %s in %s can be shown with %d rounds on each side", tell, x.Metric, x.Rounds))
		default:
			line(fmt.Sprintf("a difference of %s in %s takes %d rounds on each side: these were %d", tell, x.Metric, x.Rounds,
				len(c.rounds)))
		}
	}
	if drifts {
		line("! the machine drifts: compare candidates in turns, as qbench run does, and not one after the other")
	}
	return b.String()
}
