package cli

import (
	"testing"

	"qsim/cmd/ui/clitest"
)

func TestHelpIsTrue(t *testing.T) { clitest.CheckHelp(t, newRoot, 10) }

func TestDocumentsAreTrue(t *testing.T) {
	for folder, least := range map[string]int{".": 12, "cmd/qsim": 10, "policies": 2, "results": 5, "scenarios": 25, "scripts": 5} {
		clitest.CheckDocument(t, newRoot, "../../"+folder+"/README.md", least)
	}
}

func TestManual(t *testing.T) { clitest.CheckManual(t, newRoot) }
