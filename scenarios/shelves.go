package scenarios

import (
	"embed"
	"path/filepath"
	"slices"

	"qsim/scenarios/spec"
)

// builtin holds the scenario files built into the program: those of each of the shelves.
//
//go:embed *.yaml incidents/*.yaml published/*.yaml
var builtin embed.FS

// shelves lists the folders of built-in scenarios, in the order of look-up by name.
var shelves = []string{".", "incidents", "published"}

// folderOf returns the folder of the files that a scenario names: that of its own file, or the program for a built-in one.
func folderOf(scenario string) *spec.Folder {
	own := filepath.Dir(scenario)
	if slices.Contains(shelves, own) {
		return spec.NewFolder(own, builtin)
	}
	return spec.NewFolder(own, nil)
}
