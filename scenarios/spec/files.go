package spec

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"reflect"

	"go.yaml.in/yaml/v4"

	"qsim/engine/quantity"
	"qsim/scenarios/tree"
)

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
