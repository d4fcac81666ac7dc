// Package content stores the frozen content of messages.
//
// The source of a send (a broadcast, later a sequence) freezes its content once. Stored content is
// immutable, so a message can be built at any time from its content, its contact and its sender.
// Freezing does all work that is the same for every recipient: the footer, the preheader, the text
// part, the numbering of links and the place of the pixel.
//
// The stored HTML is Liquid with some internal variables: LinkVariable for each rewritten link,
// PixelVariable for the open pixel. Authors may use the public ones (unsubscribe_url,
// preferences_url, view_in_browser_url).
package content

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/mail/links"
	"github.com/packetboat/packetboat/internal/mail/liquid"
	"github.com/packetboat/packetboat/internal/mail/markup"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Source is content as written by an author, with its context.
type Source struct {
	Subject   string
	Preheader string
	FromName  string // empty: the sender's own
	ReplyTo   string // empty: the sender's own
	HTML      string
	Text      string // empty: derived from the HTML
	Previewed bool   // the HTML already contains the preheader
	Tracking  bool   // rewrite links and add the open pixel
	Honeypot  bool   // with Tracking: add an invisible link, which only programs follow
	Context   Context
	Send      id.Send // the send of the content
}

// Context is data about the sender that the content uses.
type Context struct {
	Broadcast     id.Broadcast `json:"broadcast_id,omitzero"`
	BroadcastName string       `json:"broadcast_name,omitempty"`
	Sequence      id.Sequence  `json:"sequence_id,omitzero"`
	SequenceName  string       `json:"sequence_name,omitempty"`
	EmailType     id.EmailType `json:"email_type_id"`
	UTM           bool         `json:"utm"` // add UTM parameters to tracked links
	UTMCampaign   string       `json:"utm_campaign,omitempty"`
	UTMContent    string       `json:"utm_content,omitempty"` // the variant

	// Confirmation says that the mail only asks whether its recipient wants mail: it needs no
	// consent, and has no footer to unsubscribe.
	Confirmation bool `json:"confirmation,omitempty"`

	// Params are constants available to Liquid as param: a JSON object.
	Params json.RawMessage `json:"params,omitempty"`
}

// ErrNoContent means that a required part of a mail is missing.
var ErrNoContent = fault.New(fault.Invalid, "NO_CONTENT", "the content is incomplete")

// ErrLiquid means that a field's Liquid does not parse; details are a LiquidProblem.
var ErrLiquid = fault.New(fault.Invalid, "LIQUID_INVALID", "the Liquid of the content is not valid")

// LiquidProblem is the position of an error in Liquid or MJML.
type LiquidProblem struct {
	Field   string `json:"field"`
	Line    int    `json:"line"`
	Column  int    `json:"-"` // 0: unknown
	Message string `json:"message"`
}

// Check validates a source: subject and body are required (ErrNoContent), Liquid must parse
// (ErrLiquid), and links must be allowed (fault.ErrInput). Fields are named as in a broadcast's
// content.
func Check(s Source) error {
	var missing []fault.Field
	if strings.TrimSpace(strings.ReplaceAll(s.Subject, "\ufeff", "")) == "" {
		missing = append(missing, fault.Field{Path: "content.subject", Message: "required"})
	}
	if strings.TrimSpace(s.HTML) == "" {
		missing = append(missing, fault.Field{Path: "content.body_html", Message: "required: the HTML of the mail"})
	}
	if len(missing) > 0 {
		e := ErrNoContent.With(fault.Fields{Fields: missing})
		e.Message = "the content lacks " + paths(missing)
		return e
	}
	for _, f := range s.fields() {
		if err := CheckLiquid(f.path, f.text); err != nil {
			return err
		}
	}
	if err := links.Check(s.HTML); err != nil {
		bad, ok := errors.AsType[*links.Error](err)
		if !ok {
			return err
		}
		var p fault.Problems
		for _, l := range bad.Problems {
			p.Add("content.body_html", fmt.Sprintf("the link %q %s", l.URL, l.Reason))
		}
		return p.Err()
	}
	return nil
}

// maxHeader is the maximum line length of RFC 5322 section 2.1.1, in characters.
const maxHeader = 998

