//go:build js

// Command worker is the engine of a page that qsim play --static writes: WebAssembly in a worker of the browser.
package main

import "qsim/cmd/play"

func main() { play.Work() }
