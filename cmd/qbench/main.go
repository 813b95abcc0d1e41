// Command qbench runs the queue engine in real time, on a store in memory or PostgreSQL, and measures how fast it is,
// how noisy the machine is, and how well a simulation predicts it.
package main

import "qsim/cmd/bench"

func main() { bench.Main() }
