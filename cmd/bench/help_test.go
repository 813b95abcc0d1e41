package bench

import (
	"testing"

	"qsim/cmd/ui/clitest"
)

func TestHelpIsTrue(t *testing.T) { clitest.CheckHelp(t, newRoot, 10) }

func TestDocumentsAreTrue(t *testing.T) {
	for folder, least := range map[string]int{".": 2, "cmd/qbench": 10} {
		clitest.CheckDocument(t, newRoot, "../../"+folder+"/README.md", least)
	}
}

func TestManual(t *testing.T) { clitest.CheckManual(t, newRoot) }
