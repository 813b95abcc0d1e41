package study

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
)

// format is the version of the format of the files in which studies keep what they have computed. It changes with the
// types of these values.
const format = 6

// line is a value that a study has computed, such as a cell, as a line of JSON in one of the study's files.
type line struct {
	Format int `json:"format"`
	origin
	Value []byte `json:"value"` // in gob format, which unlike JSON has infinite and missing numbers
	Sum   string `json:"sum"`   // hash of the other fields, by which an altered or damaged line is detected
}

// origin identifies the study that a line belongs to, as files may be copied elsewhere.
type origin struct {
	Config  string `json:"config"`  // hash of all that determines the study's results
	Version string `json:"version"` // version of the program that computed the value
}

func originOf(s *results.Sweep) origin { return origin{s.ConfigHash, s.Version} }

// sealed returns a value as a line of a study's files, with its checksum and a newline.
func sealed(from origin, value any) []byte {
	var encoded bytes.Buffer
	if err := gob.NewEncoder(&encoded).Encode(value); err != nil {
		panic("study: " + err.Error()) // the values have no functions and no interfaces
	}
	l := line{Format: format, origin: from, Value: encoded.Bytes()}
	l.Sum = l.sum()
	return append(plain.Must(json.Marshal(l)), '\n')
}

// unseal stores the value of a line in v, a pointer to one of its type. It returns an error for a line of another
// format, or one that is damaged: any that sealed does not write.
func unseal(text []byte, v any) (from origin, err error) {
	var l line
	switch err := json.Unmarshal(text, &l); {
	case err == nil && l.Format != format && l.Format != 0:
		return from, fmt.Errorf("the file has format %d; this program knows %d", l.Format, format)
	case err != nil || l.Sum == "":
		return from, errors.New("the line is not whole: it has no checksum")
	case l.Sum != l.sum():
		return from, errors.New("the line is damaged: it does not have its checksum")
	case l.Format != format:
		return from, errors.New("the line has no format")
	case !bytes.Equal(bytes.TrimSpace(text), plain.Must(json.Marshal(l))):
		return from, errors.New("the line is damaged: it has more than its checksum covers")
	}
	return l.origin, gob.NewDecoder(bytes.NewReader(l.Value)).Decode(v)
}

func (l line) sum() string {
	l.Sum = ""
	sum := sha256.Sum256(plain.Must(json.Marshal(l)))
	return hex.EncodeToString(sum[:8])
}

// journal is a file to which a study appends a line for each value that it has computed, so that the same study goes on
// after an interruption. Several processes may append to it. A journal without a path keeps nothing.
type journal struct {
	path string
	from origin // study that the lines belong to
}

// read calls found with each line of the journal. One may be cut off, as by a process that was killed.
func (j *journal) read(found func(line []byte)) error {
	text, err := os.ReadFile(j.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for line := range bytes.Lines(text) {
		found(line)
	}
	return err
}

// begin creates the journal, unless it exists.
func (j *journal) begin() error {
	if err := os.MkdirAll(filepath.Dir(j.path), 0o777); err != nil {
		return err
	}
	return j.append(nil)
}

// keep appends a value to a journal that has begun. The newline before it ends a line that was cut off.
func (j *journal) keep(value any) error {
	if j.path == "" {
		return nil
	}
	return j.append(append([]byte("\n"), sealed(j.from, value)...))
}

// append creates the journal again if a process that was done earlier has removed it.
func (j *journal) append(text []byte) error {
	file, err := os.OpenFile(j.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return cmp.Or(err, file.Close())
}

// remove removes the journal of a study that is done, if another process that made the same study has not.
func (j *journal) remove() error { return os.RemoveAll(j.path) }

// header describes a sweep and its shard in the first line of the shard's file. Each further line is a results.Cell.
type header struct {
	Shard Shard
	Cells int           // number of cells of the whole sweep
	Sweep results.Sweep // sweep without cells
	YAML  []byte        // unchanged scenario, resolved
}

func readHeader(text []byte) (*header, error) {
	var h header
	from, err := unseal(text, &h)
	if err != nil {
		return nil, fmt.Errorf("read the header of a shard: %w", err)
	}
	switch size, ok := results.Size(h.Sweep.Axes, MostCells); {
	case from != originOf(&h.Sweep):
		return nil, fmt.Errorf("the header of config %s, version %s, has a sweep of others", from.Config, from.Version)
	case h.Shard.Of < 1 || h.Shard.Of > MostCells || h.Shard.Index < 0 || h.Shard.Index >= h.Shard.Of:
		return nil, fmt.Errorf("there is no shard %d of %d", h.Shard.Index, h.Shard.Of)
	case !ok || size != h.Cells || size == 0 || len(h.Sweep.Policies) == 0:
		return nil, fmt.Errorf("the header of %d cells does not fit its axes", h.Cells)
	case h.Sweep.Baseline < 0 || h.Sweep.Baseline >= len(h.Sweep.Policies):
		return nil, fmt.Errorf("the header has no policy %d, its baseline", h.Sweep.Baseline)
	}
	return &h, nil
}

// readCell parses the line of one cell of the sweep s, which has size cells. It fails for a line that is damaged or of
// another sweep.
func readCell(s *results.Sweep, size int, text []byte) (*results.Cell, error) {
	var cell results.Cell
	from, err := unseal(text, &cell)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read a cell: %w", err)
	case from != originOf(s):
		return nil, fmt.Errorf("it is of config %s, version %s", from.Config, from.Version)
	case cell.Index < 0 || cell.Index >= size || len(cell.Rows) != len(s.Policies):
		return nil, fmt.Errorf("read a cell: cell %d with %d policies is not of a sweep of %d cells with %d", cell.Index,
			len(cell.Rows), size, len(s.Policies))
	}
	for i := range cell.Rows {
		if err := checkRow(s, i, &cell.Rows[i]); err != nil {
			return nil, fmt.Errorf("read cell %d: %w", cell.Index, err)
		}
	}
	return &cell, nil
}

// checkRow returns an error if a row of a cell is not of the policy with that index, or does not have the metrics, in
// their units, and the objectives of the sweep s.
func checkRow(s *results.Sweep, policy int, row *results.CellRow) error {
	if n := len(row.Estimates); n != len(s.Queries) {
		return fmt.Errorf("it has %d metrics, not %d", n, len(s.Queries))
	}
	if row.Policy != policy {
		return fmt.Errorf("row %d is of policy %d", policy, row.Policy)
	}
	for i, q := range s.Queries {
		e := &row.Estimates[i]
		if info, _ := measure.Lookup(q.Metric); e.Query != q || e.Unit != info.Unit {
			return fmt.Errorf("metric %d of row %d is %s in %q, not %s in %q", i, policy, e.Query, e.Unit, q, info.Unit)
		}
	}
	for _, v := range row.Verdicts {
		same := func(o measure.Objective) bool { return o.Query == v.Query && o.Text == v.Text && o.Expect == v.Expect }
		if v.Policy != s.Policies[policy].Label || !slices.ContainsFunc(s.Objectives, same) {
			return fmt.Errorf("row %d has a verdict about %s, %s %s, but the sweep has no such objective", policy, v.Policy,
				v.Query, v.Text)
		}
	}
	return nil
}
