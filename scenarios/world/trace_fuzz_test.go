package world

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"qsim/engine"
)

// FuzzTrace looks for traces that make their reader panic, go back in time, pass the end or
// stop in silence.
func FuzzTrace(f *testing.F) {
	for _, text := range []string{"0\n1\n1\n2.5\n", "0,a\n1.25,b\n", "1\n0\n", "-1\n", "1e300\n", "nan\ninf\n", "1,nobody\n", "\n\n", "1e-300\n0x1p4\n", "\"1\"\n", "1;2\n", strings.Repeat("9", 70_000) + "\n", "1"} {
		f.Add([]byte(text), int64(time.Second), 1.0)
	}
	f.Add([]byte("1\n2\n3\n"), int64(0), 2.5)
	f.Fuzz(func(t *testing.T, text []byte, start int64, factor float64) {
		if start < 0 || start > int64(1000*time.Hour) || !(factor >= 0 && factor <= 1000) {
			return
		}
		stop := engine.Time(start).Add(time.Hour)
		tr := newTrace(io.NopCloser(bytes.NewReader(text)), "fuzz.csv", engine.Time(start), stop, levels{all: []level{{0, factor}}}, classDraws{})
		tr.tenantOf = func(name string) engine.TenantID {
			if name == "a" {
				return 7
			}
			return 0
		}
		last, index := engine.Time(start), uint64(0)
		for range 100_000 {
			a, ok := tr.next()
			if !ok {
				break
			}
			if a.at < last || a.at >= stop || a.count == 0 || a.index != index || a.tenant != 0 && a.tenant != 7 {
				t.Fatalf("arrival %+v after %v, index %d", a, last, index)
			}
			last, index = a.at, index+a.count
		}
		lines := bytes.Count(text, []byte("\n")) + 1
		if tr.number > lines+1 || !tr.over {
			t.Errorf("line %d of %d, over: %v", tr.number, lines, tr.over)
		}
		if tr.err != nil && !strings.HasPrefix(tr.err.Error(), `file `) {
			t.Errorf("%v does not say where", tr.err)
		}
		if _, again := tr.next(); again {
			t.Error("it goes on after its end")
		}
	})
}
