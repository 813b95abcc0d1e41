package pgstore

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// A NOTIFY holds a lock of the whole server until its transaction has committed, so that
// transactions that enqueue and notify would be written to the disk one after the other.
// So calls only leave word here that something became ready, and one connection sends a
// notification for all of them, in a transaction that writes nothing and so waits for no
// disk. It is a hint: if the process dies in between, engines find the jobs when they
// poll.

// announceEvery is how long a notification keeps the next one back.
const announceEvery = 2 * time.Millisecond

// announceWithin is how long sending one may take.
const announceWithin = 5 * time.Second

// wake has a notification sent soon.
func (s *Store) wake() {
	select {
	case s.wakes <- struct{}{}:
	default: // one will be
	}
}

// announce sends notifications until ctx is done.
func (s *Store) announce(ctx context.Context) {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wakes:
		}
		sending, cancel := context.WithTimeout(ctx, announceWithin)
		_, _ = s.pool.Exec(sending, "select pg_notify($1, '')", s.schema) // a hint: see above
		cancel()
		pause.Reset(announceEvery)
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
	}
}

// Pauses between attempts to listen.
const (
	shortestPause = 50 * time.Millisecond
	longestPause  = 2 * time.Second
)

// Listen calls wake when jobs may have become ready, see engine.Announcer. It connects
// again by itself when the server was gone, and calls wake then, as notifications may have
// been missed. It returns an error only if the server denies access.
func (s *Store) Listen(ctx context.Context, wake func()) error {
	pause := shortestPause
	for {
		heard, err := s.listenOnce(ctx, wake)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err = wrap("listen", err); denied(err) {
			return err
		}
		if heard {
			pause = shortestPause
		}
		again := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			again.Stop()
			return ctx.Err()
		case <-again.C:
		}
		pause = min(2*pause, longestPause)
	}
}

// listenOnce listens on one connection until that breaks. It reports whether it listened
// at all.
func (s *Store) listenOnce(ctx context.Context, wake func()) (bool, error) {
	conn, err := pgx.ConnectConfig(ctx, s.pool.Config().ConnConfig)
	if err != nil {
		return false, err
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(closing)
	}()
	if _, err := conn.Exec(ctx, "listen "+quoted(s.schema)); err != nil {
		return false, err
	}
	for {
		wake()
		if _, err := conn.WaitForNotification(ctx); err != nil {
			return true, err
		}
	}
}
