//go:build !js

package play

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"qsim/policies"
	"qsim/results"
	"qsim/results/plain"
	"qsim/scenarios"
)

// Static is the page as files that need no server: the browser simulates the page's scenario, or any built-in one.
type Static struct {
	*stage
	folder string
	files  []results.File // the first two take Go to make
}

// NewStatic returns the static page of the scenario in the options, for Write to put into a folder. It is an error if
// no browser can simulate the scenario, or if the folder has files of the same names that are not an earlier page's.
func NewStatic(folder string, o Options) (*Static, error) {
	o.Fits, o.Parallel = fitsBrowser, 1 // which always takes policies in their order
	sc, seen := newStage(o).load(&ask{})
	switch {
	case sc == nil:
		return nil, errors.New(seen.Problems[len(seen.Problems)-1].Message)
	case len(sc.Files()) > 0:
		return nil, fmt.Errorf("%s names files beside it, which a static page cannot read", o.Name)
	case len(policies.AddedKinds()) > 0:
		return nil, errors.New("the engine of a static page knows no policies of your own, such as this program has")
	}
	d := document{Scenarios: plain.Map(scenarios.Builtin(), func(b scenarios.BuiltinInfo) string { return b.Name })}
	if !slices.Contains(d.Scenarios, o.Run) { // nobody else needs to know where it lies
		o.Name, o.Run = filepath.Base(o.Name), filepath.Base(o.Run)
		d.Scenarios = slices.Insert(d.Scenarios, 0, o.Run)
	}
	own, err := json.Marshal(o)
	d.Run, d.Own = o.Run, string(own)
	files := []results.File{{Path: "engine.js"}, {Path: "opening.js"}, {Path: "index.html", Data: d.html()}}
	for _, name := range []string{"play.css", "play.js", "static.js"} {
		files = append(files, results.File{Path: name, Data: asset(name)})
	}
	earlier, _ := os.ReadFile(filepath.Join(folder, "index.html"))
	for _, f := range files {
		path := filepath.Join(folder, f.Path)
		if _, err := os.Lstat(path); err == nil && !bytes.Contains(earlier, []byte("qsim play</title>")) {
			return nil, fmt.Errorf("%s is there already, and of no page of qsim play", path)
		}
	}
	return &Static{newStage(o), folder, files}, err
}

// Write makes the folder and writes the page's files into it. It needs Go and the source of this program, to build the
// engine for the browser: as a part of the program that would add 4 MB, and as much to the repository with every
// change. The source is searched where the program was built or, if that is unknown, around the working directory.
func (s *Static) Write(ctx context.Context) error {
	work, err := os.MkdirTemp("", "qsim-static-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if s.files[0].Data, err = buildEngine(ctx, work); err != nil {
		return err
	}
	s.files[1].Data = s.opening(ctx)
	if err := errors.Join(ctx.Err(), os.MkdirAll(s.folder, 0o777)); err != nil {
		return err
	}
	return results.Replace(s.folder, s.files)
}

// opening returns a script with the beginning of the answer to the page's first request, up to the charts of one seed.
// The page shows it at once, while the browser loads the engine, which gives the same answer.
func (s *Static) opening(ctx context.Context) []byte {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	out := opening{stop: stop}
	s.run(ctx, &ask{}, &stream{&out})
	text, _ := json.Marshal(string(out.lines))
	return slices.Concat([]byte("const opening = "), text, []byte(";\n"))
}

// opening is a writer for an answer's lines that keeps those up to the first charts, and then stops the simulations.
type opening struct {
	lines []byte
	stop  func()
}

// Write keeps one line of an answer. If that is a result, and so has charts, it calls stop.
func (o *opening) Write(line []byte) (int, error) {
	o.lines = append(o.lines, line...)
	if bytes.HasPrefix(line, []byte(`{"seeds":`)) {
		o.stop()
	}
	return len(line), nil
}

