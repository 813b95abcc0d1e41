package plain

import (
	"regexp"
	"strconv"
	"strings"
)

// quantity matches what settings take besides plain numbers: durations, rates, shares, thousands.
var quantity = func() *regexp.Regexp {
	const number = `(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]{1,2})?`
	return regexp.MustCompile(`^[-+](?:` + number + `(?:%|[kM]|/(?:s|m|min|h|d))|(?:` + number + `(?:ns|us|µs|μs|ms|s|m|h|d))+)$`)
}()

// Inert returns a cell of a CSV file as spreadsheets show it and do not carry it out: one
// that they would take for a formula, because of how it begins, gets the apostrophe that
// says it is a text. Numbers and quantities stay as they are. Different cells stay different.
func Inert(cell string) string {
	if len(cell) < 2 || !strings.ContainsRune("=+-@'", rune(cell[0])) {
		return cell
	}
	if _, err := strconv.ParseFloat(strings.TrimSuffix(cell, "%"), 64); err == nil || quantity.MatchString(cell) {
		return cell
	}
	return "'" + cell
}
