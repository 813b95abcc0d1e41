package scenarios

import (
	"time"

	"qsim/engine/quantity"
)

// A fresh job starves by default once it has waited for so many mean run times of its class, and for at least so long.
const (
	starvedAfterRuns = 10
	starvedAtLeast   = time.Second
)

// StarvesAfter returns how long a fresh job of the class may wait until it starves. It does not depend on the policy:
// all policies of a scenario are judged by the scenario's own settings.
func (j *JobClass) StarvesAfter() time.Duration {
	if j.StarvedAfter != nil {
		return j.StarvedAfter.Std()
	}
	mean := min(starvedAfterRuns*j.Service.Dist().Mean(), quantity.Longest.Seconds())
	return max(starvedAtLeast, time.Duration(mean*float64(time.Second)))
}
