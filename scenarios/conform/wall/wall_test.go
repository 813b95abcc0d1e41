// Package wall compares presets with systems on the wall clock: each system runs in separate processes, whose
// handlers follow the jobs' instructions and log events. Only differences of seconds are judged.
package wall

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"qsim/conform/common"
)

const second, minute, ms = time.Second, time.Minute, time.Millisecond

// settings are a system's own options for one test case.
type settings struct {
	Worker map[string]any
	Job    map[string]any
	Of     map[string]map[string]any // by class: options of its jobs, instead of Job
	// Elapse is SQL that sets back by $1 seconds since when rows wait: when a process dies, so long passes at once.
	Elapse string
	Passes time.Duration
}

// peer is a system that is compared on the wall clock, its processes being those of a driver program.
type peer struct {
	common.System
	driver   []string                                     // the program that its processes run
	address  func(t *testing.T, of string) map[string]any // returns the address of a place in its server for one run
	settings map[string]settings                          // settings by case
	putter   *process                                     // process that inserts jobs, shared by all runs
	lock     sync.Mutex                                   // guards putter
}

// hold runs all cases of the system and judges its rules; a rule that does not hold fails the test.
func (p *peer) hold(t *testing.T) {
	if !common.Long() {
		t.Skip("it waits on the wall clock: with -long")
	}
	t.Parallel()
	p.Clock, p.Run = common.Wall, p.run
	p.address(t, p.place("first")) // which starts the server, or tells that there is none
	p.putter = p.begin(t, "put", nil, nil)
	defer p.putter.end()
	p.Hold(t)
}

// begin starts the driver in a role, put (enqueues jobs) or work; for heard see the function begin.
func (p *peer) begin(t *testing.T, role string, config map[string]any, heard func(line)) *process {
	text, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(p.driver[0], append(p.driver[1:], p.Preset, role, string(text))...)
	return begin(t, command, heard)
}

// place returns a name for a queue or database of the system, which no other system's has.
func (p *peer) place(name string) string { return strings.ReplaceAll(p.Preset, "-", "_") + "_" + name }

// put sends a message to the process that enqueues jobs, and waits for its answer.
func (p *peer) put(message map[string]any) error {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.putter.ask(message)
}

// run runs a case: it starts a worker process for each node, of which node 0 may crash, and enqueues the jobs.
func (p *peer) run(t *testing.T, r *common.Run) {
	own := p.settings[r.Name]
	queue := p.place(fmt.Sprint(r.Name, "_", r.Seed))
	address := p.address(t, queue)
	config := map[string]any{"queue": queue, "workers": r.Workers, "options": own.Worker, "address": address}
	if err := p.put(config); err != nil {
		t.Errorf("%s: %v", queue, err)
		return
	}
	var lock sync.Mutex
	var all []*process
	operated := make(chan struct{})
	go func() {
		defer close(operated)
		r.Operate(func(node string) func() {
			w := p.begin(t, "work", config, func(l line) { l.log(r, node) })
			lock.Lock()
			defer lock.Unlock()
			all = append(all, w)
			return func() {
				w.end()
				if own.Elapse != "" {
					if err := execute(address, own.Elapse, own.Passes.Seconds()); err != nil {
						t.Error(err)
					}
					r.Ahead(own.Passes)
				}
			}
		})
	}()
	err := r.Drive(func(j common.Job) error {
		c := r.Class(j.Class)
		job := map[string]any{"id": j.ID, "takes": c.Service.Seconds()}
		if c.Fails {
			job["fails"] = []float64{epoch(r.On(r.From)), epoch(r.On(r.To))}
		}
		options := own.Job
		if of := own.Of[j.Class]; of != nil {
			options = of
		}
		return p.put(map[string]any{"queue": queue, "job": job, "options": options})
	})
	if err != nil {
		t.Errorf("%s: %v", queue, err)
	}
	close(r.Over)
	<-operated
	for _, w := range all {
		w.end()
	}
}

func epoch(at time.Time) float64 { return float64(at.UnixMicro()) / 1e6 }

// modules returns the folder with the npm modules of testdata/package-lock.json, or skips the test.
func modules(t *testing.T) string {
	folder := os.Getenv("CONFORM_NPM")
	if folder == "" {
		t.Skip("NOT CHECKED: CONFORM_NPM names no folder with the packages of testdata/package-lock.json")
	}
	return folder
}

// node makes p's driver the one in JavaScript, testdata/driver.mjs, and returns p.
func (p *peer) node(t *testing.T) *peer {
	p.driver = []string{"node", "testdata/driver.mjs", modules(t)}
	return p
}

// debian sets p's version to that of a Debian package, and its driver; it skips the test if either is not installed.
func (p *peer) debian(t *testing.T, name string, driver ...string) {
	version := common.Debian(t, name)
	missing(t, driver[0], "of Debian")
	p.Version, p.driver = strings.Fields(p.Version)[0]+" "+version, driver
}
