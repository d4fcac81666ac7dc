package rule

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/packetboat/packetboat/internal/base/clip"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/slug"
)

// The types of leaves.
const (
	typeField         = "field"
	typeList          = "list"
	typeSegment       = "segment"
	typeEmail         = "email"
	typeBroadcast     = "broadcast"
	typeSequenceEmail = "sequence_email"
	typeEvent         = "event"
	typeEventSequence = "event_sequence"
	typePageView      = "page_view"
	typeForm          = "form"
	typeSubscription  = "subscription"
	typeSequence      = "sequence"
	typeSuppression   = "suppression"
	typeTriggerEvent  = "trigger_event" // in rules of sequences
)

var types = []string{
	typeField, typeList, typeSegment, typeEmail, typeBroadcast, typeSequenceEmail, typeEvent,
	typeEventSequence, typePageView, typeForm, typeSubscription, typeSequence, typeSuppression,
}

// LeafType is a type of leaf with the fields that it must and may have in a request, besides type
// and operator.
type LeafType struct {
	Name               string
	Required, Optional []string
}

// leafTypes are all types. A leaf of type subscription has exactly one of its two fields.
var leafTypes = []LeafType{
	{typeField, []string{"field"}, []string{"value"}},
	{typeList, []string{"segment_keys"}, []string{"added"}},
	{typeSegment, []string{"segment_keys"}, nil},
	{typeEmail, []string{"event"}, []string{"email_type_keys", "count", "window", "level"}},
	{typeBroadcast, []string{"broadcast_id", "event"}, []string{"link_url", "variant_id", "level"}},
	{typeSequenceEmail, []string{"sequence_id", "event"}, []string{"node_id", "level"}},
	{typeEvent, []string{"event_name"}, []string{"filters", "count", "window"}},
	{typeEventSequence, []string{"first", "then", "within"}, []string{"window"}},
	{typePageView, []string{"url"}, []string{"match", "count", "window"}},
	{typeForm, []string{"form_slug"}, []string{"window"}},
	{typeSubscription, nil, []string{"email_type_key", "category_id"}},
	{typeSequence, []string{"sequence_id"}, []string{"window"}},
	{typeSuppression, nil, nil},
}

// LeafTypes returns all types of leaves.
func LeafTypes() []LeafType { return slices.Clone(leafTypes) }

// Limits of parts of leaves.
const (
	maxKeys    = 100
	maxText    = 4096
	maxURL     = 2048
	maxName    = 200
	maxCount   = 1_000_000_000
	maxFilters = 20
	maxPath    = 200
	maxInList  = 1000
	maxSpan    = 100_000

	maxEventName = 128
	maxWithin    = 3650 // days
)

// typed parses a leaf of any type.
func (p *parser) typed(n *node, path string) Condition {
	l := leafReader{p, n, path}
	typ := typeField
	if m := n.member("type"); m != nil {
		typ, _ = m.value.(string)
	} else if n.member("field") == nil {
		p.add(path, `a leaf names a "field" or a "type"`)
		return Field{}
	}
	if i := slices.IndexFunc(leafTypes, func(t LeafType) bool { return t.Name == typ }); i >= 0 {
		defer p.only(n, path, slices.Concat([]string{"type", "operator"}, leafTypes[i].Required, leafTypes[i].Optional)...)
	}
	switch typ {
	case typeField:
		return l.field()
	case typeList:
		return List{Keys: l.segments(true), Added: l.window("added"), Operator: l.operator(In, NotIn)}
	case typeSegment:
		return InSegment{Keys: l.segments(false), Operator: l.operator(In, NotIn)}
	case typeEmail:
		return l.email()
	case typeBroadcast:
		return l.broadcast()
	case typeSequenceEmail:
		e := l.event(mailEvents)
		return SequenceEmail{
			Sequence: uuidOf[id.Sequence](l, "sequence_id"), Node: l.text("node_id", false, maxName),
			Event: e, Level: l.level(e), Operator: l.operator(Did, DidNot),
		}
	case typeEvent:
		return l.custom()
	case typeEventSequence:
		return EventSequence{
			First: l.eventMatch("first"), Then: l.eventMatch("then"), Within: l.within("within"),
			Window: l.window("window"), Operator: l.operator(Followed, NotFollowed),
		}
	case typePageView:
		return l.pageView()
	case typeForm:
		return Form{Slug: l.slug("form_slug"), Window: l.window("window"), Operator: l.operator(Did, DidNot)}
	case typeSubscription:
		return l.subscription()
	case typeSequence:
		return InSequence{
			Sequence: uuidOf[id.Sequence](l, "sequence_id"), Window: l.window("window"),
			Operator: l.operator(Active, Ever, Never, Completed, Exited),
		}
	case typeSuppression:
		return Suppression{Operator: l.operator(Listed, NotListed)}
	case typeTriggerEvent:
		if p.triggered {
			p.only(n, path, "type", "property", "operator", "value")
			return TriggerEvent{l.property()}
		}
	}
	known := types
	if p.triggered {
		known = append(slices.Clone(types), typeTriggerEvent)
	}
	p.add(path+".type", "must be one of %s", strings.Join(known, ", "))
	return Field{}
}

