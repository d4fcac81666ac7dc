package manuscript

import (
	"context"
	"time"

	"github.com/packetboat/packetboat/internal/content"
	"github.com/packetboat/packetboat/internal/field"
)

// Try renders what the manuscript says for a contact with every field and for one
// with none, and says what fails. Lines are those of what the author wrote: of the
// MJML, where there is some.
func (m Manuscript) Try(ctx context.Context, fields field.Catalog, now time.Time) ([]content.Trouble, error) {
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
