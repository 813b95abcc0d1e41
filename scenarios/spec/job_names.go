package spec

import (
	"fmt"
	"strconv"
	"strings"

	"qsim/engine"
	"qsim/engine/quantity"
	"qsim/results/plain"
	"qsim/scenarios/reference"
)

// CopyBits and IndexBits are widths of parts of a job's ID, which has, from the top, the class's index plus 1, the
// number of the arrival in the class or burst, and that of the copy: above 0 if an impatient caller enqueued it.
const (
	CopyBits   = 8
	IndexBits  = 44
	BurstShift = 32 // position of the number of the burst, plus 1; the bits below it number the job in the burst

	CopyMask engine.JobID = 1<<CopyBits - 1

	_ = CopyMask - reference.MostResubmits // each copy has a number of its own: of fewer bits this does not compile
)

// JobID returns the ID, as first enqueued, of arrival number index, from 0, of the class with that index in Jobs.
func JobID(class int, index uint64) engine.JobID {
	return engine.JobID(uint64(class+1)<<(IndexBits+CopyBits) | index<<CopyBits)
}

// Arrival returns the class (an index of Scenario.Jobs) of the job with that ID, and its arrival number in the class.
func Arrival(id engine.JobID) (class int, index uint64) {
	return int(id>>(IndexBits+CopyBits)) - 1, uint64(id) >> CopyBits & (1<<IndexBits - 1)
}

// JobName returns the name of a job for users: payments/1234 is arrival 1234, from 0, of the class payments,
// payments/1234+1 the first copy that its impatient caller enqueued again, and payments/rush/7 the eighth job of the
// burst that the storm rush brings. An ID that the scenario cannot have is returned in digits.
func (sc *Scenario) JobName(id engine.JobID) string {
	class, index := Arrival(id)
	if class < 0 || class >= len(sc.Jobs) {
		return strconv.FormatUint(uint64(id), 10)
	}
	name := sc.Jobs[class].Class + "/"
	if burst := index >> BurstShift; burst > 0 {
		if burst > uint64(len(sc.Storms)) {
			return strconv.FormatUint(uint64(id), 10)
		}
		name += sc.Storms[burst-1].Name + "/"
		index &= 1<<BurstShift - 1
	}
	name += strconv.FormatUint(index, 10)
	if again := id & CopyMask; again > 0 {
		name += "+" + strconv.FormatUint(uint64(again), 10)
	}
	return name
}

// FirstCopy returns the ID of a job as its caller first enqueued it, for the ID of any copy (see Patience) of it.
func FirstCopy(id engine.JobID) engine.JobID { return id &^ CopyMask }

// ParseJob returns the ID of a job from its name, in JobName's format, or from its ID in digits. Whether a run has such
// a job is not checked. Errors show the format.
func (sc *Scenario) ParseJob(text string) (engine.JobID, error) {
	if number, err := strconv.ParseUint(text, 10, 64); err == nil {
		id := engine.JobID(number)
		if sc.JobName(id) == text {
			return 0, fmt.Errorf("job %s: that is no job's number; name it by its class and arrival, such as %s/0",
				text, sc.Jobs[0].Class)
		}
		return id, nil
	}
	className, rest, _ := strings.Cut(text, "/")
	class := sc.ClassIndex(className)
	if class < 0 {
		e := reference.UnknownName("job class", className, plain.Map(sc.Jobs, func(j JobClass) string { return j.Class }))
		return 0, fmt.Errorf("job %s: %w%s", quantity.Quote(text), e, helpOf(e))
	}
	bad := fmt.Errorf("job %s: want %s/NUMBER, the number of the arrival from 0", quantity.Quote(text), className)
	rest, copyText, resubmitted := strings.Cut(rest, "+")
	again, err := uint64(0), error(nil)
	if resubmitted {
		if again, err = strconv.ParseUint(copyText, 10, CopyBits); err != nil || again == 0 {
			return 0, fmt.Errorf("job %s: want a number from 1 to %d after +, which resubmission it is",
				quantity.Quote(text), CopyMask)
		}
	}
	storm, _, ofBurst := strings.Cut(rest, "/")
	index, err := strconv.ParseUint(rest[strings.IndexByte(rest, '/')+1:], 10, BurstShift)
	switch {
	case err != nil:
		return 0, bad
	case !ofBurst:
		return JobID(class, index) | engine.JobID(again), nil
	}
	for i := range sc.Storms {
		if x := sc.Storms[i].Effect(); sc.Storms[i].Name == storm && x.Class == className && x.Jobs != nil {
			return JobID(class, uint64(i+1)<<BurstShift|index) | engine.JobID(again), nil
		}
	}
	return 0, fmt.Errorf("job %s: no storm %s brings jobs of class %s at once",
		quantity.Quote(text), quantity.Quote(storm), className)
}

// helpOf returns "; " and the help text of an error, to append to its message; "" if it has none.
func helpOf(e *quantity.Error) string { return plain.When(e.Help != "", "; "+e.Help) }
