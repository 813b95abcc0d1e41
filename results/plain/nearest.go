package plain

import (
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Nearest returns the known word most similar to a misspelled one, for "did you mean", or "": one that differs in a
// letter, else the only one that begins with it, or the first that goes on after it with a point, else one that differs
// in a few. Of equals one in the same case wins.
func Nearest(word string, known []string) string {
	if len(word) < 2 || len(word) > 64 {
		return ""
	}
	best, least := "", []int{2 + len(word)/3}
	var longer []string
	for _, k := range known {
		distance := []int{levenshtein.ComputeDistance(strings.ToLower(word), strings.ToLower(k)),
			levenshtein.ComputeDistance(word, k)}
		if distance[0] > 1 { // letters are swapped more often than lost or added
			distance = append(distance, max(len(k)-len(word), len(word)-len(k)))
		}
		if slices.Compare(distance, least) < 0 {
			best, least = k, distance
		}
		if strings.HasPrefix(strings.ToLower(k), strings.ToLower(word)) {
			longer = append(longer, k)
		}
	}
	if least[0] > 1 && (len(longer) == 1 || len(longer) > 1 && strings.HasPrefix(longer[0], word+".")) {
		return longer[0]
	}
	return best
}
