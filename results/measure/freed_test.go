package measure

import (
	"testing"
	"time"

	"qsim/engine"
)

// A worker that goes on at a timeout is free from then on, not once more when the handler returns at last.
func TestFreedWorker(t *testing.T) {
	tp := newTape(settings(), 0)
	tp.enqueue(20, 1, 0)
	token := tp.lease(20, 1, 20)
	tp.start(20, 1, token)
	tp.enqueue(22, 2, 0)
	other := tp.lease(22, 2, 22)
	tp.start(22, 2, other)
	tp.play(engine.Event{At: at(24), Kind: engine.TimedOut, Job: 1, Token: token, Freed: true})
	tp.finish(26, 2, other, 4, engine.NoError) // the worker of another execution, which ends meanwhile
	tp.play(engine.Event{At: at(30), Kind: engine.Finished, Job: 1, Token: token, Error: engine.Timeout, Ran: 10 * time.Second})
	tp.enqueue(40, 3, 0)
	tp.run(40, 3, 40, 2)
	check(t, tp.Finish(at(100), nil), map[string]float64{"utilization": 10.0 / 180})
}
