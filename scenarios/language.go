package scenarios

import (
	_ "embed"
	"slices"
	"sync"

	"qsim/policies"
	"qsim/scenarios/reference"
	"qsim/scenarios/spec"
)

// Scenario and the types below are defined in packages spec and reference: users of the language import this one alone.
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

// Set returns an Override that sets the key at a path, such as jobs.mail, to a Go value of one of the types above.
func Set(path string, value any) Override { return spec.Set(path, value) }

// Presets returns the settings of all known job systems, as listed in presets.yaml. Do not change their YAML nodes.
func Presets() []Preset { return spec.Presets() }

// PresetNamed returns the preset (settings of a job system) with that name or alias, _ standing for - in it, or nil.
func PresetNamed(name string) *Preset { return spec.PresetNamed(name) }

// Troubles returns the kinds of storm (fault or burst), such as crash: a storm has its settings at the key of its kind.
func Troubles() []string { return spec.Troubles() }

// PolicyKinds returns the kinds of fetch policy that a scenario can name, such as fifo, each with its parameters.
func PolicyKinds() []policies.Kind { return policies.Kinds() }

//go:embed scenario.schema.json
var schema []byte

// language returns the documentation of all keys of scenario files, parsed from the embedded JSON schema on first use.
var language = sync.OnceValue(func() *reference.Language { return reference.Read(schema, spec.Troubles()) })

// Keys returns the documentation of every key of scenario files; the entry of a map precedes those of the keys in it.
func Keys() []reference.Key { return slices.Clone(language().Keys) }

// KeyOf returns the documentation of the key at a path in a scenario, such as jobs.mail.service; false: there is none.
func KeyOf(path string) (reference.Key, bool) { return language().KeyOf(path) }

// AllKinds returns the documentation of all kinds of storms, arrival processes, distributions and backoffs: read-only.
func AllKinds() *reference.Kinds { return &language().Kinds }
