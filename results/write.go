package results

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"qsim/results/plain"
)

// File is a file in the folder of a run's results: its path and its content.
type File struct {
	Path string // slash-separated, relative to the folder and inside it
	Data []byte
}

// Place determines the path of a run's folder: <Out>/<Scenario>/<UTC>-<ConfigHash>, with -2, -3... if that one exists.
type Place struct {
	Out, Scenario, ConfigHash string
	Start                     time.Time
}

// parent returns the folder that holds the folders of a scenario's runs.
func (p Place) parent() string { return filepath.Join(p.Out, folderOf(p.Scenario)) }

// Writable returns an error if Write would fail, for a command to notice before it simulates.
func (p Place) Writable() error { return Writable(p.parent()) }

// Writable returns an error if no file can be created in a folder or, if that does not exist, the folder itself cannot.
// It leaves nothing behind.
func Writable(folder string) error {
	_, err := os.Lstat(folder)
	if up := filepath.Dir(folder); errors.Is(err, fs.ErrNotExist) && up != folder {
		return Writable(up)
	}
	if err != nil {
		return err
	}
	probe, err := os.CreateTemp(folder, unfinished)
	if err != nil {
		return &fs.PathError{Op: "create files in", Path: folder, Err: errors.Unwrap(err)}
	}
	if err = os.Remove(probe.Name()); errors.Is(err, fs.ErrNotExist) {
		err = nil // another process that writes there took it for a file left behind, see tidy
	}
	return errors.Join(err, probe.Close())
}

// mostCollisions is the highest number of run folders of one scenario begun in one second.
const mostCollisions = 1000

// Write writes files into a new folder and returns its path. The folder appears whole and safely on disk, or not at
// all: on an error nothing is left behind but the folders above it. The link "latest" beside the folder is set to it;
// if only that fails, Write returns the folder with the error.
func Write(at Place, files []File) (dir string, err error) {
	parent := at.parent()
	for i := range files {
		if err := checkPath(files[i].Path); err != nil {
			return "", err
		}
	}
	if err := os.MkdirAll(parent, 0o777); err != nil {
		return "", err
	}
	root, err := os.OpenRoot(parent)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	tidy(root, ".")
	folder, temporary, err := makeTemporary(root, ".", true)
	if err != nil {
		return "", err
	}
	temporary = filepath.Join(parent, temporary)
	defer func() {
		err = errors.Join(err, folder.Close())
		if dir == "" {
			err = errors.Join(err, os.RemoveAll(temporary))
		}
	}()
	if err := put(temporary, files, func(root *os.Root, path string, data []byte) error {
		return root.WriteFile(path, data, 0o666) // nobody reads it before its folder is renamed
	}); err != nil {
		return "", err
	}
	if err := filepath.WalkDir(temporary, func(path string, _ fs.DirEntry, err error) error {
		return cmp.Or(err, flush(path))
	}); err != nil {
		return "", err
	}
	name := at.Start.UTC().Format("20060102T150405Z") + "-" + slug(at.ConfigHash)
	if dir, err = moveTo(temporary, filepath.Join(parent, name)); err != nil {
		return "", err
	}
	if err := errors.Join(flush(parent), pointLatest(root, filepath.Base(dir))); err != nil {
		return dir, fmt.Errorf("point latest to %s: %w", dir, err)
	}
	return dir, nil
}

// Replace writes files into the existing folder of a run, in place of those with the same names. Each appears whole or
// not at all; on an error some may have been replaced. It does not follow links that lead out of the folder.
func Replace(dir string, files []File) error {
	return put(dir, files, func(root *os.Root, path string, data []byte) error {
		tidy(root, filepath.Dir(path))
		return writeFile(root, path, data)
	})
}

// put writes files into a folder by the function write, one by one, with the folders that they need.
func put(dir string, files []File, write func(root *os.Root, path string, data []byte) error) (err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	for i, f := range files {
		if slices.ContainsFunc(files[:i], func(other File) bool { return other.Path == f.Path }) {
			return fmt.Errorf("file %s is there twice", f.Path)
		}
		if err := checkPath(f.Path); err != nil {
			return err
		}
		path := filepath.FromSlash(f.Path)
		if err := root.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return fmt.Errorf("in %s: %w", dir, err)
		}
		if err := write(root, path, f.Data); err != nil {
			return err
		}
	}
	return nil
}

