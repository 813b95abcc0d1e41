// Command peers benchmarks the queue of this repository against others, in turns on one machine, with jobs that do
// nothing. The systems are a bare loop of two SQL statements, River by default and tuned, Asynq, and qsim by default,
// with several engines, and with a weighted policy. It starts its own servers of PostgreSQL and Redis, in temporary
// folders and on unix sockets.
//
//	go -C scripts/peers run . [-rounds 7] [-jobs 60000] [-rates 1000,3000] [-for 10s] [-systems raw,qsim]
//
// It prints a table for a backlog, with the throughput from the start of the workers until the last commit, and one for
// each rate of arrivals, with latencies from the intended arrival. Numbers are medians with their 95 % confidence
// intervals.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// options holds the values of the command's flags: how often, with how many jobs, and which systems are measured.
type options struct {
	rounds, jobs int
	rates        []int // jobs/s
	lasts        time.Duration
	systems      []system
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	slog.SetDefault(slog.New(slog.DiscardHandler)) // what others say about their own work
	if err := run(ctx, os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, arguments []string) error {
	o, err := parse(arguments)
	if err != nil {
		return err
	}
	servers, err := start(ctx)
	if err != nil {
		return err
	}
	defer servers.stop()
	results := new(results)
	for round := range o.rounds {
		fmt.Fprintf(os.Stderr, "round %d of %d\n", round+1, o.rounds)
		turns := slices.Clone(o.systems)
		if round%2 == 1 {
			slices.Reverse(turns)
		}
		for _, s := range turns {
			if s.redis && servers.redis == nil {
				continue
			}
			if err := measure(ctx, o, s, servers, results); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
		}
	}
	return results.write(os.Stdout, o)
}

func parse(arguments []string) (*options, error) {
	o := new(options)
	flags := flag.NewFlagSet("peers", flag.ContinueOnError)
	flags.IntVar(&o.rounds, "rounds", 7, "measure each system so often, in turns")
	flags.IntVar(&o.jobs, "jobs", 60_000, "of the backlog; a tenth of them for systems that do about a thousand a second")
	rates := flags.String("rates", "1000,3000", "of the open loop, in jobs/s")
	flags.DurationVar(&o.lasts, "for", 10*time.Second, "jobs come for so long; those of the first tenth are not counted")
	names := flags.String("systems", "", "only those whose names begin so, with commas between them (default: all)")
	if err := flags.Parse(arguments); err != nil {
		return nil, err
	}
	for _, text := range strings.FieldsFunc(*rates, func(r rune) bool { return r == ',' }) {
		rate, err := strconv.Atoi(text)
		if err != nil || rate <= 0 {
			return nil, fmt.Errorf("-rates %s: want whole numbers above 0", *rates)
		}
		o.rates = append(o.rates, rate)
	}
	if o.rounds < 1 || o.jobs < 100 || o.lasts < 100*time.Millisecond {
		return nil, errors.New("want at least one round, 100 jobs and 100 ms")
	}
	for _, s := range systems {
		if *names == "" || slices.ContainsFunc(strings.Split(*names, ","),
			func(begin string) bool { return strings.HasPrefix(s.name, begin) }) {
			o.systems = append(o.systems, s)
		}
	}
	if len(o.systems) == 0 {
		return nil, fmt.Errorf("-systems %s: there is none", *names)
	}
	return o, nil
}
