package results

import (
	"testing"

	"qsim/results/resultstest"
)

var settings, comparison = resultstest.Settings, resultstest.Comparison

// SkipRaced is for tests from outside the package too.
func SkipRaced(t *testing.T) { skipRaced(t) }
