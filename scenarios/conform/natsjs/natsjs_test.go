// Package natsjs compares the preset nats-js with nats-server, which runs in this process, on a virtual clock.
package natsjs

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats-server/v2/server/ats"
	"github.com/nats-io/nats.go"

	"qsim/conform/common"
)

// TestMain starts the goroutine of nats-server's package ats, which waits on its own channel, outside of any bubble.
func TestMain(m *testing.M) {
	ats.Register()
	os.Exit(m.Run())
}

// setting is the configuration of a case's consumer in NATS, and what its failing handlers do.
type setting struct {
	consumer nats.ConsumerConfig
	fail     func(m *nats.Msg) error
}

var (
	nak   = atOnce
	quiet = func(*nats.Msg) error { return nil }
	list  = []time.Duration{5 * second, 10 * second, 20 * second, 40 * second}
)

// atOnce naks a message, and waits for the server to receive it before its worker requests the next one: the server
// takes naks and pulls from two queues, so that which of them it sees first is else a race of its goroutines.
func atOnce(m *nats.Msg) error {
	err := m.Nak()
	time.Sleep(time.Millisecond)
	return err
}

func later(d time.Duration) func(m *nats.Msg) error {
	return func(m *nats.Msg) error { return m.NakWithDelay(d) }
}

// settings holds the setting of a case by its name; other cases have the defaults.
var settings = map[string]setting{
	"delay":        {fail: later(10 * second)},
	"lost":         {nats.ConsumerConfig{MaxDeliver: 2}, nak},
	"limit":        {nats.ConsumerConfig{MaxDeliver: 5}, later(3 * second)},
	"pending":      {nats.ConsumerConfig{MaxAckPending: 10}, later(60 * second)},
	"backoff":      {nats.ConsumerConfig{BackOff: list, MaxDeliver: 20}, quiet},
	"backoff-slow": {nats.ConsumerConfig{BackOff: list, MaxDeliver: 20}, quiet},
	"backoff-nak":  {nats.ConsumerConfig{BackOff: list, MaxDeliver: 20}, nak},
	"outage":       {fail: later(10 * second)},
}

func run(t *testing.T, r *common.Run) {
	s, err := server.NewServer(&server.Options{DontListen: true, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	connection, err := nats.Connect("", nats.InProcessServer(s))
	if err != nil {
		t.Fatal(err)
	}
	js, err := connection.JetStream()
	if err != nil {
		t.Fatal(err)
	}
	consumer := settings[r.Name].consumer
	consumer.Durable, consumer.AckPolicy = "w", nats.AckExplicitPolicy // all else is the default of the server
	_, err = js.AddStream(&nats.StreamConfig{Name: "Q", Subjects: []string{"q"}, Storage: nats.MemoryStorage, Retention: nats.WorkQueuePolicy})
	if err == nil {
		_, err = js.AddConsumer("Q", &consumer)
	}
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	go r.Operate(func(node string) func() { return start(t, r, s, node, &running) })
	err = r.Drive(func(j common.Job) error { _, err := js.Publish("q", []byte(j.ID)); return err })
	if err != nil {
		t.Error(err)
	}
	close(r.Over)
	running.Wait()
	connection.Close()
	s.Shutdown()
	s.WaitForShutdown()
}

// patience is how long a worker waits for a message before it asks again: longer than any run. The server lets a request
// lapse up to 5 s before the client notices, in which nobody asks.
const patience = 10 * time.Hour

// start starts a process of NATS workers, which pull one message at a time, and returns a function that kills it.
func start(t *testing.T, r *common.Run, s *server.Server, node string, running *sync.WaitGroup) func() {
	connection, err := nats.Connect("", nats.InProcessServer(s), nats.NoReconnect())
	if err != nil {
		t.Error(err)
		return func() {}
	}
	js, err := connection.JetStream()
	if err != nil {
		t.Error(err)
	}
	pull, err := js.PullSubscribe("q", "w", nats.Bind("Q", "w"))
	if err != nil {
		t.Error(err)
		return func() {}
	}
	var dead atomic.Bool
	var workers sync.WaitGroup
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
	for range r.Workers {
		running.Add(1)
		workers.Go(func() {
			defer running.Done()
			for !dead.Load() {
				select {
				case <-r.Over:
					return
				default:
				}
				messages, err := pull.Fetch(1, nats.Context(ctx))
				switch {
				case dead.Load():
				case err == nil:
					if err := handle(r, messages[0], node, &dead); err != nil && !dead.Load() {
						t.Error(err)
					}
				default:
					time.Sleep(10 * time.Millisecond)
				}
			}
		})
	}
	go func() {
		<-r.Over
		cancel()
		workers.Wait()
		connection.Close()
	}()
	return func() {
		dead.Store(true)
		connection.Close()
	}
}

func handle(r *common.Run, m *nats.Msg, node string, dead *atomic.Bool) error {
	meta, err := m.Metadata()
	if err != nil {
		return err
	}
	job, number := string(m.Data), int(meta.NumDelivered)
	takes, fails := r.Begin(job, number, node)
	time.Sleep(takes)
	if dead.Load() {
		return nil
	}
	r.Log(common.Event{Kind: common.Ended, Job: job, Number: number, OK: !fails, Node: node})
	switch fail := settings[r.Name].fail; {
	case !fails:
		return m.AckSync()
	case fail != nil:
		return fail(m)
	}
	return nak(m)
}
