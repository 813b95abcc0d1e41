package results

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
)

// unfinished is the prefix of the names of files and folders that are still being written.
const unfinished = ".unfinished-"

// errLocked is the error for a file whose lock another process holds.
var errLocked = errors.New("locked")

// Temporary creates a file, or a folder, in dir, which is relative to root, under a name that is not taken: the caller
// renames it once it is complete. Until it is closed it is locked, so that Tidy leaves it alone.
func Temporary(root *os.Root, dir string, folder bool) (f *os.File, name string, err error) {
	for n := range mostCollisions {
		name = filepath.Join(dir, unfinished+strconv.Itoa(n))
		if !folder {
			f, err = root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		} else if err = root.Mkdir(name, 0o777); err == nil {
			f, err = root.Open(name)
		}
		switch {
		case errors.Is(err, fs.ErrExist), folder && errors.Is(err, fs.ErrNotExist): // tidied away before it was locked
			continue
		case err != nil:
			return nil, "", err
		}
		if !errors.Is(lock(f), errLocked) && isStill(root, name, f) {
			return f, name, nil
		}
		_ = f.Close() // it was tidied away
	}
	return nil, "", errors.Join(err, errors.New("too many unfinished files"))
}

// isStill reports whether the path name, within root, still leads to the open file f.
func isStill(root *os.Root, name string, f *os.File) bool {
	there, err := root.Lstat(name)
	opened, e := f.Stat()
	return err == nil && e == nil && os.SameFile(there, opened)
}

// Tidy removes from dir, which is relative to root, the unfinished files and folders of processes that have ended.
func Tidy(root *os.Root, dir string) {
	names, _ := fs.Glob(root.FS(), path.Join(filepath.ToSlash(dir), unfinished+"*"))
	for _, name := range names {
		f, err := root.Open(filepath.FromSlash(name))
		if err != nil {
			continue
		}
		if lock(f) == nil {
			_ = root.RemoveAll(filepath.FromSlash(name)) // what cannot be removed is in nobody's way
		}
		_ = f.Close()
	}
}
