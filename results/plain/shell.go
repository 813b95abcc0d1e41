package plain

import "strings"

// ShellLine returns words joined to a command line, each quoted for a POSIX shell if it needs to be.
func ShellLine(words ...string) string {
	const safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=./:,%+@"
	return strings.Join(Map(words, func(word string) string {
		return Either(word != "" && strings.Trim(word, safe) == "", word, "'"+strings.ReplaceAll(word, "'", `'\''`)+"'")
	}), " ")
}
