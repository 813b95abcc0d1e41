// Package schematest builds JSON schemas of the program's output from its Go types, and validates documents against
// them. It is for tests.
package schematest

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v6"
)

// Build returns the JSON schema (draft 2020-12) of a value as encoding/json writes it. Its descriptions are the
// comments on types and fields in folders. special has the schemas of types with JSON methods or formats of their own.
func Build(t *testing.T, title string, v any, folders []string, special map[reflect.Type]jsonschema.Schema) []byte {
	t.Helper()
	comments := readComments(t, folders)
	r := &jsonschema.Reflector{Anonymous: true, ExpandedStruct: true, DoNotReference: true}
	r.AllowAdditionalProperties = true
	r.LookupComment = func(of reflect.Type, field string) string {
		return comments[path.Base(of.PkgPath())+"."+of.Name()+"."+field]
	}
	r.Mapper = func(of reflect.Type) *jsonschema.Schema {
		if s, ok := special[of]; ok {
			return &s
		}
		if of.Kind() != reflect.Map {
			return nil
		}
		s := r.ReflectFromType(of.Elem())
		s.Version = ""
		return &jsonschema.Schema{Type: "object", AdditionalProperties: s}
	}
	s := r.Reflect(v)
	orNull(s)
	s.Title = title
	text, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return append(text, '\n')
}

// orNull allows null for every property within a JSON schema whose description has the word null: for its elements if
// it is a list of numbers, else for itself.
func orNull(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	orNull(s.Items)
	orNull(s.AdditionalProperties)
	for pair := s.Properties.Oldest(); pair != nil; pair = pair.Next() {
		p := pair.Value
		orNull(p)
		switch {
		case p.Type == "" || !strings.Contains(p.Description, "null"):
		case p.Items != nil && p.Items.Type == "number":
			p.Items = NumberOrNull()
		default:
			itself := &jsonschema.Schema{Type: p.Type, Items: p.Items}
			p.Type, p.Items, p.OneOf = "", nil, []*jsonschema.Schema{itself, {Type: "null"}}
		}
	}
}

// NumberOrNull returns the JSON schema of a number that may be null.
func NumberOrNull() *jsonschema.Schema {
	return &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Type: "number"}, {Type: "null"}}}
}

// readComments returns the comments of types and fields in the Go files of folders, by "package.Type." and
// "package.Type.Field".
func readComments(t *testing.T, folders []string) map[string]string {
	t.Helper()
	comments := map[string]string{}
	text := func(name string, groups ...*ast.CommentGroup) string {
		for _, g := range groups {
			if words := strings.Join(strings.Fields(g.Text()), " "); words != "" {
				words = strings.TrimPrefix(strings.TrimPrefix(words, name+" is "), name+" holds ")
				return strings.ToUpper(words[:1]) + words[1:]
			}
		}
		return ""
	}
	for _, folder := range folders {
		paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			of, group := "", (*ast.GenDecl)(nil) // type and declaration under way
			for n := range ast.Preorder(file) {
				switch n := n.(type) {
				case *ast.GenDecl:
					group = n
				case *ast.TypeSpec:
					of = file.Name.Name + "." + n.Name.Name + "."
					comments[of] = text(n.Name.Name, n.Doc, group.Doc)
				case *ast.Field:
					for _, name := range n.Names {
						comments[of+name.Name] = text(name.Name, n.Doc, n.Comment)
					}
				}
			}
		}
	}
	return comments
}

// Validate fails the test unless a document follows its schema and has only keys that the schema describes.
func Validate(t *testing.T, schema, document []byte) {
	t.Helper()
	parsed, err := validator.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		t.Fatal(err)
	}
	compiler := validator.NewCompiler()
	if err := compiler.AddResource("it.schema.json", closed(t, parsed, "")); err != nil {
		t.Fatal(err)
	}
	s, err := compiler.Compile("it.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	instance, err := validator.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(instance); err != nil {
		t.Errorf("%#v", err)
	}
}

// closed returns a JSON schema whose objects allow only the keys that it describes, so that validation finds any other.
// It fails the test for a key without a description; key is that of the schema itself.
func closed(t *testing.T, schema any, key string) any {
	t.Helper()
	switch s := schema.(type) {
	case map[string]any:
		if properties, ok := s["properties"].(map[string]any); ok {
			s["additionalProperties"] = false
			for name, p := range properties {
				if p, _ := p.(map[string]any); p["description"] == nil {
					t.Errorf("%s.%s has no description: a comment on its field is one", key, name)
				}
			}
		}
		for name := range s {
			s[name] = closed(t, s[name], name)
		}
	case []any:
		for i := range s {
			s[i] = closed(t, s[i], key)
		}
	}
	return schema
}
