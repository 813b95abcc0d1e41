package imports

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"qsim/results/measure"
	"qsim/results/plain"
	"qsim/scenarios"
)

// Target holds the paths of the files that an import writes, and settings of the scenario.
type Target struct {
	Scenario string   // path of the scenario; other files are in its folder, under its name
	Force    bool     // overwrite existing files
	Workers  int      // workers per node; 0: as many as were found
	Nodes    int      // number of nodes; 0: as many as were found
	Seeds    int      // number of seeds of the scenario; 0: 5
	Keep     []string // files that must not be overwritten, even with Force: the imported ones
}

// Written is the scenario that an import wrote, loaded again.
type Written struct {
	Path     string
	Scenario *scenarios.Scenario
	Workers  int // workers per node
	Nodes    int
}

const (
	mostNamed = 200                   // tenants of a class that are named
	mostKept  = 5000                  // values of an empirical distribution
	emptyTail = time.Second           // added to a scenario's duration and drain
	longest   = 1000 * 24 * time.Hour // longest run with one node, which polls ten times a second
)

// writing is the state of writing a scenario and its data files.
type writing struct {
	*Recording
	target Target
	folder string
	name   string
	made   []string // paths, removed if something fails
}

// nameOf returns the name of a file without its ending, which is also the name of a scenario in it.
func nameOf(path string) string {
	base := filepath.Base(path)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// Check returns an error if the scenario cannot be written to the target, before a long reading of records begins.
func (t *Target) Check() error {
	if name := nameOf(t.Scenario); slug(name, true) != name || name == "" {
		return fmt.Errorf("%s: want a name of a-z, 0-9 and -, at most %d, before .yaml", filepath.Base(t.Scenario),
			longestKind)
	}
	folder := filepath.Dir(t.Scenario)
	info, err := os.Stat(folder)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is no folder", folder)
	}
	return err
}

// Write writes the scenario with its files of arrivals and run times, and loads it again; after an error none is left.
func (r *Recording) Write(target Target) (written *Written, err error) {
	if err := target.Check(); err != nil {
		return nil, err
	}
	w := &writing{Recording: r, target: target, folder: filepath.Dir(target.Scenario), name: nameOf(target.Scenario)}
	written = &Written{Path: target.Scenario, Workers: cmp.Or(target.Workers, r.Workers.Each, 1),
		Nodes: cmp.Or(target.Nodes, r.Workers.Nodes)}
	defer func() {
		if err != nil {
			for _, path := range w.made {
				err = errors.Join(err, os.Remove(path))
			}
		}
	}()
	for i := range r.Classes {
		if err := cmp.Or(w.trace(&r.Classes[i]), w.values(&r.Classes[i])); err != nil {
			return nil, err
		}
	}
	text := w.text(written)
	if err := w.file(target.Scenario, func(to *bufio.Writer) { to.WriteString(text) }); err != nil {
		return nil, err
	}
	sc, problems := scenarios.Load(target.Scenario, []byte(text), nil)
	if sc == nil {
		return nil, fmt.Errorf("the scenario would not load: %s", problems.Errors()[0].Message)
	}
	written.Scenario = sc
	return written, nil
}

// file creates a file and lets fill write its content. An existing file is an error unless it may be overwritten.
func (w *writing) file(path string, fill func(to *bufio.Writer)) (err error) {
	there, err := os.Stat(path)
	for _, keep := range w.target.Keep {
		own, missing := os.Stat(keep)
		if err == nil && missing == nil && os.SameFile(there, own) {
			return fmt.Errorf("%s is what is imported: give the scenario another name with -o", path)
		}
	}
	existing := plain.Either(w.target.Force, os.O_TRUNC, os.O_EXCL)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|existing, 0o644)
	if err != nil {
		return err
	}
	w.made = append(w.made, path)
	to := bufio.NewWriterSize(file, 1<<16)
	fill(to) // errors stay in to
	return errors.Join(to.Flush(), file.Close())
}

// beside returns the name of a class's data file, which lies beside the scenario file: what is its ending, as ".csv".
func (w *writing) beside(class *Class, what string) string { return w.name + "-" + class.Name + what }

// trace writes the arrivals of a class to a CSV file, a line for each job.
func (w *writing) trace(c *Class) error {
	return w.file(filepath.Join(w.folder, w.beside(c, ".csv")), func(to *bufio.Writer) {
		var line []byte
		names := c.tenantNames()
		for _, a := range c.arrivals {
			line = appendSeconds(line[:0], a.at.since(w.origin))
			at, found := slices.BinarySearch(c.Tenants, w.tenants[a.tenant])
			at = plain.Either(found, at, len(c.Tenants))
			switch {
			case names == nil:
				line = strconv.AppendInt(append(line, ','), int64(at), 10)
			case len(c.Tenants) > 0:
				line = append(append(line, ','), names[at]...)
			}
			to.Write(append(line, '\n'))
		}
	})
}

// appendSeconds appends a duration in seconds, with all digits but no trailing zeros, to the text.
func appendSeconds(to []byte, d time.Duration) []byte {
	to = fmt.Appendf(to, "%d.%09d", d/time.Second, d%time.Second)
	return bytes.TrimRight(bytes.TrimRight(to, "0"), ".")
}

// tenantNames returns the names of a class's tenants in a scenario, last that of all jobs without one, if there are
// such jobs; nil if too many.
func (c *Class) tenantNames() []string {
	if len(c.Tenants) > mostNamed {
		return nil
	}
	names := plain.Map(c.Tenants, func(tenant string) string {
		name := cmp.Or(slug(tenant, true), noName)
		return name + plain.When(name == measure.WorstTenant, "-tenant")
	})
	if c.Nobody || len(c.Tenants) == 0 {
		names = append(names, "none")
	}
	return plain.Numbered(names)
}

// values writes the recorded run times of a class to files, unless a fitted distribution represents them. Failures take
// as long as successes if their own recorded run times are too few.
func (w *writing) values(c *Class) error {
	for _, t := range []*Times{&c.Service, &c.Takes} {
		if t.Chosen >= 0 || len(t.Values) == 0 || t == &c.Takes && len(t.Values) < FewestToFit {
			continue
		}
		path, values := filepath.Join(w.folder, w.beside(c, t.file)), t.kept()
		if err := w.file(path, func(to *bufio.Writer) {
			fmt.Fprintf(to, "# seconds: %d of %d run times of class %s\n", len(values), t.Seen, c.Name)
			for _, v := range values {
				to.WriteString(strconv.FormatFloat(v, 'f', -1, 64) + "\n")
			}
		}); err != nil {
			return err
		}
	}
	return nil
}

// kept returns the recorded run times to write to a file: all or, of too many, some at equally spaced ranks.
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
