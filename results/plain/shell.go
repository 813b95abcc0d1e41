package plain

import "strings"

// ShellLine joins words into a command line, quoted for a shell.
func ShellLine(words ...string) string {
	const safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=./:,%+@"
	return strings.Join(Map(words, func(word string) string {
		return Either(word != "" && strings.Trim(word, safe) == "", word, "'"+strings.ReplaceAll(word, "'", `'\''`)+"'")
	}), " ")
}
