package broadcast

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"packetboat/internal/content"
	"packetboat/internal/fault"
	"packetboat/internal/id"
	"packetboat/internal/mail/address"
)

// Field names a part of the content, as requests do.
type Field string

// The parts of the content.
const (
	Subject   Field = "subject"
	Preheader Field = "preheader"
	FromName  Field = "from_name"
	ReplyTo   Field = "reply_to"
	BodyHTML  Field = "body_html"
	BodyText  Field = "body_text"
)

// Change is what a request says about a broadcast; nil leaves a part alone.
type Change struct {
	Name       *string
	Content    map[Field]*string // the parts that were sent; nil clears one
	EmailType  *id.EmailType     // empty: none
	MTAConfig  *id.MTAConfig     // empty: none
	Include    *[]id.Segment
	Exclude    *[]id.Segment
	Identities *[]id.Identity // empty: any of the email type
	Tags       *[]string
	Metadata   Metadata
	Start      *Start
	Tracking   *bool
}

// Start is when a send should begin; nil: not said.
type Start struct{ At *time.Time }

const (
	maxName    = 200
	maxSubject = 998 // RFC 5322 section 2.1.1, and contract G8
)

// Check says what is wrong with the change, whatever broadcast it is made to.
// It also brings texts into the form in which they are kept.
func (ch *Change) Check() error {
	var p fault.Problems
	if ch.Name != nil {
		ch.Name = new(strings.TrimSpace(*ch.Name))
		if n := utf8.RuneCountInString(*ch.Name); n == 0 || n > maxName {
			p.Add("name", "must have 1 to 200 characters")
		}
	}
	ch.checkContent(&p)
	if ch.Tags != nil && len(distinct(*ch.Tags)) > MaxTags {
		return ErrLimit.Sayf("a broadcast may have at most %d tags", MaxTags)
	}
	if ch.Tags != nil {
		tags := make([]string, len(*ch.Tags))
		for i, t := range *ch.Tags {
			tags[i] = strings.TrimSpace(t)
			if n := utf8.RuneCountInString(tags[i]); n == 0 || n > MaxTagChars {
				p.Add(fmt.Sprintf("tags[%d]", i), "must have 1 to 64 characters")
			}
		}
		ch.Tags = &tags
	}
	if err := p.Err(); err != nil {
		return err
	}
	for _, list := range []*[]id.Segment{ch.Include, ch.Exclude} {
		if list != nil && len(distinct(*list)) > MaxSegments {
			return ErrLimit.Sayf("a broadcast may include at most %d segments and exclude as many", MaxSegments)
		}
	}
	return ch.readable()
}

// checkContent holds the parts that were sent to the rules of single fields.
func (ch *Change) checkContent(p *fault.Problems) {
	for _, f := range []Field{Subject, Preheader, FromName, ReplyTo} {
		v := ch.Content[f]
		if v == nil {
			continue
		}
		path := "content." + string(f)
		if strings.ContainsAny(*v, "\r\n") {
			p.Add(path, "must be one line")
		}
		if !strings.Contains(*v, "{{") && !strings.Contains(*v, "{%") && utf8.RuneCountInString(*v) > maxSubject {
			p.Add(path, "must have at most 998 characters")
		}
	}
	if v := ch.Content[ReplyTo]; v != nil && strings.TrimSpace(*v) != "" {
		a, err := address.Normalize(*v)
		if err != nil {
			p.Add("content.reply_to", err.Error())
			return
		}
		ch.Content[ReplyTo] = &a
	}
}

// readable asks package content whether what was sent can be read: a part that
// was not sent is taken to be well.
func (ch *Change) readable() error {
	if len(ch.Content) == 0 {
		return nil
	}
	given := func(f Field, otherwise string) string {
		v, sent := ch.Content[f]
		switch {
		case !sent:
			return otherwise
		case v == nil:
			return ""
		}
		return *v
	}
	return content.Check(content.Source{
		Subject: given(Subject, "-"), HTML: given(BodyHTML, "-"), Text: given(BodyText, ""),
		Preheader: given(Preheader, ""), FromName: given(FromName, ""), ReplyTo: given(ReplyTo, ""),
	})
}

// apply returns p with the change made. An empty text is as good as none.
func (ch Change) apply(p Plan) Plan {
	set(&p.Name, ch.Name)
	set(&p.EmailType, ch.EmailType)
	set(&p.MTAConfig, ch.MTAConfig)
	set(&p.Include, ch.Include)
	set(&p.Exclude, ch.Exclude)
	set(&p.Tags, ch.Tags)
	set(&p.Tracking, ch.Tracking)
	if ch.Identities != nil {
		p.Identities = nil
		if len(*ch.Identities) > 0 {
			p.Identities = *ch.Identities
		}
	}
	if ch.Metadata != nil {
		p.Metadata = ch.Metadata
	}
	if ch.Start != nil {
		p.ScheduledAt = ch.Start.At
	}
	for f, v := range ch.Content {
		if v != nil && *v == "" {
			v = nil
		}
		switch f {
		case Subject:
			p.Content.Subject = v
		case Preheader:
			p.Content.Preheader = v
		case FromName:
			p.Content.FromName = v
		case ReplyTo:
			p.Content.ReplyTo = v
		case BodyHTML:
			p.Content.HTML = v
		case BodyText:
			p.Content.Text = v
		}
	}
	return p.complete()
}

func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}
