package strictyaml

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// MaxSource is the largest size of a source file, in bytes, and maxOpening the largest number of
// opening brackets and braces in it. The parser's time grows with the square of the number of lines,
// and fastest with the square of the number of brackets: 64 KiB of brackets took 38 s and 9 GB.
const (
	MaxSource  = 64 << 10
	maxOpening = 4096
)

// A Kind is a node's type.
type Kind int

// The kinds. An Integer is any integer that fits a float64 or an int64; a
// Number has a fraction or an exponent, or is infinite or NaN.
const (
	Null Kind = iota
	Bool
	Integer
	Number
	String
	Sequence
	Mapping
)

var kindNames = [...]string{"no value", "true or false", "an integer", "a number", "text", "a list", "a mapping"}

// String returns the kind in the words of an error message.
func (k Kind) String() string { return kindNames[k] }

// A Node is a value in a YAML document.
type Node struct {
	Line, Column int // of the first character
	Kind         Kind
	Text         string  // of a scalar
	Items        []*Node // of a sequence
	Fields       []Field // of a mapping, in source order

	file string
}

// A Field is a key of a mapping with its value.
type Field struct {
	Key   string
	At    *Node // where the key is
	Value *Node
}

// File returns the name of the file that the node is in.
func (n *Node) File() string { return n.file }

// Get returns the value of a mapping's key, or nil.
func (n *Node) Get(key string) *Node {
	if f := n.Field(key); f != nil {
		return f.Value
	}
	return nil
}

// Field returns the field of a mapping's key, or nil.
func (n *Node) Field(key string) *Field {
	if n == nil {
		return nil
	}
	for i := range n.Fields {
		if n.Fields[i].Key == key {
			return &n.Fields[i]
		}
	}
	return nil
}

// At returns the node at the end of a path of keys and indices, or the last existing
// node on the path. It never returns nil if n is not nil.
func (n *Node) At(path ...any) *Node {
	for _, step := range path {
		var next *Node
		switch s := step.(type) {
		case string:
			next = n.Get(s)
		case int:
			if s >= 0 && s < len(n.Items) {
				next = n.Items[s]
			}
		}
		if next == nil {
			return n
		}
		n = next
	}
	return n
}

// Float returns the value of a numeric scalar, which is infinite if it is too large.
func (n *Node) Float() (float64, bool) {
	if n == nil || n.Kind != Integer && n.Kind != Number {
		return 0, false
	}
	text := n.Text
	if specialText.MatchString(text) {
		text = strings.Replace(text, ".", "", 1) // as Go writes it
	}
	x, _ := strconv.ParseFloat(text, 64) // the only possible error is the range
	return x, true
}

// Without returns a copy of a mapping without the given keys.
func (n *Node) Without(keys ...string) *Node {
	out := *n
	out.Fields = slices.DeleteFunc(slices.Clone(n.Fields), func(f Field) bool { return slices.Contains(keys, f.Key) })
	return &out
}

// With returns a copy of a mapping in which a key has the given value.
func (n *Node) With(key string, value *Node) *Node {
	out := *n
	out.Fields = slices.Clone(n.Fields)
	if f := out.Field(key); f != nil {
		f.Value = value
	} else {
		out.Fields = append(out.Fields, Field{key, value, value})
	}
	return &out
}

// Merge returns base overridden by over. It merges mappings key by key, recursively; any
// other value in over replaces the value in base, and null removes the key. It changes neither node. Nodes keep
// their positions in their own files; a merged mapping has the position of over's mapping.
func Merge(base, over *Node) *Node {
	if base == nil || over == nil || base.Kind != Mapping || over.Kind != Mapping {
		if over == nil {
			return base
		}
		return over
	}
	out := *over
	out.Fields = nil
	for _, f := range base.Fields {
		if g := over.Field(f.Key); g != nil {
			if g.Value.Kind == Null && g.Value.Text != "" {
				continue
			}
			f = Field{g.Key, g.At, Merge(f.Value, g.Value)}
		}
		out.Fields = append(out.Fields, f)
	}
	for _, g := range over.Fields {
		if base.Field(g.Key) == nil {
			out.Fields = append(out.Fields, g)
		}
	}
	return &out
}

