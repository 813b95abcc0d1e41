package ui

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
)

func TestSettle(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		code Exit
		want string
	}{
		{"no error", nil, ExitMet, ""},
		{"of cobra", errors.New("accepts 0 arg(s)"), ExitUsage, "qsim: accepts 0 arg(s)\n"},
		{"usage", UsageError("want %d", 1), ExitUsage, "qsim: want 1\n"},
		{"writing", IOError("write result", fs.ErrPermission), ExitIO, "qsim: write result: permission denied\n"},
		{"a reader that hung up", IOError("write result", &fs.PathError{Op: "write", Err: syscall.EPIPE}), ExitIO, ""},
		{"wrapped", fmt.Errorf("late: %w", Fail(ExitInvariant, errors.New("I-7"))), ExitInvariant, "qsim: late: I-7\n"},
		{"a word too long", UsageError("unknown flag --%s; see help", strings.Repeat("a", 100_000)), ExitUsage,
			"qsim: unknown flag --" + strings.Repeat("a", 64) + "…" + strings.Repeat("a", 32) + "; see help\n"},
		{"two, of which one begins like the other", UsageError("%s %s", strings.Repeat("a", 1001), strings.Repeat("a", 9000)), ExitUsage,
			"qsim:" + strings.Repeat(" "+strings.Repeat("a", 66)+"…"+strings.Repeat("a", 33), 2) + "\n"},
		{"a long path", IOError("open", errors.New(strings.Repeat("path/", 100))), ExitIO, "qsim: open: " + strings.Repeat("path/", 100) + "\n"},
		{"said already", Fail(ExitMissed, nil), ExitMissed, ""},
		{"success", Fail(ExitMet, nil), ExitMet, ""},
		{"an error of success", Fail(ExitMet, errors.New("odd")), ExitMet, "qsim: odd\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var stderr bytes.Buffer
			c := &cobra.Command{Use: "qsim"}
			c.SetErr(&stderr)
			if code := Settle(c, tt.err); code != tt.code || stderr.String() != tt.want {
				t.Errorf("got exit %d %q, want %d %q", code, stderr.String(), tt.code, tt.want)
			}
		})
	}
}

func TestWorse(t *testing.T) {
	order := []Exit{ExitMet, ExitMissed, ExitUsage, ExitIO, ExitInvariant, ExitInterrupted}
	for i, a := range order {
		for j, b := range order {
			if got, want := Worse(a, b), order[max(i, j)]; got != want {
				t.Errorf("Worse(%d, %d) is %d, want %d", a, b, got, want)
			}
		}
	}
}
