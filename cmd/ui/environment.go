package ui

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// ReadEnvironment sets each flag that the command line lacks from its environment variable, named after program and
// flag: QSIM_MAX_SEEDS. The values of a repeatable flag are separated by semicolons. The error has all wrong values. It
// warns, unless under --quiet, of each variable that looks like that of a flag and is none.
func ReadEnvironment(c *cobra.Command) error {
	var problems []error
	c.Flags().VisitAll(func(f *pflag.Flag) {
		text := os.Getenv(variable(c, f))
		if text == "" || f.Changed {
			return
		}
		values := []string{text}
		if _, repeatable := f.Value.(pflag.SliceValue); repeatable {
			values = strings.Split(text, ";")
		}
		for _, value := range values {
			if err := c.Flags().Set(f.Name, value); err != nil {
				if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
					err = wantedForm(f, invalid.Unwrap())
				}
				problems = append(problems, fmt.Errorf("%s=%s: %w", variable(c, f), text, err))
				return
			}
		}
	})
	if quiet, _ := c.Flags().GetBool("quiet"); !quiet {
		warnOfVariables(c, c.ErrOrStderr())
	}
	if len(problems) > 0 {
		return Fail(ExitUsage, errors.Join(problems...))
	}
	return nil
}

// warnOfVariables writes a warning for each environment variable with the program's prefix that belongs to no flag.
func warnOfVariables(c *cobra.Command, to io.Writer) {
	var known []string
	for _, command := range c.Root().Commands() {
		command.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, variable(c, f)) })
	}
	for _, setting := range os.Environ() {
		name, _, _ := strings.Cut(setting, "=")
		if !strings.HasPrefix(name, prefix(c)) || slices.Contains(known, name) {
			continue
		}
		fmt.Fprintf(to, "%s: warning: no flag has the variable %s%s\n", c.Root().Name(), name, Meant(name, known, ""))
	}
}

func variable(c *cobra.Command, f *pflag.Flag) string {
	return prefix(c) + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
}

// prefix returns what the names of all environment variables of a program begin with, such as QSIM_.
func prefix(c *cobra.Command) string { return strings.ToUpper(c.Root().Name()) + "_" }

// Listening returns the host of an address to listen at, the value of a flag; a UsageError if no address has that form.
func Listening(flag, address string) (host string, err error) {
	host, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		return "", UsageError("--%s %s: want HOST:PORT, such as 127.0.0.1:8080; PORT is at most 65535", flag, address)
	}
	return host, nil
}

// IsLocal reports whether a host name or IP address stands for this machine only (loopback), and no other can reach it.
func IsLocal(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
