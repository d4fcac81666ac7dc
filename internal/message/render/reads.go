package render

import (
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/mail/liquid"
	"github.com/packetboat/packetboat/internal/people/contact"
)

// Reads returns the fields of a contact that mails with this content print; only these are loaded
// for recipients.
func Reads(c *content.Compiled) contact.FieldSet {
	var r contact.FieldSet
	for _, t := range templates(c) {
		if t == nil {
			continue
		}
		if t.ReadsAnything() {
			r.AddAll()
		}
		for _, path := range t.Variables() {
			addPath(&r, path)
		}
	}
	return r
}

// ReadsEvent reports whether mails with this content may print the event that enrolled the contact;
// only then it is loaded.
func ReadsEvent(c *content.Compiled) bool {
	if c.Context.Sequence.IsZero() {
		return false
	}
	for _, t := range templates(c) {
		if t == nil {
			continue
		}
		if t.ReadsAnything() || slices.ContainsFunc(t.Variables(), func(path string) bool {
			root, _, _ := strings.Cut(path, ".")
			return root == "event"
		}) {
			return true
		}
	}
	return false
}

func templates(c *content.Compiled) []*liquid.Template {
	return append([]*liquid.Template{
		c.SubjectTemplate, c.PreheaderTemplate, c.FromNameTemplate, c.HTMLTemplate, c.TextTemplate,
	}, c.Targets...)
}

// addPath adds the field that a path of a template refers to; see env.Lookup.
func addPath(r *contact.FieldSet, path string) {
	root, rest, _ := strings.Cut(path, ".")
	switch root {
	case "unsubscribe_url", "preferences_url", "view_in_browser_url", content.PixelVariable, content.HoneypotVariable, "account", "broadcast", "sequence", "event", "email", "param", "now":
		return
	case "brand":
		if part, _, _ := strings.Cut(rest, "."); part == "footer" || part == "" {
			r.AddAll() // its text is not known here
		}
		return
	case "contact":
		if root, _, _ = strings.Cut(rest, "."); root == "" {
			r.AddAll()
			return
		}
	}
	if _, ours := content.LinkVariable(root); !ours {
		r.Add(root)
	}
}
