package content

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/mail/links"
	"github.com/packetboat/packetboat/internal/mail/liquid"
	"github.com/packetboat/packetboat/internal/mail/mjml"
)

// The codes of a Trouble.
const (
	CodeMayFail = "LIQUID_MAY_FAIL" // affected recipients get no mail
	CodeMJML    = "mjml"            // the MJML compiler drops or ignores something

	CodeUnknownName = "UNKNOWN_NAME"        // Liquid names something that nothing is called
	CodePlaceholder = "FOREIGN_PLACEHOLDER" // a placeholder of another program
	CodeLink        = "LINK_LEADS_NOWHERE"  // an address that does not work in a mail
	CodeDate        = "DATE_UNREADABLE"     // a filter for dates gets something else

	CodePicture  = "PICTURE_WITHOUT_TEXT" // who does not see a picture is told nothing
	CodeContrast = "LOW_CONTRAST"         // the colours of a text are too much alike
	CodeClipped  = "MAIL_CLIPPED"         // Gmail cuts off the end
)

// Trouble is something in valid content that its author should look at. It prevents nothing.
type Trouble struct {
	Code    string `json:"code"`
	Field   string `json:"field"`
	Line    int    `json:"line,omitempty"` // 0: unknown
	Message string `json:"message"`
	At      int    `json:"-"` // 1 + the offset in the source of the element; 0: unknown
}

// Text is a part of content as its author wrote it, with the name of its field.
type Text struct {
	Field, Source string
	Form          Form
	Required      bool           // a recipient for whom it is empty gets no mail
	HTML          string         // compiled from MJML; empty: unknown
	Findings      []mjml.Warning // what the compiler said of the MJML
	Filled        bool           // it is filled with samples: what is written out is not the author's
	Part          bool           // of a mail, of which the rest is not known
}

// Form is what a text is written in.
type Form int

// The forms.
const (
	Plain Form = iota // a header, or the text part
	HTML
	MJML
)

// maxTroubles is the maximum number of troubles of one text.
const maxTroubles = 200

// Review returns what the author of texts should look at: what the MJML compiler passes over, what fails to
// render for a contact with all fields, or for one with none, names and placeholders that print nothing,
// addresses that lead nowhere, pictures without a text, and colours that are too much alike. Every way in and every way out of content shows these. The Liquid of a text
// that does not parse is skipped, since Check reports it.
func Review(ctx context.Context, texts []Text, known Known, now time.Time) ([]Trouble, error) {
	tr := trial{fields: known.Fields, paths: pathsOf(known.Paths), now: now}
	if len(known.Params) > 0 {
		d := json.NewDecoder(bytes.NewReader(known.Params))
		d.UseNumber()
		if err := d.Decode(&tr.params); err != nil {
			return nil, err
		}
	}
	var all []Trouble
	for _, text := range texts {
		found, err := text.review(ctx, tr)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// review returns the troubles of one text, each once.
func (t Text) review(ctx context.Context, tr trial) ([]Trouble, error) {
	var found []Trouble
	add := func(list ...Trouble) {
		for _, trouble := range list {
			trouble.Field = t.Field
			if len(found) < maxTroubles && !slices.Contains(found, trouble) {
				found = append(found, trouble)
			}
		}
	}
	if t.Form == MJML {
		add(mjmlTroubles(t.Source, t.Findings)...)
	}
	reviewed, err := t.liquidTroubles(ctx, tr)
	add(reviewed...)
	if !t.Filled {
		add(t.Literals()...) // last: there may be many
	}
	return found, err
}

// liquidTroubles returns the troubles of the Liquid of a text.
func (t Text) liquidTroubles(ctx context.Context, tr trial) ([]Trouble, error) {
	template, err := liquid.Parse(t.Source, liquid.Options{})
	if err != nil {
		return nil, nil // Check reports it
	}
	found := tr.unknownNames(t.Source, template)
	failures, err := tr.failures(ctx, template)
	found = append(found, failures...)
	if err != nil || !t.Required || slices.ContainsFunc(failures, func(f Trouble) bool { return f.Code == CodeMayFail }) {
		return found, err
	}
	empty, err := tr.empty(ctx, t)
	return append(found, empty...), err
}

// Literals returns the troubles of what is written out in the text: placeholders of other programs, addresses
// that lead nowhere, and what readers cannot see or read.
func (t Text) Literals() []Trouble {
	list := t.placeholders()
	if t.Form != Plain {
		for _, d := range links.Doubts(t.Source) {
			list = append(list, t.at(d.At, CodeLink, fmt.Sprintf("the address %q %s", d.URL, d.Reason)))
		}
		list = append(list, t.encountered()...)
	}
	for i := range list {
		list[i].Field = t.Field
	}
	return list
}

// mjmlTroubles returns the findings of the compiler, and those of the check that precedes it: content
// that was compiled long ago has only these.
func mjmlTroubles(source string, findings []mjml.Warning) []Trouble {
	checked, _ := mjml.Check(source) // errors are not the review's
	var list []Trouble
	for _, w := range append(checked, findings...) {
		list = append(list, Trouble{Code: CodeMJML, Line: w.Line, Message: w.Message})
	}
	slices.SortStableFunc(list, func(a, b Trouble) int { return a.Line - b.Line })
	return list
}
