package chaos

import (
	"crypto/sha256"
	"fmt"
	"os"
	"testing"
)

// provedFile is the file with the SHA-256 of the testdata/lease.pml that Spin has explored, with and without broken
// rules. The same model is not explored again without -long; -rewrite records another.
const provedFile = "testdata/lease.sum"

// skipProved skips a test that explores testdata/lease.pml, if provedFile has its sum.
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

// modelSum returns the SHA-256 of testdata/lease.pml as a line of hexadecimal text.
func modelSum(t *testing.T) string {
	t.Helper()
	source, err := os.ReadFile("testdata/lease.pml")
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x\n", sha256.Sum256(source))
}

// recordProved writes modelSum to provedFile with -rewrite, unless a test failed; else it must be there already.
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
