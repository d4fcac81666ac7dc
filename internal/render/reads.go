package render

import (
	"strings"

	"github.com/packetboat/packetboat/internal/contact"
	"github.com/packetboat/packetboat/internal/content"
	"github.com/packetboat/packetboat/internal/mail/liquid"
)

// Reads returns the fields of a contact that mails with this content print; only these are loaded
// for recipients.
func Reads(c *content.Compiled) contact.FieldSet {
	var r contact.FieldSet
	templates := append([]*liquid.Template{
		c.SubjectTemplate, c.PreheaderTemplate, c.FromNameTemplate, c.HTMLTemplate, c.TextTemplate,
	}, c.Targets...)
	for _, t := range templates {
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

// addPath adds the field that a path of a template refers to; see env.Lookup.
func addPath(r *contact.FieldSet, path string) {
	root, rest, _ := strings.Cut(path, ".")
	switch root {
	case "unsubscribe_url", "preferences_url", "view_in_browser_url", content.PixelVariable, content.HoneypotVariable, "account", "broadcast", "sequence", "email", "param", "now":
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
