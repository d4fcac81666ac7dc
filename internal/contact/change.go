package contact

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/packetboat/packetboat/internal/fault"
	"github.com/packetboat/packetboat/internal/field"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/mail/address"
)

// Text names a plain text column that callers write.
type Text string

// The text columns.
const (
	FirstName    Text = "first_name"
	LastName     Text = "last_name"
	FullName     Text = "full_name"
	Title        Text = "title"
	Company      Text = "company"
	Phone        Text = "phone"
	Website      Text = "website"
	AddressLine1 Text = "address_line1"
	AddressLine2 Text = "address_line2"
	City         Text = "city"
	State        Text = "state"
	PostalCode   Text = "postal_code"
	Country      Text = "country"
	Timezone     Text = "timezone"
	ExternalID   Text = "external_id"
	Source       Text = "source"
)

// longest is how many characters each text column takes.
var longest = map[Text]int{
	FirstName: 200, LastName: 200, FullName: 401, Title: 200, Company: 200, Phone: 200, Website: 2048,
	AddressLine1: 500, AddressLine2: 500, City: 200, State: 200, PostalCode: 200, Country: 2, Timezone: 64,
	ExternalID: 255, Source: 200,
}

// allTexts are the text columns in order.
var allTexts = slices.Sorted(maps.Keys(longest))

// text returns where the contact keeps a text.
func (c *Contact) text(t Text) **string {
	switch t {
	case FirstName:
		return &c.FirstName
	case LastName:
		return &c.LastName
	case FullName:
		return &c.FullName
	case Title:
		return &c.Title
	case Company:
		return &c.Company
	case Phone:
		return &c.Phone
	case Website:
		return &c.Website
	case AddressLine1:
		return &c.AddressLine1
	case AddressLine2:
		return &c.AddressLine2
	case City:
		return &c.City
	case State:
		return &c.State
	case PostalCode:
		return &c.PostalCode
	case Country:
		return &c.Country
	case Timezone:
		return &c.Timezone
	case ExternalID:
		return &c.ExternalID
	case Source:
		return &c.Source
	}
	panic("contact: unknown text " + string(t))
}

// Change is what a request says about a contact. What is absent is left alone.
type Change struct {
	Email                 *string          // of an update by id: the new address
	Texts                 map[Text]*string // nil clears
	Stage                 *string          // the id of a stage; empty clears
	StageIfNew            *string          // for a contact that is created
	SourceIfNew           string           // likewise, when Texts give none
	CustomFields          map[string]any   // nil removes a key
	Subscriptions         map[string]*bool // by key or id of an email type; nil removes
	KeepRefusals          bool             // a subscription that was refused stays so
	CategorySubscriptions map[string]*bool // by id of a category; nil removes
	Tags                  *[]string        // joined to what is there, or
	ReplaceTags           bool             // instead of it
	RemoveTags            []string
	DoNotContact          *bool
}

// Bounds of tags.
const (
	maxTags = 200
	maxTag  = 64
)

// checked is a change whose values are as they are stored.
type checked struct {
	email        string // empty: stays
	texts        map[Text]*string
	stage        *id.Stage
	stageIfNew   *id.Stage
	sourceIfNew  string
	fields       map[string]any
	types        map[string]*bool // by key
	categories   map[id.Category]*bool
	keepRefusals bool
	tags         *[]string
	replaceTags  bool
	removeTags   []string
	blocked      *bool
	references   map[string]id.Contact // custom field key → the contact it names
}

// Check returns what is wrong with a draft, but for what depends on the tenant's
// stages, email types and custom fields.
func (d Draft) Check() error {
	var p fault.Problems
	d.checkValues(&p)
	return p.Err()
}

// checkValues returns the values of a draft as they are stored, and adds what is
// wrong with them.
func (d Draft) checkValues(p *fault.Problems) checked {
	ch := d.Change
	out := checked{
		texts: make(map[Text]*string, len(ch.Texts)), blocked: ch.DoNotContact, keepRefusals: ch.KeepRefusals, replaceTags: ch.ReplaceTags,
		sourceIfNew: ch.SourceIfNew,
	}
	if email := d.address(); email != nil {
		addr, err := address.Normalize(*email)
		if err != nil {
			p.Add("email", err.Error())
		}
		out.email = addr
	}
	for _, t := range allTexts {
		if text, said := ch.Texts[t]; said {
			out.texts[t] = checkText(p, t, text)
		}
	}
	out.stage = checkStage(p, "stage_id", ch.Stage)
	out.stageIfNew = checkStage(p, "stage_id_if_new", ch.StageIfNew)
	if ch.Tags != nil {
		out.tags = new(checkTags(p, *ch.Tags))
	}
	out.removeTags = checkTags(p, ch.RemoveTags)
	return out
}

