package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"qsim/cmd/ui"
	"qsim/engine"
	"qsim/engine/live"
	"qsim/engine/memstore"
	"qsim/engine/pgstore"
	"qsim/engine/pgstore/pgserver"
	"qsim/scenarios"
	"qsim/scenarios/world"
)

// memory and postgres are the kinds of stores that --store names.
const (
	memory   = "memory"
	postgres = "postgres"
)

// stores opens stores of every kind for measurement. A server for PostgreSQL is found or started when it is first
// needed.
type stores struct {
	console *ui.Console
	given   string                          // value of --dsn
	dsn     string                          // connection string of the PostgreSQL server, once it is known
	schemas string                          // prefix of this process's schemas; empty: no server was needed yet
	count   int                             // number of schemas made
	own     *pgserver.Server                // server started by this process; nil: none
	around  func(engine.Store) engine.Store // wraps each store in memory; nil: no wrapper
}

// open returns a rig with an empty store for a run of a scenario. The caller closes it.
func (s *stores) open(ctx context.Context, sc *scenarios.Scenario, o playOptions) (*rig, error) {
	wall, err := world.OnWallClock(sc, o.policy, o.seed, o.speed)
	if err != nil {
		return nil, ui.Fail(ui.ExitUsage, err)
	}
	var store engine.Store
	drop := func() error { return nil }
	if o.store == memory {
		store = memstore.New(live.Clock(time.Now()), wall.Options)
		if s.around != nil {
			store = s.around(store)
		}
	} else if store, drop, err = s.openPostgres(ctx, wall.Options); err != nil {
		wall.Close()
		return nil, err
	}
	r := newRig(wall, store)
	r.drop = drop
	return r, nil
}

// close closes a rig's store and deletes its data. If that fails, it adds the error to *err: what is left must be
// deleted by hand.
func (r *rig) close(err *error) {
	*err = errors.Join(*err, r.drop())
	r.wall.Close()
}

// pgVariables are the environment variables that select a PostgreSQL server.
var pgVariables = []string{"PGHOST", "PGHOSTADDR", "PGPORT", "PGSERVICE", "PGDATABASE", "PGUSER"}

// find sets the DSN of the PostgreSQL server to use, and starts one if none is configured.
func (s *stores) find(ctx context.Context) error {
	if s.schemas != "" {
		return nil
	}
	dsn, err := s.readDSN()
	if err != nil {
		return err
	}
	if dsn == "" && !slices.ContainsFunc(pgVariables, func(name string) bool { return os.Getenv(name) != "" }) {
		own, err := pgserver.Start(ctx, pgserver.Options{})
		switch {
		case errors.Is(err, pgserver.ErrMissing):
			return fmt.Errorf("neither --dsn nor PGHOST says where PostgreSQL is, and none is installed that could be "+
				"started: %w", err)
		case errors.Is(err, context.Canceled):
			return context.Canceled
		case err != nil:
			return fmt.Errorf("start a PostgreSQL server: %w", err)
		}
		s.own, dsn = own, own.DSN()
		s.console.Note("neither --dsn nor PGHOST says where PostgreSQL is: started a server of our own, in a temporary " +
			"folder, for as long as this runs")
	}
	s.dsn, s.schemas = dsn, fmt.Sprintf("qbench_%d_%d", os.Getpid(), time.Now().Unix())
	return nil
}

// password matches a DSN (connection string) that contains a password.
var password = regexp.MustCompile(`(?i)\bpassword\s*=|^\w+://[^/@]*:[^/@]*@`)

// readDSN returns the server's DSN (connection string), for @FILE the content of that file. It warns of a password on
// the command line, which everybody on the machine can read in the list of processes.
func (s *stores) readDSN() (string, error) {
	if file, found := strings.CutPrefix(s.given, "@"); found {
		text, err := os.ReadFile(file)
		if err == nil && strings.TrimSpace(string(text)) == "" {
			err = fmt.Errorf("%s is empty", file)
		}
		if err != nil {
			return "", fmt.Errorf("read --dsn: %w", err)
		}
		return strings.TrimSpace(string(text)), nil
	}
	if password.MatchString(s.given) && s.given != os.Getenv("QBENCH_DSN") {
		s.console.Note("warning: the password in --dsn can be read in the list of processes; put the DSN into a file and " +
			"say --dsn @FILE, or use QBENCH_DSN, PGPASSWORD or a passfile")
	}
	return s.given, nil
}

// openPostgres returns a store in a new schema, and a function that closes it and drops the schema.
func (s *stores) openPostgres(ctx context.Context, options engine.StoreOptions) (engine.Store, func() error, error) {
	if err := s.find(ctx); err != nil {
		return nil, nil, err
	}
	s.count++
	schema := fmt.Sprintf("%s_%d", s.schemas, s.count)
	// An interrupt ends the opening some seconds later: the schema may exist by then, and must be dropped.
	opening, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer context.AfterFunc(ctx, func() { time.AfterFunc(5*time.Second, cancel) })()
	store, err := pgstore.Open(opening, s.dsn, pgstore.Options{Schema: schema, Store: options})
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, nil, context.Canceled
	case err != nil: // whatever is not supported, the scenario asks for, and not the policy alone
		return nil, nil, failed("", postgres, err)
	}
	drop := func() error {
		defer store.Close()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
		defer cancel()
		if err := store.Drop(ctx); err != nil {
			return fmt.Errorf("%w; drop schema %s by hand", err, schema)
		}
		return nil
	}
	if ctx.Err() != nil {
		return nil, nil, cmp.Or(drop(), context.Canceled)
	}
	return store, drop, nil
}

// stop stops the PostgreSQL server if this process started it.
func (s *stores) stop() error {
	own := s.own
	if own == nil {
		return nil
	}
	s.own, s.schemas = nil, ""
	return ui.IOError("stop the PostgreSQL server", own.Stop())
}
