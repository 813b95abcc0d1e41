package cli

import (
	"github.com/spf13/cobra"

	"qsim/cmd/ui"
	"qsim/scenarios"
)

func newSchema() *cobra.Command {
	return &cobra.Command{
		Use:     "schema",
		Short:   "print the JSON schema of scenarios, for editors",
		GroupID: "scenarios",
		Long: `schema prints the JSON schema of scenario files. An editor with a YAML language server
completes and checks a scenario that says where the schema is, in its first line:

  # yaml-language-server: $schema=scenario.schema.json

The schema knows keys, values and units; what goes together only validate knows.`,
		Example:           `  qsim schema > scenario.schema.json`,
		ValidArgsFunction: cobra.NoFileCompletions,
		Args:              cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := c.OutOrStdout().Write(scenarios.Schema())
			return ui.IOError("write result", err)
		},
	}
}
