package bugs

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

// asynqs is the test fixture of Asynq: a synctest bubble with Asynq and a Redis in memory.
type asynqs struct {
	redis *miniredis.Miniredis
	over  chan struct{}
	found []string
}

// MakeRedisClient implements asynq.RedisConnOpt.
func (w *asynqs) MakeRedisClient() any { return w.client(&atomic.Bool{}) }

func (w *asynqs) client(dead *atomic.Bool) any {
	return redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", Protocol: 2, PoolSize: 20, MaxRetries: -1,
		Dialer: func(context.Context, string, string) (net.Conn, error) {
			c, err := w.redis.Dial()
			return mortal{c, dead}, err
		}})
}

// mortal is a network connection of a process that may die: what it writes afterwards is lost.
type mortal struct {
	net.Conn
	dead *atomic.Bool
}

func (m mortal) Write(b []byte) (int, error) {
	if m.dead.Load() {
		return len(b), nil
	}
	return m.Conn.Write(b)
}

// node is one process of Asynq, which a story can kill.
type node struct {
	w    *asynqs
	dead atomic.Bool
	*asynq.Server
}

// MakeRedisClient implements asynq.RedisConnOpt.
func (n *node) MakeRedisClient() any { return n.w.client(&n.dead) }

func (w *asynqs) start(t *testing.T, handler asynq.HandlerFunc) *node {
	n := &node{w: w}
	n.Server = asynq.NewServer(n, asynq.Config{Concurrency: 10, LogLevel: asynq.FatalLevel})
	err := n.Start(asynq.HandlerFunc(func(ctx context.Context, task *asynq.Task) error {
		err := handler(ctx, task)
		if n.dead.Load() {
			<-w.over
		}
		return err
	}))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func asynqBubble(t *testing.T, story func(t *testing.T, w *asynqs, c *asynq.Client)) []string {
	runtime.GC() // twice: libraries keep timers in a sync.Pool, and those of another bubble must not be found there
	runtime.GC()
	w := &asynqs{}
	synctest.Test(t, func(t *testing.T) {
		w.redis, w.over = miniredis.NewMiniRedis(), make(chan struct{})
		c := asynq.NewClient(w)
		story(t, w, c)
		c.Close()
		w.redis.Close()
	})
	return w.found
}

// archivedForEver is the story of a bug by which Asynq deletes tasks archived for longer than 90 days too late: only
// when it archives the next one.
func archivedForEver(t *testing.T, _ uint64) []string {
	return asynqBubble(t, func(t *testing.T, w *asynqs, c *asynq.Client) {
		fail := func(context.Context, *asynq.Task) error { return errors.New("down") }
		for _, n := range []int{20, 1} {
			for range n {
				if _, err := c.Enqueue(asynq.NewTask("a", nil), asynq.MaxRetry(0)); err != nil {
					t.Fatal(err)
				}
			}
			s := w.start(t, fail)
			time.Sleep(time.Minute)
			s.Shutdown()
			time.Sleep(91 * 24 * time.Hour)
		}
		archived, err := w.redis.ZMembers("asynq:{default}:archived")
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range w.redis.Keys() {
			if id, is := strings.CutPrefix(key, "asynq:{default}:t:"); is && !slices.Contains(archived, id) {
				w.found = append(w.found, fmt.Sprintf("every job is in one state: task %s is in none, for ever", id))
			}
		}
	})
}

// leaseLost is the story of a bug by which Asynq never recovers a task: its lease is lost, as by an eviction, and then
// its process.
func leaseLost(t *testing.T, _ uint64) []string {
	return asynqBubble(t, func(t *testing.T, w *asynqs, c *asynq.Client) {
		var begun atomic.Int32
		handler := func(context.Context, *asynq.Task) error {
			begun.Add(1)
			time.Sleep(20 * time.Second)
			return nil
		}
		if _, err := c.Enqueue(asynq.NewTask("a", nil)); err != nil {
			t.Fatal(err)
		}
		first := w.start(t, handler)
		time.Sleep(5 * time.Second)
		first.dead.Store(true)
		w.redis.Del("asynq:{default}:lease")
		second := w.start(t, handler)
		time.Sleep(time.Hour)
		if begun.Load() < 2 {
			w.found = append(w.found, "a lost job is found: its process died an hour ago, its lease is gone, and it has not begun again")
		}
		close(w.over)
		first.Shutdown()
		second.Shutdown()
	})
}
