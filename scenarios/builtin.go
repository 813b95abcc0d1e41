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

// builtin holds the scenario files built into the program, in the folders that shelves lists.
//
//go:embed *.yaml incidents/*.yaml published/*.yaml
var builtin embed.FS

// shelves lists the folders of built-in scenarios, in the order in which OpenBuiltin searches them for a name.
var shelves = []string{".", "incidents", "published"}

// folderOf returns the folder in which the files that a scenario names are looked up: that of the scenario's own file;
// for a built-in scenario the files built into the program are searched, too.
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
	Description string
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

// OpenBuiltin returns the YAML text of the built-in scenario with that name, whose folder may be left out, and display,
// its name for error messages.
func OpenBuiltin(name string) (display string, src []byte, found bool) {
	for _, shelf := range shelves {
		display = path.Join(shelf, name) + ".yaml"
		if src, err := builtin.ReadFile(display); err == nil {
			return display, src, true
		}
	}
	return "", nil, false
}

// standardInput reads this process's standard input, once.
var standardInput = sync.OnceValues(func() ([]byte, error) { return readAll(os.Stdin) })

// Open reads a scenario: a file, or else the built-in one with that name, or else the file NAME.yaml or NAME.yml; for
// "-" standard input. display is its name for diagnostics.
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

// nearest returns the path of a file or the name of a built-in scenario that was probably meant by a name; "" if there
// is none.
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

// readAll reads a file, but at most one byte more than Load accepts: Load then refuses a larger file, which need not be
// in memory as a whole.
func readAll(file io.Reader) ([]byte, error) {
	src, err := io.ReadAll(io.LimitReader(file, tree.MostBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read scenario: %w", err)
	}
	return src, nil
}
