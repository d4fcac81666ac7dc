package broadcast

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/content/draft"
	"github.com/packetboat/packetboat/internal/content/library"
)

// Change holds the changes that a request makes to a broadcast; nil leaves a part unchanged.
type Change struct {
	Name       *string
	Content    *draft.Change
	Message    *Message      // copy this library version first (0: the current one), then apply Content to it
	Variants   *[]Variant    // empty: none
	EmailType  *id.EmailType // empty: none
	Lane       *id.Lane      // empty: none
	Include    *[]id.Segment
	Exclude    *[]id.Segment
	Identities *[]id.Identity // empty: any of the email type
	Tags       *[]string
	Metadata   Metadata
	Start      *Start
	Tracking   *bool
	Delivery   *DeliveryChange
	SeedLists  *SeedChoice
}

// Start is when the send should begin; a nil At clears the time.
type Start struct{ At *time.Time }

const maxName = 200

// Check validates the change independently of the broadcast, and normalizes its texts.
func (ch *Change) Check() error {
	var p fault.Problems
	if ch.Name != nil {
		ch.Name = new(strings.TrimSpace(*ch.Name))
		if n := utf8.RuneCountInString(*ch.Name); n == 0 || n > maxName {
			p.Add("name", "must have 1 to 200 characters")
		}
	}
	if ch.Content != nil {
		ch.Content.Check(&p)
	}
	if ch.Delivery != nil {
		ch.Delivery.check(&p)
	}
	if ch.Tags != nil && len(distinct(*ch.Tags)) > MaxTags {
		return ErrLimit.Sayf("a broadcast may have at most %d tags", MaxTags)
	}
	if ch.Tags != nil {
		tags := make([]string, len(*ch.Tags))
		for i, t := range *ch.Tags {
			tags[i] = strings.TrimSpace(t)
			if n := utf8.RuneCountInString(tags[i]); n == 0 || n > MaxTagChars {
				p.AddElement("tags", "must have 1 to 64 characters")
			}
		}
		ch.Tags = &tags
	}
	if err := p.Err(); err != nil {
		return err
	}
	for _, list := range []*[]id.Segment{ch.Include, ch.Exclude} {
		if list != nil {
			if err := checkSegments(len(distinct(*list))); err != nil {
				return err
			}
		}
	}
	if ch.Content != nil {
		return ch.Content.Readable()
	}
	return nil
}

// apply returns p with all changes except those of the content.
func (ch Change) apply(p Plan) Plan {
	set(&p.Name, ch.Name)
	set(&p.EmailType, ch.EmailType)
	set(&p.Lane, ch.Lane)
	set(&p.Include, ch.Include)
	set(&p.Exclude, ch.Exclude)
	set(&p.Tags, ch.Tags)
	set(&p.Tracking, ch.Tracking)
	p.Delivery = ch.Delivery.apply(p.Delivery)
	if ch.Identities != nil {
		p.Identities = nil
		if len(*ch.Identities) > 0 {
			p.Identities = *ch.Identities
		}
	}
	if ch.SeedLists != nil {
		p.SeedLists = nil
		if l := ch.SeedLists.Lists; l != nil {
			p.SeedLists = new(distinct(*l))
		}
	}
	if ch.Metadata != nil {
		p.Metadata = ch.Metadata
	}
	if ch.Start != nil {
		p.ScheduledAt = ch.Start.At
	}
	return p.complete()
}

// rewrite returns the plan with its content changed: first the library version, then the parts in
// the request.
func (ch Change) rewrite(ctx context.Context, w draft.Author, b Broadcast) (Plan, error) {
	p, edit := b.Plan, draft.Change{}
	if ch.Content != nil {
		edit = *ch.Content
	}
	if ch.Message != nil {
		m, version, err := library.Content(ctx, w.DB, b.Tenant, ch.Message.Entry, ch.Message.Version)
		if err != nil {
			return p, err
		}
		p.Content, p.Message = m, &Message{ch.Message.Entry, version}
		edit.Frozen = true
	}
	written, err := w.Apply(ctx, b.Tenant, b.ID.String(), p.Content, edit)
	if err != nil {
		return p, err
	}
	if !p.Content.Equal(written) {
		p.Message = nil // it differs from the library version now
	}
	p.Content = written
	return p, nil
}

func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}
