package results

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"qsim/results/plain"
)

func place(out string) Place {
	zone := time.FixedZone("elsewhere", 5*3600)
	return Place{Out: out, Scenario: "small", ConfigHash: "0a1b2c3d", Start: time.Date(2026, 11, 21, 14, 4, 0, 0, zone)}
}

// tree lists the files below dir, and links with their targets.
func tree(t *testing.T, dir string) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		if target, err := os.Readlink(path); err == nil {
			name += " -> " + target
		}
		list = append(list, name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestWrite(t *testing.T) {
	out := t.TempDir()
	files := []File{{"run.json", []byte("1")}, {"charts/a.svg", []byte("2")}, {"hist/deep/b", nil}}
	dir, err := Write(place(out), files)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Write(place(out), files[:1])
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(out, "small", "20261121T090400Z-0a1b2c3d"); dir != want || again != want+"-2" {
		t.Errorf("folders %s and %s, want %s", dir, again, want)
	}
	want := []string{
		"small", "small/20261121T090400Z-0a1b2c3d", "small/20261121T090400Z-0a1b2c3d-2", "small/20261121T090400Z-0a1b2c3d-2/run.json",
		"small/20261121T090400Z-0a1b2c3d/charts", "small/20261121T090400Z-0a1b2c3d/charts/a.svg", "small/20261121T090400Z-0a1b2c3d/hist",
		"small/20261121T090400Z-0a1b2c3d/hist/deep", "small/20261121T090400Z-0a1b2c3d/hist/deep/b", "small/20261121T090400Z-0a1b2c3d/run.json",
		"small/latest -> 20261121T090400Z-0a1b2c3d-2",
	}
	got := tree(t, out)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("tree = %q", got)
	}
	if data, err := os.ReadFile(filepath.Join(out, "small/latest/run.json")); err != nil || string(data) != "1" {
		t.Errorf("latest/run.json = %q, %v", data, err)
	}
}

// Names that lead elsewhere, and a file that cannot be written, leave nothing behind.
func TestWriteFailsCleanly(t *testing.T) {
	for _, path := range []string{"../x", "/etc/x", "a/../../x", "", ".", "a//b", "a\\..\\x", "a\x00b", "./a"} {
		out := t.TempDir()
		if dir, err := Write(place(out), []File{{"run.json", nil}, {path, nil}}); err == nil || dir != "" || !strings.Contains(err.Error(), "does not stay inside") {
			t.Errorf("%q: wrote %q, %v", path, dir, err)
		}
		if left := tree(t, out); len(left) != 0 {
			t.Errorf("%q: left %q", path, left)
		}
	}
	for _, files := range [][]File{{{"a", nil}, {"a", nil}}, {{"a", nil}, {"a/b", nil}}, {{strings.Repeat("x", 300), nil}}} {
		out := t.TempDir()
		if dir, err := Write(place(out), files); err == nil || dir != "" {
			t.Errorf("wrote %q, %v", dir, err)
		}
		if left := tree(t, out); !slices.Equal(left, []string{"small"}) {
			t.Errorf("left %q", left)
		}
	}
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Write(place(blocked), nil); err == nil {
		t.Error("wrote below a file")
	}
}

// Writable finds, and leaves nothing behind, what Write would fail on at the end of a run.
func TestWritable(t *testing.T) {
	out := t.TempDir()
	if err := os.WriteFile(filepath.Join(out, "file"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", filepath.Join(out, "link")); err != nil {
		t.Fatal(err)
	}
	for folder, want := range map[string]string{"": "", "new/folder": "", "file": "not a directory", "file/folder": "not a directory",
		"link": "no such file", strings.Repeat("x", 300): "too long"} {
		err := place(filepath.Join(out, folder)).Writable()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", folder, err, want)
		}
		if dir, err := Write(place(filepath.Join(out, folder)), nil); (err == nil) != (want == "") {
			t.Errorf("%q: Write gives %q, %v", folder, dir, err)
		} else if err == nil {
			err = os.RemoveAll(filepath.Join(out, strings.Split(folder+"/", "/")[0], plain.When(folder == "", "small")))
			if err != nil {
				t.Fatal(err)
			}
		}
		if left := tree(t, out); !slices.Equal(left, []string{"file", "link -> nowhere"}) {
			t.Fatalf("%q: left %q", folder, left)
		}
	}
}

// A folder in which another process tidies meanwhile is writable.
func TestWritableWhileOthersTidy(t *testing.T) {
	out := t.TempDir()
	root, err := os.OpenRoot(out)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	var over atomic.Bool
	var other sync.WaitGroup
	other.Go(func() {
		for !over.Load() {
			tidy(root, ".")
		}
	})
	for range 2000 {
		if err := Writable(out); err != nil {
			t.Error(err)
			break
		}
	}
	over.Store(true)
	other.Wait()
}

