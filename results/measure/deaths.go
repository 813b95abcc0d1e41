package measure

import (
	"slices"

	"qsim/engine"
)

// death is the reason why a job was buried, that is, is dead and not tried again: attempt limit, error kind and so on.
type death uint8

const (
	byLimit    death = iota // its attempts were used up
	byError                 // it failed with an error kind that buries at once
	byDeadline              // it was too old for another attempt
	byReaper                // its lease expired, and the reaper buries such jobs, or those recovered too often
	byShedding              // the policy shed it (dropped it while ready)
	numDeaths
)

// deathOf returns the reason why an outcome buried a job. A job that has used up its attempts died by the limit,
// whatever its age.
func (c *Collector) deathOf(o *engine.Outcome, r *engine.Result) death {
	switch {
	case r.From == engine.Ready && o.Error == engine.NoError:
		return byShedding
	case o.Reaped:
		return byReaper
	case slices.Contains(element(c.settings.Burials, o.Kind), o.Error):
		return byError
	case o.Aged:
		return byDeadline
	}
	return byLimit
}

// deathMetrics returns the metrics that divide deaths.count by the reason of the burial.
func deathMetrics() []metric {
	of := func(name string, why death, label, doc string) metric {
		return ofJobs(less("deaths."+name, "jobs", label, doc),
			func(q *question) Value { return count(q.jobs.deathsBy[why]) })
	}
	return []metric{
		of("limit", byLimit, "deaths by the attempt limit", "deaths of jobs whose attempts were used up"),
		of("error", byError, "deaths by an error that buries", "deaths by an error kind that buries at once"),
		of("deadline", byDeadline, "deaths by the deadline", "deaths of jobs too old for another attempt"),
		of("reaper", byReaper, "deaths by the reaper",
			"deaths of jobs whose lease expired, where the reaper buries those, or those recovered too often"),
		of("shed", byShedding, "jobs shed", "deaths of jobs that a policy gave up where they stood"),
	}
}
