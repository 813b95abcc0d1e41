package pgstore

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgxpool"

	"qsim/engine"
)

// scripted is a server that speaks PostgreSQL's protocol over pipes and answers as a test sets it up: in a bubble of
// synctest, so that the instants of all that a client does are exact.
type scripted struct {
	// answer returns the answer to a statement, given its last argument: a bigint, negative for null, or an error code.
	answer func(sql, argument string) (value time.Duration, code string)
	fallen []uint64 // numbers of jobs that have become due, by call of nextDue

	mu       sync.Mutex // for what follows up to writing
	down     int        // number of next connections that are refused
	greet    []string   // error codes for the connections after those; after them, and "": welcome
	began    time.Time
	dialed   []time.Duration // when connections were tried
	woken    []time.Duration // when engines were woken
	newest   *pgproto3.Backend
	hangUp   func()        // ends the newest connection
	writing  chan struct{} // of size 1: taken by whoever writes
	sessions sync.WaitGroup
}

// cutOff and silent are, in place of the code of an error, a connection that ends and an answer that never comes.
const (
	cutOff = "cut off"
	silent = "silent"
)

// store returns a store whose connections lead to the scripted server; it sends no announcements.
func (s *scripted) store(t *testing.T, o engine.StoreOptions) *Store {
	t.Helper()
	s.began, s.writing = time.Now(), make(chan struct{}, 1)
	config, err := configure("host=/nowhere user=me sslmode=disable", &Options{Schema: "work"})
	if err != nil {
		t.Fatal(err)
	}
	config.ConnConfig.DialFunc = func(context.Context, string, string) (net.Conn, error) {
		if s.isDown() {
			return nil, errors.New("nobody listens")
		}
		client, own := net.Pipe()
		s.sessions.Go(func() { s.serve(own) })
		return client, nil
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	store := &Store{pool: pool, beats: pool, schema: "work", rules: rules{o}, running: t.Context()}
	store.news.waiting = make(chan struct{}, 1)
	t.Cleanup(func() {
		pool.Close()
		s.sessions.Wait() // all connections are closed
	})
	return store
}

func (s *scripted) serve(conn net.Conn) {
	defer conn.Close()
	b := pgproto3.NewBackend(conn, conn)
	first, err := b.ReceiveStartupMessage()
	if _, ok := first.(*pgproto3.StartupMessage); err != nil || !ok { // it asks to cancel what a lost connection did
		return
	}
	if code := s.welcome(b, func() { conn.Close() }); code != "" {
		s.send(b, refusal(code))
		return
	}
	s.send(b, &pgproto3.AuthenticationOk{}, &pgproto3.ReadyForQuery{TxStatus: 'I'})
	sql, argument, prepared := "", "", map[string]string{}
	var replies []pgproto3.BackendMessage
	for {
		message, err := b.Receive()
		if err != nil {
			return
		}
		switch m := message.(type) {
		case *pgproto3.Query:
			sql, argument = m.String, ""
		case *pgproto3.Parse:
			sql, replies = m.Query, append(replies, &pgproto3.ParseComplete{})
			prepared[m.Name] = sql
		case *pgproto3.Describe:
			if m.ObjectType == 'S' {
				types := []uint32{25, 25} // texts
				switch {
				case strings.Contains(sql, "schedules"):
					types[1] = 20 // a bigint
				case sql == nextDueSQL:
					types[0] = 20
				}
				replies = append(replies, &pgproto3.ParameterDescription{ParameterOIDs: types[:strings.Count(sql, "$")]})
			}
			columns := []pgproto3.FieldDescription{{Name: []byte("in"), DataTypeOID: 20, DataTypeSize: 8, Format: 1}}
			if sql == nextDueSQL {
				columns = slices.Repeat(columns, 3)
			}
			replies = append(replies, &pgproto3.RowDescription{Fields: columns})
		case *pgproto3.Bind:
			sql, replies = prepared[m.PreparedStatement], append(replies, &pgproto3.BindComplete{})
			if len(m.Parameters) > 0 {
				argument = string(m.Parameters[len(m.Parameters)-1])
			}
		case *pgproto3.Terminate:
			return
		}
		switch message.(type) {
		case *pgproto3.Query, *pgproto3.Execute:
			value, code := s.answer(sql, argument)
			switch code {
			case cutOff:
				return
			case silent:
				_, _ = b.Receive() // until the client has enough of it
				_, _ = b.Receive()
				return
			case "":
				row := &pgproto3.DataRow{Values: [][]byte{nil}}
				if value >= 0 {
					row.Values[0] = binary.BigEndian.AppendUint64(nil, uint64(value))
				}
				if sql == nextDueSQL {
					for _, n := range []uint64{next(&s.fallen), uint64(s.since() + 1)} {
						row.Values = append(row.Values, binary.BigEndian.AppendUint64(nil, n))
					}
				}
				if strings.Contains(sql, "select") {
					replies = append(replies, row)
				}
				replies = append(replies, &pgproto3.CommandComplete{CommandTag: []byte("DONE 0")})
			default:
				replies = append(replies, refusal(code))
			}
		}
		switch message.(type) {
		case *pgproto3.Query, *pgproto3.Sync:
			s.send(b, append(replies, &pgproto3.ReadyForQuery{TxStatus: 'I'})...)
			replies = nil
		}
	}
}

// isDown reports whether a connection that is tried now is refused, and counts it.
func (s *scripted) isDown() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down--; s.down >= 0 {
		s.dialed = append(s.dialed, time.Since(s.began))
	}
	return s.down >= 0
}

