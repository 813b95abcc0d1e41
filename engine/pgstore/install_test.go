package pgstore

import (
	"context"
	"errors"
	"testing"
	"time"

	"qsim/engine"
)

// TestInstallThatFails has every statement fail in turn by which a schema is created, upgraded or checked: Open fails
// with that, and the next Open finds it in a state to go on from.
func TestInstallThatFails(t *testing.T) {
	s, ctx := open(t, engine.StoreOptions{}), bounded(t)
	for _, tt := range []struct {
		name  string
		sql   []string // that makes a schema such as Open finds it
		steps int32    // statements: the usual case needs no lock
	}{
		{"new", []string{"drop schema " + s.schema + " cascade"}, 7},
		{"of version 1", []string{"drop table schedules", "alter table jobs drop column unique_key",
			"update version set version = 1"}, 14},
		{"of version 2", []string{"update version set version = 2"}, 11},
		{"complete", nil, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, text := range tt.sql {
				if _, err := s.pool.Exec(ctx, text); err != nil {
					t.Fatal(err)
				}
			}
			var f fault
			config := s.pool.Config().ConnConfig
			config.Tracer = &f
			n := int32(0)
			for {
				f.failed.Store(false)
				f.after.Store(n)
				err := install(ctx, config, s.schema)
				if !f.failed.Load() {
					if err != nil || n != tt.steps {
						t.Errorf("after %d statements that failed, want %d: %v", n, tt.steps, err)
					}
					break
				}
				if !errors.Is(explain(err), context.Canceled) || errors.Is(err, ErrForeign) {
					t.Errorf("without statement %d: %v", n, err)
				}
				n++
			}
			config.Tracer = nil
			if err := install(ctx, config, s.schema); err != nil || count(t, s, "select version from version") != version {
				t.Errorf("then: %v", err)
			}
		})
	}
}

// TestInstallHurriedOver opens a schema that another process makes at the same time, in a later version: that is found,
// and left alone. Whoever cannot wait for the other is told so.
func TestInstallHurriedOver(t *testing.T) {
	s, ctx := open(t, engine.StoreOptions{}), bounded(t)
	later := newSchema()
	making, err := s.pool.Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer making.Release()
	if _, err := making.Exec(ctx, "select pg_advisory_lock($1)", lockKey(later)); err != nil {
		t.Fatal(err)
	}
	_, err = Open(ctx, server.DSN()+" lock_timeout=50", Options{Schema: later})
	wantError(t, err, ErrStatementTimeout, "55P03")
	opened := make(chan error, 1)
	go func() {
		_, err := Open(ctx, server.DSN(), Options{Schema: later})
		opened <- err
	}()
	awaitWaiting(t, s, ctx, 1)
	for _, text := range []string{"create schema " + later, "create table " + later + ".version as select 99 as version"} {
		if _, err := making.Exec(ctx, text); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := making.Exec(ctx, "select pg_advisory_unlock($1)", lockKey(later)); err != nil {
		t.Fatal(err)
	}
	wantError(t, <-opened, ErrNewer, "version 99")
	if n := count(t, s, "select count(*) from pg_tables where schemaname = '"+later+"'"); n != 1 {
		t.Errorf("%d tables", n)
	}
}

// TestRights opens schemas as a role that lacks some right: it is told which, and that the schema is not another's. A
// role that may only enqueue can do that.
func TestRights(t *testing.T) {
	s, ctx := open(t, engine.StoreOptions{}), bounded(t)
	empty := newSchema()
	run := func(texts ...string) {
		t.Helper()
		for _, text := range texts {
			if _, err := s.pool.Exec(ctx, text); err != nil {
				t.Fatal(err)
			}
		}
	}
	run("create role porter login", "create schema "+empty,
		"grant usage on schema "+empty+", "+s.schema+" to porter", "grant create on database postgres to porter")
	defer run("drop owned by porter", "drop role porter", "drop schema "+empty)
	as := func(schema, more string) (*Store, error) {
		return Open(ctx, server.DSN()+" user=porter"+more, Options{Schema: schema})
	}
	_, err := as(empty, "")
	wantError(t, err, ErrDenied, "fill schema "+empty)
	if errors.Is(err, ErrForeign) {
		t.Errorf("an empty schema is another's: %v", err)
	}
	_, err = as(s.schema, "")
	wantError(t, err, ErrDenied, "read the version of schema "+s.schema)
	run("grant select on version to porter", "grant insert on jobs to porter")
	porter, err := as(s.schema, "")
	if err != nil {
		t.Fatal(err)
	}
	defer porter.Close()
	if err := porter.Enqueue(ctx, []engine.NewJob{{ID: 1}, {ID: 2, Delay: time.Hour}}); err != nil {
		t.Errorf("a role that may enqueue: %v", err)
	}
	holding(t, s, "lock table leaders in access exclusive mode")
	_, err = Open(ctx, server.DSN()+" lock_timeout=50", Options{Schema: s.schema})
	wantError(t, err, ErrStatementTimeout, "look into schema "+s.schema)
}
