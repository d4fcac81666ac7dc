package draft

import (
	"context"
	"time"

	"github.com/packetboat/packetboat/internal/content"
	"github.com/packetboat/packetboat/internal/field"
)

// Try renders the content for a contact with all fields and for one with none, and returns what
// fails. Line numbers are those of the source: of the MJML, if there is any.
func (m Content) Try(ctx context.Context, fields field.Catalog, now time.Time) ([]content.Trouble, error) {
	texts := []content.Text{
		{Field: "content.subject", Source: deref(m.Subject)}, {Field: "content.preheader", Source: deref(m.Preheader)}, {Field: "content.from_name", Source: deref(m.FromName)},
	}
	if m.MJML != nil {
		texts = append(texts, content.Text{Field: "content.body_mjml", Source: *m.MJML})
	} else {
		texts = append(texts, content.Text{Field: "content.body_html", Source: deref(m.HTML)})
	}
	texts = append(texts, content.Text{Field: "content.body_text", Source: deref(m.Text)})
	return content.Try(ctx, texts, fields, m.Source().Context.Params, now)
}
