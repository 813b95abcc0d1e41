package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"
)

func TestSettle(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		code exitCode
		want string
	}{
		{"no error", nil, exitMet, ""},
		{"of cobra", errors.New("accepts 0 arg(s)"), exitUsage, "qsim: accepts 0 arg(s)\n"},
		{"usage", usageError("want %d", 1), exitUsage, "qsim: want 1\n"},
		{"writing", ioError("write result", fs.ErrPermission), exitIO, "qsim: write result: permission denied\n"},
		{"a reader that hung up", ioError("write result", &fs.PathError{Op: "write", Err: syscall.EPIPE}), exitIO, ""},
		{"wrapped", fmt.Errorf("late: %w", &failure{exitInvariant, errors.New("I-7")}), exitInvariant, "qsim: late: I-7\n"},
		{"said already", &failure{exitMissed, nil}, exitMissed, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var stderr bytes.Buffer
			if code := settle(&stderr, tt.err); code != tt.code || stderr.String() != tt.want {
				t.Errorf("got exit %d %q, want %d %q", code, stderr.String(), tt.code, tt.want)
			}
		})
	}
}

func TestWorse(t *testing.T) {
	order := []exitCode{exitMet, exitMissed, exitUsage, exitIO, exitInvariant, exitInterrupted}
	for i, a := range order {
		for j, b := range order {
			if got, want := worse(a, b), order[max(i, j)]; got != want {
				t.Errorf("worse(%d, %d) is %d, want %d", a, b, got, want)
			}
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"seed", "seeds", "set", "format", "no-files"}
	for _, tt := range []struct{ word, want string }{
		{"sedes", "seeds"}, {"fromat", "format"}, {"form", "format"}, {"nofiles", "no-files"}, {"x", ""}, {"frobnicate", ""}, {"", ""},
	} {
		if got := nearest(tt.word, names); got != tt.want {
			t.Errorf("nearest(%q) is %q, want %q", tt.word, got, tt.want)
		}
	}
}
