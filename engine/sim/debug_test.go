package sim_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"qsim/engine"
)

func TestDebug(t *testing.T) {
	w := swarmWorld(t, 22243)
	w.node.Policy = nil
	fmt.Printf("nodes %d %+v\nstore %+v wake %v restart %v kill %v fail %v\n", w.nodes, w.node, w.store, w.config.Wake, w.config.Restart, w.flaky.kill, w.flaky.stormFail)
	for _, f := range w.links.Faults {
		fmt.Printf("fault %+v\n", f)
	}
	fmt.Printf("%+v\n", w.config.Controls)
	w.config.Until = healed.Add(10 * time.Minute)
	n := map[engine.EventKind]int{}
	w.recorder = rec(func(e *engine.Event) {
		if e.At > healed.Add(60*time.Second) {
			n[e.Kind]++
			if n[e.Kind] < 6 {
				fmt.Printf("%v %v op %v job %d tok %d node %d count %d err %d\n", time.Duration(e.At), e.Kind, e.Op, e.Job, e.Token, e.Node, e.Count, e.Error)
			}
		}
	})
	s := w.start()
	s.Run()
	st, _ := w.memory.Stats(context.Background(), 0)
	fmt.Println(n, st)
}

type rec func(e *engine.Event)

func (r rec) Record(e *engine.Event) { r(e) }
