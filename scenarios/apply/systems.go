package apply

import (
	_ "embed"

	"qsim/scenarios/tree"
)

// System is a real job system such as River, with its settings for keys of scenarios; systems.yaml explains the fields.
type System struct {
	Name         string            `yaml:"name"` // name of the system and of its preset
	Title        string            `yaml:"title"`
	Unit         string            `yaml:"unit"` // unit of durations: go, s, whole, ms
	Docs         string            `yaml:"docs"` // URL of the documentation of the settings
	Translations []Translation     `yaml:"translations"`
	Cannot       []Missing         `yaml:"cannot"`
	Policies     map[string]string `yaml:"policies"` // settings of policies, by kind
	Nearest      string            `yaml:"nearest"`  // nearest policy for kinds that the system does not have
}

// Translation is a row of a System's table: the setting that has the effect of a scenario's key, or of a map of keys.
type Translation struct {
	Key   string            `yaml:"key"`
	With  []string          `yaml:"with"`  // further keys that the setting covers
	As    string            `yaml:"as"`    // text of the setting, with placeholders such as {value:ms}
	When  map[string]string `yaml:"when"`  // settings by value of the key, in place of As
	Kinds map[string]string `yaml:"kinds"` // settings by the kind of the map, in place of As
	Least float64           `yaml:"least"` // lowest value, in seconds for a duration; 0: no bound
	Most  float64           `yaml:"most"`  // highest value; 0: no bound
	// Leasts are lower bounds by the names of keys below the key.
	Leasts map[string]float64 `yaml:"leasts"`
	// Needs holds, for other keys, the only values with which the setting has the effect of the key.
	Needs        map[string]string `yaml:"needs"`
	OverTimeouts bool              `yaml:"over-timeouts"` // the value is at least the longest timeout of a job
	Paced        bool              `yaml:"paced"`         // the poll is at least the cooldown
	Always       bool              `yaml:"always"`        // also set if the value is the preset's
	Several      bool              `yaml:"several"`       // also set with more than one node, if the value is the preset's
}

// Missing lists keys of scenarios, each with all keys inside it, that a System has no setting for, and the reason.
type Missing struct {
	Keys []string `yaml:"keys"`
	Why  string   `yaml:"why"`
}

//go:embed systems.yaml
var systemText []byte

var systems = tree.Builtin[struct {
	World   []string `yaml:"world"`
	Systems []System `yaml:"systems"`
}]("systems.yaml", systemText)

// Systems returns the job systems that qsim apply can translate a scenario for. The caller must not change them.
func Systems() []System { return systems().Systems }

// WorldKeys returns the keys, each with all keys inside it, for which no job system has settings: they describe what
// surrounds it (load, store, storms) or the run.
func WorldKeys() []string { return systems().World }
