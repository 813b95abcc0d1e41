package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"qsim/cmd/input"
	"qsim/cmd/ui"
	"qsim/results/plain"
	"qsim/scenarios"
)

func newInit() *cobra.Command {
	var from string
	var force bool
	c := &cobra.Command{
		Use:   "init NAME [--from X]",
		Short: "write a scenario to start from",
		Long: `init writes NAME.yaml, a short scenario to start from: a load, one storm, three policies, one
objective. With --from it starts from a preset, such as river, or is a copy
of another scenario, under the new name. scenario.schema.json, by which editors complete and
check it, comes beside it unless it is there.`,
		Example: `  qsim init checkout
  qsim init checkout --from river          jobs as River runs them
  qsim init my-storm --from retry-storm    a copy of a built-in scenario`,
		ValidArgsFunction: cobra.NoFileCompletions,
		Args:              ui.Wanted(1, 1, "init takes one name: that of the scenario to write"),
		RunE:              func(c *cobra.Command, names []string) error { return initialize(c, names[0], from, force) },
	}
	c.Flags().StringVar(&from, "from", "", "start from the preset or the scenario `X`")
	c.Flags().BoolVarP(&force, "force", "f", false, "overwrite an existing file")
	ui.Complete(c, "from", completeSources)
	ui.Group(c, "What to write", "from", "force")
	return c
}

func initialize(c *cobra.Command, name, from string, force bool) error {
	name = strings.TrimSuffix(name, ".yaml")
	text, err := starter(name, from, c.ErrOrStderr())
	if err != nil {
		return err
	}
	file := name + ".yaml"
	scenario, diagnostics := scenarios.Load(file, text, nil)
	if _, err := io.WriteString(c.ErrOrStderr(), diagnostics.Text(file, text)); err != nil {
		return ui.IOError("write diagnostics", err)
	}
	if scenario == nil {
		return ui.UsageError("%s would not be a scenario that runs: nothing is written", file)
	}
	err = writeFile(file, text, plain.Either(force, os.O_TRUNC, os.O_EXCL))
	if errors.Is(err, fs.ErrExist) {
		return ui.UsageError("%s is there already; --force overwrites it", file)
	}
	if err != nil {
		return ui.IOError("write scenario", err)
	}
	if err := writeSchema(filepath.Dir(file)); err != nil {
		return err
	}
	return ui.Print(c.OutOrStdout(), fmt.Sprintf("%s: written; qsim run %[1]s\n", file))
}

// writeSchema writes the JSON schema for editors into the folder of a new scenario, unless the file exists.
func writeSchema(folder string) error {
	err := writeFile(filepath.Join(folder, scenarios.SchemaFile), scenarios.Schema(), os.O_EXCL)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return ui.IOError("write schema", err)
}

// writeFile writes a file; with mode os.O_EXCL it must not exist, with os.O_TRUNC it is overwritten.
func writeFile(path string, text []byte, mode int) error {
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|mode, 0o644)
	if err != nil {
		return err
	}
	_, err = to.Write(text)
	return cmp.Or(err, to.Close())
}

// starter returns the YAML text of a new scenario, made from a preset, another scenario, whose errors it prints to
// stderr, or, if from is "", the default.
func starter(name, from string, stderr io.Writer) ([]byte, error) {
	if from == "" || scenarios.PresetNamed(from) != nil && !isFile(from) {
		text, err := scenarios.Starter(name, from)
		if err != nil {
			return nil, ui.Fail(ui.ExitUsage, err)
		}
		return text, nil
	}
	if !isScenario(from) && !isFile(from) {
		builtin := plain.Map(scenarios.Builtin(), func(info scenarios.BuiltinInfo) string { return info.Name })
		return nil, ui.Unknown("scenario or preset", from, append(presetNames(), builtin...))
	}
	_, src, err := scenarios.Open(from)
	if err != nil {
		return nil, input.OpenError(err)
	}
	text, err := scenarios.Renamed(src, name)
	if err != nil {
		return nil, ui.Fail(ui.ExitUsage, err)
	}
	renamed := []scenarios.Override{{Path: "name", Value: name}}
	if _, err := input.Load(from, input.Options{Sets: renamed, Errors: stderr, Notes: io.Discard}); err != nil {
		return nil, err // at positions in the file that there is
	}
	return scenarios.WithSchema(text), nil
}

func isFile(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
