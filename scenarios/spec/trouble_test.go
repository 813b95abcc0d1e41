package spec

import (
	"reflect"
	"testing"
)

// TestStormEither: a kind of storm with keys that exclude each other, as the schema has it, checks them.
func TestStormEither(t *testing.T) {
	for _, k := range stormKinds[1:] {
		either := 0
		for _, field := range reflect.VisibleFields(k.of.Elem()) {
			if field.Tag.Get("rule") == "either" {
				either++
			}
		}
		if _, checks := reflect.Zero(k.of).Interface().(interface{ check(c *stormChecker) }); either > 0 && !checks {
			t.Errorf("storm %s has %d keys of which one is wanted, and no method check", k.key, either)
		}
	}
}

// TestStormOfNoKind: a storm whose keys are of no kind's type is a mistake of the caller, and says so.
func TestStormOfNoKind(t *testing.T) {
	defer func() {
		if said := recover(); said != "spec: no kind of storm has keys of type spec.SlowStorm" {
			t.Errorf("panic %v", said)
		}
	}()
	s := Storm{Trouble: SlowStorm{}}
	s.Effect()
}

// TestStormRanks: no two kinds of storm have one rank, so that their order, in which chaos draws them, does not depend
// on the order of the files; and none comes before a storm without a kind.
func TestStormRanks(t *testing.T) {
	for _, rank := range []int{-1, 0, stormKinds[1].rank} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a second kind of rank %d is added", rank)
				}
			}()
			builtInStorm(rank, "twice", func(*SlowStorm, Duration) Effect { return Effect{} })
		}()
	}
}
