package bench

import (
	"context"
	"time"

	"qsim/cmd/ui"
	"qsim/engine"
	"qsim/engine/live"
	"qsim/engine/memstore"
)

// memory and postgres are the kinds of stores.
const (
	memory   = "memory"
	postgres = "postgres"
)

// opened is an empty store for one run, with a function that closes and deletes it.
type opened struct {
	store engine.Store
	close func() error // close deletes the store's data
}

// stores opens stores of every kind for measurement. A server for PostgreSQL is found or started when it is first
// needed.
type stores struct {
	console *ui.Console
	dsn     string
	server  *server                         // PostgreSQL server; nil: not needed yet
	around  func(engine.Store) engine.Store // wraps each store in memory; nil: no wrapper
}

// open returns an empty store of a kind, whose clock, if it is this process's, reads 0 at
// origin.
func (s *stores) open(ctx context.Context, kind string, options engine.StoreOptions, origin time.Time) (*opened,
	error) {
	if kind == memory {
		var store engine.Store = memstore.New(live.Clock(origin), options)
		if s.around != nil {
			store = s.around(store)
		}
		return &opened{store, func() error { return nil }}, nil
	}
	return s.openPostgres(ctx, options)
}
