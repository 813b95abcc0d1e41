package cli

import (
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"qsim/cmd/ui"
)

// browser returns the command that opens a file in the user's browser on this system, with the arguments before its
// path.
func browser() []string {
	switch runtime.GOOS {
	case "darwin":
		return []string{"open"}
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	return []string{"xdg-open"}
}

// browse opens a file, or a page at an address, in the browser. The output of the browser's command goes to notes, and
// into the error if it fails.
func browse(path string, notes io.Writer) error {
	target, err := path, error(nil)
	if !strings.Contains(path, "://") {
		if target, err = filepath.Abs(path); err != nil {
			return ui.IOError("open report", err)
		}
	}
	words := append(browser(), target)
	command := exec.Command(words[0], words[1:]...)
	said, err := command.CombinedOutput()
	if err != nil { // a launcher that finds no browser prints details of launchers only
		return ui.IOError("open report", fmt.Errorf("%s: %w; the page is %s", words[0], err, path))
	}
	_, err = notes.Write(said)
	return ui.IOError("open report", err)
}
