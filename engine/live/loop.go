package live

import (
	"context"
	"sync/atomic"
	"time"

	"qsim/engine"
	"qsim/engine/heap"
)

// loop drives one engine in a goroutine of its own. Other goroutines use only its mailbox.
type loop struct {
	*process
	node     int32
	engine   *engine.Engine
	recorder engine.JobRecorder // receiver of events

	box     mailbox
	calls   context.Context // context of calls to the store
	hangUp  context.CancelFunc
	idle    atomic.Int32 // number of idle workers of the engine
	unheard *atomic.Bool // no loop had idle workers at the latest wake; nil: wakes go to all loops
	missed  bool         // the loop wakes itself, for an announcement that found no loop with idle workers

	at      engine.Time                // time of the present step
	in      inbox                      // inputs of the present step
	cells   []*cell                    // running executions, by slot
	block   []cell                     // unused executions of the present block
	begun   []*cell                    // executions to hand to the workers at the end of the step
	landed  []*flight                  // records of answered calls, for reuse
	calling *flight                    // call that the engine is filling in
	line    heap.FIFO[*flight]         // calls to the store that no goroutine makes yet
	flying  int                        // number of calls that goroutines make, or whose answers are in the mailbox
	handed  chan *flight               // calls for goroutines that have made one before
	owed    int                        // number of calls in either that may return jobs
	scratch engine.Event               // memory for events
	quiet   [engine.NumOps]engine.Time // by operation, time before which errors are not logged
	deaf    engine.Time                // time before which wakes are ignored: a claim has failed, and the engine pauses
	timer   *time.Timer
	armed   engine.Time // time for which the timer is set

	stopping bool
	cancelAt engine.Time // time at which executions are cancelled
	endAt    engine.Time // time at which remaining work is abandoned
	reportAt engine.Time // time of the next log of the work a stop waits for
}

func newLoop(p *process, node int32, id engine.EngineID) *loop {
	l := &loop{process: p, node: node, cancelAt: engine.Never, endAt: engine.Never,
		reportAt: engine.Never, armed: engine.Never}
	c := p.Engine
	c.Engine, c.Policy = id, engine.Policy(fifo{})
	if p.Policy != nil {
		c.Policy = p.Policy(node)
	}
	if p.Recorder != nil {
		c.Recorder = p.Recorder(node)
	}
	l.recorder = engine.RecordJobs(c.Recorder)
	l.calls, l.hangUp = context.WithCancel(p.values)
	l.box.init(c.Workers)
	l.handed = make(chan *flight)
	l.at = p.now()
	l.deaf = l.at // the clock may read less than 0, see Config.Origin
	for op := range l.quiet {
		l.quiet[op] = l.at
	}
	l.engine = engine.New(c, l, l.at)
	l.idle.Store(int32(c.Workers))
	return l
}

// run steps the loop's engine until, after a stop, no work is left or the time for stopping is over.
func (l *loop) run() {
	l.timer = time.NewTimer(time.Hour)
	defer l.timer.Stop()
	for !l.over() {
		l.await()
		l.step()
	}
	l.close()
}

// await sleeps until there is an input for the engine, such as an answer of the store, or its next deadline has come.
func (l *loop) await() {
	for !l.box.swap(&l.in) {
		due := min(l.engine.Deadline(), l.cancelAt, l.endAt, l.reportAt)
		if due != l.armed {
			l.arm(due)
		}
		select {
		case <-l.box.bell:
		case <-l.timer.C:
			l.armed = engine.Never
			l.box.swap(&l.in)
			return
		}
	}
}

func (l *loop) arm(due engine.Time) {
	l.armed = due
	if due == engine.Never {
		l.timer.Stop()
		return
	}
	l.timer.Reset(due.Sub(l.now()))
}

// step passes the inputs since the last step (answers, ended executions, wakes) to the engine, and hands the executions
// that it then asks for to the workers.
func (l *loop) step() {
	l.at = l.now()
	l.begun = l.begun[:0]
	for _, f := range l.in.replies {
		l.land(f)
	}
	for i := range l.in.ended {
		x := &l.in.ended[i]
		l.cells[x.slot] = nil
		l.engine.Finish(l.at, x.slot, x.kind, time.Duration(x.ran))
	}
	if l.in.stopped { // which is said once
		l.stopping = true
		l.cancelAt, l.reportAt = l.at.Add(l.StopWithin), l.at
		l.engine.Stop(l.at)
	}
	if l.in.woken && l.OnWake != nil {
		l.OnWake(l.node, l.at, l.missed)
		l.missed = false
	}
	if l.in.woken && (l.engine.Idle() > 0 || l.Engine.Fetch.Debounce) && l.at >= l.deaf {
		l.engine.Wake(l.at)
	}
	if l.engine.Due() <= l.at {
		if due := l.engine.Deadline(); due <= l.at {
			if l.OnTick != nil && due < l.at {
				l.OnTick(l.node, due, l.at)
			}
			l.engine.Tick(l.at)
		}
	}
	if len(l.begun) > 0 {
		l.begin(l.begun)
	}
	if l.at >= l.cancelAt {
		l.cancelAt, l.endAt = engine.Never, l.at.Add(l.CancelWithin)
		for _, c := range l.cells {
			if c != nil {
				c.cancel(ErrStopped)
			}
		}
	}
	if l.at >= l.reportAt {
		l.report()
	}
	l.sayIdle(l.engine.Idle())
}

// Start prepares the execution of a leased job in a slot; workers get it at the end of the step. For engine.Driver.
func (l *loop) Start(slot engine.Slot, lease *engine.Lease) {
	if len(l.block) == 0 {
		l.block = make([]cell, cellBlock)
	}
	c := &l.block[0]
	l.block = l.block[1:]
	c.job, c.slot, c.process, c.began, c.ends = lease.Job, slot, l.process, l.at, engine.Never
	if t := l.kind(lease.Kind).Timeout; t > 0 {
		c.ends = l.at.Add(t)
	}
	for len(l.cells) <= int(slot) {
		l.cells = append(l.cells, nil)
	}
	l.cells[slot] = c
	l.begun = append(l.begun, c)
}

// Cancel cancels the context of the handler that runs in a slot; for engine.Driver.
func (l *loop) Cancel(slot engine.Slot, why engine.ErrorKind) {
	c := l.cells[slot]
	if c == nil {
		return
	}
	c.cancel(causeOf(why))
	if why == engine.Timeout && l.kind(c.job.Kind).Free {
		l.box.mu.Lock()
		l.box.most++ // the handler may keep its goroutine for as long as it likes
		l.box.mu.Unlock()
	}
}

func (l *loop) kind(k engine.Kind) *engine.KindConfig {
	kinds := l.Engine.Kinds
	return &kinds[min(int(k), len(kinds)-1)]
}

// over reports whether a loop that was told to stop may end: no work is left, or the time for stopping is over.
func (l *loop) over() bool {
	return l.stopping && (l.engine.Held() == 0 && l.owed == 0 || l.at >= l.endAt)
}
