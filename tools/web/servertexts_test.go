package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// serverText is a text that the server can answer, with samples for what it inserts.
type serverText struct {
	Code string // of the fault, if the source names it
	Text string
	Kind textKind
}

// textKind is what a text is about, and so which sentences pages have for it.
type textKind string

const (
	ofField   textKind = "field"   // a problem of a field
	ofMessage textKind = "message" // of an error, a job, a run, a check, or what needs attention
	ofMail    textKind = "mail"    // a problem of Liquid, of MJML or of a binding
	ofFix     textKind = "fix"     // how a problem of a mail is solved
	ofLink    textKind = "link"    // what is wrong with a link, behind it
	ofRecord  textKind = "record"  // what is wrong with a DNS record, or what it is for
	ofAttempt textKind = "attempt" // why a mail or a request could not be sent
	ofFlow    textKind = "flow"    // a problem of a step of a sequence
	ofNotice  textKind = "notice"  // what needs attention about a domain, behind its name
)

// otherTexts are directories whose texts reach no page: of the operator's commands and of the mail server.
var otherTexts = []string{"edge/doctor", "edge/demo", "edge/app", "edge/inspect", "engine/inbound", "mail/smtpclient", "mail/imapbox", "mail/sns", "sqldb", "base"}

// members are the members of structs that hold texts, those of some packages by package and name.
var members = map[string]textKind{
	"Message": ofMessage, "Detail": ofMessage, "Fix": ofFix, "Note": ofRecord,
	"dnscheck.Problem": ofRecord, "dnscheck.problem": ofRecord,
}

// writes are functions whose last texts, one or two, are shown, by package and name.
var writes = map[string][]textKind{
	"liquid.fail": {ofMail}, "liquid.errorf": {ofMail}, "liquid.Errorf": {ofMail},
	"mjml.fail": {ofMail}, "mjml.warn": {ofMail},
	"binding.issue": {ofMail, ofFix}, "binding.invalid": {ofMail, ofFix}, "binding.shape": {ofMail, ofFix},
	"dmarc.problem": {ofRecord}, "spf.New": {ofRecord}, "spf.Errorf": {ofRecord},
	"deliver.New": {ofAttempt}, "flow.failed": {ofMessage}, "flow.skipped": {ofMessage}, "flow.fail": {ofMessage},
	"transfer.broken": {ofMessage}, "sequence.New": {ofFlow}, "sequence.Errorf": {ofFlow}, "sequence.ofNode": {ofMessage}, "sequence.ofEdge": {ofMessage},
}

// returned are functions that return a text that is shown.
var returned = map[string]textKind{
	"deliver.obstacle": ofAttempt, "notify.errorText": ofAttempt, "links.doubt": ofLink, "links.doubtHost": ofLink, "broadcast.Message": ofMessage, "sender.String": ofNotice,
}

// serverTexts reads the sources of the server for problems of fields (calls of fault.Problems, fault.Field and functions
// that pass a parameter on to them), messages (fault.New, Sayf), and what the tables above name. Texts of other
// packages that are passed on are followed by the names of functions and variables.
func serverTexts(t *testing.T, root string) []serverText {
	t.Helper()
	r := textReader{functions: map[string][]*textFunction{}, values: map[string]ast.Expr{}, passed: map[string]int{}, found: map[serverText]bool{}}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		if d.IsDir() && slices.Contains(otherTexts, filepath.ToSlash(rel)) && rel != "base" {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err == nil {
			r.add(file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return r.read()
}

// textFunction is a function, or a closure that a variable of a function holds.
type textFunction struct {
	name, pkg string
	params    *ast.FieldList
	body      *ast.BlockStmt
	outer     *textFunction
}

// parameter returns the index of a parameter of type string, or -1.
func (f *textFunction) parameter(name string) int {
	n := 0
	for _, p := range f.params.List {
		for _, id := range p.Names {
			if typ, ok := p.Type.(*ast.Ident); ok && id.Name == name && typ.Name == "string" {
				return n
			}
			n++
		}
	}
	return -1
}

type textReader struct {
	all       []*textFunction
	functions map[string][]*textFunction // by package and name
	values    map[string]ast.Expr        // of constants and variables of packages
	passed    map[string]int             // index of the parameter that a function uses as a problem, by package and name
	found     map[serverText]bool
}

func (r *textReader) add(file *ast.File) {
	pkg := file.Name.Name
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Body == nil {
				continue
			}
			f := &textFunction{d.Name.Name, pkg, d.Type.Params, d.Body, nil}
			r.all = append(r.all, f)
			r.functions[pkg+"."+f.name] = append(r.functions[pkg+"."+f.name], f)
			ast.Inspect(d.Body, func(n ast.Node) bool {
				if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == len(a.Rhs) {
					for i := range a.Rhs {
						name, isName := a.Lhs[i].(*ast.Ident)
						if closure, ok := a.Rhs[i].(*ast.FuncLit); ok && isName {
							r.all = append(r.all, &textFunction{name.Name, pkg, closure.Type.Params, closure.Body, f})
						}
					}
				}
				return true
			})
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if v, ok := s.(*ast.ValueSpec); ok && len(v.Values) == len(v.Names) {
					for i, name := range v.Names {
						r.values[pkg+"."+name.Name] = v.Values[i]
					}
				}
			}
		}
	}
}

