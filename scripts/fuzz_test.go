package scripts

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	fuzzList   = regexp.MustCompile(`(?m)^\s*fuzzed="(.*)"$`)
	fuzzInputs = regexp.MustCompile(`:[1-9][0-9]*\b`)
	fuzzTarget = regexp.MustCompile(`(?ms)^func (Fuzz\w+)\(f \*testing\.F\) \{\n(.*?)^\}`)
)

// TestFuzzTargets checks that scripts/test runs every fuzz target of the module, and that each has seed inputs.
func TestFuzzTargets(t *testing.T) {
	script, err := os.ReadFile("test")
	if err != nil {
		t.Fatal(err)
	}
	list := fuzzList.FindSubmatch(script)
	if list == nil {
		t.Fatal("scripts/test has no list of targets")
	}
	listed := strings.Fields(fuzzInputs.ReplaceAllString(string(list[1]), ""))
	var written []string
	err = filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range fuzzTarget.FindAllSubmatch(source, -1) {
			name := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), "../") + ":" + string(m[1])
			if !strings.Contains(string(m[2]), "f.Add(") {
				t.Errorf("%s begins with nothing", name)
			}
			written = append(written, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(listed)
	slices.Sort(written)
	if !slices.Equal(listed, written) || len(written) < 5 {
		t.Errorf("scripts/test fuzzes\n%v\nwritten are\n%v", listed, written)
	}
}
