package results

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestReplaceFollowsNoLinks replaces files of a folder with links to other places: nothing outside
// it changes.
func TestReplaceFollowsNoLinks(t *testing.T) {
	around := t.TempDir()
	outside, dir := filepath.Join(around, "outside"), filepath.Join(around, "run")
	for _, folder := range []string{outside, dir} {
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	precious := filepath.Join(outside, "file")
	if err := os.WriteFile(precious, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"report.html": precious, "charts": "../outside", "hist": outside, ".unfinished-0": precious} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	if err := Replace(dir, []File{{"report.html", []byte("page")}, {"new/page.html", []byte("new")}}); err != nil {
		t.Error(err)
	}
	for _, path := range []string{"charts/1.svg", "hist/a.hgrm"} {
		if err := Replace(dir, []File{{path, []byte("drawn")}}); err == nil {
			t.Errorf("%s is written through a link", path)
		}
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
		t.Errorf("outside lies %v, %v", entries, err)
	}
	for path, want := range map[string]string{precious: "precious", filepath.Join(dir, "report.html"): "page", filepath.Join(dir, "new", "page.html"): "new"} {
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v; want %q", path, got, err, want)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".unfinished-[1-9]*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// A file that cannot be renamed, since a folder has its name, fails as one that cannot be written: commands tell failures
// to write from wrong input by the type of the error. Nothing is left beside the folder.
func TestReplaceFailsAsAWrite(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "report.html", "mine"), 0o777); err != nil {
		t.Fatal(err)
	}
	err := Replace(dir, []File{{"report.html", []byte("page")}})
	if failed, ok := errors.AsType[*fs.PathError](err); !ok || failed.Path != filepath.Join(dir, "report.html") {
		t.Errorf("got %v (%T)", err, errors.Unwrap(err))
	}
	if left := tree(t, dir); !slices.Equal(left, []string{"report.html", "report.html/mine"}) {
		t.Errorf("left %q", left)
	}
}
