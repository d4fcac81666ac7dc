package template

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/mail/binding"
	"github.com/packetboat/packetboat/internal/mail/mjml"
	"github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// check validates a template's content, in the order in which the checks depend on each other: the
// schema, the placeholders, the MJML, the Liquid, and the result of filling the bodies with sample
// values. It sets the HTML of an MJML template that has none.
func (t *Template) check(ctx context.Context, db *sqldb.DB, c *mjml.Compiler, ch Change, now time.Time) ([]binding.Warning, error) {
	var err error
	if t.Schema, err = t.Schema.With(ch.Schema); err != nil {
		return nil, err
	}
	b := binding.Bodies{Subject: optional.Value(t.Subject), MJML: optional.Value(t.MJML), Text: optional.Value(t.Text)}
	if t.Format == binding.HTML || ch.HTML != nil {
		b.HTML = t.HTML // written by the author, not compiled from the MJML
	}
	filled, warnings, err := fill(b, t.Schema)
	if err != nil {
		return nil, err
	}
	if b.MJML != "" {
		if _, err := mjml.Check(b.MJML); err != nil {
			return nil, content.MJMLFault(fieldMJML, err)
		}
	}
	if err := checkSources(b); err != nil {
		return nil, err
	}
	var compiled mjml.Result
	if b.MJML != "" { // after the cheaper checks
		line := lineIn(b.MJML, filled.MJML)
		if compiled, err = c.Compile(ctx, t.Tenant.String(), filled.MJML); err != nil {
			return nil, sourceFault(err, line)
		}
		if t.Format == binding.MJML && strings.TrimSpace(t.HTML) == "" {
			t.HTML = compiled.HTML
		}
	}
	if _, err := t.inlineCSS(filled.HTML); err != nil {
		return nil, err
	}
	if err := checkFilled(b, filled); err != nil {
		return nil, err
	}
	troubles, err := review(ctx, db, t.Tenant, t.Schema, b, filled, compiled, false, now)
	return append(warnings, troubles...), err
}

// review returns what the author should look at in bodies that are filled with samples, of which the MJML
// is also compiled.
func review(ctx context.Context, db *sqldb.DB, tenant id.Tenant, s binding.Schema, written, filled binding.Bodies, compiled mjml.Result, part bool, now time.Time) ([]binding.Warning, error) {
	catalog, err := field.Load(ctx, db, tenant)
	if err != nil {
		return nil, err
	}
	doc, _, err := binding.ParseDocument(written, s)
	if err != nil {
		return nil, err
	}
	params, err := json.Marshal(doc.Params(binding.Sample(s)))
	if err != nil {
		return nil, err
	}
	known := content.Known{Fields: catalog, Params: params}
	for _, e := range s.Expects {
		known.Paths = append(known.Paths, e.Path)
	}
	var warnings []binding.Warning
	for i, f := range bodyFields(filled) {
		text := content.Text{Field: f.field, Source: f.text, Required: f.field != fieldText, Filled: true, Part: part}
		switch f.field {
		case fieldHTML:
			text.Form = content.HTML
		case fieldMJML:
			text.Form, text.HTML, text.Findings = content.MJML, compiled.HTML, compiled.Warnings
		}
		found, err := content.Review(ctx, []content.Text{text}, known, now)
		if err != nil {
			return nil, err
		}
		text.Source = bodyFields(written)[i].text
		line := lineIn(text.Source, f.text)
		for i := range found {
			found[i].Line = line(found[i].Line)
		}
		for _, trouble := range append(found, text.Literals()...) {
			warnings = append(warnings, binding.Warning{Code: trouble.Code, Path: f.field, Field: f.field, Line: trouble.Line, Message: trouble.Message, At: trouble.At})
		}
	}
	return warnings, nil
}

// check validates a block's content like that of a template.
func (b *Block) check(ctx context.Context, db *sqldb.DB, c *mjml.Compiler, ch BlockChange, now time.Time) ([]binding.Warning, error) {
	ch.Schema.Slots, ch.Schema.Expects = nil, nil // a block has none; ignore them
	var err error
	if b.Schema, err = b.Schema.With(ch.Schema); err != nil {
		return nil, err
	}
	b.Schema.Slots, b.Schema.Expects = nil, nil
	bodies := b.bodies()
	filled, warnings, err := fill(bodies, b.Schema)
	if err != nil {
		return nil, err
	}
	var compiled mjml.Result
	if bodies.MJML != "" {
		if compiled, err = checkFragment(ctx, c, b.Tenant, bodies.MJML, filled.MJML); err != nil {
			return nil, err
		}
	}
	if err := checkSources(bodies); err != nil {
		return nil, err
	}
	if err := checkFilled(bodies, filled); err != nil {
		return nil, err
	}
	troubles, err := review(ctx, db, b.Tenant, b.Schema, bodies, filled, compiled, true, now)
	return append(warnings, troubles...), err
}

