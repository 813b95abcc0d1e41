package scenarios

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"qsim/scenarios/origins"
)

// TestKeysAreDescribed checks that every key has a description of its meaning and of its values.
func TestKeysAreDescribed(t *testing.T) {
	goWord := regexp.MustCompile(`\b[A-Z][a-z]+[A-Z]|\b(nil|see [A-Z])|; see\b`)
	seen := map[string]bool{}
	for _, k := range Keys() {
		switch {
		case k.Doc == "", k.Value == "", seen[k.Path]:
			t.Errorf("%+v", k)
		case goWord.MatchString(k.Doc):
			t.Errorf("%s: %q is for readers of the code", k.Path, k.Doc)
		}
		seen[k.Path] = true
	}
	for path := range seen {
		if dot := strings.LastIndexByte(path, '.'); dot > 0 && !seen[path[:dot]] && strings.ToUpper(path[:dot]) == path[:dot] {
			t.Errorf("%s stands below nothing", path)
		}
	}
	if len(seen) < 230 {
		t.Errorf("%d keys", len(seen))
	}
}

// TestKeysHaveTheirDefaults compares the documented defaults of keys with the values of a scenario without these keys.
func TestKeysHaveTheirDefaults(t *testing.T) {
	sc := load(t, smallest+"storms: [{name: z, at: 20m, for: 5m, fail: {rate: 10%}}]\nobjectives: [{metric: fresh.wait.p99, below: 1s}]\n")
	compared := 0
	for _, s := range origins.Of(sc, nil) {
		if !strings.HasPrefix(s.Origin, "default") || s.Path == "description" || s.Path == "policies.fifo.kind" ||
			strings.HasPrefix(s.Path, "retry.backoff.") {
			continue // none, and parts of a default that is one map
		}
		for _, k := range Keys() {
			if own, _ := KeyOf(s.Path); own.Path != k.Path || strings.Contains(k.Path, "CALL") {
				continue
			}
			if want := strings.TrimPrefix(s.Origin, "default: "); k.Default != s.Value && k.Default != want {
				t.Errorf("%s is %s (%s), not %q", s.Path, s.Value, s.Origin, k.Default)
			}
			compared++
		}
	}
	if compared < 80 {
		t.Errorf("%d compared", compared)
	}
}

// TestKindsLoad checks that the documented example of every kind of storm, distribution and so on loads.
func TestKindsLoad(t *testing.T) {
	kinds := AllKinds()
	for _, tt := range []struct {
		what, text string
		kinds      []Kind
	}{
		{"arrivals", "jobs: [{class: mail, service: 1ms, arrivals: %s}]", kinds.Arrivals},
		{"distributions", "jobs: [{class: mail, arrivals: {process: poisson, rate: 1/s}, service: %s}]", kinds.Distributions},
		{"backoffs", "retry: {backoff: %s}\njobs: [{class: mail, arrivals: {process: poisson, rate: 1/s}, service: 1ms}]", kinds.Backoffs},
		{"storms", "engine: {nodes: 4, promoter: {every: 1s}, lease: {check: local}}\ndependencies: [{name: payments-api}, {name: mailer, limit: {rate: 300/s}}]\n" +
			"jobs: [{class: mail, calls: mailer, arrivals: {process: poisson, rate: 1/s}, service: 1ms}, {class: post, calls: payments-api, arrivals: {process: poisson, rate: 1/s}, service: 1ms}]\n" +
			"storms: [%s]", kinds.Storms},
	} {
		for _, kind := range tt.kinds {
			t.Run(tt.what+" "+kind.Name, func(t *testing.T) {
				if kind.Doc == "" || kind.Example == "" {
					t.Errorf("%+v", kind)
				}
				for _, example := range strings.Split(kind.Example, " or ") {
					if strings.Contains(example, "file:") {
						continue // which is beside the reader's scenario
					}
					src := fmt.Sprintf(tt.text, example)
					if _, problems := Load("example.yaml", []byte(src), nil); len(problems) > 0 {
						t.Errorf("%s: %v", example, problems)
					}
				}
			})
		}
	}
}
