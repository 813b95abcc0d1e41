package pgstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"qsim/engine"
)

// Schedule is a periodic job, with the times at which to enqueue it.
type Schedule struct {
	Name string // the same in all processes, and that of no other schedule
	// Next returns the first time of the schedule after a given one, the zero time if there is none. Every makes such
	// functions; so do packages that read cron expressions.
	Next func(after time.Time) time.Time
	// Job returns the job to enqueue for a time of the schedule. With a NewJob.Unique key, or the ID of the
	// one before, a time is passed over while an earlier job is live.
	Job func(at time.Time) engine.NewJob
}

// Every returns a Schedule.Next function for the multiples of a period, which must be positive: with a period of 24
// hours, every midnight UTC.
func Every(period time.Duration) func(after time.Time) time.Time {
	return func(after time.Time) time.Time { return after.Truncate(period).Add(period) }
}

// Follow enqueues the jobs of a schedule until ctx is done or no time is left, when it returns nil. Any number of
// processes may follow it, each by its own clock: for each time one job is enqueued, by the first process to try. Times
// that pass while no process follows it are skipped. While the store is unavailable Follow tries again, about once a
// second; it returns other errors, also that of a schedule whose next time is not after the one before.
func (s *Store) Follow(ctx context.Context, sc Schedule) error {
	at, over := sc.after(time.Now())
	for over == nil && !at.IsZero() && pause(ctx, time.Until(at)) {
		switch err := s.enqueueFor(ctx, &sc, at); {
		case err == nil, errors.Is(err, engine.ErrDuplicate):
			at, over = sc.after(at, time.Now())
		case ctx.Err() != nil:
		case !errors.Is(err, engine.ErrUnavailable):
			return err
		default:
			pause(ctx, time.Second)
		}
	}
	return over
}

// after returns the first time of the schedule after all of the given times, and an error if Next returns one that is
// not after them: a job for each would be enqueued without a pause, for ever.
func (sc *Schedule) after(times ...time.Time) (time.Time, error) {
	t := slices.MaxFunc(times, time.Time.Compare)
	at := sc.Next(t)
	if !at.IsZero() && !at.After(t) {
		return at, fmt.Errorf("schedule %s: Next(%s) is %s, which is not after it", sc.Name,
			t.UTC().Format(time.RFC3339Nano), at.UTC().Format(time.RFC3339Nano))
	}
	return at, nil
}

// enqueueFor enqueues a schedule's job for the time at, unless some process did so for it or for a later time.
func (s *Store) enqueueFor(ctx context.Context, sc *Schedule, at time.Time) error {
	jobs := []engine.NewJob{sc.Job(at)}
	if _, err := checkNew(jobs); err != nil {
		return fmt.Errorf("schedule %s: %w", sc.Name, err)
	}
	announce := func() {}
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		done, err := tx.Exec(ctx, `insert into schedules as s (name, latest) values ($1, $2)
on conflict (name) do update set latest = excluded.latest where s.latest < excluded.latest`, sc.Name, at.UnixNano())
		if err != nil || done.RowsAffected() == 0 {
			return err
		}
		announce, err = s.EnqueueTx(ctx, tx, jobs)
		return err
	})
	if err == nil {
		announce()
	}
	return s.wrap(fmt.Sprintf("enqueue the job of schedule %s for %s", sc.Name, at.UTC().Format(time.RFC3339)), err)
}

// pause waits for the duration d or until ctx is done, and reports whether ctx is not done.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return ctx.Err() == nil
	}
}
