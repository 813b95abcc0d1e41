package spec

import (
	"time"

	"qsim/engine/quantity"
)

// starvedAfterRuns times the mean run time, but at least starvedAtLeast, is the default wait until a fresh job starves.
const (
	starvedAfterRuns = 10
	starvedAtLeast   = time.Second
)

// StarvesAfter returns the wait after which a fresh job of the class starves. It does not depend on the policy: all
// policies of a scenario are judged by the scenario's own settings.
func (j *JobClass) StarvesAfter() time.Duration {
	if j.StarvedAfter != nil {
		return j.StarvedAfter.Std()
	}
	mean := min(starvedAfterRuns*j.Service.Dist().Mean(), quantity.Longest.Seconds())
	return max(starvedAtLeast, time.Duration(mean*float64(time.Second)))
}
