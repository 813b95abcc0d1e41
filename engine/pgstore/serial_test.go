package pgstore

import (
	"context"
	"testing"
	"time"

	"qsim/engine"
)

// TestSerialNumbers has a job of a key enqueued while the transaction of an earlier one is
// still open. It must not be numbered and seen before: both would be in flight.
func TestSerialNumbers(t *testing.T) {
	s := open(t, engine.StoreOptions{LapseAfter: -1})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tx, err := s.pool.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	key := int64(7)
	if _, err := tx.Exec(ctx, lockSerials, s.serialLock(), []int32{int32(key % stripes)}); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(ctx, s.text.enqueue, []int64{1}, []int32{0}, []int16{0}, []int32{0}, []*int64{&key}, []int64{0}, [][]byte{nil}); err != nil {
		t.Fatal(err)
	}
	second := make(chan error, 1)
	go func() { second <- s.Enqueue(ctx, []engine.NewJob{{ID: 2, Serial: uint32(key)}, {ID: 3, Serial: 8}}) }()
	await(t, ctx, func() bool {
		select {
		case err := <-second:
			t.Fatalf("the second job did not wait for the first: %v", err)
		default:
		}
		var waiting int
		if err := s.pool.QueryRow(ctx, "select count(*) from pg_locks where locktype = 'advisory' and not granted").Scan(&waiting); err != nil {
			t.Fatal(err)
		}
		return waiting > 0
	})
	if err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-second; err != nil {
		t.Fatal(err)
	}
	l, _, err := s.Claim(ctx, 1, engine.Plan{Limit: 9, Terms: []engine.Term{anyTerm(9)}}, time.Minute, nil)
	if err != nil || len(l) != 2 || l[0].ID != 1 || l[1].ID != 3 {
		t.Errorf("claimed %+v, %v; want jobs 1 and 3", l, err)
	}
}
