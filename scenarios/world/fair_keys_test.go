package world

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/sim"
	"qsim/results/measure"
	"qsim/scenarios"
	"qsim/scenarios/spec"
)

// fairKeys is the experiment behind the scenarios published/fair-keys-NAME: its keys in the order in which their jobs
// were drawn, and the one whose waits are published.
var fairKeys = map[string]struct {
	keys  []fairKey
	light string
}{
	"skew":    {[]fairKey{{"heavy", 240, 0}, {"light-1", 15, 10}, {"light-2", 15, 10}, {"light-3", 15, 10}, {"light-4", 15, 10}}, "light-1"},
	"trickle": {[]fairKey{{"bulk", 240, 0}, {"trickle-1", 30, 25}, {"trickle-2", 30, 25}}, "trickle-1"},
	"sybil": {[]fairKey{{"heavy-0", 30, 0}, {"heavy-1", 30, 0}, {"heavy-2", 30, 0}, {"heavy-3", 30, 0}, {"heavy-4", 30, 0}, {"heavy-5", 30, 0},
		{"heavy-6", 30, 0}, {"heavy-7", 30, 0}, {"heavy-8", 30, 0}, {"heavy-9", 30, 0}, {"light", 20, 40}}, "light"},
	"alone": {[]fairKey{{"heavy", 200, 0}}, "heavy"},
}

// fairKey is a key with a number of jobs: all at once, or at a rate per second, the first at 0.
type fairKey struct {
	name string
	jobs int
	rate float64
}

// fairRow matches a line of those scenarios' tables: treatment, published wait in ms, that of many seeds, policy.
var fairRow = regexp.MustCompile(`(?m)^# \| (\S+) \| ([\d.]+) \| [\d.]+ \| (.*) \|$`)

// TestFairKeys compares all published figures that a policy can reproduce on the very jobs of the experiment: those of
// its three seeds, whose means it publishes. It prints the others.
func TestFairKeys(t *testing.T) {
	cells, unsaid := 0, 0
	for name, x := range fairKeys {
		_, src, err := scenarios.Open("published/fair-keys-" + name)
		if err != nil {
			t.Fatal(err)
		}
		sc, _ := opened(t, "published/fair-keys-"+name)
		waits := map[string]float64{}
		for _, seed := range []string{"seed-a", "seed-b", "seed-c"} {
			for policy, wait := range fairRun(t, sc, fairJobs(sc, x.keys, seed), x.light) {
				waits[policy] += wait / 3
			}
		}
		for _, row := range fairRow.FindAllStringSubmatch(string(src), -1) {
			cells++
			published, err := strconv.ParseFloat(row[2], 64)
			if err != nil {
				t.Fatal(err)
			}
			wait, said := waits[row[3]]
			switch {
			case !said && regexp.MustCompile("^cannot be said: .+").MatchString(row[3]):
				unsaid++
				t.Logf("%s %s, published %v ms: %s", name, row[1], published, row[3])
			case !said:
				t.Errorf("%s %s: there is no policy %q", name, row[1], row[3])
			case math.Abs(wait-published) > 0.15*published:
				t.Errorf("%s %s: %.1f ms, published %v", name, row[1], wait, published)
			default:
				t.Logf("%s %s: %.1f ms, published %v", name, row[1], wait, published)
			}
		}
	}
	if cells != 24 || unsaid > 4 {
		t.Errorf("%d cells, %d of them unsaid: want 24, and 4 at most", cells, unsaid)
	}
}

