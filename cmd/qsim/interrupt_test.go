package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"qsim/cmd/ui"
)

// hangs limits how long a process may take in a test: it ends one that hangs, on a busy machine too.
const hangs = 10 * time.Minute

// TestTerminated: a run stopped by SIGTERM also keeps its finished seeds, and its message names the signal.
func TestTerminated(t *testing.T) {
	out := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), hangs)
	defer cancel()
	command := exec.CommandContext(ctx, "qsim", "run", "testdata/small.yaml", "--seeds", "10000", "--verbose", "--out", out)
	pipe, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	lines, told := bufio.NewScanner(pipe), false
	for lines.Scan() {
		if !told && strings.Contains(lines.Text(), "Weighted 80/20: 2 of") {
			told = true
			if err := command.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := command.Wait(); command.ProcessState.ExitCode() != int(ui.ExitTerminated) {
		t.Errorf("%v, want exit %d", err, ui.ExitTerminated)
	}
	if _, err := os.Stat(filepath.Join(out, "small", "latest", "summary.json")); err != nil {
		t.Error(err)
	}
}

// interrupted starts qsim, waits for each text on its standard error in turn, sends an interrupt
// after each, and returns the output and the exit code.
func interrupted(t *testing.T, arguments, after []string) (stdout, stderr string, code int) {
	t.Helper()
	var out bytes.Buffer
	stderr, code = interruptedInto(t, &out, arguments, after)
	return out.String(), stderr, code
}

// interruptedInto is interrupted with a standard output of the test's own.
func interruptedInto(t *testing.T, stdout io.Writer, arguments, after []string) (stderr string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hangs) // if it does not print what is waited for
	defer cancel()
	command := exec.CommandContext(ctx, "qsim", arguments...)
	command.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	var all bytes.Buffer
	command.Stdout = stdout
	pipe, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(io.TeeReader(pipe, &all))
	for _, text := range after {
		found := false
		for !found && lines.Scan() {
			found = strings.Contains(lines.Text(), text)
		}
		if !found {
			t.Fatalf("%q was not printed; standard error:\n%s", text, all.String())
		}
		if err := command.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
	}
	for lines.Scan() {
	}
	err = command.Wait()
	var exit *exec.ExitError
	switch {
	case err == nil:
	case errors.As(err, &exit) && exit.Exited():
		code = exit.ExitCode()
	case errors.As(err, &exit):
		t.Fatalf("died of %v; standard error:\n%s", exit.Sys().(syscall.WaitStatus).Signal(), all.String())
	default:
		t.Fatal(err)
	}
	return all.String(), code
}

// The first interrupt keeps the seeds that have finished, as a partial result that is
// printed and stored.
func TestInterrupt(t *testing.T) {
	out := t.TempDir()
	stdout, stderr, code := interrupted(t,
		[]string{"run", "testdata/small.yaml", "--seeds", "10000", "--verbose", "--out", out}, []string{"Weighted 80/20: 2 of"})
	if code != int(ui.ExitInterrupted) {
		t.Errorf("exit %d, want %d; standard error:\n%s", code, ui.ExitInterrupted, stderr)
	}
	if !strings.Contains(stdout, "Weighted 80/20") {
		t.Errorf("no table on standard output:\n%s", stdout)
	}
	text, err := os.ReadFile(filepath.Join(out, "small", "latest", "summary.json"))
	if err != nil {
		t.Fatal(err)
	}
	var summary struct {
		Partial bool
		Seeds   []int
	}
	if err := json.Unmarshal(text, &summary); err != nil {
		t.Fatal(err)
	}
	if !summary.Partial || len(summary.Seeds) < 1 || len(summary.Seeds) > 9_999 {
		t.Errorf("got partial %t with %d seeds, want some of them", summary.Partial, len(summary.Seeds))
	}
}

// The second interrupt ends the process at once: here while it prints the finished part into a full pipe without a
// reader.
func TestInterruptTwice(t *testing.T) {
	full, err := fullPipe(t)
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	stderr, code := interruptedInto(t, full,
		[]string{"run", "testdata/small.yaml", "--seeds", "10000", "--verbose", "--out", out},
		[]string{"Weighted 80/20: 2 of", "interrupted"})
	if code != int(ui.ExitInterrupted) {
		t.Errorf("exit %d, want %d; standard error:\n%s", code, ui.ExitInterrupted, stderr)
	}
	if _, err := os.Lstat(filepath.Join(out, "small", "latest")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a result was written (%v)", err)
	}
}

// fullPipe returns the writing end of a pipe that is full and has no reader.
func fullPipe(t *testing.T) (*os.File, error) {
	t.Helper()
	from, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { from.Close(); to.Close() })
	if err := to.SetWriteDeadline(time.Now().Add(20 * time.Millisecond)); err != nil {
		return nil, err
	}
	if _, err := to.Write(make([]byte, 1<<22)); !errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, fmt.Errorf("a pipe took 4 MiB: %w", err)
	}
	return to, nil
}

