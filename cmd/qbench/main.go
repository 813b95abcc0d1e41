// Command qbench runs the queue engine on the wall clock, against memory and PostgreSQL:
// how fast it is, how noisy the machine is, and how well the simulation predicts it.
package main

import "qsim/cmd/bench"

func main() { bench.Main() }
