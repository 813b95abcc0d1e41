// Package scenarios is the language of scenario files: the load, the trouble and the
// policies that a file names. Package world runs them.
//
// A scenario is a page of YAML, read strictly: an unknown key, a duration without a
// unit or a storm on a class that does not exist is an error with its position, and all
// errors come at once.
//
//	display, src, err := scenarios.Open("retry-storm") // a file, or a built-in one
//	sc, problems := scenarios.Load(display, src, []scenarios.Override{{Path: "engine.workers", Value: "80"}})
//	problems.Render(os.Stderr, display, src)
//	if sc == nil {
//		os.Exit(2)
//	}
//
// What a Scenario holds has been checked, and the defaults are filled in. Each policy
// may override keys of its own (`with:`): Variant is the scenario as that policy sees it.
// Resolved writes a scenario with every default spelled out; it is what a result keeps,
// and loads to an equal scenario.
//
// The text goes through four steps. parse makes a plain tree of it, free of aliases and
// merges; overrides are laid upon the tree; decode lays it upon the tree of the
// defaults and turns that into structs, whose types read their own values; a checker
// compares the values with each other. Every node of the tree keeps its position, so
// that each step can say where a problem is.
package scenarios
