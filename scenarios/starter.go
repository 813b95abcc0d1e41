package scenarios

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"

	"qsim/engine/quantity"
	"qsim/scenarios/checks"
)

// starterText is the template of a new scenario with a given name, settings of its engine, and a modeline. Keys left
// out have defaults.
//
//go:embed starter.txt
var starterText string

// Starter returns the text of a new scenario to be edited; preset, if not empty, names the settings of a known system.
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
	}
	return fmt.Appendf(nil, starterText, name, engine, modeline), nil
}

// SchemaFile is the name of the JSON schema file in the comment that WithSchema adds for editors.
const SchemaFile = "scenario.schema.json"

// modeline is a comment with the path of the schema, beside the scenario, for an editor's YAML language server.
const modeline = "# yaml-language-server: $schema=" + SchemaFile

var (
	anyModeline = regexp.MustCompile(`(?m)^# yaml-language-server: \$schema=.*\n?`)
	nameLine    = regexp.MustCompile(`(?m)^name:.*\n?`)
	firstKey    = regexp.MustCompile(`(?m)^[^#\s]`)
)

// WithSchema returns a scenario with a comment above its first key that refers editors to SchemaFile.
func WithSchema(src []byte) []byte {
	return aboveFirstKey(anyModeline.ReplaceAll(src, nil), modeline+"\n")
}

// aboveFirstKey returns the text of a scenario with a line inserted above its first key.
func aboveFirstKey(src []byte, line string) []byte {
	at := len(src)
	if key := firstKey.FindIndex(src); key != nil {
		at = key[0]
	}
	return slices.Concat(src[:at], []byte(line), src[at:])
}

// Renamed returns a copy of the scenario src with another name, and with its comments.
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
