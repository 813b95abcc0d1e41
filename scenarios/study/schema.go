package study

import _ "embed"

// The schema is made from the types that are written, and their comments.
//
//go:generate go test -run ^TestSchema$ . -rewrite

//go:embed sweep.schema.json
var schema []byte

// Schema returns the JSON schema (draft 2020-12) of sweep.json. The caller must not change it.
func Schema() []byte { return schema }

//go:embed doctor.schema.json
var doctorSchema []byte

// DoctorSchema returns the JSON schema of doctor.json. The caller must not change it.
func DoctorSchema() []byte { return doctorSchema }
