package scenarios

import (
	"time"

	"qsim/engine/quantity"
)

// A fresh job of a class that says nothing starves once it has waited for so many mean run times, and for so long.
const (
	starvedAfterRuns = 10
	starvedAtLeast   = time.Second
)

// StarvesAfter returns how long a fresh job of the class may wait until it starves. It is part of the question, not of
// a policy: all policies of a scenario are judged by what the scenario itself says.
func (j *JobClass) StarvesAfter() time.Duration {
	if j.StarvedAfter != nil {
		return j.StarvedAfter.Std()
	}
	mean := min(starvedAfterRuns*j.Service.Dist().Mean(), quantity.Longest.Seconds())
	return max(starvedAtLeast, time.Duration(mean*float64(time.Second)))
}
