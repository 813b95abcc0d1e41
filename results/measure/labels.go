package measure

import "qsim/results/plain"

// Label returns the query q in words: "mail: p99 wait of fresh jobs in payments-down".
func (q Query) Label() string {
	label := q.Metric // of another version of the program, if it is not known
	if m := lookup(q.Metric); m != nil {
		label = m.Label
	}
	if q.Tenant == WorstTenant {
		q.Tenant = "worst tenant"
	}
	switch {
	case q.Class != "" && q.Tenant != "":
		label = q.Class + ", " + q.Tenant + ": " + label
	case q.Tenant != "":
		label = q.Tenant + ": " + label
	case q.Class != "":
		label = q.Class + ": " + label
	}
	if q.Limit != 0 {
		label += " (" + plain.Setting(q.Limit) + ")"
	}
	if q.During != "" {
		label += " in " + q.During
	}
	if q.After != "" {
		label += " after " + q.After
	}
	return label
}
