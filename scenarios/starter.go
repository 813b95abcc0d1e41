package scenarios

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"

	"qsim/engine/quantity"
	"qsim/scenarios/checks"
	"qsim/scenarios/spec"
)

// starterText is the fmt template of the scenario that Starter returns, for its name, its engine section and modeline.
//
//go:embed starter.txt
var starterText string

// Starter returns the YAML text of a small complete scenario, for a user to edit (qsim init). preset, if not empty,
// names the preset (known job system) whose settings it uses.
func Starter(name, preset string) ([]byte, error) {
	if err := startName(name); err != nil {
		return nil, err
	}
	engine := "\nengine:\n  workers: 30\n"
	if preset != "" {
		p := PresetNamed(preset)
		switch {
		case p == nil:
			return nil, fmt.Errorf("write scenario: no preset is named %q", preset)
		case p.Engine.IsZero():
			engine += fmt.Sprintf("retry:\n  preset: %s   # qsim list presets %[1]s\n", p.Name)
		default:
			engine = fmt.Sprintf("\nengine:\n  preset: %s   # qsim list presets %[1]s\n  workers: 30\n", p.Name)
		}
		var retry spec.Retry
		if err := p.Retry.Decode(&retry); err != nil {
			return nil, fmt.Errorf("write scenario: preset %s: %w", p.Name, err)
		}
		if retry.MaxAttempts == 1 || retry.MaxRetries != nil && *retry.MaxRetries == 0 {
			engine += "retry:\n  max-attempts: 4   # 1 by the preset, which retries nothing\n"
		}
	}
	return fmt.Appendf(nil, starterText, name, engine, modeline), nil
}

// SchemaFile is the name of the JSON schema file in the comment that WithSchema adds for editors.
const SchemaFile = "scenario.schema.json"

// modeline is the comment by which an editor's YAML language server finds the schema, in the folder of the scenario.
const modeline = "# yaml-language-server: $schema=" + SchemaFile

var (
	anyModeline = regexp.MustCompile(`(?m)^# yaml-language-server: \$schema=.*\n?`)
	nameLine    = regexp.MustCompile(`(?m)^name:.*\n?`)
	firstKey    = regexp.MustCompile(`(?m)^[^#\s]`)
)

// WithSchema returns a scenario's YAML text with a comment that refers editors to SchemaFile above its first key.
func WithSchema(src []byte) []byte {
	return aboveFirstKey(anyModeline.ReplaceAll(src, nil), modeline+"\n")
}

// aboveFirstKey returns a scenario's YAML text with line, which ends in a line break, put above its first key.
func aboveFirstKey(src []byte, line string) []byte {
	at := len(src)
	if key := firstKey.FindIndex(src); key != nil {
		at = key[0]
	}
	return slices.Concat(src[:at], []byte(line), src[at:])
}

// Renamed returns a copy of a scenario's YAML text with another value of the key name; an invalid name is an error.
func Renamed(src []byte, name string) ([]byte, error) {
	if err := startName(name); err != nil {
		return nil, err
	}
	if at := nameLine.FindIndex(src); at != nil {
		return slices.Concat(src[:at[0]], []byte("name: "+name+"\n"), src[at[1]:]), nil
	}
	return aboveFirstKey(src, "name: "+name+"\n"), nil
}

func startName(name string) error {
	if bad := checks.BadTitle(name); bad != "" {
		return fmt.Errorf("bad name %s: %s", quantity.Quote(name), bad)
	}
	return nil
}
