// Package formulas compares presets with the formulas of their systems, without a clock: backoff, and limit on
// attempts. Formulas in other languages run in their own interpreters.
package formulas

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go/middleware"

	"qsim/conform/common"
)

// draws is the number of jobs that fail until they are given up, under each seed: with six seeds more than 1,000 delays
// after each failure.
const draws = 200

// system returns the comparison of a preset, with jobs that always fail, with its system: delays returns those of real
// jobs, one for each retry, up to its limit unless it never gives up.
func system(preset, name string, retries int, delays func(t *testing.T) [][]float64) *common.System {
	s := &common.System{Preset: preset, Clock: common.NoClock, Cases: []*common.Case{{
		Name: "draws", Nodes: 1, Workers: draws, Until: time.Minute, Limit: 40 * 24 * time.Hour, From: 0, To: 41 * 24 * time.Hour,
		Classes: []common.Class{{Name: "doomed", At: common.Burst(draws, time.Second), Service: time.Millisecond, Fails: true}}}}}
	if strings.HasPrefix(name, "github.com/") {
		s.Module = name
	} else {
		s.Version = name
	}
	s.Run = func(t *testing.T, r *common.Run) {
		all := delays(t)
		for i, j := range r.Jobs {
			r.Log(common.Event{Kind: common.Enqueued, Job: j.ID})
			r.Log(common.Event{Kind: common.Began, Job: j.ID, Number: 1})
			for n, d := range all[i] {
				r.Log(common.Event{Kind: common.Delayed, Job: j.ID, Number: n + 1, Delay: d})
				r.Log(common.Event{Kind: common.Began, Job: j.ID, Number: n + 2})
			}
			r.Log(common.Event{Kind: common.Died, Job: j.ID})
		}
	}
	rule := common.Rule{Name: "delay of a retry", Keys: []string{"retry.backoff", "retry.jitter", "retry.max-attempts"}, Case: "draws", Metrics: []string{"retry.delay", "sojourn"}}
	for n := range min(retries, 5) {
		rule.Parts = append(rule.Parts, common.Part{Name: fmt.Sprint("delay after failure ", n+1), Sample: common.Delays(n + 1), Unit: "s"})
	}
	s.Rules = []common.Rule{rule}
	return s
}

// attempts adds to s, and returns it, the rule that a job has as many attempts as the library's limit.
func attempts(s *common.System) *common.System {
	s.Rules = append(s.Rules, common.Rule{Name: "attempts of a job that always fails", Keys: []string{"retry.max-attempts", "retry.max-retries"},
		Case: "draws", Fault: "retry.max-attempts=2", Metrics: []string{"dead", "attempts"},
		Parts: []common.Part{{Name: "attempts", Value: common.Mean(common.Attempts())}}})
	return s
}

// down is an error of a call that the AWS SDK tries again.
type down struct{ error }

// RetryableError tells the AWS SDK that the call may be tried again.
func (down) RetryableError() bool { return true }

// awsDelays returns, for each call, the delays in seconds of the AWS SDK's retries of calls that always fail.
func awsDelays(t *testing.T) (all [][]float64) {
	for range draws {
		var delays []float64
		var last time.Time
		call := middleware.FinalizeHandlerFunc(func(context.Context, middleware.FinalizeInput) (o middleware.FinalizeOutput, m middleware.Metadata, err error) {
			if now := time.Now(); last.IsZero() {
				last = now
			} else {
				delays = append(delays, now.Sub(last).Seconds())
				last = now
			}
			return o, m, down{errors.New("down")}
		})
		attempt := retry.NewAttemptMiddleware(retry.NewStandard(), func(request any) any { return request })
		if _, _, err := attempt.HandleFinalize(t.Context(), middleware.FinalizeInput{}, call); err == nil {
			t.Fatal("a call that always fails has not failed")
		}
		all = append(all, delays)
	}
	return all
}

func TestAWS(t *testing.T) {
	s := attempts(system("aws-sdk-std", "github.com/aws/aws-sdk-go-v2", 2, awsDelays))
	s.Rules[0].Fault = "retry.jitter=none"
	s.Hold(t)
}

