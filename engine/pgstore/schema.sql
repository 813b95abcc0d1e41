-- What one store keeps, version 3. It is executed in a schema of its own, which is
-- first and alone in the search path. Times are nanoseconds of the server's clock since
-- 1970, durations nanoseconds. States, verbs, stands and classes are those of package
-- engine, as numbers.

create table version (version integer not null);
insert into version values (3);
-- Its rows have no key. Where all tables are published (create publication for all tables), PostgreSQL refuses to change
-- such rows unless they are known by all columns.
alter table version replica identity full;

-- What time it is. Tests may replace the two: nothing else here reads a clock.
create function now_ns() returns bigint language sql volatile parallel safe as
	$$ select (extract(epoch from clock_timestamp()) * 1000000000)::bigint $$;
-- The same for all jobs of one COPY, which must call nothing volatile to be fast.
create function batch_ns() returns bigint language sql stable parallel safe as
	$$ select (extract(epoch from statement_timestamp()) * 1000000000)::bigint $$;

create table jobs (
	id           bigint not null,
	enqueued_at  bigint not null default batch_ns(),
	due_at       bigint not null default batch_ns(), -- since when it is ready, or when it will be
	ready_key    bigint not null default batch_ns(), -- its place among the ready; dead: when it died
	token        bigint not null default 0,
	kind         integer not null,
	tenant       integer not null,                   -- as a signed number
	delivery     integer not null default 0,
	charged      integer not null default 0,
	priority     smallint not null,
	state        smallint not null default 1,
	stand        smallint not null default 0,        -- waiting: where it will be ready
	reaped       boolean not null default false,     -- in flight: a reaper holds it
	-- What follows is null as long as it can be: rows are written whole at every change.
	holder       bigint,
	expires_at   bigint,                             -- of the lease, in flight
	stood_at     bigint,                             -- when it was last due other than by an outcome that let it keep its place; null: due_at
	last_delay   bigint,
	failures     integer,
	recoveries   integer,
	snoozes      integer,
	recovered_at bigint,                             -- the first of the recoveries that count
	serial       bigint,                             -- null: no key
	joined       bigint,                             -- its number in the serial key
	payload      bytea,
	unique_key   text,                               -- null: none
	constraint jobs_pkey primary key (id)
) with (
	-- Room for the next version of a row beside it: a heartbeat, which changes no column
	-- of an index, then writes no index (HOT).
	fillfactor = 80,
	-- Every job leaves two or three dead versions, at the front of the ready line, where
	-- claims look. Vacuum by number of rows, not by share, and without pauses.
	autovacuum_vacuum_scale_factor = 0,
	autovacuum_vacuum_threshold = 10000,
	autovacuum_vacuum_insert_threshold = -1,
	autovacuum_vacuum_cost_delay = 0
);

-- One small index for each state, so that a hundred thousand jobs that wait cost the
-- claims nothing. Further lines of the ready are built when a plan first asks, see
-- shape.go.
create index ready_oldest on jobs (priority, ready_key, id) where state = 1;
create index waiting on jobs (due_at, id) where state = 2;
create index leased on jobs (id) where state = 3; -- not by expiry: heartbeats would write it
create index dead on jobs (ready_key, id) where state = 5;
create index serials on jobs (serial, joined) where serial is not null and state < 5;
create sequence joined;
create unique index unique_keys on jobs (kind, unique_key) where unique_key is not null and state < 5;

-- How many jobs were buried that are not kept.
create table buried (jobs bigint not null);
alter table buried replica identity full; -- as of version

-- What commits did that their engines may ask for again.
create table batches (
	node       integer not null,
	generation bigint not null,
	seq        bigint not null,
	settled    bigint not null,
	stale      integer[], -- which outcomes were; null: none
	constraint batches_pkey primary key (node, generation, seq)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
	autovacuum_vacuum_insert_threshold = -1, autovacuum_vacuum_cost_delay = 0);

-- How many lives the engines of a node had.
create table lives (node integer primary key, generation bigint not null);

create table leaders (role smallint primary key, engine bigint not null, until bigint not null);

-- The latest time of each schedule of which a job was enqueued, in nanoseconds since 1970.
create table schedules (name text primary key, latest bigint not null);