// CheckHeader validates a text for a header. If it contains Liquid, its length is only known after
// rendering.
func CheckHeader(p *fault.Problems, path, text string) {
	if strings.ContainsAny(text, "\r\n") {
		p.Add(path, "must be one line")
	}
	if !strings.Contains(text, "{{") && !strings.Contains(text, "{%") && utf8.RuneCountInString(text) > maxHeader {
		p.Add(path, "must have at most 998 characters")
	}
}

// CheckLiquid returns ErrLiquid if the Liquid of a field does not parse.
func CheckLiquid(field, source string) error {
	_, err := liquid.Parse(source, liquid.Options{})
	if p, ok := errors.AsType[*liquid.ParseError](err); ok {
		return ErrLiquid.With(LiquidProblem{field, p.Line, p.Column, p.Message}).Sayf("%s, line %d: %s", field, p.Line, p.Message)
	}
	return err
}

// Renamed returns a fault of a mail's content with other names for the fields in its details.
func Renamed(f *fault.Error, name func(field string) string) *fault.Error {
	switch d := f.Details.(type) {
	case LiquidProblem:
		d.Field = name(d.Field)
		return f.With(d)
	case UnknownElements:
		d.Field = name(d.Field)
		return f.With(d)
	case fault.Fields:
		d.Fields = slices.Clone(d.Fields)
		for i := range d.Fields {
			d.Fields[i].Path = name(d.Fields[i].Path)
		}
		return f.With(d)
	}
	return f
}

func paths(fields []fault.Field) string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Path
	}
	return strings.Join(names, " and ")
}

type field struct{ path, text string }

func (s Source) fields() []field {
	return []field{
		{"content.subject", s.Subject},
		{"content.preheader", s.Preheader},
		{"content.from_name", s.FromName},
		{"content.body_html", s.HTML},
		{"content.body_text", s.Text},
	}
}

// The variables in stored HTML for values that differ per recipient.
const (
	linkPrefix       = "packetboat_link_"
	PixelVariable    = "packetboat_pixel"
	HoneypotVariable = "packetboat_honeypot"

	// targetVariable is set to the target of a link that depends on variables of the body.
	targetVariable = "packetboat_target"
)

// LinkVariable returns the number of the link for a variable.
func LinkVariable(name string) (int, bool) {
	digits, ok := strings.CutPrefix(name, linkPrefix)
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil && n >= 0
}

// safeVariable reports whether a variable is an address that does not depend on the recipient's
// data.
func (c Content) safeVariable(name string) bool {
	switch name {
	case PixelVariable, HoneypotVariable, "unsubscribe_url", "preferences_url", "view_in_browser_url", "subscribe_confirm_url":
		return true
	}
	n, ok := LinkVariable(name)
	return ok && n < len(c.Links) && (!c.Links[n].Dynamic || links.LeadsToWeb(c.Links[n].URL))
}

// Above this size mail clients clip a message, which would cut off a pixel at its end: it is then
// placed at the beginning.
const clippedBytes = 90 << 10

// honeypot is an invisible link: people neither see nor reach it, and programs that follow all links
// do. It contains no text, so that it has no size.
const honeypot = `<a href="{{ ` + HoneypotVariable + ` }}" aria-hidden="true" tabindex="-1" ` +
	`style="line-height:0;max-height:0;max-width:0;opacity:0;overflow:hidden;text-decoration:none;mso-hide:all"></a>`

const pixel = `<img src="{{ ` + PixelVariable + ` }}" width="1" height="1" alt="" style="border:0;height:1px;width:1px">`

