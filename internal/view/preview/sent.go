package preview

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/message/render"
	"github.com/packetboat/packetboat/internal/people/contact"
)

// measure renders the source as it is sent, sets its size, and adds what only a sent mail tells: whether Gmail
// cuts it, and links without an address for this contact.
func (w *work) measure(ctx context.Context, out *Preview, from *render.Sender, to *contact.Contact, r Request) error {
	if out.HTML == nil {
		return nil
	}
	out.Sent = len(*out.HTML)
	source := w.source
	if r.Source.Broadcast.IsZero() { // which says whether it is tracked
		source.Tracking = true
	}
	compiled, err := content.Draft(source)
	if err != nil || w.alone {
		return nil // another part has a problem, or there is no mail
	}
	m := render.Mail{Tenant: w.tenant.ID, Message: id.New[id.Message](), Contact: to, Content: compiled, Sender: from, Event: r.Event, Now: w.now()}
	writer := w.renderer.Borrow()
	defer w.renderer.Return(writer)
	isClipped := func(p Problem) bool { return p.Code == content.CodeClipped }
	if sent, err := writer.Render(ctx, m); err == nil {
		if out.Sent = len(sent.HTML); out.Sent <= content.MaxShown {
			w.problems = slices.DeleteFunc(w.problems, isClipped) // said of the source
		}
	} else if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if out.Sent > content.MaxShown && !slices.ContainsFunc(w.problems, isClipped) {
		w.add(Problem{Severity: Warning, Code: content.CodeClipped, Field: w.authored[htmlBody].field, Message: content.Clipped})
	}
	if r.Contact.IsZero() {
		return nil
	}
	empty, err := writer.EmptyLinks(ctx, m, w.source.HTML)
	for _, url := range empty {
		p := Problem{Severity: Warning, Code: content.CodeLink, Field: w.authored[htmlBody].field, Message: fmt.Sprintf("the address %q is empty for this contact", url)}
		if at := strings.Index(w.body.text, url); at >= 0 {
			p.Line = strings.Count(w.body.text[:at], "\n") + 1
			p.Place = w.placeAt(1 + max(0, strings.LastIndexByte(w.body.text[:at], '<')))
		}
		w.add(p)
	}
	return err
}
