package contact

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/packetboat/packetboat/internal/base/calendar"
	"github.com/packetboat/packetboat/internal/base/clip"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/people/field"
)

// Text is a text column that callers may write.
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

// maxLength is the maximal number of characters of each text column.
var maxLength = map[Text]int{
	FirstName: 200, LastName: 200, FullName: 401, Title: 200, Company: 200, Phone: 200, Website: 2048,
	AddressLine1: 500, AddressLine2: 500, City: 200, State: 200, PostalCode: 200, Country: 2, Timezone: 64,
	ExternalID: 255, Source: 200,
}

// allTexts are the text columns by name.
var allTexts = slices.Sorted(maps.Keys(maxLength))

// ParseText returns the text column with a name.
func ParseText(name string) (Text, bool) {
	_, ok := maxLength[Text(name)]
	return Text(name), ok
}

// Texts lists the text columns, by name.
func Texts() []Text { return slices.Sorted(maps.Keys(maxLength)) }

// Refusal returns why a value is not one of the column, or "".
func (t Text) Refusal(value string) string {
	var p fault.Problems
	checkText(&p, t, &value)
	for _, f := range p.Fields().Fields {
		return f.Message
	}
	return ""
}

// text returns the contact's field for a text column.
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

// Change holds the changes of a request. What is absent does not change.
type Change struct {
	Email                 *string          // in an update by id: the new address
	Texts                 map[Text]*string // nil clears
	Stage                 *string          // the id of a stage; empty clears
	StageIfNew            *string          // for a new contact
	SourceIfNew           string           // for a new contact, if Texts has no Source
	CustomFields          map[string]any   // nil removes a key
	Subscriptions         map[string]*bool // by key or id of an email type; nil removes
	KeepRefusals          bool             // do not turn subscriptions on that are off
	CategorySubscriptions map[string]*bool // by id of a category; nil removes
	Tags                  *[]string        // added to the contact's tags
	ReplaceTags           bool             // Tags replace them
	RemoveTags            []string
	DoNotContact          *bool
	Status                Status // that the contact has elsewhere: applied if it ranks above the contact's own; Pending leaves it unconfirmed

	// Unverified says that the change comes from a person who has not proven to be the
	// contact, such as a visitor of a website who enters an address. It sets texts and custom
	// fields only where the contact has none, and activates no pending contact. A new contact
	// is pending, has no stage, and does not count against the tenant's limit.
	Unverified bool
}

// Limits of tags.
const (
	maxTags = 200
	maxTag  = 64
)

// checked is a validated change, with values as they are stored.
type checked struct {
	email        string // empty: unchanged
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
	references   map[string]id.Contact // custom field key → contact that its value refers to
	unverified   bool
	status       Status
}

// Check validates a draft, except what depends on the tenant's stages, email types and
// custom fields.
func (d Draft) Check() error {
	var p fault.Problems
	d.checkValues(&p)
	return p.Err()
}

