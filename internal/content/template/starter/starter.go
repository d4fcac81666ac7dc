// Package starter contains the templates and blocks that an account can start with: eleven mails
// in MJML of one design, and four blocks for their slots.
//
// Each has its own directory with the MJML and the text, their schema, and a sample binding. The
// parts that all have in common (the head with styles for light and dark, the line above the
// content, the name or logo, the footer) are in look/. They are included when a starter is loaded,
// so that a template made from one is complete and can be changed independently. What they say in
// other languages is in languages/.
package starter

import (
	"embed"
	"encoding/json"
	"path"
	"regexp"
)

//go:embed */body.* */schema.json */sample.json blocks languages look
var files embed.FS

// Starter is a template that an account can start with. Its format is MJML.
type Starter struct {
	Slug    string
	Name    string
	Subject string
	Tags    []string
	MJML    string
	Text    string
	Schema  json.RawMessage // an object with the members parameters_schema, sections_schema, … of the API
	Sample  json.RawMessage // a binding with a value for each placeholder
}

// Block is a block that an account can start with, in MJML. Its tags match the filters of slots.
type Block struct {
	Slug   string
	Name   string
	Tags   []string
	Slots  []string // the keys of the slots it is meant for
	MJML   string
	Text   string
	Schema json.RawMessage // an object: parameters_schema and sections_schema
}

// All returns the templates. Some samples fill slots with the blocks of Blocks, which must be
// created first.
func All() []Starter {
	all := []Starter{
		{Slug: "newsletter", Name: "Newsletter", Subject: "{{param:headline}}", Tags: []string{"starter", "news"}},
		{Slug: "announcement", Name: "Announcement", Subject: "{{param:headline}}", Tags: []string{"starter", "news"}},
		{Slug: "offer", Name: "Offer", Subject: "{{param:saving}}: {{param:headline}}", Tags: []string{"starter", "shop"}},
		{Slug: "product", Name: "New product", Subject: "{{param:headline}}", Tags: []string{"starter", "shop"}},
		{Slug: "event-invitation", Name: "Event invitation", Subject: "Invitation: {{param:event_name}}", Tags: []string{"starter", "event"}},
		{Slug: "digest", Name: "Digest with products", Subject: "{{param:headline}}", Tags: []string{"starter", "news", "shop"}},
		{Slug: "welcome", Name: "Welcome", Subject: "{{param:headline}}", Tags: []string{"starter", "lifecycle"}},
		{Slug: "feedback", Name: "Questions to customers", Subject: "{{param:headline}}", Tags: []string{"starter", "lifecycle"}},
		{Slug: "re-engagement", Name: "Re-engagement", Subject: "{{param:headline}}", Tags: []string{"starter", "lifecycle"}},
		{Slug: "plain-letter", Name: "Plain letter", Subject: "{{param:headline}}", Tags: []string{"starter", "letter"}},
		{Slug: "receipt", Name: "Receipt", Subject: "{{param:headline}} ({{param:number}})", Tags: []string{"starter", "shop"}},
	}
	for i := range all {
		s := &all[i]
		s.MJML, s.Text = include(s.Slug, "body.mjml"), include(s.Slug, "body.txt")
		s.Schema, s.Sample = json.RawMessage(readFile(s.Slug, "schema.json")), json.RawMessage(readFile(s.Slug, "sample.json"))
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
		b.MJML, b.Text, b.Schema = readFile(dir, "body.mjml"), readFile(dir, "body.txt"), json.RawMessage(readFile(dir, "schema.json"))
	}
	return all
}

// readFile returns an embedded file.
func readFile(dir, name string) string {
	b, err := files.ReadFile(path.Join(dir, name))
	if err != nil {
		panic(err) // the file is not embedded
	}
	return string(b)
}

// includeLine is a line that is replaced by a file of look/.
var includeLine = regexp.MustCompile(`(?m)^<!-- look: (\w+) -->\n`)

// include returns a file with the files of look/ that it includes.
func include(dir, name string) string {
	return includeLine.ReplaceAllStringFunc(readFile(dir, name), func(line string) string {
		return readFile("look", includeLine.FindStringSubmatch(line)[1]+path.Ext(name))
	})
}
