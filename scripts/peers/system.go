package main

import "context"

// system is a job system that the benchmark compares with others.
type system struct {
	name  string
	redis bool // needs Redis; otherwise PostgreSQL
	slow  bool // handles at most about a thousand jobs a second
	open  func(ctx context.Context, servers *servers) (queue, error)
}

// queue is a job queue of a compared system, empty when opened, with what a measurement calls.
type queue interface {
	// enqueue adds jobs with numbers from a range; it may be called from several goroutines.
	enqueue(ctx context.Context, from, to int64) error
	// work does jobs until ctx is done. done is called, from any goroutine, when the end of a job is stored, or, in a
	// system that does not report that, when its handler ends.
	work(ctx context.Context, done func(job int64)) error
	close() error
}

// systems lists the job systems that the program measures; the first is the baseline that others are compared with.
var systems = []system{
	{name: "raw, 4 claimers", open: openRaw},
	{name: "qsim as it comes", open: openQsim(1, 64, "fifo")},
	{name: "qsim weighted", open: openQsim(1, 64, "weighted")},
	{name: "qsim 4 × 300", open: openQsim(4, 300, "fifo")},
	{name: "River tuned", open: openRiver(true)},
	{name: "River as it comes", slow: true, open: openRiver(false)},
	{name: "Asynq, 100 workers", redis: true, open: openAsynq},
}
