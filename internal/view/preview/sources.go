package preview

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/content/draft"
	"github.com/packetboat/packetboat/internal/content/template"
)

// Source is what to preview: one of its kinds.
type Source struct {
	Template  *Template
	Block     *Block
	Content   *Content
	Broadcast id.Broadcast
	Message   id.LibraryEntry
	Version   int // of Message; 0: the current one
}

// Template is a template that need not be stored, and a binding for it; nil: its samples.
type Template struct {
	Change  template.Change
	Binding json.RawMessage
}

// Block is a block that need not be stored.
type Block struct {
	Change template.BlockChange
	Use    template.BlockUse
}

// Content is content as in a request that creates a broadcast.
type Content struct {
	Change  draft.Change
	Message *broadcast.Message // the library version that it is copied from
}

// The parts of a preview, by the names of their fields in a content.
const (
	subject  = "subject"
	pretext  = "preheader"
	fromName = "from_name"
	htmlBody = "body_html"
	textBody = "body_text"
)

// work is the state of one preview.
type work struct {
	*Previewer
	tenant    tenant.Tenant
	source    content.Source
	text      string // of the HTML of a template, for when that is left out
	alone     bool   // a block without a template: no footer
	samples   draft.Samples
	identity  id.Identity // of a broadcast
	emailType id.EmailType
	authored  map[string]authored          // by part
	rename    func(was, p Problem) Problem // names the field of a fault as in the source; may be nil

	problems []Problem
	broken   map[string]bool // parts that cannot be made
	lost     bool            // no part can be made

	body   body            // what the HTML is made from, for places in it
	marks  bool            // are asked for
	marked *content.Marked // the HTML of the source with marks; nil: there can be none
}

// authored is the field of a part in the source, and its text if its lines are those of the part.
type authored struct{ field, text string }

// load sets what is rendered.
func (w *work) load(ctx context.Context, r Request) error {
	s := r.Source
	if r.Variant != nil && s.Broadcast.IsZero() {
		return fault.Input(fault.Field{Path: "variant_id", Message: "only a broadcast has variants"})
	}
	switch {
	case s.Template != nil:
		return w.loadTemplate(ctx, *s.Template)
	case s.Block != nil:
		return w.loadBlock(ctx, *s.Block)
	case s.Content != nil:
		return w.loadContent(ctx, *s.Content)
	case !s.Broadcast.IsZero():
		return w.loadBroadcast(ctx, s.Broadcast, r.Variant)
	}
	return w.loadMessage(ctx, s.Message, s.Version)
}

// breaks marks parts that cannot be made.
func (w *work) breaks(parts ...string) {
	for _, p := range parts {
		w.broken[p] = true
	}
}

// breaksBody marks the HTML, and the text if it is derived from it.
func (w *work) breaksBody(ownText bool) {
	w.breaks(htmlBody)
	if !ownText {
		w.breaks(textBody)
	}
}

// placeholder stands for a part that cannot be made, where one is required.
const placeholder = "-"

// compile prepares the source for rendering, without the parts that have problems.
func (w *work) compile() (*content.Compiled, error) {
	var compiled *content.Compiled
	ownText := strings.TrimSpace(w.source.Text) != ""
	err := w.attempt(func() (err error) {
		if !w.alone {
			compiled, err = content.Draft(w.source)
		} else if err = content.Check(w.source); err == nil {
			compiled, err = content.Alone(w.source)
		}
		return err
	}, func(p Problem) bool {
		part := strings.TrimPrefix(p.Field, "content.")
		if w.broken[part] {
			return false
		}
		switch part {
		case subject:
			w.source.Subject = placeholder
		case pretext:
			w.source.Preheader = ""
		case fromName:
			w.source.FromName = ""
		case textBody:
			w.source.Text = ""
		case htmlBody:
			w.source.HTML = placeholder
			if !ownText {
				w.source.Text = w.text
			}
			w.breaksBody(ownText || w.text != "")
		default:
			return false
		}
		w.breaks(part)
		return true
	})
	return compiled, err
}

// topField returns the field that a path begins with.
func topField(path string) string {
	if i := strings.IndexAny(path, ".["); i >= 0 {
		return path[:i]
	}
	return path
}
