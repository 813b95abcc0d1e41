package wall

import (
	"maps"
	"strings"
	"testing"
	"time"

	"qsim/conform/common"
)

// sparse is the case from which others are made: few jobs, so that each poll is visible, and a load of 60 %. Run times
// are long, so that delays of a busy machine are below the tolerances.
var (
	sparse = common.Case{Name: "sparse", Nodes: 1, Workers: 4, Until: minute, Limit: 80 * second,
		Classes: []common.Class{{Name: "mail", Rate: .6, Service: 61 * ms}}}
	steady = common.Case{Name: "steady", Nodes: 1, Workers: 4, Until: 2 * minute, Limit: 5 * minute, Long: true,
		Classes: []common.Class{{Name: "mail", Rate: .29, Service: 8300 * ms}}}
	// slow is the case of one job that runs longer than a system's visibility timeout or heartbeat limit.
	slow = common.Case{Name: "slow", Nodes: 2, Workers: 2, Until: 20 * second, Limit: 100 * second, Full: true,
		Classes: []common.Class{{Name: "mail", At: common.At(5 * second), Service: 70300 * ms}}}
	// order is the case for the claim order of retries: one worker, a job that fails while it is alone, and a line of
	// fresh ones that is still there when it is due.
	order = common.Case{Name: "order", Nodes: 1, Workers: 1, Until: 20 * second, Limit: minute, To: 8 * second,
		Classes: []common.Class{{Name: "first", At: common.At(5 * second), Service: 530 * ms, Fails: true},
			{Name: "fresh", At: common.Burst(14, 6*second), Service: 1130 * ms}}}
	// ranks is the case for priorities: one worker, a line of jobs, and urgent ones that come later, of which the first fails.
	ranks = common.Case{Name: "urgent", Nodes: 1, Workers: 1, Until: 20 * second, Limit: 90 * second, To: 18 * second,
		Classes: []common.Class{{Name: "low", At: common.Burst(10, 5*second), Service: 2130 * ms, Keys: "priority: 10"},
			{Name: "urgent", At: common.Burst(2, 6*second), Service: 2130 * ms, Fails: true, Keys: "priority: 1"}}}
)

// with returns a copy of a case, changed by change.
func with(c common.Case, change func(c *common.Case)) *common.Case {
	change(&c)
	return &c
}

// woken returns the rule that an enqueued job does not wait for a poll. It must detect fault, a change of the preset.
func woken(fault string) common.Rule {
	return common.Rule{Name: "an enqueue wakes a worker", Keys: []string{"engine.fetch"}, Case: "sparse", Fault: fault, Patient: true,
		Parts:   []common.Part{{Name: "share of waits below 0.5 s", Value: common.Within(.5, common.Waits()), Least: .05}},
		Metrics: []string{"fresh.wait"}}
}

// loaded returns the rule on waits under a steady load of 60 %.
func loaded() common.Rule {
	return common.Rule{Name: "waits at a load of 60 %", Load: true, Case: "steady", Metrics: []string{"fresh.wait"},
		Parts: []common.Part{{Name: "mean wait", Value: common.Mean(common.Waits()), Least: .3, Unit: "s"},
			{Name: "wait p90", Value: common.Quantile(.9, common.Waits()), Least: 1, Unit: "s"}}}
}

// stays returns the rule that no time limit ends a handler, and no other process takes its job; keys are further keys
// of the preset that it is about.
func stays(keys ...string) common.Rule {
	return common.Rule{Name: "nothing ends a handler", Keys: append(keys, "engine.timeout"), Case: "slow", Fault: "engine.timeout=40s",
		Parts: []common.Part{{Name: "run time of a job of 70 s", Value: common.Quantile(1, common.Runs()), Least: 1, Unit: "s"},
			{Name: "attempts of it", Value: common.Mean(common.Attempts())}},
		Metrics: []string{"duplicates"}}
}

// counted returns the rule on how often a job is tried that always fails. It must detect fault; keys are further keys.
func counted(fault string, keys ...string) common.Rule {
	return common.Rule{Name: "attempts until a job is given up", Keys: append(keys, "retry.max-attempts", "retry.max-retries", "retry.never"), Case: "count", Fault: fault,
		Parts:   []common.Part{{Name: "attempts", Value: common.Mean(common.Attempts())}, {Name: "dead", Value: common.Dead}},
		Metrics: []string{"dead", "attempts"}}
}

// ranked returns the rule that jobs of high priority go first, retries too; keys are further keys that it is about.
func ranked(keys ...string) common.Rule {
	return common.Rule{Name: "the more urgent first, retries too", Keys: append(keys, "jobs.*.priority", "engine.fetch", "retry.backoff"), Case: "urgent", Fault: "jobs.urgent.priority=20",
		Parts: []common.Part{{Name: "mean wait of urgent jobs in a line", Value: common.Mean(common.Waits("urgent")), Least: 1, Unit: "s"},
			{Name: "share of their retries behind all others", Value: common.Last("urgent", "low"), Least: .01}},
		Metrics: []string{"fresh.wait", "retry.wait"}}
}

// priorities returns settings with the priorities of jobs in the case urgent: name is the system's option.
func priorities(name string, urgent, low int, more map[string]any) settings {
	of := map[string]map[string]any{"urgent": {name: urgent}, "low": {name: low}}
	for _, options := range of {
		maps.Copy(options, more)
	}
	return settings{Of: of}
}

// gone returns the rule that a job is lost with the process that runs it.
func gone() common.Rule {
	return common.Rule{Name: "a crash loses what runs", Keys: []string{"engine.ack"}, Case: "lost", Fault: "engine.ack=late",
		Parts:   []common.Part{{Name: "attempts of a job whose process dies", Value: common.Mean(common.Attempts())}},
		Metrics: []string{"dead"}}
}

// peers lists the systems that are compared through a driver program.
var peers = []*peer{bullmq, graphile, pgboss, sidekiq, celery, rabbitmq, temporal}

// called returns the rule with another name, for a system compared by more than one suite.
func called(name string, rule common.Rule) common.Rule {
	rule.Name = name
	return rule
}

// TestSettings checks that the settings of each system are for cases that it has, and that no case takes long.
func TestSettings(t *testing.T) {
	for _, p := range peers {
		for name := range p.settings {
			if !strings.Contains(strings.Join(p.names(), " "), name) {
				t.Errorf("%s has settings for %s, which is none of its cases", p.Preset, name)
			}
		}
		for _, c := range p.Cases {
			if longest := c.Limit - p.settings[c.Name].Passes; longest > 8*time.Minute {
				t.Errorf("%s of %s may take %v", c.Name, p.Preset, longest)
			}
		}
	}
}

func (p *peer) names() (names []string) {
	for _, c := range p.Cases {
		names = append(names, c.Name)
	}
	return names
}
