// Package strictyaml reads YAML into Go structs and is strict about it: an
// unknown key, a duplicate one, a value of the wrong type are errors, as many
// of them as there are at once, each with file, line, column and the line
// itself. It keeps the tree, so that later checks can point into the source.
//
// It reads the YAML that people write by hand: mappings with plain keys,
// sequences and scalars. Anchors, aliases, merge keys, tags and several
// documents in one file are errors. Unquoted scalars are typed by the core
// schema of YAML 1.2, so that 1e-6 is a number.
package strictyaml
