package measure

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"qsim/results/plain"
)

// ParseQuery parses the syntax of Query.String: a metric, then the words during, after, class, tenant and limit, each
// followed by its value, as in "fresh.wait.p99 during payments-down". It does not check that these names exist.
func ParseQuery(text string) (Query, error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return Query{}, fmt.Errorf("want a metric, such as fresh.wait.p99")
	}
	q := Query{Metric: words[0]}
	parts := q.Parts()
	for i := 1; i < len(words); i += 2 {
		word := words[i]
		if i+1 == len(words) {
			return Query{}, fmt.Errorf("%s: a value is missing after %s", q, word)
		}
		value := words[i+1]
		at := slices.IndexFunc(parts, func(p QueryPart) bool { return p.Word == word })
		switch {
		case word == "limit" && q.Limit != 0, at >= 0 && *parts[at].Value != "":
			return Query{}, fmt.Errorf("%s is there twice", word)
		case word == "limit":
			limit, err := time.ParseDuration(value)
			if err != nil || limit <= 0 {
				return Query{}, fmt.Errorf("limit %s: want a duration such as 10s", value)
			}
			q.Limit = limit
		case at < 0:
			return Query{}, fmt.Errorf("%s: want during, after, class, tenant or limit behind the metric, not %s", q, word)
		default:
			*parts[at].Value = value
		}
	}
	return q, nil
}

// QueryPart is one of the ways in which a query narrows its metric: during or after a storm, to a class or to a tenant.
type QueryPart struct {
	Word   string
	Value  *string // the query's field for it, such as the storm's name; empty: not narrowed so
	Filter Filters
}

// Parts returns all ways to narrow a query, used or not, in the order of its text; each Value points into the query.
func (q *Query) Parts() []QueryPart {
	return []QueryPart{{"during", &q.During, ByDuring}, {"after", &q.After, ByAfter}, {"class", &q.Class, ByClass},
		{"tenant", &q.Tenant, ByTenant}}
}

// String returns a query in the syntax of a scenario's objectives: "fresh.wait.p99 during payments-down".
func (q Query) String() string {
	words := q.Metric
	for _, part := range q.Parts() {
		words += plain.When(*part.Value != "", " "+part.Word+" "+*part.Value)
	}
	return words + plain.When(q.Limit != 0, " limit "+plain.Setting(q.Limit))
}

// Label returns a query in words: "mail: p99 wait of fresh jobs in payments-down".
func (q Query) Label() string {
	label := q.Metric // of another version of the program, if it is not known
	if m := lookup(q.Metric); m != nil {
		label = m.Label
	}
	if q.Tenant == WorstTenant {
		q.Tenant = "worst tenant"
	}
	return plain.Joined(": ", plain.Joined(", ", q.Class, q.Tenant), label) +
		plain.When(q.Limit != 0, " ("+plain.Setting(q.Limit)+")") + plain.When(q.During != "", " in "+q.During) +
		plain.When(q.After != "", " after "+q.After)
}
