// Command qsim simulates job queues and compares their policies.
package main

import "qsim/cmd/cli"

func main() { cli.Main() }
