package results

import (
	"slices"

	"qsim/results/measure"
)

// Column is a metric of the table of a scenario's policies.
type Column struct {
	measure.Query
	Title, Short string
	HasHalf      bool // it is shown with ± and with the change against the baseline
}

// Headline returns the metrics of the table, in the order of its columns; during and
// after are what queries has of the first storm.
func Headline(queries []measure.Query) []Column {
	fresh := Column{Query: measure.Query{Metric: "fresh.wait.p99"}, Title: "fresh p99", Short: "fresh p99", HasHalf: true}
	recovery := Column{Query: measure.Query{Metric: "recovery.time"}, Title: "recovery", Short: "recovery"}
	for _, q := range queries {
		if q.During != "" && q == (measure.Query{Metric: fresh.Metric, During: q.During}) {
			if fresh.During == "" {
				fresh.Query, fresh.Title, fresh.Short = q, "fresh p99 in storm", "p99 in storm"
			} else {
				fresh.Title = "fresh p99 in " + fresh.During // there are several
			}
		}
		if recovery.After == "" && q == (measure.Query{Metric: recovery.Metric, After: q.After}) {
			recovery.Query = q
		}
	}
	columns := []Column{fresh, {Query: measure.Query{Metric: "starved.longest"}, Title: "starved", Short: "starved"}}
	if recovery.After != "" {
		columns = append(columns, recovery)
	}
	return append(columns, Column{Query: measure.Query{Metric: "duplicates.per10k"}, Title: "duplicates/10k", Short: "dup/10k"})
}

// tableQueries are the metrics of the table of a scenario.
func tableQueries(s *measure.Settings) []measure.Query {
	var queries []measure.Query
	for _, c := range Headline(measure.Queries(s)) {
		queries = append(queries, c.Query)
	}
	return queries
}

// Headline returns the columns of the table of s.
func (s *Summary) Headline() []Column {
	var queries []measure.Query
	if len(s.Policies) > 0 {
		for i := range s.Policies[0].Filtered {
			queries = append(queries, s.Policies[0].Filtered[i].Query)
		}
	}
	return Headline(queries)
}

// TableQueries are the metrics of the table of a scenario, then those of its objectives and
// what is asked for beside them: each once.
func TableQueries(s *measure.Settings) []measure.Query {
	queries := tableQueries(s)
	add := func(q measure.Query) {
		if !slices.Contains(queries, q) {
			queries = append(queries, q)
		}
	}
	for i := range s.Objectives {
		add(s.Objectives[i].Query)
	}
	for _, q := range s.Asked {
		add(q)
	}
	return queries
}