// An interrupt before any seed has finished leaves no files, with a message.
func TestInterruptEarly(t *testing.T) {
	out := t.TempDir()
	stdout, stderr, code := interrupted(t,
		[]string{"run", "testdata/small.yaml", "--set", "duration=1000h", "--set", "drain=0s", "--seeds", "2", "--verbose", "--out", out}, []string{"2 policies"})
	if code != int(ui.ExitInterrupted) || stdout != "" || !strings.Contains(stderr, "before a seed had finished") {
		t.Errorf("exit %d, want %d; standard output %q; standard error:\n%s", code, ui.ExitInterrupted, stdout, stderr)
	}
	if left, err := os.ReadDir(out); err != nil || len(left) > 0 {
		t.Errorf("%d entries are left in %s (%v)", len(left), out, err)
	}
}

// An interrupted trace ends with a message, after the events printed so far.
func TestInterruptTrace(t *testing.T) {
	_, stderr, code := interrupted(t,
		[]string{"trace", "testdata/small.yaml", "--set", "duration=2h", "--find", "worst-wait"}, []string{"worst-wait: mail/"})
	if code != int(ui.ExitInterrupted) || !strings.Contains(stderr, "interrupted: the trace ends here") {
		t.Errorf("exit %d, want %d; standard error:\n%s", code, ui.ExitInterrupted, stderr)
	}
}

// The page of play is there at the address that is printed, with its token alone, until an interrupt.
func TestInterruptPlay(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), hangs)
	defer cancel()
	command := exec.CommandContext(ctx, "qsim", "play", "testdata/small.yaml", "--set", "seeds=1", "--policy", "fifo", "--memory", "100MB")
	pipe, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	command.Stderr = &stderr
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(pipe)
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), "http://127.0.0.1:") {
		t.Fatalf("it prints %q, %s", lines.Text(), &stderr)
	}
	address := lines.Text()
	at, _ := url.Parse(address)
	for path, want := range map[string]int{address: 200, address + "play.js": 200, "http://" + at.Host + "/": 403, "http://" + at.Host + "/play.js": 403} {
		answer, err := http.Get(path)
		if err != nil {
			t.Fatal(err)
		}
		if answer.Body.Close(); answer.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, answer.StatusCode, want)
		}
	}
	answer, err := http.Post(address+"run", "application/json", strings.NewReader(`{"sets": [{"path": "engine.workers", "value": "4"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	said, err := io.ReadAll(answer.Body)
	answer.Body.Close()
	if text := string(said); err != nil || !strings.Contains(text, `"done":true`) || !strings.Contains(text, `"value":"4","usual":"8"`) || strings.Contains(text, `Weighted 80/20","on":true`) {
		t.Errorf("%v: %.2000s", err, text)
	}
	answer, err = http.Post(address+"run", "application/json", strings.NewReader(`{"sets": [{"path": "jobs.mail.arrivals.rate", "value": "90000/s"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	said, err = io.ReadAll(answer.Body)
	answer.Body.Close()
	if text := string(said); err != nil || !strings.Contains(text, `{"set":0,"place":"","error":true,"message":"jobs.mail.arrivals brings so many jobs that about`) || !strings.Contains(text, "--memory says 100 MB") || strings.Count(text, "\n") != 1 {
		t.Errorf("more than --memory: %v: %.700s", err, text)
	}
	if err := command.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := command.Wait(); command.ProcessState.ExitCode() != int(ui.ExitInterrupted) || !strings.Contains(stderr.String(), "interrupted: the page is gone") {
		t.Errorf("%v: %s", err, &stderr)
	}
}

// TestInterruptedVerify: an interrupt ends qsim verify with the rows so far, and with that promise alone.
func TestInterruptedVerify(t *testing.T) {
	stdout, stderr, code := interrupted(t, []string{"verify", "--full", "wrr.3", "weighted_sat.1", "--progress", "always"},
		[]string{" 1/"})
	if code != int(ui.ExitInterrupted) || !strings.Contains(stdout, " met") ||
		!strings.Contains(stderr, "interrupted: the rows so far are printed; once more to quit at once") {
		t.Errorf("exit %d, %s, %s", code, stdout, stderr)
	}
}

// TestInterruptedDoctor: a doctor that is interrupted leaves no file.
func TestInterruptedDoctor(t *testing.T) {
	file, out := filepath.Join(t.TempDir(), "light.yaml"), filepath.Join(t.TempDir(), "doctor")
	light := "engine: {workers: 4}\njobs: [{class: mail, arrivals: {process: poisson, rate: 2/s}, service: 100ms}]\n"
	if err := os.WriteFile(file, []byte(light), 0o644); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := interrupted(t, []string{"doctor", file, "--seeds", "10", "--verbose", "--out", out}, []string{": safe"})
	if code != int(ui.ExitInterrupted) || stdout != "" || !strings.Contains(stderr, "nothing is written") {
		t.Errorf("exit %d, %q, %s", code, stdout, stderr)
	}
	if _, err := os.Stat(out); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s: %v, want nothing there", out, err)
	}
}
