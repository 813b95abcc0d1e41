package results

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestInert(t *testing.T) {
	for cell, want := range map[string]string{"": "", "-": "-", "fifo": "fifo", "-1.5e-9": "-1.5e-9", "+20%": "+20%", "±20%": "±20%", "=1+1": "'=1+1", "-1+cmd|' /C calc'!A0": "'-1+cmd|' /C calc'!A0",
		"+cmd": "'+cmd", "@SUM(1)": "'@SUM(1)", "'=1": "''=1", "a=b": "a=b",
		"-30s": "-30s", "+5s": "+5s", "-1h30m0.5s": "-1h30m0.5s", "-.5ms": "-.5ms", "+10/s": "+10/s", "-1.5/min": "-1.5/min", "-2d": "-2d", "-7µs": "-7µs",
		"-30s+A1": "'-30s+A1", "-1/A1": "'-1/A1", "+1A1": "'+1A1", "-s": "'-s", "-1(2)": "'-1(2)", "-5s%": "'-5s%", "=30s": "'=30s", "@30s": "'@30s", "'-30s": "''-30s"} {
		if got := inert(cell); got != want {
			t.Errorf("%q: got %q, want %q", cell, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`['=+@a1s/%-]{0,4}`)
		if a, b := text.Draw(t, "a"), text.Draw(t, "b"); a != b && inert(a) == inert(b) {
			t.Errorf("%q and %q are both %q", a, b, inert(a))
		}
	})
}

// TestNoFormulas writes results with labels that a spreadsheet would carry out: as files
// and as tables they are texts, and what was written is read again as it was.
func TestNoFormulas(t *testing.T) {
	sum := summarized(t, 2)
	for i, label := range []string{"=cmd|calc!A1", "'=cmd|calc!A1"} {
		sum.Policies[i].Label, sum.Settings.Policies[i].Label = label, label
	}
	f := stored(t, sum)
	var table bytes.Buffer
	if err := WriteTable(&table, sum, TableOptions{Format: CSV}); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"summary.csv": string(f["summary.csv"]), "series.csv.gz": unzipped(t, f["series.csv.gz"]), "the table": table.String()} {
		if strings.Contains("\n"+text, "\n=") || !strings.Contains(text, "\n'=cmd|calc!A1") || !strings.Contains(text, "\n''=cmd|calc!A1") {
			t.Errorf("%s: %.200s", name, text)
		}
	}
	got, err := ReadStored(f.read)
	if err != nil {
		t.Fatal(err)
	}
	again := stored(t, got.Summary)
	if !got.Summary.HasSeries() || !bytes.Equal(again["series.csv.gz"], f["series.csv.gz"]) {
		t.Error("the series is not what was written")
	}

	old := stored(t, summarized(t, 2)) // by a version that wrote labels as they are
	for path, data := range old {
		text := string(data)
		if strings.HasSuffix(path, ".gz") {
			text = unzipped(t, data)
		}
		text = strings.ReplaceAll(text, sumLabel(t, 0), "=x")
		if old[path] = []byte(text); strings.HasSuffix(path, ".gz") {
			old[path] = zipped(text)
		}
	}
	if got, err = ReadStored(old.read); err != nil || !got.Summary.HasSeries() {
		t.Errorf("labels as they are: %v", err)
	}
}

// TestStoredLabelOfADuration reads what an earlier version wrote of a label that begins with a
// sign: with an apostrophe.
func TestStoredLabelOfADuration(t *testing.T) {
	sum := summarized(t, 2)
	sum.Policies[0].Label, sum.Settings.Policies[0].Label = "-30s", "-30s"
	f := stored(t, sum)
	text := unzipped(t, f["series.csv.gz"])
	if !strings.Contains(text, "\n-30s,") {
		t.Fatalf("%.200s", text)
	}
	f["series.csv.gz"] = zipped(strings.ReplaceAll(text, "\n-30s,", "\n'-30s,"))
	if got, err := ReadStored(f.read); err != nil || !got.Summary.HasSeries() {
		t.Errorf("labels with an apostrophe: %v", err)
	}
}

// TestShownOnRead reads results of others, whose names a terminal would carry out.
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
	if !again.HasSeries() {
		t.Error("the series is not read")
	}
	if got.Made.Version != "1�[2J" || got.Made.Command[0] != "qsim�" {
		t.Errorf("run.json: version %q, command %q", got.Made.Version, got.Made.Command)
	}
	var table bytes.Buffer
	if err := WriteTable(&table, again, TableOptions{}); err != nil || strings.ContainsAny(table.String(), "\x1b\r\u009b\u202e") {
		t.Errorf("%v: %q", err, table.String())
	}
}

func sumLabel(t *testing.T, i int) string { return summarized(t, 2).Policies[i].Label }
