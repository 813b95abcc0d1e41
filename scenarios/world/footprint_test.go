package world

import (
	"testing"

	"qsim/engine"
	"qsim/engine/sim"
	"qsim/scenarios"
	"qsim/scenarios/estimate"
)

// liveJobs is a recorder that counts the unfinished jobs: how many there are now, and how many at most.
type liveJobs struct{ now, most int }

// Record implements engine.Recorder.
func (l *liveJobs) Record(e *engine.Event) {
	switch e.Kind {
	case engine.Enqueued, engine.Redriven:
		l.now++
		l.most = max(l.most, l.now)
	case engine.Acked, engine.Buried:
		l.now--
	}
}

// TestFootprintOfRuns holds the estimate of the jobs that are alive at once against runs.
func TestFootprintOfRuns(t *testing.T) {
	const head = "version: 1\nseeds: 1\nwarmup: 0s\nduration: 20m\nengine:\n  workers: 20\n"
	const mail = "jobs:\n- {class: mail, arrivals: {process: poisson, rate: 50/s}, service: 100ms"
	for name, text := range map[string]string{
		"all is well":                             head + mail + "}\n",
		"twice what the workers can do":           head + "jobs:\n- {class: mail, arrivals: {process: poisson, rate: 50/s}, service: 800ms}\n",
		"retries are what is too much":            head + mail + ", fails: {rate: 90%}}\nretry: {max-attempts: 10, backoff: {kind: fixed, delay: 10s}}\n",
		"a storm and a long backoff":              head + mail + "}\nretry: {max-attempts: 5, backoff: {kind: fixed, delay: 1h}}\nstorms: [{name: down, at: 5m, for: 5m, fail: {rate: 100%}}]\n",
		"a storm and a short backoff":             head + mail + "}\nretry: {max-attempts: 50, backoff: {kind: fixed, delay: 30s}}\nstorms: [{name: down, at: 5m, for: 5m, fail: {rate: 100%}}]\n",
		"a fifth fails, and waits for long":       head + mail + ", fails: {rate: 20%}}\nretry: {max-attempts: 5, backoff: {kind: fixed, delay: 10m}}\n",
		"a fifth fails, and waits briefly":        head + mail + ", fails: {rate: 20%}}\nretry: {max-attempts: 5, backoff: {kind: exponential, first: 1s}}\n",
		"a burst that is worked off":              head + mail + "}\nstorms: [{name: flood, at: 5m, burst: {class: mail, count: 20000}}]\n",
		"bursts, each upon the last":              head + mail + "}\nstorms: [{name: flood, at: 5m, for: 30s, repeat: {every: 1m, times: 5}, burst: {class: mail, factor: 20}}]\n",
		"batches":                                 head + "jobs:\n- {class: mail, arrivals: {process: batch, size: 5000, every: 5m}, service: 100ms}\n",
		"phases":                                  head + "jobs:\n- {class: mail, arrivals: {process: on-off, rate: 1000/s, on: 1m, off: 9m}, service: 100ms}\n",
		"a ramp":                                  head + "jobs:\n- {class: mail, arrivals: {process: ramp, from: 0/s, to: 390/s}, service: 100ms}\n",
		"a wave":                                  head + "jobs:\n- {class: mail, arrivals: {process: diurnal, mean: 190/s, swing: 80%, period: 20m}, service: 100ms}\n",
		"all fail for ever":                       head + mail + ", fails: {rate: 100%}}\nretry: {max-attempts: unlimited, backoff: {kind: fixed, delay: 1s}}\n",
		"a storm with more attempts than workers": head + mail + "}\nretry: {max-attempts: 20, backoff: {kind: fixed, delay: 1s}}\nstorms: [{name: down, at: 5m, for: 5m, fail: {rate: 97%, takes: 200ms}}]\n",
		"a storm that slows all":                  head + mail + "}\nstorms: [{name: slow, at: 5m, for: 5m, slow: {factor: 20}}]\n",
		"half of the nodes are down":              head + "  nodes: 4\njobs:\n- {class: mail, arrivals: {process: poisson, rate: 50/s}, service: 1s}\nstorms: [{name: down, at: 5m, for: 5m, pause: {nodes: [0, 2]}}]\n",
		"the store refuses all":                   head + mail + "}\nstorms: [{name: off, at: 5m, for: 5m, store: {error: 100%}}]\n",
		"the store is stalled":                    head + mail + "}\nstorms: [{name: off, at: 5m, for: 5m, store: {stall: true}}]\n",
		"a deployment without end":                head + mail + "}\nstorms: [{name: deploy, at: 5m, for: 5m, rolling: {every: 10s, restart-after: 8s}}]\n",
		"a policy with a fifth of the workers":    head + mail + "}\npolicies: [{kind: fifo}, {kind: fifo, label: few, with: {engine.workers: 4}}]\n",
		"a burst at once, with a window":          head + mail + "}\nstorms: [{name: flood, at: 5m, for: 10m, burst: {class: mail, count: 20000}}]\n",
		"a crash with a window":                   head + mail + "}\nstorms: [{name: down, at: 5m, for: 10m, crash: {nodes: 1, restart-after: 5s}}]\n",
		"jobs that are scheduled":                 head + mail + ", delay: 8m}\n",
		"attempts that hang":                      head + mail + "}\nstorms: [{name: hung, at: 5m, for: 5m, hang: {rate: 50%, extra: 10s}}]\n",
		"no policy without overrides":             head + "jobs:\n- {class: mail, arrivals: {process: poisson, rate: 50/s}, service: 800ms}\npolicies: [{kind: fifo, with: {engine.workers: 100}}]\n",
		"half fails for good":                     head + mail + ", fails: {rate: 50%}}\nretry: {max-attempts: 5, never: [error]}\n",
	} {
		t.Run(name, func(t *testing.T) {
			sc, problems := scenarios.Load("test.yaml", []byte(text), nil)
			if sc == nil {
				t.Fatal(problems)
			}
			compiled, err := Compile(sc, len(sc.Policies)-1, sc.Seed)
			if err != nil {
				t.Fatal(err)
			}
			var live liveJobs
			compiled.Config.Recorder = &live
			s := sim.New(compiled.Config)
			for s.Now() < engine.Time(sc.Duration.Std()) && s.Step() {
			}
			if f := estimate.Of(sc); f.Jobs < 0.6*float64(live.most)-30 || f.Jobs > 2*float64(live.most)+30 {
				t.Errorf("%.0f jobs at once are expected, and %d were", f.Jobs, live.most)
			} else {
				t.Logf("%.0f and %d", f.Jobs, live.most)
			}
		})
	}
}
