//go:build !unix

package pgserver

import "os"

const prefix = "qsim-postgresql-"

func claim(string) (*os.File, error) { return nil, ErrMissing }

func sweep(string) {}
