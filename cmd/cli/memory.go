package cli

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"qsim/results/plain"
	"qsim/scenarios"
	"qsim/scenarios/estimate"
)

// memorySize is the value of a flag for an amount of memory, in bytes, such as 12GB.
type memorySize float64

// sizes lists the units of memory, the longest names first.
var sizes = []struct {
	unit  string
	bytes float64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}}

// String returns the flag's amount of memory as text, "" for none.
func (m *memorySize) String() string {
	if *m == 0 {
		return ""
	}
	return inMemory(float64(*m))
}

// Type returns the name that the help text uses for the flag's value.
func (m *memorySize) Type() string { return "SIZE" }

// Set parses an amount of memory such as 12GB.
func (m *memorySize) Set(text string) error {
	for _, s := range sizes {
		if number, found := strings.CutSuffix(text, s.unit); found {
			if n, err := strconv.ParseFloat(strings.TrimSpace(number), 64); err == nil && n > 0 && !math.IsInf(n, 0) {
				*m = memorySize(n * s.bytes)
				return nil
			}
		}
	}
	return fmt.Errorf("want a size such as 12GB or 800MiB")
}

// inMemory returns a number of bytes as text: 1.2 GB.
func inMemory(bytes float64) string {
	for _, s := range sizes[2:] {
		if bytes >= s.bytes {
			return plain.Digits(bytes/s.bytes, 2) + " " + s.unit
		}
	}
	return plain.Digits(bytes, 2) + " B"
}

// addMemory adds the flag --memory of a command that simulates.
func addMemory(c *cobra.Command, most *memorySize) {
	c.Flags().Var(most, "memory", "refuse what would take more memory than this `SIZE`, as 12GB (default: three quarters "+
		"of the machine's)")
}

// fits returns an error if the given number of simulations of a scenario, of which parallel run at once, would take more
// memory than m; 0 stands for three quarters of the machine's memory.
func (m memorySize) fits(sc *scenarios.Scenario, simulations, parallel int) error {
	limit, of := float64(m), "--memory says"
	if m == 0 {
		limit, of = 0.75*machineMemory(), "three quarters of this machine's are"
	}
	if parallel == 0 {
		parallel = runtime.GOMAXPROCS(0)
	}
	f := estimate.Of(sc)
	abreast := min(parallel, simulations)
	if limit > 0 && f.Bytes*float64(abreast) > limit {
		return fmt.Errorf("%s brings so many jobs that about %s are alive at once: %s in a simulation, with %s at a "+
			"time; %s %s. Lower it, add workers, run fewer at once with -j, or allow more with --memory", f.Key,
			plain.Grouped(plain.Digits(f.Jobs, 2)), inMemory(f.Bytes), plain.Plural(abreast, "simulation"), of, inMemory(limit))
	}
	return nil
}

// machineMemory returns the memory of this machine in bytes, or of this control group if that is less; 0: it is not
// known.
func machineMemory() (all float64) {
	text, _ := os.ReadFile("/proc/meminfo")
	if _, rest, found := bytes.Cut(text, []byte("MemTotal:")); found {
		kilobytes, _ := strconv.ParseFloat(string(bytes.Fields(rest)[0]), 64)
		all = kilobytes * 1024
	}
	text, _ = os.ReadFile("/sys/fs/cgroup/memory.max")
	if most, err := strconv.ParseFloat(string(bytes.TrimSpace(text)), 64); err == nil && (all == 0 || most < all) {
		all = most
	}
	return all
}
