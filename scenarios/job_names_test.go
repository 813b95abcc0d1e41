package scenarios

import (
	"strings"
	"testing"

	"qsim/engine"
	"qsim/scenarios/spec"
)

const namesScenario = `
duration: 1m
warmup: 0s
jobs:
  - {class: payments, arrivals: {process: poisson, rate: 1/s}, service: 1s, patience: {after: 1s, resubmits: 2}}
  - {class: mail, arrivals: {process: poisson, rate: 1/s}, service: 1s}
storms:
  - {name: rush, at: 10s, burst: {class: mail, count: 50}}
  - {name: slow-down, at: 10s, for: 5s, slow: {hits: [mail], factor: 2}}
policies: [{kind: fifo}]
`

func loadNames(t *testing.T) *Scenario {
	t.Helper()
	sc, problems := Load("names.yaml", []byte(namesScenario), nil)
	if sc == nil || len(problems.Errors()) > 0 {
		t.Fatalf("load: %v", problems)
	}
	return sc
}

func TestJobNames(t *testing.T) {
	sc := loadNames(t)
	for _, tt := range []struct {
		id   engine.JobID
		want string
	}{
		{spec.JobID(0, 0), "payments/0"},
		{spec.JobID(0, 1234), "payments/1234"},
		{spec.JobID(0, 1234) | 2, "payments/1234+2"},
		{spec.JobID(1, 1<<spec.BurstShift|49), "mail/rush/49"},
		{spec.JobID(1, 1<<spec.BurstShift-1), "mail/4294967295"},
	} {
		t.Run(tt.want, func(t *testing.T) {
			if got := sc.JobName(tt.id); got != tt.want {
				t.Errorf("got %s", got)
			}
			if got, err := sc.ParseJob(tt.want); err != nil || got != tt.id {
				t.Errorf("parsed %d (%v), want %d", got, err, tt.id)
			}
			if spec.FirstCopy(tt.id)&spec.CopyMask != 0 || spec.FirstCopy(tt.id)>>spec.CopyBits != tt.id>>spec.CopyBits {
				t.Errorf("first copy %d", spec.FirstCopy(tt.id))
			}
		})
	}
	if got := sc.JobName(7); got != "7" {
		t.Errorf("no job is named %s", got)
	}
	if got, err := sc.ParseJob("4503599627686400"); err != nil || sc.JobName(got) != "payments/1234" {
		t.Errorf("by number: %v (%v)", sc.JobName(got), err)
	}
}

func TestParseJobErrors(t *testing.T) {
	sc := loadNames(t)
	for _, tt := range []struct{ text, want string }{
		{"", "job class"},
		{"7", "no job's number"},
		{"payments", "want payments/NUMBER"},
		{"payments/x", "want payments/NUMBER"},
		{"payments/-1", "want payments/NUMBER"},
		{"payments/99999999999", "want payments/NUMBER"},
		{"payment/1", `did you mean "payments"?`},
		{"payments/1+0", "which resubmission"},
		{"payments/1+999", "which resubmission"},
		{"mail/slow-down/1", "no storm"},
		{"mail/rush/x", "want mail/NUMBER"},
		{strings.Repeat("é", 300), "job class"},
	} {
		t.Run(tt.text, func(t *testing.T) {
			if _, err := sc.ParseJob(tt.text); err == nil || !strings.Contains(err.Error(), tt.want) || len(err.Error()) > 400 {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}
