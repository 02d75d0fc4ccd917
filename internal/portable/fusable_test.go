package portable_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"math"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

// A finding is a place where a result depends on the architecture.
type finding struct {
	at   token.Position
	in   string // package and function, as in exemptions
	text string
}

// findings returns the products in packages that the compiler may fuse with a sum, and the
// calls of functions whose bits depend on the architecture. The packages must have been
// loaded with packages.LoadSyntax.
func findings(pkgs []*packages.Package) []finding {
	prog, _ := ssautil.Packages(pkgs, ssa.InstantiateGenerics)
	prog.Build()
	c := &checker{fset: prog.Fset, rounded: make(map[token.Pos]bool), callers: make(map[*ssa.Function][]*ssa.Call), seen: make(map[finding]bool)}
	for _, p := range pkgs {
		for _, f := range p.Syntax {
			c.syntax(p, f)
		}
	}
	var functions []*ssa.Function
	for f := range ssautil.AllFunctions(prog) {
		if f.Blocks != nil {
			functions = append(functions, f)
		}
	}
	for _, f := range functions {
		for i := range instructions(f) {
			if call, ok := i.(*ssa.Call); ok && call.Call.StaticCallee() != nil {
				c.callers[call.Call.StaticCallee()] = append(c.callers[call.Call.StaticCallee()], call)
			}
		}
	}
	for _, f := range functions {
		for i := range instructions(f) {
			if product, ok := i.(*ssa.BinOp); ok {
				c.product(product)
			}
		}
	}
	slices.SortFunc(c.found, func(a, b finding) int {
		return cmp.Or(strings.Compare(a.at.Filename, b.at.Filename), a.at.Offset-b.at.Offset)
	})
	return c.found
}

type checker struct {
	fset    *token.FileSet
	rounded map[token.Pos]bool // operators whose result is converted at once
	callers map[*ssa.Function][]*ssa.Call
	funcs   []*ast.FuncDecl
	names   []string // of funcs
	seen    map[finding]bool
	found   []finding
}

func (c *checker) report(at token.Pos, format string, args ...any) {
	f := finding{c.fset.Position(at), "", fmt.Sprintf(format, args...)}
	for i, d := range c.funcs {
		if d.Pos() <= at && at < d.End() {
			f.in = c.names[i]
		}
	}
	if !c.seen[f] { // not yet found by another instance of a generic function, or on another way
		c.seen[f] = true
		c.found = append(c.found, f)
	}
}

// exact are the functions of package math with one result on every architecture.
var exact = map[string]bool{
	"Abs": true, "Ceil": true, "Copysign": true, "FMA": true, "Float32bits": true, "Float32frombits": true,
	"Float64bits": true, "Float64frombits": true, "Floor": true, "Frexp": true, "Inf": true, "IsInf": true, "IsNaN": true,
	"Ldexp": true, "Max": true, "Min": true, "Mod": true, "Modf": true, "NaN": true, "Nextafter": true, "Nextafter32": true,
	"Round": true, "RoundToEven": true, "Signbit": true, "Sqrt": true, "Trunc": true,
}

// syntax notes the conversions of products, which package ssa drops where they don't
// change the type, and reports calls of functions whose bits depend on the architecture.
func (c *checker) syntax(p *packages.Package, f *ast.File) {
	for _, d := range f.Decls {
		if d, ok := d.(*ast.FuncDecl); ok {
			name := d.Name.Name
			if d.Recv != nil {
				t := d.Recv.List[0].Type
				if star, ok := t.(*ast.StarExpr); ok {
					t = star.X
				}
				if generic, ok := t.(*ast.IndexExpr); ok {
					t = generic.X
				}
				name = types.ExprString(t) + "." + name
			}
			c.funcs, c.names = append(c.funcs, d), append(c.names, p.PkgPath+" "+name)
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if len(n.Args) == 1 && p.TypesInfo.Types[n.Fun].IsType() {
				if product, ok := ast.Unparen(n.Args[0]).(*ast.BinaryExpr); ok {
					c.rounded[product.OpPos] = true
				}
			}
		case *ast.Ident:
			callee, ok := p.TypesInfo.Uses[n].(*types.Func)
			if !ok || callee.Pkg() == nil {
				break
			}
			name := callee.Name()
			switch path := callee.Pkg().Path(); {
			case path == "math" && exact[name]:
			case path == "math", path == "math/cmplx",
				path == "math/rand/v2" && (name == "NormFloat64" || name == "ExpFloat64"),
				strings.HasPrefix(path, "gonum.org/") && !strings.HasPrefix(name, "New"):
				c.report(n.Pos(), "%s.%s", callee.Pkg().Name(), name)
			}
		}
		return true
	})
}

// product reports the sums that a product reaches without being rounded.
func (c *checker) product(p *ssa.BinOp) {
	basic, _ := p.Type().Underlying().(*types.Basic)
	switch {
	case basic == nil || p.Op != token.MUL && p.Op != token.QUO:
		return
	case basic.Info()&types.IsComplex != 0:
		c.report(p.Pos(), "complex %s", p.Op)
		return
	case p.Op == token.QUO, basic.Info()&types.IsFloat == 0, c.rounded[p.Pos()], power(p.X), power(p.Y):
		return
	}
	w := walk{c, p, make(map[state]bool)}
	w.from(p, "")
}

