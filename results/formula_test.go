package results

import (
	"bytes"
	"strings"
	"testing"
)

// TestNoFormulas writes results with labels that a spreadsheet would execute: files contain them as
// text, and reading gives the same labels.
func TestNoFormulas(t *testing.T) {
	sum := summarized(t, 2)
	for i, label := range []string{"=cmd|calc!A1", "'=cmd|calc!A1"} {
		sum.Policies[i].Label, sum.Settings.Policies[i].Label = label, label
	}
	f := stored(t, sum)
	for name, text := range map[string]string{"summary.csv": string(f["summary.csv"]), "series.csv.gz": unzipped(t, f["series.csv.gz"])} {
		if strings.Contains("\n"+text, "\n=") || !strings.Contains(text, "\n'=cmd|calc!A1") || !strings.Contains(text, "\n''=cmd|calc!A1") {
			t.Errorf("%s: %.200s", name, text)
		}
	}
	got, err := ReadStored(f.read)
	if err != nil {
		t.Fatal(err)
	}
	again := stored(t, got.Summary)
	if !bytes.Equal(again["series.csv.gz"], f["series.csv.gz"]) {
		t.Error("the series is not what was written")
	}
}

// TestShownOnRead reads results with names that contain control characters for a terminal.
func TestShownOnRead(t *testing.T) {
	const hostile = "a\x1b[8mb\x00\b\r\x7f\u009b2J\u202etxt\u2066\\u001b été 👩‍👧"
	const want = "a�[8mb�����2J�txt�\\u001b été 👩‍👧"
	sum := summarized(t, 2)
	was := sum.Policies[0].Label
	sum.Scenario, sum.Warnings = hostile, []string{hostile}
	sum.Policies[0].Label, sum.Settings.Policies[0].Label = hostile, hostile
	for i := range sum.Objectives {
		if sum.Objectives[i].Policy == was {
			sum.Objectives[i].Policy = hostile
		}
	}
	f := stored(t, sum)
	f["run.json"] = []byte(`{"version": "1\u001b[2J", "command": ["qsim\u0007"]}`)
	got, err := ReadStored(f.read)
	if err != nil {
		t.Fatal(err)
	}
	again := got.Summary
	for name, text := range map[string]string{"scenario": again.Scenario, "warning": again.Warnings[0], "label": again.Policies[0].Label,
		"label of the settings": again.Settings.Policies[0].Label} {
		if text != want {
			t.Errorf("%s: got %q, want %q", name, text, want)
		}
	}
	if got.Made.Version != "1�[2J" || got.Made.Command[0] != "qsim�" {
		t.Errorf("run.json: version %q, command %q", got.Made.Version, got.Made.Command)
	}
}