// read returns the texts, in their order. It reads the functions again until it finds no other that passes a problem on.
func (r *textReader) read() []serverText {
	for known := -1; known < len(r.passed); {
		known = len(r.passed)
		clear(r.found)
		for _, f := range r.all {
			ast.Inspect(f.body, func(n ast.Node) bool { r.visit(f, n); return true })
		}
	}
	for name, value := range r.values {
		pkg, _, _ := strings.Cut(name, ".")
		r.visit(&textFunction{pkg: pkg, params: &ast.FieldList{}, body: &ast.BlockStmt{}}, value)
	}
	var list []serverText
	for t := range r.found {
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b serverText) int {
		return strings.Compare(a.Text+a.Code+string(a.Kind), b.Text+b.Code+string(b.Kind))
	})
	return list
}

// visit adds the texts of one call, member or assignment.
func (r *textReader) visit(f *textFunction, n ast.Node) {
	switch n := n.(type) {
	case *ast.CallExpr:
		name, of := called(n)
		switch index, isPassed := r.passed[f.pkg+"."+name]; {
		case of == "fault" && name == "New" && len(n.Args) == 3:
			code, _ := stringOf(n.Args[1])
			r.use(f, n.Args[2], code, ofMessage)
		case name == "Sayf" && len(n.Args) > 0:
			r.use(f, &ast.CallExpr{Fun: &ast.SelectorExpr{X: ast.NewIdent("fmt"), Sel: ast.NewIdent("Sprintf")}, Args: n.Args}, r.codeOf(f, n.Fun.(*ast.SelectorExpr).X), ofMessage)
		case (name == "Add" || name == "AddElement") && of != "" && !slices.Contains(writers, of) && len(n.Args) == 2:
			r.use(f, n.Args[1], "", ofField)
		case name == "AddElements" && len(n.Args) == 3:
			r.use(f, n.Args[2], "", ofField)
		case isPassed && len(n.Args) > index:
			r.use(f, n.Args[index], "", ofField)
		}
		if of == "" || of == "fmt" || of == "errors" || ast.IsExported(name) == false {
			r.written(f, n, writes[f.pkg+"."+name])
		}
	case *ast.ReturnStmt:
		if kind, ok := returned[f.pkg+"."+f.name]; ok {
			for _, result := range n.Results {
				r.use(f, result, "", kind)
			}
		}
	case *ast.AssignStmt:
		for i, left := range n.Lhs {
			if member, ok := left.(*ast.SelectorExpr); ok && len(n.Lhs) == len(n.Rhs) {
				if kind := memberKind(f.pkg, member.Sel.Name); kind != "" {
					r.use(f, n.Rhs[i], "", kind)
				}
			}
		}
	case *ast.CompositeLit:
		typ, _ := n.Type.(*ast.SelectorExpr)
		isField := typ != nil && typ.Sel.Name == "Field" && nameOf(typ.X) == "fault"
		for i, e := range n.Elts {
			if member, ok := e.(*ast.KeyValueExpr); ok {
				switch kind := memberKind(f.pkg, nameOf(member.Key)); {
				case kind == ofMessage && isField:
					r.use(f, member.Value, "", ofField)
				case kind != "":
					r.use(f, member.Value, "", kind)
				}
			} else if isField && i == 1 {
				r.use(f, e, "", ofField)
			}
		}
	}
}

// memberKind returns the kind of the texts of a member of a struct, or "".
func memberKind(pkg, name string) textKind {
	if kind, ok := members[pkg+"."+name]; ok {
		return kind
	}
	return members[name]
}

// written adds the texts among the arguments of a call: formats with what they insert, or as many texts as there are kinds.
func (r *textReader) written(f *textFunction, call *ast.CallExpr, kinds []textKind) {
	if len(kinds) == 2 {
		for i, kind := range kinds {
			if at := len(call.Args) - 2 + i; at >= 0 {
				r.use(f, call.Args[at], "", kind)
			}
		}
		return
	}
	for i, arg := range call.Args {
		if format, _ := stringOf(arg); strings.Contains(format, "%w") {
			return // the text of another error, with what failed
		}
		if len(kinds) == 1 && len(r.texts(f, arg, 0)) > 0 && isText(arg) {
			r.use(f, &ast.CallExpr{Fun: &ast.SelectorExpr{X: ast.NewIdent("fmt"), Sel: ast.NewIdent("Sprintf")}, Args: call.Args[i:]}, "", kinds[0])
			return
		}
	}
}

