package pgstore

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"qsim/engine"
)

// SQL statements: enterSchema puts only the store's schema on the search path of a transaction; temporary tables, which
// come first unless pg_temp is named, come last. leaveSchema restores the caller's search path, as does the end of the
// transaction.
const (
	enterSchema = `select set_config('qsim.search_path', current_setting('search_path'), true),
	set_config('search_path', $1, true)`
	leaveSchema = `select set_config('search_path', current_setting('qsim.search_path'), true)`
)

// EnqueueTx adds jobs in a transaction of the caller's on the database of the store: they exist if and only if it
// commits, together with everything else that it writes. The rules are those of Enqueue; after an error the transaction
// can only be rolled back, to a savepoint at least. Jobs with a serial key hold back others of their keys until it
// ends: keep it short.
//
// The commit does not wake engines. Call announce after it, or engines find the jobs at their next poll; without a
// commit the call is harmless.
func (s *Store) EnqueueTx(ctx context.Context, tx pgx.Tx, jobs []engine.NewJob) (announce func(), err error) {
	if _, err := checkNew(jobs); err != nil {
		return nil, err
	}
	if len(jobs) == 0 {
		return func() {}, nil
	}
	doing := fmt.Sprintf("enqueue %d jobs in a transaction", len(jobs))
	// A separate statement, since statements sent together are planned before the first of them is executed.
	if _, err := tx.Exec(ctx, enterSchema, quoted(s.schema)+", pg_temp"); err != nil {
		return nil, s.wrap(doing, err)
	}
	b := s.insertion(jobs)
	b.Queue(leaveSchema)
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return nil, s.wrap(doing, err)
	}
	return func() { s.announceNew(jobs) }, nil
}
