package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"qsim/cmd/ui"
	"qsim/scenarios/verify"
	"qsim/scenarios/world"
)

// TestVerifyKeepsWhatIsDone: qsim verify prints the finished rows, whatever stopped the others.
func TestVerifyKeepsWhatIsDone(t *testing.T) {
	list := []verify.Result{{Row: verify.Row{ID: "mmc.1"}, Verdict: verify.Met}}
	for _, tt := range []struct {
		name string
		err  error
		want ui.Exit
		note string
	}{
		{"an interruption", context.Canceled, ui.ExitInterrupted, "interrupted: 1 of 3 rows are done"},
		{"a broken invariant", fmt.Errorf("check mmc.3: %w", &world.Broken{}), ui.ExitInvariant, "1 of 3 rows are done"},
		{"anything else", errors.New("check mmc.3: no space"), ui.ExitUsage, "1 of 3 rows are done"},
		{"nothing", nil, ui.ExitMet, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out, notes bytes.Buffer
			c := newRoot()
			c.SetErr(&notes)
			s := &session{flags: &runFlags{format: "table"}, stdout: &out, console: ui.NewConsole(c, false)}
			err := s.concludeVerify(list, 3, tt.err)
			if got := ui.Settle(c, err); got != tt.want || !strings.Contains(notes.String(), tt.note) || !strings.Contains(out.String(), "mmc.1") {
				t.Errorf("exit %d, want %d\n%s%s", got, tt.want, out.String(), notes.String())
			}
		})
	}
}
