package plain

import (
	"cmp"
	"slices"
	"strconv"
)

// Distinct returns the elements of all lists, in order, without repetitions.
func Distinct[T comparable](lists ...[]T) (all []T) {
	for _, one := range slices.Concat(lists...) {
		if !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	return all
}

// Numbered returns the names in order, made distinct: one that an earlier name has gets -2, -3 or so on appended.
func Numbered(names []string) []string {
	numbered, taken := make([]string, len(names)), make(map[string]bool, len(names))
	for i, name := range names {
		one := name
		for n := 2; taken[one]; n++ {
			one = name + "-" + strconv.Itoa(n)
		}
		numbered[i], taken[one] = one, true
	}
	return numbered
}

// Map returns the results of a function for the elements of a list, in order; nil for an empty list.
func Map[T, R any](list []T, of func(T) R) []R {
	all := slices.Grow([]R(nil), len(list))
	for _, one := range list {
		all = append(all, of(one))
	}
	return all
}

// Must returns the value of a call that cannot fail; it panics if err is not nil.
func Must[T any](value T, err error) T {
	if err != nil {
		panic("plain: a call that cannot fail: " + err.Error())
	}
	return value
}

// Find returns a pointer to the first element of a list for which sought returns true; nil if there is none.
func Find[T any](list []T, sought func(one *T) bool) *T {
	for i := range list {
		if sought(&list[i]) {
			return &list[i]
		}
	}
	return nil
}

// Where returns pointers to the elements of a list for which wanted returns true, in order.
func Where[T any](list []T, wanted func(one *T) bool) (found []*T) {
	for i := range list {
		if wanted(&list[i]) {
			found = append(found, &list[i])
		}
	}
	return found
}

// Order returns the indexes of those elements of a list that have a key (ok), sorted stably by their keys, ascending.
func Order[T any, K cmp.Ordered](list []T, keyOf func(one T) (key K, ok bool)) (order []int) {
	keys := make([]K, len(list))
	for i, one := range list {
		var ok bool
		if keys[i], ok = keyOf(one); ok {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(keys[a], keys[b]) })
	return order
}

// Sum returns the sum of what a function returns for the elements of a list, added in order.
func Sum[T any, N int | int64 | uint64 | float64](list []T, of func(one T) N) (sum N) {
	for _, one := range list {
		sum += of(one)
	}
	return sum
}

// Count returns the number of elements of a list for which holds returns true.
func Count[T any](list []T, holds func(one T) bool) (n int) {
	for _, one := range list {
		if holds(one) {
			n++
		}
	}
	return n
}
