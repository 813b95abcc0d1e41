package plain

import (
	"testing"

	"pgregory.net/rapid"
)

func TestInert(t *testing.T) {
	for cell, want := range map[string]string{"": "", "-": "-", "fifo": "fifo", "-1.5e-9": "-1.5e-9", "+20%": "+20%", "±20%": "±20%", "=1+1": "'=1+1", "-1+cmd|' /C calc'!A0": "'-1+cmd|' /C calc'!A0",
		"+cmd": "'+cmd", "@SUM(1)": "'@SUM(1)", "'=1": "''=1", "a=b": "a=b",
		"-30s": "-30s", "+5s": "+5s", "-1h30m0.5s": "-1h30m0.5s", "-.5ms": "-.5ms", "+10/s": "+10/s", "-1.5/min": "-1.5/min", "-2d": "-2d", "-7µs": "-7µs",
		"-30s+A1": "'-30s+A1", "-1/A1": "'-1/A1", "+1A1": "'+1A1", "-s": "'-s", "-1(2)": "'-1(2)", "-5s%": "'-5s%", "=30s": "'=30s", "@30s": "'@30s", "'-30s": "''-30s"} {
		if got := Inert(cell); got != want {
			t.Errorf("%q: got %q, want %q", cell, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`['=+@a1s/%-]{0,4}`)
		if a, b := text.Draw(t, "a"), text.Draw(t, "b"); a != b && Inert(a) == Inert(b) {
			t.Errorf("%q and %q are both %q", a, b, Inert(a))
		}
	})
}
