package content

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/mail/links"
	"github.com/packetboat/packetboat/internal/mail/liquid"
	"github.com/packetboat/packetboat/internal/mail/markup"
	"github.com/packetboat/packetboat/internal/mail/textpart"
)

// Finish is what is decided for each rendered mail, because its Liquid decides what the recipient gets:
// whether there is a link to unsubscribe, and what the text says. What is the same for all recipients
// was decided when the content was frozen.
type Finish struct {
	Text       TextForm `json:"text,omitempty"`
	HTMLFooter bool     `json:"html_footer,omitempty"` // HTML without a link gets the footer
	TextFooter bool     `json:"text_footer,omitempty"` // and so does a text that its author wrote
}

// TextForm says how the text part of a mail is made.
type TextForm string

// The forms.
const (
	OwnText   TextForm = ""         // it is rendered from Content.Text
	KnownText TextForm = "prepared" // the same, if values are plain words, which leave the lines as they are; else it is read
	ReadText  TextForm = "read"     // it is read from the rendered HTML
)

// absentLink stands for the address of a page while static HTML is looked at.
const absentLink = "https://unsubscribe.invalid/"

// stored is the JSON of a frozen content's context.
type stored struct {
	Context
	Finish Finish `json:"finish,omitzero"`
}

// finish decides what is the same for every recipient, and stores what is not in Finish.
func (c *Content) finish() {
	footHTML, footText := c.footers()
	static := isStatic(c.HTML) && !markupFilter.MatchString(c.Preheader)
	if static {
		r := textpart.Read(withoutData(c.HTML), nil)
		if static = r.Shown; static && !slices.ContainsFunc(r.Links, leavesBy(absentLink)) {
			c.HTML = links.InsertBeforeBodyEnd(c.HTML, footHTML)
		}
	}
	c.Finish.HTMLFooter = !static
	switch {
	case strings.TrimSpace(c.Text) != "":
		if c.Finish.TextFooter = mentionsPages(c.Text); !c.Finish.TextFooter {
			c.Text = strings.TrimRight(c.Text, "\n") + footText
		}
	case static:
		c.Text, c.Finish.Text = textpart.FromHTML(c.HTML), KnownText
	default:
		c.Text, c.Finish.Text = "", ReadText
	}
}

// footers returns the Liquid of the footer for both parts.
func (c Content) footers() (html, text string) {
	if c.Context.Confirmation {
		return addressHTML, addressText
	}
	return footerHTML, footerText
}

// leavesBy returns a function that reports whether a link leads to the page.
func leavesBy(page string) func(link string) bool {
	return func(link string) bool { return strings.Contains(link, page) }
}

// pages matches the names of the pages where recipients unsubscribe.
var pages = regexp.MustCompile(`\b(?:unsubscribe_url|preferences_url)\b`)

// mentionsPages reports whether Liquid in a text may print the address of one of the pages.
func mentionsPages(text string) bool {
	return slices.ContainsFunc(markup.Spans(text), func(p markup.Span) bool { return pages.MatchString(text[p.Start:p.End]) })
}

var (
	// pageOutput matches an output that prints the address of a page and nothing else.
	pageOutput = regexp.MustCompile(`^\{\{-?\s*(?:unsubscribe_url|preferences_url)\s*-?\}\}$`)
	// markupFilter matches a filter whose result is HTML and is not escaped.
	markupFilter = regexp.MustCompile(`\|\s*(?:raw|escape|escape_once|newline_to_br)\b`)
	// literalStart matches values whose scheme is written out, or that are an address of ours.
	literalStart = regexp.MustCompile(`^(?:[a-zA-Z][a-zA-Z0-9+.-]*:[^{]|\{\{\s*(?:unsubscribe_url|preferences_url|view_in_browser_url|subscribe_confirm_url)\s*\}\})`)
)