// checkValues returns the values of a draft as they are stored, and adds problems to p.
func (d Draft) checkValues(p *fault.Problems) checked {
	ch := d.Change
	out := checked{
		texts: make(map[Text]*string, len(ch.Texts)), blocked: ch.DoNotContact, keepRefusals: ch.KeepRefusals, replaceTags: ch.ReplaceTags,
		sourceIfNew: ch.SourceIfNew, unverified: ch.Unverified, status: ch.Status,
	}
	if email := d.address(); email != nil {
		addr, err := address.Normalize(*email)
		if err != nil {
			p.Add("email", err.Error())
		}
		out.email = addr
	}
	for _, t := range allTexts {
		if text, given := ch.Texts[t]; given {
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

// check validates a draft without looking at its contact. Problems of INVALID_INPUT are
// reported together, before faults with other codes.
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
		out.setCategory(c, ch.CategorySubscriptions[name])
	}
	if err := p.Err(); err != nil {
		return checked{}, err
	}
	if err := out.resolveSubscriptions(ch.Subscriptions, types); err != nil {
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

// address returns the address in the draft: that of its contact or, in an update by id, the
// new one.
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
	case s == "": // an empty text clears
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
		name, ok := calendar.ZoneName(s)
		if !ok {
			p.Add(string(t), "must be the IANA name of a time zone")
		}
		s = name
	case utf8.RuneCountInString(s) > maxLength[t]:
		p.Add(string(t), fmt.Sprintf("at most %d characters", maxLength[t]))
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

// ParseTag returns a tag as it is stored, or an error that says how long tags are.
func ParseTag(s string) (string, error) {
	s = strings.TrimSpace(norm.NFC.String(s))
	if n := utf8.RuneCountInString(s); n == 0 || n > maxTag || strings.ContainsRune(s, 0) {
		return "", fmt.Errorf("must have 1 to %d characters", maxTag)
	}
	return s, nil
}

func checkTags(p *fault.Problems, tags []string) []string {
	out := make([]string, 0, len(tags))
	seen := make(map[string]bool, len(tags))
	for _, t := range tags {
		t, err := ParseTag(t)
		if err != nil {
			p.AddElement("tags", err.Error())
			continue
		}
		if !seen[t] {
			seen[t] = true
			out = append(out, t)
		}
	}
	return out
}

// resolveSubscriptions resolves the email types of subs. A choice for a type in a category
// is also stored for the category; if the request has both choices for types of one
// category, off wins.
func (c *checked) resolveSubscriptions(subs map[string]*bool, types Types) error {
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
		if before, given := c.categories[t.Category]; given && before != nil && !*before {
			continue
		}
		c.setCategory(t.Category, subs[name])
	}
	if unknown.Any() {
		return unknown.Fields().As(ErrInvalidEmailType)
	}
	return nil
}

// setCategory stores the choice for a category.
func (c *checked) setCategory(category id.Category, v *bool) {
	if c.categories == nil {
		c.categories = map[id.Category]*bool{}
	}
	c.categories[category] = v
}

// applied describes what a change did to a contact.
type applied struct {
	parts            []string // names of what changed
	customFields     []string // keys of those that changed
	subscriptions    []subscriptionChange
	tagged, untagged []string
}

// apply merges the change into the contact, except stage and address.
func (c *Contact) apply(ch checked) (applied, error) {
	var a applied
	tags := c.mergeTags(ch)
	if len(tags) > maxTags {
		return a, ErrLimit.Sayf("a contact may have at most %d tags", maxTags)
	}
	ch.splitName()
	for _, t := range allTexts {
		text, given := ch.texts[t]
		at := c.text(t)
		if !given || ch.unverified && *at != nil {
			continue
		}
		if !equalText(*at, text) {
			*at = text
			a.parts = append(a.parts, string(t))
		}
	}
	if a.customFields = mergeValues(c.CustomFields, ch.fieldsFor(c)); len(a.customFields) > 0 {
		a.parts = append(a.parts, "custom_fields")
	}
	a.tagged, a.untagged = difference(tags, c.Tags), difference(c.Tags, tags)
	if len(a.tagged)+len(a.untagged) > 0 {
		c.Tags = tags
		a.parts = append(a.parts, "tags")
	}
	if ch.blocked != nil && *ch.blocked != c.DoNotContact {
		c.DoNotContact = *ch.blocked
		a.parts = append(a.parts, "do_not_contact")
	}
	a.subscriptions = c.changeSubscriptions(ch)
	if len(a.subscriptions) > 0 {
		a.parts = append(a.parts, "subscriptions")
	}
	return a, nil
}

// fieldsFor returns the custom fields that the change may set in the contact.
func (c checked) fieldsFor(to *Contact) map[string]any {
	if !c.unverified {
		return c.fields
	}
	empty := make(map[string]any, len(c.fields))
	for key, v := range c.fields {
		if _, has := to.CustomFields[key]; !has {
			empty[key] = v
		}
	}
	return empty
}

// mergeTags returns the contact's tags after the change.
func (c *Contact) mergeTags(ch checked) []string {
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

// difference returns the elements of list that others does not contain.
func difference(list, others []string) []string {
	var out []string
	for _, v := range list {
		if !slices.Contains(others, v) {
			out = append(out, v)
		}
	}
	return out
}

// subscriptionChange is a changed subscription, as the data of a journal entry.
type subscriptionChange struct {
	TypeKey    string      `json:"email_type_key,omitempty"`
	Category   id.Category `json:"category_id,omitzero"`
	Subscribed *bool       `json:"subscribed"` // null: the choice was removed
}

func (c *Contact) changeSubscriptions(ch checked) []subscriptionChange {
	var list []subscriptionChange
	for _, key := range slices.Sorted(maps.Keys(ch.types)) {
		if setSubscription(c.Subscriptions, key, ch.types[key], ch.keepRefusals) {
			list = append(list, subscriptionChange{TypeKey: key, Subscribed: ch.types[key]})
		}
	}
	for _, category := range slices.SortedFunc(maps.Keys(ch.categories), id.Compare) {
		if setSubscription(c.CategorySubscriptions, category, ch.categories[category], ch.keepRefusals) {
			list = append(list, subscriptionChange{Category: category, Subscribed: ch.categories[category]})
		}
	}
	return list
}

// setSubscription sets m[key] to v, or deletes it if v is nil, and reports whether m
// changed. With keep, false stays false.
func setSubscription[K comparable](m map[K]bool, key K, v *bool, keep bool) bool {
	before, given := m[key]
	switch {
	case keep && given && !before:
		return false
	case v == nil:
		delete(m, key)
		return given
	case given && before == *v:
		return false
	}
	m[key] = *v
	return true
}

// splitName derives first and last name from a full name that was given without them, by
// splitting at its last space.
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
		c.texts[FirstName] = new(clip.Runes(name, maxLength[FirstName]))
		return
	}
	c.texts[FirstName], c.texts[LastName] = new(clip.Runes(name[:i], maxLength[FirstName])), new(clip.Runes(name[i+1:], maxLength[FirstName]))
}

func equalText(a, b *string) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

// mergeValues copies values into m, deleting keys with nil, and returns the keys that changed, sorted.
func mergeValues(m, values map[string]any) []string {
	var changed []string
	for k, v := range values {
		before, had := m[k]
		switch {
		case v == nil && had:
			delete(m, k)
		case v != nil && (!had || !equalJSON(before, v)):
			m[k] = v
		default:
			continue
		}
		changed = append(changed, k)
	}
	slices.Sort(changed)
	return changed
}

// equalJSON compares two JSON values that are not objects.
func equalJSON(a, b any) bool {
	as, aok := a.([]any)
	bs, bok := b.([]any)
	if aok || bok {
		return aok && bok && slices.EqualFunc(as, bs, equalJSON)
	}
	return a == b
}