// welcome returns the error code with which a new connection is answered, "" if it is accepted.
func (s *scripted) welcome(b *pgproto3.Backend, hangUp func()) (code string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dialed = append(s.dialed, time.Since(s.began))
	if code = next(&s.greet); code == "" {
		s.newest, s.hangUp = b, hangUp
	}
	return code
}

// next removes and returns the first of some answers; after the last it returns "" or 0.
func next[T any](answers *[]T) (answer T) {
	if len(*answers) > 0 {
		answer, *answers = (*answers)[0], (*answers)[1:]
	}
	return answer
}

// since returns the time since the test began, or since restart.
func (s *scripted) since() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Since(s.began)
}

// wake notes the time at which Store.Listen, to which tests pass it, wakes an engine.
func (s *scripted) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.woken = append(s.woken, time.Since(s.began))
}

// restart returns when connections were tried and engines woken, and forgets both: time counts from now on.
func (s *scripted) restart() (dialed, woken []time.Duration) {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	dialed, woken = s.dialed, s.woken
	s.dialed, s.woken, s.began = nil, nil, time.Now()
	return dialed, woken
}

// leave ends the newest connection.
func (s *scripted) leave() {
	s.mu.Lock()
	end := s.hangUp
	s.mu.Unlock()
	end()
}

func refusal(code string) *pgproto3.ErrorResponse {
	return &pgproto3.ErrorResponse{Severity: "FATAL", Code: code, Message: "as the test says", ConstraintName: "unique_keys"}
}

func (s *scripted) send(b *pgproto3.Backend, messages ...pgproto3.BackendMessage) {
	s.writing <- struct{}{}
	for _, m := range messages {
		b.Send(m)
	}
	_ = b.Flush() // of a client that has gone
	<-s.writing
}

// notify sends a notification on the newest connection.
func (s *scripted) notify(text string) {
	s.mu.Lock()
	b := s.newest
	s.mu.Unlock()
	s.send(b, &pgproto3.NotificationResponse{PID: 1, Channel: "work", Payload: text})
}

