package pgstore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"qsim/engine"
)

// Options configures Open. All processes that share a schema must give the same engine.StoreOptions.
type Options struct {
	// Schema holds everything that the store keeps: lower-case letters, digits and _, at
	// most 63. It is created if it is not there. Empty: "qsim".
	Schema string
	Store  engine.StoreOptions
	// Connections is the highest number of calls at once, without the one that listens and the one that extends leases.
	// 0: 8, or pool_max_conns in the DSN.
	Connections int
}

// DefaultSchema is the name of a store's schema unless Options name another.
const DefaultSchema = "qsim"

// Store is an engine.Store in a schema of a PostgreSQL database.
type Store struct {
	pool   *pgxpool.Pool
	beats  *pgxpool.Pool // a connection for heartbeats: others may all wait for locks, longer than a lease lasts
	schema string
	rules  rules
	text   texts
	plans  sync.Map // *plan by the key of its shapes
	lines  sync.Map // *building by line: the indexes of ready jobs known to exist, or being built
	fronts fronts
	news   news

	replaced  atomic.Bool // all connections were replaced less than a second ago, as the server was read-only
	listening sync.Map    // connections (*pgx.Conn) on which engines listen for notifications
	// forgotten holds, by engine.EngineID, the number (uint64) of its batch up to which the records are deleted.
	forgotten sync.Map
	running   context.Context // until Close
	stop      context.CancelFunc
	ended     sync.WaitGroup
}

var validSchema = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)

// Open connects to the server that dsn names, as a URL or as keywords; what it leaves out is taken from the
// environment (PGHOST, PGUSER, PGPASSWORD and so on). Of several hosts it takes one that can be written to, unless
// target_session_attrs is set in either. It creates the schema if there is none, or upgrades one of an earlier
// version. It fails with ErrDSN, ErrNewer, ErrForeign, ErrDenied, engine.ErrUnsupported or engine.ErrUnavailable where
// the cause is known; no error shows a password.
func Open(ctx context.Context, dsn string, o Options) (*Store, error) {
	if o.Schema == "" {
		o.Schema = DefaultSchema
	}
	switch {
	case !validSchema.MatchString(o.Schema):
		return nil, fmt.Errorf("open store: schema %q: %w: want at most 63 lower-case letters, digits and _, no digit first",
			o.Schema, engine.ErrUnsupported)
	case o.Schema == "information_schema" || strings.HasPrefix(o.Schema, "pg_"):
		return nil, fmt.Errorf("open store: schema %q: %w: it is PostgreSQL's own", o.Schema, engine.ErrUnsupported)
	}
	if err := validate(&o.Store); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	config, err := configure(dsn, &o)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	if err := install(ctx, config.ConnConfig, o.Schema); err != nil {
		return nil, fmt.Errorf("open store: %w", explain(err))
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", explain(err))
	}
	config = pool.Config() // a copy
	config.MaxConns, config.MinConns, config.MinIdleConns = 1, 0, 0
	beats, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", explain(err))
	}
	running, stop := context.WithCancel(context.Background())
	s := &Store{pool: pool, beats: beats, schema: o.Schema, rules: rules{o.Store.Complete()}, running: running, stop: stop,
		news: news{waiting: make(chan struct{}, 1)}}
	s.text.init(&s.rules)
	s.ended.Go(func() { s.announce(running) })
	return s, nil
}

// Close closes the store's connections, after the calls that are running. The jobs stay in the database.
func (s *Store) Close() {
	s.stop()
	s.ended.Wait()
	s.pool.Close()
	s.beats.Close()
}

// Drop deletes the schema with all jobs. Afterwards only Close may be called.
func (s *Store) Drop(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, "drop schema if exists "+quoted(s.schema)+" cascade")
	return s.wrap("drop schema "+s.schema, err)
}

// validate returns an error for options that this store cannot keep, such as limits on all jobs in flight.
func validate(o *engine.StoreOptions) error {
	var problems []error
	refuse := func(bad bool, name, why string) {
		if bad {
			problems = append(problems, fmt.Errorf("%s: %w: %s", name, engine.ErrUnsupported, why))
		}
	}
	const counting = "to count what is in flight, PostgreSQL would have to let one claim run at a time"
	refuse(slices.ContainsFunc(o.MaxRunning, func(most int) bool { return most > 0 }), "MaxRunning", counting)
	refuse(o.MaxInFlight > 0, "MaxInFlight", counting)
	refuse(o.CountAhead, "CountAhead", "PostgreSQL does not say over how many rows a claim went")
	refuse(o.Fence > engine.FenceNone, "Fence", "there is no such fence")
	refuse(o.Place > engine.PlaceCreated, "Place", "there is no such place")
	return errors.Join(problems...)
}