// printed returns a function that runs a program of testdata and returns the lists of delays that it prints as JSON.
func printed(t *testing.T, program string, arguments ...string) func(t *testing.T) [][]float64 {
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("NOT CHECKED: there is no %s", program)
	}
	return func(t *testing.T) (all [][]float64) {
		command := exec.Command(program, append(arguments[:1:1], append([]string{fmt.Sprint(draws)}, arguments[1:]...)...)...)
		command.Dir = "testdata"
		text, err := command.Output()
		if err != nil {
			t.Fatalf("%v: %v", arguments, err)
		}
		if err := json.Unmarshal(text, &all); err != nil {
			t.Fatal(err)
		}
		return all
	}
}

func TestActiveJob(t *testing.T) {
	s := attempts(system("activejob", "activejob "+common.Debian(t, "ruby-activejob"), 4, printed(t, "ruby", "activejob.rb")))
	s.Rules[0].Fault = "retry.jitter=none"
	s.Hold(t)
}

func TestActiveJobPolynomial(t *testing.T) {
	s := attempts(system("activejob-polynomial", "activejob "+common.Debian(t, "ruby-activejob"), 4, printed(t, "ruby", "activejob.rb", "exponentially_longer")))
	s.Rules[0].Fault, s.Rules[0].Cause, s.Rules[0].Approximates = "retry.jitter=none", "the 15 % are those of n^4 alone (exceptions.rb, determine_delay)", "the 15% are those of n^4 alone"
	s.Hold(t)
}

func TestDelayedJob(t *testing.T) {
	s := attempts(system("delayed-job", "delayed_job "+common.Debian(t, "ruby-delayed-job"), 24, printed(t, "ruby", "delayed_job.rb")))
	s.Rules[0].Fault = "retry.backoff.plus=6s"
	s.Hold(t)
}

// TestSidekiq compares the retry formula of Sidekiq, which Sidekiq Pro shares, with the preset.
func TestSidekiq(t *testing.T) {
	for _, preset := range []string{"sidekiq", "sidekiq-pro"} {
		t.Run(preset, func(t *testing.T) {
			s := system(preset, "sidekiq "+common.Debian(t, "ruby-sidekiq"), 5, printed(t, "ruby", "sidekiq.rb"))
			s.Rules[0].Fault, s.Rules[0].Approximates = "retry.jitter=none", "versions 6.2.2 to 7 draw n x U{0..9} s"
			s.Rules[0].Cause = "this version draws n x U{0..9} s (job_retry.rb, delay_for), version 8, which the preset describes, U{0..10n-1} s"
			s.Hold(t)
		})
	}
}

func TestCelery(t *testing.T) {
	s := attempts(system("celery", "celery "+common.Debian(t, "python3-celery"), 3, printed(t, "/usr/bin/python3", "celery_retry.py")))
	s.Rules[0].Fault = "retry.backoff.delay=181s"
	s.Hold(t)
}

func TestCeleryAutoretry(t *testing.T) {
	s := attempts(system("celery-autoretry", "celery "+common.Debian(t, "python3-celery"), 3, printed(t, "/usr/bin/python3", "celery_retry.py", "backoff")))
	s.Rules[0].Fault, s.Rules[0].Cause, s.Rules[0].Approximates = "retry.jitter=none", "the delay is a whole number of seconds (utils/time.py)", "the delay is a whole number of seconds"
	s.Rules = append(s.Rules, common.Rule{Name: "mean delay of a retry", Keys: []string{"retry.backoff", "retry.jitter", "retry.max-attempts"}, Case: "draws", Metrics: []string{"retry.delay"},
		Parts: []common.Part{{Name: "mean delay after failure 3", Value: common.Mean(common.Delays(3)), Share: .05, Unit: "s"}}})
	s.Hold(t)
}

// TestBullMQ compares the preset with BullMQ, if CONFORM_NPM is a folder in which `npm install bullmq@5.81.5` was run.
func TestBullMQ(t *testing.T) {
	folder := os.Getenv("CONFORM_NPM")
	if folder == "" {
		t.Skip("NOT CHECKED: CONFORM_NPM names no folder with BullMQ")
	}
	s := attempts(system("bullmq", "bullmq v5.81.5", 5, printed(t, "node", "bullmq.js", folder)))
	s.Cases[0].Set = []string{"retry.backoff={kind: exponential, first: 10s, factor: 2}", "retry.max-attempts=6"} // which a job says
	s.Rules[0].Fault, s.Rules[1].Fault = "retry.jitter=±10%", "retry.max-attempts=5"
	s.Hold(t)
}
