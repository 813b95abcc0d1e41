package scenarios

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"qsim/results/plain"
	"qsim/scenarios/spec"
	"qsim/scenarios/tree"
)

// builtin embeds the YAML files of the built-in scenarios, at their paths: NAME.yaml, or FOLDER/NAME.yaml by shelves.
//
//go:embed *.yaml incidents/*.yaml published/*.yaml
var builtin embed.FS

// shelves lists the folders of built-in scenarios ("." is the root), in the order in which OpenBuiltin searches them.
var shelves = []string{".", "incidents", "published"}

// folderOf returns the folder of a scenario's data files, such as traces: its own, and for a built-in one the embedded.
func folderOf(scenario string) *spec.Folder {
	own := filepath.Dir(scenario)
	if slices.Contains(shelves, own) {
		return spec.NewFolder(own, builtin)
	}
	return spec.NewFolder(own, nil)
}

// BuiltinInfo describes a built-in scenario.
type BuiltinInfo struct {
	Name        string // name that Open takes: retry-storm, incidents/NAME or published/NAME
	Description string // text of its key `description`
}

// Builtin returns the built-in scenarios, sorted by name: those outside any folder, then incidents, then published.
func Builtin() []BuiltinInfo {
	var all []BuiltinInfo
	for _, name := range builtinNames() {
		_, src, _ := OpenBuiltin(name)
		info := BuiltinInfo{Name: name}
		if file, _ := tree.Parse(src); file != nil {
			info.Description = tree.Word(file, "description")
		}
		all = append(all, info)
	}
	return all
}

func builtinNames() (names []string) {
	for _, shelf := range shelves {
		files, _ := fs.Glob(builtin, path.Join(shelf, "*.yaml")) // a pattern without mistakes
		for _, file := range files {
			names = append(names, strings.TrimSuffix(file, ".yaml"))
		}
	}
	return names
}

// OpenBuiltin returns the YAML text of the built-in scenario of that name, whose folder may be left out, and its
// embedded path, display, for error messages.
func OpenBuiltin(name string) (display string, src []byte, found bool) {
	for _, shelf := range shelves {
		display = path.Join(shelf, name) + ".yaml"
		if src, err := builtin.ReadFile(display); err == nil {
			return display, src, true
		}
	}
	return "", nil, false
}

// standardInput returns the text on this process's standard input, as readAll reads it: every call the same.
var standardInput = sync.OnceValues(func() ([]byte, error) { return readAll(os.Stdin) })

// Open reads the YAML text of a scenario: the file of that path, or else the built-in scenario of that name, or else
// NAME.yaml or NAME.yml; "-" is standard input. display is its path, or "<stdin>", for messages.
func Open(nameOrPath string) (display string, src []byte, err error) {
	if nameOrPath == "-" {
		src, err := standardInput()
		return "<stdin>", src, err
	}
	info, err := os.Stat(nameOrPath)
	isFolder := err == nil && info.IsDir()
	switch {
	case err == nil && !isFolder:
		src, err := readFile(nameOrPath)
		return nameOrPath, src, err
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", nil, fmt.Errorf("open scenario: %w", err)
	}
	if display, src, found := OpenBuiltin(nameOrPath); found {
		return display, src, nil
	}
	if isFolder {
		return "", nil, fmt.Errorf("open scenario: %s is a directory: name a file in it", nameOrPath)
	}
	for _, ending := range []string{".yaml", ".yml"} {
		if info, err := os.Stat(nameOrPath + ending); err == nil && info.Mode().IsRegular() {
			src, err := readFile(nameOrPath + ending)
			return nameOrPath + ending, src, err
		}
	}
	if strings.HasPrefix(nameOrPath, "http://") || strings.HasPrefix(nameOrPath, "https://") {
		return "", nil, fmt.Errorf("open scenario: %s is no file: fetch it first, as in curl -L URL | qsim run -", nameOrPath)
	}
	help := "qsim list scenarios prints those there are"
	if near := nearest(nameOrPath); near != "" {
		help = "did you mean " + near + "?"
	}
	return "", nil, fmt.Errorf("open scenario: there is no file %s and no built-in scenario of that name; %s",
		nameOrPath, help)
}

// nearest returns a suggestion for a scenario that Open did not find: the path of a file, or the name of a built-in
// scenario, that differs from nameOrPath by a probable typing error; "" if there is none.
func nearest(nameOrPath string) string {
	folder, base := filepath.Split(nameOrPath)
	files, _ := filepath.Glob(filepath.Join(folder, "*.y*ml"))
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
		if plain.Nearest(strings.TrimSuffix(base, filepath.Ext(base)), []string{name}) != "" {
			return file
		}
	}
	names, word := builtinNames(), strings.TrimSuffix(nameOrPath, ".yaml")
	if near := plain.Nearest(word, names); near != "" {
		return near
	}
	for _, name := range names {
		if plain.Nearest(word, []string{path.Base(name)}) != "" {
			return name
		}
	}
	return ""
}

func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open scenario: %w", err)
	}
	defer file.Close()
	return readAll(file)
}

// readAll reads a scenario's text, but of one that is too large for Load only so much that Load still refuses it.
func readAll(file io.Reader) ([]byte, error) {
	src, err := io.ReadAll(io.LimitReader(file, tree.MostBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read scenario: %w", err)
	}
	return src, nil
}
