package imports

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"qsim/scenarios"
)

// Target is what Write writes.
type Target struct {
	Scenario string   // path of the scenario; other files are beside it, under its name
	Force    bool     // overwrite what is there
	Workers  int      // of each node; 0: as many as were found
	Nodes    int      // 0: as many as were found
	Seeds    int      // of the scenario; 0: 5
	Keep     []string // files that must not be overwritten, Force or not: those that are imported
}

// ErrExists is that of a file that is there already.
var ErrExists = fs.ErrExist

// Written is a scenario that was made of records.
type Written struct {
	Path     string
	Files    []string // beside it
	Scenario *scenarios.Scenario
	Workers  int // of each node
	Nodes    int
}

const (
	mostNamed = 200  // tenants of a class that are named
	mostKept  = 5000 // values of an empirical distribution
	emptyTail = time.Second
	longest   = 1000 * 24 * time.Hour // of a run with one node, which looks for jobs ten times a second
)

// writing is under way.
type writing struct {
	*Recording
	target Target
	folder string
	name   string
	made   []string // paths, removed if something fails
}

// Write writes the scenario with its traces and values, and loads it again. It may be called
// once.
func (r *Recording) Write(target Target) (written *Written, err error) {
	base := filepath.Base(target.Scenario)
	w := &writing{Recording: r, target: target, folder: filepath.Dir(target.Scenario), name: strings.TrimSuffix(base, filepath.Ext(base))}
	written = &Written{Path: target.Scenario, Workers: target.Workers, Nodes: target.Nodes}
	if written.Workers == 0 {
		written.Workers = max(1, r.Workers.Each)
	}
	if written.Nodes == 0 {
		written.Nodes = max(1, r.Workers.Nodes)
		if target.Workers > 0 && !r.Workers.Named {
			written.Nodes = 1
		}
	}
	if slug(w.name, true) != w.name {
		return nil, fmt.Errorf("%s: want a name of a-z, 0-9 and - before .yaml", base)
	}
	defer func() {
		if err != nil {
			for _, path := range w.made {
				err = errors.Join(err, os.Remove(path))
			}
		}
	}()
	if err := w.traces(); err != nil {
		return nil, err
	}
	text := w.text(written)
	for i := range r.Classes {
		if err := w.values(&r.Classes[i]); err != nil {
			return nil, err
		}
	}
	if err := w.file(target.Scenario, func(to *bufio.Writer) error { _, err := to.WriteString(text); return err }); err != nil {
		return nil, err
	}
	for _, path := range w.made {
		if path != target.Scenario {
			written.Files = append(written.Files, path)
		}
	}
	slices.Sort(written.Files)
	sc, problems := scenarios.Load(target.Scenario, []byte(text), nil)
	if sc == nil {
		return nil, fmt.Errorf("the scenario would not load: %s", problems.Errors()[0].Message)
	}
	written.Scenario = sc
	return written, nil
}

// file writes a file that must not be there, unless it may be overwritten.
func (w *writing) file(path string, fill func(to *bufio.Writer) error) (err error) {
	file, err := w.create(path)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	to := bufio.NewWriterSize(file, 1<<16)
	if err := fill(to); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := to.Flush(); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// create makes a file, or empties it if it may be overwritten.
func (w *writing) create(path string) (*os.File, error) {
	there, err := os.Stat(path)
	for _, keep := range w.target.Keep {
		own, missing := os.Stat(keep)
		if err == nil && missing == nil && os.SameFile(there, own) {
			return nil, fmt.Errorf("%s is what is imported: give the scenario another name with -o", path)
		}
	}
	mode := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if w.target.Force {
		mode = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	file, err := os.OpenFile(path, mode, 0o644)
	if err == nil {
		w.made = append(w.made, path)
	}
	return file, err
}

// beside is the path of a file of a class.
func (w *writing) beside(class *Class, what string) string { return w.name + "-" + class.Name + what }

// traces writes the arrivals of every class, which come class by class.
func (w *writing) traces() error {
	var to *bufio.Writer
	var file *os.File
	current := -1
	closing := func() error {
		if file == nil {
			return nil
		}
		err := errors.Join(to.Flush(), file.Close())
		file = nil
		return err
	}
	var line []byte
	err := w.arrivals.each(func(a *arrival) error {
		class := w.index[a.class]
		if class != current {
			if err := closing(); err != nil {
				return err
			}
			current = class
			var err error
			if file, err = w.create(filepath.Join(w.folder, w.beside(&w.Classes[class], ".csv"))); err != nil {
				return err
			}
			to = bufio.NewWriterSize(file, 1<<16)
		}
		line = appendSeconds(line[:0], a.at.since(w.origin))
		if c := &w.Classes[class]; len(c.Tenants) > 0 {
			line = append(line, ',')
			line = append(line, c.tenant(w.tenants[a.tenant])...)
		}
		line = append(line, '\n')
		_, err := to.Write(line)
		return err
	})
	if err = errors.Join(err, closing()); err != nil {
		return fmt.Errorf("write a trace: %w", err)
	}
	return nil
}

// appendSeconds writes exactly, without zeros at the end.
func appendSeconds(to []byte, d time.Duration) []byte {
	to = strconv.AppendInt(to, int64(d/time.Second), 10)
	if rest := int64(d % time.Second); rest > 0 {
		text := strconv.FormatInt(rest+int64(time.Second), 10)
		to = append(to, '.')
		to = append(to, strings.TrimRight(text[1:], "0")...)
	}
	return to
}

// tenant is how a trace names one: jobs without one belong to another.
func (c *Class) tenant(name string) string {
	at, found := slices.BinarySearch(c.Tenants, name)
	if !found {
		at = len(c.Tenants)
	}
	if names := c.tenantNames(); names != nil {
		return names[at]
	}
	return strconv.Itoa(at)
}

// tenantNames are names for tenants as scenarios have them, the last for nobody's; nil: there
// are too many.
func (c *Class) tenantNames() []string {
	if len(c.Tenants) > mostNamed {
		return nil
	}
	if c.named != nil {
		return c.named
	}
	n := classNames{}
	for _, t := range c.Tenants {
		n.names = append(n.names, n.unused(slug(t, true)))
	}
	c.named = append(n.names, n.unused("none"))
	return c.named
}

// values writes the run times of a class for which no distribution stands.
func (w *writing) values(c *Class) error {
	for _, t := range []struct {
		times *Times
		what  string
	}{{&c.Service, "-service.txt"}, {&c.Takes, "-takes.txt"}} {
		if !t.times.inFile(t.what == "-takes.txt") {
			continue
		}
		values := t.times.kept()
		err := w.file(filepath.Join(w.folder, w.beside(c, t.what)), func(to *bufio.Writer) error {
			fmt.Fprintf(to, "# seconds: %d of %d run times of class %s\n", len(values), t.times.Seen, c.Name)
			for _, v := range values {
				if _, err := to.WriteString(strconv.FormatFloat(v, 'f', -1, 64) + "\n"); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// inFile reports whether the values themselves stand for the times. Of failures too few say
// nothing: they take as long as successes.
func (t *Times) inFile(failures bool) bool {
	if failures && len(t.Values) < FewestToFit {
		return false
	}
	return t.Chosen < 0 && len(t.Values) > 0
}

// kept are some of the values, at equal ranks.
func (t *Times) kept() []float64 {
	if len(t.Values) <= mostKept {
		return t.Values
	}
	values := make([]float64, mostKept)
	for i := range values {
		values[i] = t.Values[(2*i+1)*len(t.Values)/(2*mostKept)]
	}
	return values
}