// Freeze stores a source that passed Check, and returns the content's id.
func Freeze(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, s Source, now time.Time) (id.Content, error) {
	c, err := prepare(s)
	if err != nil {
		return id.Content{}, err
	}
	c.ID = id.New[id.Content]()
	names, err := json.Marshal(stored{c.Context, c.Finish})
	if err != nil {
		return id.Content{}, err
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO content (tenant_id, id, send_id, subject, preheader, from_name, reply_to, html, text, tracking, context, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		tenant, c.ID, s.Send, s.Subject, s.Preheader, s.FromName, s.ReplyTo, c.HTML, c.Text, s.Tracking, string(names), now.UnixMicro())
	if err != nil {
		return id.Content{}, fmt.Errorf("freeze content: %w", err)
	}
	if len(c.Links) == 0 {
		return c.ID, nil
	}
	t := tx.Table("idx BIGINT", "url TEXT", "label TEXT", "dynamic BOOLEAN")
	for _, l := range c.Links {
		t.Add(l.Index, l.URL, l.Label, l.Dynamic)
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO content_link (tenant_id, content_id, idx, url, label, dynamic)
		SELECT h.tenant_id, `+tx.Param(2, "UUID")+`, v.idx, v.url, v.label, v.dynamic FROM `+tx.Home(1)+` CROSS JOIN `+t.As("v", 3), t.Args(tenant, c.ID)...)
	if err != nil {
		return id.Content{}, fmt.Errorf("freeze the links of a content: %w", err)
	}
	return c.ID, nil
}

// Content is a prepared source.
type Content struct {
	Source            // HTML and Text are final
	ID     id.Content // zero for a draft
	Links  []links.Link
	Finish Finish
}

// prepare does the work that is the same for every recipient.
func prepare(s Source) (Content, error) {
	if err := Check(s); err != nil {
		return Content{}, err
	}
	c := Content{Source: s}
	c.HTML = links.FinishPreview(links.DeclareUTF8(c.HTML))
	c.finish()
	opts := links.Options{} // without Href, only data-no-track is removed
	if s.Tracking {
		set := assigned(s.HTML)
		opts.Href = func(l links.Link) string {
			name := linkPrefix + strconv.Itoa(l.Index)
			switch {
			case !l.Dynamic || !dependent(l.URL, set):
				return "{{ " + name + " }}"
			case !parses(l.URL):
				return l.URL // not tracked
			}
			return "{% capture " + targetVariable + " %}" + l.URL + "{% endcapture %}{{ " + name + "[" + targetVariable + "] }}"
		}
	}
	html, found, err := links.Rewrite(c.HTML, opts)
	if err != nil {
		return Content{}, fmt.Errorf("rewrite links: %w", err)
	}
	c.HTML = html
	top, end := "", ""
	if !s.Previewed {
		top = links.Preheader(s.Preheader)
	}
	if s.Tracking {
		c.Links, end = found, pixel
		if s.Honeypot && len(found) > 0 {
			c.HTML = links.InsertAfterMiddleLink(c.HTML, honeypot)
		}
	}
	if len(c.HTML) > clippedBytes {
		top, end = top+end, ""
	}
	c.HTML = links.InsertAfterBodyStart(c.HTML, top)
	if end != "" {
		c.HTML = links.InsertBeforeBodyEnd(c.HTML, end)
	}
	return c, nil
}

// Draft returns the source as if it was frozen now, without storing it.
func Draft(s Source) (*Compiled, error) {
	c, err := prepare(s)
	if err != nil {
		return nil, err
	}
	return Compile(c)
}

// setting matches tags that set a variable.
var setting = regexp.MustCompile(`^\{%-?\s*(?:assign|capture|for|increment|decrement)\s+["']?([\w-]+)`)

// assigned returns the variables that html sets. The target of a link that uses one cannot be rendered
// separately from the body.
func assigned(html string) map[string]bool {
	set := map[string]bool{"forloop": true}
	for _, span := range markup.Spans(html) {
		if m := setting.FindStringSubmatch(html[span.Start:span.End]); m != nil {
			set[m[1]] = true
		}
	}
	return set
}

// parses reports whether the Liquid in url is complete in itself.
func parses(url string) bool {
	_, err := liquid.Parse(url, liquid.Options{Mode: liquid.Text})
	return err == nil
}

// PrintedAlone returns a function that reports whether Liquid of the HTML can be rendered without what stands before it.
func PrintedAlone(html string) func(liquid string) bool {
	set := assigned(html)
	return func(liquid string) bool { return !dependent(liquid, set) }
}

// dependent reports whether url must be rendered where it stands: its Liquid uses one of the names, or
// does not parse by itself.
func dependent(url string, names map[string]bool) bool {
	t, err := liquid.Parse(url, liquid.Options{Mode: liquid.Text})
	return err != nil || slices.ContainsFunc(t.Variables(), func(path string) bool {
		root, _, _ := strings.Cut(path, ".")
		root, _, _ = strings.Cut(root, "[")
		return names[root]
	})
}
