package quantity

import "testing"

// TestMeant parses the notations of other tools: the error shows a correct one, which is valid.
func TestMeant(t *testing.T) {
	for _, tt := range []struct{ rate, text, want string }{
		{"", "100 ms", "no space: write 100ms"}, {"", "1d", "write 24h"}, {"", "2 weeks", "write 336h"}, {"", "1.5 hours", "write 1h30m"},
		{"", "90sec", "write 1m30s"}, {"", "00:02:00", "write 2m"}, {"", "1:30", "write 1m30s"}, {"", "PT2M", "write 2m"}, {"", "P1DT1S", "write 24h1s"},
		{"", "1,500ms", "write 1500ms"}, {"", "P", "write a number and a unit, such as 500ms, 1.5s, 2m or 1h30m"},
		{"r", "20/ms", "write 20000/s"}, {"r", "20 per second", "write 20/s"}, {"r", "5/min", "write 5/m"}, {"r", "24/day", "write 1/h"},
		{"r", "100/10s", "write 10/s"}, {"r", "1,000/s", "write 1000/s"}, {"r", "20rps", "write 20/s"}, {"r", "20 req/s", "write 20/s"},
	} {
		var d Duration
		var r Rate
		err := d.UnmarshalText([]byte(tt.text))
		if tt.rate != "" {
			err = r.UnmarshalText([]byte(tt.text))
		}
		if e, ok := err.(*Error); !ok || e.Help != tt.want {
			t.Errorf("%s: %+v, want help %q", tt.text, err, tt.want)
		}
	}
}
