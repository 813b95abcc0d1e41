// Package diagnostics finds and writes what is wrong with the text of a scenario: each problem with its position, the
// lines around it, and help. A Source knows the text and the positions of its values; its Cause looks behind an error
// of the YAML parser for the mistake that an author made.
package diagnostics
