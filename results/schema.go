package results

import "embed"

// The schemas are made from the types that are written, and their comments.
//
//go:generate go test -run ^TestSchemas$ . -rewrite

//go:embed *.schema.json
var schemas embed.FS

// Schema returns the JSON schema (draft 2020-12) of a format that this package writes: summary (summary.json), run
// (run.json), compare (what MarshalComparisons returns) or tune (tune.json). It is nil for another name.
func Schema(name string) []byte {
	text, err := schemas.ReadFile(name + ".schema.json")
	if err != nil {
		return nil
	}
	return text
}
