package draft

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/content/template"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/mail/binding"
	"github.com/packetboat/packetboat/internal/people/contact"
)

// Samples are the data that a template expects, with sample values.
type Samples []binding.Expectation

// Samples returns the data that the template of the content expects; without a template, none.
func (m Content) Samples() (Samples, error) {
	if m.Origin == nil || len(m.Origin.Snapshot) == 0 {
		return nil, nil
	}
	var s template.Snapshot
	if err := json.Unmarshal(m.Origin.Snapshot, &s); err != nil {
		return nil, fmt.Errorf("the template of a content: %w", err)
	}
	return s.Expects, nil
}

// Contact returns a contact with the address and the sample values. Values without a sample stay
// unset, so that a mail shows their fallback.
func (s Samples) Contact(tenant id.Tenant, to string) contact.Contact {
	c := contact.Contact{
		ID: id.New[id.Contact](), Tenant: tenant, Email: to, EmailDomain: address.Domain(to), Status: contact.Active,
		CustomFields: map[string]any{},
	}
	for _, e := range s {
		var v any
		if json.Unmarshal(e.Sample, &v) != nil || v == nil {
			continue
		}
		path := strings.Split(e.Path, ".")
		if path[0] == "contact" {
			path = path[1:]
		}
		if len(path) > 1 && path[0] == "custom_fields" {
			setPath(c.CustomFields, path[1:], v)
		} else if len(path) == 1 && !setField(&c, path[0], v) {
			if _, known := c.Value(path[0]); !known { // a name without prefix may be a custom field
				setPath(c.CustomFields, path, v)
			}
		}
	}
	return c
}

// setPath sets the value at a path, creating objects along it.
func setPath(object map[string]any, path []string, v any) {
	for _, name := range path[:len(path)-1] {
		inner, ok := object[name].(map[string]any)
		if !ok {
			inner = map[string]any{}
		}
		object[name] = inner
		object = inner
	}
	object[path[len(path)-1]] = v
}

// setField sets a field that may have a sample value, and reports whether there is such a field.
func setField(c *contact.Contact, name string, v any) bool {
	switch name {
	case "tags":
		list, _ := v.([]any)
		for _, tag := range list {
			c.Tags = append(c.Tags, printValue(tag))
		}
		return true
	case "prospect_score", "customer_score":
		n, _ := v.(float64)
		if name == "prospect_score" {
			c.ProspectScore = n
		} else {
			c.CustomerScore = n
		}
		return true
	}
	names := []string{"external_id", "first_name", "last_name", "full_name", "title", "company", "phone", "website", "timezone",
		"address_line1", "address_line2", "city", "state", "postal_code", "country", "source"}
	at := []**string{&c.ExternalID, &c.FirstName, &c.LastName, &c.FullName, &c.Title, &c.Company, &c.Phone, &c.Website, &c.Timezone,
		&c.AddressLine1, &c.AddressLine2, &c.City, &c.State, &c.PostalCode, &c.Country, &c.Source}
	i := slices.Index(names, name)
	if i < 0 {
		return false
	}
	*at[i] = new(printValue(v))
	return true
}

// printValue converts a sample value to the text of a field.
func printValue(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return fmt.Sprint(int64(v))
		}
	}
	return fmt.Sprint(v)
}