// engine is the content of engine.js as JSON: the simulator that a web worker of a static page runs.
type engine struct {
	Wasm   []byte `json:"wasm"`   // gzipped WebAssembly; base64, since scripts on disk cannot fetch files
	Script string `json:"script"` // script of the worker
}

// hot lists the packages in which a simulation spends its time. Only there are calls inlined: engine.js is 8 % smaller.
var hot = []string{"runtime", "qsim/engine/...", "qsim/policies", "qsim/results/measure", "qsim/scenarios/world"}

// buildEngine returns the content of engine.js, with the simulator as WebAssembly, which it builds in a folder.
func buildEngine(ctx context.Context, work string) ([]byte, error) {
	workspace, err := lean(ctx, work)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(work, "engine.wasm")
	words := []string{"build", "-trimpath", "-buildvcs=false", "-o", file, "-ldflags=-s -w", "-gcflags=all=-l"}
	for _, inlined := range hot {
		words = append(words, "-gcflags="+inlined+"=")
	}
	if _, err := goCommand(ctx, workspace, append(words, "qsim/cmd/play/worker")...); err != nil {
		return nil, err
	}
	root, err := goCommand(ctx, "off", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	binary, err := os.ReadFile(file)
	support, missing := os.ReadFile(filepath.Join(root, "lib", "wasm", "wasm_exec.js"))
	if err := errors.Join(err, missing); err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	zip, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	_, _ = zip.Write(binary) // a buffer takes all
	_ = zip.Close()
	content, err := json.Marshal(engine{packed.Bytes(), string(support) + string(asset("worker.js"))})
	return slices.Concat([]byte("const engine = "), content, []byte(";\n")), err
}

// goCommand runs the go command for the browser (GOOS=js) with a go.work file, or "off", and returns its output.
func goCommand(ctx context.Context, workspace string, words ...string) (string, error) {
	command := exec.CommandContext(ctx, "go", words...)
	command.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "GOFLAGS=", "GOWORK="+workspace)
	if _, file, _, _ := runtime.Caller(0); filepath.IsAbs(file) { // unless its path was trimmed
		if _, err := os.Stat(file); err == nil {
			command.Dir = filepath.Dir(file)
		}
	}
	var problems bytes.Buffer
	command.Stderr = &problems
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("the engine is built for the browser by Go from qsim's source: GOOS=js GOARCH=wasm %s: %w\n"+
			"%srun it where Go and that source are", command, err, &problems)
	}
	return strings.TrimSpace(string(out)), nil
}

// plotModule is the path of the Go module that draws charts, of which lean makes a smaller copy.
const plotModule = "gonum.org/v1/plot"

// lean writes a go.work into a folder and returns its path. With it the engine for the browser is built with a copy of
// plotModule without LaTeX, formats other than SVG, and fonts of no chart (page/liberation.go.txt), all of which the
// linker would include: 3 MB gzipped. The copy's path, which the engine contains, is relative, and so always the same.
func lean(ctx context.Context, folder string) (file string, err error) {
	module, err := goCommand(ctx, "off", "list", "-find", "-f", "{{.Module.Dir}}", plotModule)
	if err != nil {
		return "", err
	}
	own, err := goCommand(ctx, "off", "list", "-m", "-f", "go {{.GoVersion}}\nuse {{printf `%q` .Dir}}")
	if err != nil {
		return "", err
	}
	plot := filepath.Join(folder, "plot")
	if err := os.CopyFS(plot, os.DirFS(module)); err != nil {
		return "", err
	}
	file = filepath.Join(folder, "go.work")
	own += "\nreplace " + plotModule + " => ./plot\n"
	return file, errors.Join(
		os.Remove(filepath.Join(plot, "vgall.go")),
		os.Remove(filepath.Join(plot, "text", "latex.go")),
		os.WriteFile(filepath.Join(plot, "font", "liberation", "liberation.go"), asset("liberation.go.txt"), 0o666),
		os.WriteFile(file, []byte(own), 0o666))
}
