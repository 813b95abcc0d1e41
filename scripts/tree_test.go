package scripts

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// topLevel lists the files and folders that the top of the repository may have.
var topLevel = []string{".ci", ".gitignore", "LICENSE", "README.md", "cmd", "engine", "go.mod", "go.sum", "policies", "results", "scenarios", "scripts"}

// mostFileBytes is the largest size that a file of the repository may have: it keeps binaries and results out.
const mostFileBytes = 600 << 10

var (
	// absolutePath matches an absolute path in a text, and captures its first folder.
	absolutePath = regexp.MustCompile("(?:^|[\\s\"'`(=,:\\[])/([A-Za-z][A-Za-z0-9_-]*)/[A-Za-z0-9_]")
	// registryHost matches hosts that modules and packages are downloaded from, which no file may choose for a machine.
	registryHost = regexp.MustCompile(`proxy\.golang\.org|sum\.golang\.org|registry\.npmjs\.org|pypi\.org|pythonhosted\.org|deb\.debian\.org|GOPROXY=http`)
	// document matches names such as README.md, which must be those of files in this repository.
	document = regexp.MustCompile(`\b[A-Z]{3,}\.md\b`)
)

// knownFolders lists the first folders that absolute paths in files may have: standard ones, those of the volumes in
// scripts/kubernetes, and the README's placeholder. Others are paths of one machine.
var knownFolders = []string{"bin", "dev", "etc", "lib", "proc", "sys", "results", "run", "scenario", "sweep", "tmp", "usr", "var", "where"}

// treeFile is a file of the repository that git does not ignore.
type treeFile struct {
	path string
	text []byte
}

var treeFiles = sync.OnceValues(func() ([]treeFile, error) {
	paths, err := treePaths()
	if err != nil {
		return nil, fmt.Errorf("list files: %w", err)
	}
	var files []treeFile
	for _, path := range paths {
		text, err := os.ReadFile(filepath.Join("..", path))
		if err != nil {
			return nil, err
		}
		files = append(files, treeFile{path, text})
	}
	return files, nil
})

// treePaths returns the paths of all files in the repository, without those that git ignores if git is there: in an
// unpacked archive it is not. The walk also makes go test's cached result out of date when a file is added.
func treePaths() ([]string, error) {
	var paths []string
	err := fs.WalkDir(os.DirFS(".."), ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == ".git" && !entry.IsDir(): // where a worktree says whose it is
		case path == "results/runs" || path == ".git":
			return fs.SkipDir
		case !entry.IsDir():
			paths = append(paths, path)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	command := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	command.Dir = ".."
	output, err := command.Output()
	if err != nil {
		return paths, nil
	}
	known := strings.Split(string(output), "\x00")
	slices.Sort(known)
	return slices.DeleteFunc(paths, func(path string) bool {
		_, ok := slices.BinarySearch(known, path)
		return !ok
	}), nil
}

// checkFile returns a problem, as text, for each thing in a file that the repository may not have: paths of one
// machine, names of registries, missing documents, too many bytes. exists reports whether some file has that base name.
func checkFile(f treeFile, exists func(name string) bool) (problems []string) {
	top, _, _ := strings.Cut(f.path, "/")
	if !slices.Contains(topLevel, top) {
		problems = append(problems, f.path+": the top of the repository has no such entry")
	}
	if len(f.text) > mostFileBytes {
		problems = append(problems, fmt.Sprintf("%s: %d bytes: is this not the output of something?", f.path, len(f.text)))
	}
	if bytes.IndexByte(f.text, 0) >= 0 {
		return problems // a picture
	}
	for number, line := range strings.Split(string(f.text), "\n") {
		at := fmt.Sprintf("%s:%d: ", f.path, number+1)
		for _, path := range absolutePath.FindAllStringSubmatch(line, -1) {
			if !slices.Contains(knownFolders, path[1]) && filepath.Base(f.path) != "go.sum" { // whose hashes have slashes
				problems = append(problems, at+"path of one machine, below /"+path[1])
			}
		}
		if found := registryHost.FindString(line); found != "" {
			problems = append(problems, at+"names "+found)
		}
		for _, name := range document.FindAllString(line, -1) {
			if !exists(name) {
				problems = append(problems, at+"speaks of "+name+", which is not in the repository")
			}
		}
	}
	return problems
}

func TestTree(t *testing.T) {
	files, err := treeFiles()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, f := range files {
		names[filepath.Base(f.path)] = true
	}
	if !names["go.mod"] || !names["tree_test.go"] {
		t.Fatalf("%d files found, and not even this one", len(files))
	}
	for _, f := range files {
		if f.path != "scripts/tree_test.go" { // which names what it looks for
			report(t, checkFile(f, func(name string) bool { return names[name] }))
		}
	}
}

func TestTreeFindsFaults(t *testing.T) {
	for _, tt := range []struct {
		name, path, text string
		want             []string
	}{
		{"all is well", "engine/a.go", "see README.md and #0072B2, artwork/frame, /tmp/x", nil},
		{"a folder at the top", "docs/a.txt", "", []string{"no such entry"}},
		{"a checkout", "README.md", "\ncd /harbour/crane", []string{"README.md:2: path of one machine, below /harbour"}},
		{"a home", "scripts/test", `dir="/berth/seven/go"`, []string{"path of one machine, below /berth"}},
		{"two in a line", "scripts/test", "PATH=/usr/bin:/berth/bin:/quay/bin", []string{"below /berth", "below /quay"}},
		{"a registry", "scripts/test", "export GOPROXY=https://proxy.golang.org", []string{"names"}},
		{"a missing document", "engine/a.go", "// " + "DESIGN" + ".md 19", []string{"speaks of DESIGN.md"}},
		{"a picture", "results/a.png", "\x00 /berth/x", nil},
		{"a build", "cmd/qsim/big", strings.Repeat("x", mostFileBytes+1), []string{"bytes"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wantProblems(t, checkFile(treeFile{tt.path, []byte(tt.text)}, func(name string) bool { return name == "README.md" }), tt.want)
		})
	}
}
