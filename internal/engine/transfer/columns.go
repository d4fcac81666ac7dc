package transfer

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/field"
)

// column is one column of a file and the field it maps to.
type column struct {
	Name   string `json:"name"`
	Target string `json:"target,omitempty"` // empty: left out
	By     mapper `json:"by,omitempty"`     // empty: by nothing, and left out
	Form   form   `json:"form,omitempty"`   // that the caller gave
}

// mapper is what decided where a column goes.
type mapper string

const (
	byMapping mapper = "mapping"    // the request's
	byName    mapper = "name"       // the column's, which is that of a field
	byMemory  mapper = "remembered" // the last import of a file with the same header
	byContent mapper = "content"    // addresses, in a file of which no other column has them
)

// targets resolves the fields that columns can map to.
type targets struct {
	fields field.Catalog
	types  contact.Types
}

// The targets besides text columns, custom fields and subscriptions.
const (
	emailTarget   = "email"
	tagsTarget    = "tags"
	stageTarget   = "stage_id"
	statusTarget  = "global_status"
	blockTarget   = "do_not_contact"
	customPrefix  = "custom_fields."
	consentPrefix = "subscriptions."
)

// of maps columns to targets: by the mapping, or else as before, or else by name. Unknown columns are ignored.
func (t targets) of(names []string, mapping map[string]string, before memory, p *problems) []column {
	columns := make([]column, len(names))
	given := map[string]bool{}
	for i, name := range names {
		columns[i].Name = name
		target, mapped := mapping[name]
		if past, ok := before.Columns[name]; !mapped && ok && t.usable(past, mapping) {
			columns[i].Target, columns[i].By = past, byMemory
			continue
		}
		if !mapped {
			if columns[i].Target = t.named(name); columns[i].Target != "" {
				columns[i].By = byName
			}
			continue
		}
		given[name] = true
		columns[i].Target, columns[i].By = target, byMapping
		if why := t.refusal(target); why != "" {
			p.Add("options.mapping."+name, why)
			columns[i].Target = ""
		}
	}
	for _, name := range slices.Sorted(maps.Keys(mapping)) {
		if !given[name] {
			p.Add("options.mapping."+name, "the file has no such column")
		}
	}
	first := map[string]string{}
	for _, c := range columns {
		if before, twice := first[c.Target]; twice && c.Target != "" && c.Target != tagsTarget && c.Target != statusTarget {
			p.Add("options.mapping."+c.Name, fmt.Sprintf("%s is what the column %q is about already", c.Target, before))
			continue
		}
		first[c.Target] = c.Name
	}
	return columns
}

// hasAddress reports whether a column maps to the address.
func hasAddress(columns []column) bool {
	return slices.ContainsFunc(columns, func(c column) bool { return c.Target == emailTarget })
}

// noAddress is the problem of a file of which no column is known to have the addresses.
var noAddress = fault.Field{Path: "options.mapping", Message: "no column is email"}

// Limits of the search for the column of addresses.
const (
	searchedRows = 200
	searchedPart = 0.8 // of a column's cells that are not empty
)

// findAddress maps a column to the address if it is the only one that is full of addresses, among those of which
// nothing else is known. It reads the first rows.
func findAddress(columns []column, rows *Rows) error {
	filled, addresses := make([]float64, len(columns)), make([]float64, len(columns))
	for range searchedRows {
		row, err := rows.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("look for the column of addresses: %w", err)
		}
		for i, cell := range row.Cells {
			if cell = trimmed(unescapeFormula(cell)); cell == "" || row.Flaw != "" || columns[i].By != "" {
				continue
			}
			filled[i]++
			if _, err := address.Normalize(bareAddress(cell)); err == nil {
				addresses[i]++
			}
		}
	}
	best, only := -1, false
	for i := range columns {
		if addresses[i] == 0 || addresses[i] < searchedPart*filled[i] {
			continue
		}
		switch {
		case best < 0 || addresses[i] > addresses[best]:
			best, only = i, true
		case addresses[i] == addresses[best]:
			only = false
		}
	}
	if only {
		columns[best].Target, columns[best].By = emailTarget, byContent
	}
	return nil
}

// refusal returns why a column cannot map to a target, or "".
func (t targets) refusal(target string) string {
	key, custom := strings.CutPrefix(target, customPrefix)
	typ, consent := strings.CutPrefix(target, consentPrefix)
	switch {
	case custom:
		if _, ok := t.fields[key]; !ok {
			return "not a declared custom field"
		}
	case consent:
		if !slices.ContainsFunc(t.types.EmailTypes, func(e contact.EmailType) bool { return e.Key == typ }) {
			return "there is no such email type"
		}
	case target != "" && !t.plain(target):
		return "is not a field that can be imported; custom fields are custom_fields.<key>, consent is subscriptions.<type_key>"
	}
	return ""
}

// plain reports whether a target is a built-in field.
func (t targets) plain(target string) bool {
	_, text := contact.ParseText(target)
	return text || slices.Contains([]string{emailTarget, tagsTarget, stageTarget, statusTarget, blockTarget}, target)
}

// statusColumns are what other systems call a column of statuses.
var statusColumns = []string{"status", "subscriber_status", "subscription_status"}

// named returns the target for the name of a column: a built-in field, ignoring case and with
// spaces for underscores; else a custom field; else the status for a column that is called so, since a refusal must
// not get lost on the way from another system; else "".
func (t targets) named(name string) string {
	if name == "" || t.refusal(name) == "" {
		return name
	}
	key := strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(norm.NFKC.String(name)))
	if t.plain(key) {
		return key
	}
	if _, ok := t.fields[key]; ok && !slices.Contains(contact.ColumnNames(), key) {
		return customPrefix + key
	}
	if slices.Contains(statusColumns, key) {
		return statusTarget
	}
	return ""
}

// kindOf returns what the forms of a column that maps to a target are about.
func kindOf(target string, fields field.Catalog) kind {
	if key, custom := strings.CutPrefix(target, customPrefix); custom {
		switch fields[key].Type {
		case field.Date, field.DateTime:
			return dateKind
		case field.Number, field.Currency:
			return numberKind
		case field.Boolean:
			return booleanKind
		}
		return plainKind
	}
	if target == blockTarget || strings.HasPrefix(target, consentPrefix) {
		return booleanKind
	}
	return plainKind
}

// setForms adds the forms that the caller gave.
func (t targets) setForms(columns []column, forms map[string]string, p *problems) {
	for _, name := range slices.Sorted(maps.Keys(forms)) {
		path := "options.forms." + name
		i := slices.IndexFunc(columns, func(c column) bool { return c.Name == name })
		if i < 0 {
			p.Add(path, "the file has no such column")
			continue
		}
		k := kindOf(columns[i].Target, t.fields)
		if columns[i].Form = k.parseForm(forms[name]); columns[i].Form == "" {
			p.Add(path, k.choices())
		}
	}
}
