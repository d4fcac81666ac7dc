package event

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/packetboat/packetboat/internal/sqldb"
)

// shape is what kind of value a property should have.
type shape int

const (
	text    shape = iota // a string; identifiers may also be numbers
	number               // a number
	array                // an array
	instant              // a date and time, or a date
)

// property is a recommended property of a type of activity.
type property struct {
	name  string
	shape shape
}

// types are the known types of activity with their recommended properties. The names are those of
// common event vocabularies for shops and subscriptions.
var types = map[string][]property{
	"product_viewed":   {{"product_id", text}, {"name", text}, {"price", number}, {"currency", text}, {"url", text}},
	"cart_updated":     {{"cart_id", text}, {"value", number}, {"currency", text}, {"items", array}},
	"checkout_started": {{"checkout_id", text}, {"value", number}, {"currency", text}, {"items", array}},
	"order_placed":     {{"order_id", text}, {"value", number}, {"currency", text}, {"items", array}},
	"order_fulfilled":  {{"order_id", text}, {"tracking_url", text}},
	"order_cancelled":  {{"order_id", text}, {"reason", text}},
	"order_refunded":   {{"order_id", text}, {"value", number}, {"currency", text}},
	"page_viewed":      {{"url", text}, {"title", text}, {"referrer", text}},
	"form_submitted":   {{"form_name", text}, {"url", text}},
	"file_downloaded":  {{"file_name", text}, {"url", text}},
	"video_watched":    {{"video_id", text}, {"percent", number}},
	"search_performed": {{"query", text}},

	"signed_up":              {{"method", text}},
	"logged_in":              {},
	"trial_started":          {{"plan", text}, {"trial_ends_at", instant}},
	"subscription_started":   {{"plan", text}, {"value", number}, {"currency", text}, {"interval", text}},
	"subscription_renewed":   {{"plan", text}, {"value", number}, {"currency", text}},
	"subscription_cancelled": {{"plan", text}, {"reason", text}},
	"payment_failed":         {{"invoice_id", text}, {"value", number}, {"currency", text}, {"reason", text}},
	"feature_used":           {{"feature", text}},
	"meeting_booked":         {{"meeting_type", text}, {"starts_at", instant}},
	"call_logged":            {{"direction", text}, {"duration_seconds", number}, {"outcome", text}},
	"ticket_created":         {{"ticket_id", text}, {"subject", text}},
	"review_submitted":       {{"rating", number}, {"product_id", text}},
}

// Types returns the known types of activity, sorted.
func Types() []string { return slices.Sorted(maps.Keys(types)) }

// aliases are other names of a property, by its canonical name, in order of precedence.
var aliases = map[string][]string{
	"value":       {"total", "amount", "revenue", "order_total"},
	"currency":    {"currency_code"},
	"order_id":    {"id"},
	"cart_id":     {"id"},
	"checkout_id": {"id"},
	"ticket_id":   {"id"},
	"items":       {"products", "line_items"},
	"url":         {"page_url", "link", "href"},
	"title":       {"page_title"},
	"plan":        {"plan_name", "tier"},
}

// productAliases are aliases in properties of a product. Elsewhere id, sku and title may be those of
// something else.
var productAliases = map[string][]string{
	"product_id": {"id", "sku"},
	"name":       {"product_name", "title"},
}

// aliasesOf returns the aliases of a recommended property of a type.
func aliasesOf(kind, name string) []string {
	if list, ok := productAliases[name]; ok && strings.HasPrefix(kind, "product_") {
		return list
	}
	return aliases[name]
}

