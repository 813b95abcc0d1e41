package live

import (
	"context"
	"log/slog"
	"time"

	"qsim/engine"
)

// Hook wraps a handler to add logging, tracing, metrics or a transaction.
type Hook func(next Handler) Handler

// With returns the handler wrapped by hooks, the first of them outermost.
func (h Handler) With(hooks ...Hook) Handler {
	for i := len(hooks) - 1; i >= 0; i-- {
		h = hooks[i](h)
	}
	return h
}

// Logged returns a Hook that logs the end of every execution: a success as information, a failure as a warning with its
// error and the cause of its cancellation, if any, and a panic as an error. It logs the start for debugging only.
func Logged(log *slog.Logger) Hook {
	return func(next Handler) Handler {
		return func(ctx context.Context, j *engine.Job) (err error) {
			began := time.Now()
			log := log.With("job", uint64(j.ID), "kind", uint16(j.Kind), "delivery", j.Delivery)
			log.DebugContext(ctx, "job started", "waited", j.Waited)
			returned := false
			defer func() {
				took := time.Since(began)
				switch {
				case !returned:
					log.ErrorContext(ctx, "job panicked", "took", took) // whoever recovers tells with what
				case err != nil || ctx.Err() != nil:
					log.WarnContext(ctx, "job failed", "took", took, "error", err, "cause", context.Cause(ctx))
				default:
					log.InfoContext(ctx, "job done", "took", took)
				}
			}()
			err = next(ctx, j)
			returned = true
			return err
		}
	}
}
