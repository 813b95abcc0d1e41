package scenarios

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"go.yaml.in/yaml/v4"

	"qsim/scenarios/diagnostics"
	"qsim/scenarios/tree"
)

// beyond lists, by sort, the loader's errors that no JSON schema can express, such as a name that is not defined.
var beyond = []struct{ class, message string }{
	{"names: which there are, and that no two are alike", `^no .* is named|^two .* are named|is named twice|are both named|^there is no node|nodes are more than there are|^class .* has no tenant|tenants have \d+ names`},
	{"what a policy's with: holds", `a policy cannot|^bad path|under policy|^want a map of keys for|^the scenario has no`},
	{"events: what begins with one, and what says so", `begins at a known time only|only on: called knows|begins with no event|begins with an event`},
	{"files beside the scenario", `^file |^there is no file`},
	{"how long a value with a unit is: a pattern sees digits", `^duration .* is too long|^rate .* is too high|too many digits|is out of range: want|is out of range \(|is too large \(|is too many: at most|^a limit of 0|is too large: at most|^bound .* is negative`},
	{"bounds of a distribution's parameters, and one against the other", `is not positive$|is not above|is above max|is not in \[|^values: there are none|a fixed backoff has one delay|^file|must last at least|comes every .* is too busy`},
	{"one key against another", `lasts as long as the run|cannot keep its office|leave no gap|cannot be free and|are too many: at most \d+ workers|^the class stops|never ends: want|last more than ten years|with \d+ workers|^slows needs|has no limit to change|lasts no time|needs ack: late|^the calls are not disturbed`},
	{"sums", `add up to|^one run would|would be (tried|repeated) (again and again )?at one instant`},
	{"what goes with a metric", `cannot be narrowed|has no worst tenant|takes no limit|needs a limit|: want a|wants a `},
	{"what may come from a preset below", `a map here needs "dist"`},
	{"error kinds that are the engine's own words", `the engine's own word`},
	{"what is printable, and spaces around a label", `^bad label`},
}

func compileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("scenario.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("scenario.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// instance returns a YAML tree as a value that a JSON schema can check.
func instance(t *testing.T, node *yaml.Node) any {
	t.Helper()
	switch node.Kind {
	case yaml.MappingNode:
		m := map[string]any{}
		for i := 0; i+1 < len(node.Content); i += 2 {
			m[node.Content[i].Value] = instance(t, node.Content[i+1])
		}
		return m
	case yaml.SequenceNode:
		list := []any{}
		for _, item := range node.Content {
			list = append(list, instance(t, item))
		}
		return list
	}
	var value any
	if err := node.Load(&value); err != nil {
		t.Fatal(err)
	}
	switch v := value.(type) {
	case int:
		return float64(v)
	case int64:
		return float64(v)
	case uint64:
		return float64(v)
	case string, bool, float64:
		return v
	}
	return node.Value // a date, and whatever else is text to the loader
}

// TestSchemaAccepts checks that the JSON schema accepts whatever the loader accepts.
func TestSchemaAccepts(t *testing.T) {
	s := compileSchema(t)
	texts := map[string]string{"smallest": smallest, "rich": rich}
	for _, pattern := range []string{"*.yaml", "incidents/*.yaml", "testdata/*.yaml", "testdata/good/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if file != "presets.yaml" { // which is no scenario
				texts[file] = string(src)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		t.Run(name, func(t *testing.T) {
			sc := load(t, texts[name])
			for what, text := range map[string]string{"as it is": texts[name], "resolved": string(sc.Resolved())} {
				node, problems := tree.Parse([]byte(text))
				if len(problems) > 0 {
					t.Fatal(problems)
				}
				if err := s.Validate(instance(t, node)); err != nil {
					t.Errorf("%s: %v", what, err)
				}
			}
		})
	}
}

// TestSchemaRefuses checks that the JSON schema rejects what the loader rejects, except for what beyond lists.
func TestSchemaRefuses(t *testing.T) {
	s := compileSchema(t)
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	both, errorsSeen, used := 0, 0, map[string]bool{}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, ds := Load(file, src, nil)
			node, problems := tree.Parse(src)
			if node == nil || len(problems) > 0 {
				return // what is no plain YAML has no instance
			}
			var invalid *jsonschema.ValidationError
			errors.As(s.Validate(instance(t, node)), &invalid)
			for _, d := range ds.Errors() {
				errorsSeen++
				if invalid != nil && covers(invalid, locate(node, d.Line, d.Col)) {
					both++
				} else if class := classOf(d); class != "" {
					used[class] = true
				} else {
					t.Errorf("line %d: the schema says nothing of: %s %s", d.Line, d.Message, d.Note)
				}
			}
		})
	}
	for _, b := range beyond {
		if !used[b.class] {
			t.Errorf("no broken file is of the class %q", b.class)
		}
	}
	t.Logf("%d errors, %d of them found by the schema", errorsSeen, both)
	if both < errorsSeen/2 {
		t.Errorf("the schema finds %d of %d errors: want at least half", both, errorsSeen)
	}
}

