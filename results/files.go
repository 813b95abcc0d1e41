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
	"math"
	"slices"
	"strconv"
	"time"

	"qsim/results/measure"
	"qsim/results/plain"
)

// RunInfo is the content of run.json: when and where a run was made, and by which version. No other file differs
// between equal runs.
type RunInfo struct {
	Started   time.Time `json:"started"` // start of the command
	Took      float64   `json:"took_s"`  // wall-clock time in seconds
	Command   []string  `json:"command"` // the command line
	Folder    string    `json:"folder"`  // folder in which the command ran
	Version   string    `json:"version"` // version of the program
	Commit    string    `json:"commit"`  // commit that the program was built from, or unknown
	GoVersion string    `json:"go"`      // version of Go that built it
	OS        string    `json:"os"`      // operating system, as Go names it
	Arch      string    `json:"arch"`    // processor architecture, as Go names it
	CPUs      int       `json:"cpus"`    // number of processors available to it
}

// Files returns the files of a run except charts and report: run.json, scenario.yaml (the given bytes), summary.json,
// summary.csv, and, if the summary has Data, series.csv.gz, data.json.gz and hist/*.hgrm.
func Files(s *Summary, info RunInfo, scenario []byte) (files []File, err error) {
	type part struct {
		path   string
		encode func() ([]byte, error)
	}
	parts := []part{
		{"run.json", func() ([]byte, error) {
			text, err := json.MarshalIndent(info, "", " ")
			return append(text, '\n'), err
		}},
		{"scenario.yaml", func() ([]byte, error) { return scenario, nil }},
		{"summary.json", s.JSON},
		{"summary.csv", s.encodeCSV},
	}
	if s.Data != nil {
		parts = append(parts, part{seriesFile, s.encodeSeries}, part{dataFile, s.encodeData})
	}
	for _, p := range parts {
		data, err := p.encode()
		if err != nil {
			return nil, fmt.Errorf("encode %s: %w", p.path, err)
		}
		files = append(files, File{p.path, data})
	}
	if s.Data == nil {
		return files, nil
	}
	histograms, err := histogramFiles(s)
	return append(files, histograms...), err
}

// encodeCSV returns the content of summary.csv: a row for each policy, metric and filter.
func (s *Summary) encodeCSV() ([]byte, error) {
	rows := [][]string{{"policy", "metric", "unit", "during", "after", "class", "tenant", "limit_s",
		"mean", "low", "high", "n", "bound", "difference", "difference_low", "difference_high", "p", "shown", "same"}}
	for _, p := range s.Policies {
		for _, e := range slices.Concat(p.Metrics, p.Filtered) {
			rows = append(rows, p.csvRow(&e))
		}
	}
	var out bytes.Buffer
	err := csv.NewWriter(&out).WriteAll(rows)
	return out.Bytes(), err
}

func (p *PolicySummary) csvRow(e *Estimate) []string {
	limit := plain.When(e.Limit != 0, plain.Number(e.Limit.Seconds()))
	row := append([]string{plain.Inert(p.Label), e.Metric, e.Unit, e.During, e.After, e.Class, e.Tenant, limit},
		plain.Numbers(e.Mean, e.Low, e.High)...)
	row = append(row, strconv.Itoa(e.N), e.Bound)
	d := p.Against(e.Query)
	if d == nil {
		return append(row, make([]string, 6)...)
	}
	row = append(row, plain.Numbers(d.Difference, d.Low, d.High, d.P)...)
	return append(row, strconv.FormatBool(d.Shown), strconv.FormatBool(d.Same))
}

// seriesColumns returns the columns of series.csv in order, with pointers to their values; those of classes are last.
func seriesColumns(s *measure.Series, classes []string) []seriesColumn {
	columns := []seriesColumn{
		{"fresh_wait_p50_s", &s.FreshWaitP50}, {"fresh_wait_p99_s", &s.FreshWaitP99}, {"fresh_ready", &s.FreshReady},
		{"retry_ready", &s.RetryReady}, {"waiting", &s.Waiting}, {"utilization", &s.Utilization},
		{"throughput", &s.Throughput}, {"goodput", &s.Goodput}, {"fresh_claims", &s.FreshClaims},
		{"retry_claims", &s.RetryClaims}, {"failures", &s.Failures}, {"starved", &s.Starved},
	}
	for k := range s.Classes {
		columns = append(columns, seriesColumn{classSeries + classes[k], &s.Classes[k]})
	}
	return columns
}

// classSeries is the prefix of the names of series.csv columns that cover one class.
const classSeries = "fresh_wait_p99_s:"

type seriesColumn struct {
	name   string
	values *[]float64
}

// compressed returns, compressed with gzip, the bytes that the function write writes.
func compressed(write func(w io.Writer) error) ([]byte, error) {
	var out bytes.Buffer
	zip, _ := gzip.NewWriterLevel(&out, 5) // 1.5 % larger than at the usual level 6, in half the time
	err := cmp.Or(write(zip), zip.Close())
	return out.Bytes(), err
}