// configure parses the DSN (connection string). It sets the planner to use an index for every statement, even if tables
// were empty or their statistics old when it was planned.
func configure(dsn string, o *Options) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil && dsn == "" { // the password is in a variable that nothing is said of
		return nil, fmt.Errorf("read PGHOST, PGPORT and the other variables: %s",
			strings.TrimPrefix(oneLine(err.Error()), "cannot parse ``: "))
	}
	if err != nil {
		return nil, ErrDSN
	}
	switch mode := config.ConnConfig.DefaultQueryExecMode; mode {
	case pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol:
		return nil, fmt.Errorf(
			"read the DSN: default_query_exec_mode=%s: %w: answers come as text then: leave it out, or say describe_exec",
			strings.ReplaceAll(mode.String(), " ", "_"), engine.ErrUnsupported)
	}
	parameters := config.ConnConfig.RuntimeParams
	parameters["search_path"] = quoted(o.Schema)
	parameters["plan_cache_mode"] = "force_generic_plan"
	// Statements pass over rows that others hold and go by their newest versions: under more isolation than this, which a
	// role or a database may have as its default, claims and commits at the same time would fail.
	parameters["default_transaction_isolation"] = "read committed"
	for _, name := range []string{"enable_seqscan", "enable_bitmapscan", "enable_hashjoin", "enable_mergejoin",
		"enable_sort", "enable_incremental_sort", "enable_memoize", "enable_material", "jit"} {
		parameters[name] = "off"
	}
	if parameters["application_name"] == "" {
		parameters["application_name"] = "qsim"
	}
	switch {
	case o.Connections > 0:
		config.MaxConns = int32(min(o.Connections, math.MaxInt32))
	case !poolSize.MatchString(dsn):
		config.MaxConns = 8
	}
	config.ConnConfig.StatementCacheCapacity = 4096
	own := config.ConnConfig
	others := func(f *pgconn.FallbackConfig) bool { return f.Host != own.Host || f.Port != own.Port }
	said := serverKind.MatchString(dsn) || os.Getenv("PGTARGETSESSIONATTRS") != ""
	if !said && slices.ContainsFunc(own.Fallbacks, others) {
		own.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite // of several, the one that can be written to
	}
	// No call is preceded by one that asks whether the connection lives.
	config.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false }
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = 10 * time.Second
	}
	return config, nil
}

var (
	poolSize   = regexp.MustCompile(`\bpool_max_conns\s*=`)
	serverKind = regexp.MustCompile(`\btarget_session_attrs\s*=`)
)

func quoted(name string) string { return pgx.Identifier{name}.Sanitize() }

// number converts an ID to PostgreSQL's integer type, which is signed; it returns an error for one that does not fit.
func number[T ~uint64](what string, id T) (int64, error) {
	if id > math.MaxInt64 {
		return 0, fmt.Errorf("%s %d is larger than %d: %w", what, uint64(id), int64(math.MaxInt64), engine.ErrUnsupported)
	}
	return int64(id), nil
}

// signed returns job IDs as PostgreSQL's signed integers. IDs that are too large turn negative and so match no job; nil
// stays nil, which is null in SQL.
func signed(ids []engine.JobID) []int64 {
	if ids == nil {
		return nil
	}
	all := make([]int64, len(ids))
	for i, id := range ids {
		all[i] = int64(id)
	}
	return all
}

// longest is a hundred years, to which durations in SQL statements are cut, so that no sum of times overflows.
const longest = 100 * 365 * 24 * time.Hour

func nanoseconds(d time.Duration) int64 { return int64(min(max(d, 0), longest)) }

// limit converts the highest number of jobs that a call may return to an SQL parameter: a negative one becomes 0.
func limit(n int) int64 { return int64(max(n, 0)) }

var _ engine.Store = (*Store)(nil)