func classOf(d diagnostics.Diagnostic) string {
	for _, b := range beyond {
		if regexp.MustCompile(b.message).MatchString(d.Message) || d.Note != "" && regexp.MustCompile(b.message).MatchString(d.Note) {
			return b.class
		}
	}
	return ""
}

// locate returns the keys and indexes that lead to the value at a position of a YAML tree.
func locate(node *yaml.Node, line, column int) []string {
	if path, found := search(node, line, column); found {
		return path
	}
	return nil
}

func search(node *yaml.Node, line, column int) (path []string, found bool) {
	at := func(n *yaml.Node) bool { return n.Line == line && n.Column == column }
	for i, child := range node.Content {
		step := strconv.Itoa(i)
		if node.Kind == yaml.MappingNode {
			if i%2 == 0 {
				if at(child) && node.Line*1000+node.Column < line*1000+column {
					return []string{child.Value}, true
				}
				continue
			}
			step = node.Content[i-1].Value
		}
		if below, found := search(child, line, column); found {
			return append([]string{step}, below...), true
		}
	}
	return nil, at(node)
}

// covers reports whether an error of the schema is at path, above it or below it.
func covers(e *jsonschema.ValidationError, path []string) bool {
	for _, cause := range e.Causes {
		if _, names := cause.ErrorKind.(*kind.PropertyNames); names {
			// Its own location is that of another instance: the library reuses the memory.
			cause = &jsonschema.ValidationError{InstanceLocation: e.InstanceLocation}
		}
		if covers(cause, path) {
			return true
		}
	}
	if len(e.Causes) > 0 {
		return false
	}
	own := e.InstanceLocation
	shared := 0
	for shared < len(own) && shared < len(path) && own[shared] == path[shared] {
		shared++
	}
	return shared == len(own) && len(path)-shared <= 1 || shared == len(path)
}

// TestSchemaSays checks some errors of the JSON schema one by one: a schema that rejects everything, or nothing, would
// pass the tests above.
func TestSchemaSays(t *testing.T) {
	s := compileSchema(t)
	const base = "jobs: [{class: mail, arrivals: {process: poisson, rate: 10/s}, service: 100ms}]\n"
	for text, good := range map[string]bool{
		"duration: 30m": true, "duration: 30": false, "duration: -3m": false, "duration: 1h30m": true, "duration: 0s": false,
		"seeds: 0": false, "seeds: 5": true, "seeds: 1k": true, "seeds: five": false, "seeds: 10k": true, "seeds: 100000": false,
		"engine: {workers: 0}": false, "engine: {workers: 8}": true, "engine: {wrokers: 8}": false, "engine: {preset: river}": true, "engine: {preset: rivver}": false,
		"engine: {lease: {late-claim: drop}}": false, "engine: {fetch: {wake: true}}": true, "engine: {fetch: {wake: maybe}}": false,
		"retry: {jitter: full}": true, "retry: {jitter: ±20%}": true, "retry: {jitter: 20%}": false, "retry: {jitter: +30s/1s}": true, "retry: {jitter: ful}": false,
		"retry: {max-attempts: 3, max-retries: 2}": false, "retry: {max-attempts: unlimited}": true, "retry: {max-attempts: 0}": false,
		"retry: {backoff: {max: 5s}}": true, "retry: {backoff: {kind: fixed}}": false, "retry: {backoff: {kind: fixed, delay: 1s}}": true, "retry: {backoff: {kind: fixed, delay: 1s, factor: 2}}": false,
		"storms: [{name: a, at: 1m, for: 1m}]": false, "storms: [{name: a, at: 1m, for: 1m, pause: {nodes: 1}}]": true, "storms: [{name: a, at: -1m, for: 1m, pause: {nodes: 1}}]": false,
		"storms: [{name: a, at: 1m, for: 1m, heartbeats: {lose: 20%}}]": true, "storms: [{name: a, at: 1m, for: 1m, calls: {error: 5%}}]": true, "storms: [{name: a, at: 1m, for: 1m, pause: {}}]": false,
		"storms: [{name: a, at: 1m, for: 1m, pause: {nodes: 1}, reaper: {stall: true}}]": false, "storms: [{name: a, at: 1m, for: 1m, fail: {rate: 300%}}]": false,
		"policies: [{kind: fifo}]": true, "policies: [{kind: fifa}]": false, "policies: [{kind: weighted, fresh: 80%}]": true, "policies: [{kind: weighted, fresh: 80}]": false,
		"policies: [{kind: fifo, fresh: 80%}]": false, "policies: [{kind: fifo, with: {retry.jitter: none}}]": true, "policies: [{kind: fifo, with: {seeds: 3}}]": false,
		"objectives: [{metric: fresh.wait.p99, below: 3s}]": true, "objectives: [{metric: fresh.wait.p98, below: 3s}]": false, "objectives: [{metric: claims}]": false,
		"dependencies: [{name: a, limit: {rate: 3/s}}]": true, "dependencies: [{name: a, limit: {}}]": false, "zebra: 1": false,
	} {
		node, problems := tree.Parse([]byte(base + text))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		if err := s.Validate(instance(t, node)); (err == nil) != good {
			t.Errorf("%s: %v; want it good: %v", strings.TrimSpace(text), err, good)
		}
	}
}
