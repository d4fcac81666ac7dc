package internal

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// statement is one SQL text that the program sends, and the place that sends it. Where a text is
// made of pieces of which there are several, each combination is a statement.
type statement struct {
	place string // file:line
	text  string
}

// unknown stands in a statement for what is known only at run time.
const unknown = "…"

// tooMany is the text of a statement with too many variants to be read.
const tooMany = "too many variants"

// maxWork bounds the work of reading the statements that one place sends: the number of expressions
// read and the bytes of the texts that are made of them, together. The most that a place
// needs today is 0.7 million; without a bound, pieces in a cycle fill the memory.
const maxWork = 8 << 20

// source is one parsed package.
type source struct {
	files  *token.FileSet
	values map[string]ast.Expr      // package-level constants and variables
	funcs  map[string]*ast.FuncDecl // by name; methods too
	calls  map[string][]call        // by the name of the function or method
	work   int                      // what is left of maxWork for the current place
}

// call is a call, and the function whose body contains it.
type call struct {
	*ast.CallExpr
	in *ast.FuncDecl
}

// senders are the methods with a statement as an argument, and the index of that argument.
var senders = map[string]int{"Query": 1, "QueryRow": 1, "Exec": 1, "Queue": 0}

// statements returns the statements of the packages below root.
func statements(root string) ([]statement, error) {
	var all []statement
	err := filepath.WalkDir(root, func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		switch slash := filepath.ToSlash(dir); {
		case d.Name() == "testdata", slash == "sqldb/dbcopy", slash == "sqldb/dbtest": // dbcopy reads whatever tables there are
			return fs.SkipDir
		case slash == "sqldb": // passes on the statements of others
			return nil
		}
		src, err := parse(dir)
		if err != nil {
			return err
		}
		all = append(all, src.statements()...)
		return nil
	})
	return all, err
}

// parse reads the Go files of a directory, except for tests.
func parse(dir string) (*source, error) {
	s := newSource()
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		path := filepath.Join(dir, e.Name())
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if err := s.add(path, string(text)); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func newSource() *source {
	return &source{files: token.NewFileSet(), values: map[string]ast.Expr{}, funcs: map[string]*ast.FuncDecl{}, calls: map[string][]call{}}
}

// add parses one file.
func (s *source) add(path, text string) error {
	f, err := parser.ParseFile(s.files, path, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok && len(v.Names) == len(v.Values) {
					for i, n := range v.Names {
						s.values[n.Name] = v.Values[i]
					}
				}
			}
		case *ast.FuncDecl:
			s.funcs[d.Name.Name] = d
			ast.Inspect(d, func(n ast.Node) bool {
				if c, ok := n.(*ast.CallExpr); ok {
					s.calls[called(c)] = append(s.calls[called(c)], call{c, d})
				}
				return true
			})
		}
	}
	return nil
}

// called returns the name of the function or method that c calls.
func called(c *ast.CallExpr) string {
	switch f := c.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	case *ast.IndexExpr: // of type parameters
		return called(&ast.CallExpr{Fun: f.X})
	}
	return ""
}

// statements returns the statements that the package may send.
func (s *source) statements() []statement {
	var all []statement
	for name, at := range senders {
		for _, c := range s.calls[name] {
			if _, method := c.Fun.(*ast.SelectorExpr); !method || len(c.Args) < 2 {
				continue
			}
			p := s.files.Position(c.Pos())
			s.work = maxWork
			texts := s.texts(c.Args[at], c.in, 0)
			if s.work < 0 {
				texts = []string{tooMany}
			}
			for _, text := range texts {
				all = append(all, statement{fmt.Sprintf("%s:%d", filepath.ToSlash(p.Filename), p.Line), text})
			}
		}
	}
	return all
}

// spend subtracts n from the work that is left, and reports whether there was enough. All methods
// that make texts stop when there is not.
func (s *source) spend(n int) bool {
	s.work -= n
	return s.work >= 0
}

// texts returns the values that an expression in a function may have.
func (s *source) texts(e ast.Expr, in *ast.FuncDecl, depth int) []string {
	if depth > 8 || !s.spend(1) {
		return []string{unknown}
	}
	switch e := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil {
			return []string{text}
		}
	case *ast.ParenExpr:
		return s.texts(e.X, in, depth+1)
	case *ast.BinaryExpr:
		var all []string
		for _, left := range s.texts(e.X, in, depth) { // a long sum is not a deep one
			for _, right := range s.texts(e.Y, in, depth) {
				if !s.spend(len(left) + len(right)) {
					return all
				}
				all = append(all, left+right)
			}
		}
		return all
	case *ast.Ident:
		return s.named(e, in, depth)
	case *ast.CallExpr:
		return s.result(e, in, depth)
	case *ast.SelectorExpr: // a field: any statement in this function
		return s.written(in)
	}
	return []string{unknown}
}

// written returns the statements that are literals in a function.
func (s *source) written(in *ast.FuncDecl) []string {
	var all []string
	if in != nil {
		ast.Inspect(in.Body, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil && verb.MatchString(text) {
					all = append(all, text)
				}
			}
			return true
		})
	}
	if len(all) == 0 {
		return []string{unknown}
	}
	return all
}

