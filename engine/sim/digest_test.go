package sim_test

import (
	"reflect"
	"testing"

	"qsim/engine"
	"qsim/engine/sim"
)

// TestDigestSeesEveryField changes one field of an event after another, each in its
// lowest and its highest bit, and the order of two events. What is true or false follows from the others.
func TestDigestSeesEveryField(t *testing.T) {
	base := engine.Event{At: 1, Kind: 2, Class: 1, From: 3, Op: 4, Error: 5, JobKind: 6, Tenant: 7, Delivery: 8, Node: 9, Slot: 10, Count: 11,
		Job: 12, Token: 13, Holder: 14, Waited: 15, Age: 16, Delay: 17, Ran: 18}
	digest := func(events ...engine.Event) (d sim.Digest) {
		for i := range events {
			d.Add(&events[i])
		}
		return d
	}
	low := map[sim.Digest]string{digest(base): "nothing"}
	for i := range reflect.TypeFor[engine.Event]().NumField() {
		f := reflect.TypeFor[engine.Event]().Field(i)
		if f.Type.Kind() == reflect.Bool {
			continue
		}
		for _, bit := range []int{0, f.Type.Bits() - 1} {
			changed := base
			if v := reflect.ValueOf(&changed).Elem().Field(i); v.CanInt() {
				v.SetInt(v.Int() ^ -1<<bit ^ -1<<bit<<1)
			} else {
				v.SetUint(v.Uint() ^ 1<<bit)
			}
			d := digest(changed)
			if d == digest(base) {
				t.Errorf("the digest does not see bit %d of %s", bit, f.Name)
			}
			if bit == 0 {
				if same, ok := low[d]; ok {
					t.Errorf("changes of %s and of %s have the same digest", f.Name, same)
				}
				low[d] = f.Name
			}
		}
	}
	other := base
	other.At++
	if digest(base, other) == digest(other, base) {
		t.Errorf("the digest does not see the order of events")
	}
}
