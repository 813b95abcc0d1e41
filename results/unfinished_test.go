//go:build unix

package results

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// TestUmask writes files under a private umask, and under one for a group: their permissions follow it. It runs in a
// separate process, since a umask applies to the whole process.
func TestUmask(t *testing.T) {
	if os.Getenv("QSIM_TEST_UMASK") == "" {
		c := exec.Command(os.Args[0], "-test.run", "^TestUmask$")
		c.Env = append(os.Environ(), "QSIM_TEST_UMASK=1")
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	for _, umask := range []int{0o077, 0o027, 0o002} {
		syscall.Umask(umask)
		out := t.TempDir()
		dir, err := Write(place(out), []File{{"run.json", nil}, {"charts/a.svg", nil}})
		if err != nil {
			t.Fatal(err)
		}
		if err := Replace(dir, []File{{"report.html", nil}, {"more/b.svg", nil}, {"run.json", []byte("2")}}); err != nil {
			t.Fatal(err)
		}
		err = filepath.WalkDir(filepath.Join(out, "small"), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.Type()&fs.ModeSymlink != 0 {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			want := fs.FileMode(0o666)
			if d.IsDir() {
				want = 0o777
			}
			if want &^= fs.FileMode(umask); info.Mode().Perm() != want {
				t.Errorf("umask %03o: %s is %v, want %v", umask, path, info.Mode().Perm(), want)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestTidies writes where one run was killed and another is still writing: abandoned files are removed, those being
// written stay.
func TestTidies(t *testing.T) {
	out := t.TempDir()
	parent := filepath.Join(out, "small")
	for _, left := range []string{"small/.unfinished-0/charts", "small/.unfinished-1", "run/.unfinished-2", "run/charts"} {
		if err := os.MkdirAll(filepath.Join(out, left), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for _, left := range []string{"small/.unfinished-0/run.json", "run/.unfinished-0", "run/charts/.unfinished-7"} {
		if err := os.WriteFile(filepath.Join(out, left), []byte("half"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("20260101T000000Z-small", filepath.Join(parent, ".unfinished-1/latest")); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(parent)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	busy, name, err := makeTemporary(root, ".", true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Write(place(out), []File{{"run.json", nil}}); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(parent, ".unfinished-*")); len(left) != 1 || filepath.Base(left[0]) != name {
		t.Errorf("left %q, want %s, which is being written", left, name)
	}
	busy.Close()
	if _, err := Write(place(out), []File{{"run.json", nil}}); err != nil {
		t.Fatal(err)
	}
	if err := Replace(filepath.Join(out, "run"), []File{{"report.html", nil}, {"charts/a.svg", nil}}); err != nil {
		t.Fatal(err)
	}
	for _, name := range tree(t, out) {
		if ok, _ := filepath.Match(".unfinished-*", filepath.Base(name)); ok {
			t.Errorf("%s is left", name)
		}
	}
}
