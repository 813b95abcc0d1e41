package study

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// stray is a file or folder that belongs to another sweep, or to a division into another number of shards.
type stray struct {
	name string
	why  string
}

// checkOthers returns a Refusal if dir holds anything of another sweep.
func (w *Work) checkOthers(dir string) error {
	strays, err := w.strays(dir)
	if err != nil || len(strays) == 0 {
		return err
	}
	more := ""
	if len(strays) > 1 {
		more = fmt.Sprintf(" (and %d more)", len(strays)-1)
	}
	return refuse("%s is of another sweep%s: %s\ntake another folder with --out, or replace what is there with --force",
		filepath.Join(dir, strays[0].name), more, strays[0].why)
}

// strays returns the shards and merged files in a folder that do not belong to this sweep.
func (w *Work) strays(dir string) ([]stray, error) {
	names, err := entries(dir)
	if err != nil {
		return nil, err
	}
	var strays []stray
	for _, name := range names {
		s, ending, isShard := shardOf(name)
		if !isShard && name != summaryJSON {
			continue
		}
		if isShard && s.Of != w.shard.Of {
			strays = append(strays, stray{name, fmt.Sprintf("it is one of %d shards, not of %d", s.Of, w.shard.Of)})
			continue
		}
		config, version, err := belongs(filepath.Join(dir, name), ending)
		if err != nil {
			return nil, err
		}
		own := &w.plan.Sweep
		switch {
		case config == "": // damaged, or still empty
		case config != own.ConfigHash:
			strays = append(strays, stray{name, fmt.Sprintf("its config is %s, not %s", config, own.ConfigHash)})
		case version != own.Version:
			strays = append(strays, stray{name,
				fmt.Sprintf("it was computed by version %s, and this is %s", version, own.Version)})
		}
	}
	return strays, nil
}

// belongs returns the configuration and version of the sweep recorded in a file or folder; empty if there is none.
func belongs(path, ending string) (config, version string, err error) {
	if ending == partial {
		names, err := entries(path)
		for _, name := range names {
			if isCell, _ := filepath.Match("cell-*.json", name); isCell && config == "" {
				config, version, _ = belongs(filepath.Join(path, name), "") // one that cannot be read is computed again
			}
		}
		return config, version, err
	}
	file, err := os.Open(path)
	if err != nil {
		return "", "", err
	}
	defer file.Close()
	var said struct{ Config, Version, Program any } // the version of sweep.json is that of its format
	if err := json.NewDecoder(file).Decode(&said); isIO(err) {
		return "", "", err
	}
	config, _ = said.Config.(string)
	version, isHeader := said.Version.(string)
	if !isHeader {
		version, _ = said.Program.(string)
	}
	return config, version, nil
}

// clear removes from dir the files of other sweeps, the shard's own results, and merged files.
func (w *Work) clear(dir string) error {
	strays, err := w.strays(dir)
	if err != nil {
		return err
	}
	paths := []string{w.Path, w.dir}
	for _, s := range strays {
		paths = append(paths, filepath.Join(dir, s.name))
	}
	for _, name := range []string{summaryJSON, summaryCSV, scenarioOf} {
		paths = append(paths, filepath.Join(dir, name))
	}
	charts := filepath.Join(dir, "charts")
	names, err := entries(charts)
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasPrefix(name, "sweep-") {
			paths = append(paths, filepath.Join(charts, name))
		}
	}
	for _, path := range paths {
		if err := os.RemoveAll(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("clear %s: %w", dir, err)
		}
	}
	return nil
}
