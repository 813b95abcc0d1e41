package plain

import "testing"

func TestNearest(t *testing.T) {
	names := []string{"seed", "seeds", "set", "format", "no-files"}
	for _, tt := range []struct{ word, want string }{
		{"sedes", "seeds"}, {"fromat", "format"}, {"form", "format"}, {"nofiles", "no-files"}, {"x", ""}, {"frobnicate", ""}, {"", ""},
		{"Seed", "seed"}, {"SETS", "set"}, {"st", "set"}, {"for", "format"}, {"no-", "no-files"}, {"fo", "format"}, {"no-f", "no-files"}, {"sx", ""},
	} {
		if got := Nearest(tt.word, names); got != tt.want {
			t.Errorf("Nearest(%q) is %q, want %q", tt.word, got, tt.want)
		}
	}
	if got := Nearest("sto", []string{"seed", "set", "store"}); got != "store" {
		t.Errorf("the word that begins with it is %q", got)
	}
	if got := Nearest("shared", []string{"lifo", "Shared queue"}); got != "Shared queue" {
		t.Errorf("the word that begins with it in another case is %q", got)
	}
	if got := Nearest("fresh.wait", []string{"fresh.wait.mean", "fresh.wait.p50", "fresh.within"}); got != "fresh.wait.mean" {
		t.Errorf("of those that go on after a point, the first: got %q", got)
	}
	if got := Nearest("men", []string{"mean", "min"}); got != "mean" {
		t.Errorf("of words that lack one letter it is %q, not the first", got)
	}
}
