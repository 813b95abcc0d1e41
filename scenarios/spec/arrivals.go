package spec

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"qsim/engine/quantity"
)

// Arrivals is the arrival process of a class's jobs. Process determines which of the other keys are used.
type Arrivals struct {
	Process string        `yaml:"process"`          // kind of the arrival process
	Rate    Rate          `yaml:"rate,omitempty"`   // jobs per second, minute or hour; of on-off while it is on
	CV      *Factor       `yaml:"cv,omitempty"`     // standard deviation ÷ mean of the gaps
	On      *Distribution `yaml:"on,omitempty"`     // length of an on phase; the process starts with one
	Off     *Distribution `yaml:"off,omitempty"`    // length of an off phase
	From    *Rate         `yaml:"from,omitempty"`   // rate at the start
	To      *Rate         `yaml:"to,omitempty"`     // rate at the stop
	Mean    *Rate         `yaml:"mean,omitempty"`   // rate on average
	Swing   *Share        `yaml:"swing,omitempty"`  // amplitude of the rate's wave, as a share of the mean
	Period  *Duration     `yaml:"period,omitempty"` // period of the wave; more than 0s
	Size    *Count        `yaml:"size,omitempty"`   // number of jobs that arrive at one instant; at least 1
	Every   *Duration     `yaml:"every,omitempty"`  // time from one batch to the next; more than 0s
	// lines of "seconds[,tenant]", in order: in the folder of the scenario or below it; see OpenFile
	File  string    `yaml:"file,omitempty"`
	Share *Share    `yaml:"share,omitempty"` // share of the lines that arrive, drawn at random; left out: all
	Start Duration  `yaml:"start"`           // time before which no job arrives
	Stop  *Duration `yaml:"stop,omitempty"`  // time after which no job arrives; left out: the end of the duration
	// numbers, from 0, of the arrivals that come: all others stay away; none: all come
	Only []Count `yaml:"only,omitempty,flow"`
}

// MeanRate returns the mean arrivals per second of a class between its start and stop; 0 for a trace, whose content is
// not known.
func (a *Arrivals) MeanRate() float64 {
	switch {
	case a.Process == "on-off" && a.On != nil && a.Off != nil:
		on, off := a.On.Dist().Mean(), a.Off.Dist().Mean()
		if math.IsInf(on, 1) {
			return a.Rate.PerSecond()
		}
		return a.Rate.PerSecond() * on / max(on+off, 1e-9)
	case a.Process == "ramp" && a.From != nil && a.To != nil:
		return (a.From.PerSecond() + a.To.PerSecond()) / 2
	case a.Process == "diurnal" && a.Mean != nil:
		return a.Mean.PerSecond()
	case a.Process == "batch" && a.Size != nil && a.Every != nil && *a.Every > 0:
		return float64(*a.Size) / a.Every.Std().Seconds()
	}
	return a.Rate.PerSecond()
}

// Length returns the time from a class's first to its last possible arrival.
func (a *Arrivals) Length(duration Duration) time.Duration {
	stop := duration
	if a.Stop != nil {
		stop = min(stop, *a.Stop)
	}
	return max(0, stop.Std()-a.Start.Std())
}

// TraceLine parses a line of a trace: seconds since the class starts, a decimal of at least 0, and optionally, after a
// comma, a tenant by its name or else its index.
func TraceLine(line string) (seconds float64, tenant string, err error) {
	number, tenant, named := strings.Cut(strings.TrimSuffix(line, "\r"), ",")
	number, tenant = strings.TrimSpace(number), strings.TrimSpace(tenant)
	seconds, err = strconv.ParseFloat(number, 64)
	switch {
	case err != nil || !quantity.IsNumber(number) || seconds < 0 || seconds > quantity.Longest.Seconds():
		return 0, "", fmt.Errorf("want seconds of at least 0, and perhaps a comma and a tenant, not %s", quantity.Quote(line))
	case named && (tenant == "" || strings.Contains(tenant, ",")):
		return 0, "", fmt.Errorf("want one tenant after the comma, not %s", quantity.Quote(tenant))
	}
	return seconds, tenant, nil
}
