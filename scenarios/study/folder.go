package study

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"qsim/results"
	"qsim/results/plain"
)

// Shard is one of Of parts of a sweep, with the cells whose index modulo Of is Index.
type Shard struct{ Index, Of int }

// ParseShard parses I/N, with I from 0, as shard I of N.
func ParseShard(text string) (Shard, error) {
	first, second, ok := strings.Cut(text, "/")
	index, err := strconv.Atoi(strings.TrimSpace(first))
	of, failed := strconv.Atoi(strings.TrimSpace(second))
	switch {
	case !ok || err != nil || failed != nil:
		return Shard{}, fmt.Errorf("want I/N, as 0/8 for the first of eight shards")
	case of < 1 || of > MostCells: // one for each cell
		return Shard{}, fmt.Errorf("want 1 to %d shards, not %d", MostCells, of)
	case index < 0 || index >= of:
		return Shard{}, fmt.Errorf("the shards of %d are 0/%[1]d to %d/%[1]d", of, of-1)
	}
	return Shard{index, of}, nil
}

// String returns the shard in the form index/count, as 1/4, which ParseShard parses.
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Of) }

// name returns the name of a shard's files without the endings: shard-1-of-4.
func (s Shard) name() string { return fmt.Sprintf("shard-%d-of-%d", s.Index, s.Of) }

// cells returns the indexes of the shard's cells in a sweep of size cells, ascending.
func (s Shard) cells(size int) []int {
	var cells []int
	for i := s.Index; i < size; i += s.Of {
		cells = append(cells, i)
	}
	return cells
}

const (
	complete = ".jsonl"         // ending of the file of a complete shard
	partial  = ".partial.jsonl" // ending of the journal of an incomplete shard's cells
)

// shardOf parses the name of a shard's file, such as shard-1-of-4.jsonl; ok is false if it is none.
func shardOf(name string) (s Shard, ending string, ok bool) {
	_, err := fmt.Sscanf(name, "shard-%d-of-%d%s", &s.Index, &s.Of, &ending)
	known := ending == complete || ending == partial
	inRange := s.Index >= 0 && s.Index < s.Of && s.Of < 1e6
	return s, ending, err == nil && known && inRange && s.name()+ending == name
}

// List returns shard indexes, which must ascend, in the syntax of a batch system's array jobs: 1,3-5.
func List(indexes []int) string { return strings.Join(plain.Runs(indexes, "-"), ",") }

// Refusal is the error for a folder whose files do not make up the sweep in question, or are of another one. It is not
// an error of reading or writing.
type Refusal struct{ error }

func refuse(format string, arguments ...any) error { return &Refusal{fmt.Errorf(format, arguments...)} }

// Work is a shard under computation, whose finished cells are in a journal, shard-I-of-N.partial.jsonl. Several
// processes may compute one shard: their cells are equal.
type Work struct {
	Path    string // path of the complete shard's file
	Damaged bool   // that file is damaged, and its cells are computed again

	parent  string
	journal journal // journal of the finished cells
	plan    *Plan
	shard   Shard
	cells   []int // indexes of the shard's cells, ascending
	left    []int // indexes of the unfinished cells, ascending
	done    bool  // the complete file exists already
	afresh  bool
}

// Open reads which cells of a shard are finished in dir, and changes nothing. Files of another sweep in the folder are
// an error unless afresh is set: then Start removes them, and the shard's own results.
func Open(dir string, plan *Plan, shard Shard, afresh bool) (*Work, error) {
	w := &Work{Path: filepath.Join(dir, shard.name()+complete), parent: dir,
		journal: journal{filepath.Join(dir, shard.name()+partial), originOf(&plan.Sweep)}, plan: plan, shard: shard,
		cells: shard.cells(plan.Size()), afresh: afresh}
	if afresh {
		w.left = w.cells
		return w, nil
	}
	if err := w.checkOthers(); err != nil {
		return nil, err
	}
	found, err := w.Read()
	switch {
	case err == nil && len(found.Cells) == w.Size():
		w.done = true
		return w, nil
	case errors.Is(err, fs.ErrNotExist):
	case isIO(err):
		return nil, err
	default: // too few cells are as bad as unreadable ones
		w.Damaged = true
	}
	kept, err := w.kept()
	w.left = slices.DeleteFunc(slices.Clone(w.cells), func(cell int) bool { return kept[cell] != nil })
	return w, err
}

