package cli

import (
	"embed"

	"github.com/spf13/cobra"

	"qsim/cmd/ui"
	"qsim/results"
	"qsim/results/plain"
	"qsim/scenarios"
	"qsim/scenarios/study"
	"qsim/scenarios/trace"
)

// format is a format of files that qsim reads or writes, with a function that returns its JSON schema.
type format struct {
	name   string
	schema func() []byte
}

// stored returns a format whose JSON schema is in one of the files of its package.
func stored(name string, files embed.FS) format {
	return format{name, func() []byte { return plain.Must(files.ReadFile(name + ".schema.json")) }}
}

// schemas lists the JSON schemas of all file formats. The first one is printed unless a name is given.
var schemas = []format{
	{"scenario", scenarios.Schema}, stored("summary", results.Schemas), stored("run", results.Schemas),
	stored("compare", results.Schemas), stored("sweep", study.Schemas), stored("tune", results.Schemas),
	stored("doctor", study.Schemas), stored("trace", trace.Schemas),
}

func newSchema() *cobra.Command {
	names := plain.Map(schemas, func(d format) string { return d.name })
	return &cobra.Command{
		Use:   "schema [scenario|summary|run|compare|sweep|tune|doctor|trace]",
		Short: "print the JSON schema of scenarios, for editors, or of results",
		Long: `schema prints the JSON schema of scenario files. An editor with a YAML language server
completes and checks a scenario that says where the schema is, in its first line:

  # yaml-language-server: $schema=scenario.schema.json

The schema knows keys, values and units; what goes together only validate knows.

With a name it prints the schema of what a command writes, for programs that read it:
summary.json (also run --format json), run.json, sweep.json, tune.json, doctor.json,
compare --format json, trace --format json.`,
		Example: `  qsim schema > scenario.schema.json
  qsim schema summary`,
		ValidArgsFunction: fixed(names...),
		Args:              ui.Wanted(0, 1, "schema takes one name, as qsim schema run"),
		RunE: func(c *cobra.Command, arguments []string) error {
			for _, d := range schemas {
				if len(arguments) == 0 || arguments[0] == d.name {
					return ui.Print(c.OutOrStdout(), string(d.schema()))
				}
			}
			return ui.Unknown("schema", arguments[0], names)
		},
	}
}
