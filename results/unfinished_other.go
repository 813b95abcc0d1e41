//go:build !unix

package results

import (
	"errors"
	"os"
)

// lock returns an error: files cannot be locked on this system.
func lock(*os.File) error { return errors.ErrUnsupported }
