package draft

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/content/template"
	"github.com/packetboat/packetboat/internal/mail/binding"
	"github.com/packetboat/packetboat/internal/mail/links"
	"github.com/packetboat/packetboat/internal/mail/mark"
	"github.com/packetboat/packetboat/internal/mail/mjml"
	"github.com/packetboat/packetboat/internal/mail/textpart"
	"github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Author is the dependencies of writing content.
type Author struct {
	DB   *sqldb.DB
	MJML *mjml.Compiler
	Now  time.Time

	// For previews: Lenient renders templates with bindings that do not fit, with visible notices; Marks makes
	// the HTML with marks, too.
	Lenient, Marks bool
}

// Apply returns the content with the change applied, complete and validated. Bodies made from a
// template are rendered again, unless the change is frozen or contains bodies of its own, which
// drops the template. The seed is the id of the record the content is for.
func (a Author) Apply(ctx context.Context, tenant id.Tenant, seed string, m Content, ch Change) (Content, error) {
	own := m.Subject // the author's own subject, if any
	if m.Origin != nil {
		own = m.Origin.Subject
	}
	m = m.with(ch)
	if v, sent := ch.Parts[Subject]; sent {
		own = noText(v)
	}
	switch {
	case ch.templated() || m.Origin != nil && !ch.leaves() && !ch.Frozen:
		if err := a.render(ctx, tenant, seed, &m, own, ch); err != nil {
			return Content{}, err
		}
	default:
		if ch.leaves() {
			m.Origin = nil
		} else if m.Origin != nil {
			m.Origin = new(*m.Origin)
			m.Origin.Subject = own
		}
		if m.MJML != nil && (ch.Parts[BodyMJML] != nil || recompiles(ch)) {
			if err := a.compile(ctx, tenant, &m); err != nil {
				return Content{}, err
			}
		}
	}
	if err := content.Check(m.Source()); err != nil {
		return Content{}, err
	}
	if a.Marks && m.Marked == nil {
		var err error
		if m.Marked, err = a.Mark(ctx, tenant, m); err != nil {
			return Content{}, err
		}
	}
	return m, nil
}

// leaves reports whether the change replaces the template's bodies.
func (ch Change) leaves() bool {
	return !ch.templated() && (ch.bodies() || ch.Template != nil || ch.Binding != nil)
}

// recompiles reports whether a text that is part of compiled MJML changed.
func recompiles(ch Change) bool {
	_, preheader := ch.Parts[Preheader]
	return preheader
}

// with returns m with the given texts replaced. An empty text counts as absent; a body of one kind
// replaces one of the other.
func (m Content) with(ch Change) Content {
	for f, to := range map[Field]**string{
		Subject: &m.Subject, Preheader: &m.Preheader, FromName: &m.FromName, ReplyTo: &m.ReplyTo,
		BodyHTML: &m.HTML, BodyMJML: &m.MJML, BodyText: &m.Text,
	} {
		if v, sent := ch.Parts[f]; sent {
			*to = noText(v)
		}
	}
	switch {
	case written(ch.Parts[BodyMJML]):
		m.HTML, m.Findings = nil, nil // until it is compiled
	case written(ch.Parts[BodyHTML]):
		m.MJML, m.Findings = nil, nil
	}
	return m
}

// Overridden returns m with texts replaced like Override, but without compiling MJML. The text of a
// body without one is derived.
func (m Content) Overridden(parts map[Field]*string) Content {
	m = m.with(Change{Parts: parts})
	_, own := parts[BodyText]
	if !own && (written(parts[BodyHTML]) || written(parts[BodyMJML])) {
		m.Text = nil
	}
	return m
}

// Override returns the content with texts replaced, validated and compiled, without its
// template.
func (a Author) Override(ctx context.Context, tenant id.Tenant, m Content, parts map[Field]*string) (Content, error) {
	ch := Change{Parts: parts}
	var p fault.Problems
	if ch.Check(&p); p.Any() {
		return Content{}, p.Err()
	}
	if err := ch.Readable(); err != nil {
		return Content{}, err
	}
	m = m.Overridden(ch.Parts)
	if m.MJML != nil && (written(parts[BodyMJML]) || recompiles(ch)) {
		if err := a.compile(ctx, tenant, &m); err != nil {
			return Content{}, err
		}
	}
	return m, content.Check(m.Source())
}

func noText(v *string) *string {
	if v == nil || *v == "" {
		return nil
	}
	return v
}

// render renders the bodies of m from its template.
func (a Author) render(ctx context.Context, tenant id.Tenant, seed string, m *Content, subject *string, ch Change) error {
	t, err := a.template(ctx, tenant, m.Origin, ch.Template)
	if err != nil {
		return err
	}
	bound := ch.Binding
	if bound == nil && m.Origin != nil {
		bound = m.Origin.Binding
	}
	r, err := t.Render(ctx, a.DB, a.MJML, tenant, bound, template.RenderOptions{Seed: seed, Lenient: a.Lenient, Marks: a.Marks}, a.Now)
	if err != nil {
		return err
	}
	m.HTML, m.MJML, m.Text, m.Findings, m.Marked = &r.HTML, r.MJML, r.Text, r.Findings, r.Marked
	m.Subject = subject
	if subject == nil {
		m.Subject = r.Subject
	}
	if m.MJML != nil && m.Preheader != nil {
		if err := a.compile(ctx, tenant, m); err != nil {
			return err
		}
	}
	origin := Origin{Template: t.ID, Slug: t.Slug, Subject: subject, Blocks: slices.Clone(r.Blocks)}
	var compact bytes.Buffer
	if err := json.Compact(&compact, bound); err != nil {
		return fmt.Errorf("store a binding: %w", err)
	}
	origin.Binding = compact.Bytes()
	snapshot, err1 := json.Marshal(r.Snapshot)
	params, err2 := json.Marshal(r.Params)
	if err := errors.Join(err1, err2); err != nil {
		return fmt.Errorf("store what a template made: %w", err)
	}
	origin.Snapshot, origin.Params = snapshot, params
	m.Origin = &origin
	return nil
}

