package pgstore

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

//go:embed schema.sql
var schema string

// version is the version of the database schema.
const version = 3

// upgrades holds, for each earlier version of the schema, the SQL that upgrades it to the next. Processes of the
// earlier version that have opened the schema go on working.
var upgrades = map[int]string{
	1: `alter table version replica identity full;
alter table jobs add column unique_key text;
create unique index unique_keys on jobs (kind, unique_key) where unique_key is not null and state < 5;
create table schedules (name text primary key, latest bigint not null);
update version set version = 2`,
	2: `alter table version replica identity full;
alter table buried replica identity full;
update version set version = 3`,
}

// install creates the schema, or checks that it is one that this program supports, and upgrades it.
func install(ctx context.Context, config *pgx.ConnConfig, name string) error {
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	// The usual case needs no lock, and no right to create anything.
	if found, err := known(ctx, conn, name); found == version || err != nil {
		return err
	}
	// One at a time: a second process finds the schema complete in a transaction that begins
	// afterwards, since an earlier snapshot might lack it. The lock is released with the connection.
	if _, err := conn.Exec(ctx, "select pg_advisory_lock($1)", lockKey(name)); err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		found, err := known(ctx, conn, name)
		for found > 0 && found < version && err == nil {
			if _, err := tx.Exec(ctx, upgrades[found], pgx.QueryExecModeSimpleProtocol); err != nil {
				return wrap(fmt.Sprintf("go on from version %d of schema %s", found, name), err)
			}
			found, err = known(ctx, conn, name)
		}
		if found == version || err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "create schema if not exists "+quoted(name)); err != nil {
			return wrap("create schema "+name, err)
		}
		// The search path names it already. With no arguments the text may hold many statements.
		if _, err := tx.Exec(ctx, schema, pgx.QueryExecModeSimpleProtocol); err != nil {
			if isReply(err, "42P07", "42723", "42710") { // a table, a function or another object of that name exists
				err = told("%w: %w", ErrForeign, explainOnce(err))
			}
			return wrap("fill schema "+name, err)
		}
		return nil
	})
}

// contents is an SQL statement that fails if the schema lacks anything: it names every column, function and sequence
// and reads no rows, and the server's error names the first that is missing.
const contents = `select now_ns(), batch_ns(), 'joined'::regclass from
(select id, enqueued_at, due_at, ready_key, token, kind, tenant, delivery, charged, priority, state, stand, reaped,
	holder, expires_at, stood_at, last_delay, failures, recoveries, snoozes, recovered_at, serial, joined, payload,
	unique_key from jobs) j,
(select jobs from buried) b, (select node, generation, seq, settled, stale from batches) c,
(select node, generation from lives) l, (select role, engine, until from leaders) e,
(select name, latest from schedules) s limit 0`

// known returns the version of a schema, 0 if there is none; an error if this program neither supports nor upgrades it.
func known(ctx context.Context, conn *pgx.Conn, name string) (int, error) {
	var found *string
	if err := conn.QueryRow(ctx, "select to_regclass($1)::text", quoted(name)+".version").Scan(&found); err != nil {
		return 0, wrap("look for schema "+name, err)
	}
	if found == nil {
		return 0, nil
	}
	// Whatever has a table of this name may keep something else in it, of another type.
	var rows int
	var have *string
	err := conn.QueryRow(ctx, "select count(*), min(v.version::text) from "+quoted(name)+".version v").Scan(&rows, &have)
	switch {
	case undefined(err):
		return 0, told("read the version of schema %s: %w: %w", name, ErrForeign, explainOnce(err))
	case err != nil:
		return 0, wrap("read the version of schema "+name, err)
	case rows != 1 || have == nil:
		return 0, told("read the version of schema %s: %d rows, want one with a number: %w", name, rows, ErrForeign)
	}
	number, err := strconv.Atoi(*have)
	switch {
	case err != nil || number < 1:
		return 0, told("schema %s is of version %q, which never was: %w", name, *have, ErrForeign)
	case number > version:
		return 0, told("schema %s is of version %d, this program knows up to %d: %w", name, number, version, ErrNewer)
	}
	if number < version {
		return number, nil
	}
	switch err := conn.QueryRow(ctx, contents).Scan(); {
	case undefined(err):
		return 0, told("schema %s is of version %d but not whole: %w: %w", name, version, ErrForeign, explainOnce(err))
	case !errors.Is(err, pgx.ErrNoRows) && !isReply(err, "42501"): // who may not read all may still enqueue
		return 0, wrap("look into schema "+name, err)
	}
	return version, nil
}

// undefined reports whether an error means that a table, column or function is missing, or is of another kind.
func undefined(err error) bool {
	return isReply(err, "42703", "42809", "42804", "42846", "42P01", "42883")
}

func isReply(err error, codes ...string) bool {
	reply, ok := errors.AsType[*pgconn.PgError](err)
	return ok && slices.Contains(codes, reply.Code)
}

// lockKey returns the key of the advisory lock under which one process at a time creates things in a schema.
func lockKey(name string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte("qsim " + name))
	return int64(h.Sum64())
}
