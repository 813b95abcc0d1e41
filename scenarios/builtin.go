package scenarios

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

//go:embed *.yaml
var builtin embed.FS

// BuiltinInfo describes a scenario that is part of the program.
type BuiltinInfo struct {
	Name        string
	Description string
}

// Builtin returns the scenarios that are part of the program, by name.
func Builtin() []BuiltinInfo {
	var all []BuiltinInfo
	for _, name := range builtinNames() {
		src, err := builtin.ReadFile(name + ".yaml")
		if err != nil {
			panic("scenarios: " + err.Error())
		}
		info := BuiltinInfo{Name: name}
		if sc, _ := Load(name+".yaml", src, nil); sc != nil {
			info.Description = sc.Description
		}
		all = append(all, info)
	}
	return all
}

func builtinNames() []string {
	entries, err := builtin.ReadDir(".")
	if err != nil {
		panic("scenarios: " + err.Error())
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

// Open reads a scenario: a file, or else the built-in one of that name. display is
// what diagnostics should call it.
func Open(nameOrPath string) (display string, src []byte, err error) {
	info, err := os.Stat(nameOrPath)
	switch {
	case err == nil && info.IsDir():
		if src, err := builtin.ReadFile(nameOrPath + ".yaml"); err == nil {
			return nameOrPath + ".yaml", src, nil
		}
		return "", nil, fmt.Errorf("open scenario: %s is a directory", nameOrPath)
	case err == nil:
		src, err := readFile(nameOrPath)
		return nameOrPath, src, err
	case !errors.Is(err, fs.ErrNotExist):
		return "", nil, fmt.Errorf("open scenario: %w", err)
	}
	if src, err := builtin.ReadFile(nameOrPath + ".yaml"); err == nil {
		return nameOrPath + ".yaml", src, nil
	}
	err = fmt.Errorf("open scenario: there is no file %s and no built-in scenario of that name", nameOrPath)
	names := builtinNames()
	if near := closest(strings.TrimSuffix(nameOrPath, ".yaml"), names); near != "" {
		return "", nil, fmt.Errorf("%w; did you mean %s?", err, near)
	}
	return "", nil, fmt.Errorf("%w; built in are %s", err, strings.Join(names, ", "))
}

// readFile reads one byte more of a file than Load takes, so that Load refuses what is
// too large without all of it being in memory.
func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open scenario: %w", err)
	}
	defer file.Close()
	src, err := io.ReadAll(io.LimitReader(file, mostBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read scenario: %w", err)
	}
	return src, nil
}
