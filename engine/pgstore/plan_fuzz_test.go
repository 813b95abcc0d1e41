package pgstore

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"qsim/engine"
)

var parameterNumber = regexp.MustCompile(`\$([0-9]+)`)

// FuzzPlanSQL searches for plans that make planSQL panic, or whose numbers reach the statement's
// text: a statement may depend only on the shapes of its terms and the options of the store. All
// else in a plan is a parameter, and none is left out.
func FuzzPlanSQL(f *testing.F) {
	for i, data := range [][]byte{
		{0, 0, 0, 0, 0, 5, 0, 0},
		{0, 0, 0, 0, 0, 9, 0, 0, 1, 1, 2, 3, 4, 1, 0, 0},                         // fresh ones first, then retries of a tenant, newest first
		{2, 1, 1, 7, 9, 3, 0, 1, 0, 2, 0, 200, 0, 5, 0, 0},                       // one kind, at most so many; whatever there is of a tenant
		{2, 0, 3, 0, 0, 4, 5, 0, 0, 0, 8, 0, 6, 4, 0, 0, 1, 0, 0, 0, 0, 4, 7, 1}, // two kinds within a time, any tenants, retries too late are buried
		{2, 0, 255, 0, 127, 255, 127, 1},
	} {
		if _, _, ok := planOf(data, &rules{engine.StoreOptions{LapseAfter: -1}}, 0); !ok {
			f.Fatalf("plan %d is refused: nothing is tried", i)
		}
		f.Add(data, uint8(37*i), int64(i)*int64(time.Minute))
	}
	f.Add([]byte{1, 9, 0, 0, 0, 0, 0, 0}, uint8(5), int64(-1)) // no such order
	f.Fuzz(func(t *testing.T, data []byte, options uint8, within int64) {
		r := &rules{engine.StoreOptions{Fence: engine.FenceToken + engine.Fence(options%3), Place: engine.PlaceHead + engine.Place(options/3%4), Held: options&16 != 0, Promoted: options&32 != 0,
			KeepDead: options&64 != 0, LapseAfter: -1, RecoveriesWithin: max(0, time.Duration(within))}}
		text, arguments, ok := planOf(data, r, 0)
		if !ok {
			return
		}
		if other, _, ok := planOf(data, r, 987_654_321); !ok || other != text {
			t.Fatalf("other numbers, another statement:\n%s\n%s", text, other)
		}
		if strings.Count(text, "(") != strings.Count(text, ")") || strings.Count(text, "'")%2 != 0 || strings.Contains(text, ";") {
			t.Fatalf("no single statement:\n%s", text)
		}
		used, first := map[int]bool{}, 1+len(r.claimArguments(0, 0, 0))
		for _, m := range parameterNumber.FindAllStringSubmatch(text, -1) {
			n, err := strconv.Atoi(m[1])
			if err != nil || n < 1 || n > first+len(arguments) { // the last is the limit of the plan
				t.Fatalf("parameter %s of %d:\n%s", m[0], first+len(arguments), text)
			}
			used[n] = true
		}
		for n := range len(arguments) {
			if !used[first+n] {
				t.Fatalf("%s is given and not used:\n%s", fmt.Sprintf("$%d", first+n), text)
			}
		}
	})
}

// planOf returns the statement for a plan of one term for each eight bytes, with other added to all
// its numbers except 0, and its parameters without the first ones and the last. It is not ok if the
// store refuses such a plan.
func planOf(data []byte, r *rules, other int) (text string, arguments []any, ok bool) {
	var shapes []shape
	for term := range slices.Chunk(data[:min(len(data), 64)], 8) {
		if len(term) < 8 {
			break
		}
		tm := engine.Term{Class: engine.Class(term[0] % 4), Order: engine.Order(term[1]), Kinds: engine.Kinds(term[2]), Tenant: engine.TenantID(term[3]),
			PerTenant: int(int8(term[4])), Limit: int(term[5]) + other, MaxWait: time.Duration(int8(term[6])), Shed: int32(term[7] % 2 * 100)}
		if tm.Tenant > 0 {
			tm.Tenant += engine.TenantID(other)
		}
		if tm.PerTenant > 0 {
			tm.PerTenant += other
		}
		if tm.MaxWait > 0 {
			tm.MaxWait += time.Duration(other)
		}
		s, err := shapeOf(&tm)
		if err != nil {
			return "", nil, false
		}
		shapes = append(shapes, s)
		arguments = planArguments(arguments, &tm, s, frontOfLine, 10+other)
	}
	return planSQL(shapes, r), arguments, true
}
