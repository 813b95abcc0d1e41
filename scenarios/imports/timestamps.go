package imports

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"qsim/engine/quantity"
	"qsim/results/plain"
)

// timestamp is a time in nanoseconds since 1970, or since the unknown origin of the file's numbers.
type timestamp int64

// unknown is the timestamp for a time not recorded.
const unknown timestamp = math.MinInt64

func (t timestamp) known() bool { return t != unknown }

// since returns the duration from an earlier timestamp to a later one, both known.
func (t timestamp) since(earlier timestamp) time.Duration { return time.Duration(t - earlier) }

// timestamps parses the times of an import, all absolute (dates, numbers since 1970) or all from one unknown origin.
type timestamps struct {
	zone     *time.Location // zone of times without one; nil: none was given
	layout   string         // layout of the latest time parsed
	relative bool           // some times count from an unknown start
	absolute bool           // some are dates or count from 1970
	zoned    bool           // some dates name their zone
	bare     bool           // some dates do not, and are read in zone or, without that, as UTC
	last     timestamp      // the date read last
	repeated bool           // a date was one of two with the same clock time
}

// dateLayouts lists the accepted layouts of dates, with and without a time zone.
var dateLayouts = []string{
	"2006-01-02T15:04:05Z07:00", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05Z07", "2006-01-02T15:04:05Z07",
	"2006-01-02 15:04:05Z0700", "2006-01-02T15:04:05Z0700", "2006-01-02 15:04:05 Z0700", "2006-01-02 15:04:05 Z07:00",
	"2006-01-02 15:04:05 Z0700 MST", "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04",
	"2006-01-02 15:04", "2006/01/02 15:04:05",
}

// empty reports whether the text of a cell denotes a missing value: "", null, \N, the zero time and so on.
func empty(text string) bool {
	switch text {
	case "", "-", "null", "NULL", "nil", `\N`, "None", "NaN":
		return true
	}
	return strings.HasPrefix(text, "0001-01-01")
}

var (
	errNoZone  = errors.New("has no time zone where others have one: say --timezone")
	errSkipped = errors.New("is in an hour that a clock change skips: is --timezone the right one?")
)

func notATime(text string) error {
	return fmt.Errorf("%s is not a time: want a date such as 2026-01-31T09:30:00Z, or seconds", quoted(text))
}

// read parses a recorded time. zero reports a 0, which means not known if the file's other numbers count from 1970.
func (m *timestamps) read(text string) (at timestamp, zero bool, err error) {
	text = strings.TrimSpace(text)
	if empty(text) {
		return unknown, false, nil
	}
	if c := text[0]; (c >= '0' && c <= '9' || c == '.') && !strings.ContainsAny(text, "-:") {
		return m.number(text)
	}
	at, err = m.date(text)
	return at, false, err
}

// leastEpoch and mostSeconds decide whether a number counts seconds (up to the year 5138), or else milliseconds,
// microseconds or nanoseconds, since 1970; a number below the first of them cannot be a date after 1973.
const (
	leastEpoch  = 1e8
	mostSeconds = 1e11
)

func (m *timestamps) number(text string) (timestamp, bool, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(v, 0) || v < 0 {
		return unknown, false, notATime(text)
	}
	relative := v < leastEpoch
	if v == 0 && m.absolute {
		return unknown, true, nil
	}
	m.relative, m.absolute = m.relative || relative, m.absolute || !relative
	if m.relative && m.absolute {
		return unknown, false, fmt.Errorf("%s: some times count from 1970 and some from a start of their own", quoted(text))
	}
	unit := 1e9
	for most := mostSeconds; v >= most && unit > 1; most *= 1e3 {
		unit /= 1e3
	}
	if v*unit >= math.MaxInt64 {
		return unknown, false, notATime(text)
	}
	// The digits before the point and behind it by themselves: a float64 of seconds since 1970 has lost some.
	digits, fraction, _ := strings.Cut(text, ".")
	whole, err := strconv.ParseInt(digits, 10, 64)
	part, err2 := strconv.ParseFloat("0."+fraction+"e0", 64) // an error for one that has an exponent
	if err != nil || err2 != nil {
		return timestamp(math.Round(v * unit)), false, nil
	}
	return timestamp(whole*int64(unit) + int64(math.Round(part*unit))), false, nil
}

func (m *timestamps) date(text string) (timestamp, error) {
	if m.relative {
		return unknown, fmt.Errorf("%s: some times count from a start of their own and some are dates", quoted(text))
	}
	if cut := strings.TrimSuffix(strings.TrimSuffix(text, " UTC"), " GMT"); cut != text {
		if text = cut; cut != "" && !strings.ContainsAny(cut[max(0, len(cut)-6):], "+-") {
			text += "Z" // no offset stands before UTC
		}
	}
	for i := -1; i < len(dateLayouts); i++ {
		layout := m.layout
		if i >= 0 {
			layout = dateLayouts[i]
		}
		at, err := m.try(layout, text)
		switch {
		case err == nil:
			m.layout = layout
			return at, nil
		case errors.Is(err, errNoZone) || errors.Is(err, errSkipped):
			return unknown, fmt.Errorf("%s %w", quoted(text), err)
		}
	}
	return unknown, notATime(text)
}

func (m *timestamps) try(layout, text string) (timestamp, error) {
	t, err := time.ParseInLocation(layout, text, cmp.Or(m.zone, time.UTC))
	if err != nil {
		return unknown, err
	}
	if y := t.Year(); y < 1970 || y > 2200 {
		return unknown, fmt.Errorf("year %d", y)
	}
	zoned := strings.Contains(layout, "Z07")
	m.absolute, m.zoned, m.bare = true, m.zoned || zoned, m.bare || !zoned
	if m.zoned && m.bare && m.zone == nil {
		return unknown, errNoZone
	}
	at := timestamp(t.UnixNano())
	if !zoned && m.zone != nil {
		wall := plain.Must(time.ParseInLocation(layout, text, time.UTC)) // as t was
		if at, err = m.local(wall, t); err != nil {
			return unknown, err
		}
	}
	m.last = at
	return at, nil
}

// local returns the timestamp, near t, of a local clock time given as if it were UTC. For a time that a clock change
// repeats it is the first, unless that is long before the date read last; a time that is skipped is an error.
func (m *timestamps) local(wall, t time.Time) (timestamp, error) {
	_, before := t.Add(-12 * time.Hour).Zone()
	_, after := t.Add(12 * time.Hour).Zone()
	if before == after {
		return timestamp(t.UnixNano()), nil
	}
	var found []timestamp
	for _, offset := range []int{max(before, after), min(before, after)} { // the earlier time first
		at := wall.Add(-time.Duration(offset) * time.Second)
		if _, own := at.In(m.zone).Zone(); own == offset {
			found = append(found, timestamp(at.UnixNano()))
		}
	}
	switch len(found) {
	case 0:
		return unknown, errSkipped
	case 1:
		return found[0], nil
	}
	m.repeated = true
	second := m.last.known() && found[0] < m.last-(found[1]-found[0])/2
	return plain.Either(second, found[1], found[0]), nil
}

// quoted returns text in quotes for a message, cut to fit on a line.
func quoted(text string) string { return strconv.Quote(quantity.Cut(text, 40)) }
