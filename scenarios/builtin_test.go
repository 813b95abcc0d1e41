package scenarios

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"qsim/scenarios/tree"
)

// TestSchemaIsNamed checks that the comment in every shipped scenario leads an editor to the schema, by a path from the
// scenario's own folder.
func TestSchemaIsNamed(t *testing.T) {
	found := 0
	for _, info := range Builtin() {
		_, src, err := Open(info.Name)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(src), "\n# yaml-language-server: $schema=")
		name, _, _ := strings.Cut(rest, "\n")
		text, err := os.ReadFile(filepath.Join(filepath.Dir(info.Name), name))
		if err != nil || string(text) != string(Schema()) {
			t.Errorf("%s: its schema is %q: %v", info.Name, name, err)
		}
		if again := WithSchema(src); strings.Count(string(again), modeline+"\n") != 1 || len(again) > len(src) {
			t.Errorf("%s: with another schema:\n%s", info.Name, again)
		}
		found++
	}
	if found < 50 {
		t.Errorf("%d scenarios", found)
	}
}

func TestOpen(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "mine.yaml")
	if err := os.WriteFile(file, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	large := filepath.Join(folder, "large.yaml")
	if err := os.WriteFile(large, make([]byte, 3<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(folder)
	if err := os.Mkdir("long-jobs", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, display, prefix, err string }{
		{file, file, "mine", ""},
		{"mine.yaml", "mine.yaml", "mine", ""},
		{"retry-storm", "retry-storm.yaml", "# A dependency", ""},
		{"long-jobs", "long-jobs.yaml", "# Jobs of 8", ""}, // a folder of that name does not hide it
		{folder, "", "", "is a directory"},
		{"retry-strom", "", "", "did you mean retry-storm?"},
		{"retry-storm.yml", "", "", "did you mean retry-storm?"},
		{"mine.yml", "", "", "there is no file mine.yml and no built-in scenario of that name; did you mean mine.yaml?"},
		{filepath.Join(folder, "mime"), "", "", "did you mean " + file + "?"},
		{"nothing-like-it", "", "", "built-in scenario of that name; "},
		{"", "", "", "built-in scenario of that name; "},
		{"mine.yaml/x", "", "", "not a directory"},
		{"testdata/smallest", "", "", "there is no file"}, // embedded beside the incidents
		{"../scenarios/retry-storm", "", "", "there is no file"},
		{"a\x00b", "", "", "invalid argument"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			display, src, err := Open(tt.name)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil || display != tt.display || !strings.HasPrefix(string(src), tt.prefix) {
				t.Errorf("%q, %.20q, %v; want %q, %q", display, src, err, tt.display, tt.prefix)
			}
		})
	}
	seen := map[string]bool{}
	for _, info := range Builtin() {
		base := path.Base(info.Name)
		if seen[base] {
			t.Errorf("two built-in scenarios are named %s", base)
		}
		seen[base] = true
		for _, name := range []string{info.Name, base} {
			if display, src, err := Open(name); err != nil || display != info.Name+".yaml" || len(src) == 0 {
				t.Errorf("%s opens as %q, %d bytes, %v", name, display, len(src), err)
			}
		}
	}
	if _, src, err := Open(large); err != nil || len(src) != tree.MostBytes+1 {
		t.Errorf("%d bytes of a large file, %v; want one more than Load takes", len(src), err)
	}
}