// encodeSeries returns the content of series.csv.gz: a row for each policy, seed and bucket of the time series, with
// six significant digits. time_s is where the bucket begins.
func (s *Summary) encodeSeries() ([]byte, error) {
	var classes *measure.Series // with values by class, which all series with values have then, or none
	for _, data := range s.Data {
		classes = cmp.Or(classes, plain.Find(data.Series, func(series *measure.Series) bool {
			return len(series.Classes) > 0 && len(series.FreshReady) > 0
		}))
	}
	header := []string{"policy", "seed", "time_s"}
	for _, c := range seriesColumns(cmp.Or(classes, new(measure.Series)), s.Settings.Classes) {
		header = append(header, plain.Inert(c.name))
	}
	return compressed(func(w io.Writer) error {
		out, row := csv.NewWriter(w), header
		_ = out.Write(header) // Error has the error of this and of each row
		for p, data := range s.Data {
			for i, series := range data.Series {
				columns := seriesColumns(&series, s.Settings.Classes)
				for j := range series.FreshReady {
					at := (time.Duration(j) * s.Settings.Bucket).Seconds()
					row = append(row[:0], plain.Inert(s.Policies[p].Label), fmt.Sprint(s.Seeds[i]), plain.Number(at))
					for _, column := range columns {
						row = append(row, sixDigits(*column.values, j))
					}
					_ = out.Write(row)
				}
			}
		}
		out.Flush()
		return out.Error()
	})
}

func sixDigits(values []float64, j int) string {
	if j >= len(values) || math.IsNaN(values[j]) {
		return ""
	}
	return strconv.FormatFloat(values[j], 'g', 6, 64)
}

// histogramFiles returns the .hgrm files (tables of percentiles) of the pooled histograms of waits, in milliseconds.
func histogramFiles(s *Summary) ([]File, error) {
	var files []File
	labels := s.labels()
	for p, slug := range Slugs(labels) {
		names := plain.Map(s.Data[p].Pooled, func(h measure.NamedHistogram) string { return h.Query.String() })
		for i, name := range Slugs(names) {
			h := s.Data[p].Pooled[i].Ended
			if h.Count() == 0 {
				continue
			}
			var b bytes.Buffer
			if err := h.WriteHGRM(&b); err != nil {
				return nil, fmt.Errorf("encode histogram %s of %s: %w", names[i], labels[p], err)
			}
			files = append(files, File{"hist/" + slug + "-" + name + ".hgrm", b.Bytes()})
		}
	}
	return files, nil
}

// check returns, as an error, the first contradiction within a summary that was read from a file.
func (s *Summary) check() error {
	for i := 1; i < len(s.Seeds); i++ {
		if s.Seeds[i] <= s.Seeds[i-1] {
			return fmt.Errorf("seed %d follows seed %d", s.Seeds[i], s.Seeds[i-1])
		}
	}
	if len(s.Seeds) == 0 {
		return errors.New("it has no seeds")
	}
	for i := range s.Policies {
		p := &s.Policies[i]
		if s.labelled(p.Label) != p {
			return fmt.Errorf("two policies are labelled %q", p.Label)
		}
		for _, e := range slices.Concat(p.Metrics, p.Filtered) {
			if err := e.check(len(s.Seeds)); err != nil {
				return fmt.Errorf("%s of %s %w", e.Query, p.Label, err)
			}
		}
	}
	if n := plain.Count(s.Policies, func(p PolicySummary) bool { return p.Baseline }); n > 1 {
		return fmt.Errorf("it has %d baselines", n)
	}
	return nil
}

// check returns, as an error, the first contradiction within an estimate over the given number of seeds.
func (e *Estimate) check(seeds int) error {
	n := len(e.known())
	switch {
	case e.Metric == "":
		return errors.New("is no metric: it has no name")
	case len(e.Values) != seeds:
		return fmt.Errorf("has %d values for %d seeds", len(e.Values), seeds)
	case n != e.N:
		return fmt.Errorf("has %d values, but says n %d", n, e.N)
	case e.Null() != (n == 0):
		return fmt.Errorf("has %d values and a mean of %s", n, plain.Either(e.Null(), "null", plain.Number(e.Mean)))
	case e.Bound != "" && e.Bound != ">=":
		return fmt.Errorf("has an unknown bound %q", e.Bound)
	case e.Low > e.Mean || e.High < e.Mean:
		return fmt.Errorf("has a mean of %s outside of its interval", plain.Number(e.Mean))
	case e.Null():
		return nil
	}
	return e.checkValues()
}

// known returns the estimate's values by seed, without the seeds that have no value.
func (e *Estimate) known() []float64 { return slices.DeleteFunc(slices.Clone(e.Values), math.IsNaN) }

// mostStored is an upper limit for any stored value of a run, so that sums of squares stay finite.
const mostStored = 1e100

// checkValues returns an error if an estimate contradicts its values by seed, of which there must be at least one.
func (e *Estimate) checkValues() error {
	values := e.known()
	for _, v := range append([]float64{e.Mean, e.Low, e.High}, values...) {
		if math.Abs(v) > mostStored {
			return fmt.Errorf("has a value of %s, more than any run has", plain.Number(v))
		}
	}
	info, known := measure.Lookup(e.Metric)
	switch {
	case !known || info.KM || info.Quantile != 0 && e.Bound != "":
		return nil // nothing is known of how they go together
	case info.Quantile != 0: // of all the data, which lies between those of its sections
		if low, high := slices.Min(values), slices.Max(values); e.Mean < low*(1-grain) || e.Mean > high*(1+grain) {
			return fmt.Errorf("is %s, but the values by seed are from %s to %s", plain.Number(e.Mean), plain.Number(low),
				plain.Number(high))
		}
	case math.Abs(e.Mean-MeanOf(values)) > rounding*math.Abs(e.Mean):
		return fmt.Errorf("has a mean of %s, but its values have one of %s", plain.Number(e.Mean),
			plain.Number(MeanOf(values)))
	}
	return nil
}

// rounding and grain are relative tolerances when a mean or a quantile in a file is checked against its values by seed.
const (
	rounding = 1e-6
	grain    = 0.01 // tolerance of values from histograms
)
