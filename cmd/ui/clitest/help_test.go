package clitest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCommandLines(t *testing.T) {
	for _, tt := range []struct {
		name, line string
		want       [][]string
	}{
		{"one command", "  qsim run retry-storm\n", [][]string{{"qsim", "run", "retry-storm"}}},
		{"with an explanation", "  qsim run storm.yaml     the main one; try it\n", [][]string{{"qsim", "run", "storm.yaml"}}},
		{"into a file", "  qsim list > my.yaml", [][]string{{"qsim", "list"}}},
		{"quotes", "  qsim run --set 'a={b: 1; c: 2 | 3}' -n 1", [][]string{{"qsim", "run", "--set", "a={b: 1; c: 2 | 3}", "-n", "1"}}},
		{"a pipeline", "  dump-it | qsim import -", [][]string{{"dump-it"}, {"qsim", "import", "-"}}},
		{"several", "  qbench run > old; ...; qbench compare old new", [][]string{{"qbench", "run"}, {"..."}, {"qbench", "compare", "old", "new"}}},
		{"none", "\n", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if difference := cmp.Diff(tt.want, commandLines(tt.line)); difference != "" {
				t.Error(difference)
			}
		})
	}
}
