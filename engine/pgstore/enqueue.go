package pgstore

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"qsim/engine"
)

// enqueueSQL returns the SQL statement that inserts jobs; its parameters are an array for each column, see columnsOf.
func enqueueSQL(r *rules) string {
	stood := "case when e.delay > 0 then n.now end"
	if r.options.Held {
		stood = "null"
	}
	return fmt.Sprintf(now+`
insert into jobs (id, kind, priority, tenant, serial, joined, state, enqueued_at, due_at, ready_key, stood_at,
	payload, unique_key)
select e.id, e.kind, e.priority, e.tenant, e.serial, case when e.serial is not null then nextval('joined') end,
	case when e.delay > 0 then %d else 1 end, n.now, n.now + e.delay, n.now + e.delay, %s, e.payload, e.unique_key
from t n, unnest($1::bigint[], $2::integer[], $3::smallint[], $4::integer[], $5::bigint[], $6::bigint[], $7::bytea[],
	$8::text[])
	as e(id, kind, priority, tenant, serial, delay, payload, unique_key)`, r.waitState(), stood)
}

// lockSerials is the SQL statement that locks serial keys (jobs of one key run in turn), so that one transaction at a
// time numbers the jobs of a key. Keys share locks, called stripes: $2 lists them in order, $1 identifies the store.
const lockSerials = "select pg_advisory_xact_lock($1, stripe) from unnest($2::integer[]) as stripe"

// lockAllSerials is the SQL statement that takes the locks of all serial keys; $2 is their number.
const lockAllSerials = "select pg_advisory_xact_lock($1, stripe) from generate_series(0, $2::integer - 1) as stripe"

// stripes is the number of advisory locks shared by all serial keys, and the most that one call takes.
const stripes = 64

func (s *Store) serialLock() int32 { return int32(lockKey(s.schema + " serial")) }

// copyFrom is the least number of jobs for which an enqueue uses COPY, which is faster for many, instead of INSERT.
const copyFrom = 50

// Enqueue adds jobs, all or none. IDs must be in [1, 2^63) and not those of jobs that are live, or dead and kept:
// engine.ErrDuplicate. An ID whose job was done may be used again, see the package comment. So may a unique key
// (engine.NewJob.Unique, at most 1 KiB) whose job is done or dead; while it is live, another job of its kind with that
// key is refused with engine.ErrDuplicate, by an index, whichever process enqueues it. Plain jobs, ready at once and
// without a serial or unique key, go by COPY if they are many.
func (s *Store) Enqueue(ctx context.Context, jobs []engine.NewJob) error {
	if len(jobs) == 0 {
		return nil
	}
	plain, err := checkNew(jobs)
	if err != nil {
		return err
	}
	began := time.Now()
	if plain && len(jobs) >= copyFrom {
		err = s.copyJobs(ctx, jobs)
	} else {
		err = s.pool.SendBatch(ctx, s.insertion(jobs)).Close()
	}
	if err != nil {
		doing := fmt.Sprintf("enqueue %d jobs", len(jobs))
		if err = s.wrap(doing, err); errors.Is(err, engine.ErrDuplicate) {
			_, unsure := s.pool.Exec(ctx, awaitReplicas)
			err = cmp.Or(s.wrap(doing, unsure), err)
		}
		return err
	}
	s.announceNew(jobs, time.Since(began))
	return nil
}

// longestKey is the longest NewJob.Unique in bytes: an entry of an index must fit into a third of a page.
const longestKey = 1024

// checkNew returns an error for jobs with an ID, delay or unique key that is not allowed, and whether all of them are
// plain: ready at once, without a serial or unique key.
func checkNew(jobs []engine.NewJob) (plain bool, err error) {
	plain = true
	for i := range jobs {
		j := &jobs[i]
		if j.ID == 0 || j.Delay < 0 {
			return false, fmt.Errorf("enqueue job %d, delay %v: the ID must not be 0, the delay not negative", j.ID, j.Delay)
		}
		if _, err := number("enqueue: the ID", j.ID); err != nil {
			return false, err
		}
		if len(j.Unique) > longestKey || !utf8.ValidString(j.Unique) || strings.ContainsRune(j.Unique, 0) {
			return false, fmt.Errorf("enqueue job %d: the unique key must be UTF-8 without a zero byte, at most %d bytes long",
				j.ID, longestKey)
		}
		plain = plain && j.Delay == 0 && j.Serial == 0 && j.Unique == ""
	}
	return plain, nil
}

