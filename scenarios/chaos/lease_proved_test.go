package chaos

import (
	"crypto/sha256"
	"fmt"
	"os"
	"testing"
)

// provedFile holds the digest of the model whose every state Spin has looked at, with and without broken rules. What it
// found is the model's alone, so that the same model is not searched again without -long; -rewrite records another.
const provedFile = "testdata/lease.sum"

// skipProved skips a test of the model if it is the recorded one.
func skipProved(t *testing.T) {
	t.Helper()
	sum, err := os.ReadFile(provedFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(sum) == modelSum(t) && !*long && !*rewrite {
		t.Skip("the model is that of " + provedFile + ": -long searches it again")
	}
}

// modelSum returns the digest of the model.
func modelSum(t *testing.T) string {
	t.Helper()
	source, err := os.ReadFile("testdata/lease.pml")
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x\n", sha256.Sum256(source))
}

// recordProved writes the digest of a model in which all was found, or complains that it is not the recorded one.
func recordProved(t *testing.T) {
	t.Helper()
	sum := modelSum(t)
	was, err := os.ReadFile(provedFile)
	if *rewrite && !t.Failed() {
		err = os.WriteFile(provedFile, []byte(sum), 0o666)
	} else if string(was) != sum {
		t.Error("the model has changed: record it with -run 'TestLeaseProtocol$|TestLeaseProtocolBroken' -rewrite")
	}
	if err != nil {
		t.Error(err)
	}
}