// isText reports whether an expression is a text of the source with words in it, or is made of one.
func isText(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		if e, ok := n.(ast.Expr); ok {
			text, _ := stringOf(e)
			found = found || strings.Contains(text, " ")
		}
		return true
	})
	return found
}

// use adds the texts that an expression can have. If it is a parameter, callers pass the texts.
func (r *textReader) use(f *textFunction, e ast.Expr, code string, kind textKind) {
	if name := nameOf(e); name != "" {
		if i := f.parameter(name); i >= 0 && kind == ofField {
			r.passed[f.pkg+"."+f.name] = i
			return
		}
	}
	if call, ok := e.(*ast.CallExpr); ok && kind == ofField {
		if name, of := called(call); name == "Sprintf" && of == "fmt" && len(call.Args) > 0 {
			if i := f.parameter(nameOf(call.Args[0])); i >= 0 {
				r.passed[f.pkg+"."+f.name] = i
				return
			}
		}
	}
	for _, text := range r.texts(f, e, 0) {
		if kind == ofFix {
			text = strings.Replace(text, "%s", "'parameters."+sample+"'", 1) // as package binding does
		}
		for _, text := range r.formatted(f, text, nil, 0) { // the format of a function that formats problems
			if text = strings.TrimSpace(text); !notAlone.MatchString(text) {
				r.found[serverText{code, text, kind}] = true
			}
		}
	}
}

// notAlone matches texts without words, those that are only a part of an error, and those of errors that are logged.
var notAlone = regexp.MustCompile(`^(?:Xyz|[^a-z]|%s)*$|^(?:variants\[7\] \(Xyz\)|message_id|\d elements?): Xyz$|^(?:the lane is closing|the mail of the node cannot be sent|a request fails after it changed a contact)$|^must be(?: (?:Xyz)+)?$|^: |^\(and 7 more\)$|^\[|^Xyz(?:://|@)|^params.Xyz: Xyz$|^(?:find|record|list|read|load) [A-Za-z ]+: Xyz$`)

// writers are receivers whose methods Add have nothing to do with problems.
var writers = []string{"t", "q", "places", "table", "keys", "h"}

// sample stands for what a text inserts.
const sample = "Xyz"

// texts returns what an expression can be, if that is found in the sources.
func (r *textReader) texts(f *textFunction, e ast.Expr, depth int) []string {
	if text, ok := stringOf(e); ok {
		return []string{text}
	}
	if depth > 6 {
		return nil
	}
	outermost := f
	for outermost.outer != nil {
		outermost = outermost.outer
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		return r.texts(f, e.X, depth+1)
	case *ast.BinaryExpr:
		var list []string
		for _, before := range orSample(r.texts(f, e.X, depth+1)) {
			for _, after := range orSample(r.texts(f, e.Y, depth+1)) {
				list = append(list, before+after)
			}
		}
		return list
	case *ast.Ident:
		if e.Name == "err" {
			return r.errorsOf(f, e, depth)
		}
		var list []string
		ast.Inspect(outermost.body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for i, left := range n.Lhs {
					if nameOf(left) == e.Name {
						list = append(list, r.texts(f, n.Rhs[min(i, len(n.Rhs)-1)], depth+1)...)
					}
				}
			case *ast.ValueSpec:
				for i, name := range n.Names {
					if name.Name == e.Name && i < len(n.Values) {
						list = append(list, r.texts(f, n.Values[i], depth+1)...)
					}
				}
			}
			return true
		})
		if value, ok := r.values[f.pkg+"."+e.Name]; ok {
			list = append(list, r.texts(f, value, depth+1)...)
		}
		return list
	case *ast.SelectorExpr:
		if value, ok := r.values[nameOf(e.X)+"."+e.Sel.Name]; ok {
			return r.texts(f, value, depth+1)
		}
	case *ast.CallExpr:
		return r.results(f, e, depth)
	}
	return nil
}

