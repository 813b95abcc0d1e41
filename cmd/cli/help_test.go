package cli

import (
	"testing"

	"qsim/cmd/ui/clitest"
)

func TestHelpIsTrue(t *testing.T) { clitest.CheckHelp(t, newRoot, 10) }
