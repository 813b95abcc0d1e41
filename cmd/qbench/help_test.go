package main

import (
	"testing"

	"qsim/cmd/cli/clitest"
)

func TestHelpIsTrue(t *testing.T) { clitest.CheckHelp(t, newRoot, 10) }
