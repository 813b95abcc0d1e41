package results

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestInert(t *testing.T) {
	for cell, want := range map[string]string{"": "", "-": "-", "fifo": "fifo", "-1.5e-9": "-1.5e-9", "+20%": "+20%", "±20%": "±20%", "=1+1": "'=1+1", "-1+cmd|' /C calc'!A0": "'-1+cmd|' /C calc'!A0",
		"+cmd": "'+cmd", "@SUM(1)": "'@SUM(1)", "'=1": "''=1", "a=b": "a=b"} {
		if got := inert(cell); got != want {
			t.Errorf("%q: got %q, want %q", cell, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`['=+@a1%-]{0,4}`)
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

func sumLabel(t *testing.T, i int) string { return summarized(t, 2).Policies[i].Label }
