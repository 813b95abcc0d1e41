// Package plain writes numbers, durations and counts for people, and makes untrusted names harmless for
// terminals and spreadsheets.
package plain
