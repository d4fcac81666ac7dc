package broadcast

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/content/draft"
	"github.com/packetboat/packetboat/internal/mail/mjml"
	"github.com/packetboat/packetboat/internal/senders/route"
)

// Limits on the variants of a broadcast.
const (
	minVariants = 2
	maxVariants = 10

	maxWeight = 1_000_000
)

var (
	variantID    = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	overridable  = []string{"subject", "preheader", "from_name", "reply_to", "body_html", "body_mjml", "body_text"}
	deliveryKeys = []string{"sending_identity_id", "sending_identity_ids", "sending_identity_email", "sending_identity_emails", "mta_config_id", "mta_config_key"}
)

// Variant is one variant of a split test: its differences from the broadcast's content.
type Variant struct {
	ID        string                 `json:"id"`
	Name      string                 `json:"name"`
	Weight    float64                `json:"weight"` // relative to the others
	Overrides map[draft.Field]string `json:"content_overrides,omitempty"`

	// HTML is compiled from the variant's MJML, or from the broadcast's with the variant's preheader; nil
	// without MJML.
	HTML     *string        `json:"html,omitempty"`
	Findings []mjml.Warning `json:"mjml_findings,omitempty"` // of the compiler
}

// ReadVariants parses and validates the variants of a request. A variant with a sender or an MTA
// config of its own is reported before all other problems.
func ReadVariants(raw []byte) ([]Variant, error) {
	var objects []map[string]json.RawMessage
	if err := json.Unmarshal(raw, &objects); err != nil || objects == nil {
		return nil, variantFault("variants", "must be an array of objects")
	}
	for i, object := range objects {
		if key := deliveryKey(object); key != "" {
			return nil, ErrVariantDelivery.With(fault.Fields{Fields: []fault.Field{
				{Path: fmt.Sprintf("variants[%d].%s", i, key), Message: "a variant cannot have this of its own"},
			}})
		}
	}
	if len(objects) < minVariants || len(objects) > maxVariants {
		return nil, variantFault("variants", "must have 2 to 10 variants")
	}
	list := make([]Variant, len(objects))
	seen := map[string]bool{}
	for i, object := range objects {
		v, path := &list[i], fmt.Sprintf("variants[%d]", i)
		switch {
		case json.Unmarshal(object["id"], &v.ID) != nil || !variantID.MatchString(v.ID):
			return nil, variantFault(path+".id", "must be 1 to 64 letters, digits, - or _")
		case seen[v.ID]:
			return nil, variantFault(path+".id", "is taken by another variant")
		case json.Unmarshal(object["name"], &v.Name) != nil || v.Name == "" || len([]rune(v.Name)) > 200:
			return nil, variantFault(path+".name", "must be 1 to 200 characters")
		case json.Unmarshal(object["weight"], &v.Weight) != nil || !(v.Weight > 0) || v.Weight > maxWeight:
			return nil, variantFault(path+".weight", "must be a number above 0, at most 1,000,000")
		}
		seen[v.ID] = true
		var err error
		if v.Overrides, err = readOverrides(path+".content_overrides", object["content_overrides"]); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func readOverrides(path string, raw json.RawMessage) (map[draft.Field]string, error) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || len(fields) == 0 {
		return nil, variantFault(path, "must be an object with at least one field")
	}
	overrides := map[draft.Field]string{}
	for key, value := range fields {
		var text *string
		if !slices.Contains(overridable, key) {
			return nil, variantFault(path, "may hold only subject, preheader, from_name, reply_to, body_html, body_mjml and body_text")
		}
		if json.Unmarshal(value, &text) != nil {
			return nil, variantFault(path+"."+key, "must be a string")
		}
		if text != nil { // null is treated as absent
			overrides[draft.Field(key)] = *text
		}
	}
	if len(overrides) == 0 {
		return nil, variantFault(path, "must be an object with at least one field")
	}
	return overrides, nil
}

// parts returns the overrides as a change.
func (v Variant) parts() map[draft.Field]*string {
	parts := make(map[draft.Field]*string, len(v.Overrides))
	for f, text := range v.Overrides {
		parts[f] = &text
	}
	return parts
}

// content returns the complete content of the variant.
func (v Variant) content(base draft.Content) draft.Content {
	m := base.Overridden(v.parts())
	if v.HTML != nil {
		m.HTML, m.Findings = v.HTML, v.Findings
	}
	return m
}

// writeVariants validates each variant together with the content it overrides, and compiles its
// MJML.
func writeVariants(ctx context.Context, w draft.Author, b Broadcast, variants []Variant) ([]Variant, error) {
	variants = slices.Clone(variants)
	for i := range variants {
		v := &variants[i]
		m, err := w.Override(ctx, b.Tenant, b.Content, v.parts())
		if f, ok := fault.As(err); ok {
			f = content.Renamed(f, func(field string) string { return v.fieldOf(i, field) })
			return nil, f.Sayf("variants[%d] (%s): %s", i, v.ID, f.Message)
		}
		if err != nil {
			return nil, err
		}
		if v.HTML, v.Findings = nil, nil; m.MJML != nil {
			v.HTML, v.Findings = m.HTML, m.Findings
		}
	}
	return variants, nil
}

// VariantContent is the content for one share of the recipients: those of a variant, or all.
type VariantContent struct {
	Variant string // its id; empty: all recipients
	Content draft.Content
}

// VariantContents returns the content of each variant, or the single one without variants.
func (b Broadcast) VariantContents() []VariantContent {
	if len(b.Variants) == 0 {
		return []VariantContent{{Content: b.Content}}
	}
	contents := make([]VariantContent, len(b.Variants))
	for i, v := range b.Variants {
		contents[i] = VariantContent{v.ID, v.content(b.Content)}
	}
	return contents
}

// alike returns two variants by which all recipients get the same mail, as positions in the list: comparing them tells
// nothing. ok is false if any two differ.
func (b Broadcast) alike() (first, second int, ok bool) {
	if len(b.Variants) == 0 {
		return 0, 0, false
	}
	contents := b.VariantContents()
	for second := range contents {
		for first := range second {
			if sameMail(contents[first].Content, contents[second].Content) {
				return first, second, true
			}
		}
	}
	return 0, 0, false
}

// sameMail reports whether two contents say the same. An absent text is like an empty one.
func sameMail(a, b draft.Content) bool {
	return slices.EqualFunc(shownParts(a), shownParts(b), func(x, y *string) bool { return optional.Value(x) == optional.Value(y) })
}

func shownParts(m draft.Content) []*string {
	return []*string{m.Subject, m.Preheader, m.FromName, m.ReplyTo, m.HTML, m.MJML, m.Text}
}

// alikeText says which two variants do not differ.
func (b Broadcast) alikeText(first, second int) string {
	return fmt.Sprintf("the variants %q and %q do not differ: change one of them, or remove it", b.Variants[first].Name, b.Variants[second].Name)
}

// Assign returns the id of a contact's variant, or "" without variants. It depends on the two ids
// alone, so that it is the same in each process and at each call.
func (b Broadcast) Assign(contact id.Contact) string {
	if len(b.Variants) == 0 {
		return ""
	}
	weights := make([]float64, len(b.Variants))
	for i, v := range b.Variants {
		weights[i] = v.Weight
	}
	return b.Variants[route.Weighted(b.ID.String()+":"+contact.String(), weights)].ID
}

// deliveryKey returns the first key of a variant that would change its delivery.
func deliveryKey(variant map[string]json.RawMessage) string {
	var overrides map[string]json.RawMessage
	if bytes.HasPrefix(bytes.TrimSpace(variant["content_overrides"]), []byte("{")) {
		_ = json.Unmarshal(variant["content_overrides"], &overrides) // checked later
	}
	for _, key := range deliveryKeys {
		if _, ok := variant[key]; ok {
			return key
		}
		if _, ok := overrides[key]; ok {
			return "content_overrides." + key
		}
	}
	return ""
}

func variantFault(path, message string) error {
	f := fault.Field{Path: path, Message: message}
	return ErrVariants.Sayf("%s: %s", path, message).With(fault.Fields{Fields: []fault.Field{f}})
}

// sameVariants reports whether both lists are equal.
func sameVariants(a, b []Variant) bool {
	return slices.EqualFunc(a, b, func(v, w Variant) bool {
		return v.ID == w.ID && v.Name == w.Name && v.Weight == w.Weight && maps.Equal(v.Overrides, w.Overrides)
	})
}
