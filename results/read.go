package results

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"qsim/results/measure"
	"qsim/results/plain"
)

// Read returns the summary of the run in folder dir, and the content of its run.json: zero if there is none. dir may
// also be the folder of all runs of a scenario, for its latest one, or a summary.json itself. Settings and Data of the
// summary are nil.
func Read(dir string) (*Summary, RunInfo, error) {
	path := dir
	if info, err := os.Stat(dir); err != nil {
		return nil, RunInfo{}, fmt.Errorf("read results: %w", err)
	} else if info.IsDir() {
		path = filepath.Join(dir, "summary.json")
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			path = filepath.Join(dir, "latest", "summary.json")
		}
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return nil, RunInfo{}, fmt.Errorf("read results: %s has no summary.json: it is no folder of a run", dir)
		}
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, RunInfo{}, fmt.Errorf("read results: %w", err)
	}
	defer file.Close() // it was only read
	s, err := ReadSummary(file)
	if err != nil {
		return nil, RunInfo{}, fmt.Errorf("%s: %w", path, err)
	}
	var made RunInfo
	text, err := os.ReadFile(filepath.Join(filepath.Dir(path), "run.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return s, made, nil
	}
	if err == nil {
		err = json.Unmarshal(plain.PrintableJSON(text), &made)
	}
	if err != nil {
		return nil, RunInfo{}, fmt.Errorf("%s: read run.json: %w", filepath.Dir(path), err)
	}
	return s, made, nil
}

// check returns the first contradiction within a summary that was read, as an error.
func (s *Summary) check() error {
	for i := 1; i < len(s.Seeds); i++ {
		if s.Seeds[i] <= s.Seeds[i-1] {
			return fmt.Errorf("seed %d follows seed %d", s.Seeds[i], s.Seeds[i-1])
		}
	}
	if len(s.Seeds) == 0 {
		return errors.New("it has no seeds")
	}
	baselines := 0
	for i := range s.Policies {
		p := &s.Policies[i]
		if s.labelled(p.Label) != p {
			return fmt.Errorf("two policies are labelled %q", p.Label)
		}
		if p.Baseline {
			baselines++
		}
		for _, list := range [][]Estimate{p.Metrics, p.Filtered} {
			for j := range list {
				if err := list[j].check(len(s.Seeds)); err != nil {
					return fmt.Errorf("%s of %s %w", list[j].Query, p.Label, err)
				}
			}
		}
	}
	if baselines > 1 {
		return fmt.Errorf("it has %d baselines", baselines)
	}
	return nil
}

// check returns the first contradiction within an estimate over that many seeds, as an error.
func (e *Estimate) check(seeds int) error {
	n := 0
	for _, v := range e.Values {
		if !math.IsNaN(v) {
			n++
		}
	}
	switch {
	case e.Metric == "":
		return errors.New("is no metric: it has no name")
	case len(e.Values) != seeds:
		return fmt.Errorf("has %d values for %d seeds", len(e.Values), seeds)
	case n != e.N:
		return fmt.Errorf("has %d values, but says n %d", n, e.N)
	case e.Null() != (n == 0):
		return fmt.Errorf("has %d values and a mean of %s", n, plainOrNull(e.Mean))
	case e.Bound != "" && e.Bound != ">=":
		return fmt.Errorf("has an unknown bound %q", e.Bound)
	case e.Low > e.Mean || e.High < e.Mean:
		return fmt.Errorf("has a mean of %s outside of its interval", plain.Number(e.Mean))
	case e.Null():
		return nil
	}
	return e.checkValues()
}

// mostStored is an upper limit for any stored value of a run, so that sums of squares stay finite.
const mostStored = 1e100

// checkValues returns the first contradiction between an estimate and its values by seed, at least one, as an error.
func (e *Estimate) checkValues() error {
	values := slices.DeleteFunc(slices.Clone(e.Values), math.IsNaN)
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
			return fmt.Errorf("is %s, but the values by seed are from %s to %s", plain.Number(e.Mean), plain.Number(low), plain.Number(high))
		}
	case math.Abs(e.Mean-MeanOf(values)) > rounding*math.Abs(e.Mean):
		return fmt.Errorf("has a mean of %s, but its values have one of %s", plain.Number(e.Mean), plain.Number(MeanOf(values)))
	}
	return nil
}

// rounding and grain are the relative tolerances within which related numbers of a summary must agree.
const (
	rounding = 1e-6
	grain    = 0.01 // tolerance of values from histograms
)

func plainOrNull(v float64) string {
	if math.IsNaN(v) {
		return "null"
	}
	return plain.Number(v)
}
