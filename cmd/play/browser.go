package play

import (
	"fmt"

	"qsim/results/plain"
	"qsim/scenarios"
	"qsim/scenarios/estimate"
)

// mostBytes is the memory that a simulation may take in a browser, where all of a worker's is 4 GB at most.
const mostBytes = 1 << 30

func fitsBrowser(sc *scenarios.Scenario) error {
	if f := estimate.Of(sc); f.Bytes > mostBytes {
		return fmt.Errorf("%s brings so many jobs that about %s are alive at once, for which a browser has not the memory: "+
			"lower it, add workers, or use qsim run", f.Key, plain.Grouped(plain.Digits(f.Jobs, 2)))
	}
	return nil
}
