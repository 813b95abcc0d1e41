package trace

import (
	"encoding/json"
	"time"
)

// Span is a time of the run or a duration. JSON has it in seconds, or null if it is below 0 (not known).
type Span time.Duration

const none Span = -1

// Seconds returns the time in seconds.
func (s Span) Seconds() float64 { return time.Duration(s).Seconds() }

// IsZero reports whether the time is not known, so that JSON may leave it out.
func (s Span) IsZero() bool { return s < 0 }

// MarshalJSON returns the time in seconds, or null if it is below 0 (not known).
func (s Span) MarshalJSON() ([]byte, error) {
	if s.IsZero() {
		return []byte("null"), nil
	}
	return json.Marshal(s.Seconds())
}
