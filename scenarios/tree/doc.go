// Package tree reads YAML as plain trees: maps with string keys, lists and scalars, each with its position, without
// aliases and merges. Merged overlays one tree by another; of the language it knows only which keys replace a map as
// a whole. ErrorAt places an error at the node that it is about.
package tree
