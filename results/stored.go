package results

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"

	"qsim/results/measure"
	"qsim/results/plain"
)

// dataFile is the name of the file with the data that a report needs beyond summary and series: the settings of the
// scenario, the pooled histograms, and the counts and waits by tenant.
const dataFile = "data.json.gz"

// seriesFile is the name of the file with the time series.
const seriesFile = "series.csv.gz"

// mostData is the highest size in bytes of an unpacked dataFile: a hundred times that of the largest shipped scenario.
const mostData = 256 << 20

// dataVersion is the version of the format of data.json.gz, the chart and report data of a run.
const dataVersion = 1

// storedData is the content of data.json.gz, what a report needs beyond the other files. Durations are in nanoseconds.
type storedData struct {
	Version  int               `json:"version"`
	Settings *measure.Settings `json:"settings"`
	Policies []PolicyData      `json:"policies"`
}

// encodeData returns the content of data.json.gz (storedData) for a summary: JSON under gzip.
func (s *Summary) encodeData() ([]byte, error) {
	data := storedData{dataVersion, s.Settings, s.Data}
	return compressed(func(w io.Writer) error { return json.NewEncoder(w).Encode(data) })
}

// Stored is a run that was read from its folder: its summary, the content of run.json and its scenario.
type Stored struct {
	Summary  *Summary
	Made     RunInfo // content of run.json; zero if there is none
	Scenario []byte  // scenario.yaml; nil if there is none
}

// ReadHead reads summary.json of a run, without Settings and Data, and run.json and scenario.yaml if they are there.
// read returns the bytes of a file by its path below the folder of the run; fs.ErrNotExist if there is none.
func ReadHead(read func(path string) ([]byte, error)) (*Stored, error) {
	text, err := read("summary.json")
	if err != nil {
		return nil, fmt.Errorf("read results: %w", err)
	}
	stored := new(Stored)
	if stored.Summary, err = ReadSummary(text); err != nil {
		return nil, err
	}
	text, err = read("run.json")
	if err == nil {
		err = json.Unmarshal(plain.PrintableJSON(text), &stored.Made)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read run.json: %w", err)
	}
	if stored.Scenario, err = read("scenario.yaml"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read scenario.yaml: %w", err)
	}
	return stored, nil
}

// ReadStored reads a run with all that a report shows from the files that Files returned: see ReadHead.
func ReadStored(read func(path string) ([]byte, error)) (*Stored, error) {
	stored, err := ReadHead(read)
	if err != nil {
		return nil, err
	}
	for _, file := range []struct {
		path string
		take func(text []byte) error
	}{{dataFile, stored.Summary.readData}, {seriesFile, stored.Summary.readSeries}} {
		text, err := read(file.path)
		if err == nil {
			err = file.take(text)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("read %s: it is missing: run the scenario again", file.path)
		case errors.Is(err, errFormat):
			return nil, fmt.Errorf("read %s: %w; qsim %s wrote the results: run the scenario again, or use that version",
				file.path, err, cmp.Or(stored.Made.Version, "of unknown version"))
		case err != nil:
			return nil, fmt.Errorf("read %s: %w", file.path, err)
		}
	}
	return stored, nil
}

// errFormat is wrapped by the errors about a file whose format is not this program's.
var errFormat = errors.New("not in this program's format")

