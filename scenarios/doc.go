// Package scenarios is the language of scenario files: it reads, checks and documents them. Package world runs them.
//
// A scenario describes a job queue under load: classes of jobs with their arrivals and run times; storms, which are
// faults or bursts with a window of time; the fetch policies to compare, which decide what a worker claims next, each
// under the same seeds (independent repetitions); and objectives, which are bounds on metrics such as a quantile of
// waits. A fresh job has had no attempt yet. A scenario is a page of YAML, read strictly: an unknown key, a duration
// without a unit or a storm on a class that does not exist is an error with its position, and all errors come at once.
//
//	display, src, err := scenarios.Open("retry-storm") // a file, or a built-in one
//	sc, problems := scenarios.Load(display, src, []scenarios.Override{{Path: "engine.workers", Value: "80"}})
//	fmt.Fprint(os.Stderr, problems.Text(display, src))
//	if sc == nil {
//		os.Exit(2)
//	}
//
// A loaded Scenario has been checked and its defaults are filled in. A policy may override keys for itself (`with:`):
// Variant returns the scenario under that policy. Resolved writes the scenario with every default.
//
// Loading has four steps: package tree parses the text to a YAML tree without aliases and merges; overrides replace
// values in the tree; package spec fills in the defaults and converts it to structs; package validate compares the
// values with each other. Every node of the tree keeps its position for the errors of each step.
//
// The packages below this one, from the bottom up: tree, YAML with positions; diagnostics, errors and warnings with
// positions; reference, the documentation and rules of keys; checks, which applies them to single keys; spec, structs
// and presets; estimate, the size of a run; validate. Beside it is origins, the source of each value; above it are
// world, apply, scenarios as settings of job systems, and checked, comparisons of presets with real libraries.
package scenarios
