package preview

import (
	"context"
	"errors"
	"fmt"
	"html"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/content/draft"
	"github.com/packetboat/packetboat/internal/mail/binding"
	"github.com/packetboat/packetboat/internal/mail/liquid"
	"github.com/packetboat/packetboat/internal/mail/mjml"
	"github.com/packetboat/packetboat/internal/message/render"
)

// Severity says whether a problem prevents saving or sending.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // it is refused, or its recipients get no mail
	Warning Severity = "warning" // a hint for the author
)

// Problem is a problem of what is previewed.
type Problem struct {
	Severity Severity
	Code     string // of the fault that saving returns, of the issue of a binding, or of a warning
	Field    string // of the source, such as content_mjml; empty: unknown
	Line     int    // 0: unknown
	Column   int    // in characters; 0: unknown
	Message  string
	Fix      string // one imperative sentence; empty: none
	Place    Place  // in the HTML with marks, if the request asks for them
}

// maxProblems is the maximum number of problems of a preview.
const maxProblems = 500

// add adds problems that are not known yet.
func (w *work) add(list ...Problem) {
	for _, p := range list {
		if len(w.problems) <= maxProblems && !slices.Contains(w.problems, p) {
			w.problems = append(w.problems, p)
		}
	}
}

// problemsOf returns the problems that an error describes. Errors that do not concern what is previewed
// describe none.
func problemsOf(err error) ([]Problem, bool) {
	f, ok := fault.As(err)
	if !ok || f.Kind != fault.Invalid {
		return nil, false
	}
	one := Problem{Severity: Error, Code: f.Code, Message: f.Message}
	switch d := f.Details.(type) {
	case content.LiquidProblem:
		one.Field, one.Line, one.Column, one.Message = d.Field, d.Line, d.Column, d.Message
	case content.UnknownElements:
		return each(d.Elements, func(e mjml.Element) Problem {
			p := one
			p.Field, p.Line, p.Column = d.Field, e.Line, e.Column
			p.Message, p.Fix = fmt.Sprintf("MJML has no element <%s>", e.Tag), fmt.Sprintf("Remove <%s>, or use one of MJML's own elements", e.Tag)
			return p
		}), true
	case binding.References:
		return each(d.References, func(r binding.Reference) Problem {
			p := one
			p.Field, p.Line, p.Message = r.Field, r.Line, r.Token+" names nothing that is declared and allowed here"
			p.Fix = fmt.Sprintf("Declare what %s names, or remove it", r.Token)
			return p
		}), true
	case binding.Issues:
		return issues(d.Issues), true
	case fault.Fields:
		return each(d.Fields, func(f fault.Field) Problem {
			p := one
			p.Field, p.Message = f.Path, f.Message
			return p
		}), true
	}
	switch {
	case errors.Is(err, draft.ErrTemplate):
		one.Field = "content.template_slug"
	case errors.Is(err, content.ErrMJMLEmpty):
		one.Field = "content.body_mjml"
	}
	return []Problem{one}, true
}

func each[T any](list []T, f func(T) Problem) []Problem {
	out := make([]Problem, len(list))
	for i, v := range list {
		out[i] = f(v)
	}
	return out
}

// issues returns the issues of a binding as problems.
func issues(list []binding.Issue) []Problem {
	return each(list, func(i binding.Issue) Problem {
		return Problem{Severity: Error, Code: string(i.Code), Field: i.Path, Message: i.Message, Fix: i.Fix}
	})
}

// warnings returns the warnings of a template as problems.
func (w *work) warnings(list []binding.Warning) []Problem {
	return each(list, func(n binding.Warning) Problem {
		p := Problem{Severity: Warning, Code: n.Code, Field: n.Path, Line: n.Line, Message: n.Message}
		if n.Path == w.authored[htmlBody].field {
			p.Place = w.placeAt(n.At)
		}
		return p
	})
}

// maxAttempts limits how often attempt tries.
const maxAttempts = 12

// attempt calls try until it succeeds. After a fault it notes the problems, and calls drop for each, which
// removes the field that has it and reports whether it did. If nothing can be removed, the source is
// lost: no part of it can be made.
func (w *work) attempt(try func() error, drop func(Problem) bool) error {
	for range maxAttempts {
		err := try()
		if err == nil {
			return nil
		}
		list, ok := problemsOf(err)
		if !ok {
			return err
		}
		dropped := false
		for i := range list {
			raw := list[i]
			w.locate(&list[i])
			if w.rename != nil {
				list[i] = w.rename(raw, list[i])
			}
			if drop(raw) {
				dropped = true
			}
		}
		w.add(list...)
		if !dropped {
			break
		}
	}
	w.lost = true
	return nil
}

// failed adds the problem of a part that cannot be rendered with the data of the contact.
func (w *work) failed(ctx context.Context, writer *render.Writer, m render.Mail, part render.Part) error {
	a := w.authored[part.Name]
	p := Problem{Severity: Error, Code: string(broadcast.RenderFailed), Field: a.field, Message: "it cannot be rendered: " + reason(part.Err)}
	if a.text != "" {
		err := writer.Try(ctx, m, a.text)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if e, ok := errors.AsType[*liquid.RenderError](err); ok {
			p.Line, p.Message = e.Line, "it cannot be rendered: "+e.Message
		}
	}
	w.add(p)
	return nil
}

// addUnread adds what Liquid left as it is with the data of the contact, unless it is known already.
func (w *work) addUnread(part render.Part) {
	if part.Name == textBody && strings.TrimSpace(w.source.Text) == "" {
		return // it is that of the HTML
	}
	field := w.authored[part.Name].field
	for _, message := range part.Unread {
		if !slices.ContainsFunc(w.problems, func(p Problem) bool { return p.Field == field && p.Message == message }) {
			w.add(Problem{Severity: Warning, Code: content.CodeDate, Field: field, Message: message})
		}
	}
}

// reason describes the error of a part.
func reason(err error) string {
	if e, ok := errors.AsType[*liquid.RenderError](err); ok {
		return e.Message
	}
	if errors.Is(err, liquid.ErrLimit) {
		return "it takes more than a recipient's mail may: loop turns, output or time"
	}
	return err.Error()
}

// locate sets the position of the problem of a link, whose message begins with the link.
func (w *work) locate(p *Problem) {
	rest, ok := strings.CutPrefix(p.Message, `the link "`)
	if !ok {
		return
	}
	p.Fix = "Replace the link by one that begins with https://"
	i := strings.LastIndex(rest, `" `)
	if i <= 0 {
		return
	}
	text := w.authored[htmlBody].text
	at := strings.Index(text, rest[:i])
	if at < 0 {
		at = strings.Index(text, html.EscapeString(rest[:i]))
	}
	if at < 0 {
		return
	}
	begin := strings.LastIndexByte(text[:at], '\n') + 1
	p.Line, p.Column = strings.Count(text[:at], "\n")+1, utf8.RuneCountInString(text[begin:at])+1
}
