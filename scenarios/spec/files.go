package spec

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v4"

	"qsim/engine/dist"
	"qsim/engine/quantity"
	"qsim/scenarios/tree"
)

// Folder is the folder of a scenario's data files (values, traces): that of the scenario's own file and, for a built-in
// scenario, also the files embedded in the program. It remembers the distributions read.
type Folder struct {
	path    string
	shipped fs.FS                      // files of the program by path, for its own scenarios; nil for others
	dists   map[string]dist.Dist       // empirical distributions by file, while Load reads them
	bad     map[string]*quantity.Error // errors of the files that could not be read
}

// NewFolder returns the Folder at a path. Where it lacks a file, shipped, if not nil, is searched: the embedded files.
func NewFolder(path string, shipped fs.FS) *Folder {
	return &Folder{path, shipped, map[string]dist.Dist{}, map[string]*quantity.Error{}}
}

// open opens a regular file in the folder or below it. Neither a name nor a link may lead out of the folder.
func (f *Folder) open(name string) (io.ReadCloser, error) {
	if !filepath.IsLocal(name) || strings.ContainsAny(name, "\\\x00") {
		return nil, quantity.Errorf("file %s is not in the scenario's folder: want a path such as traces/monday.csv",
			quantity.Quote(name))
	}
	var file fs.File
	root, err := os.OpenRoot(f.path)
	if err == nil {
		defer root.Close()
		file, err = openRegular(root.FS(), path.Clean(filepath.ToSlash(name)))
	}
	if errors.Is(err, fs.ErrNotExist) && f.shipped != nil {
		file, err = openRegular(f.shipped, path.Join(f.path, filepath.ToSlash(name)))
	}
	if own := (*fs.PathError)(nil); errors.As(err, &own) {
		err = own.Err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, quantity.Errorf("there is no file %s in the scenario's folder", quantity.Quote(name))
	case err != nil:
		return nil, quantity.Errorf("file %s cannot be read: %v", quantity.Quote(name), err)
	}
	return file, nil
}

// openRegular opens a regular file. Opening something else, such as a pipe, could block for ever.
func openRegular(files fs.FS, name string) (fs.File, error) {
	info, err := fs.Stat(files, name)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file")
	}
	if err != nil {
		return nil, err
	}
	return files.Open(name)
}

// mostValues and mostValueBytes limit a data file: values of an empirical distribution, and bytes of any file.
const (
	mostValues     = 1_000_000
	mostValueBytes = 32 << 20
)

// eachLine calls use with each line of a file in the folder, up to most lines or the first error, and counts the lines.
func (f *Folder) eachLine(name string, most int, use func(line string) error) (n int, err error) {
	file, err := f.open(name)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	content := &io.LimitedReader{R: file, N: mostValueBytes + 1}
	lines := bufio.NewScanner(content)
	for n < most && lines.Scan() {
		n++
		if err := use(lines.Text()); err != nil {
			return n, quantity.Errorf("file %s, line %d: %v", quantity.Quote(name), n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return n, quantity.Errorf("file %s cannot be read: %v", quantity.Quote(name), err)
	}
	if content.N == 0 {
		return n, quantity.Errorf("file %s is too large (at most %d MiB)", quantity.Quote(name), mostValueBytes>>20)
	}
	return n, nil
}

// values reads the values of an empirical distribution from a file: one duration a line, a number of seconds or with a
// unit. Empty lines and text after a # are ignored.
func (f *Folder) values(name string) (values []Duration, err error) {
	_, err = f.eachLine(name, math.MaxInt, func(line string) error {
		text, _, _ := strings.Cut(line, "#")
		if text = strings.TrimSpace(text); text == "" || len(values) > mostValues {
			return nil
		}
		if quantity.IsNumber(text) {
			text += "s"
		}
		value, err := quantity.ParseDuration(text)
		values = append(values, Duration(value))
		return err
	})
	switch {
	case err == nil && len(values) > mostValues:
		err = quantity.Errorf("file %s has too many values (at most %d)", quantity.Quote(name), mostValues)
	case err == nil && len(values) == 0:
		err = quantity.Errorf("file %s has no values", quantity.Quote(name))
	}
	return values, err
}

// dist returns the empirical distribution of the values in a file of the folder, in seconds, or notes in bad why there
// is none. The file is read once.
func (f *Folder) dist(name string) dist.Dist {
	if _, seen := f.dists[name]; !seen && f.bad[name] == nil {
		values, err := f.values(name)
		if err == nil {
			if f.dists[name], err = empirical(values); err != nil {
				err = quantity.Errorf("file %s: %v", quantity.Quote(name), err)
			}
		}
		if own := (*quantity.Error)(nil); errors.As(err, &own) {
			f.bad[name] = own
		}
	}
	return f.dists[name]
}

// OpenFile opens a data file named by the scenario, such as a trace of arrivals, from its folder. The caller closes it.
func (sc *Scenario) OpenFile(name string) (io.ReadCloser, error) {
	file, err := sc.files.open(name)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", name, err)
	}
	return file, nil
}

// HashFile adds the name and the content of a data file that the scenario names to a hash.
func (sc *Scenario) HashFile(sum io.Writer, name string) error {
	file, err := sc.OpenFile(name)
	if err != nil {
		return err
	}
	fmt.Fprintf(sum, "%d:%s;", len(name), name)
	_, err = io.Copy(sum, file)
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	return nil
}

// complete reads the files of all empirical distributions inside v, a Scenario or a part of it, found by reflection.
// The errors in them are appended to problems, each at the YAML node that names the file.
func (f *Folder) complete(v reflect.Value, problems []*yaml.LoadError) []*yaml.LoadError {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && v.Type().Elem().PkgPath() == reflect.TypeFor[Distribution]().PkgPath() {
			return f.complete(v.Elem(), problems)
		}
	case reflect.Slice:
		for i := range v.Len() {
			problems = f.complete(v.Index(i), problems)
		}
	case reflect.Struct:
		if d, ok := v.Addr().Interface().(*Distribution); ok {
			if d.Kind == "empirical" && d.File != "" {
				d.dist = f.dist(d.File)
				if bad := f.bad[d.File]; bad != nil {
					problems = append(problems, tree.ErrorAt(d.named, bad))
				}
			}
			return problems
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				problems = f.complete(v.Field(i), problems)
			}
		}
	}
	return problems
}

// linesChecked is the number of lines of an arrival trace that Load checks; a run reads, and checks, all of them.
const linesChecked = 1000

// CheckTrace returns an error if one of the first linesChecked lines in a file of arrivals for a class is not valid.
func (sc *Scenario) CheckTrace(class int, name string) error {
	last := 0.0
	n, err := sc.files.eachLine(name, linesChecked, func(line string) error {
		seconds, tenant, err := TraceLine(line)
		switch {
		case err != nil:
		case seconds < last:
			err = errors.New("it is earlier than the line before")
		case tenant != "" && sc.TenantIndex(class, tenant) < 0:
			err = fmt.Errorf("class %s has no tenant %s", sc.Jobs[class].Class, quantity.Quote(tenant))
		}
		last = seconds
		return err
	})
	if err == nil && n == 0 {
		return quantity.Errorf("file %s has no arrivals", quantity.Quote(name))
	}
	return err
}