// normalize adds to properties the canonical names of aliases that the type recommends, and reports
// whether it changed something; the given map does not change. Names in camel case are aliases of
// those in snake case. Aliases stay, and a canonical name that is present is not replaced.
//
// Amounts given as text become numbers, and currencies upper case.
func normalize(kind string, given map[string]any) (properties map[string]any, changed bool, warnings []string) {
	recommended, known := types[kind]
	if !known {
		return given, false, []string{fmt.Sprintf("unknown activity type %q", kind)}
	}
	properties = given
	set := func(name string, v any) {
		if !changed {
			if properties = maps.Clone(given); properties == nil {
				properties = map[string]any{}
			}
			changed = true
		}
		properties[name] = v
	}
	camels := camelNames(given)
	for _, p := range recommended {
		if _, present := given[p.name]; present {
			continue
		}
		if from, ok := findAlias(given, camels, p.name, aliasesOf(kind, p.name)); ok {
			set(p.name, given[from])
		}
	}
	for _, name := range []string{"value", "price"} {
		if s, ok := properties[name].(string); ok {
			if n, ok := numeric(s); ok {
				set(name, n)
			}
		}
	}
	if s, ok := properties["currency"].(string); ok && s != strings.ToUpper(s) {
		set("currency", strings.ToUpper(s))
	}
	return properties, changed, append(warnings, shapeWarnings(kind, recommended, properties)...)
}

// findAlias returns the name under which a property is present: first its own in camel case, then
// its aliases, as they are and in camel case.
func findAlias(given map[string]any, camels map[string]string, name string, aliases []string) (string, bool) {
	if from, ok := camels[name]; ok {
		return from, true
	}
	for _, a := range aliases {
		if _, present := given[a]; present {
			return a, true
		}
		if from, ok := camels[a]; ok {
			return from, true
		}
	}
	return "", false
}

// camelNames returns the names in camel case by their form in snake case. If two names have the
// same form, the first in alphabetical order is used.
func camelNames(given map[string]any) map[string]string {
	var names map[string]string
	for name := range given {
		snake := snakeCase(name)
		if snake == name {
			continue
		}
		if names == nil {
			names = map[string]string{}
		}
		if other, ok := names[snake]; !ok || name < other {
			names[snake] = name
		}
	}
	return names
}

// snakeCase converts orderId, OrderID and pageURL to order_id and page_url. Names without capitals
// do not change.
func snakeCase(name string) string {
	if strings.IndexFunc(name, unicode.IsUpper) < 0 {
		return name
	}
	runes := []rune(name)
	var b strings.Builder
	for i, r := range runes {
		if !unicode.IsUpper(r) {
			b.WriteRune(r)
			continue
		}
		afterWord := i > 0 && runes[i-1] != '_' && !unicode.IsUpper(runes[i-1])
		beginsWord := i > 0 && unicode.IsUpper(runes[i-1]) && i+1 < len(runes) && unicode.IsLower(runes[i+1])
		if afterWord || beginsWord {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// numerals are the numbers of JSON without an exponent.
var numerals = regexp.MustCompile(`^-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,18})?$`)

// numeric returns a text as a number.
func numeric(s string) (json.Number, bool) {
	s = strings.TrimSpace(s)
	return json.Number(s), numerals.MatchString(s)
}

// shapeWarnings returns the warnings about recommended properties that are missing or have another
// shape.
func shapeWarnings(kind string, recommended []property, properties map[string]any) []string {
	var list []string
	for _, p := range recommended {
		v := properties[p.name]
		if v == nil {
			list = append(list, fmt.Sprintf("missing recommended property %q for type %q", p.name, kind))
		} else if want := p.shape.misfit(p.name, v); want != "" {
			list = append(list, fmt.Sprintf("property %q for type %q should be %s", p.name, kind, want))
		}
	}
	return list
}

// misfit returns what a value should be, or an empty text if it has the shape.
func (s shape) misfit(name string, v any) string {
	switch s {
	case number:
		switch v := v.(type) {
		case json.Number:
			return ""
		case float64:
			if !math.IsNaN(v) {
				return ""
			}
		}
		return "a number"
	case array:
		if _, ok := v.([]any); !ok {
			return "an array"
		}
	case instant:
		if t, ok := v.(string); !ok || !isTime(t) {
			return "a date-time"
		}
	case text:
		switch v.(type) {
		case string:
		case json.Number, float64:
			if !strings.HasSuffix(name, "_id") {
				return "a string"
			}
		default:
			return "a string"
		}
	}
	return ""
}

// isTime reports whether rules can compare a text as a date and time, or a date.
func isTime(s string) bool {
	_, moment := sqldb.ParseMoment(s)
	_, day := sqldb.ParseDay(s)
	return moment || day
}
