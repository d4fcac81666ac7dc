package internal

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoIDIsCastToAnother checks that the program never converts an identifier of one kind of record
// to another kind, also by way of bytes or of text: the id of a broadcast is never that of its send.
// The exceptions are in package id: the source of a send and the author of a change may be of several kinds.
func TestNoIDIsCastToAnother(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,GoFiles,Export,Module", "../...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	type listed struct {
		ImportPath, Dir, Export string
		GoFiles                 []string
		Module                  *struct{ Path string }
	}
	exports := map[string]string{}
	var ours []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		if p.Module != nil && p.Module.Path == "github.com/packetboat/packetboat" && p.ImportPath != "github.com/packetboat/packetboat/internal/base/id" {
			ours = append(ours, p)
		}
	}
	if len(ours) < 50 {
		t.Fatalf("only %d packages were checked", len(ours))
	}
	fset := token.NewFileSet()
	config := types.Config{Importer: importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })}
	conversions := 0
	for _, p := range ours {
		var files []*ast.File
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
		if _, err := config.Check(p.ImportPath, fset, files, info); err != nil {
			t.Fatalf("%s: %v", p.ImportPath, err)
		}
		for _, f := range files {
			ast.Inspect(f, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				to := convertedTo(info, call)
				if to == "" {
					return true
				}
				conversions++
				for _, arg := range call.Args {
					if from := origin(info, arg); from != "" && from != to {
						t.Errorf("%s: an id of %s is converted to one of %s", fset.Position(call.Pos()), from, to)
					}
				}
				return true
			})
		}
	}
	if conversions == 0 {
		t.Error("no conversion to an identifier was found")
	}
}

// convertedTo returns the kind of the identifier that a call converts its argument to: by a type
// conversion, or by id.Read, id.Parse and the like.
func convertedTo(info *types.Info, call *ast.CallExpr) string {
	if tv, ok := info.Types[call.Fun]; ok && tv.IsType() {
		return kindOf(tv.Type)
	}
	index, ok := call.Fun.(*ast.IndexExpr)
	if !ok {
		return ""
	}
	sel, ok := index.X.(*ast.SelectorExpr)
	if !ok || len(call.Args) == 0 {
		return ""
	}
	if x, ok := sel.X.(*ast.Ident); !ok || x.Name != "id" || sel.Sel.Name == "OfSource" {
		return ""
	}
	return kindOf(info.Types[index.Index].Type)
}

// origin returns the kind of the identifier that an expression is, or whose bytes or text it is.
func origin(info *types.Info, e ast.Expr) string {
	if kind := kindOf(info.Types[e].Type); kind != "" {
		return kind
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		return origin(info, e.X)
	case *ast.SliceExpr:
		return origin(info, e.X)
	case *ast.CallExpr:
		if tv, ok := info.Types[e.Fun]; ok && tv.IsType() && len(e.Args) == 1 {
			return origin(info, e.Args[0])
		}
		if sel, ok := e.Fun.(*ast.SelectorExpr); ok && (sel.Sel.Name == "String" || sel.Sel.Name == "Bytes") {
			return origin(info, sel.X)
		}
	}
	return ""
}

// kindOf returns the kind of record that a type identifies; empty if it is not an identifier.
func kindOf(t types.Type) string {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() == nil || n.Obj().Pkg().Path() != "github.com/packetboat/packetboat/internal/base/id" {
		return ""
	}
	if n.TypeArgs().Len() == 1 {
		return types.TypeString(n.TypeArgs().At(0), func(*types.Package) string { return "" })
	}
	return n.Obj().Name()
}
