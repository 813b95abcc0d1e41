// Package applied puts the settings that qsim apply prints for systems written in Go into programs, compiles these
// against the systems and runs them: each setting must exist, and the delays of retries must be those of the
// simulation.
package applied

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"qsim/scenarios"
	"qsim/scenarios/apply"
)

// form is a template by which a setting, in the words of qsim apply, becomes a Go statement.
type form struct {
	words *regexp.Regexp
	code  string // $1 and further on: what words captures; empty: the setting is no code
}

func forms(pairs ...string) (all []form) {
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, form{regexp.MustCompile("^(?s:" + pairs[i] + ")$"), pairs[i+1]})
	}
	return all
}

// systems are the programs in testdata, by system, into which the Go statements are put.
var systems = map[string]struct {
	forms    []form
	policies string
}{
	"asynq": {forms(
		`Config\.RetryDelayFunc, of a class for its t\.Type\(\): (.*)`,
		`config.RetryDelayFunc = func(n int, err error, t *asynq.Task) time.Duration { $1 }`,
		`Config\.IsFailure: return (\w+) for (.*)`, `config.IsFailure = func(error) bool { return $1 } // $2`,
		`Config\.(\w+): (.*)`, `config.$1 = $2`,
		`(asynq\.Timeout\(0\)), with a Deadline, .*`, `options = append(options, $1, asynq.Deadline(time.Now()))`,
		`asynq\.\w+\(.*\)`, `options = append(options, $0)`,
		`handler: return an error that wraps (asynq\.SkipRetry) for (.*)`, `_ = fmt.Errorf("$2: %w", $1)`,
		`processes with an asynq\.Server: \d+`, ``,
	), "policies: [{kind: queues, weights: {mail: 7, report: 3}}]\n"},
	"river": {forms(
		`NextRetry of Config\.RetryPolicy, or of a class's worker: (.*)`,
		`config.RetryPolicy = policy(func(job *rivertype.JobRow) time.Time { $1 })`,
		`MaxAttempts of Config, or of a class's InsertOpts: (\d+)`,
		`config.MaxAttempts, insert.MaxAttempts = $1, $1`,
		`Config\.Queues\[river\.QueueDefault\]\.MaxWorkers: (\d+)`,
		`config.Queues = map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: $1}}`,
		`Config\.(\w+): (.*?)(, which is .*)?`, `config.$1 = $2`,
		`InsertOpts\.(\w+): (.*)`, `insert.$1 = $2`,
		`Timeout of the class's worker: (.*)`, `_ = time.Duration($1)`,
		`Work: return (river\.\w+\(\w+\)) for (.*)`, `_ = func(err error, delay time.Duration) error { return $1 } // $2`,
		`processes with a river\.Client: \d+`, ``,
	), ""},
}

// whole is the YAML text of a scenario that qsim apply turns into every setting of a system.
const whole = `
engine: {preset: PRESET, nodes: 3, workers: 40, timeout: 90s, lease: {ttl: 20m}, fetch: {poll: 700ms, cooldown: 300ms}, promoter: {every: 3s}}
retry: {max-attempts: 7, backoff: {kind: exponential, first: 2s, factor: 3, max: 5m}, jitter: none, never: [validation], free: [busy]}
jobs:
  - {class: mail, arrivals: {process: poisson, rate: 9/s}, service: 1s, priority: 2, delay: 30s, timeout: 0s, fails: {rate: 1%, errors: {validation: 50%, busy: 50%}}}
  - {class: report, arrivals: {process: poisson, rate: 1/m}, service: 20s, priority: 1, timeout: 10m, retry: {max-attempts: 2}}
`

// TestSettingsAreGo checks that the settings of each system compile, and give the simulation's delays of retries.
func TestSettingsAreGo(t *testing.T) {
	for name, of := range systems {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := apply.Systems()
			system := &all[slices.IndexFunc(all, func(s apply.System) bool { return s.Name == name })]
			text := strings.Replace(whole, "PRESET", name, 1) + of.policies
			if name == "asynq" { // whose leases are constants
				text = strings.Replace(text, ", lease: {ttl: 20m}", "", 1)
			}
			sc, problems := scenarios.Load("whole.yaml", []byte(text), nil)
			if sc == nil {
				t.Fatal(problems)
			}
			var statements []string
			seen := map[string]bool{}
			for _, line := range apply.To(system, sc, 0, nil).Settings {
				if line.Cannot != "" {
					continue
				}
				at := slices.IndexFunc(of.forms, func(f form) bool { return f.words.MatchString(line.Setting) })
				if at < 0 {
					t.Fatalf("%s: there is no form of %q", line.Key, line.Setting)
				}
				f := of.forms[at]
				statements = append(statements, f.words.ReplaceAllString(line.Setting, f.code))
				for _, row := range system.Translations {
					if scope := strings.Replace(row.Key, "CLASS", "mail", 1); line.Key == row.Key || line.Key == scope {
						seen[row.Key] = true
					}
				}
			}
			for _, row := range system.Translations {
				if !seen[row.Key] {
					t.Errorf("the setting of %s was not tried", row.Key)
				}
			}
			var want []string
			retry, err := sc.RetryPolicy(-1)
			if err != nil {
				t.Fatal(err)
			}
			for n := range 8 {
				want = append(want, retry.Delay(int64(n+1)).String())
			}
			if got := run(t, name, statements); got != strings.Join(want, "\n")+"\n" {
				t.Errorf("got the delays\n%swant\n%s", got, strings.Join(want, "\n"))
			}
		})
	}
}

// run compiles a system's program with Go statements in it, and returns what it prints.
func run(t *testing.T, system string, statements []string) string {
	t.Helper()
	program, err := os.ReadFile(filepath.Join("testdata", system+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	code := strings.Replace(string(program), "SETTINGS", strings.Join(statements, "\n\t"), 1)
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(code), 0o666); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "go", "run", file)
	var failed strings.Builder
	command.Stderr = &failed
	out, err := command.Output()
	if err != nil {
		t.Fatal(fmt.Sprint(err), "\n", failed.String(), "\n", code)
	}
	return string(out)
}
