package plain

import (
	"cmp"
	"slices"
	"strconv"
)

// Distinct joins lists, and keeps only the first of equal elements.
func Distinct[T comparable](lists ...[]T) (all []T) {
	for _, one := range slices.Concat(lists...) {
		if !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	return all
}

// Numbered returns names without equal ones among them, in the same order: a name that an earlier one has gets a number
// appended, -2, -3 and so on.
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

// Map returns the result of a function for each element of a list, nil for an empty one.
func Map[T, R any](list []T, of func(T) R) []R {
	var all []R
	for _, one := range list {
		all = append(all, of(one))
	}
	return all
}

// Must returns the value of a call that cannot fail; it panics for an error.
func Must[T any](value T, err error) T {
	if err != nil {
		panic("plain: a call that cannot fail: " + err.Error())
	}
	return value
}

// Find returns a pointer to the first element of a list for which sought is true, nil if there is none.
func Find[T any](list []T, sought func(one *T) bool) *T {
	for i := range list {
		if sought(&list[i]) {
			return &list[i]
		}
	}
	return nil
}

// Order returns the indexes of the elements of a list that have a key, in ascending order of the keys; of equal keys
// the earlier element comes first.
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

// Sum returns the sum of a number of each element of a list, added up in the order of the list.
func Sum[T any, N int | int64 | uint64 | float64](list []T, of func(one T) N) (sum N) {
	for _, one := range list {
		sum += of(one)
	}
	return sum
}

// Count returns the number of elements of a list for which a condition holds.
func Count[T any](list []T, holds func(one T) bool) (n int) {
	for _, one := range list {
		if holds(one) {
			n++
		}
	}
	return n
}
