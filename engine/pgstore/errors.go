package pgstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"qsim/engine"
)

// Errors of Open and of calls, in addition to those of package engine.
var (
	// ErrDSN means that Open could not parse the DSN. It leaves out pgx's message, which quotes the DSN and cannot
	// always tell where a password is.
	ErrDSN = errors.New("read the DSN: want a URL such as postgres://user@host:5432/database, " +
		"or keywords such as host=/run/postgresql dbname=work; it is not shown, as it may hold a password")
	// ErrNewer means that the schema was made by a later version of this program, and was not touched.
	ErrNewer = errors.New("pgstore: the schema is of a newer version than this program knows")
	// ErrForeign means that the content of the schema was not made by this program, or by a version
	// that it cannot upgrade. It was not changed.
	ErrForeign = errors.New("pgstore: the schema is not one of qsim's")
	// ErrDenied means that the server refused the user, the password, or a privilege that the user lacks.
	ErrDenied = errors.New("pgstore: the server denies access")
	// ErrFull means that the server could write no more. The call did nothing.
	ErrFull = errors.New("pgstore: the server's disk is full")
	// ErrStatementTimeout means that the server's statement_timeout or lock_timeout ended a call, which did nothing.
	ErrStatementTimeout = errors.New("pgstore: a timeout of the server ended the statement")
)

// toldError marks an error whose text is meant for the user as it is: explain, which rewords errors of pgx, leaves it.
type toldError struct{ error }

func (e toldError) Unwrap() error { return e.error }

// told returns a formatted error whose text is meant for the user as it is, so that explain does not reword it.
func told(format string, arguments ...any) error { return toldError{fmt.Errorf(format, arguments...)} }

// wrap adds the name of a call to its error; nil stays nil. After the loss of a connection, or of the right to write on
// it, all other connections are replaced, too: each would probably fail one more call, or listen to the wrong server.
// While a server stays read-only, that happens once a second at most: new connections may lead to it again.
func (s *Store) wrap(what string, err error) error {
	reply, ok := errors.AsType[*pgconn.PgError](err)
	readOnly := ok && reply.Code == "25006"
	if readOnly && s.replaced.CompareAndSwap(false, true) {
		time.AfterFunc(time.Second, func() { s.replaced.Store(false) })
		readOnly = false
	}
	if cut(err) && !readOnly {
		s.pool.Reset()
		s.beats.Reset()
		for conn := range s.listening.Range {
			_ = conn.(*pgx.Conn).PgConn().Conn().Close()
		}
	}
	return wrap(what, err)
}

// cut reports whether an error means that an established connection has ended, other than by the caller's context, or
// that its server has become read-only: another host of the DSN may be the one to write to.
func cut(err error) bool {
	if reply, ok := errors.AsType[*pgconn.PgError](err); ok {
		return strings.HasPrefix(reply.Code, "08") || strings.HasPrefix(reply.Code, "57P0") || reply.Code == "25006"
	}
	if err == nil || isOver(err) || errors.As(err, new(*pgconn.ConnectError)) {
		return false
	}
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.As(err, new(*net.OpError)) || strings.Contains(err.Error(), "conn closed") // which pgx found dead before
}

// isOver reports whether an error means that the context of a call was done.
func isOver(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// wrap adds the name of a call to an error, as Store.wrap does, for connections outside a pool.
func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, explain(err))
}

// explain wraps an error of pgx in the matching sentinel, such as engine.ErrUnavailable, and cuts noise and secrets.
func explain(err error) error {
	if errors.As(err, new(toldError)) {
		return err
	}
	return toldError{explainOnce(err)}
}

func explainOnce(err error) error {
	if reply, ok := errors.AsType[*pgconn.PgError](err); ok {
		return explainReply(reply)
	}
	var connecting *pgconn.ConnectError
	var network *net.OpError
	switch {
	case errors.As(err, &connecting):
		// It names user, database and host, never the password.
		return fmt.Errorf("%w: %s", engine.ErrUnavailable, oneLine(withoutRepeats(connecting.Error())))
	case err == context.DeadlineExceeded: // of the pool: none is free, or none answers
		return fmt.Errorf("%w: no connection in time: %w", engine.ErrUnavailable, err)
	case isOver(err):
		return fmt.Errorf("%w: %w", engine.ErrUnavailable, err)
	case errors.As(err, &network):
		return fmt.Errorf("%w: %w", engine.ErrUnavailable, network)
	case strings.HasSuffix(err.Error(), "message body too large"): // of pgx, for a call of 1 GiB: it was not sent
		return errors.New(oneLine(err.Error()))
	}
	return fmt.Errorf("%w: %s", engine.ErrUnavailable, oneLine(err.Error()))
}

// withoutRepeats removes repeated lines from a text, such as the errors of an address that is tried with TLS and
// without.
func withoutRepeats(text string) string {
	var lines []string
	for _, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// explainReply is explain for errors returned by the server. See appendix A of its documentation for the codes.
func explainReply(e *pgconn.PgError) error {
	said := fmt.Sprintf("%s (SQLSTATE %s)", oneLine(e.Message), e.Code)
	class := e.Code[:min(2, len(e.Code))]
	switch {
	case e.Code == "42501", class == "28":
		return fmt.Errorf("%w: %s", ErrDenied, said)
	case e.Code == "53100", strings.Contains(e.Message, "could not extend file"),
		strings.Contains(e.Message, "could not write") && strings.Contains(e.Message, "File too large"):
		return fmt.Errorf("%w: %w: %s", engine.ErrUnavailable, ErrFull, said)
	case e.Code == "57014", e.Code == "55P03":
		return fmt.Errorf("%w: %w: %s", engine.ErrUnavailable, ErrStatementTimeout, said)
	case e.Code == "3D000", e.Code == "3F000", e.Code == "42P01", e.Code == "42P07":
		return errors.New(said) // no such database, schema or table, or one too many: nothing comes by waiting
	case e.Code == "23505" && (e.ConstraintName == "jobs_pkey" || e.ConstraintName == "unique_keys"):
		return fmt.Errorf("%w: %s", engine.ErrDuplicate, oneLine(e.Detail))
	}
	switch class {
	case "08", "25", "40", "53", "57", "58", "XX":
		// Connection lost, read only, deadlock, out of something, shutting down, I/O.
		return fmt.Errorf("%w: %s", engine.ErrUnavailable, said)
	}
	return errors.New(said)
}
