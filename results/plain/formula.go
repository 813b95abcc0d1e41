package plain

import (
	"regexp"
	"strconv"
	"strings"
)

const number = `(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]{1,2})?`

// quantity matches signed values with a unit, which no spreadsheet takes for formulas: durations, rates, percentages.
var quantity = regexp.MustCompile(`^[-+](?:` + number + `(?:%|[kM]|/(?:s|m|min|h|d))|` +
	`(?:` + number + `(?:ns|us|µs|μs|ms|s|m|h|d))+)$`)

// Inert returns a cell of a CSV file, with an apostrophe before it if a spreadsheet would evaluate it as a formula.
// Numbers and quantities stay as they are. Different cells stay different.
func Inert(cell string) string {
	if len(cell) < 2 || !strings.ContainsRune("=+-@'", rune(cell[0])) {
		return cell
	}
	if _, err := strconv.ParseFloat(strings.TrimSuffix(cell, "%"), 64); err == nil || quantity.MatchString(cell) {
		return cell
	}
	return "'" + cell
}
