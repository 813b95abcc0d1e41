package study

import (
	"math"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"8", "8"},
		{"8,16,32", "8 16 32"},
		{"8, 16 ,32", "8 16 32"},
		{"8..32/8", "8 16 24 32"},
		{"8..35/8", "8 16 24 32"},
		{"8..64/4points", "8 27 45 64"},
		{"0..1/0.25", "0 0.25 0.5 0.75 1"},
		{"0.1..0.3/0.1", "0.1 0.2 0.3"},
		{"10s..1m/10s", "10s 20s 30s 40s 50s 1m"},
		{"10s..60s/6", "10s 20s 30s 40s 50s 1m"},
		{"10s..60s/6points", "10s 20s 30s 40s 50s 1m"},
		{"1s..8m*2", "1s 2s 4s 8s 16s 32s 1m4s 2m8s 4m16s"},
		{"1s..10m*5points", "1s 4.949s 24.49s 2m1.2s 10m"},
		{"1h30m..3h/30m", "1h30m 2h 2h30m 3h"},
		{"60/s..100/s/20/s", "60/s 80/s 100/s"},
		{"60/s..100/s/3", "60/s 80/s 100/s"},
		{"1/m..1/s/29.5/m", "1/m 30.5/m 60/m"},
		{"60/s,90/s,5400/m", "TWICE"},
		{"10%..30%/5%", "10% 15% 20% 25% 30%"},
		{"1%..100%*10", "1% 10% 100%"},
		{"1..8", "1 2 3 4 5 6 7 8"},
		{"1,2,4..16*4", "1 2 4 16"},
		{"1..100*3", "1 3 9 27 81"},
		{"1k..1M*10", "1000 10000 100000 1000000"},
		{"-30s..30s/30s", "-30s 0s 30s"},
		{"none,full,±20%", "none full ±20%"},
		{"none,{kind: fixed, delay: 60s},'a,b'", "none {kind: fixed, delay: 60s} 'a,b'"},
		{"1000ms,90s", "1s 1m30s"},
		{"none,1000ms", "none 1000ms"},
		{"true,false", "true false"},
	} {
		t.Run(tt.text, func(t *testing.T) {
			r, err := parseRange(tt.text)
			got := strings.Join(r.Texts(), " ")
			if err != nil && strings.Contains(err.Error(), "twice") {
				got = "TWICE"
			}
			if got != tt.want {
				t.Errorf("got %s (%v), want %s", got, err, tt.want)
			}
		})
	}
}

