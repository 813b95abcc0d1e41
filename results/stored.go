package results

import (
	"bytes"
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
	// Summary has Settings and Data as far as the folder has them.
	Summary  *Summary
	Made     RunInfo  // content of run.json; zero if there is none
	Scenario []byte   // scenario.yaml; nil if there is none
	Absent   []string // paths of the files that an earlier version did not write
}

// ReadStored reads a run from the files that Files returned. read returns the bytes of a file by its path below the
// folder of the run; fs.ErrNotExist for a file that is not wanted. A file other than summary.json that is not there,
// because an earlier version wrote none, is noted in Absent; without data.json.gz Settings are nil.
func ReadStored(read func(path string) ([]byte, error)) (*Stored, error) {
	text, err := read("summary.json")
	if err != nil {
		return nil, fmt.Errorf("read results: %w", err)
	}
	stored := new(Stored)
	if stored.Summary, err = ReadSummary(text); err != nil {
		return nil, err
	}
	for _, file := range []struct {
		path string
		take func(text []byte) error
	}{
		{"run.json", func(text []byte) error { return json.Unmarshal(plain.PrintableJSON(text), &stored.Made) }},
		{"scenario.yaml", func(text []byte) error { stored.Scenario = text; return nil }},
		{dataFile, stored.Summary.readData},
		{"series.csv.gz", stored.Summary.readSeries},
	} {
		text, err := read(file.path)
		if errors.Is(err, fs.ErrNotExist) {
			stored.Absent = append(stored.Absent, file.path)
			continue
		}
		if err == nil {
			err = file.take(text)
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", file.path, err)
		}
	}
	return stored, nil
}

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
	case stored.Version > dataVersion:
		return fmt.Errorf("version %d is newer than this program, which knows %d", stored.Version, dataVersion)
	case stored.Version < 1 || stored.Settings == nil:
		return errors.New("it has no version or no settings")
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

// HasSeries reports whether there is a time series of every policy and seed, which most charts need.
func (s *Summary) HasSeries() bool {
	return s.everySeries(func(series *measure.Series) bool { return len(series.FreshReady) > 0 })
}

// HasStarvation reports whether every time series has the share of each bucket's time in which some fresh job starved:
// waited beyond the threshold of its class.
func (s *Summary) HasStarvation() bool {
	return s.everySeries(func(series *measure.Series) bool { return series.Starved != nil })
}

func (s *Summary) everySeries(has func(series *measure.Series) bool) bool {
	lacks := func(s measure.Series) bool { return !has(&s) }
	return !slices.ContainsFunc(s.Data, func(p PolicyData) bool { return slices.ContainsFunc(p.Series, lacks) }) &&
		len(s.Data) > 0 && len(s.Data) == len(s.Policies) && len(s.Data[0].Series) > 0
}

// checkTenants returns an error if waits by tenant that a file holds are impossible, or are not of all tenants counted.
func checkTenants(counts []measure.TenantCount, waits []measure.TenantWait) error {
	if len(waits) > 0 && len(waits) != min(len(counts), measure.MostTenantWaits) {
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
	columns     []*[]float64    // destination of each column of the file, from the fourth on; nil: an unknown column
	names       []string
}

// readSeries sets the time series from series.csv.gz. Unknown columns are ignored; missing ones leave their series nil.
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
	if s.Data == nil { // an earlier version stored no other data
		s.Data = make([]PolicyData, len(s.Policies))
	}
	for i := range s.Data {
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

// take appends the values of one row of series.csv to the time series of the row's policy and seed.
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
	policy, printable := -1, plain.Printable(label)
	for _, written := range []func(label string) string{
		plain.Inert,
		func(label string) string { return label },       // by an earlier version
		func(label string) string { return "'" + label }, // by a version that escaped -30s as a spreadsheet formula
	} {
		if policy < 0 {
			policy = slices.IndexFunc(r.Policies, func(p PolicySummary) bool { return written(p.Label) == printable })
		}
	}
	number, err := strconv.ParseUint(seed, 10, 64)
	at, known := slices.BinarySearch(r.Seeds, number)
	if policy < 0 || err != nil || !known {
		return fmt.Errorf("policy %q and seed %s are not in summary.json", label, seed)
	}
	r.label, r.seed, r.into = label, seed, &r.Data[policy].Series[at]
	r.columns = r.columns[:0]
	var classes []string
	ofClass := func(name string) bool { return strings.HasPrefix(name, classSeries) }
	if r.Settings != nil && slices.ContainsFunc(r.names, ofClass) {
		classes = r.Settings.Classes
	}
	if buckets(seriesColumns(r.into, classes)) > 0 {
		return fmt.Errorf("the rows of %q and seed %s do not stand together", label, seed)
	}
	if classes != nil {
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