// fill returns the bodies with the sample values of a schema in place of placeholders.
func fill(b binding.Bodies, s binding.Schema) (binding.Bodies, []binding.Warning, error) {
	doc, warnings, err := binding.ParseDocument(b, s)
	if err != nil {
		return binding.Bodies{}, nil, err
	}
	filled, err := doc.Fill(binding.Sample(s))
	if errors.Is(err, binding.ErrBinding) {
		err = binding.ErrSchema.Sayf("the bodies would be larger than %d MB, filled with samples", binding.MaxExpanded>>20)
	}
	return filled, warnings, err
}

// Names of fields in faults and warnings.
const (
	fieldSubject = "subject"
	fieldHTML    = "content_html"
	fieldMJML    = "content_mjml"
	fieldText    = "content_text"
)

// checkFragment checks the MJML of a block. The source is checked before the filled body, since its
// line numbers are the author's.
func checkFragment(ctx context.Context, c *mjml.Compiler, tenant id.Tenant, source, filled string) (mjml.Result, error) {
	if _, err := mjml.CheckFragment(ctx, c, tenant.String(), source); err != nil {
		return mjml.Result{}, content.MJMLFault(fieldMJML, err)
	}
	document, err := mjml.FragmentDocument(filled)
	if err != nil {
		return mjml.Result{}, sourceFault(err, lineIn(source, filled))
	}
	r, err := c.Compile(ctx, tenant.String(), document)
	if err != nil {
		return mjml.Result{}, sourceFault(err, lineIn(source, filled))
	}
	return r, nil
}

// sourceFault converts an error of a filled body to a fault with line numbers of its source.
func sourceFault(err error, line func(int) int) error {
	if e, ok := errors.AsType[*mjml.Error](err); ok {
		err = &mjml.Error{Line: line(e.Line), Message: "once it is filled with samples: " + e.Message}
	}
	if e, ok := errors.AsType[*mjml.UnknownError](err); ok {
		moved := slices.Clone(e.Elements)
		for i := range moved {
			moved[i].Line, moved[i].Column = line(moved[i].Line), 0
		}
		err = &mjml.UnknownError{Elements: moved}
	}
	return content.MJMLFault(fieldMJML, err)
}

// sectionLine matches a line with only one end of a section, which filling removes.
var sectionLine = regexp.MustCompile(`(?m)^[ \t]*\{\{\s*[#/]\s*section\b[^{}\n]*\}\}[ \t\r]*$`)

// lineIn returns a function that maps line numbers of a body filled with samples, which have one
// row per section, to those of its source. It returns 0 for unknown lines.
func lineIn(source, filled string) func(line int) int {
	gone := []int{} // removed lines, counted from 1
	line, from := 1, 0
	for _, at := range sectionLine.FindAllStringIndex(source, -1) {
		line += strings.Count(source[from:at[0]], "\n")
		from = at[0]
		gone = append(gone, line)
	}
	if strings.Count(source, "\n") != strings.Count(filled, "\n")+len(gone) {
		return func(int) int { return 0 } // a sample value contains line breaks
	}
	return func(line int) int {
		for _, g := range gone {
			if line == 0 || line < g {
				break
			}
			line++
		}
		return line
	}
}

// placeholder matches what is replaced before Liquid is rendered. A plain name in braces is
// not, since it is the same in both.
var placeholder = regexp.MustCompile(`\{\{\s*(?:(?:param|item|slot)\s*:|#\s*section\b|/\s*section\b)[^{}]*\}\}`)

// maskPlaceholders replaces each placeholder by plain text of the same length and with the same
// lines, so that Liquid can be parsed before placeholders are filled.
func maskPlaceholders(body string) string {
	return placeholder.ReplaceAllStringFunc(body, func(s string) string {
		b := []byte(s)
		for i, c := range b {
			switch {
			case i == 0:
				b[i] = '0' // stands for a value inside a tag
			case c != '\n':
				b[i] = ' '
			}
		}
		return string(b)
	})
}

// bodyFields returns the bodies with their names.
func bodyFields(b binding.Bodies) [4]struct{ field, text string } {
	return [4]struct{ field, text string }{{fieldSubject, b.Subject}, {fieldHTML, b.HTML}, {fieldMJML, b.MJML}, {fieldText, b.Text}}
}

// checkSources returns the first syntax error of Liquid in the bodies as written.
func checkSources(written binding.Bodies) error {
	for _, f := range bodyFields(written) {
		if err := content.CheckLiquid(f.field, maskPlaceholders(f.text)); err != nil {
			return err
		}
	}
	return nil
}

// checkFilled returns the first syntax error of Liquid that only occurs after filling the bodies.
func checkFilled(written, filled binding.Bodies) error {
	for i, f := range bodyFields(filled) {
		err := content.CheckLiquid(f.field, f.text)
		if err == nil {
			continue
		}
		e, ok := fault.As(err)
		if !ok {
			return err
		}
		p, _ := e.Details.(content.LiquidProblem)
		p.Line, p.Column = lineIn(bodyFields(written)[i].text, f.text)(p.Line), 0
		return content.ErrLiquid.With(p).Sayf("%s, once it is filled with samples: %s", f.field, p.Message)
	}
	return nil
}
