// Command temporal runs Temporal for the conformance suite: as a worker process (work), as the process that starts
// workflows (put), with lines of JSON as in driver.mjs, or as the server (serve).
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"go.temporal.io/server/common/dynamicconfig"
	server "go.temporal.io/server/temporal"
	"go.temporal.io/server/temporaltest"
)

// job is one job of a test case, which becomes a workflow with one activity; what has no option is Temporal's default.
type job struct {
	ID    string     `json:"id"`
	Takes float64    `json:"takes"`
	Fails [2]float64 `json:"fails"`
}

type options struct {
	Attempts int32   `json:"attempts"`
	Timeout  float64 `json:"timeout"`
	First    float64 `json:"first"`
}

type message struct {
	Queue   string  `json:"queue"`
	Workers int     `json:"workers"`
	Address address `json:"address"`
	Job     *job    `json:"job"`
	Options options `json:"options"`
}

type address struct {
	Server    string `json:"server"`
	Namespace string `json:"namespace"`
}

// flows is the task queue of the workflows. The process that enqueues jobs runs them, since no crash kills it.
const flows = "flows"

func main() {
	if len(os.Args) != 4 {
		fatal(errors.New("usage: driver temporal serve|work|put CONFIG"))
	}
	role, config := os.Args[2], os.Args[3]
	if role == "serve" {
		serve()
		return
	}
	var m message
	if role == "put" {
		put()
		return
	}
	if err := json.Unmarshal([]byte(config), &m); err != nil {
		fatal(err)
	}
	c, err := connect(m.Address)
	if err != nil {
		fatal(err)
	}
	w := worker.New(c, m.Queue, worker.Options{MaxConcurrentActivityExecutionSize: m.Workers, DisableWorkflowWorker: true})
	w.RegisterActivityWithOptions(perform, activity.RegisterOptions{Name: "perform"})
	w.RegisterActivityWithOptions(died, activity.RegisterOptions{Name: "died"})
	if err := w.Start(); err != nil {
		fatal(err)
	}
	_, _ = io.Copy(io.Discard, os.Stdin) // it ends when its standard input does
}

// serve runs a server on the loopback interface, in memory, with one partition per task queue like Temporal's dev
// server, as the order over several is unspecified. It ends when its standard input does.
func serve() {
	one := []dynamicconfig.ConstrainedValue{{Value: 1}}
	config := server.WithDynamicConfigClient(dynamicconfig.StaticClient{
		dynamicconfig.MatchingNumTaskqueueReadPartitions.Key():  one,
		dynamicconfig.MatchingNumTaskqueueWritePartitions.Key(): one,
	})
	s := temporaltest.NewServer(temporaltest.WithBaseServerOptions(config))
	say(map[string]any{"kind": "serves", "address": address{s.GetFrontendHostPort(), s.GetDefaultNamespace()}})
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func connect(a address) (client.Client, error) {
	return client.Dial(client.Options{HostPort: a.Server, Namespace: a.Namespace,
		Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler))})
}

// put starts a workflow for each job that it reads, one a line, from standard input, and answers each line.
func put() {
	var c client.Client
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var m message
		err := json.Unmarshal(lines.Bytes(), &m)
		switch {
		case err != nil:
		case m.Job != nil:
			at := client.StartWorkflowOptions{TaskQueue: flows}
			_, err = c.ExecuteWorkflow(context.Background(), at, flow, m.Queue, *m.Job, m.Options)
		case c == nil:
			if c, err = connect(m.Address); err == nil {
				w := worker.New(c, flows, worker.Options{DisableEagerActivities: true})
				w.RegisterWorkflow(flow)
				err = w.Start()
			}
		}
		if err != nil {
			say(map[string]any{"kind": "done", "error": err.Error()})
		} else {
			say(map[string]any{"kind": "done"})
		}
	}
}

// flow runs the activity of a job, and logs when Temporal gives the job up.
func flow(ctx workflow.Context, queue string, j job, o options) error {
	timeout := time.Hour
	if o.Timeout > 0 {
		timeout = seconds(o.Timeout)
	}
	settings := workflow.ActivityOptions{TaskQueue: queue, StartToCloseTimeout: timeout,
		HeartbeatTimeout: 30 * time.Second}
	if o != (options{}) {
		settings.RetryPolicy = &temporal.RetryPolicy{MaximumAttempts: o.Attempts, InitialInterval: seconds(o.First)}
	}
	err := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, settings), "perform", j).Get(ctx, nil)
	if err == nil {
		return nil
	}
	tells := workflow.ActivityOptions{TaskQueue: queue, StartToCloseTimeout: time.Minute}
	_ = workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, tells), "died", j.ID).Get(ctx, nil)
	return err
}

// perform executes an attempt of a job: it runs for the time given, may fail, and records a heartbeat every second.
func perform(ctx context.Context, j job) error {
	number := activity.GetInfo(ctx).Attempt
	now := float64(time.Now().UnixMicro()) / 1e6
	fails := j.Fails[0] <= now && now < j.Fails[1]
	say(map[string]any{"kind": "began", "job": j.ID, "number": number})
	var err error
	if fails {
		err = errors.New("down")
	}
	beat := time.NewTicker(time.Second)
	defer beat.Stop()
	activity.RecordHeartbeat(ctx)
	for done, over := time.After(seconds(j.Takes)), false; !over; {
		select {
		case <-beat.C:
			activity.RecordHeartbeat(ctx)
		case <-ctx.Done():
			err, over = ctx.Err(), true
		case <-done:
			over = true
		}
	}
	say(map[string]any{"kind": "ended", "job": j.ID, "number": number, "ok": err == nil})
	return err
}

func died(id string) error {
	say(map[string]any{"kind": "died", "job": id})
	return nil
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

var speaking sync.Mutex

func say(line map[string]any) {
	text, err := json.Marshal(line)
	if err != nil {
		fatal(err)
	}
	speaking.Lock()
	defer speaking.Unlock()
	_, _ = os.Stdout.Write(append(text, '\n'))
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
