package pgstore

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"hash/fnv"

	"github.com/jackc/pgx/v5"
)

//go:embed schema.sql
var schema string

// version is that of schema.
const version = 1

// install creates the schema, or checks that it is one that this program knows.
func install(ctx context.Context, config *pgx.ConnConfig, name string) (err error) {
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	// The usual case needs no lock, and no right to create anything.
	if done, err := known(ctx, conn, name); done || err != nil {
		return err
	}
	// One at a time: whoever comes second finds it made, by a transaction that begins
	// afterwards, as one that had begun might go by what it knows. The lock goes with the
	// connection.
	if _, err := conn.Exec(ctx, "select pg_advisory_lock($1)", lockKey(name)); err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if done, err := known(ctx, tx, name); done || err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "create schema if not exists "+quoted(name)); err != nil {
			return wrap("create schema "+name, err)
		}
		// The search path names it already. With no arguments the text may hold many
		// statements.
		if _, err := tx.Exec(ctx, schema, pgx.QueryExecModeSimpleProtocol); err != nil {
			return wrap("fill schema "+name, err)
		}
		return nil
	})
}

// querier is a connection or a transaction.
type querier interface {
	QueryRow(ctx context.Context, sql string, arguments ...any) pgx.Row
}

// known reports whether the schema is there, in the version that this program knows.
func known(ctx context.Context, q querier, name string) (bool, error) {
	var found *string
	if err := q.QueryRow(ctx, "select to_regclass($1)::text", quoted(name)+".version").Scan(&found); err != nil {
		return false, wrap("look for schema "+name, err)
	}
	if found == nil {
		return false, nil
	}
	var have int
	if err := q.QueryRow(ctx, "select version from "+quoted(name)+".version").Scan(&have); err != nil {
		return false, wrap("read the version of schema "+name, err)
	}
	if have > version {
		return false, fmt.Errorf("schema %s is of version %d, this program knows up to %d: %w", name, have, version, ErrNewer)
	}
	return true, nil
}

// lockKey names the advisory lock of a schema.
func lockKey(name string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte("qsim " + name))
	return int64(h.Sum64())
}