// writeFile writes a file, whose path is relative to root, atomically: a concurrent reader sees all of it or nothing,
// and so does one after a power failure. The data go to a temporary file beside it, which is then renamed.
func writeFile(root *os.Root, path string, data []byte) error {
	temporary, name, err := makeTemporary(root, filepath.Dir(path), false)
	if err != nil {
		return fmt.Errorf("in %s: %w", root.Name(), err)
	}
	if _, err = temporary.Write(data); err == nil {
		err = temporary.Sync()
	}
	if err == nil {
		err = root.Rename(name, path)
		if link, ok := errors.AsType[*os.LinkError](err); ok { // what it names is relative to the folder
			err = &fs.PathError{Op: "rename to", Path: filepath.Join(root.Name(), path), Err: link.Err}
		}
	}
	err = errors.Join(err, temporary.Close()) // until then nobody takes it for a leftover
	if err != nil {
		_ = root.Remove(name)
	}
	return err
}

// checkPath returns an error for a path that leads out of its folder or that some operating system cannot store.
func checkPath(path string) error {
	if !fs.ValidPath(path) || path == "." || !filepath.IsLocal(filepath.FromSlash(path)) ||
		strings.ContainsAny(path, "\\\x00") {
		return fmt.Errorf("file name %q does not stay inside the folder", path)
	}
	return nil
}

// flush waits until a file, or the names in a folder, are safely on disk.
func flush(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// moveTo renames a folder to the first free one of the names to, to-2, to-3 and so on.
func moveTo(from, to string) (dir string, err error) {
	for i := 1; i <= mostCollisions; i++ {
		dir = to + plain.When(i > 1, "-"+strconv.Itoa(i))
		if _, err := os.Lstat(dir); err == nil {
			continue
		}
		err := os.Rename(from, dir) // refused if another process has just filled dir
		if err == nil {
			return dir, nil
		}
		if _, taken := os.Lstat(dir); taken != nil {
			return "", err
		}
	}
	return "", fmt.Errorf("%s and %d more are taken", to, mostCollisions-1)
}

// pointLatest makes the link "latest" in parent point to name, atomically. The link is made in a temporary folder,
// which tidy removes if the process is killed in between.
func pointLatest(parent *os.Root, name string) (err error) {
	folder, temporary, err := makeTemporary(parent, ".", true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, parent.RemoveAll(temporary), folder.Close()) }()
	link := filepath.Join(temporary, "latest")
	if err := parent.Symlink(name, link); err != nil {
		return err
	}
	return parent.Rename(link, "latest")
}

// folderOf returns the name of the folder for a scenario's runs: its own name if that is safe, or else its slug with a
// hash that distinguishes names with the same slug.
func folderOf(scenario string) string {
	name := slug(scenario)
	if name != scenario {
		hash := fnv.New32a()
		_, _ = hash.Write([]byte(scenario))
		name += fmt.Sprintf("-%08x", hash.Sum32())
	}
	return name
}

// slug turns s into a file name of a-z, 0-9 and "-", where one "-" replaces each run of other characters.
func slug(s string) string {
	other := func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }
	name := strings.Join(strings.FieldsFunc(strings.ToLower(s), other), "-")
	if len(name) > longestSlug {
		name = strings.TrimRight(name[:longestSlug], "-")
	}
	return cmp.Or(name, "unnamed")
}

// longestSlug is the highest number of characters of a slug: it leaves room for the rest of a file name.
const longestSlug = 80

// Slugs turns labels into distinct file names of a-z, 0-9 and "-", in the same order.
func Slugs(labels []string) []string { return plain.Numbered(plain.Map(labels, slug)) }

// unfinished is the prefix of the names of files and folders that are still being written.
const unfinished = ".unfinished-"

// errLocked is the error for a file whose lock another process holds.
var errLocked = errors.New("locked")

// makeTemporary creates a file, or a folder, in dir, which is relative to root, under a name that is not taken: the
// caller renames it once it is complete. Until it is closed it is locked, so that tidy leaves it alone.
func makeTemporary(root *os.Root, dir string, folder bool) (f *os.File, name string, err error) {
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

// isStill reports whether the path name, within root, still leads to the open file f, or f was tidied away.
func isStill(root *os.Root, name string, f *os.File) bool {
	there, err := root.Lstat(name)
	opened, e := f.Stat()
	return err == nil && e == nil && os.SameFile(there, opened)
}

// tidy removes from dir, which is relative to root, the unfinished files and folders of processes that have ended.
func tidy(root *os.Root, dir string) {
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