// template returns the template in the change, else the current one.
func (a Author) template(ctx context.Context, tenant id.Tenant, before *Origin, ref *TemplateRef) (template.Template, error) {
	name := ""
	switch {
	case ref != nil && !ref.ID.IsZero():
		name = ref.ID.String()
	case ref != nil:
		name = ref.Slug
	case before != nil:
		name = before.Template.String()
	default:
		return template.Template{}, ErrTemplate.Sayf("content.template_slug is missing: a template_binding needs the template it fills in")
	}
	t, err := template.ByRef(ctx, a.DB, tenant, name)
	if errors.Is(err, template.ErrNotFound) {
		if ref == nil {
			return t, ErrTemplate.Sayf("the template %q was deleted; name another in content.template_slug, or send bodies", before.Slug)
		}
		return t, ErrTemplate.Sayf("there is no template %q", name)
	}
	return t, err
}

// compile compiles the MJML of m, with the preheader as its preview.
func (a Author) compile(ctx context.Context, tenant id.Tenant, m *Content) error {
	source := *m.MJML
	if m.Preheader != nil {
		source = mjml.WithPreview(source, links.PreheaderText(*m.Preheader))
	}
	if a.Marks {
		var err error
		if m.Marked, err = a.Mark(ctx, tenant, *m); err != nil {
			return err
		}
	}
	r, err := content.CompileMJML(ctx, a.MJML, tenant, "content.body_mjml", source)
	m.HTML, m.Findings = &r.HTML, r.Warnings
	return err
}

// Mark returns the HTML of m with marks: those of its own body, or those that m has of its template's. It is
// nil if there can be none.
func (a Author) Mark(ctx context.Context, tenant id.Tenant, m Content) (*content.Marked, error) {
	switch {
	case m.Marked == nil && m.Origin != nil:
		return nil, nil // positions in a template that may have changed
	case m.MJML == nil && m.HTML != nil:
		marker := mark.New(*m.HTML)
		return &content.Marked{Marker: marker, HTML: marker.HTML(*m.HTML), Exact: true}, nil
	case m.MJML == nil:
		return nil, nil
	}
	marked := m.Marked
	if marked == nil {
		marker := mark.New(*m.MJML)
		marked = &content.Marked{Marker: marker, Labelled: mjml.Label(marker, *m.MJML, false)}
	}
	labelled := marked.Labelled
	if m.Preheader != nil {
		labelled = mjml.WithPreview(labelled, links.PreheaderText(*m.Preheader))
	}
	return content.CompileMarked(ctx, a.MJML, tenant, marked.Marker, "content.body_mjml", labelled)
}

// Source returns the content for checking and freezing, without what only the owning record
// knows.
func (m Content) Source() content.Source {
	s := content.Source{
		Subject: optional.Value(m.Subject), Preheader: optional.Value(m.Preheader), FromName: optional.Value(m.FromName), ReplyTo: optional.Value(m.ReplyTo),
		HTML: optional.Value(m.HTML), Text: optional.Value(m.Text), Previewed: m.MJML != nil && m.Preheader != nil,
	}
	if m.Origin != nil && binding.HasValue(m.Origin.Params) {
		s.Context.Params = m.Origin.Params
	}
	if m.Origin != nil && s.Text != "" && s.Text == textpart.FromHTML(s.HTML) {
		s.Text = "" // only shown: the template has none, so that each mail gets that of its HTML
	}
	return s
}

// Equal reports whether both are equal.
func (m Content) Equal(n Content) bool {
	same := func(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }
	if !same(m.Subject, n.Subject) || !same(m.Preheader, n.Preheader) || !same(m.FromName, n.FromName) || !same(m.ReplyTo, n.ReplyTo) ||
		!same(m.HTML, n.HTML) || !same(m.MJML, n.MJML) || !same(m.Text, n.Text) || (m.Origin == nil) != (n.Origin == nil) {
		return false
	}
	return m.Origin == nil || m.Origin.Template == n.Origin.Template && bytes.Equal(m.Origin.Binding, n.Origin.Binding) &&
		bytes.Equal(m.Origin.Params, n.Origin.Params)
}

// Review returns what the author should look at. Line numbers are those of the source: of the MJML, if
// there is any.
func (m Content) Review(ctx context.Context, fields field.Catalog, now time.Time) ([]content.Trouble, error) {
	source := m.Source()
	known := content.Known{Fields: fields, Params: source.Context.Params}
	expected, err := m.Samples()
	if err != nil {
		return nil, err
	}
	for _, e := range expected {
		known.Paths = append(known.Paths, e.Path)
	}
	body := content.Text{Field: "content.body_html", Source: optional.Value(m.HTML), Form: content.HTML, Required: true}
	if m.MJML != nil {
		body = content.Text{Field: "content.body_mjml", Source: *m.MJML, Form: content.MJML, Required: true, HTML: optional.Value(m.HTML), Findings: m.Findings}
	}
	return content.Review(ctx, []content.Text{
		{Field: "content.subject", Source: optional.Value(m.Subject), Required: true},
		{Field: "content.preheader", Source: optional.Value(m.Preheader)},
		{Field: "content.from_name", Source: optional.Value(m.FromName)},
		body,
		{Field: "content.body_text", Source: source.Text},
	}, known, now)
}
