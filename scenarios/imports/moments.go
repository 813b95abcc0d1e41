package imports

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// moment is a time in nanoseconds since 1970, or since whatever the file counts from.
type moment int64

// unknown is no moment.
const unknown moment = math.MinInt64

func (m moment) known() bool { return m != unknown }

// since is how long m is after earlier, both known.
func (m moment) since(earlier moment) time.Duration { return time.Duration(m - earlier) }

// moments reads times, all of one sort: dates, or numbers that count from a start of their own.
type moments struct {
	zone     *time.Location // of times without one; nil: none was given
	layout   string         // that fitted last
	relative sortOfTime
	zoned    sortOfTime // whether dates say their zone
	bare     int64      // dates without a zone, read as UTC
	last     moment     // date
	repeated bool       // a date was one of two with the same clock time
}

// sortOfTime is what times of a file are, since the first that was seen.
type sortOfTime uint8

const (
	unseen sortOfTime = iota
	yes
	no
)

// layouts of dates, with Z for a zone of any spelling and without one.
var dateLayouts = []string{
	"2006-01-02T15:04:05Z07:00", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05Z07", "2006-01-02T15:04:05Z07", "2006-01-02 15:04:05Z0700", "2006-01-02T15:04:05Z0700",
	"2006-01-02 15:04:05 Z0700", "2006-01-02 15:04:05 Z07:00", "2006-01-02 15:04:05 Z0700 MST",
	"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", "2006/01/02 15:04:05",
}

// hasZone reports whether a layout has one.
func hasZone(layout string) bool { return strings.Contains(layout, "Z07") }

// empty are the spellings of no time.
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

// read reads a time. zero reports a number 0 where the others count from 1970.
func (m *moments) read(text string) (at moment, zero bool, err error) {
	text = strings.TrimSpace(text)
	if empty(text) {
		return unknown, false, nil
	}
	if c := text[0]; (c >= '0' && c <= '9' || c == '.') && strings.Count(text, "-") == 0 && !strings.Contains(text, ":") {
		return m.number(text)
	}
	at, err = m.date(text)
	return at, false, err
}

// The largest numbers that count seconds, milliseconds and microseconds since 1970, in the
// year 5138; what is below the first of them cannot be a date after 1973.
const (
	leastEpoch  = 1e8
	mostSeconds = 1e11
	mostMillis  = 1e14
	mostMicros  = 1e17
)

func (m *moments) number(text string) (moment, bool, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(v, 0) || v < 0 {
		return unknown, false, fmt.Errorf("%s is not a time: want a date such as 2026-01-31T09:30:00Z, or seconds", shorten(text))
	}
	relative := no
	if v < leastEpoch {
		if relative = yes; v == 0 && m.relative == no {
			return unknown, true, nil
		}
	}
	if m.relative == unseen {
		m.relative = relative
	}
	if m.relative != relative {
		return unknown, false, fmt.Errorf("%s: some times count from 1970 and some from a start of their own", shorten(text))
	}
	unit := 1e9
	switch {
	case v >= mostMicros:
		unit = 1
	case v >= mostMillis:
		unit = 1e3
	case v >= mostSeconds:
		unit = 1e6
	}
	if whole, err := strconv.ParseInt(text, 10, 64); err == nil {
		return moment(whole * int64(unit)), false, nil
	}
	return exactly(text, v, unit), false, nil
}

// exactly keeps the digits behind the point that a float64 of seconds since 1970 has lost.
func exactly(text string, v, unit float64) moment {
	whole, fraction, found := strings.Cut(text, ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	part, err2 := strconv.ParseFloat("0."+fraction, 64)
	if !found || err != nil || err2 != nil {
		return moment(math.Round(v * unit))
	}
	return moment(seconds*int64(unit) + int64(math.Round(part*unit)))
}

func (m *moments) date(text string) (moment, error) {
	if m.relative == yes {
		return unknown, fmt.Errorf("%s: some times count from a start of their own and some are dates", shorten(text))
	}
	text = strings.TrimSuffix(strings.TrimSuffix(text, " UTC"), " GMT") + map[bool]string{true: "Z", false: ""}[endsWithZone(text)]
	if at, err := m.try(m.layout, text); err == nil {
		return at, nil
	} else if errors.Is(err, errNoZone) || errors.Is(err, errSkipped) {
		return unknown, fmt.Errorf("%s %w", shorten(text), err)
	}
	for _, layout := range dateLayouts {
		at, err := m.try(layout, text)
		switch {
		case err == nil:
			m.layout = layout
			return at, nil
		case errors.Is(err, errNoZone) || errors.Is(err, errSkipped):
			return unknown, fmt.Errorf("%s %w", shorten(text), err)
		}
	}
	return unknown, fmt.Errorf("%s is not a time: want a date such as 2026-01-31T09:30:00Z, or seconds", shorten(text))
}

// endsWithZone reports whether a date ends with UTC and no offset before it.
func endsWithZone(text string) bool {
	cut := strings.TrimSuffix(strings.TrimSuffix(text, " UTC"), " GMT")
	return cut != text && len(cut) > 0 && !strings.ContainsAny(cut[max(0, len(cut)-6):], "+-")
}

func (m *moments) try(layout, text string) (moment, error) {
	if layout == "" {
		return unknown, errors.New("no layout")
	}
	zone := time.UTC
	if m.zone != nil {
		zone = m.zone
	}
	t, err := time.ParseInLocation(layout, text, zone)
	if err != nil {
		return unknown, err
	}
	if y := t.Year(); y < 1970 || y > 2200 {
		return unknown, fmt.Errorf("year %d", y)
	}
	zoned := no
	if hasZone(layout) {
		zoned = yes
	} else {
		m.bare++
	}
	m.relative = no
	if m.zoned == unseen {
		m.zoned = zoned
	}
	if m.zoned != zoned && m.zone == nil {
		return unknown, errNoZone
	}
	at := moment(t.UnixNano())
	if zoned == no && m.zone != nil {
		wall, err := time.ParseInLocation(layout, text, time.UTC)
		if err != nil {
			return unknown, err
		}
		if at, err = m.local(wall, t); err != nil {
			return unknown, err
		}
	}
	m.last = at
	return at, nil
}

// local finds the moment of a clock time, given as if it were UTC, that is near t. Of two in an
// hour that comes twice it is the first, unless that is long before the date read last; one in
// an hour that is skipped is an error.
func (m *moments) local(wall, t time.Time) (moment, error) {
	_, before := t.Add(-12 * time.Hour).Zone()
	_, after := t.Add(12 * time.Hour).Zone()
	if before == after {
		return moment(t.UnixNano()), nil
	}
	var found []moment
	for _, offset := range []int{max(before, after), min(before, after)} { // the earlier moment first
		at := wall.Add(-time.Duration(offset) * time.Second)
		if _, own := at.In(m.zone).Zone(); own == offset {
			found = append(found, moment(at.UnixNano()))
		}
	}
	switch len(found) {
	case 0:
		return unknown, errSkipped
	case 1:
		return found[0], nil
	}
	m.repeated = true
	if m.last.known() && found[0] < m.last-(found[1]-found[0])/2 {
		return found[1], nil
	}
	return found[0], nil
}

// shorten quotes text for a message, so short that it stays on a line.
func shorten(text string) string {
	const most = 40
	if r := []rune(text); len(r) > most {
		text = string(r[:most]) + "…"
	}
	return strconv.Quote(text)
}
