// Package starter holds the templates and blocks to begin with: eight mails in
// MJML that share one look, and four blocks for their slots.
//
// Each lies in a folder of its own: the MJML and the text, what they declare, and
// a binding that fills them. What all have in common (the head with its styles
// for light and dark, the line above, the name or logo, the footer) stands once
// in look/ and is put in when a starter is read, so that what an account gets is
// whole and its own to change.
package starter

import (
	"embed"
	"encoding/json"
	"path"
	"regexp"
)

//go:embed */body.* */schema.json */sample.json blocks look
var files embed.FS

// Starter is a template to begin with. Its format is MJML.
type Starter struct {
	Slug    string
	Name    string
	Subject string
	Tags    []string
	MJML    string
	Text    string
	Schema  json.RawMessage // an object: parameters_schema and its siblings, as the API takes them
	Sample  json.RawMessage // a binding that fills it
}

// Block is a block to begin with, in MJML. Its tags are those that slots ask for.
type Block struct {
	Slug   string
	Name   string
	Tags   []string
	Slots  []string // the slots it is made for
	MJML   string
	Text   string
	Schema json.RawMessage // an object: parameters_schema and sections_schema
}

// All returns the templates. Some samples fill slots with the blocks of Blocks,
// which therefore are to be made first.
func All() []Starter {
	all := []Starter{
		{Slug: "newsletter", Name: "Newsletter", Subject: "{{param:headline}}", Tags: []string{"starter", "news"}},
		{Slug: "announcement", Name: "Announcement", Subject: "{{param:headline}}", Tags: []string{"starter", "news"}},
		{Slug: "digest", Name: "Digest with products", Subject: "{{param:headline}}", Tags: []string{"starter", "news", "shop"}},
		{Slug: "welcome", Name: "Welcome", Subject: "{{param:headline}}", Tags: []string{"starter", "lifecycle"}},
		{Slug: "receipt", Name: "Receipt", Subject: "{{param:headline}} ({{param:number}})", Tags: []string{"starter", "shop"}},
		{Slug: "event-invitation", Name: "Event invitation", Subject: "Invitation: {{param:event_name}}", Tags: []string{"starter", "event"}},
		{Slug: "re-engagement", Name: "Re-engagement", Subject: "{{param:headline}}", Tags: []string{"starter", "lifecycle"}},
		{Slug: "plain-letter", Name: "Plain letter", Subject: "{{param:headline}}", Tags: []string{"starter", "letter"}},
	}
	for i := range all {
		s := &all[i]
		s.MJML, s.Text = composed(s.Slug, "body.mjml"), composed(s.Slug, "body.txt")
		s.Schema, s.Sample = json.RawMessage(read(s.Slug, "schema.json")), json.RawMessage(read(s.Slug, "sample.json"))
	}
	return all
}

// Blocks returns the blocks.
func Blocks() []Block {
	all := []Block{
		{Slug: "hero-colour", Name: "Opening on colour", Tags: []string{"hero", "starter"}, Slots: []string{"hero"}},
		{Slug: "hero-picture", Name: "Opening with a picture", Tags: []string{"hero", "starter"}, Slots: []string{"hero"}},
		{Slug: "promo-note", Name: "Promotion: a note", Tags: []string{"promo", "starter"}, Slots: []string{"promo"}},
		{Slug: "promo-quote", Name: "Promotion: a quotation", Tags: []string{"promo", "starter"}, Slots: []string{"promo"}},
	}
	for i := range all {
		b := &all[i]
		dir := path.Join("blocks", b.Slug)
		b.MJML, b.Text, b.Schema = read(dir, "body.mjml"), read(dir, "body.txt"), json.RawMessage(read(dir, "schema.json"))
	}
	return all
}

// read returns a file that was built in.
func read(dir, name string) string {
	b, err := files.ReadFile(path.Join(dir, name))
	if err != nil {
		panic(err) // the program was built without it
	}
	return string(b)
}

// shared is a line that stands for a file of look/.
var shared = regexp.MustCompile(`(?m)^<!-- look: (\w+) -->\n`)

// composed returns a text with what all have in common in its places.
func composed(dir, name string) string {
	return shared.ReplaceAllStringFunc(read(dir, name), func(line string) string {
		return read("look", shared.FindStringSubmatch(line)[1]+path.Ext(name))
	})
}
