package scenarios

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"qsim/scenarios/diagnostics"
)

var rewrite = flag.Bool("rewrite", false, "write what the tests see into their golden files")

// TestBadFiles compares the diagnostics of every broken scenario file in testdata with the recorded ones. Each must
// have an error, and none may keep the loader busy.
func TestBadFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil || len(files) < 150 {
		t.Fatalf("%d broken files, %v; want at least 150", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			start := busy(t)
			sc, ds := Load(file, src, nil)
			if took := busy(t) - start; took > 10*time.Second {
				t.Errorf("took %v of processor time", took)
			}
			if sc != nil || len(ds.Errors()) == 0 {
				t.Errorf("loaded, with %d errors: want it refused", len(ds.Errors()))
			}
			golden(t, strings.TrimSuffix(file, ".yaml")+".txt", render(t, filepath.Base(file), src, ds))
		})
	}
}

func render(t *testing.T, name string, src []byte, ds diagnostics.List) []byte {
	t.Helper()
	return []byte(ds.Text(name, src))
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *rewrite {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got; -rewrite accepts it):\n%s", file, diff)
	}
}
