package sweep

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"qsim/scenarios"
)

// HashFiles writes the names and contents of all files to sum that a scenario reads, or that it
// reads with some value of an axis, in the order of their names. base is the scenario with its
// own values. A file of an axis that cannot be read is left out: the settings that name it do not
// load.
func HashFiles(sum io.Writer, source *Source, base *scenarios.Scenario, axes []Axis) error {
	own, all := map[string]bool{}, map[string]bool{}
	for _, name := range base.Files() {
		own[name], all[name] = true, true
	}
	for i := range axes {
		for value := range axes[i].Range.Values {
			if !axes[i].mayName(value) {
				continue
			}
			named, err := source.filesWith(axes, i, value)
			if err != nil {
				return err
			}
			for _, name := range named {
				all[name] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if err := hashFile(sum, base, name); err != nil && own[name] {
			return err
		}
	}
	return nil
}

// mayName reports whether a value may name a file: the key is `file`, or it is written in
// the value, perhaps as an escape.
func (a *Axis) mayName(value int) bool {
	text := a.Range.Values[value].Text
	return strings.HasSuffix(a.Key, ".file") || strings.Contains(text, "file") || strings.Contains(text, `\`)
}

// filesWith are the files that a scenario names with one value of an axis: by itself, and
// beside the first values of the others.
func (s *Source) filesWith(axes []Axis, axis, value int) ([]string, error) {
	var names []string
	if strings.HasSuffix(axes[axis].Key, ".file") {
		names = append(names, axes[axis].Range.Values[value].Text)
	}
	var beside []scenarios.Override
	for i := range axes {
		if i == axis {
			beside = append(beside, axes[i].override(value))
		} else {
			beside = append(beside, axes[i].override(0))
		}
	}
	for _, more := range [][]scenarios.Override{{axes[axis].override(value)}, beside} {
		sc, _, err := s.Load(more)
		if err != nil {
			return nil, err
		}
		if sc != nil {
			names = append(names, sc.Files()...)
		}
	}
	return names, nil
}

func hashFile(sum io.Writer, base *scenarios.Scenario, name string) error {
	file, err := base.OpenFile(name)
	if err != nil {
		return err
	}
	fmt.Fprintf(sum, "%d:%s;", len(name), name)
	_, err = io.Copy(sum, file)
	if err = firstOf(err, file.Close()); err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	return nil
}
