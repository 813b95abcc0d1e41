package spec

import (
	"cmp"
	"errors"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"qsim/engine/quantity"
	"qsim/scenarios/reference"
	"qsim/scenarios/tree"
)

// Decode converts a scenario's YAML tree to a Scenario with the defaults filled in, as far as it is valid, and returns
// all errors in it. The tree has no aliases and merges; files is the folder of the data files that it names.
func Decode(given *yaml.Node, files *Folder) (*Scenario, []*yaml.LoadError) {
	o := &Origin{Given: given, Preset: map[*yaml.Node]string{}}
	problems := o.complete()
	sc := &Scenario{tree: o, files: files}
	problems = append(problems, sc.decodeStorms(tree.Errors(o.Full.Load(sc, tree.Strict...)))...)
	problems = append(problems, notInDigits(o.Full)...)
	sc.fill()
	problems = append(problems, sc.decodeRetry()...)
	problems = sc.files.complete(reflect.ValueOf(sc).Elem(), problems)
	problems = sc.files.complete(reflect.ValueOf(sc.retry), problems)
	return sc, append(problems, o.problems...)
}

// notInDigits returns an error for each of the keys version, seed and priority whose value is not in plain digits: the
// YAML library, which parses these, would read 010 as 8, while a Count of 010 is 10.
func notInDigits(full *yaml.Node) (problems []*yaml.LoadError) {
	nodes := []*yaml.Node{tree.Lookup(full, "version"), tree.Lookup(full, "seed")}
	if jobs := tree.Lookup(full, "jobs"); jobs != nil {
		for _, job := range jobs.Content {
			nodes = append(nodes, tree.Lookup(job, "priority"))
		}
	}
	for _, node := range nodes {
		if node == nil || node.ShortTag() != "!!int" && node.ShortTag() != "!!float" {
			continue // a mistake of another kind
		}
		if bad := (*quantity.Error)(nil); errors.As(quantity.CheckDigits(node.Value), &bad) {
			problems = append(problems, tree.ErrorAt(node, bad))
		}
	}
	return problems
}

// decodeStorms decodes the Trouble (fault) of each storm from the key of its kind; of several, by mistake, the first.
// It returns the errors in them and in problems, without those that type Storm has no field for such a key.
func (sc *Scenario) decodeStorms(problems []*yaml.LoadError) []*yaml.LoadError {
	problems = slices.DeleteFunc(problems, func(p *yaml.LoadError) bool {
		key, ofStorm := strings.CutSuffix(p.Message, " not found in type spec.Storm")
		return ofStorm && slices.Contains(Troubles(), strings.TrimPrefix(key, "field "))
	})
	for i := range sc.Storms {
		s, keys := &sc.Storms[i], tree.LookupAt(tree.Lookup(sc.tree.Full, "storms"), i)
		for _, kind := range slices.Backward(Troubles()) {
			if value := tree.Lookup(keys, kind); value != nil {
				s.Trouble = NewTrouble(kind)
				problems = append(problems, tree.Errors(value.Load(s.Trouble, tree.Strict...))...)
				problems = sc.files.complete(reflect.ValueOf(s.Trouble), problems)
				if f, ok := s.Trouble.(interface{ Fill() }); ok {
					f.Fill()
				}
			}
		}
	}
	return problems
}

// decodeRetry stores the retry settings of each class, those of the scenario overlaid by its own, here and, of classes
// that have any, in Full. It returns errors.
func (sc *Scenario) decodeRetry() []*yaml.LoadError {
	base := tree.Lookup(sc.tree.Full, "retry")
	if base.Kind != yaml.MappingNode {
		base = tree.Lookup(reference.Defaults("scenario"), "retry") // the error has already been reported
	}
	var problems []*yaml.LoadError
	sc.retry = make([]Retry, len(sc.Jobs))
	for i := range sc.Jobs {
		sc.retry[i] = sc.Retry
		own := sc.Jobs[i].RetryKeys
		if own.IsZero() {
			continue
		}
		if own.Kind != yaml.MappingNode {
			bad := tree.Errorf(&own, "want a map of keys such as max-attempts: 8, not %s", tree.Describe(&own))
			problems = append(problems, bad)
			continue
		}
		job, whole := tree.LookupAt(tree.Lookup(sc.tree.Full, "jobs"), i), tree.Merged(sc.tree.class(base, &own), &own)
		job.Content[tree.Position(job, "retry")+1] = whole // the map of the class is that of Full alone
		sc.retry[i] = Retry{}
		problems = append(problems, tree.Errors(whole.Load(&sc.retry[i], tree.Strict...))...)
		sc.retry[i].normalize()
	}
	return problems
}

// longestWarmup bounds the default warm-up, before whose end jobs count nowhere: a tenth of a scenario's duration.
const longestWarmup = Duration(2 * time.Minute)

// fill sets the defaults of a decoded scenario that depend on its other values, such as drain, warmup and labels.
func (sc *Scenario) fill() {
	sc.Retry.normalize()
	if tree.Lookup(sc.tree.Full, "drain") == nil {
		sc.Drain = sc.Duration
	}
	if tree.Lookup(sc.tree.Full, "warmup") == nil {
		sc.Warmup = min(longestWarmup, sc.Duration/10)
	}
	if p := &sc.Engine.Promoter; p.First != nil && Set("", p.First) == Set("", &p.Every) {
		p.First = nil
	}
	for i := range sc.Policies {
		sc.Policies[i].Label = cmp.Or(sc.Policies[i].Label, sc.Policies[i].Kind)
	}
	for i := range sc.Objectives {
		sc.Objectives[i].node = tree.LookupAt(tree.Lookup(sc.tree.Full, "objectives"), i)
	}
	if sc.Baseline == "" && len(sc.Policies) > 0 {
		sc.Baseline = sc.Policies[0].Label
	}
	for i := range sc.Jobs {
		if j := &sc.Jobs[i]; j.Idempotent != nil {
			j.Guard, j.Idempotent = map[bool]Guard{false: "none", true: "check"}[*j.Idempotent], nil
		}
		if f := &sc.Jobs[i].Fails; len(f.Errors) == 0 {
			f.Errors = ErrorShares{{reference.DefaultError, quantity.Percent(100)}}
		}
		given := tree.LookupAt(tree.Lookup(sc.tree.Given, "jobs"), i)
		if t := &sc.Jobs[i].Tenants; len(t.Names) > 0 && tree.Lookup(tree.Lookup(given, "tenants"), "count") == nil {
			t.Count = Count(len(t.Names))
		}
	}
	for i := range sc.Dependencies {
		if o := &sc.Dependencies[i].Over; o.Slow == nil {
			none := &Distribution{Kind: "constant", Value: new(Duration)} // whose zero dist is the constant 0
			o.Fail, o.RejectsIn = cmp.Or(o.Fail, &Share{Num: 1, Den: 1}), cmp.Or(o.RejectsIn, none)
		}
	}
}

// Finish completes a valid scenario with its variants, one per policy (nil: the policy has no overrides), and numbers
// its error kinds and tenants, with the same numbers in all variants.
func (sc *Scenario) Finish(variants []*Scenario) {
	sc.variants = variants
	sc.nameErrors()
	sc.numberTenants()
	sc.spell()
}

// Origin returns the YAML tree from which the scenario was decoded, with positions, for errors and for qsim explain.
func (sc *Scenario) Origin() *Origin { return sc.tree }
