package deliver

import (
	"context"
	"errors"

	"github.com/packetboat/packetboat/internal/contact"
	"github.com/packetboat/packetboat/internal/content"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/letter"
	"github.com/packetboat/packetboat/internal/outbox"
)

// recipients loads the contacts of messages with what their mail prints of them.
func (e *Engine) recipients(ctx context.Context, tenant id.Tenant, items []outbox.Item) ([]contact.Contact, error) {
	ids := make([]id.Contact, len(items))
	var reads contact.Reading
	seen := map[id.Content]bool{}
	for i, it := range items {
		ids[i] = it.Contact
		if seen[it.Content] {
			continue
		}
		seen[it.Content] = true
		c, err := e.Contents.Get(ctx, tenant, it.Content)
		if errors.Is(err, content.ErrGone) { // nothing will be printed
			continue
		}
		if err != nil {
			return nil, err
		}
		reads.Join(letter.Reads(c))
	}
	return contact.Recipients(ctx, e.DB, tenant, ids, reads)
}
