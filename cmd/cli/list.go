package cli

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"qsim/cmd/ui"
	"qsim/policies"
	"qsim/results/measure"
	"qsim/results/plain"
	"qsim/results/text"
	"qsim/scenarios"
	"qsim/scenarios/checked"
)

// entry is an item of `qsim list` with its documentation: a kind of policy or storm, a preset, a scenario, a key ...
type entry struct {
	name, doc string
	aliases   []string
	detail    func(w io.Writer, width int) // writes the full documentation, in lines of width columns
	data      any                          // full documentation as a value for JSON
	kind      *scenarios.Kind              // kind of storm, policy, distribution ...; nil: the entry is none of these
	preset    *scenarios.Preset            // nil: the entry is no preset
	columns   []column                     // cells in a Markdown table, besides name and doc
}

// topic is a list of entries of `qsim list`, such as policies or metrics: its name, a line about it, and its entries.
type topic struct {
	name, doc string
	entries   func() []entry
}

// topics lists the topics of `qsim list`, in the order of the help text.
var topics = []topic{
	{"policies", "what may stand under policies:, kind", each(scenarios.PolicyKinds, policyEntry)},
	{"presets", "what may stand under engine: or retry:, preset", each(scenarios.Presets, presetEntry)},
	{"scenarios", "built-in scenarios, for run and validate", each(scenarios.Builtin, scenarioEntry)},
	{"metrics", "what objectives may be about", each(measure.Metrics, metricEntry)},
	{"keys", "what a scenario file may say: every key, its values and its default", each(scenarios.Keys, keyEntry)},
	{"storms", "what may stand in a storm: kinds of trouble",
		func() []entry { return kindEntries(scenarios.AllKinds().Storms) }},
	{"arrivals", "what may stand under arrivals:, process",
		func() []entry { return kindEntries(scenarios.AllKinds().Arrivals) }},
	{"distributions", "what may stand for a duration, dist",
		func() []entry { return kindEntries(scenarios.AllKinds().Distributions) }},
	{"backoffs", "what may stand under retry:, backoff, kind",
		func() []entry { return kindEntries(scenarios.AllKinds().Backoffs) }},
}

func newList() *cobra.Command {
	format := "table"
	c := &cobra.Command{
		Use:   "list [TOPIC] [NAME]",
		Short: "list policies, presets, scenarios, metrics or keys, or explain one",
		Long: `list prints what a scenario may say and name, one a line; with a NAME it prints all there is
to say of it: a policy's parameters with their defaults, a preset's values with their source
and what they leave out, a metric's definition, a built-in scenario's text, a key's values,
the keys of a kind of storm. A NAME alone is looked for in every topic.

Of presets, "checked" is how many rules, of those that were compared with the real system of
that version, the preset follows; – is none compared, and qsim list presets NAME says why.`,
		Example: `  qsim list policies
  qsim list policies weighted
  qsim list presets river
  qsim list metrics fresh.wait.p99
  qsim list keys engine.lease                   the keys below one
  qsim list storms fail
  qsim list scenarios retry-storm > my.yaml     a file of one's own to start from`,
		ValidArgsFunction: completeList,
		Args:              ui.Wanted(0, 2, "list takes a topic and a name at most, as qsim list policies fifo"),
		RunE: func(c *cobra.Command, arguments []string) error {
			entries, err := listed(arguments)
			if err != nil {
				return err
			}
			return ui.Output{
				"table":    ui.Text(func() string { return list(entries, ui.Width()) }),
				"markdown": ui.Text(func() string { return listMarkdown(entries) }),
				"json":     ui.JSON(data(entries), "  "),
			}.Print(c.OutOrStdout(), format)
		},
	}
	ui.AddChoice(c, &format, "format", "FORMAT", "print `FORMAT`: table, markdown or json", "table", "markdown", "json")
	ui.Group(c, "What to print", "format")
	return c
}

