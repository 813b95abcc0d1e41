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
	"qsim/scenarios"
)

// ErrNoWorker is the failure to build the engine for a browser.
var ErrNoWorker = errors.New("the engine is built for the browser by Go from qsim's source")

// WriteStatic writes the page as static files into a folder, which it makes: a page that simulates in the browser, the
// scenario of o at first, or any shipped one. It needs Go and the source of this program, since the engine for the
// browser is not part of it: that would make the program, and its repository with every change, larger by 4 MB. The
// source is where the program was built, or, for one that does not know where, around the working directory.
func WriteStatic(ctx context.Context, folder string, o Options) error {
	work, err := os.MkdirTemp("", "qsim-static-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if sc, _ := scenarios.Load(filepath.Join(work, filepath.Base(o.Name)), o.Source, o.Sets); sc == nil {
		return fmt.Errorf("%s names files beside it, which a static page cannot read", o.Name)
	} else if len(policies.AddedKinds()) > 0 {
		return errors.New("the engine of a static page knows no policies of your own, such as this program has")
	}
	engine, err := buildEngine(ctx, work)
	if err != nil {
		return err
	}
	o.Fits = fitsBrowser
	page, err := staticPage(o)
	if err != nil {
		return err
	}
	opening := openingOf(ctx, o)
	if err := errors.Join(ctx.Err(), os.MkdirAll(folder, 0o777)); err != nil {
		return err
	}
	for name, text := range map[string][]byte{"index.html": page, "engine.js": engine, "opening.js": opening,
		"play.css": asset("play.css"), "play.js": asset("play.js"), "static.js": asset("static.js")} {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// staticPage returns the document of the page, with the scenarios that there are to choose from.
func staticPage(o Options) ([]byte, error) {
	own, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	d := document{Run: o.Run, Own: string(own)}
	for _, b := range scenarios.Builtin() {
		d.Scenarios = append(d.Scenarios, b.Name)
	}
	if !slices.Contains(d.Scenarios, o.Run) {
		d.Scenarios = slices.Insert(d.Scenarios, 0, o.Run)
	}
	return d.html(), nil
}

// openingOf returns, as a script, how the answer to the page's first request begins, up to the charts of one seed: they
// show at once, while the browser takes in the engine, whose answer is the same.
func openingOf(ctx context.Context, o Options) []byte {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	out := opening{stop: stop}
	newStage(o).run(ctx, &ask{}, &stream{&out})
	text, _ := json.Marshal(string(out.lines))
	return slices.Concat([]byte("const opening = "), text, []byte(";\n"))
}

// opening keeps the lines of an answer up to the first charts, and stops it then.
type opening struct {
	lines []byte
	stop  func()
	over  bool
}

// Write takes in one line.
func (o *opening) Write(line []byte) (int, error) {
	if !o.over {
		o.lines = append(o.lines, line...)
	}
	if bytes.HasPrefix(line, []byte(`{"seeds":`)) {
		o.over = true
		o.stop()
	}
	return len(line), nil
}

// engine is the content of engine.js.
type engine struct {
	Wasm   []byte `json:"wasm"`   // gzipped; in base64, as a script that is read from disk cannot fetch a file
	Script string `json:"script"` // of the worker
}

// hot are the packages that a simulation spends its time in: in the others, calls are not inlined, which takes 8 % off.
var hot = []string{"runtime", "qsim/engine/...", "qsim/policies", "qsim/results/measure", "qsim/scenarios/world"}

// buildEngine builds the engine for the browser in a folder and returns it as a script, with what Go needs around it.
func buildEngine(ctx context.Context, work string) ([]byte, error) {
	module, err := lean(ctx, work)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(work, "engine.wasm")
	words := []string{"build", "-modfile=" + module, "-trimpath", "-o", file, "-ldflags=-s -w", "-gcflags=all=-l"}
	for _, inlined := range hot {
		words = append(words, "-gcflags="+inlined+"=")
	}
	if _, err := goCommand(ctx, append(words, "qsim/cmd/play/worker")...); err != nil {
		return nil, err
	}
	root, err := goCommand(ctx, "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	support, err := os.ReadFile(filepath.Join(root, "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return nil, err
	}
	binary, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	zip, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if _, err := zip.Write(binary); err != nil {
		return nil, err
	}
	if err := zip.Close(); err != nil {
		return nil, err
	}
	content, err := json.Marshal(engine{packed.Bytes(), string(support) + string(asset("worker.js"))})
	return slices.Concat([]byte("const engine = "), content, []byte(";\n")), err
}

// goCommand runs Go for the browser, and returns what it prints.
func goCommand(ctx context.Context, words ...string) (string, error) {
	command := exec.CommandContext(ctx, "go", words...)
	command.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "GOWORK=off")
	if _, file, _, _ := runtime.Caller(0); filepath.IsAbs(file) { // unless its path was trimmed
		if _, err := os.Stat(file); err == nil {
			command.Dir = filepath.Dir(file)
		}
	}
	var problems bytes.Buffer
	command.Stderr = &problems
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%w: GOOS=js GOARCH=wasm %s: %w\n%srun it where both are", ErrNoWorker, command, err, &problems)
	}
	return strings.TrimSpace(string(out)), nil
}
