package spec

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
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

// Folder is the root of the files named in a scenario: the scenario's folder, or the program for built-in ones.
type Folder struct {
	path    string
	shipped fs.FS                // files of the program, by their paths, for the scenarios built into it; nil for others
	dists   map[string]dist.Dist // empirical distributions by file, while Load reads them
	bad     map[string]error     // errors of the files that could not be read
}

// NewFolder returns the folder at a path; shipped has the files built into the program that may stand in for its own, and
// may be nil.
func NewFolder(path string, shipped fs.FS) *Folder {
	return &Folder{path, shipped, map[string]dist.Dist{}, map[string]error{}}
}

// open opens a regular file in the folder or below it. Neither a name nor a link may lead out of the folder.
func (f *Folder) open(name string) (io.ReadCloser, error) {
	if !filepath.IsLocal(name) || strings.ContainsAny(name, "\\\x00") {
		return nil, quantity.Errorf("file %s is not in the scenario's folder: want a path such as traces/monday.csv", quantity.Quote(name))
	}
	file, err := f.openHere(name)
	if errors.Is(err, fs.ErrNotExist) && f.shipped != nil {
		if own, e := f.shipped.Open(path.Join(f.path, filepath.ToSlash(name))); e == nil {
			file, err = own, nil
		}
	}
	if err != nil {
		return nil, f.explain(name, err)
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file")
	}
	if err != nil {
		file.Close()
		return nil, f.explain(name, err)
	}
	return file, nil
}

func (f *Folder) openHere(name string) (fs.File, error) {
	root, err := os.OpenRoot(f.path)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	// Opening something that is not a file, such as a pipe, could block for ever.
	if info, err := root.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	return root.Open(name)
}

func (f *Folder) explain(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return quantity.Errorf("there is no file %s in the scenario's folder", quantity.Quote(name))
	}
	if own := (*fs.PathError)(nil); errors.As(err, &own) {
		err = own.Err
	}
	return quantity.Errorf("file %s cannot be read: %v", quantity.Quote(name), err)
}

// mostValues and the constants below limit a file of values of an empirical distribution.
const (
	mostValues     = 1_000_000
	mostValueBytes = 32 << 20
)

// values reads an empirical distribution: one value a line, in seconds or with a unit. Empty lines and text after a #
// are ignored.
func (f *Folder) values(name string) ([]Duration, error) {
	file, err := f.open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var values []Duration
	lines := bufio.NewScanner(io.LimitReader(file, mostValueBytes))
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		if quantity.IsNumber(text) {
			text += "s"
		}
		value, err := quantity.ParseDuration(text)
		if err != nil {
			return nil, quantity.Errorf("file %s, line %d: %v", quantity.Quote(name), n, err)
		}
		if values = append(values, Duration(value)); len(values) > mostValues {
			return nil, quantity.Errorf("file %s has too many values (at most %d)", quantity.Quote(name), mostValues)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, quantity.Errorf("file %s cannot be read: %v", quantity.Quote(name), err)
	}
	if len(values) == 0 {
		return nil, quantity.Errorf("file %s has no values", quantity.Quote(name))
	}
	return values, nil
}

// dist returns the distribution of the values in a file, which is read once.
func (f *Folder) dist(name string) (dist.Dist, error) {
	if _, seen := f.dists[name]; !seen && f.bad[name] == nil {
		values, err := f.values(name)
		if err == nil {
			if f.dists[name], err = dist.Empirical(inSeconds(values)); err != nil {
				err = quantity.Errorf("file %s: %v", quantity.Quote(name), err)
			}
		}
		f.bad[name] = err
	}
	return f.dists[name], f.bad[name]
}

// OpenFile opens a file named in the scenario, such as an arrival trace. The caller closes it.
func (sc *Scenario) OpenFile(name string) (io.ReadCloser, error) {
	file, err := sc.files.open(name)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", name, err)
	}
	return file, nil
}

// readValues reads the files of all empirical distributions of sc.
func (sc *Scenario) readValues() []*yaml.LoadError {
	r := valueReader{files: sc.files}
	r.walk(reflect.ValueOf(sc).Elem())
	r.walk(reflect.ValueOf(sc.retry))
	if r.failed {
		r.blame(sc.tree.Full)
	}
	return r.problems
}

// valueReader completes the empirical distributions whose values are in files.
type valueReader struct {
	files    *Folder
	failed   bool
	problems []*yaml.LoadError
}

var distributionType = reflect.TypeFor[Distribution]()

// walk completes the empirical distributions inside a value.
func (r *valueReader) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && v.Type().Elem().PkgPath() == distributionType.PkgPath() {
			r.walk(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			r.walk(v.Index(i))
		}
	case reflect.Struct:
		if v.Type() == distributionType {
			r.finish(v.Addr().Interface().(*Distribution))
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				r.walk(v.Field(i))
			}
		}
	}
}

func (r *valueReader) finish(d *Distribution) {
	if d.Kind != "empirical" || d.File == "" {
		return
	}
	var err error
	d.dist, err = r.files.dist(d.File)
	r.failed = r.failed || err != nil
}

// blame reports the errors in files of values at the YAML nodes that name the files.
func (r *valueReader) blame(node *yaml.Node) {
	if kind, file := tree.Lookup(node, "dist"), tree.Lookup(node, "file"); kind != nil && file != nil {
		if own := (*quantity.Error)(nil); errors.As(r.files.bad[file.Value], &own) {
			r.problems = append(r.problems, tree.ErrorAt(file, own))
		}
	}
	for _, child := range node.Content {
		r.blame(child)
	}
}

// linesChecked is the number of lines of a trace that are checked before the run, which reads them all.
const linesChecked = 1000

// CheckTrace returns an error if the first lines of the trace with that name, for a class, are not valid.
func (sc *Scenario) CheckTrace(class int, name string) error {
	file, err := sc.files.open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(io.LimitReader(file, mostValueBytes))
	last, n := 0.0, 0
	for n < linesChecked && lines.Scan() {
		n++
		seconds, tenant, err := TraceLine(lines.Text())
		switch {
		case err != nil:
		case seconds < last:
			err = errors.New("it is earlier than the line before")
		case tenant != "" && !sc.HasTenant(class, tenant):
			err = fmt.Errorf("class %s has no tenant %s", sc.Jobs[class].Class, quantity.Quote(tenant))
		}
		if err != nil {
			return quantity.Errorf("file %s, line %d: %v", quantity.Quote(name), n, err)
		}
		last = seconds
	}
	if err := lines.Err(); err != nil {
		return quantity.Errorf("file %s cannot be read: %v", quantity.Quote(name), err)
	}
	if n == 0 {
		return quantity.Errorf("file %s has no arrivals", quantity.Quote(name))
	}
	return nil
}
