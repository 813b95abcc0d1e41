// Package asynq compares the preset asynq with hibiken/asynq on miniredis, both on a virtual clock.
package asynq

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"qsim/conform/common"
)

// link is a process's connection to Redis, which falls silent when the process dies: nothing is delivered either way.
type link struct {
	net.Conn
	dead *atomic.Bool
}

func (l link) Write(b []byte) (int, error) {
	if l.dead.Load() {
		return len(b), nil
	}
	return l.Conn.Write(b)
}

// process is one simulated process of Asynq with its connections to Redis, that can be killed.
type process struct {
	redis *miniredis.Miniredis
	dead  atomic.Bool
}

// MakeRedisClient implements asynq.RedisConnOpt.
func (p *process) MakeRedisClient() any {
	return redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", Protocol: 2, PoolSize: 40, MaxRetries: -1,
		Dialer: func(context.Context, string, string) (net.Conn, error) {
			c, err := p.redis.Dial()
			return link{c, &p.dead}, err
		}})
}

// options holds enqueue options of job classes, by name; others have Asynq's defaults.
var options = map[string][]asynq.Option{
	"once":  {asynq.MaxRetry(1)},
	"twice": {asynq.MaxRetry(2)},
	"deaf":  {asynq.Timeout(30 * time.Second)},
}

func run(t *testing.T, r *common.Run) {
	server := miniredis.NewMiniRedis()
	client := asynq.NewClient(&process{redis: server})
	var running sync.WaitGroup
	go r.Operate(func(node string) func() { return start(t, r, server, node, &running) })
	err := r.Drive(func(j common.Job) error {
		delay := r.Class(j.Class).Delay
		_, err := client.Enqueue(asynq.NewTask(j.Class, []byte(j.ID)), append([]asynq.Option{asynq.TaskID(j.ID), asynq.ProcessIn(delay)}, options[j.Class]...)...)
		if delay > 0 {
			kept(r, server, "scheduled", common.Event{Job: j.ID})
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	close(r.Over)
	running.Wait()
	time.Sleep(5 * time.Minute) // handlers that heed nothing end
	client.Close()
	server.Close()
}

// start starts a process of Asynq that works on the case's jobs, and returns a function that kills it.
func start(t *testing.T, r *common.Run, redis *miniredis.Miniredis, node string, running *sync.WaitGroup) func() {
	p := &process{redis: redis}
	s := asynq.NewServer(p, asynq.Config{Concurrency: r.Workers, LogLevel: asynq.FatalLevel,
		RetryDelayFunc: func(n int, err error, task *asynq.Task) time.Duration {
			d := asynq.DefaultRetryDelayFunc(n, err, task)
			if task.Type() == "doomed" {
				d = time.Second
			}
			time.AfterFunc(time.Millisecond, func() { kept(r, redis, "retry", common.Event{Job: string(task.Payload()), Number: n + 1, Node: node}) })
			return d
		}})
	if err := s.Start(asynq.HandlerFunc(func(ctx context.Context, task *asynq.Task) error { return handle(ctx, task, r, p, node) })); err != nil {
		t.Error(err)
	}
	running.Add(1)
	go func() {
		defer running.Done()
		<-r.Over
		s.Shutdown()
	}()
	return func() { p.dead.Store(true) }
}

// kept logs when a job in a set of Redis, scheduled jobs or retries, is due; for retries a moment after the failure e.
func kept(r *common.Run, redis *miniredis.Miniredis, set string, e common.Event) {
	if at, err := redis.ZScore("asynq:{default}:"+set, e.Job); err == nil {
		e.Kind, e.Delay = common.Delayed, time.Until(time.Unix(int64(at), 0)).Seconds()
		r.Log(e)
	}
}

func handle(ctx context.Context, task *asynq.Task, r *common.Run, p *process, node string) error {
	if p.dead.Load() {
		<-r.Over
		return nil
	}
	job := string(task.Payload())
	retried, _ := asynq.GetRetryCount(ctx)
	most, _ := asynq.GetMaxRetry(ctx)
	takes, fails := r.Begin(job, retried+1, node)
	stop := ctx.Done()
	if task.Type() == "deaf" {
		stop = nil
	}
	select {
	case <-stop:
		fails = true
	case <-time.After(takes):
	}
	if p.dead.Load() {
		<-r.Over
		return nil
	}
	r.Log(common.Event{Kind: common.Ended, Job: job, Number: retried + 1, OK: !fails, Node: node})
	if !fails {
		return nil
	}
	if retried >= most {
		r.Log(common.Event{Kind: common.Died, Job: job})
	}
	return errors.New("down")
}