// announceNew wakes listening engines for jobs whose enqueueing was committed, at once or when they are due. took is
// the duration of that.
func (s *Store) announceNew(jobs []engine.NewJob, took time.Duration) {
	ready, soonest := 0, engine.Forever
	for i := range jobs {
		if in := s.rules.untilDue(jobs[i].Delay, took); jobs[i].Delay > 0 && in > 0 {
			soonest = min(soonest, in)
		} else {
			ready++
		}
	}
	s.wakeIn(ready, soonest)
}

// insertion returns the SQL statements that insert jobs: one, after one that locks their serial keys if they have any.
func (s *Store) insertion(jobs []engine.NewJob) *pgx.Batch {
	columns, locks := columnsOf(jobs)
	b := &pgx.Batch{}
	if locks != nil {
		b.Queue(lockSerials, s.serialLock(), locks)
	}
	b.Queue(s.text.enqueue, columns...)
	return b
}

// columnsOf returns the arguments of enqueueSQL, and the numbers of the shared locks (stripes) of the jobs' serial
// keys, in order; nil if no job has a key.
func columnsOf(jobs []engine.NewJob) (columns []any, locks []int32) {
	n := len(jobs)
	ids, kinds, priorities, tenants := make([]int64, n), make([]int32, n), make([]int16, n), make([]int32, n)
	serials, delays, payloads, keys := make([]*int64, n), make([]int64, n), make([][]byte, n), make([]*string, n)
	for i := range jobs {
		j := &jobs[i]
		ids[i], kinds[i], priorities[i], tenants[i] = int64(j.ID), int32(j.Kind), j.Priority, int32(j.Tenant)
		delays[i], payloads[i] = nanoseconds(j.Delay), j.Payload
		if j.Serial != 0 {
			serials[i] = new(int64(j.Serial))
			locks = append(locks, int32(j.Serial%stripes))
		}
		if j.Unique != "" {
			keys[i] = &j.Unique
		}
	}
	slices.Sort(locks)
	return []any{ids, kinds, priorities, tenants, serials, delays, payloads, keys}, slices.Compact(locks)
}

// copyJobs inserts jobs by PostgreSQL's binary COPY format: a header, for each row the number of its fields and each
// field with its length, -1 at the end.
func (s *Store) copyJobs(ctx context.Context, jobs []engine.NewJob) error {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	text := append(make([]byte, 0, 64+64*len(jobs)), "PGCOPY\n\xff\r\n\x00"...)
	text = append(text, make([]byte, 8)...)
	for i := range jobs {
		j := &jobs[i]
		text = binary.BigEndian.AppendUint16(text, 5)
		text = binary.BigEndian.AppendUint32(text, 8)
		text = binary.BigEndian.AppendUint64(text, uint64(j.ID))
		text = binary.BigEndian.AppendUint32(text, 4)
		text = binary.BigEndian.AppendUint32(text, uint32(j.Kind))
		text = binary.BigEndian.AppendUint32(text, 2)
		text = binary.BigEndian.AppendUint16(text, uint16(j.Priority))
		text = binary.BigEndian.AppendUint32(text, 4)
		text = binary.BigEndian.AppendUint32(text, uint32(j.Tenant))
		if j.Payload == nil {
			text = binary.BigEndian.AppendUint32(text, ^uint32(0))
		} else {
			text = binary.BigEndian.AppendUint32(text, uint32(len(j.Payload)))
			text = append(text, j.Payload...)
		}
	}
	text = binary.BigEndian.AppendUint16(text, ^uint16(0))
	_, err = conn.Conn().PgConn().CopyFrom(ctx, bytes.NewReader(text),
		"copy jobs (id, kind, priority, tenant, payload) from stdin (format binary)")
	return err
}

// enterSchema and leaveSchema are the SQL statements around an enqueue in a caller's transaction. The first puts only
// the store's schema on the search path; temporary tables, which come first unless pg_temp is named, come last. The
// second restores the caller's search path, as does the end of the transaction.
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
	began, doing := time.Now(), fmt.Sprintf("enqueue %d jobs in a transaction", len(jobs))
	// A separate statement, since statements sent together are planned before the first of them is executed.
	if _, err := tx.Exec(ctx, enterSchema, quoted(s.schema)+", pg_temp"); err != nil {
		return nil, s.wrap(doing, err)
	}
	b := s.insertion(jobs)
	b.Queue(leaveSchema)
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return nil, s.wrap(doing, err)
	}
	return func() { s.announceNew(jobs, time.Since(began)) }, nil
}
