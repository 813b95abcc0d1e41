package scenarios

import (
	"sync"

	"go.yaml.in/yaml/v4"

	"qsim/engine/quantity"
)

// defaultText is what a scenario says where it says nothing.
const defaultText = `
version: 1
name: scenario
description: ""
duration: 30m
warmup: 2m
seeds: 20
seed: 1
engine:
  nodes: 1
  workers: 100
  max-in-flight: 0
  fetch: {batch: 100, poll: 100ms, wake: true, prefetch: 0, cooldown: 0s, error-pause: 100ms}
  commit: {batch: 100, linger: 5ms, calls: 2, timeout: 5s, tries: 0, backoff: [], give-up: requeue, backpressure: 10000}
  ack: late
  lease: {ttl: 30s, heartbeat: 10s, max: 0s, of: job, names: new, check: store, late-claim: return}
  fence: token
  reaper: {every: 1s, batch: 100, grace: 0s, on-start: true, counts: failure, owner: every, max: unlimited, within: 0s, after: retry, place: retry, gap: 0s, guard: token, finds: in-flight}
  promoter: {every: 0s, batch: 1000, order: oldest, owner: every, gap: 0s}
  waiting: store
  place: due
  timeout: 5m
  call-timeout: 5s
  restart: 5s
  leader: {ttl: 10s, renew: 5s}
  store:
    {claim: 500us, commit: 500us, extend: 500us, recover: 500us, promote: 500us, stats: 500us, enqueue: 0s, per-job: 0s, parallel: 0}
retry:
  max-attempts: 4
  backoff: {kind: exponential, first: 500ms, factor: 2, max: 30s}
  jitter: full
  never: [validation, not-found, unauthorized, forbidden, syntax]
  count: claim
  deadline: 0s
  free: []
  free-max: unlimited
dependencies: []
storms: []
policies: [{kind: fifo}]
objectives: []
`

// defaultClass is the same for each element of jobs.
const defaultClass = `
priority: 0
tenants: {count: 1, skew: 0}
fails: {rate: 0%}
poison: 0%
kills: 0%
silences: 0%
ignores-cancel: false
idempotent: false
delay: 0s
max-running: 0
`

const (
	defaultStorm      = `{for: 0s}`
	defaultDependency = `{slows: 0%}`
	defaultObjective  = `{expect: met}`
	defaultError      = "error" // the error kind of attempts that fail for no stated reason
)

// defaultTree returns the tree of the text, whose nodes have no position.
func defaultTree(text string) func() *yaml.Node {
	return sync.OnceValue(func() *yaml.Node {
		node, problems := parse([]byte(text))
		if len(problems) > 0 {
			panic("scenarios: defaults: " + problems[0].Error())
		}
		place(node, &yaml.Node{})
		return node
	})
}

var (
	scenarioDefaults   = defaultTree(defaultText)
	classDefaults      = defaultTree(defaultClass)
	stormDefaults      = defaultTree(defaultStorm)
	dependencyDefaults = defaultTree(defaultDependency)
	objectiveDefaults  = defaultTree(defaultObjective)
)

// withDefaults returns given with presets and defaults below it. Elements of lists that are
// not maps are reported and left out, so that indexes agree with those of the Scenario.
func withDefaults(given *yaml.Node, l *layers) (*yaml.Node, []*yaml.LoadError) {
	var problems []*yaml.LoadError
	root := merged(l.base(given), given)
	for _, list := range []struct {
		key      string
		defaults *yaml.Node
	}{{"jobs", classDefaults()}, {"storms", stormDefaults()}, {"dependencies", dependencyDefaults()}, {"objectives", objectiveDefaults()}, {"policies", nil}} {
		i := position(root, list.key)
		if i < 0 || root.Content[i+1].Kind != yaml.SequenceNode {
			continue
		}
		items := *root.Content[i+1]
		items.Content = nil
		for _, item := range root.Content[i+1].Content {
			if item.Kind != yaml.MappingNode {
				problems = append(problems, errorAt(item, quantity.Errorf("want a map of keys, not %s", describe(item))))
				continue
			}
			items.Content = append(items.Content, merged(list.defaults, item))
		}
		root.Content[i+1] = &items // root is ours: merged made it
	}
	return root, problems
}
