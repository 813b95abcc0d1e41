//go:build !unix

package results

import (
	"errors"
	"os"
)

// lock says that f cannot be locked.
func lock(*os.File) error { return errors.ErrUnsupported }
