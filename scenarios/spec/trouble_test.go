package spec

import (
	"reflect"
	"testing"
)

// TestStormEither checks that each kind of storm with keys tagged as exclusive has a check method, which reports two.
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

// TestStormOfNoKind checks that a Storm whose Trouble is of no kind's type panics with a message: it is an error in Go.
func TestStormOfNoKind(t *testing.T) {
	defer func() {
		if said := recover(); said != "spec: no kind of storm has keys of type spec.SlowStorm" {
			t.Errorf("panic %v", said)
		}
	}()
	s := Storm{Trouble: SlowStorm{}}
	s.Effect()
}

// TestStormRanks checks that registering a kind of storm panics for a rank that another has, or that is not above 0:
// the order of kinds, in which chaos draws them, must not depend on the order of files.
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
