package world

import (
	"reflect"
	"time"

	"qsim/engine"
)

// A wall-clock run converts what it gives to engines and store, and its events. A scaled clock with a store around the
// store takes no less code: it wraps nine methods, copies every batch, which the engine may send again, and keeps apart
// stores that lack TwoStep, Announcer or Registry; the driver must convert its timer, its contexts and the limits of a
// stop; store options and the delays measured for prediction stay. Nor could a simulation prove it, as TestSpeedIsExact
// proves this to the nanosecond, since it does not use the wall clock's driver.

// onWall returns a configuration of the engine or of a store with every duration in it converted to the wall clock:
// those of its structs and slices, those that functions draw, and the delays of retry policies, which decide in
// scenario time. Slices are copied. A pointer or another interface is kept: what it holds is not converted.
func onWall[T any](s Speed, configuration T) T {
	s.convert(reflect.ValueOf(&configuration).Elem())
	return configuration
}

func (s Speed) convert(v reflect.Value) {
	switch x := v.Addr().Interface().(type) {
	case *time.Duration:
		*x = s.Real(*x)
		return
	case *func(u float64) time.Duration:
		if usual := *x; usual != nil {
			*x = func(u float64) time.Duration { return s.Real(usual(u)) }
		}
		return
	case *engine.RetryPolicy:
		*x = fastRetry{*x, s}
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Field(i); field.CanSet() {
				s.convert(field)
			}
		}
	case reflect.Slice:
		own := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(own, v)
		v.Set(own)
		for i := range v.Len() {
			s.convert(v.Index(i))
		}
	}
}