// power reports whether v is a constant power of two: a product with it is exact, whether
// it is fused or not.
func power(v ssa.Value) bool {
	k, ok := v.(*ssa.Const)
	if !ok {
		return false
	}
	x, _ := constant.Float64Val(constant.ToFloat(k.Value))
	fraction, _ := math.Frexp(x)
	return math.Abs(fraction) == 0.5
}

// A walk follows a product to the sums that it is part of.
type walk struct {
	*checker
	product *ssa.BinOp
	seen    map[state]bool
}

// A state is a value whose part at a path is the product: "" for the value itself, ".1" for
// the second field of a struct.
type state struct {
	ssa.Value
	path string
}

func (w *walk) from(v ssa.Value, path string) {
	if w.seen[state{v, path}] || v.Referrers() == nil {
		return
	}
	w.seen[state{v, path}] = true
	for _, user := range *v.Referrers() {
		switch user := user.(type) {
		case *ssa.BinOp:
			if user.Op == token.ADD || user.Op == token.SUB {
				sum := w.fset.Position(user.Pos())
				at := ""
				if sum.Line != w.fset.Position(w.product.Pos()).Line {
					at = fmt.Sprintf(" in line %d", sum.Line)
				}
				w.report(w.product.Pos(), "product that may be fused with %s%s", user.Op, at)
			}
		case *ssa.UnOp: // −
			w.from(user, path)
		case *ssa.Phi:
			w.from(user, path)
		case *ssa.ChangeType:
			w.from(user, path)
		case *ssa.Extract:
			if rest, ok := strings.CutPrefix(path, fmt.Sprint(":", user.Index)); ok {
				w.from(user, rest)
			}
		case *ssa.Field:
			if rest, ok := strings.CutPrefix(path, fmt.Sprint(".", user.Field)); ok {
				w.from(user, rest)
			}
		case *ssa.Return:
			if !inlinable(user.Parent()) {
				break
			}
			for i, result := range user.Results {
				if result != v {
					continue
				}
				out := path
				if len(user.Results) > 1 {
					out = fmt.Sprint(":", i) + path
				}
				for _, call := range w.callers[user.Parent()] {
					w.from(call, out)
				}
			}
		case *ssa.Call:
			if f := user.Call.StaticCallee(); f != nil && inlinable(f) {
				for i, arg := range user.Call.Args {
					if arg == v && i < len(f.Params) {
						w.from(f.Params[i], path)
					}
				}
			}
		case *ssa.Store:
			if user.Val == v {
				w.stored(user, path)
			}
		}
	}
}

// inlinable reports whether the compiler may inline f. The compiler inlines functions of up to
// 80 nodes of syntax; an operator with its operands has at least two nodes.
func inlinable(f *ssa.Function) bool {
	nodes := 0
	for i := range instructions(f) {
		switch i := i.(type) {
		case *ssa.BinOp:
			nodes += 2
		case *ssa.Call:
			nodes += 1 + len(i.Call.Args)
		}
	}
	return nodes <= 80
}

// stored follows a stored product to the places where the function loads it again.
func (w *walk) stored(s *ssa.Store, path string) {
	to := address(s.Addr) + path
	for i := range instructions(s.Parent()) {
		if load, ok := i.(*ssa.UnOp); ok && load.Op == token.MUL {
			if rest, ok := strings.CutPrefix(to, address(load.X)); ok && (rest == "" || strings.ContainsAny(rest[:1], ".[")) {
				w.from(load, rest)
			}
		}
	}
}

// address returns the name of an address. The same address, computed twice, has the same name.
func address(v ssa.Value) string {
	switch v := v.(type) {
	case *ssa.FieldAddr:
		return fmt.Sprint(address(v.X), ".", v.Field)
	case *ssa.IndexAddr:
		return fmt.Sprint(address(v.X), "[", address(v.Index), "]")
	case *ssa.UnOp:
		return v.Op.String() + address(v.X)
	case *ssa.Const:
		return v.Value.String()
	}
	return fmt.Sprintf("%p", v)
}

func instructions(f *ssa.Function) func(yield func(ssa.Instruction) bool) {
	return func(yield func(ssa.Instruction) bool) {
		for _, b := range f.Blocks {
			for _, i := range b.Instrs {
				if !yield(i) {
					return
				}
			}
		}
	}
}

func TestFindings(t *testing.T) {
	pkgs := load(t, "./testdata/fusable")
	type line struct {
		number int
		text   string
	}
	want := make(map[line]bool)
	for _, f := range pkgs[0].Syntax {
		for _, group := range f.Comments {
			for _, part := range strings.Split(group.Text(), "want: ")[1:] {
				part = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(part), "//"))
				want[line{pkgs[0].Fset.Position(group.Pos()).Line, part}] = true
			}
		}
	}
	for _, f := range findings(pkgs) {
		found := line{f.at.Line, f.text}
		if !want[found] {
			t.Errorf("line %d: %s: not expected", found.number, found.text)
		}
		delete(want, found)
	}
	for w := range want {
		t.Errorf("line %d: not reported: %s", w.number, w.text)
	}
}
