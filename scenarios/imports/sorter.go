package imports

import (
	"bufio"
	"container/heap"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// sorter sorts records of which memory need not hold all: those beyond some lie in sorted
// runs in a temporary folder. compare must be a total order, so that equal input gives equal
// output however it is cut into runs.
type sorter[T any] struct {
	size    int // bytes of an encoded record
	encode  func(to []byte, v *T)
	decode  func(from []byte) T
	compare func(a, b *T) int
	most    int // records in memory

	held   []T
	folder *temporary
	runs   []string
}

// temporary is a folder that is made when it is first needed.
type temporary struct {
	path string
	made int
}

// file returns the path of a new file.
func (t *temporary) file() (string, error) {
	if t.path == "" {
		path, err := os.MkdirTemp("", "qsim-import-")
		if err != nil {
			return "", fmt.Errorf("make a temporary folder: %w", err)
		}
		t.path = path
	}
	t.made++
	return fmt.Sprintf("%s/%d", t.path, t.made), nil
}

// remove removes the folder with all that is in it.
func (t *temporary) remove() error {
	if t.path == "" {
		return nil
	}
	return os.RemoveAll(t.path)
}

// add takes in a record.
func (s *sorter[T]) add(v T) error {
	s.held = append(s.held, v)
	if len(s.held) < s.most {
		return nil
	}
	return s.spill()
}

// sort puts what is held in order.
func (s *sorter[T]) sort() {
	slices.SortFunc(s.held, func(a, b T) int { return s.compare(&a, &b) })
}

// spill writes a run.
func (s *sorter[T]) spill() (err error) {
	s.sort()
	path, err := s.folder.file()
	if err != nil {
		return err
	}
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write a temporary file: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	to := bufio.NewWriterSize(file, 1<<18)
	buffer := make([]byte, s.size)
	for i := range s.held {
		s.encode(buffer, &s.held[i])
		if _, err := to.Write(buffer); err != nil {
			return fmt.Errorf("write a temporary file: %w", err)
		}
	}
	if err := to.Flush(); err != nil {
		return fmt.Errorf("write a temporary file: %w", err)
	}
	s.runs, s.held = append(s.runs, path), s.held[:0]
	return nil
}

// run is one that is being read.
type run[T any] struct {
	from *bufio.Reader
	file *os.File
	head T
}

// merge is a heap of runs by their heads.
type merge[T any] struct {
	runs    []*run[T]
	compare func(a, b *T) int
}

func (m *merge[T]) Len() int           { return len(m.runs) }
func (m *merge[T]) Less(i, j int) bool { return m.compare(&m.runs[i].head, &m.runs[j].head) < 0 }
func (m *merge[T]) Swap(i, j int)      { m.runs[i], m.runs[j] = m.runs[j], m.runs[i] }
func (m *merge[T]) Push(x any)         { m.runs = append(m.runs, x.(*run[T])) }
func (m *merge[T]) Pop() any {
	last := m.runs[len(m.runs)-1]
	m.runs = m.runs[:len(m.runs)-1]
	return last
}

// each calls do for every record in order, until it fails. It may be called once.
func (s *sorter[T]) each(do func(v *T) error) (err error) {
	if len(s.runs) == 0 {
		s.sort()
		for i := range s.held {
			if err := do(&s.held[i]); err != nil {
				return err
			}
		}
		s.held = nil
		return nil
	}
	if len(s.held) > 0 {
		if err := s.spill(); err != nil {
			return err
		}
	}
	s.held = nil
	m := &merge[T]{compare: s.compare}
	var all []*run[T]
	defer func() {
		for _, r := range all {
			r.file.Close() // it was only read
		}
	}()
	buffer := make([]byte, s.size)
	for _, path := range s.runs {
		file, err := os.Open(path)
		if err != nil {
			return fmt.Errorf("read a temporary file: %w", err)
		}
		r := &run[T]{from: bufio.NewReaderSize(file, 1<<16), file: file}
		all = append(all, r)
		if ok, err := s.advance(r, buffer); err != nil {
			return err
		} else if ok {
			m.runs = append(m.runs, r)
		}
	}
	heap.Init(m)
	for m.Len() > 0 {
		r := m.runs[0]
		if err := do(&r.head); err != nil {
			return err
		}
		ok, err := s.advance(r, buffer)
		switch {
		case err != nil:
			return err
		case ok:
			heap.Fix(m, 0)
		default:
			heap.Pop(m)
		}
	}
	return nil
}

// advance reads the next record of a run, and reports whether there was one.
func (s *sorter[T]) advance(r *run[T], buffer []byte) (bool, error) {
	if _, err := io.ReadFull(r.from, buffer); errors.Is(err, io.EOF) {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("read a temporary file: %w", err)
	}
	r.head = s.decode(buffer)
	return true, nil
}