// listed returns the entries that `qsim list` prints for its arguments: all topics, or a topic's entries, all or named.
func listed(arguments []string) ([]entry, error) {
	if len(arguments) == 0 {
		return plain.Map(topics, func(t topic) entry { return entry{name: "qsim list " + t.name, doc: t.doc} }), nil
	}
	names := plain.Map(topics, func(t topic) string { return t.name })
	index := slices.Index(names, arguments[0])
	if index < 0 {
		if len(arguments) == 1 {
			return anywhere(arguments[0], names)
		}
		return nil, ui.Unknown("topic", arguments[0], names)
	}
	entries := topics[index].entries()
	if len(arguments) == 1 {
		return entries, nil
	}
	if some := named(entries, arguments[1]); len(some) > 0 {
		return some, nil
	}
	if names[index] == "keys" {
		return keysBelow(entries, arguments[1])
	}
	return nil, ui.Unknown("name of "+arguments[0], arguments[1], entryNames(entries))
}

// named returns, as a list of at most one, the entry among those given that has a name or alias.
func named(entries []entry, name string) []entry {
	for _, e := range entries {
		if e.name == name || slices.Contains(e.aliases, name) {
			return []entry{e}
		}
	}
	return nil
}

func entryNames(entries []entry) []string {
	return plain.Map(entries, func(e entry) string { return e.name })
}

// anywhere returns the entry with a name, of any topic; an error if it is in no topic, or in several.
func anywhere(name string, names []string) (found []entry, err error) {
	var in []string
	for _, topic := range topics {
		if some := named(topic.entries(), name); len(some) > 0 {
			found, in = some, append(in, topic.name)
		}
	}
	switch len(in) {
	case 0:
		return nil, ui.Unknown("topic", name, names)
	case 1:
		return found, nil
	}
	return nil, ui.UsageError("%s is one of the %s: say of which, as in qsim list %s %[1]s", name,
		strings.Join(in, ", and of the "), in[0])
}

// list returns entries as text: a single one in full, else a line for each; width is in columns, 0 without a terminal.
func list(entries []entry, width int) string {
	if len(entries) == 1 {
		var b strings.Builder
		entries[0].detail(&b, cmp.Or(width, 80))
		return b.String()
	}
	t := text.Table{Columns: []text.Column{{Key: true, Hang: true}, {Wrap: true}}}
	for _, e := range entries {
		cells := []string{e.name, firstSentence(e.doc)}
		if e.preset != nil {
			cells = slices.Insert(cells, 1, checked.Of(e.preset).Ratio())
			t.Columns = []text.Column{{Title: "preset", Key: true, Hang: true}, {Title: "checked"},
				{Title: "what it does", Wrap: true}}
		}
		t.Add(cells...)
	}
	return t.Render(text.TableOptions{Width: width})
}

// wrap breaks each line of a text into lines of width columns.
func wrap(words string, width int) string {
	var lines []string
	for line := range strings.SplitSeq(words, "\n") {
		lines = append(lines, text.Wrapped(line, width)...)
	}
	return strings.Join(lines, "\n")
}

// each returns a function that lists the entries of a topic of `qsim list`: one made of each element of a list.
func each[T any](list func() []T, entryOf func(T) entry) func() []entry {
	return func() []entry { return plain.Map(list(), entryOf) }
}

func policyEntry(policy policies.Kind) entry {
	idles := plain.Either(policy.Conserving(), "No worker idles while a job is ready.",
		"Workers may idle while jobs are ready.")
	kind := scenarios.Kind{Name: policy.Name, Example: "{kind: " + policy.Name}
	kind.Doc = fmt.Sprintf("%s\n%s It counts %s; where it keeps state: %s.", policy.Doc, idles, policy.Cost, policy.State)
	for _, p := range policy.Params {
		value := cmp.Or(strings.Join(p.Choices, " | "), p.Type)
		kind.Keys = append(kind.Keys, scenarios.Key{Path: p.Name, Value: value, Default: p.Default, Doc: p.Doc})
		kind.Example += ", " + p.Name + ": " + p.Default
	}
	kind.Example += "}"
	return kindEntry(&kind, "parameter")
}

func presetEntry(p scenarios.Preset) entry {
	return entry{name: p.Name, doc: p.Doc, aliases: p.Aliases, data: presetData(&p), preset: &p,
		detail: func(w io.Writer, width int) { writePresetDetail(w, &p, width) }}
}