// Start creates the shard's journal and removes a damaged file, so that Keep can store cells.
func (w *Work) Start() error {
	if w.afresh {
		if err := w.clear(); err != nil {
			return err
		}
	}
	if w.Damaged {
		if err := os.Remove(w.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove damaged file: %w", err)
		}
	}
	if w.done {
		return nil
	}
	return w.journal.begin()
}

// Left returns the indexes of the shard's unfinished cells, ascending.
func (w *Work) Left() []int { return w.left }

// Size returns the number of cells of the shard.
func (w *Work) Size() int { return len(w.cells) }

// kept returns the lines of the finished cells in the shard's journal, by their index.
func (w *Work) kept() (map[int][]byte, error) {
	kept := map[int][]byte{}
	return kept, w.journal.read(func(line []byte) {
		if cell, err := readCell(&w.plan.Sweep, w.plan.Size(), line); err == nil {
			kept[cell.Index] = line
		}
	})
}

// Keep stores a finished cell of the shard in its journal.
func (w *Work) Keep(cell *results.Cell) error { return w.journal.keep(cell) }

// completed reports whether the shard's file exists with all its cells.
func (w *Work) completed() bool {
	found, err := w.Read()
	return err == nil && len(found.Cells) == w.Size()
}

// Finish writes the shard's file, once every cell is finished, and removes the journal.
func (w *Work) Finish() error {
	if !w.done && !w.completed() {
		text, err := w.joined()
		if err == nil {
			err = results.Replace(w.parent, []results.File{{Path: filepath.Base(w.Path), Data: text}})
		}
		if err != nil && !w.completed() {
			return err
		}
	}
	return w.journal.remove()
}

// joined returns the text of the shard's file: its header and the line of each cell.
func (w *Work) joined() ([]byte, error) {
	kept, err := w.kept()
	if err != nil {
		return nil, err
	}
	sealed(origin{}, &results.Cell{}) // gob numbers types by their first use: also without a cell of this process
	text := sealed(originOf(&w.plan.Sweep), header{w.shard, w.plan.Size(), w.plan.Sweep, w.plan.base.Resolved()})
	for _, cell := range w.cells {
		if kept[cell] == nil {
			return nil, fmt.Errorf("write %s: cell %d is not in %s", w.Path, cell, w.journal.path)
		}
		text = append(append(text, bytes.TrimSpace(kept[cell])...), '\n')
	}
	return text, nil
}

// Read returns the sweep with the cells found in the shard's file, which may be cut short.
func (w *Work) Read() (*results.Sweep, error) {
	h, cells, err := readShard(w.Path)
	if err != nil {
		return nil, err
	}
	h.Sweep.Cells = cells
	return &h.Sweep, nil
}

// isIO reports whether an error is a failure to read a file, rather than a fault in its content.
func isIO(err error) bool {
	_, is := errors.AsType[*fs.PathError](err)
	return is
}

// readShard reads a shard file: its header and the shard's cells. A truncated file gives fewer cells. Cells of another
// sweep than the header's, or not in order, are an error.
func readShard(path string) (*header, []results.Cell, error) {
	damaged := func(line int, err error) (*header, []results.Cell, error) {
		return nil, nil, fmt.Errorf("%s:%d: %w", path, line, err)
	}
	text, err := os.ReadFile(path)
	if err == nil && len(text) == 0 {
		err = errors.New("the file is empty")
	}
	if err != nil {
		return damaged(1, err)
	}
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	h, err := readHeader(first)
	if err != nil {
		return damaged(1, err)
	}
	var cells []results.Cell
	for line := range bytes.Lines(rest) {
		cell, err := readCell(&h.Sweep, h.Cells, line)
		if next := h.Shard.Index + len(cells)*h.Shard.Of; err == nil && cell.Index != next {
			err = fmt.Errorf("cell %d stands where cell %d should", cell.Index, next)
		}
		if err != nil {
			return damaged(len(cells)+2, err)
		}
		cells = append(cells, *cell)
	}
	return h, cells, nil
}

// entries returns the sorted names of the files in a folder, none if the folder does not exist.
func entries(dir string) ([]string, error) {
	list, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read %s: %w", dir, err)
	}
	return plain.Map(list, fs.DirEntry.Name), nil
}