// TestListenEnds listens to a server that cannot be reached or refuses to be listened to: it says so at once, and wakes
// nobody. If the server goes away later, it ends then; when it began to listen it has woken many engines, as
// notifications of as many jobs may have been lost. It also ends when it is told to.
func TestListenEnds(t *testing.T) {
	for _, tt := range []struct {
		name   string
		server *scripted
		listen string // how the statement listen is answered
		want   error
	}{
		{"nobody is there", &scripted{down: 1}, "", engine.ErrUnavailable},
		{"it is starting up", &scripted{greet: []string{"57P03"}}, "", engine.ErrUnavailable},
		{"it denies access", &scripted{greet: []string{"28000"}}, "", ErrDenied},
		{"it is cut off", &scripted{}, cutOff, engine.ErrUnavailable},
		{"it is a replica", &scripted{}, "25006", engine.ErrUnavailable},
		{"it goes away later", &scripted{}, "", engine.ErrUnavailable},
		{"it is stopped", &scripted{}, "", context.DeadlineExceeded},
		{"it is stopped before there is an answer", &scripted{}, silent, context.DeadlineExceeded},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := tt.server
				server.answer = func(sql, _ string) (time.Duration, string) {
					if sql == `listen "work"` {
						return -1, tt.listen
					}
					return -1, ""
				}
				s := server.store(t, engine.StoreOptions{})
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				goes := time.Duration(0)
				if tt.name == "it goes away later" {
					goes = time.Second
					time.AfterFunc(goes, server.leave)
				}
				if tt.want == context.DeadlineExceeded {
					goes = time.Minute
				}
				err := s.Listen(ctx, server.wake)
				if !errors.Is(err, tt.want) || !strings.HasPrefix(err.Error(), "listen: ") {
					t.Errorf("got %v, want %v", err, tt.want)
				}
				if after := server.since(); after != goes {
					t.Errorf("it ended after %v, want %v", after, goes)
				}
				var wakes []time.Duration
				if goes > 0 && tt.listen == "" {
					wakes = make([]time.Duration, mostReady)
				}
				if dialed, woken := server.restart(); len(dialed) != 1 || !slices.Equal(woken, wakes) {
					t.Errorf("tried to connect after %v; woke engines after %v, want %v", dialed, woken, wakes)
				}
			})
		})
	}
}

// TestListenWakesInTime wakes engines when a notification says that jobs are ready, and when the first waiting job is
// due, once for each that is due since the store was last asked: by what the store knows, or by a notification if that
// names an earlier time.
func TestListenWakesInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const never = -1
		due, asked := []time.Duration{5 * time.Second, never, 20 * time.Second, 30 * time.Second, 1, never}, []time.Duration{}
		server, last := &scripted{fallen: []uint64{0, 2, 0, 3}}, time.Duration(0)
		server.answer = func(sql, argument string) (time.Duration, string) {
			if sql != nextDueSQL {
				return never, ""
			}
			if since := time.Duration(binary.BigEndian.Uint64([]byte(argument))); since != last {
				t.Errorf("at %v it asks what is due since %v, want %v", server.since(), since, last)
			}
			last = server.since() + 1 // the store's clock
			asked = append(asked, server.since())
			if len(asked) > len(due) {
				return never, "53200" // it is out of memory
			}
			return due[len(asked)-1], ""
		}
		s := server.store(t, engine.StoreOptions{})
		done := make(chan error, 1)
		go func() { done <- s.Listen(t.Context(), server.wake) }()
		second := func(n int) time.Duration { return time.Duration(n) * time.Second }
		at := func(n int, text string) {
			time.Sleep(second(n) - server.since())
			server.notify(text)
		}
		at(6, "0")             // at 5 the first was due, and none is known since
		at(7, "3000000000")    // due at 10, then in 20 by the store
		at(11, "50000000000")  // no sooner than that
		at(12, "2000000000 0") // ready, and due at 14, then in 30 by the store, then at once
		time.Sleep(second(45) - server.since())
		at(46, "1000000000") // the store fails to say what is due then
		time.Sleep(second(2))
		_, woken := server.restart()
		if err := <-done; !errors.Is(err, engine.ErrUnavailable) {
			t.Error(err)
		}
		begins := func(at time.Duration) []time.Duration { return slices.Repeat([]time.Duration{at}, mostReady) }
		want := append(begins(0), second(5), second(5), second(6), second(10), second(12), second(14), second(14), second(14),
			second(44), second(44)+dueEvery, second(47))
		asks := []time.Duration{0, second(5), second(10), second(14), second(44), second(44) + dueEvery, second(47)}
		if !slices.Equal(woken, want) {
			t.Errorf("woken after %v, want %v", woken, want)
		}
		if !slices.Equal(asked, asks) {
			t.Errorf("asked when jobs are due after %v, want %v", asked, asks)
		}
	})
}