// fairJobs returns the jobs of the experiment under a seed, in the order of their enqueueing, in whole milliseconds.
func fairJobs(sc *scenarios.Scenario, keys []fairKey, seed string) (all []fairJob) {
	random := newSeedRandom(seed)
	draw := func(mean float64) time.Duration {
		return max(1, time.Duration(math.Round(-math.Log(1-random.float())*mean))) * time.Millisecond
	}
	for _, k := range keys {
		class := slices.IndexFunc(sc.Jobs, func(j scenarios.JobClass) bool { return j.Class == k.name })
		at := time.Duration(0)
		for i := range k.jobs {
			if k.rate > 0 && i > 0 {
				at += draw(1000 / k.rate)
			}
			all = append(all, fairJob{fmt.Sprintf("%s#%d", k.name, i), at, draw(25), engine.NewJob{
				Kind: engine.Kind(class), Tenant: sc.TenantID(class, 0)}})
		}
	}
	slices.SortFunc(all, func(a, b fairJob) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.name, b.name)) })
	number := map[engine.Kind]uint64{} // by which jobs of one instant stand in line
	for i := range all {
		kind := all[i].job.Kind
		all[i].job.ID = spec.JobID(int(kind), number[kind])
		number[kind]++
	}
	return all
}

type fairJob struct {
	name     string
	at, hold time.Duration
	job      engine.NewJob
}

// fairRun returns, by policy, the mean wait in ms of the key light, for the jobs of the experiment.
func fairRun(t *testing.T, sc *scenarios.Scenario, jobs []fairJob, light string) map[string]float64 {
	t.Helper()
	sc.Seeds = 1
	runs := seedsOf(t, sc, 0, 1, Options{Parallel: 1, Alter: func(_ int, _ uint64, cfg *sim.Config) {
		cfg.Workload, cfg.Handlers = &fairArrivals{jobs}, fairHandlers{cfg.Handlers, jobs}
	}})
	waits := map[string]float64{}
	for i := range runs {
		waits[sc.Policies[i].Label] = 1000 * value(t, &runs[i], measure.Query{Metric: "fresh.wait.mean", Tenant: light})
	}
	return waits
}

type fairArrivals struct{ left []fairJob }

// Next implements sim.Workload.
func (a *fairArrivals) Next(j *engine.NewJob) (at engine.Time, ok bool) {
	if len(a.left) == 0 {
		return 0, false
	}
	first := a.left[0]
	a.left = a.left[1:]
	*j = first.job
	return engine.Time(first.at), true
}

type fairHandlers struct {
	sim.Handlers
	jobs []fairJob
}

// Begin implements sim.Handlers.
func (h fairHandlers) Begin(now engine.Time, node int32, j *engine.Job) sim.Execution {
	x := h.Handlers.Begin(now, node, j)
	x.Runs = h.jobs[slices.IndexFunc(h.jobs, func(f fairJob) bool { return f.job.ID == j.ID })].hold
	return x
}

// seedRandom is the generator of the experiment: the npm package seedrandom 3, an ARC4 key stream.
type seedRandom struct {
	state [256]byte
	i, j  byte
}

func newSeedRandom(seed string) *seedRandom {
	r := &seedRandom{}
	for i := range r.state {
		r.state[i] = byte(i)
	}
	for i := range r.state {
		r.j += r.state[i] + seed[i%len(seed)]
		r.state[i], r.state[r.j] = r.state[r.j], r.state[i]
	}
	r.j = 0
	for range r.state {
		r.next()
	}
	return r
}

func (r *seedRandom) next() byte {
	r.i++
	r.j += r.state[r.i]
	r.state[r.i], r.state[r.j] = r.state[r.j], r.state[r.i]
	return r.state[r.state[r.i]+r.state[r.j]]
}

// float returns a number in [0, 1) of 52 bits or more.
func (r *seedRandom) float() float64 {
	n, d, x := uint64(0), math.Pow(256, 6), uint64(0)
	for range 6 {
		n = n<<8 | uint64(r.next())
	}
	value := float64(n)
	for value < 1<<52 {
		value = (value + float64(x)) * 256
		d *= 256
		x = uint64(r.next())
	}
	for value >= 1<<53 {
		value, d, x = value/2, d/2, x>>1
	}
	return (value + float64(x)) / d
}
