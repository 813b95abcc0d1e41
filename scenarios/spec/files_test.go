package spec

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
)

// TestOpen opens data files in a scenario's folder, or among those shipped with the program, and whatever is none, such
// as a pipe, which would never end.
func TestOpen(t *testing.T) {
	folder := t.TempDir()
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	outside := filepath.Join(t.TempDir(), "secret")
	write(outside, "secret")
	write(filepath.Join(folder, "own.csv"), "own")
	for _, err := range []error{os.Mkdir(filepath.Join(folder, "traces"), 0o700), os.Symlink(outside, filepath.Join(folder, "out")),
		os.Symlink("own.csv", filepath.Join(folder, "in")), syscall.Mkfifo(filepath.Join(folder, "pipe"), 0o600)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(folder, "traces", "monday.csv"), "monday")
	t.Chdir(filepath.Dir(folder))
	base, shipped := filepath.Base(folder), fstest.MapFS{}
	for _, name := range []string{"own.csv", "shipped.csv", "sub/x.csv"} {
		shipped[base+"/"+name] = &fstest.MapFile{Data: []byte("shipped")}
	}
	own, both := NewFolder(base, nil), NewFolder(base, shipped)
	for _, tt := range []struct {
		name   string
		folder *Folder
		want   string // content, or error
	}{
		{"own.csv", own, "own"},
		{"./own.csv", own, "own"},
		{"traces/monday.csv", own, "monday"},
		{"traces/../own.csv", own, "own"},
		{"in", own, "own"},
		{"own.csv", both, "own"},
		{"shipped.csv", both, "shipped"},
		{"shipped.csv", own, `there is no file "shipped.csv" in the scenario's folder`},
		{"none.csv", both, `there is no file "none.csv" in the scenario's folder`},
		{"sub", both, `file "sub" cannot be read: it is not a regular file`},
		{"traces", own, `file "traces" cannot be read: it is not a regular file`},
		{"pipe", own, `file "pipe" cannot be read: it is not a regular file`},
		{"out", own, `file "out" cannot be read: path escapes from parent`},
		{"own.csv/x", own, `file "own.csv/x" cannot be read: not a directory`},
		{"../secret", own, `file "../secret" is not in the scenario's folder: want a path such as traces/monday.csv`},
		{outside, own, `file "` + outside + `" is not in the scenario's folder: want a path such as traces/monday.csv`},
		{"", own, `file "" is not in the scenario's folder: want a path such as traces/monday.csv`},
	} {
		file, err := tt.folder.open(tt.name)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			text, _ := io.ReadAll(file)
			got = string(text)
			file.Close()
		}
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestTooLargeFile: what is read of a file of values is all of it, or an error.
func TestTooLargeFile(t *testing.T) {
	folder := t.TempDir()
	for name, lines := range map[string]int{"fits": mostValueBytes / 1024, "large": mostValueBytes/1024 + 1} {
		text := "1s\n" + strings.Repeat("#"+strings.Repeat(" ", 1022)+"\n", lines-1) + "#" + strings.Repeat(" ", 1016) + "\n" + "2s\n"
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if values, err := NewFolder(folder, nil).values("fits"); len(values) != 2 || err != nil {
		t.Errorf("%d values, %v", len(values), err)
	}
	const want = `file "large" is too large (at most 32 MiB)`
	if values, err := NewFolder(folder, nil).values("large"); err == nil || err.Error() != want {
		t.Errorf("%d values, %v, want %s", len(values), err, want)
	}
}
