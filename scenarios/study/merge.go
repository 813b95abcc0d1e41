package study

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"qsim/results"
	"qsim/results/plain"
	"qsim/scenarios"
)

// summaryJSON is the name of the file with the results of a complete sweep, beside its shards.
const summaryJSON = "sweep.json"

// Merged is a complete sweep, joined from the files of all its shards.
type Merged struct {
	Sweep    *results.Sweep
	Scenario []byte // unchanged scenario, resolved
	Shards   int
}

// inventory lists the shard files of a sweep found in a folder, and what is wrong, for Merge and Missing.
type inventory struct {
	dir      string
	files    []string // names of shard files, by shard; empty: none
	cells    [][]results.Cell
	damaged  []error
	problems []error
	first    string // name of the file with which the others are compared
	model    *header
}

// Merge joins the shards in dir to a complete sweep. Its error lists all problems at once: shards of different
// scenarios, axes or versions, missing, doubled and damaged ones.
func Merge(dir string) (*Merged, error) {
	v, err := take(dir)
	if err != nil {
		return nil, err
	}
	problems := append(v.problems, v.damaged...)
	if missing := v.missing(); len(missing) > 0 {
		problems = append(problems, fmt.Errorf("%d of %d shards are missing: %s", len(missing), len(v.files), List(missing)))
	}
	if len(problems) > 0 {
		return nil, &Refusal{errors.Join(problems...)}
	}
	m := &Merged{Sweep: &v.model.Sweep, Scenario: v.model.YAML, Shards: len(v.files)}
	m.Sweep.Cells = make([]results.Cell, v.model.Cells)
	for shard, cells := range v.cells {
		for i := range cells {
			m.Sweep.Cells[shard+i*len(v.files)] = cells[i]
		}
	}
	return m, nil
}

// Missing returns, ascending, the shards still to be computed before Merge succeeds, damaged ones included, and the
// errors of the damaged ones. Shards that do not belong together are an error.
func Missing(dir string) (shards []int, damaged []error, err error) {
	v, err := take(dir)
	if err != nil {
		return nil, nil, err
	}
	if len(v.problems) > 0 {
		return nil, nil, &Refusal{errors.Join(v.problems...)}
	}
	return v.missing(), v.damaged, nil
}

func take(dir string) (*inventory, error) {
	names, err := entries(dir)
	if err != nil {
		return nil, err
	}
	v := &inventory{dir: dir}
	var whole, copies []string // files with other names come after the shards that they may duplicate
	for _, name := range names {
		switch _, ending, isShard := shardOf(name); {
		case isShard && ending == complete:
			whole = append(whole, name)
		case !isShard && strings.HasPrefix(name, "shard-") && strings.HasSuffix(name, complete):
			copies = append(copies, name)
		}
	}
	for _, name := range append(whole, copies...) {
		if err := v.file(name); err != nil {
			return nil, err
		}
	}
	for _, name := range names {
		if s, ending, ok := shardOf(name); ok && ending == partial {
			v.count(s.Of, name)
		}
	}
	if len(v.files) == 0 && len(v.problems)+len(v.damaged) == 0 {
		return nil, refuse("there is no shard in %s: qsim sweep SCENARIO --vary ... --shard I/N -o %s writes them", dir, dir)
	}
	return v, nil
}

// file adds the file of a complete shard to the inventory. Its error is a failure to read.
func (v *inventory) file(name string) error {
	path := filepath.Join(v.dir, name)
	h, cells, err := readShard(path)
	named, _, isNamed := shardOf(name)
	switch {
	case err != nil && isIO(err):
		return err
	case err != nil:
		if isNamed {
			v.count(named.Of, name)
		}
		v.damaged = append(v.damaged, err)
		return nil
	}
	shard := h.Shard
	if !v.count(shard.Of, name) {
		return nil
	}
	if v.model == nil {
		v.model, v.first = h, name
		sc, _ := scenarios.Load(name, h.YAML, nil) // nil where the files that it names are not at hand
		if sc != nil && sc.PoliciesNamed(sc.Baseline)[0] != h.Sweep.Baseline {
			v.problem("%s has the baseline %s, but its scenario has %s", name, h.Sweep.Policies[h.Sweep.Baseline].Label,
				sc.Baseline)
		}
	}
	want := len(shard.cells(h.Cells))
	switch own, other := originOf(&h.Sweep), originOf(&v.model.Sweep); {
	case own.Config != other.Config:
		v.problem("%s has config %s, but %s has %s: they are of different scenarios, axes or metrics", name, own.Config,
			v.first, other.Config)
	case own.Version != other.Version:
		v.problem("%s is of version %s, but %s is of %s: results are comparable within a version", name, own.Version,
			v.first, other.Version)
	case !h.alike(v.model):
		v.problem("%s and %s have one config but do not say the same of it", name, v.first)
	case v.files[shard.Index] != "":
		v.problem("shard %s is doubled: %s and %s", shard, v.files[shard.Index], name)
	case isNamed && named != shard || !isNamed:
		v.problem("%s is shard %s by what it holds: rename it to %s, unless that is there too", name, shard,
			shard.name()+complete)
	case len(cells) < want:
		v.damaged = append(v.damaged, fmt.Errorf("%s is cut short: it has %d of its %d cells", path, len(cells), want))
		return nil
	}
	if v.files[shard.Index] == "" {
		v.files[shard.Index], v.cells[shard.Index] = name, cells
	}
	return nil
}