// check judges a draft without looking at any contact. General problems are
// reported together; codes of their own come after them.
func (d Draft) check(catalog field.Catalog, types Types) (checked, error) {
	var p fault.Problems
	ch, out := d.Change, d.checkValues(&p)
	if ch.ReplaceTags && out.tags != nil && len(*out.tags) > maxTags {
		return checked{}, ErrLimit.Sayf("a contact may have at most %d tags", maxTags)
	}
	for _, name := range slices.Sorted(maps.Keys(ch.CategorySubscriptions)) {
		c, ok := id.Parse[id.Category](name)
		if !ok || !slices.Contains(types.Categories, c) {
			p.Add("category_subscriptions."+name, "there is no such category")
			continue
		}
		out.refuse(c, ch.CategorySubscriptions[name])
	}
	if err := p.Err(); err != nil {
		return checked{}, err
	}
	if err := out.subscribe(ch.Subscriptions, types); err != nil {
		return checked{}, err
	}
	if len(ch.CustomFields) == 0 {
		return out, nil
	}
	var err error
	if out.fields, err = catalog.Check(ch.CustomFields); err != nil {
		return checked{}, err
	}
	for key, v := range out.fields {
		if catalog[key].Type == field.Contact && v != nil {
			if out.references == nil {
				out.references = map[string]id.Contact{}
			}
			out.references[key] = id.Read[id.Contact](v.(string))
		}
	}
	return out, nil
}

// address returns the address that the draft speaks of: whose contact it is or,
// of an update by id, what it becomes.
func (d Draft) address() *string {
	if !d.ID.IsZero() {
		return d.Change.Email
	}
	return &d.Email
}

func checkText(p *fault.Problems, t Text, v *string) *string {
	if v == nil {
		return nil
	}
	s := strings.TrimSpace(norm.NFC.String(*v))
	switch {
	case s == "": // an empty text counts as unset
		return nil
	case strings.ContainsRune(s, 0):
		p.Add(string(t), "must not hold a NUL character")
	case t == Country:
		code, ok := field.CountryCode(s)
		if !ok {
			p.Add(string(t), "must be a country code of two letters (ISO 3166-1)")
		}
		s = code
	case t == Timezone:
		if !field.ValidTimeZone(s) {
			p.Add(string(t), "must be the IANA name of a time zone")
		}
	case utf8.RuneCountInString(s) > longest[t]:
		p.Add(string(t), fmt.Sprintf("at most %d characters", longest[t]))
	}
	return &s
}

func checkStage(p *fault.Problems, path string, s *string) *id.Stage {
	if s == nil {
		return nil
	}
	stage, ok := id.Parse[id.Stage](*s)
	if !ok && *s != "" {
		p.Add(path, "must be a UUID")
	}
	return &stage
}

func checkTags(p *fault.Problems, tags []string) []string {
	out := make([]string, 0, len(tags))
	seen := make(map[string]bool, len(tags))
	for _, t := range tags {
		t = strings.TrimSpace(norm.NFC.String(t))
		if n := utf8.RuneCountInString(t); n == 0 || n > maxTag || strings.ContainsRune(t, 0) {
			p.AddElement("tags", fmt.Sprintf("must have 1 to %d characters", maxTag))
			continue
		}
		if !seen[t] {
			seen[t] = true
			out = append(out, t)
		}
	}
	return out
}

// subscribe resolves the email types and writes categorised ones through to
// their category. Where a request contradicts itself within a
// category, the refusal stands.
func (c *checked) subscribe(subs map[string]*bool, types Types) error {
	var unknown fault.Problems
	for _, name := range slices.Sorted(maps.Keys(subs)) {
		t, ok := types.find(name)
		if !ok {
			unknown.Add("subscriptions."+name, "there is no such email type")
			continue
		}
		if c.types == nil {
			c.types = make(map[string]*bool, len(subs))
		}
		c.types[t.Key] = subs[name]
		if t.Category.IsZero() {
			continue
		}
		if before, said := c.categories[t.Category]; said && before != nil && !*before {
			continue
		}
		c.refuse(t.Category, subs[name])
	}
	if unknown.Any() {
		return unknown.Fields().As(ErrInvalidEmailType)
	}
	return nil
}

// refuse notes what is said of a category.
func (c *checked) refuse(category id.Category, v *bool) {
	if c.categories == nil {
		c.categories = map[id.Category]*bool{}
	}
	c.categories[category] = v
}

// applied is what a change did to a contact.
type applied struct {
	parts            []string // names of what changed
	turned           []subscriptionTurn
	tagged, untagged []string
}

