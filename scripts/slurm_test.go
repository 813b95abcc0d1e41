package scripts

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// sweptScenario is a scenario for TestSlurm: a cell of its sweep takes some tenths of a second.
const sweptScenario = `name: swept
duration: 10m
warmup: 10s
seeds: 4
engine: {workers: 8}
jobs:
  - class: mail
    arrivals: {process: poisson, rate: 30/s}
    service: {dist: exponential, mean: 200ms}
    fails: {rate: 2%, errors: {timeout: 100%}}
policies: [{kind: fifo}, {kind: fresh-first}]
objectives:
  - {metric: fresh.wait.p99, below: 10s}
`

var sweptAxes = []string{"--vary", "engine.workers=8..30/2", "--vary", "retry.jitter=none,full"}

// TestSlurm runs a sweep as a job array of a real Slurm with one node, kills a shard while it computes, submits again
// what qsim merge --missing lists, and checks that the merged files equal those of one process, byte for byte.
func TestSlurm(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"slurmctld", "slurmd", "sbatch", "squeue", "sinfo", "scancel", "munged"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("SKIPPED: THE SLURM ARRAY IS NOT TESTED: %v; scripts/test installs it as root (slurm-wlm, munge)", err)
		}
	}
	dir := t.TempDir()
	qsim := filepath.Join(dir, "bin", "qsim")
	ctx := buildQsim(t, qsim)
	scenario := filepath.Join(dir, "swept.yaml")
	write(t, scenario, sweptScenario)
	whole, parts := filepath.Join(dir, "whole"), filepath.Join(dir, "parts")
	sweep := append([]string{scenario}, sweptAxes...)
	command(ctx, t, nil, qsim, append(append([]string{"sweep"}, sweep...), "--out", whole, "--quiet")...)

	c := startCluster(ctx, t, filepath.Join(dir, "slurm"), filepath.Dir(qsim))
	job := c.submit("--array=0-3%2", parts, sweep)
	c.await("a finished cell of shard 1", func() bool {
		return finishedCells(parts) > 0
	})
	c.run("scancel", "--full", "--signal=KILL", job+"_1")
	c.await("the end of the array", func() bool { return c.run("squeue", "--noheader") == "" })
	missing := c.run(qsim, "merge", parts, "--missing")
	if missing != "1" {
		t.Fatalf("missing: %q, want shard 1, which was killed\n%s", missing, c.output())
	}
	if text, err := exec.CommandContext(ctx, qsim, "merge", parts).CombinedOutput(); err == nil || !strings.Contains(string(text), "1 of 4 shards are missing: 1") {
		t.Errorf("merge of what is not complete: %v: %s", err, text)
	}
	before := finishedCells(parts)
	if before == 0 {
		t.Error("the killed shard left no finished cell")
	}
	c.submit("--array="+missing, parts, sweep)
	c.await("the end of the shard that was submitted again", func() bool { return c.run("squeue", "--noheader") == "" })
	if text := c.output(); !strings.Contains(text, fmt.Sprintf("%d of 6 cells are there", before)) {
		t.Errorf("the shard did not go on with its %d finished cells:\n%s", before, text)
	}
	c.run(qsim, "merge", parts)
	compareTrees(t, whole, parts)
}

// finishedCells returns the number of cells in the journal of shard 1.
func finishedCells(parts string) int {
	text, _ := os.ReadFile(filepath.Join(parts, "shard-1-of-4.partial.jsonl"))
	return strings.Count(string(text), "}\n")
}

// compareTrees fails the test unless the folders a and b of two sweeps have the same files, except those of shards.
func compareTrees(t *testing.T, a, b string) {
	t.Helper()
	one, two := hashes(t, a), hashes(t, b)
	if len(one) < 5 || len(one) != len(two) {
		t.Errorf("%d files and %d, want 5 or more and as many", len(one), len(two))
	}
	for name, hash := range one {
		if two[name] != hash {
			t.Errorf("%s differs: %s and %s", name, hash, two[name])
		}
	}
}

