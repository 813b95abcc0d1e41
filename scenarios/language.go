package scenarios

import (
	_ "embed"
	"slices"
	"sync"

	"qsim/policies"
	"qsim/scenarios/reference"
	"qsim/scenarios/spec"
)

// Scenario and the types below are what a scenario is made of, in package spec.
type (
	Scenario     = spec.Scenario     // content of one scenario file
	Engine       = spec.Engine       // processes of the queue and their store
	JobClass     = spec.JobClass     // class of jobs
	Dependency   = spec.Dependency   // external service that handlers call
	Storm        = spec.Storm        // fault or overload with its window of time
	Policy       = spec.Policy       // fetch policy that is compared
	Distribution = spec.Distribution // random distribution of a duration
	Duration     = spec.Duration     // a duration: 1h30m
	Count        = spec.Count        // a whole number: 100, 100k
	Factor       = spec.Factor       // a factor above 0: 2.5
	Rate         = spec.Rate         // events per unit of time: 120/s
	Share        = spec.Share        // a share: 20%
	Override     = spec.Override     // another value for one key
	Preset       = spec.Preset       // settings of a known system
	Setting      = spec.Setting      // key with its value and where that comes from
	Key          = reference.Key     // reference entry of a key
	Kind         = reference.Kind    // reference entry of a kind of map
	Kinds        = reference.Kinds   // kinds of storms, arrivals, distributions and backoffs
)

// Set returns the override that gives the key at path a value of a type of the language, such as a JobClass.
func Set(path string, value any) Override { return spec.Set(path, value) }

// Presets returns all presets in the order in which they are listed. The caller must not change their nodes.
func Presets() []Preset { return spec.Presets() }

// PresetNamed returns the preset with that name or alias, in which _ may stand for -; nil if there is none.
func PresetNamed(name string) *Preset { return spec.PresetNamed(name) }

// Troubles returns the keys that name the kinds of storm.
func Troubles() []string { return spec.Troubles() }

// PolicyKinds returns the kinds of policies that scenarios can use, with their parameters.
func PolicyKinds() []policies.Kind { return policies.Kinds() }

//go:embed scenario.schema.json
var schema []byte

// language returns the reference of the language.
var language = sync.OnceValue(func() *reference.Language { return reference.Read(schema, spec.Troubles()) })

// Keys returns every key of the language, a map before its keys.
func Keys() []reference.Key { return slices.Clone(language().Keys) }

// KeyOf returns the reference entry for a path in a scenario as reference.Language does.
func KeyOf(path string) (reference.Key, bool) { return language().KeyOf(path) }

// AllKinds returns the kinds of storms, arrivals, distributions and backoffs, in the order of the language. The caller
// must not change them.
func AllKinds() *reference.Kinds { return &language().Kinds }