// only reports unknown fields of an object.
func (p *parser) only(n *node, path string, known ...string) {
	if !p.strict {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(n.object)) {
		if !slices.Contains(known, name) {
			p.add(path+"."+clip.Ellipsis(name, maxQuoted), "is not a field of this object; its fields are %s", strings.Join(known, ", "))
		}
	}
}

// leafReader parses the members of one leaf.
type leafReader struct {
	*parser
	n    *node
	path string
}

// operator parses the operator, which must be one of some.
func (l leafReader) operator(some ...Operator) Operator {
	s, ok := l.name("operator")
	if !ok {
		return ""
	}
	op := canonical(s)
	if !slices.Contains(some, op) {
		l.add(l.path+".operator", "must be one of %s", join(some))
		return ""
	}
	return op
}

// name parses a required string.
func (l leafReader) name(member string) (string, bool) {
	m := l.n.member(member)
	if m == nil {
		l.add(l.path+"."+member, "required")
		return "", false
	}
	s, ok := m.value.(string)
	if !ok || s == "" {
		l.add(l.path+"."+member, "must be a string that is not empty")
		return "", false
	}
	return s, true
}

// text parses a string of at most so many characters.
func (l leafReader) text(member string, required bool, most int) string {
	if !required && l.n.member(member) == nil {
		return ""
	}
	s, ok := l.name(member)
	if ok && utf8.RuneCountInString(s) > most {
		l.add(l.path+"."+member, "at most %d characters", most)
	}
	return s
}

// uuidOf parses the required id of a record.
func uuidOf[T ~[16]byte](l leafReader, member string) T {
	s, ok := l.name(member)
	if !ok {
		return T{}
	}
	uuid, ok := id.Parse[T](s)
	if !ok {
		l.add(l.path+"."+member, "must be a UUID")
	}
	return uuid
}

// subject parses the name of what a leaf is about. Only a stored definition may omit it; the leaf
// then applies to anything of its type.
func (l leafReader) subject(member string, most int) string {
	return l.text(member, l.strict, most)
}

func (l leafReader) slug(member string) string {
	s := l.subject(member, slug.MaxLen)
	if s != "" && !slug.Valid(s) {
		l.add(l.path+"."+member, "%s", slug.Rule)
	}
	return s
}

// keys parses a list of strings.
func (l leafReader) keys(member string, most int) []string {
	return l.strings(l.n.member(member), l.path+"."+member, most)
}

func (p *parser) strings(n *node, path string, most int) []string {
	switch {
	case n == nil:
		p.add(path, "required")
		return nil
	case !n.isArray:
		p.add(path, "must be an array of strings")
		return nil
	case len(n.array) == 0 && !p.lenient:
		p.add(path, "must not be empty")
		return nil
	case len(n.array) > most:
		p.add(path, "at most %d", most)
		return nil
	}
	list := make([]string, 0, len(n.array))
	for i, e := range n.array {
		s, ok := e.value.(string)
		if at := fmt.Sprintf("%s[%d]", path, i); !ok || s == "" {
			p.add(at, "must be a string that is not empty")
		} else if utf8.RuneCountInString(s) > maxText {
			p.add(at, "at most %d characters", maxText)
		}
		list = append(list, s)
	}
	return list
}

// unique removes duplicates.
func unique[T comparable](list []T) []T {
	seen := make(map[T]bool, len(list))
	return slices.DeleteFunc(list, func(v T) bool {
		twice := seen[v]
		seen[v] = true
		return twice
	})
}

// segments parses the keys of lists, or of segments.
func (l leafReader) segments(static bool) []string {
	const member = "segment_keys"
	list := l.keys(member, maxKeys)
	for i, key := range list {
		list[i] = l.segment(key, static, fmt.Sprintf("%s.%s[%d]", l.path, member, i))
	}
	return unique(list)
}

// segment returns the key of a list, or of a segment, given its key or id.
func (p *parser) segment(key string, static bool, path string) string {
	if p.schema.Segments == nil || key == "" {
		return key
	}
	s, ok := p.schema.Segments(key)
	switch {
	case !ok && static:
		p.missing(path, "there is no list %q", clip.Ellipsis(key, maxQuoted))
	case !ok:
		p.missing(path, "there is no segment %q", clip.Ellipsis(key, maxQuoted))
	case static && !s.Static:
		p.missing(path, `%q is a segment: ask for it with type "segment"`, clip.Ellipsis(key, maxQuoted))
	case !static && s.Static:
		p.missing(path, `%q is a list: ask for it with type "list"`, clip.Ellipsis(key, maxQuoted))
	}
	if ok && s.Key != "" {
		return s.Key
	}
	return key
}

