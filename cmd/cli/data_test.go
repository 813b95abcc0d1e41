package cli

import (
	"os"
	"testing"

	"qsim/cmd/input"
	"qsim/results"
)

// TestDataThatIsGone checks that a data file which cannot be read after a run costs none of the other files.
func TestDataThatIsGone(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"a.csv": "1\n", "b.csv": "1\n", "two.yaml": `jobs:
  - {class: one, arrivals: {process: trace, file: a.csv}, service: 1s}
  - {class: other, arrivals: {process: trace, file: b.csv}, service: 1s}
`} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	l, err := input.Load("two.yaml", input.Options{Errors: os.Stderr, Notes: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove("a.csv"); err != nil {
		t.Fatal(err)
	}
	files, err := input.WithData([]results.File{{Path: "summary.json"}}, l.Scenario)
	if err == nil || len(files) != 2 || files[1].Path != "b.csv" {
		t.Errorf("got %v and the error %v", files, err)
	}
}