// TestListenWakesForEachDue wakes an engine for each of the jobs that become due at once, even before the store has
// answered, and not again with those that become due later.
func TestListenWakesForEachDue(t *testing.T) {
	s, ctx := open(t, engine.StoreOptions{}), bounded(t)
	var woken atomic.Int32
	go func() { _ = s.Listen(ctx, func() { woken.Add(1) }) }()
	await(t, ctx, func() bool { return woken.Load() == mostReady })
	want := int32(mostReady)
	heard := func(what string, n int, err error) {
		t.Helper()
		if want += int32(n); err != nil {
			t.Fatal(err)
		}
		await(t, ctx, func() bool { return woken.Load() >= want })
		if n := woken.Load(); n != want {
			t.Errorf("%s: woken %d times, want %d", what, n, want)
		}
	}
	for i, delay := range []time.Duration{time.Second / 2, 1} {
		for k, n := range []int{3, 1} {
			jobs := jobsFrom(engine.JobID(10*i+5*k+1), n)
			for i := range jobs {
				jobs[i].Delay = delay
			}
			heard("enqueued", n, s.Enqueue(ctx, jobs))
		}
	}
	leases, _, err := s.Claim(ctx, peer, engine.Plan{Limit: 9, Terms: []engine.Term{anyTerm(9)}}, time.Minute, nil)
	b := acks(peer, 1, leases)
	for i := range b.Outcomes {
		b.Outcomes[i].Verb, b.Outcomes[i].Delay = engine.Nack, 1
	}
	heard("claimed", 0, err)
	_, err = s.Commit(ctx, b, nil)
	heard("put back", 8, err)
}

// TestListenWhereNothingFallsDue checks that a listener does not query due times where jobs do not become ready by
// them.
func TestListenWhereNothingFallsDue(t *testing.T) {
	for _, o := range []engine.StoreOptions{{Promoted: true}, {Held: true}, {SilentDue: true}} {
		synctest.Test(t, func(t *testing.T) {
			server := &scripted{}
			server.answer = func(sql, _ string) (time.Duration, string) {
				if sql == nextDueSQL {
					t.Errorf("%+v: asked when jobs are due", o)
				}
				return time.Second, ""
			}
			s := server.store(t, o)
			woken := 0
			listening, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			if err := s.Listen(listening, func() { woken++ }); !errors.Is(err, context.DeadlineExceeded) || woken != mostReady {
				t.Errorf("%+v: woken %d times, %v", o, woken, err)
			}
		})
	}
}

// TestAnnounce sends what became ready at once, and what comes within a millisecond in one notification. One that fails
// is sent once more, with what came meanwhile, and then given up.
func TestAnnounce(t *testing.T) {
	type sent struct {
		at   time.Duration
		text string
	}
	synctest.Test(t, func(t *testing.T) {
		var got []sent
		var codes []string // answers to come
		server := &scripted{}
		server.answer = func(sql, text string) (time.Duration, string) {
			got = append(got, sent{server.since(), text})
			return -1, next(&codes)
		}
		s := server.store(t, engine.StoreOptions{})
		announcing, stop := context.WithCancel(t.Context())
		var announcer sync.WaitGroup
		announcer.Go(func() { s.announce(announcing) })
		want := func(what string, want ...sent) {
			t.Helper()
			time.Sleep(time.Minute)
			synctest.Wait()
			if !slices.Equal(got, want) {
				t.Errorf("%s: sent %v, want %v", what, got, want)
			}
			got = nil
			server.restart()
		}
		s.wakeIn(1, engine.Forever)
		want("jobs are ready", sent{0, "0"})
		s.wakeIn(1, engine.Forever)
		synctest.Wait()
		s.wakeIn(1, engine.Forever)
		s.wakeIn(0, time.Second)
		want("more come", sent{0, "0"}, sent{announceEvery, "0 999000000"})
		codes = []string{"53200"}
		s.wakeIn(1, engine.Forever)
		want("it fails once", sent{0, "0"}, sent{announceEvery, "0"})
		codes = []string{cutOff, cutOff}
		s.wakeIn(1, engine.Forever)
		want("the connection is lost, and the next", sent{0, "0"}, sent{announceEvery, "0"})
		codes = []string{"53200", "53200"}
		s.wakeIn(0, time.Hour)
		want("it fails twice", sent{0, "3600000000000"}, sent{announceEvery, "3599999000000"})
		codes = []string{"53200"}
		s.wakeIn(1, engine.Forever)
		want("it fails once more", sent{0, "0"}, sent{announceEvery, "0"})
		codes = []string{silent}
		s.wakeIn(1, engine.Forever)
		want("no answer comes", sent{0, "0"}, sent{announceWithin + announceEvery, "0"})
		stop()
		announcer.Wait()
	})
}