// TestShort: there is a warning for steps that do not reach the end of the range.
func TestShort(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"8,16,32", ""},
		{"8..32/8", ""},
		{"10s..60s/6", ""},
		{"1s..10m*5points", ""},
		{"250ms..16s*2", ""},
		{"0.1..0.3/0.1", ""},
		{"1..1000*10", ""},
		{"250ms..16s*3", "250ms..16s*3 ends with 6.75s"},
		{"8..35/8", "8..35/8 ends with 32"},
		{"1,2..9/4,10..31*3", "2..9/4 ends with 6; 10..31*3 ends with 30"},
	} {
		t.Run(tt.text, func(t *testing.T) {
			r, err := parseRange(tt.text)
			if got := strings.Join(r.Short, "; "); err != nil || got != tt.want {
				t.Errorf("got %q (%v), want %q", got, err, tt.want)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", "a value is missing"},
		{"1,,2", "a value is missing"},
		{"1,", "a value is missing"},
		{"a..b/2", "want a number before .."},
		{"60-140", "60-140: a range is written 60..140"},
		{"10s-1.5m", "10s-1.5m: a range is written 10s..1.5m"},
		{"1..b", "want a number after .."},
		{"1..", "want a number after .."},
		{"10s..60s", "say the steps"},
		{"10..60s/10s", "not of one sort"},
		{"60s..10s/10s", "ranges go up"},
		{"10s..60s/10%", "step 10% is not of the sort"},
		{"10s..60s/0s", "not above 0"},
		{"10s..60s/2m", "goes beyond"},
		{"10s..60s/1points", "want 2 to"},
		{"10s..60s/xpoints", "want 2 to"},
		{"10s..60s/1", "want 2 to"},
		{"10s..60s*1", "not above 1"},
		{"10s..60s*2s", "want a factor"},
		{"10s..60s*", "want a number after"},
		{"0..60*2", "log steps begin above 0"},
		{"1..3/5points", "there are not 5 values"},
		{"1..1000000", "more than 10000 values"},
		{"1..1000001*1.0000001", "more than 10000 values"},
		{"8,8", "8 is there twice"},
		{"{a: 1", "a } is missing"},
		{"'a", "a ' is not closed"},
		{strings.Repeat("9", 300) + "..1", "want a number before"},
		{"1e99..1e100/1", "want a number before"},
	} {
		t.Run(tt.text, func(t *testing.T) {
			_, err := parseRange(tt.text)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, want %q in it", err, tt.want)
			}
			if len(err.Error()) > 300 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
	}
}

func TestNumbersOfValues(t *testing.T) {
	for _, tt := range []struct {
		text    string
		want    []float64
		numeric bool
	}{
		{"500ms,2m", []float64{0.5, 120}, true},
		{"60/s,120/m", []float64{60, 2}, true},
		{"20%,50%", []float64{0.2, 0.5}, true},
		{"1k,2", []float64{1000, 2}, true},
		{"none,full", []float64{0, 1}, false},
		{"1,2s", []float64{0, 1}, false},
	} {
		t.Run(tt.text, func(t *testing.T) {
			r, err := parseRange(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if r.Numeric != tt.numeric {
				t.Errorf("numeric: got %v, want %v", r.Numeric, tt.numeric)
			}
			for i, v := range r.Values {
				if math.Abs(v.Number-tt.want[i]) > 1e-12 {
					t.Errorf("%s: got %v, want %v", v.Text, v.Number, tt.want[i])
				}
			}
		})
	}
}

func TestBetween(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"10s,20s", "15s"},
		{"1s..100s*100", "10s"},
		{"60/s,61/s", "60.5/s"},
		{"10%,15%", "12.5%"},
		{"1,4", "3"}, // a half away from 0
		{"1,2", ""},
		{"1.0,2.5", "1.75"},
		{"none,full", ""},
		{"1ns,2ns", ""},
	} {
		t.Run(tt.text, func(t *testing.T) {
			r, err := parseRange(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			v, ok := r.Between(r.Values[0], r.Values[1])
			if ok != (tt.want != "") || v.Text != tt.want {
				t.Errorf("got %q %v, want %q", v.Text, ok, tt.want)
			}
		})
	}
}

// TestBetweenEnds halves a range until no value lies between: that ends, and every value lies inside.
func TestBetweenEnds(t *testing.T) {
	for _, text := range []string{"1s,2s", "1..1000*1000", "1/s,3/s", "1%..90%*90", "0.5,9"} {
		t.Run(text, func(t *testing.T) {
			r, err := parseRange(text)
			if err != nil {
				t.Fatal(err)
			}
			low, high := r.Values[0], r.Values[1]
			for n := 0; ; n++ {
				middle, ok := r.Between(low, high)
				if !ok {
					break
				}
				if middle.Number <= low.Number || middle.Number >= high.Number || n > 200 {
					t.Fatalf("%d halvings: %s lies not between %s and %s", n, middle.Text, low.Text, high.Text)
				}
				high = middle
			}
		})
	}
}

// TestPlaces finds, for each value of a range, the part of the text that it came from.
func TestPlaces(t *testing.T) {
	const text = "ä, 10..30/10 ,{a: [1,2]}"
	r, err := parseRange(text)
	if err != nil {
		t.Fatal(err)
	}
	var places []string
	for _, v := range r.Values {
		places = append(places, string([]rune(text)[v.Column-1:v.Column-1+v.Width]))
	}
	if got, want := strings.Join(places, "|"), "ä|10..30/10|10..30/10|10..30/10|{a: [1,2]}"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if r, err = parseRange("1,  2"); err != nil || r.Values[1].Column != 5 || r.Values[1].Width != 1 {
		t.Errorf("got %+v (%v)", r.Values, err)
	}
}

func TestAscending(t *testing.T) {
	for text, want := range map[string]bool{"1,2,3": true, "3,2": false, "b,a": true, "1": true, "1m,90s": true} {
		if r, err := parseRange(text); err != nil || r.ascending() != want {
			t.Errorf("%s: got %v (%v), want %v", text, r.ascending(), err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("1s..10m*5points")
	f.Add("none,{a: [1,2]},'x,y'")
	f.Add("-1e-9..1/s/1M")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := parseRange(text)
		if err != nil {
			return
		}
		if len(r.Values) == 0 || len(r.Values) > MostCells {
			t.Fatalf("%d values", len(r.Values))
		}
		if !r.Numeric {
			return
		}
		// What is written reads as what was written.
		again, err := parseRange(strings.Join(r.Texts(), ","))
		if err != nil {
			t.Fatalf("%q became %q: %v", text, r.Texts(), err)
		}
		for i, v := range again.Values {
			if v.Text != r.Values[i].Text {
				t.Fatalf("%q became %q", r.Values[i].Text, v.Text)
			}
		}
	})
}
