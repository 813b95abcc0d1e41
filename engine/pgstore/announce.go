package pgstore

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"qsim/engine"
)

// A NOTIFY holds a lock of the whole server until its transaction has committed, so that transactions that enqueue and
// notify would be written to the disk one after the other. So calls only record here that something became ready, and
// one connection sends a notification for all of them, in a transaction that writes nothing and so waits for no disk.
// It is a hint: if the process dies in between, engines find the jobs when they poll.

// announceEvery is the shortest interval between two notifications that a store sends to listening engines.
const announceEvery = time.Millisecond

// dueEvery is the least time before a listener wakes engines for the next due job, so that many due jobs do not keep it
// busy. A woken engine computes by itself when the next job is due, see engine.Store.
const dueEvery = 10 * time.Millisecond

// announceWithin is the longest time that sending a notification may take.
const announceWithin = 5 * time.Second

// news is the content of the next notification to the engines that listen: the number of jobs that became ready since
// the one before, and the due time of the next waiting job.
type news struct {
	mu      sync.Mutex
	ready   int
	due     time.Time     // due time of the next unannounced waiting job; zero: none
	waiting chan struct{} // channel of size 1, filled while there is something to send
}

// add adds to the next notification a number of jobs that became ready, and the due time of another unless it is zero.
func (n *news) add(ready int, due time.Time) {
	n.mu.Lock()
	n.ready += ready
	n.due = earlier(n.due, due)
	n.mu.Unlock()
	select {
	case n.waiting <- struct{}{}:
	default: // it will be taken with what waits
	}
}

func (n *news) take() (ready int, due time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	ready, due = n.ready, n.due
	n.ready, n.due = 0, time.Time{}
	return ready, due
}

// wakeIn announces that so many jobs became ready, and that others will after delay, unless that is
// engine.Forever. The delay began when the store answered or before, so the announced time is never too early.
func (s *Store) wakeIn(ready int, delay time.Duration) {
	if ready > 0 {
		s.news.add(ready, time.Time{})
	}
	if delay < engine.Forever && s.rules.announcesDue() {
		s.news.add(0, time.Now().Add(time.Duration(nanoseconds(delay))))
	}
}

// mostReady is the highest number of ready jobs that a notification counts: a process seldom has more engines to wake.
const mostReady = 100

// message returns announcements as a notification's text: a list of durations in nanoseconds, as clocks of two machines
// differ. 0 means now, once for each job; a due time that has passed is 1, so that listeners ask how many jobs are due.
func message(ready int, due time.Time) string {
	parts := slices.Repeat([]string{"0"}, min(ready, mostReady))
	if !due.IsZero() {
		parts = append(parts, strconv.FormatInt(int64(max(1, time.Until(due))), 10))
	}
	return strings.Join(parts, " ")
}

// hear returns the number of ready jobs and the next due time in a notification's text; unknown text is one ready job.
func hear(message string) (ready int, due time.Time) {
	parts := strings.Fields(message)
	for _, part := range parts {
		in, err := strconv.ParseInt(part, 10, 64)
		if err != nil || in <= 0 {
			ready++
			continue
		}
		due = earlier(due, time.Now().Add(time.Duration(nanoseconds(time.Duration(in)))))
	}
	if len(parts) == 0 {
		ready = 1
	}
	return ready, due
}

// announce sends notifications to listening engines until ctx is done. Those that could not be sent are tried once
// more, on another connection, together with later ones.
func (s *Store) announce(ctx context.Context) {
	failed := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.news.waiting:
		}
		ready, due := s.news.take()
		sending, cancel := context.WithTimeout(ctx, announceWithin)
		_, err := s.pool.Exec(sending, "select pg_notify($1, $2)", s.schema, message(ready, due))
		cancel()
		again := err != nil && !failed
		if _ = s.wrap("announce", err); again { // a hint, see above: nobody is told of the error
			s.news.add(ready, due)
		}
		failed = again
		pause(ctx, announceEvery)
	}
}

// Listen calls wake when jobs may have become ready, also by becoming due, as live.Announcer does: as for many jobs
// when it begins to listen, since notifications may have been missed before. It returns an error when its connection
// is lost, or if there is none.
func (s *Store) Listen(ctx context.Context, wake func()) error {
	return wrap("listen", s.listen(ctx, wake))
}

// listen listens, and calls wake, on one connection until that breaks or ctx is done.
func (s *Store) listen(ctx context.Context, wake func()) error {
	conn, err := pgx.ConnectConfig(ctx, s.pool.Config().ConnConfig)
	if err != nil {
		return err
	}
	s.listening.Store(conn, nil)
	defer func() {
		s.listening.Delete(conn)
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(closing)
	}()
	if _, err := conn.Exec(ctx, "listen "+quoted(s.schema)); err != nil {
		return err
	}
	due, ready, since := time.Now(), 0, int64(0) // it asks at once
	for {
		told, err := listenUntil(ctx, conn, due)
		switch {
		case err != nil:
			return err
		case told == nil:
			first := since == 0
			if due, ready, since, err = s.nextDue(ctx, conn, since); first {
				ready = mostReady // notifications may have been missed, of so many jobs
			}
		default:
			var sooner time.Time
			ready, sooner = hear(told.Payload)
			due = earlier(due, sooner)
		}
		for range ready {
			wake()
		}
		if err != nil {
			return err
		}
	}
}

// earlier returns the earlier of two due times; the zero time means never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// nextDueSQL is the SQL query for the time until the next waiting job is due, the number of jobs that have become due
// since time $1 and wait for a claim to find them ready, and the present time.
var nextDueSQL = fmt.Sprintf(now+` select (select j.due_at from jobs j where j.state = 2
	and j.due_at > (select now from t) order by j.due_at, j.id limit 1) - (select now from t),
	(select count(*) from (select from jobs j where j.state = 2 and j.due_at > $1 and j.due_at <= (select now from t)
		order by j.due_at, j.id limit %d) d), (select now from t)`, mostReady)

// nextDue returns the time at which the next waiting job is due, zero if there is none or if engines are not woken for
// it; the number of wakes for jobs that have become due since the earlier call that returned since, at least one, as a
// claim may have found them; and the present time of the store.
func (s *Store) nextDue(ctx context.Context, conn *pgx.Conn, since int64) (due time.Time, ready int, at int64,
	err error) {
	var in *int64
	if !s.rules.announcesDue() {
		return due, 1, 0, nil
	}
	if err = conn.QueryRow(ctx, nextDueSQL, since).Scan(&in, &ready, &at); in != nil {
		due = time.Now().Add(max(time.Duration(*in), dueEvery))
	}
	return due, max(ready, 1), at, err
}

// listenUntil waits for the next notification and returns it, or nil once due has come; a due of zero never comes.
func listenUntil(ctx context.Context, conn *pgx.Conn, due time.Time) (*pgconn.Notification, error) {
	until, cancel := ctx, context.CancelFunc(func() {})
	if !due.IsZero() {
		until, cancel = context.WithDeadline(ctx, due)
	}
	defer cancel()
	told, err := conn.WaitForNotification(until)
	if err != nil && until.Err() != nil && ctx.Err() == nil {
		return nil, nil
	}
	return told, err
}
