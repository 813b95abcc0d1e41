package wall

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"qsim/conform/common"
)

func TestRabbitMQ(t *testing.T) {
	rabbitmq.debian(t, "rabbitmq-server", "/usr/bin/python3", "testdata/driver.py")
	if _, err := os.Stat("/usr/lib/python3/dist-packages/pika"); err != nil {
		t.Skip("NOT CHECKED: Debian's package python3-pika is not installed")
	}
	rabbitmq.hold(t)
}

// broker returns the port of the test's RabbitMQ server, which the first call starts, with its port mapper.
var broker = sync.OnceValues(func() (at int, err error) {
	var mapper, cluster int
	for _, p := range []*int{&at, &mapper, &cluster} {
		if *p, err = port(); err != nil {
			return 0, err
		}
	}
	environment := func(folder string) []string {
		plugins, conf := filepath.Join(folder, "plugins"), filepath.Join(folder, "rabbitmq.conf")
		_, _ = os.WriteFile(plugins, []byte("[].\n"), 0o666), os.WriteFile(conf, []byte("log.file.level = error\n"), 0o666)
		return []string{"HOME=" + folder, "RABBITMQ_NODENAME=conform@localhost", "RABBITMQ_NODE_IP_ADDRESS=127.0.0.1", fmt.Sprint("RABBITMQ_NODE_PORT=", at),
			fmt.Sprint("RABBITMQ_DIST_PORT=", cluster), "RABBITMQ_MNESIA_BASE=" + folder, "RABBITMQ_LOG_BASE=" + folder, "RABBITMQ_CONF_ENV_FILE=/dev/null",
			"RABBITMQ_ENABLED_PLUGINS_FILE=" + plugins, "RABBITMQ_CONFIG_FILE=" + conf, "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=-kernel inet_dist_use_interface {127,0,0,1}",
			fmt.Sprint("ERL_EPMD_PORT=", mapper), "ERL_EPMD_ADDRESS=127.0.0.1"}
	}
	if err := serve("epmd", mapper, nil, "epmd", "-port", fmt.Sprint(mapper), "-address", "127.0.0.1"); err != nil {
		return 0, err
	}
	return at, serve("rabbitmq", at, environment, "/usr/lib/rabbitmq/bin/rabbitmq-server")
})

func onRabbit(t *testing.T, _ string) map[string]any {
	at, err := broker()
	if err != nil {
		t.Fatal(err)
	}
	return map[string]any{"host": "127.0.0.1", "port": at}
}

var rabbitmq = &peer{
	address:  onRabbit,
	settings: map[string]settings{"spent": {Worker: map[string]any{"limit": 1}}},
	System: common.System{Preset: "rabbitmq-qq", Version: "rabbitmq",
		Cases: []*common.Case{&sparse, &steady, &slow,
			{Name: "count", Nodes: 1, Workers: 10, Until: 15 * second, Limit: 40 * second, Full: true, To: minute,
				Classes: []common.Class{{Name: "pay", At: common.Burst(3, 5*second), Service: 530 * ms, Fails: true}}},
			with(order, func(c *common.Case) {
				c.Classes = []common.Class{{Name: "first", At: common.At(5 * second), Service: 2530 * ms, Fails: true}, c.Classes[1]}
			}),
			{Name: "lost", Nodes: 2, Workers: 8, Until: 40 * second, Limit: 90 * second, Crashes: common.At(20 * second), Back: 30 * second,
				Classes: []common.Class{{Name: "mail", Rate: 1, Service: 5300 * ms}}},
			{Name: "spent", Nodes: 1, Workers: 4, Until: 20 * second, Limit: 100 * second, Full: true, To: 2 * minute, Crashes: common.At(20 * second), Back: 5 * second,
				Set:     []string{"retry.max-retries=1"},
				Classes: []common.Class{{Name: "pay", At: common.Burst(4, 15*second), Service: 20300 * ms, Fails: true}}},
		},
		Rules: []common.Rule{woken("engine.fetch={wake: false, poll: 5s}"), loaded(), stays("engine.lease.heartbeat"), counted("retry.max-retries=19", "engine.fetch"),
			{Name: "what is returned comes first", Keys: []string{"engine.place", "engine.fetch", "retry.backoff", "retry.jitter"}, Case: "order", Fault: "engine.place=tail",
				Parts:   []common.Part{{Name: "share of retries behind all fresh jobs", Value: common.Last("first", "fresh"), Least: .01}},
				Metrics: []string{"fresh.wait"}},
			{Name: "what a process held comes again when its connection ends", Case: "lost", Fault: "engine.lease={ttl: 30s, heartbeat: 9s, of: node}",
				Keys:    []string{"engine.lease.ttl", "engine.lease.heartbeat", "engine.lease.of", "engine.reaper.every", "engine.reaper.after", "engine.reaper.place"},
				Parts:   []common.Part{{Name: "death of a process to the next attempt", Value: common.Mean(common.Lost), Least: 1, Unit: "s"}},
				Metrics: []string{"sojourn"}, Approximates: "a channel ends at once with its connection",
				Cause: "the broker sees the connection end, and returns at once what its channel held"},
			{Name: "a lost delivery counts", Keys: []string{"engine.reaper.counts", "engine.lease.heartbeat", "retry.count"}, Case: "spent", Fault: "engine.reaper={every: 0s, counts: nothing, after: ready, place: head}",
				Parts:   []common.Part{{Name: "attempts with one redelivery, one of them lost", Value: common.Mean(common.AttemptsOfLost), Least: .01}},
				Metrics: []string{"dead", "attempts"}},
		}},
}
