package ui

import "testing"

// TestHelpFits checks that help text is wrapped for a terminal: paragraphs are filled, lists keep their lines.
func TestHelpFits(t *testing.T) {
	const text = "run simulates a scenario under each of\nits policies.\n\nExit codes:\n    0  objectives met, or missed where expected\n  qsim run my.yaml --until-ci 5%   until the intervals are narrow\n  qsim short"
	const want = "run simulates a scenario under\neach of its policies.\n\nExit codes:\n    0  objectives met, or missed\n       where expected\n  qsim run my.yaml --until-ci 5%\n      until the intervals are\n      narrow\n  qsim short"
	if got := fit(text, 32); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := fit(text, 0); got != text {
		t.Errorf("without a terminal: %s", got)
	}
}
