package plain

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// Nearest returns the name in names most similar to a misspelled word, or "" if none is close. Among equally close ones
// a name of the same length wins: letters are swapped more often than lost.
func Nearest(word string, names []string) string {
	best, least := "", 2*(1+len(word)/3)+1
	for _, name := range names {
		distance := 2 * levenshtein.ComputeDistance(word, name)
		if len(word) >= 2 && strings.HasPrefix(name, word) {
			distance = 2 // cut short
		}
		if len(name) != len(word) {
			distance++
		}
		if distance <= least && (best == "" || distance < least) {
			best, least = name, distance
		}
	}
	return best
}
