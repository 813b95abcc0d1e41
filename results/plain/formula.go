package plain

import (
	"regexp"
	"strconv"
	"strings"
)

const number = `(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]{1,2})?`

// withUnit matches signed numbers with a unit, such as -5%, which no spreadsheet evaluates as a formula.
var withUnit = regexp.MustCompile(`^[-+](?:` + number + `(?:%|[kM]|/(?:s|m|min|h|d))|` +
	`(?:` + number + `(?:ns|us|µs|μs|ms|s|m|h|d))+)$`)

// Inert returns the text of a CSV cell, after an apostrophe if a spreadsheet would evaluate it as a formula. Numbers,
// with a unit or not, stay as they are, and different texts stay different.
func Inert(cell string) string {
	if len(cell) < 2 || !strings.ContainsRune("=+-@'", rune(cell[0])) {
		return cell
	}
	if _, err := strconv.ParseFloat(strings.TrimSuffix(cell, "%"), 64); err == nil || withUnit.MatchString(cell) {
		return cell
	}
	return "'" + cell
}
