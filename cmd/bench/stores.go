package bench

import (
	"context"
	"time"

	"qsim/cmd/ui"
	"qsim/engine"
	"qsim/engine/live"
	"qsim/engine/memstore"
	"qsim/scenarios"
	"qsim/scenarios/world"
)

// memory and postgres are the kinds of stores.
const (
	memory   = "memory"
	postgres = "postgres"
)

// opened is an empty store for one run of a policy on the wall clock.
type opened struct {
	wall   *world.Wall
	store  engine.Store
	origin time.Time    // the clock of a store in this process reads 0 then
	drop   func() error // closes the store and deletes its data
}

// stores opens stores of every kind for measurement. A server for PostgreSQL is found or started when it is first
// needed.
type stores struct {
	console *ui.Console
	dsn     string
	server  *server                         // PostgreSQL server; nil: not needed yet
	around  func(engine.Store) engine.Store // wraps each store in memory; nil: no wrapper
}

// open returns an empty store for a run of a scenario. The caller closes it.
func (s *stores) open(ctx context.Context, sc *scenarios.Scenario, o playOptions) (*opened, error) {
	wall, err := world.OnWallClock(sc, o.policy, o.seed, o.speed)
	if err != nil {
		return nil, ui.Fail(ui.ExitUsage, err)
	}
	at := &opened{wall: wall, origin: time.Now(), drop: func() error { return nil }}
	if o.store == memory {
		at.store = memstore.New(live.Clock(at.origin), wall.Options())
		if s.around != nil {
			at.store = s.around(at.store)
		}
	} else if at.store, at.drop, err = s.openPostgres(ctx, wall.Options()); err != nil {
		wall.Close()
		return nil, err
	}
	return at, nil
}

// close deletes the store's data; *err becomes the error of that unless it is set.
func (o *opened) close(err *error) {
	if e := o.drop(); *err == nil {
		*err = e
	}
	o.wall.Close()
}
