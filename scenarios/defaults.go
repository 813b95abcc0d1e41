package scenarios

import (
	"sync"

	"go.yaml.in/yaml/v4"
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
  fetch: {batch: 100, poll: 100ms, wake: true, prefetch: 0, cooldown: 0s}
  commit: {batch: 100, linger: 5ms, calls: 2, timeout: 5s, tries: 0, give-up: requeue, backpressure: 10000}
  lease: {ttl: 30s, heartbeat: 10s, late-claim: return}
  fence: token
  reaper: {every: 1s, batch: 100, grace: 0s, on-start: true, counts: failure, owner: every}
  promoter: {every: 0s, batch: 1000, order: oldest, owner: every}
  place: due
  timeout: 5m
  call-timeout: 5s
  restart: 5s
  leader: {ttl: 10s, renew: 5s}
  store: {claim: 500us, commit: 500us, extend: 500us, recover: 500us, promote: 500us, stats: 500us, enqueue: 0s, per-job: 0s}
retry:
  max-attempts: 4
  backoff: {kind: exponential, first: 500ms, factor: 2, max: 30s}
  jitter: full
  never: [validation, not-found, unauthorized, forbidden, syntax]
  count: claim
  deadline: 0s
storms: []
policies: [{kind: fifo}]
objectives: []
`

// defaultClass is the same for each element of jobs.
const defaultClass = `
priority: 0
fails: {rate: 0%}
poison: 0%
kills: 0%
ignores-cancel: false
idempotent: false
delay: 0s
`

const (
	defaultStorm     = `{for: 0s}`
	defaultObjective = `{expect: met}`
	defaultError     = "error" // the error kind of attempts that fail for no stated reason
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
	scenarioDefaults  = defaultTree(defaultText)
	classDefaults     = defaultTree(defaultClass)
	stormDefaults     = defaultTree(defaultStorm)
	objectiveDefaults = defaultTree(defaultObjective)
)

// withDefaults returns given with the defaults below it. Elements of lists that are
// not maps are reported and left out, so that indexes agree with those of the Scenario.
func withDefaults(given *yaml.Node) (*yaml.Node, []*yaml.LoadError) {
	var problems []*yaml.LoadError
	root := merged(scenarioDefaults(), given)
	for _, list := range []struct {
		key      string
		defaults *yaml.Node
	}{{"jobs", classDefaults()}, {"storms", stormDefaults()}, {"objectives", objectiveDefaults()}, {"policies", nil}} {
		i := position(root, list.key)
		if i < 0 || root.Content[i+1].Kind != yaml.SequenceNode {
			continue
		}
		items := *root.Content[i+1]
		items.Content = nil
		for _, item := range root.Content[i+1].Content {
			if item.Kind != yaml.MappingNode {
				problems = append(problems, errorAt(item, badValue("want a map of keys, not %s", describe(item))))
				continue
			}
			items.Content = append(items.Content, merged(list.defaults, item))
		}
		root.Content[i+1] = &items // root is ours: merged made it
	}
	return root, problems
}
