package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"qsim/cmd/ui"
	"qsim/engine/quantity"
	"qsim/results/plain"
	"qsim/results/text"
	"qsim/scenarios/apply"
)

func newApply() *cobra.Command {
	var f scenarioFlags
	var t ui.Terminal
	system, format := "", "table"
	names := plain.Map(apply.Systems(), func(s apply.System) string { return s.Name })
	c := &cobra.Command{
		Use:   "apply SCENARIO --for SYSTEM",
		Short: "print a scenario as the settings of a job system",
		Long: `apply prints where a scenario differs from the preset of a system, as the settings of that system,
what the system leaves to its user, and what it cannot do, with what comes nearest. It is for the
baseline, or for the policy of --policy; --set takes what qsim tune has found. A setting with delays
is a line of code for the system's own hook. What describes the load, the store, storms and the run
itself is no setting, and left out.`,
		Example: `  qsim apply my.yaml --for river
  qsim apply my.yaml --for sidekiq --policy fifo --set retry.backoff.first=2s
  qsim apply retry-storm --for asynq --policy inflight-cap
  qsim apply my.yaml --for sqs --format json | jq '.settings[] | select(.cannot)'`,
		Args: exactlyOneScenario,
		RunE: func(c *cobra.Command, arguments []string) error {
			at := slices.Index(names, system)
			if at < 0 {
				return ui.UsageError("apply for what? Give --for %s", quantity.OrList(names))
			}
			l, err := loadOnly(c, arguments, &f, c.ErrOrStderr())
			if err != nil {
				return err
			}
			sc := l.Scenario
			if len(f.policies) > 0 && len(sc.Policies) > 1 {
				return ui.UsageError("apply takes one policy, not %d", len(sc.Policies))
			}
			r := apply.To(&apply.Systems()[at], sc, sc.PoliciesNamed(sc.Baseline)[0], l.Sets)
			table := func(o text.TableOptions) string { return applied(r, o) }
			return t.Output(ui.JSON(r, "  "), table).Print(c.OutOrStdout(), format)
		},
	}
	addScenarioFlags(c, "What to print", &f, "seeds", "baseline", "strict")
	ui.AddChoice(c, &system, "for", "SYSTEM", "the `SYSTEM`: "+quantity.OrList(names), names...)
	addFormat(c, &format)
	ui.Group(c, "For what", "for")
	ui.Group(c, "Output", "format")
	ui.AddTerminal(c, &t, "color")
	return c
}

// applied returns a text table of what a scenario means in another job system's settings, with notes except in CSV: for
// people a long reason why there is no setting stands once, and then refers to the key that it stands at.
func applied(r *apply.Result, o text.TableOptions) string {
	columns := []text.Column{{Title: "key", Key: true}, {Title: "value", Wrap: true}, {Title: r.System, Wrap: true}}
	t := text.Table{Columns: columns}
	first := map[string]string{} // key at which a reason stands
	for _, l := range r.Settings {
		reason := l.Cannot
		if as := "as " + first[reason]; o.Format != text.CSV && first[reason] != "" && len(as) < len(reason) {
			reason = as
		} else {
			first[reason] = l.Key
		}
		t.Add(l.Key, l.Value, plain.Either(l.Cannot != "", "✗ "+reason, l.Setting))
	}
	if o.Format == text.CSV {
		return t.Render(o)
	}
	page := o.Prose(fmt.Sprintf("%s under %s, for %s", r.Scenario, r.Policy, r.System)) + "\n" + t.Render(o)
	alike := plain.Plural(r.Alike, "key") + " more have the value of the preset."
	for _, line := range []string{"✗: there is no setting. " + alike, "Defaults: " + r.Preset,
		"The preset approximates: " + strings.Join(r.Approximates, "; "), "Settings: " + r.Docs} {
		page += "\n" + o.Prose(line)
	}
	return page
}
