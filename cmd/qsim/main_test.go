package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"qsim/cmd/ui/clitest"
)

// TestMain lets this binary be qsim, for the scripts and for TestInterrupt.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"qsim": main, "qsim-extended": extended})
}

// TestScripts runs the stories of testdata/script, one process after the other.
func TestScripts(t *testing.T) {
	clitest.Scripts(t, testscript.Params{Cmds: map[string]clitest.Command{"sametree": sameTree}})
}