// results returns what a call can return.
func (r *textReader) results(f *textFunction, call *ast.CallExpr, depth int) []string {
	name, of := called(call)
	switch {
	case name == "Error" && len(call.Args) == 0:
		return r.errorsOf(f, call.Fun.(*ast.SelectorExpr).X, depth)
	case of == "errors" && name == "New" && len(call.Args) == 1:
		return r.texts(f, call.Args[0], depth+1)
	case of == "fmt" && (name == "Sprintf" || name == "Errorf") && len(call.Args) > 0:
		var list []string
		for _, format := range r.texts(f, call.Args[0], depth+1) {
			list = append(list, r.formatted(f, format, call.Args[1:], depth)...)
		}
		return list
	case of == "" && name == "refuse" && len(call.Args) == 1: // of package address
		return r.texts(f, call.Args[0], depth+1)
	case of == "" && name == "clean" && len(call.Args) == 1: // of package dnscheck
		return r.texts(f, call.Args[0], depth+1)
	case of == "" && name == "countOf" && len(call.Args) == 2: // of package binding
		thing, _ := stringOf(call.Args[1])
		return []string{"1 " + thing, "7 " + thing + "s"}
	case of == "strconv" && name == "Itoa":
		return []string{"7"}
	case of == "cmp" && name == "Or":
		var list []string
		for _, arg := range call.Args {
			list = append(list, r.texts(f, arg, depth+1)...)
		}
		return list
	}
	functions := r.functions[of+"."+name]
	if functions == nil {
		functions = r.functions[f.pkg+"."+name]
	}
	var list []string
	for _, g := range functions {
		ast.Inspect(g.body, func(n ast.Node) bool {
			if _, ok := n.(*ast.FuncLit); ok {
				return false
			}
			if ret, ok := n.(*ast.ReturnStmt); ok {
				for _, result := range ret.Results {
					if id := nameOf(result); id != "nil" && id != "true" && id != "false" {
						list = append(list, r.texts(g, result, depth+1)...)
					}
				}
			}
			return true
		})
	}
	return list
}

// errorsOf returns the texts of an error: those that the calls return whose results are assigned to it.
func (r *textReader) errorsOf(f *textFunction, e ast.Expr, depth int) []string {
	outermost := f
	for outermost.outer != nil {
		outermost = outermost.outer
	}
	var list []string
	ast.Inspect(outermost.body, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Rhs) == 1 && nameOf(a.Lhs[len(a.Lhs)-1]) == nameOf(e) {
			if call, ok := a.Rhs[0].(*ast.CallExpr); ok {
				list = append(list, r.results(f, call, depth+1)...)
			}
		}
		return true
	})
	return list
}

var verb = regexp.MustCompile(`%[-+#0]*[\d*]*(?:\.\d+)?[a-zA-Z%]`)

// formatted returns a text with what it inserts: the texts of an argument if they are found, otherwise samples.
func (r *textReader) formatted(f *textFunction, format string, args []ast.Expr, depth int) []string {
	list, at := []string{""}, 0
	i := 0
	for _, m := range append(verb.FindAllStringIndex(format, -1), []int{len(format), len(format)}) {
		var values []string
		switch v := format[m[0]:m[1]]; {
		case v == "":
			values = []string{""}
		case v == "%%":
			values = []string{"%"}
		case v[len(v)-1] == 'd' || v[len(v)-1] == 'f' || v[len(v)-1] == 'g':
			values = []string{"7"}
			i++
		case v[len(v)-1] == 'q':
			values = []string{`"` + sample + `"`}
			i++
		default:
			if i < len(args) {
				values = r.texts(f, args[i], depth+1)
			}
			values = orSample(values)
			i++
		}
		var longer []string
		for _, before := range list {
			for _, value := range values {
				longer = append(longer, before+format[at:m[0]]+value)
			}
		}
		list, at = longer[:min(len(longer), 200)], m[1]
	}
	return list
}

// codeOf returns the code of a declared fault, or "".
func (r *textReader) codeOf(f *textFunction, e ast.Expr) string {
	name := f.pkg + "." + nameOf(e)
	if member, ok := e.(*ast.SelectorExpr); ok {
		name = nameOf(member.X) + "." + member.Sel.Name
	}
	if call, ok := r.values[name].(*ast.CallExpr); ok && len(call.Args) == 3 {
		code, _ := stringOf(call.Args[1])
		return code
	}
	return ""
}

func orSample(list []string) []string {
	if len(list) == 0 {
		return []string{sample}
	}
	return list
}

// called returns the name of the function of a call, and that of its package or receiver.
func called(call *ast.CallExpr) (name, of string) {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name, ""
	case *ast.SelectorExpr:
		switch x := f.X.(type) {
		case *ast.Ident:
			of = x.Name
		case *ast.SelectorExpr:
			of = x.Sel.Name
		}
		return f.Sel.Name, of
	}
	return "", ""
}

func nameOf(e ast.Expr) string {
	if id, ok := e.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

func stringOf(e ast.Expr) (string, bool) {
	if l, ok := e.(*ast.BasicLit); ok && l.Kind == token.STRING {
		text, err := strconv.Unquote(l.Value)
		return text, err == nil
	}
	return "", false
}