// Parse reads a document whose top level must be a mapping. If that is impossible, it reports why
// and returns nil. It also reports duplicate keys and unsupported YAML, but then returns the rest.
func Parse(filename string, text []byte, r *Reporter) *Node {
	whole := &Node{file: filename}
	if len(text) > MaxSource {
		r.Errorf(whole, "the file has %d bytes: must have at most %d", len(text), MaxSource)
		return nil
	}
	if n := bytes.Count(text, []byte("[")) + bytes.Count(text, []byte("{")); n > maxOpening {
		r.Errorf(whole, "the file has %d opening brackets and braces: must have at most %d", n, maxOpening)
		return nil
	}
	if !utf8.Valid(text) {
		r.Errorf(whole, "the file is not UTF-8 text")
		return nil
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")) // the parser miscounts lines that end in CR LF
	if head := directive.Find(text); head != nil {              // the parser takes it for a document
		at := &Node{file: filename, Line: 1 + bytes.Count(head, []byte("\n")), Column: 1}
		r.Errorf(at, "directives such as %%YAML are not supported: delete this line; the file is read as YAML 1.2")
		return nil
	}
	file, err := parse(text)
	if err != nil {
		at := *whole
		message := err.Error()
		if e, ok := err.(interface {
			GetMessage() string
			GetToken() *token.Token
		}); ok {
			message = e.GetMessage()
			if t := e.GetToken(); t != nil {
				at.Line, at.Column = t.Position.Line, t.Position.Column
			}
		}
		r.Errorf(&at, "not valid YAML: %s", message)
		return nil
	}
	var body ast.Node
	for _, d := range file.Docs {
		switch d.Body.(type) {
		case nil, *ast.CommentGroupNode:
			continue
		}
		if body != nil {
			r.Errorf(cmp.Or(convert(filename, d.Body, new(Reporter)), nodeOf(filename, d.Body)), "a second document in the file; it may hold only one")
			return nil
		}
		body = d.Body
	}
	if body == nil {
		r.Errorf(whole, "the file is empty")
		return nil
	}
	n := convert(filename, body, r)
	if n != nil && n.Kind != Mapping {
		r.Errorf(n, "the file holds %s, want a mapping", n.Kind)
		return nil
	}
	return n
}

// directive matches the beginning of a file up to its first directive.
var directive = regexp.MustCompile(`\A([ \t]*(#.*)?\n)*%`)

// parse runs the YAML parser. It returns a panic in the parser as an error of the source.
func parse(text []byte) (file *ast.File, err error) {
	defer func() {
		if p := recover(); p != nil {
			file, err = nil, fmt.Errorf("the YAML parser failed: %v", p)
		}
	}()
	return parser.ParseBytes(text, 0, parser.AllowDuplicateMapKey())
}

// nodeOf returns a node of kind Null at the position of a token.
func nodeOf(file string, n ast.Node) *Node {
	out := &Node{file: file}
	if n == nil {
		return out
	}
	if t := n.GetToken(); t != nil {
		out.Line, out.Column = t.Position.Line, max(t.Position.Column, 1)
	}
	return out
}

// convert turns a syntax tree into nodes. It returns nil if the tree holds nothing usable.
func convert(file string, n ast.Node, r *Reporter) *Node {
	out := nodeOf(file, n)
	switch v := n.(type) {
	case *ast.MappingNode:
		return mapping(out, v.Values, r)
	case *ast.MappingValueNode:
		return mapping(out, []*ast.MappingValueNode{v}, r)
	case *ast.SequenceNode:
		out.Kind = Sequence
		for _, item := range v.Values {
			if c := convert(file, item, r); c != nil {
				out.Items = append(out.Items, c)
			}
		}
		return out
	case *ast.LiteralNode:
		out.Kind, out.Text = String, v.Value.Value
		return out
	case *ast.NullNode:
		if v.Token.Type == token.NullType { // otherwise nothing is written
			out.Text = v.Token.Value
		}
		return out
	case nil:
		return out
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode, *ast.TagNode:
		r.Errorf(out, "anchors, aliases, merge keys and tags are not supported")
		return nil
	case ast.ScalarNode:
		t := v.GetToken()
		out.Text = t.Value
		if t.Type == token.SingleQuoteType || t.Type == token.DoubleQuoteType {
			out.Kind = String
		} else {
			out.Kind = plainKind(t.Value)
		}
		return out
	}
	r.Errorf(out, "this kind of YAML is not supported")
	return nil
}

func mapping(out *Node, values []*ast.MappingValueNode, r *Reporter) *Node {
	out.Kind = Mapping
	for i, v := range values {
		at := nodeOf(out.file, v.Key)
		if i == 0 && (out.Line > at.Line || out.Line == at.Line && out.Column > at.Column) {
			out.Line, out.Column = at.Line, at.Column // the parser's own token is the colon
		}
		key, ok := v.Key.(ast.ScalarNode)
		switch v.Key.(type) {
		case *ast.MergeKeyNode, *ast.AnchorNode, *ast.AliasNode, *ast.TagNode:
			ok = false
		}
		if !ok {
			r.Errorf(at, "a key must be plain text")
			continue
		}
		name := key.GetToken().Value
		if old := out.Field(name); old != nil {
			r.Errorf(at, "duplicate key %q, first in line %d", name, old.At.Line)
			continue
		}
		value := convert(out.file, v.Value, r)
		if value == nil {
			continue
		}
		if value.Line == 0 || value.Kind == Null && value.Text == "" {
			value.Line, value.Column = at.Line, at.Column
		}
		out.Fields = append(out.Fields, Field{name, at, value})
	}
	return out
}

var (
	integerText = regexp.MustCompile(`^[-+]?[0-9]+$`)
	numberText  = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
	specialText = regexp.MustCompile(`^([-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$`)
)

// plainKind types an unquoted scalar by YAML's core schema.
func plainKind(text string) Kind {
	switch text {
	case "", "~", "null", "Null", "NULL":
		return Null
	case "true", "True", "TRUE", "false", "False", "FALSE":
		return Bool
	}
	switch {
	case integerText.MatchString(text):
		return Integer
	case numberText.MatchString(text), specialText.MatchString(text):
		return Number
	}
	return String
}