var (
	mailEvents      = []EmailEvent{Sent, Delivered, Opened, Clicked, Bounced, Complained, LeftBy}
	broadcastEvents = []EmailEvent{Recipient, Sent, Delivered, Opened, Clicked, Engaged, Bounced, Complained, LeftBy}
)

func (l leafReader) event(some []EmailEvent) EmailEvent {
	s, ok := l.name("event")
	if ok && !slices.Contains(some, EmailEvent(s)) {
		l.add(l.path+".event", "must be one of %s", join(some))
	}
	return EmailEvent(s)
}

// level parses the level of an open or click; other events have none.
func (l leafReader) level(e EmailEvent) Level {
	level := Verified
	if l.n.member("level") != nil {
		s, ok := l.name("level")
		level = Level(s)
		if ok && !slices.Contains([]Level{Verified, Confirmed, Apparent}, level) {
			l.add(l.path+".level", "must be verified, confirmed or apparent")
		}
	}
	if e != Opened && e != Clicked && e != Engaged {
		return ""
	}
	return level
}

func (l leafReader) email() Email {
	e := Email{Event: l.event(mailEvents), Window: l.window("window"), Operator: l.operator(Did, DidNot)}
	e.Level, e.Count = l.level(e.Event), l.count(e.Operator)
	const member = "email_type_keys"
	if m := l.n.member(member); m == nil || m.isArray && len(m.array) == 0 {
		return e
	}
	e.Types = l.keys(member, maxKeys)
	for i, key := range e.Types {
		t, ok := l.schema.emailType(key)
		if !ok {
			l.missing(fmt.Sprintf("%s.%s[%d]", l.path, member, i), "there is no email type %q", clip.Ellipsis(key, maxQuoted))
			continue
		}
		e.Types[i] = t.Key
	}
	e.Types = unique(e.Types)
	return e
}

func (l leafReader) broadcast() Broadcast {
	e := l.event(broadcastEvents)
	b := Broadcast{
		ID: uuidOf[id.Broadcast](l, "broadcast_id"), Event: e, Level: l.level(e),
		LinkURL: l.text("link_url", false, maxURL), Variant: l.text("variant_id", false, maxName),
		Operator: l.operator(Did, DidNot),
	}
	if b.LinkURL != "" && e != Clicked {
		l.add(l.path+".link_url", "goes with the event clicked only")
	}
	return b
}

func (l leafReader) pageView() PageView {
	v := PageView{URL: l.subject("url", maxURL), Match: Equals, Window: l.window("window"), Operator: l.operator(Did, DidNot)}
	v.Count = l.count(v.Operator)
	if l.n.member("match") != nil {
		s, ok := l.name("match")
		v.Match = canonical(s)
		if ok && v.Match != Equals && v.Match != Contains && v.Match != StartsWith {
			l.add(l.path+".match", "must be equals, contains or starts_with")
		}
	}
	return v
}

func (l leafReader) subscription() Subscription {
	s := Subscription{Operator: l.operator(Subscribed, Unsubscribed)}
	byType, byCategory := l.n.member("email_type_key") != nil, l.n.member("category_id") != nil
	switch {
	case byType == byCategory:
		l.add(l.path, "names either an email_type_key or a category_id")
	case byType:
		if key, ok := l.name("email_type_key"); ok {
			s.TypeKey = l.typeKey(key, l.path+".email_type_key")
		}
	default:
		s.Category = uuidOf[id.Category](l, "category_id")
		if !s.Category.IsZero() && !l.schema.category(s.Category) {
			l.missing(l.path+".category_id", "there is no such category")
		}
	}
	return s
}

// typeKey returns the key of an email type given its key or id.
func (p *parser) typeKey(key, path string) string {
	t, ok := p.schema.emailType(key)
	if !ok {
		p.missing(path, "there is no email type %q", clip.Ellipsis(key, maxQuoted))
		return key
	}
	return t.Key
}

// count parses the count; it must be absent for a negative operator.
func (l leafReader) count(op Operator) *Count {
	n := l.n.member("count")
	if n == nil {
		return nil
	}
	path := l.path + ".count"
	switch {
	case n.object == nil:
		l.add(path, "must be an object {operator, value}")
		return nil
	case op == DidNot:
		l.add(path, "goes with the operator did only; ask for at_most or exactly instead")
		return nil
	}
	l.only(n, path, "operator", "value")
	c := &Count{Operator: AtLeast, N: 1}
	if m := n.member("operator"); m != nil {
		s, _ := m.value.(string)
		c.Operator = CountOperator(s)
		if !slices.Contains([]CountOperator{AtLeast, AtMost, Exactly}, c.Operator) {
			l.add(path+".operator", "must be at_least, at_most or exactly")
		}
	}
	least := 0
	if c.Operator == AtLeast {
		least = 1
	}
	c.N = l.whole(n.member("value"), path+".value", least, maxCount)
	return c
}

func join[T ~string](list []T) string {
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i] = string(v)
	}
	return strings.Join(texts, ", ")
}
