package scenarios

import (
	"fmt"
	"regexp"
	"slices"

	"qsim/engine/quantity"
	"qsim/scenarios/checks"
)

// starterText is the template of a new scenario. Keys left out have defaults.
const starterText = `# What this scenario asks: do fresh jobs still start soon while payments fail and are retried?
#
# qsim explain %[1]s.yaml prints every key that may stand here, with its default.
# An editor completes and checks keys by the next line and the file that it names, which qsim schema prints:
` + modeline + `
name: %[1]s
duration: 10m
seeds: 5
%[2]s
jobs:
  - class: payments
    arrivals: {process: poisson, rate: 30/s}
    service: {dist: lognormal, p50: 200ms, p99: 1s}
  - class: mail
    arrivals: {process: poisson, rate: 20/s}
    service: {dist: exponential, mean: 100ms}

storms:
  - {name: payments-down, at: 4m, for: 2m, fail: {hits: [payments], rate: 95%%, takes: 600ms}}

policies:
  - {kind: fifo}
  - {kind: weighted, fresh: 80%%}
  - {kind: inflight-cap, retries: 20%%}

objectives:
  - {metric: fresh.wait.p99, during: payments-down, below: 5s, policies: [inflight-cap]}
`

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
		case p.Engine == nil:
			engine += fmt.Sprintf("retry:\n  preset: %s   # qsim list presets %[1]s\n", p.Name)
		default:
			engine = fmt.Sprintf("\nengine:\n  preset: %s   # qsim list presets %[1]s\n  workers: 30\n", p.Name)
		}
	}
	return fmt.Appendf(nil, starterText, name, engine), nil
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
