package results

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"qsim/results/measure"
	"qsim/results/plain"
)

// seriesReader reads series.csv.gz into the chart data of a Summary.
type seriesReader struct {
	*Summary
	label, seed string // policy label and seed of the rows being read
	into        *measure.Series
	columns     []*[]float64 // destination of each column of the file, from the fourth on; nil: an unknown column
	names       []string
}

// readSeries sets the time series from the bytes of series.csv.gz. Unknown columns are ignored; missing ones leave
// their series nil.
func (s *Summary) readSeries(text []byte) error {
	zip, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return err
	}
	in := csv.NewReader(zip)
	in.ReuseRecord = true
	header, err := in.Read()
	if err != nil {
		return fmt.Errorf("it has no header: %w", err)
	}
	if len(header) < 4 || header[0] != "policy" || header[1] != "seed" || header[2] != "time_s" {
		return errors.New("it does not begin with policy, seed and time_s")
	}
	r := seriesReader{Summary: s, names: slices.Clone(header[3:])}
	for i := range s.data() {
		s.Data[i].Series = make([]measure.Series, len(s.Seeds))
	}
	for {
		row, err := in.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := r.take(row); err != nil {
			line, _ := in.FieldPos(0)
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
}

// take adds one row of series.csv to the series of its policy and seed.
func (r *seriesReader) take(row []string) error {
	if r.into == nil || row[1] != r.seed || row[0] != r.label {
		if err := r.begin(row[0], row[1]); err != nil {
			return err
		}
	}
	for i, column := range r.columns {
		if column == nil {
			continue
		}
		value := math.NaN()
		if text := row[3+i]; text != "" {
			var err error
			if value, err = strconv.ParseFloat(text, 64); err != nil {
				return fmt.Errorf("%s: %w", r.names[i], err)
			}
		}
		*column = append(*column, value)
	}
	return nil
}

// begin switches the reader to the time series of another policy or seed.
func (r *seriesReader) begin(label, seed string) error {
	policy := -1
	for _, written := range []func(label string) string{
		plain.Inert,
		func(label string) string { return label },       // by an earlier version
		func(label string) string { return "'" + label }, // by a version that escaped -30s as a spreadsheet formula
	} {
		if policy < 0 {
			policy = slices.IndexFunc(r.Policies, func(p PolicySummary) bool { return written(p.Label) == plain.Printable(label) })
		}
	}
	number, err := strconv.ParseUint(seed, 10, 64)
	at, known := slices.BinarySearch(r.Seeds, number)
	if policy < 0 || err != nil || !known {
		return fmt.Errorf("policy %q and seed %s are not in summary.json", label, seed)
	}
	r.label, r.seed, r.into = label, seed, &r.Data[policy].Series[at]
	if len(r.into.FreshReady) > 0 {
		return fmt.Errorf("the rows of %q and seed %s do not stand together", label, seed)
	}
	r.columns = r.columns[:0]
	var classes []string
	if slices.ContainsFunc(r.names, func(name string) bool { return strings.HasPrefix(name, classSeries) }) && r.Settings != nil {
		classes = r.Settings.Classes
		r.into.Classes = make([][]float64, len(classes))
	}
	own := seriesColumns(r.into, classes)
	for _, name := range r.names {
		var target *[]float64
		if i := slices.IndexFunc(own, func(c seriesColumn) bool { return plain.Inert(c.name) == name }); i >= 0 {
			target = own[i].values
		}
		r.columns = append(r.columns, target)
	}
	return nil
}
