package scenarios

import _ "embed"

// The schema is made from the structs, their comments and the rules of the checker.
//
//go:generate go test -tags schema -run ^TestSchemaFile$ . -rewrite

//go:embed scenario.schema.json
var schema []byte

// Schema returns the JSON schema (draft 2020-12) of scenario files, for editors. Load
// refuses whatever the schema does, and more: what goes together, and names. The caller
// must not change it.
func Schema() []byte { return schema }