// count records the number of shards in the name of a file or folder, and reports whether it agrees with the others.
func (v *inventory) count(of int, name string) bool {
	switch others := len(v.files); others {
	case of:
	case 0:
		v.first, v.files, v.cells = name, make([]string, of), make([][]results.Cell, of)
	default:
		v.problem("%s is one of %d shards, but %s is one of %d: a folder has one set of shards", name, of, v.first, others)
		return false
	}
	return true
}

func (v *inventory) problem(format string, arguments ...any) {
	v.problems = append(v.problems, fmt.Errorf(format, arguments...))
}

// missing returns the indexes of the shards without an undamaged file.
func (v *inventory) missing() []int {
	var missing []int
	for i, name := range v.files {
		if name == "" {
			missing = append(missing, i)
		}
	}
	return missing
}

// alike reports whether the headers of two shard files are of the same sweep: they differ at most in the shard, and in
// the lines of the scenario's file on which its objectives stand.
func (h *header) alike(other *header) bool {
	a, b := *h, *other
	a.Shard = b.Shard
	a.Sweep.Objectives = slices.Clone(a.Sweep.Objectives)
	for i := range min(len(a.Sweep.Objectives), len(b.Sweep.Objectives)) {
		a.Sweep.Objectives[i].Line = b.Sweep.Objectives[i].Line
	}
	return reflect.DeepEqual(a, b)
}

// stray is a file or folder that belongs to another sweep, or to a division into another number of shards.
type stray struct {
	name string
	why  string
}

// checkOthers returns a Refusal if the sweep's folder holds anything of another sweep.
func (w *Work) checkOthers() error {
	strays, err := w.strays()
	if err != nil || len(strays) == 0 {
		return err
	}
	more := plain.When(len(strays) > 1, fmt.Sprintf(" (and %d more)", len(strays)-1))
	return refuse("%s is of another sweep%s: %s\ntake another folder with --out, or replace what is there with --force",
		filepath.Join(w.parent, strays[0].name), more, strays[0].why)
}

// strays returns the shards and merged files in the sweep's folder that do not belong to it.
func (w *Work) strays() ([]stray, error) {
	names, err := entries(w.parent)
	if err != nil {
		return nil, err
	}
	var strays []stray
	for _, name := range names {
		s, ending, isShard := shardOf(name)
		if !isShard && name != summaryJSON {
			continue
		}
		if isShard && s.Of != w.shard.Of {
			strays = append(strays, stray{name, fmt.Sprintf("it is one of %d shards, not of %d", s.Of, w.shard.Of)})
			continue
		}
		from, err := belongs(filepath.Join(w.parent, name), ending)
		if err != nil {
			return nil, err
		}
		switch own := originOf(&w.plan.Sweep); {
		case from.Config == "": // damaged, or still empty
		case from.Config != own.Config:
			strays = append(strays, stray{name, fmt.Sprintf("its config is %s, not %s", from.Config, own.Config)})
		case from.Version != own.Version:
			strays = append(strays, stray{name,
				fmt.Sprintf("it was computed by version %s, and this is %s", from.Version, own.Version)})
		}
	}
	return strays, nil
}

// belongs returns the study's hash and the program's version stored in a file of a sweep; zero if there are none.
func belongs(path, ending string) (from origin, err error) {
	var said struct {
		origin         // without a version for sweep.json, where that is the number of its format
		Program string // version of the program in sweep.json
	}
	if ending == partial { // which another process may be done with, and whose first line may be cut off
		err = (&journal{path: path}).read(func(line []byte) {
			if said.Config == "" {
				_ = json.Unmarshal(line, &said)
			}
		})
		return said.origin, err
	}
	file, err := os.Open(path)
	if err != nil {
		return origin{}, err
	}
	defer file.Close()
	if err := json.NewDecoder(file).Decode(&said); isIO(err) {
		return origin{}, err
	}
	return origin{said.Config, cmp.Or(said.Version, said.Program)}, nil
}

// clear removes from the sweep's folder the files of other sweeps, the shard's own results, and merged files.
func (w *Work) clear() error {
	strays, err := w.strays()
	if err != nil {
		return err
	}
	charts, err := entries(filepath.Join(w.parent, "charts"))
	if err != nil {
		return err
	}
	names := []string{summaryJSON, "sweep.csv", "sweep.yaml", w.shard.name() + complete, w.shard.name() + partial}
	for _, s := range strays {
		names = append(names, s.name)
	}
	for _, name := range charts {
		if strings.HasPrefix(name, "sweep-") {
			names = append(names, filepath.Join("charts", name))
		}
	}
	for _, name := range names {
		if err := os.RemoveAll(filepath.Join(w.parent, name)); err != nil {
			return fmt.Errorf("clear %s: %w", w.parent, err)
		}
	}
	return nil
}