func writePresetDetail(w io.Writer, p *scenarios.Preset, width int) {
	fmt.Fprintf(w, "%s (%s)\n", p.Name, p.Family)
	fmt.Fprint(w, plain.When(len(p.Aliases) > 0, "also called "+strings.Join(p.Aliases, ", ")+"\n"))
	fmt.Fprintf(w, "\n%s\n\n", wrap(p.Doc, width))
	fmt.Fprint(w, settingsTable(p.Settings(), ui.Width()))
	fmt.Fprintf(w, "\nsource: %s\n", text.Indented(p.Source, width, 8))
	for i, a := range checked.Measured(p) {
		fmt.Fprintf(w, "%s- %s\n", plain.When(i == 0, "\nwhat differs from it:\n"), text.Indented(a, width, 2))
	}
	fmt.Fprintf(w, "\n")
	writeChecked(w, p, width)
	where := "engine: {preset: " + p.Name + "}, or its retry policy alone as retry: {preset: " + p.Name + "}"
	switch {
	case p.Engine.IsZero():
		where = "retry: {preset: " + p.Name + "}"
	case p.Retry.IsZero():
		where = "engine: {preset: " + p.Name + "}"
	}
	fmt.Fprintf(w, "\n%s\n", wrap(where, width))
}

// writeChecked prints which rules of the real system a preset was found to reproduce, which not, and what is unchecked.
func writeChecked(w io.Writer, p *scenarios.Preset, width int) {
	c := checked.Of(p)
	fmt.Fprintln(w, wrap(c.Sentence(p), width))
	t := text.Table{Columns: []text.Column{{Key: true, Hang: true}, {Wrap: true}}}
	if held := c.Held(); len(held) > 0 {
		fmt.Fprintf(w, "✓ %s\n", text.Indented(strings.Join(held, "; "), width, 2))
	}
	for _, r := range c.Rules {
		if sign := map[string]string{"near": "~ ", "off": "✗ "}[r.Verdict]; sign != "" {
			t.Add(sign+r.Rule, r.Sentence())
		}
	}
	if len(t.Rows) > 0 {
		fmt.Fprintln(w, strings.Join(t.Lines(width, false), "\n"))
	}
	if len(c.Unchecked) > 0 {
		fmt.Fprintf(w, "not checked: %s\n", text.Indented(strings.Join(c.Unchecked, ", "), width, 2))
	}
}

func presetNames() []string {
	var names []string
	for _, p := range scenarios.Presets() {
		names = append(append(names, p.Name), p.Aliases...)
	}
	return names
}

func scenarioEntry(info scenarios.BuiltinInfo) entry {
	detail := func(w io.Writer, _ int) {
		_, src, _ := scenarios.OpenBuiltin(info.Name) // even beside a file of that name
		w.Write(scenarios.WithSchema(src))            // refers to scenario.schema.json, which may lie beside the file
	}
	return entry{name: info.Name, doc: info.Description, aliases: []string{path.Base(info.Name)}, detail: detail}
}

func metricEntry(m measure.MetricInfo) entry {
	var keys []string
	for _, part := range append(new(measure.Query).Parts(), measure.QueryPart{Word: "limit", Filter: measure.NeedsLimit}) {
		if m.Filters.Has(part.Filter) {
			keys = append(keys, part.Word)
		}
	}
	narrowing := strings.Join(keys, ", ")
	unit := cmp.Or(map[string]string{"": "a count", "1": "1 (a share or a ratio)"}[m.Unit], m.Unit)
	detail := func(w io.Writer, width int) {
		fmt.Fprintf(w, "%s\n\n%s\n\nunit: %s\n", m.Name, wrap(m.Doc, width), unit)
		fmt.Fprint(w, plain.When(len(keys) > 0, wrap("an objective may narrow it by: "+narrowing, width)+"\n"))
		if why := m.NotNarrower; why != "" {
			not := plain.Either(m.Filters.Has(measure.ByClass), "not by tenant: ", "not by class or tenant: ")
			fmt.Fprintln(w, wrap(not+why, width))
		}
		fmt.Fprint(w, plain.When(m.OnRequest, "computed only where an objective asks for it\n"))
	}
	return entry{name: m.Name, doc: m.Doc, detail: detail, columns: []column{{"unit", unit}, {"narrowed by", narrowing}},
		data: map[string]any{"name": m.Name, "unit": m.Unit, "doc": m.Doc, "narrowed_by": keys}}
}

// firstSentence returns the first sentence of a documentation text, for a line of a list.
func firstSentence(doc string) string {
	doc, _, _ = strings.Cut(strings.TrimSpace(doc), "\n")
	if sentence, _, more := strings.Cut(doc, ". "); more {
		return sentence
	}
	return strings.TrimSuffix(doc, ".")
}
