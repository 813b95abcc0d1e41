package scenarios

import (
	_ "embed"
	"slices"
	"sync"

	"qsim/policies"
	"qsim/scenarios/reference"
	"qsim/scenarios/spec"
)

// Scenario and the types below, of packages spec and reference, are the parts of a scenario and of its documentation.
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

// Set returns the override that sets the key at path to a Go value of one of this package's types, such as a JobClass.
func Set(path string, value any) Override { return spec.Set(path, value) }

// Presets returns the settings of all known job systems, as listed. The caller must not change their nodes.
func Presets() []Preset { return spec.Presets() }

// PresetNamed returns the preset with that name or alias, in which _ may stand for -; nil if there is none.
func PresetNamed(name string) *Preset { return spec.PresetNamed(name) }

// Troubles returns the keys that name the kinds of storm, such as crash and burst.
func Troubles() []string { return spec.Troubles() }

// PolicyKinds returns the kinds of policies that scenarios can use, with their parameters.
func PolicyKinds() []policies.Kind { return policies.Kinds() }

//go:embed scenario.schema.json
var schema []byte

// language returns the documentation of scenario files, which is read from the JSON schema once.
var language = sync.OnceValue(func() *reference.Language { return reference.Read(schema, spec.Troubles()) })

// Keys returns the documentation of every key of scenario files, that of a map before that of its keys.
func Keys() []reference.Key { return slices.Clone(language().Keys) }

// KeyOf returns the documentation of the key at a path in a scenario, as reference.Language.KeyOf does.
func KeyOf(path string) (reference.Key, bool) { return language().KeyOf(path) }

// AllKinds returns the documentation of all kinds of storms, arrival processes, distributions and backoffs. The caller
// must not change it.
func AllKinds() *reference.Kinds { return &language().Kinds }