// apply merges the change into the contact. The stage and the address are not
// its business.
func (c *Contact) apply(ch checked) (applied, error) {
	var a applied
	tags := c.retagged(ch)
	if len(tags) > maxTags {
		return a, ErrLimit.Sayf("a contact may have at most %d tags", maxTags)
	}
	ch.splitName()
	for _, t := range allTexts {
		text, said := ch.texts[t]
		if !said {
			continue
		}
		if at := c.text(t); !same(*at, text) {
			*at = text
			a.parts = append(a.parts, string(t))
		}
	}
	if merge(c.CustomFields, ch.fields) {
		a.parts = append(a.parts, "custom_fields")
	}
	a.tagged, a.untagged = missing(tags, c.Tags), missing(c.Tags, tags)
	if len(a.tagged)+len(a.untagged) > 0 {
		c.Tags = tags
		a.parts = append(a.parts, "tags")
	}
	if ch.blocked != nil && *ch.blocked != c.DoNotContact {
		c.DoNotContact = *ch.blocked
		a.parts = append(a.parts, "do_not_contact")
	}
	a.turned = c.subscriptionTurns(ch)
	if len(a.turned) > 0 {
		a.parts = append(a.parts, "subscriptions")
	}
	return a, nil
}

// retagged returns the tags that the contact will have.
func (c *Contact) retagged(ch checked) []string {
	tags := slices.Clone(c.Tags)
	if ch.tags != nil && ch.replaceTags {
		tags = tags[:0]
	}
	if ch.tags != nil {
		for _, t := range *ch.tags {
			if !slices.Contains(tags, t) {
				tags = append(tags, t)
			}
		}
	}
	if len(ch.removeTags) > 0 {
		tags = slices.DeleteFunc(tags, func(t string) bool { return slices.Contains(ch.removeTags, t) })
	}
	return tags
}

// missing returns what of list is not among others.
func missing(list, others []string) []string {
	var out []string
	for _, v := range list {
		if !slices.Contains(others, v) {
			out = append(out, v)
		}
	}
	return out
}

// subscriptionTurn is one subscription that changed; it is the data of a journal entry.
type subscriptionTurn struct {
	TypeKey    string      `json:"email_type_key,omitempty"`
	Category   id.Category `json:"category_id,omitzero"`
	Subscribed *bool       `json:"subscribed"` // null: nothing is said any more
}

func (c *Contact) subscriptionTurns(ch checked) []subscriptionTurn {
	var list []subscriptionTurn
	for _, key := range slices.Sorted(maps.Keys(ch.types)) {
		if turnKey(c.Subscriptions, key, ch.types[key], ch.keepRefusals) {
			list = append(list, subscriptionTurn{TypeKey: key, Subscribed: ch.types[key]})
		}
	}
	for _, category := range slices.SortedFunc(maps.Keys(ch.categories), id.Compare) {
		if turnKey(c.CategorySubscriptions, category, ch.categories[category], ch.keepRefusals) {
			list = append(list, subscriptionTurn{Category: category, Subscribed: ch.categories[category]})
		}
	}
	return list
}

// turnKey says v of key, where nil is nothing, and reports whether that is news.
// With keep, what was refused stays refused.
func turnKey[K comparable](m map[K]bool, key K, v *bool, keep bool) bool {
	before, said := m[key]
	switch {
	case keep && said && !before:
		return false
	case v == nil:
		delete(m, key)
		return said
	case said && before == *v:
		return false
	}
	m[key] = *v
	return true
}

// splitName fills first and last name from a full name that came without them,
// at its last space.
func (c checked) splitName() {
	full := c.texts[FullName]
	_, first := c.texts[FirstName]
	_, last := c.texts[LastName]
	if full == nil || first || last {
		return
	}
	name := strings.Join(strings.Fields(*full), " ")
	i := strings.LastIndexByte(name, ' ')
	if i < 0 {
		c.texts[FirstName] = new(clip(name))
		return
	}
	c.texts[FirstName], c.texts[LastName] = new(clip(name[:i])), new(clip(name[i+1:]))
}

// clip cuts a part of a full name to what its column takes.
func clip(s string) string {
	if r := []rune(s); len(r) > longest[FirstName] {
		return string(r[:longest[FirstName]])
	}
	return s
}

func same(a, b *string) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

// merge puts values into m, where nil removes, and reports whether m changed.
func merge(m, values map[string]any) bool {
	changed := false
	for k, v := range values {
		before, had := m[k]
		switch {
		case v == nil:
			changed = changed || had
			delete(m, k)
		case !had || !equal(before, v):
			m[k] = v
			changed = true
		}
	}
	return changed
}

// equal compares two JSON values.
func equal(a, b any) bool {
	as, aok := a.([]any)
	bs, bok := b.([]any)
	if aok || bok {
		return aok && bok && slices.EqualFunc(as, bs, equal)
	}
	return a == b
}
