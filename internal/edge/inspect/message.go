package inspect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/engine/classify"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/mail/compose"
	"github.com/packetboat/packetboat/internal/mail/links"
	"github.com/packetboat/packetboat/internal/mail/textpart"
	"github.com/packetboat/packetboat/internal/message/track"
)

// Message is the input of Build.
type Message struct {
	Date               time.Time `json:"date"`
	From               Mailbox   `json:"from"`
	ReplyTo            string    `json:"reply_to"`
	To                 string    `json:"to"`
	Subject            string    `json:"subject"`
	MessageID          string    `json:"message_id"`
	UnsubscribeURL     string    `json:"unsubscribe_url"`
	UnsubscribeAddress string    `json:"unsubscribe_address"`
	ListID             struct {
		Name string `json:"name"`
		ID   string `json:"id"`
	} `json:"list_id"`
	FeedbackID    string `json:"feedback_id"`
	EntityRef     string `json:"entity_ref"`
	Precedence    string `json:"precedence"`
	AutoSubmitted string `json:"auto_submitted"`
	NoAutoReplies bool   `json:"no_auto_replies"`
	Preheader     string `json:"preheader"`
	HTML          string `json:"html"`
	Text          string `json:"text"` // empty: made from the HTML
}

// Mailbox is an address with the name shown beside it.
type Mailbox struct {
	Name    string `json:"name"`
	Address string `json:"address"`
}

// Build returns the finished bytes of the message that a JSON object describes.
func Build(spec []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(spec))
	d.DisallowUnknownFields()
	var m Message
	if err := d.Decode(&m); err != nil {
		return nil, fmt.Errorf("message: %w", err)
	}
	html, text := links.DeclareUTF8(m.HTML), m.Text
	if text == "" {
		text = textpart.FromHTML(html)
	}
	if m.Preheader != "" {
		html = links.InsertAfterBodyStart(html, links.Preheader(m.Preheader))
	}
	var b compose.Builder
	return b.Build(nil, &compose.Message{
		Date: m.Date, From: compose.Mailbox(m.From), ReplyTo: m.ReplyTo, To: m.To, Subject: m.Subject, MessageID: m.MessageID,
		UnsubscribeURL: m.UnsubscribeURL, UnsubscribeAddress: m.UnsubscribeAddress, ListID: compose.ListID(m.ListID),
		FeedbackID: m.FeedbackID, EntityRef: m.EntityRef, Precedence: m.Precedence, AutoSubmitted: m.AutoSubmitted,
		NoAutoReplies: m.NoAutoReplies, Text: []byte(text), HTML: []byte(html),
	})
}

// Header returns the finished line or lines of one header field. From, Reply-To and To take an address,
// with a name before it if it is in angle brackets; all others take text.
func Header(name, value string) ([]byte, error) {
	switch strings.ToLower(name) {
	case "from", "reply-to", "to", "sender":
		m := compose.Mailbox{Address: strings.TrimSpace(value)}
		if before, addr, ok := strings.Cut(value, "<"); ok {
			m = compose.Mailbox{Name: strings.Trim(strings.TrimSpace(before), `"`), Address: strings.TrimSuffix(strings.TrimSpace(addr), ">")}
		}
		return compose.AddressField(name, m)
	}
	return compose.TextField(name, value)
}

// Link is a link of a mail's HTML.
type Link struct {
	Index   int    `json:"index"`
	URL     string `json:"url"`
	Label   string `json:"label"`
	Dynamic bool   `json:"dynamic"` // the URL contains Liquid
}

// Links rewrites the links of HTML to base and the number of the link, and returns the links. Nothing
// else of the HTML changes. The error lists links that must not be sent.
func Links(html, base string) (string, []Link, error) {
	out, found, err := links.Rewrite(html, links.Options{Href: func(l links.Link) string {
		return fmt.Sprintf("%s/_q/c/%d", strings.TrimSuffix(base, "/"), l.Index)
	}})
	list := []Link{}
	for _, l := range found {
		list = append(list, Link{l.Index, l.URL, l.Label, l.Dynamic})
	}
	return out, list, err
}

// Text returns the plain text that is sent beside HTML without a text of its own.
func Text(html string) string { return textpart.FromHTML(html) }

// Address is how an address is understood.
type Address struct {
	Address string `json:"address"` // the spelling that is stored; empty if it is not an address
	Local   string `json:"local"`
	Domain  string `json:"domain"`
	Error   string `json:"error"`
}

// ReadAddress reads an address.
func ReadAddress(text string) Address {
	a, err := address.Parse(text)
	if err != nil {
		return Address{Error: err.Error()}
	}
	return Address{Address: a.String(), Local: a.Local, Domain: a.Domain}
}

// Agent is what a user agent says.
type Agent struct {
	Machine bool   `json:"machine"` // a program without a reader, so that its hits are bot
	Proxy   bool   `json:"proxy"`   // fetches images for readers
	Client  string `json:"client"`
	Vendor  string `json:"vendor"` // of the proxy
}

// ReadAgent reads a user agent, as much of it as is stored with an open or a click.
func ReadAgent(agent string) Agent {
	hit := track.Hit{Agent: agent}
	hit.Prepare()
	agent = hit.Agent
	var agents classify.Agents
	a := Agent{Machine: agents.Machine(agent), Client: track.ClientOf(agent).Program()}
	a.Vendor, a.Proxy = track.ProxyVendor(agent)
	return a
}

// ReadEvents classifies the opens and clicks of scenarios in JSON Lines. lists may be nil.
func ReadEvents(r io.Reader, lists *classify.Lists) ([]classify.Replay, error) {
	scenarios, err := classify.ReadScenarios(r)
	if err != nil {
		return nil, err
	}
	results := make([]classify.Replay, len(scenarios))
	for i, s := range scenarios {
		results[i] = s.Classify(lists)
	}
	return results, nil
}