// readData sets the summary's Settings and, but for time series, Data from the bytes of data.json.gz.
func (s *Summary) readData(text []byte) error {
	zip, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return err
	}
	var stored storedData
	if err := json.NewDecoder(io.LimitReader(zip, mostData)).Decode(&stored); err != nil {
		return err
	}
	switch {
	case stored.Version != dataVersion:
		return fmt.Errorf("%w: version %d, wanted %d", errFormat, stored.Version, dataVersion)
	case stored.Settings == nil:
		return errors.New("it has no settings")
	case len(stored.Policies) != len(s.Policies) || len(stored.Settings.Policies) != len(s.Policies):
		return fmt.Errorf("it has %d policies, summary.json has %d", len(stored.Policies), len(s.Policies))
	case min(stored.Settings.Bucket, stored.Settings.Duration) <= 0,
		min(stored.Settings.Drain, stored.Settings.Warmup) < 0:
		return errors.New("it has a duration that is not positive")
	}
	for i := range stored.Policies {
		label := plain.Printable(stored.Settings.Policies[i].Label)
		if stored.Settings.Policies[i].Label = label; label != s.Policies[i].Label {
			return fmt.Errorf("its policy %d is labelled %q, that of summary.json %q", i+1, label, s.Policies[i].Label)
		}
		if err := checkTenants(stored.Policies[i].Tenants, stored.Policies[i].TenantWaits); err != nil {
			return fmt.Errorf("of policy %d %w", i+1, err)
		}
	}
	s.Settings, s.Data = stored.Settings, stored.Policies
	return nil
}

// checkTenants returns an error if waits by tenant that a file holds are impossible, or are not of all tenants counted.
func checkTenants(counts []measure.TenantCount, waits []measure.TenantWait) error {
	if len(waits) != min(len(counts), measure.MostTenantWaits) {
		return fmt.Errorf("it has waits of %d tenants and counts of %d", len(waits), len(counts))
	}
	for i := range waits {
		if w := &waits[i]; w.Jobs < 0 || !(w.P99 >= 0 && w.P99 <= mostStored) {
			return fmt.Errorf("it has a tenant with %d jobs of which the slowest waited %v s", w.Jobs, w.P99)
		}
	}
	return nil
}

// seriesReader reads series.csv.gz into the chart data of a Summary.
type seriesReader struct {
	*Summary
	label, seed string          // policy label and seed of the rows being read
	into        *measure.Series // their time series
	columns     []*[]float64    // destination of each column of the file, from the fourth on
	names       []string
}

// readSeries sets the time series from series.csv.gz, which must have a row or more of every policy and seed.
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
	for i := range s.Data {
		s.Data[i].Series = make([]measure.Series, len(s.Seeds))
	}
	for {
		row, err := in.Read()
		if errors.Is(err, io.EOF) {
			return s.checkSeries()
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

// take appends the values of one row of series.csv to the time series of the row's policy and seed.
func (r *seriesReader) take(row []string) error {
	if r.into == nil || row[1] != r.seed || row[0] != r.label {
		if err := r.begin(row[0], row[1]); err != nil {
			return err
		}
	}
	for i, column := range r.columns {
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
	written := plain.Printable(label)
	policy := slices.IndexFunc(r.Policies, func(p PolicySummary) bool { return plain.Inert(p.Label) == written })
	number, err := strconv.ParseUint(seed, 10, 64)
	at, known := slices.BinarySearch(r.Seeds, number)
	if policy < 0 || err != nil || !known {
		return fmt.Errorf("policy %q and seed %s are not in summary.json", label, seed)
	}
	r.label, r.seed, r.into = label, seed, &r.Data[policy].Series[at]
	if len(r.into.FreshReady) > 0 {
		return fmt.Errorf("the rows of %q and seed %s do not stand together", label, seed)
	}
	if n := len(r.Settings.Classes); n > 1 && n <= measure.MostClassSeries {
		r.into.Classes = make([][]float64, n)
	}
	own := seriesColumns(r.into, r.Settings.Classes)
	names := plain.Map(own, func(c seriesColumn) string { return plain.Inert(c.name) })
	if !slices.Equal(names, r.names) {
		return fmt.Errorf("%w: its columns are %s, wanted %s", errFormat, strings.Join(r.names, ", "),
			strings.Join(names, ", "))
	}
	r.columns = plain.Map(own, func(c seriesColumn) *[]float64 { return c.values })
	return nil
}

// checkSeries returns an error if a policy has no time series under some seed.
func (s *Summary) checkSeries() error {
	for i := range s.Data {
		for k := range s.Data[i].Series {
			if len(s.Data[i].Series[k].FreshReady) == 0 {
				return fmt.Errorf("it has no row of policy %q and seed %d", s.Policies[i].Label, s.Seeds[k])
			}
		}
	}
	return nil
}
