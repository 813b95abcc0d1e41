package trace

import (
	"encoding/json"
	"time"
)

// Span is a time of the run or a length of time. In JSON it is seconds, or null if there is none.
type Span time.Duration

const none Span = -1

// Seconds returns s in seconds.
func (s Span) Seconds() float64 { return time.Duration(s).Seconds() }

// IsZero reports whether there is none, which JSON leaves out where it may.
func (s Span) IsZero() bool { return s < 0 }

// MarshalJSON implements json.Marshaler.
func (s Span) MarshalJSON() ([]byte, error) {
	if s.IsZero() {
		return []byte("null"), nil
	}
	return json.Marshal(s.Seconds())
}