// A folder named latest is not overwritten; the results stay.
func TestWriteWithoutLatest(t *testing.T) {
	out := t.TempDir()
	if err := os.MkdirAll(filepath.Join(out, "small", "latest", "mine"), 0o777); err != nil {
		t.Fatal(err)
	}
	dir, err := Write(place(out), []File{{"run.json", nil}})
	if err == nil || dir == "" || !strings.Contains(err.Error(), "point latest") {
		t.Errorf("wrote %q, %v", dir, err)
	}
	if left := tree(t, filepath.Join(out, "small")); len(left) != 4 {
		t.Errorf("left %q", left)
	}
}

// A scenario's name cannot lead out of the folder either.
func TestWriteSlugsTheScenario(t *testing.T) {
	out := t.TempDir()
	at := place(filepath.Join(out, "runs"))
	at.Scenario, at.ConfigHash = "../../🚀", "../x"
	dir, err := Write(at, nil)
	if want := filepath.Join(out, "runs", "unnamed-74fa6154", "20261121T090400Z-x"); err != nil || dir != want {
		t.Errorf("wrote %q, %v, want %q", dir, err, want)
	}
}

// Scenarios with different names have different folders, and no folder's name looks like a flag.
func TestFoldersOfScenarios(t *testing.T) {
	taken := map[string]string{}
	for _, name := range []string{"rf", "-rf", "rf-", "r-f", "r--f", "R-F", "", "unnamed", strings.Repeat("a", 80), strings.Repeat("a", 81), "🚀", "火箭", ".."} {
		folder := folderOf(name)
		if other, found := taken[folder]; found || strings.HasPrefix(folder, "-") || slug(folder) != folder && len(folder) <= longestSlug {
			t.Errorf("the folder of %q is %s, that of %q", name, folder, other)
		}
		taken[folder] = name
	}
	if folder := folderOf("retry-storm"); folder != "retry-storm" {
		t.Errorf("the folder of retry-storm is %s", folder)
	}
}

func TestSlugs(t *testing.T) {
	labels := []string{"Shared FIFO", "shared fifo", "../../etc/passwd", "🚀", "火箭", "In-flight cap 20%", "", "unnamed", strings.Repeat("ab-", 60), "shared-fifo-2"}
	want := []string{"shared-fifo", "shared-fifo-2", "etc-passwd", "unnamed", "unnamed-2", "in-flight-cap-20", "unnamed-3", "unnamed-4",
		strings.TrimSuffix(strings.Repeat("ab-", 27)[:80], "-"), "shared-fifo-2-2"}
	if got := Slugs(labels); !slices.Equal(got, want) {
		t.Errorf("slugs = %q\nwant    %q", got, want)
	}
}

func TestFiles(t *testing.T) {
	sum := summarized(t, 3)
	sum.Policies[1].Label = "../Weighted 🚀"
	files, err := Files(sum, RunInfo{Version: "1.2.3"}, []byte("name: small\n"))
	if err != nil {
		t.Fatal(err)
	}
	content := make(map[string][]byte)
	for _, f := range files {
		if err := checkPath(f.Path); err != nil {
			t.Error(err)
		}
		content[f.Path] = f.Data
	}
	for _, path := range []string{"run.json", "scenario.yaml", "summary.json", "summary.csv", "series.csv.gz", "hist/fifo-fresh-wait.hgrm",
		"hist/weighted-fresh-wait-during-down.hgrm", "hist/weighted-sojourn.hgrm"} {
		if len(content[path]) == 0 {
			t.Errorf("%s is missing or empty", path)
		}
	}
	if !bytes.Contains(content["run.json"], []byte(`"version": "1.2.3"`)) || string(content["scenario.yaml"]) != "name: small\n" {
		t.Error("run.json or scenario.yaml does not hold what it was given")
	}
	rows := readCSV(t, bytes.NewReader(content["summary.csv"]))
	if len(rows) != 1+2*(len(sum.Policies[0].Metrics)+len(sum.Policies[0].Filtered)) || len(rows[0]) != 19 {
		t.Errorf("summary.csv has %d rows of %d", len(rows), len(rows[0]))
	}
	zip, err := gzip.NewReader(bytes.NewReader(content["series.csv.gz"]))
	if err != nil {
		t.Fatal(err)
	}
	if !zip.ModTime.IsZero() || zip.Name != "" {
		t.Errorf("series.csv.gz holds a time or a name: %v, %q", zip.ModTime, zip.Name)
	}
	series := readCSV(t, zip)
	if len(series) != 1+2*3*10 || !slices.Equal(series[1][:3], []string{"FIFO", "1", "0"}) || !slices.Equal(series[12][:3], []string{"FIFO", "2", "10"}) {
		t.Errorf("series.csv has %d rows: %q, %q", len(series), series[1], series[12])
	}
	sum.Data = nil
	if stored, err := Files(sum, RunInfo{}, nil); err != nil || len(stored) != 4 {
		t.Errorf("without data: %d files, %v", len(stored), err)
	}
	if _, err := Files(sum, RunInfo{Took: math.NaN()}, nil); err == nil {
		t.Error("NaN in run.json is no error")
	}
}

func readCSV(t *testing.T, r io.Reader) [][]string {
	t.Helper()
	rows, err := csv.NewReader(r).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}