func hashes(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasPrefix(path, "shard-") {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, path))
		all[path] = fmt.Sprintf("%x", sha256.Sum256(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// cluster is a running Slurm with one node on the loopback interface, whose files are all in one folder.
type cluster struct {
	t   *testing.T
	ctx context.Context
	dir string
	env []string
}

const slurmConfig = `ClusterName=one
SlurmctldHost=NODE(127.0.0.1)
SlurmctldPort=CONTROL
SlurmdPort=DAEMON
SlurmUser=USER
SlurmdUser=USER
AuthType=auth/munge
AuthInfo=socket=DIR/munge.socket
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
StateSaveLocation=DIR/state
SlurmdSpoolDir=DIR/spool
SlurmctldLogFile=DIR/log/control.log
SlurmdLogFile=DIR/log/daemon.log
SlurmctldPidFile=DIR/control.pid
SlurmdPidFile=DIR/daemon.pid
MpiDefault=none
ReturnToService=2
SchedulerParameters=sched_min_interval=100000,bf_interval=1
JobAcctGatherType=jobacct_gather/none
NodeName=NODE NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=p Nodes=NODE Default=YES MaxTime=INFINITE State=UP
`

func startCluster(ctx context.Context, t *testing.T, dir, path string) *cluster {
	t.Helper()
	for _, name := range []string{"state", "spool", "log", "out"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	own, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	node, _, _ := strings.Cut(host, ".")
	ports := freePorts(t)
	write(t, filepath.Join(dir, "slurm.conf"), strings.NewReplacer("NODE", node, "USER", own.Username, "DIR", dir,
		"CONTROL", ports[0], "DAEMON", ports[1]).Replace(slurmConfig))
	write(t, filepath.Join(dir, "cgroup.conf"), "CgroupAutomount=no\n")
	key := make([]byte, 1024)
	rand.Read(key) // never fails
	write(t, filepath.Join(dir, "munge.key"), string(key))
	c := &cluster{t: t, ctx: ctx, dir: dir, env: append(os.Environ(), "SLURM_CONF="+filepath.Join(dir, "slurm.conf"), "PATH="+path+":"+os.Getenv("PATH"))}
	c.daemon("munged", "--foreground", "--force", "--num-threads=2", "--socket="+filepath.Join(dir, "munge.socket"), "--key-file="+filepath.Join(dir, "munge.key"),
		"--pid-file="+filepath.Join(dir, "munge.pid"), "--log-file="+filepath.Join(dir, "log", "munge.log"), "--seed-file="+filepath.Join(dir, "munge.seed"))
	c.await("munge's socket", func() bool {
		connection, err := net.Dial("unix", filepath.Join(dir, "munge.socket"))
		if err == nil {
			connection.Close()
		}
		return err == nil
	})
	c.daemon("slurmctld", "-D", "-i", "-f", filepath.Join(dir, "slurm.conf"))
	c.daemon("slurmd", "-D", "-f", filepath.Join(dir, "slurm.conf"), "-N", node)
	t.Cleanup(func() { c.quietly("scancel", "--full", "--signal=KILL", "--state=RUNNING") })
	c.await("an idle node", func() bool { return strings.TrimSpace(c.quietly("sinfo", "--noheader", "--format=%T")) == "idle" })
	return c
}

// daemon starts a program in the background, and stops it when the test ends.
func (c *cluster) daemon(name string, arguments ...string) {
	c.t.Helper()
	log, err := os.Create(filepath.Join(c.dir, "log", name+".out"))
	if err != nil {
		c.t.Fatal(err)
	}
	defer log.Close()
	process := exec.Command(name, arguments...)
	process.Env, process.Stdout, process.Stderr = c.env, log, log
	if err := process.Start(); err != nil {
		c.t.Fatalf("start %s: %v", name, err)
	}
	ended := make(chan struct{})
	go func() {
		process.Wait()
		close(ended)
	}()
	c.t.Cleanup(func() {
		process.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			process.Process.Kill()
			<-ended
		}
	})
}

// submit submits shards of a sweep, whose indexes are array in sbatch's syntax, and returns the ID of the Slurm job.
func (c *cluster) submit(array, parts string, sweep []string) string {
	c.t.Helper()
	script, err := filepath.Abs("slurm/sweep.sh")
	if err != nil {
		c.t.Fatal(err)
	}
	return c.run("sbatch", append([]string{"--parsable", array, "--output=" + filepath.Join(c.dir, "out", "%A_%a.out"), script, "4", parts}, sweep...)...)
}

func (c *cluster) run(name string, arguments ...string) string {
	c.t.Helper()
	return command(c.ctx, c.t, c.env, name, arguments...)
}

// quietly runs a program with the cluster's environment and returns its output, also if it fails.
func (c *cluster) quietly(name string, arguments ...string) string {
	process := exec.Command(name, arguments...)
	process.Env = c.env
	text, _ := process.Output()
	return string(text)
}

// await waits until is returns true, and fails the test when the cluster's context ends; what describes it.
func (c *cluster) await(what string, is func() bool) {
	c.t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-c.ctx.Done():
			c.t.Fatalf("waited in vain for %s\n%s", what, c.output())
		}
	}
}

// output returns the end of what each daemon and Slurm job of the cluster has printed, for messages of failed tests.
func (c *cluster) output() string {
	var all strings.Builder
	for _, pattern := range []string{"log/*", "out/*"} {
		names, _ := filepath.Glob(filepath.Join(c.dir, pattern))
		for _, name := range names {
			text, _ := os.ReadFile(name)
			if len(text) > 4000 {
				text = text[len(text)-4000:]
			}
			fmt.Fprintf(&all, "== %s\n%s\n", filepath.Base(name), text)
		}
	}
	return all.String()
}

// command runs a program, which must succeed, and returns its output without surrounding spaces.
func command(ctx context.Context, t *testing.T, env []string, name string, arguments ...string) string {
	t.Helper()
	process := exec.CommandContext(ctx, name, arguments...)
	process.Env = env
	var problems bytes.Buffer
	process.Stderr = &problems
	text, err := process.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(arguments, " "), err, text, problems.Bytes())
	}
	return strings.TrimSpace(string(text))
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// freePorts returns two unused ports of the loopback interface.
func freePorts(t *testing.T) (ports [2]string) {
	t.Helper()
	for i := range ports {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		_, ports[i], _ = net.SplitHostPort(listener.Addr().String())
	}
	return ports
}
