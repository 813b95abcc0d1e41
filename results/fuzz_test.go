package results

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// FuzzReadSummary reads any text as a summary: it refuses it, or writes it as it will read
// it again.
func FuzzReadSummary(f *testing.F) {
	for _, text := range []string{`{"version": 1, "seeds": [1], "policies": [{"label": "A", "metrics": {"wasted": {"mean": 1, "low": 1, "high": 1, "n": 1, "values": [1]}}}]}`,
		`{"version": 1, "seeds": [1, 2], "policies": [{"label": "A", "metrics": {"x.y": {"mean": null, "n": 0, "values": [null, null], "reason": "none"}}}], "objectives": [{"verdict": "met"}]}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := ReadSummary(text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "read summary: ") {
				t.Errorf("an error without a beginning: %v", err)
			}
			return
		}
		once, err := s.JSON()
		if err != nil {
			t.Fatalf("it is read and cannot be written: %v", err)
		}
		again, err := ReadSummary(once)
		if err != nil {
			t.Fatalf("what is written is refused: %v\n%s", err, once)
		}
		twice, err := again.JSON()
		if err != nil || !bytes.Equal(once, twice) {
			t.Errorf("it is written as\n%s\nand then as\n%s\n%v", once, twice, err)
		}
	})
}

// FuzzReadStored reads arbitrary text as a file of a run's folder: the result is an error with the
// file's name, or values that survive writing and reading.
func FuzzReadStored(f *testing.F) {
	sum := summarized(f, 2)
	valid := stored(f, sum)
	names := []string{"summary.json", "run.json", dataFile, "series.csv.gz"}
	for i, name := range names {
		text := string(valid[name])
		if strings.HasSuffix(name, ".gz") {
			text = unzipped(f, valid[name])
		}
		f.Add(uint8(i), []byte(text))
		for _, column := range []string{"fresh_wait_p50_s", "fresh_ready"} {
			if name == "series.csv.gz" {
				f.Add(uint8(i), []byte(strings.Replace(text, column, "unknown", 1)))
			}
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, text []byte) {
		folder := maps.Clone(valid)
		name := names[int(which)%len(names)]
		folder[name] = text
		if strings.HasSuffix(name, ".gz") {
			folder[name] = zipped(string(text))
		}
		got, err := ReadStored(folder.read)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "read "+name+": ") && !strings.HasPrefix(err.Error(), "read summary: ") && !strings.HasPrefix(err.Error(), "read "+dataFile+": ") && !strings.HasPrefix(err.Error(), "read series.csv.gz: ") {
				t.Errorf("an error that does not say where: %v", err)
			}
			return
		}
		files, err := Files(got.Summary, RunInfo{}, nil)
		if err != nil {
			t.Fatalf("it is read and cannot be written: %v", err)
		}
		once := map[string][]byte{}
		for _, file := range files {
			once[file.Path] = file.Data
		}
		again, err := ReadStored(func(path string) ([]byte, error) {
			if data, ok := once[path]; ok {
				return data, nil
			}
			return nil, fs.ErrNotExist
		})
		if err != nil {
			t.Fatalf("what is written is refused: %v", err)
		}
		files, err = Files(again.Summary, RunInfo{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if !bytes.Equal(once[file.Path], file.Data) {
				t.Errorf("%s is written in two ways", file.Path)
			}
		}
	})
}

// TestNamesStayInFolder writes results of scenarios with arbitrary names: all files are below the
// given folder, two levels down.
func TestNamesStayInFolder(t *testing.T) {
	around := t.TempDir()
	hostile := []string{"..", "../..", "../../etc/passwd", "/", "/etc", "a/../../b", `..\..\x`, "x\x00y", ".", "", "~", "$HOME", "latest", "con", strings.Repeat("../", 100), strings.Repeat("é", 300), "<script>", "😀"}
	names := rapid.OneOf(rapid.SampledFrom(hostile), rapid.String())
	count := 0
	rapid.Check(t, func(rt *rapid.T) {
		count++
		out := filepath.Join(around, "out")
		dir, err := Write(Place{Out: out, Scenario: names.Draw(rt, "scenario"), ConfigHash: names.Draw(rt, "hash"), Start: time.Unix(int64(count), 0)},
			[]File{{"summary.json", []byte("{}")}})
		if err != nil {
			rt.Fatal(err)
		}
		relative, err := filepath.Rel(out, dir)
		if err != nil || !filepath.IsLocal(relative) || strings.Count(relative, string(filepath.Separator)) != 1 {
			rt.Fatalf("it is written to %s", dir)
		}
		entries, err := os.ReadDir(around)
		if err != nil || len(entries) != 1 {
			rt.Fatalf("beside the folder lies %v, %v", entries, err)
		}
	})
	for _, path := range hostile {
		if fs.ValidPath(path) && filepath.IsLocal(path) && path != "." && !strings.ContainsAny(path, "\\\x00") {
			continue
		}
		if _, err := Write(Place{Out: filepath.Join(around, "out"), Scenario: "s", ConfigHash: "h"}, []File{{path, nil}}); err == nil {
			t.Errorf("a file named %q is written", path)
		}
	}
}
