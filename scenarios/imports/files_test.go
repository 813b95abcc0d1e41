package imports

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// contents returns all files of a folder with their names as one text, in order of the names.
func contents(t *testing.T, folder string) string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString("-- " + e.Name() + " --\n" + string(text))
	}
	return b.String()
}