// isStatic reports whether Liquid in HTML prints only words, in texts and in attributes that have no
// influence on what is visible: then structure and links of all mails are the same.
func isStatic(html string) bool {
	in := markup.New(html, markup.Syntax{})
	inValues, outputs := 0, 0 // outputs inside tags
	for _, p := range in.Spans {
		piece := html[p.Start:p.End]
		switch {
		case !p.Output && markup.TagName(piece) == "comment":
			continue
		case !p.Output, markupFilter.MatchString(piece), mentionsPages(piece) && !pageOutput.MatchString(piece):
			return false
		case p.Start > 0 && (html[p.Start-1] == '<' || html[p.Start-1] == '/' && p.Start > 1 && html[p.Start-2] == '<'):
			return false // it may print the name of a tag
		}
	}
	if len(in.Spans) == 0 {
		return true
	}
	for t := range in.All() {
		switch t.Kind {
		case markup.Text:
			if t.Name == "textarea" && len(in.Within(t.Start, t.End)) > 0 {
				return false
			}
			continue
		case markup.Comment, markup.CData, markup.Declaration:
			continue
		}
		if t.Name == "pre" || t.Kind == markup.Unclosed {
			return false
		}
		outputs += len(in.Within(t.Start, t.End))
		for a := range in.Attributes(t) {
			n := len(in.Within(a.Start, a.End))
			if inValues += n; n > 0 && (a.Quote == 0 || decides(a.Name, html[a.Start:a.End])) {
				return false
			}
		}
	}
	return inValues == outputs
}

// decides reports whether Liquid in the value of an attribute decides what is visible of the element.
func decides(name, value string) bool {
	switch name {
	case "hidden", "aria-hidden", "style", "role", "start", "value", "type":
		return true
	case "href", "src", "background":
		return !literalStart.MatchString(strings.TrimSpace(value))
	}
	return false
}

// withoutData returns static HTML as it is rendered for a contact without data.
func withoutData(html string) string {
	var b strings.Builder
	last := 0
	for _, p := range markup.Spans(html) {
		b.WriteString(html[last:p.Start])
		if pageOutput.MatchString(html[p.Start:p.End]) {
			b.WriteString(absentLink)
		}
		last = p.End
	}
	b.WriteString(html[last:])
	return b.String()
}

// LacksLink reports whether recipients get HTML without a link to unsubscribe, to which the footer is added:
// all, or some of them, as a trial for one without data and for one with shows.
func LacksLink(html string) (all, some bool) {
	template, err := liquid.Parse(html, liquid.Options{Mode: liquid.HTML})
	if err != nil {
		return false, false // Check reports it
	}
	all = true
	for _, data := range []any{nil, anything{}} {
		out, err := template.Append(context.Background(), nil, anyContact{data}, nil)
		lacks := err == nil && !slices.ContainsFunc(textpart.Read(string(out), nil).Links, leavesBy(absentLink))
		all, some = all && lacks, some || lacks
	}
	return all, some
}

// anyContact is the data of a recipient whose fields all have the same value, or none.
type anyContact struct{ value any }

// Lookup returns the address of a page, or the value.
func (a anyContact) Lookup(name string) (any, bool) {
	if pages.MatchString(name) {
		return absentLink, true
	}
	return a.value, a.value != nil
}

// anything is a text, and has every field.
type anything struct{}

// String returns the text.
func (anything) String() string { return "x" }

// Field returns another.
func (anything) Field(string) any { return anything{} }

// Now is any time.
func (anyContact) Now() time.Time { return time.Now() }

// Alone returns a source as it is, without footer, pixel and preheader; what it lacks of a text is read
// from its HTML.
func Alone(s Source) (*Compiled, error) {
	c := Content{Source: s}
	if strings.TrimSpace(s.Text) == "" {
		c.Finish.Text = ReadText
	}
	return Compile(c)
}

// The footer of a mail without an unsubscribe link, and that of a confirmation, which needs none.
const (
	addressHTML = `{% if account.postal_address != blank %}<div style="margin:24px auto 0;padding:16px;max-width:600px;font:12px/1.5 Arial,Helvetica,sans-serif;color:#6b7280;text-align:center">` +
		`{{ account.name }}, {{ account.postal_address }}</div>{% endif %}`
	addressText = "{% if account.postal_address != blank %}\n\n--\n{{ account.name }}, {{ account.postal_address }}\n{% endif %}"

	footerHTML = `<div style="margin:24px auto 0;padding:16px;max-width:600px;font:12px/1.5 Arial,Helvetica,sans-serif;color:#6b7280;text-align:center">` +
		`{% if account.postal_address != blank %}{{ account.name }}, {{ account.postal_address }}<br>{% endif %}` +
		`<a href="{{ preferences_url }}" style="color:#6b7280">Email preferences</a> &middot; ` +
		`<a href="{{ unsubscribe_url }}" style="color:#6b7280">Unsubscribe</a></div>`
	footerText = "\n\n--\n{% if account.postal_address != blank %}{{ account.name }}, {{ account.postal_address }}\n{% endif %}" +
		"Email preferences: {{ preferences_url }}\nUnsubscribe: {{ unsubscribe_url }}\n"
)
