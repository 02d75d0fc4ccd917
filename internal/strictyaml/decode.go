// Package strictyaml decodes YAML into Go structs strictly: unknown keys, duplicate keys and
// values of the wrong type are errors. It reports all errors at once, each with file, line and
// column. It keeps the syntax tree, so that later checks can point into the source.
//
// It reads the YAML that people write by hand: mappings with plain keys,
// sequences and scalars. Directives, anchors, aliases, merge keys, tags and several
// documents in one file are errors. Unquoted scalars are typed by the core
// schema of YAML 1.2, so that 1e-6 is a number.
package strictyaml

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// A Decoder is a type that decodes itself from a node and reports errors in it to r.
// The method must be on the pointer type.
type Decoder interface {
	DecodeNode(n *Node, r *Reporter)
}

// DecodeFile parses a file and decodes it into v. It returns nil if the file can't be parsed.
func DecodeFile(name string, src []byte, v any, r *Reporter) *Node {
	root := Parse(name, src, r)
	if root != nil {
		Decode(root, v, r)
	}
	return root
}

// Decode stores a node in the value that v points to. It reports parts that don't
// fit, and stores the rest.
//
// Mappings are stored in structs, by the names in the json tags of the struct and its
// embedded structs, and in maps with string keys; sequences in slices; numbers in
// float64; integers in int and uint64, if they fit; text in strings; true and false in bool.
// A pointer marks a value that may be missing. Null is never a value. A struct with a
// field of type Rest accepts any key; keys of no other field are left to the caller.
func Decode(n *Node, v any, r *Reporter) {
	decode(n, reflect.ValueOf(v).Elem(), r)
}

func decode(n *Node, v reflect.Value, r *Reporter) {
	if d, ok := v.Addr().Interface().(Decoder); ok {
		d.DecodeNode(n, r)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		p := reflect.New(v.Type().Elem())
		decode(n, p.Elem(), r)
		v.Set(p)
	case reflect.Struct:
		if !n.Want(Mapping, r) {
			return
		}
		fields := make(map[string]reflect.Value)
		var rest *Rest
		names := structFields(v, fields, &rest)
		for _, f := range n.Fields {
			target, ok := fields[f.Key]
			switch {
			case ok:
				decode(f.Value, target, r)
			case rest != nil:
				rest.Fields = append(rest.Fields, f)
			default:
				r.UnknownKey(f, names)
			}
		}
		if rest != nil {
			rest.Known = names
		}
	case reflect.Map:
		if !n.Want(Mapping, r) {
			return
		}
		v.Set(reflect.MakeMap(v.Type()))
		for _, f := range n.Fields {
			item := reflect.New(v.Type().Elem()).Elem()
			decode(f.Value, item, r)
			v.SetMapIndex(reflect.ValueOf(f.Key), item)
		}
	case reflect.Slice:
		if !n.Want(Sequence, r) {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), len(n.Items), len(n.Items)))
		for i, item := range n.Items {
			decode(item, v.Index(i), r)
		}
	case reflect.String:
		if n.Want(String, r) {
			v.SetString(n.Text)
		}
	case reflect.Bool:
		if n.Want(Bool, r) {
			v.SetBool(strings.EqualFold(n.Text, "true"))
		}
	case reflect.Float64:
		if n.Want(Number, r) {
			x, _ := n.Float()
			v.SetFloat(x)
		}
	case reflect.Int:
		if !n.Want(Integer, r) {
			return
		}
		x, err := strconv.Atoi(n.Text)
		if err != nil {
			r.Errorf(n, "integer %s is out of range", n.Text)
			return
		}
		v.SetInt(int64(x))
	case reflect.Uint64:
		if !n.Want(Integer, r) {
			return
		}
		x, err := strconv.ParseUint(strings.TrimPrefix(n.Text, "+"), 10, 64)
		if err != nil {
			r.Errorf(n, "%s is not an integer from 0 to 2⁶⁴ − 1", n.Text)
			return
		}
		v.SetUint(x)
	default:
		panic("strictyaml: can't decode into " + v.Type().String())
	}
}

// Want reports an error unless the node is of kind k, and returns whether it is. An
// integer is a number too.
func (n *Node) Want(k Kind, r *Reporter) bool {
	if n.Kind == k || k == Number && n.Kind == Integer {
		return true
	}
	got := n.Kind.String()
	if n.Kind >= Bool && n.Kind <= String {
		got = fmt.Sprintf("%.40q (%s)", n.Text, n.Kind)
	}
	r.Errorf(n, "%s, want %s", got, k)
	return false
}

// structFields fills a map from the names in json tags to the fields of a struct and
// of its embedded structs. It returns the names in order, and sets rest to the field
// for all other keys, if there is one.
func structFields(v reflect.Value, fields map[string]reflect.Value, rest **Rest) []string {
	var names []string
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if f.Type == reflect.TypeFor[Rest]() {
			*rest = v.Field(i).Addr().Interface().(*Rest)
			continue
		}
		if f.Anonymous {
			names = append(names, structFields(v.Field(i), fields, rest)...)
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		fields[name] = v.Field(i)
		names = append(names, name)
	}
	return names
}

// A Rest holds the fields of a mapping that match no field of the struct, and the
// names of the struct's fields.
type Rest struct {
	Fields []Field
	Known  []string
}

// UnknownKey reports a key that is not in names.
func (r *Reporter) UnknownKey(f Field, names []string) {
	r.Errorf(f.At, "unknown key %q, want one of %s", f.Key, strings.Join(names, ", "))
}
