package render

import (
	"context"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/mail/links"
	"github.com/packetboat/packetboat/internal/mail/liquid"
	"github.com/packetboat/packetboat/internal/mail/markup"
)

// maxAddresses is the maximum number of addresses with Liquid that EmptyLinks renders.
const maxAddresses = 200

// EmptyLinks returns the addresses of links in HTML, as they are written there, of which nothing is left with the data
// of a mail. Those that depend on what stands before them are not looked at, nor those in conditions, which the mail may leave out.
func (w *Writer) EmptyLinks(ctx context.Context, m Mail, html string) ([]string, error) {
	if err := w.begin(m); err != nil {
		return nil, err
	}
	isAlone, optional := content.PrintedAlone(html), links.Conditions(html)
	var empty, looked []string
	in := markup.New(html, markup.Syntax{})
	for t := range in.All() {
		if t.Kind != markup.StartTag || t.Name != "a" && t.Name != "area" || optional(t.Start) {
			continue
		}
		for a := range in.Attributes(t) {
			url := strings.TrimSpace(html[a.Start:a.End])
			if a.Name != "href" || len(in.Within(a.Start, a.End)) == 0 || slices.Contains(looked, url) || len(looked) == maxAddresses || !isAlone(url) {
				continue
			}
			looked = append(looked, url)
			parsed, err := liquid.Parse(url, liquid.Options{})
			if err != nil {
				continue // Check reports it
			}
			w.budget.Reset(liquid.Limits{})
			w.env.ctx, w.env.budget = ctx, &w.budget
			text, err := parsed.Append(ctx, nil, &w.env, &w.budget)
			w.env.err = nil
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if err == nil && leadsNowhere(string(text)) {
				empty = append(empty, url)
			}
		}
	}
	return empty, nil
}

// leadsNowhere reports whether an address is empty, or only the beginning of one.
func leadsNowhere(address string) bool {
	switch strings.ToLower(strings.TrimSpace(address)) {
	case "", "#", "http:", "https:", "http://", "https://", "mailto:", "tel:", "sms:":
		return true
	}
	return false
}
