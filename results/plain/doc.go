// Package plain writes numbers, durations and counts for people, and names that nobody vouches for so that
// neither a terminal nor a spreadsheet carries them out.
package plain