// named returns the values that a name may have: all that are assigned to a local variable, the
// arguments of callers for a parameter, or the value of a constant.
func (s *source) named(e *ast.Ident, in *ast.FuncDecl, depth int) []string {
	var all, more []string
	if in != nil {
		ast.Inspect(in.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for i, left := range n.Lhs {
					if l, ok := left.(*ast.Ident); !ok || l.Name != e.Name || len(n.Lhs) != len(n.Rhs) {
						continue
					}
					if n.Tok == token.ADD_ASSIGN {
						more = append(more, s.texts(n.Rhs[i], in, depth+1)...)
					} else {
						all = append(all, s.texts(n.Rhs[i], in, depth+1)...)
					}
				}
			case *ast.ValueSpec:
				for i, name := range n.Names {
					if name.Name == e.Name && i < len(n.Values) {
						all = append(all, s.texts(n.Values[i], in, depth+1)...)
					}
				}
			}
			return true
		})
		if at, ok := parameter(in.Type, e.Name); ok && len(all) == 0 {
			all = s.passed(in.Name.Name, at, depth)
		}
		for name, f := range closures(in) {
			if at, ok := parameter(f.Type, e.Name); ok && len(all) == 0 {
				all = s.passed(name, at, depth)
			}
		}
	}
	if v, ok := s.values[e.Name]; ok && len(all) == 0 {
		all = s.texts(v, nil, depth+1)
	}
	added := strings.Join(more, " ") // by +=, perhaps under a condition
	for i := range all {
		if !s.spend(len(all[i]) + len(added)) {
			return all
		}
		all[i] += added
	}
	if len(all) == 0 {
		return []string{unknown}
	}
	return all
}

// passed returns the values that callers pass for a parameter.
func (s *source) passed(function string, at, depth int) []string {
	var all []string
	for _, c := range s.calls[function] {
		if at < len(c.Args) {
			all = append(all, s.texts(c.Args[at], c.in, depth+1)...)
		}
	}
	return all
}

// closures returns the function literals that a function assigns to variables.
func closures(in *ast.FuncDecl) map[string]*ast.FuncLit {
	all := map[string]*ast.FuncLit{}
	ast.Inspect(in.Body, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == 1 && len(a.Rhs) == 1 {
			name, named := a.Lhs[0].(*ast.Ident)
			if f, ok := a.Rhs[0].(*ast.FuncLit); ok && named {
				all[name.Name] = f
			}
		}
		return true
	})
	return all
}

// parameter returns the index of a function's parameter.
func parameter(f *ast.FuncType, name string) (int, bool) {
	at := 0
	for _, field := range f.Params.List {
		for _, n := range field.Names {
			if n.Name == name {
				return at, true
			}
			at++
		}
	}
	return 0, false
}

// result returns the values that a call may return: the format of a Sprintf, a mark for a list of
// parameters (sqldb.Table), or the results of a function of the package.
func (s *source) result(c *ast.CallExpr, in *ast.FuncDecl, depth int) []string {
	name := called(c)
	switch {
	case name == "Sprintf" && len(c.Args) > 0:
		return s.texts(c.Args[0], in, depth+1)
	case name == "As" && len(c.Args) == 2:
		if lit, ok := c.Args[0].(*ast.BasicLit); ok {
			alias, _ := strconv.Unquote(lit.Value)
			return []string{" " + given + alias + " "}
		}
	case name == "Home" && len(c.Args) == 1:
		return []string{" (SELECT tenant_id) AS h "}
	case name == "String" && len(c.Args) == 0:
		return s.built(c, depth)
	case s.funcs[name] != nil && s.funcs[name].Body != nil:
		var all []string
		f := s.funcs[name]
		ast.Inspect(f.Body, func(n ast.Node) bool {
			if r, ok := n.(*ast.ReturnStmt); ok && len(r.Results) > 0 {
				all = append(all, s.texts(r.Results[0], f, depth+1)...)
			}
			return true
		})
		if len(all) > 0 {
			return all
		}
	}
	return []string{unknown}
}

// built returns all that the package writes to a strings.Builder, which is identified by the name of
// its field or variable.
func (s *source) built(c *ast.CallExpr, depth int) []string {
	builder := last(c.Fun.(*ast.SelectorExpr).X)
	var all strings.Builder
	for _, w := range s.calls["WriteString"] {
		if f, ok := w.Fun.(*ast.SelectorExpr); ok && last(f.X) == builder && len(w.Args) == 1 {
			s.join(&all, s.texts(w.Args[0], w.in, depth+1))
		}
	}
	for _, w := range s.calls["Fprintf"] {
		if u, ok := w.Args[0].(*ast.UnaryExpr); ok && last(u.X) == builder && len(w.Args) > 1 {
			s.join(&all, s.texts(w.Args[1], w.in, depth+1))
		}
	}
	if all.Len() == 0 {
		return []string{unknown}
	}
	return []string{all.String()}
}

// join writes texts to all, each followed by a space.
func (s *source) join(all *strings.Builder, texts []string) {
	for _, text := range texts {
		if !s.spend(len(text)) {
			return
		}
		all.WriteString(text + " ")
	}
}

// last returns the last name of a selector.
func last(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}
