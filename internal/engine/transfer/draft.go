package transfer

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/field"
)

// drafter converts rows to drafts.
type drafter struct {
	importParams
	fields field.Catalog
	stages []contact.Stage
}

// rowError is why a row was not imported: the code and message of a fault, and the column if it
// concerns one.
type rowError struct {
	column, code, message string
}

// modes maps the modes of imports to those of package contact.
var modes = map[Mode]contact.Mode{Upsert: contact.Upserting, Create: contact.Creating, Update: contact.Updating}

// draft converts a row to a draft, or returns what is wrong with it.
func (d *drafter) draft(cells []string) (contact.Draft, *rowError) {
	out := contact.Draft{Mode: modes[d.Mode]}
	ch := &out.Change
	ch.KeepRefusals = true
	ch.SourceIfNew = "import"
	ch.Texts = map[contact.Text]*string{}
	if len(d.Subscriptions) > 0 {
		ch.Subscriptions = consentOf(d.Subscriptions)
	}
	tags := d.Tags
	for i, c := range d.Columns {
		if c.Target == "" {
			continue
		}
		cell := ""
		if i < len(cells) {
			cell = unescapeFormula(cells[i])
		}
		if blank([]string{cell}) {
			cell = ""
		}
		if cell == "" && !d.UpdateBlank && c.Target != emailTarget {
			continue
		}
		if why := d.setCell(&out, &tags, c.Target, cell); why != "" {
			return out, &rowError{c.Name, fault.ErrInput.Code, why}
		}
	}
	if len(tags) > 0 {
		ch.Tags = &tags
	}
	return out, nil
}

// setCell adds one cell to a draft, or returns what is wrong with it. An empty cell is passed only if
// it clears the field.
func (d *drafter) setCell(out *contact.Draft, tags *[]string, target, cell string) string {
	ch := &out.Change
	if key, ok := strings.CutPrefix(target, customPrefix); ok {
		if ch.CustomFields == nil {
			ch.CustomFields = map[string]any{}
		}
		ch.CustomFields[key] = customValue(d.fields[key], cell)
		return ""
	}
	cell = strings.TrimSpace(cell)
	if key, ok := strings.CutPrefix(target, consentPrefix); ok {
		if cell == "" {
			return "" // an empty cell is no consent
		}
		yes, ok := parseBoolean(cell)
		if !ok {
			return notBoolean
		}
		if ch.Subscriptions == nil {
			ch.Subscriptions = map[string]*bool{}
		}
		ch.Subscriptions[key] = &yes
		return ""
	}
	switch target {
	case emailTarget:
		if cell == "" {
			return "required"
		}
		out.Email = cell
	case tagsTarget:
		*tags = append(slices.Clip(*tags), splitList(cell)...)
	case stageTarget:
		return d.stage(ch, cell)
	case statusTarget:
		return setStatus(ch, cell)
	case blockTarget:
		if cell == "" {
			return ""
		}
		value, ok := parseBoolean(cell)
		if !ok {
			return notBoolean
		}
		ch.DoNotContact = &value
	default:
		if cell == "" {
			ch.Texts[contact.Text(target)] = nil
			return ""
		}
		ch.Texts[contact.Text(target)] = &cell
	}
	return ""
}

// setStatus adds a status to a change. Of several the one that allows least counts.
func setStatus(ch *contact.Change, cell string) string {
	if cell == "" {
		return ""
	}
	s, ok := parseStatus(cell)
	if !ok {
		return "is no known status: write active, pending, unsubscribed, bounced, complained or suppressed, or map the column to no field if it is about something else"
	}
	if order := contact.Statuses(); slices.Index(order, s) > slices.Index(order, ch.Status) {
		ch.Status = s
	}
	return ""
}

// stage parses the id, the slug or the name of a stage.
func (d *drafter) stage(ch *contact.Change, cell string) string {
	if cell == "" {
		return ""
	}
	for _, s := range d.stages {
		if s.ID.String() == strings.ToLower(cell) || s.Slug == strings.ToLower(cell) {
			ch.Stage = new(s.ID.String())
			return ""
		}
	}
	for _, s := range d.stages {
		if strings.EqualFold(s.Name, cell) {
			ch.Stage = new(s.ID.String())
			return ""
		}
	}
	return "there is no such stage"
}

// customValue converts a cell to the JSON value of a custom field. A cell that does not parse stays a
// string, which the field's validation refuses.
// Text is kept as it is, unless only the trimmed one is a value of the field.
func customValue(f field.Field, cell string) any {
	if cell == "" {
		return nil
	}
	if f.Type == field.String || f.Type == field.Enum {
		if _, _, ok := f.Value(cell); ok {
			return cell
		}
	}
	cell = strings.TrimSpace(cell)
	switch f.Type {
	case field.Number, field.Currency:
		if n, err := strconv.ParseFloat(cell, 64); err == nil && !math.IsInf(n, 0) && !math.IsNaN(n) && !strings.ContainsAny(cell, "xXpP_") {
			return n
		}
	case field.Boolean:
		if value, ok := parseBoolean(cell); ok {
			return value
		}
	case field.Tags:
		var values []any
		for _, v := range splitList(cell) {
			values = append(values, v)
		}
		return values
	}
	return cell
}

const notBoolean = "must be true, false, yes, no, 1 or 0"

func parseBoolean(cell string) (value, ok bool) {
	switch strings.ToLower(cell) {
	case "true", "yes", "1":
		return true, true
	case "false", "no", "0":
		return false, true
	}
	return false, false
}

// rowErrorOf converts a fault to the error of a row, and finds the column it concerns.
func (d *drafter) rowErrorOf(err *fault.Error) *rowError {
	m := &rowError{code: err.Code, message: err.Message}
	var details struct {
		Fields []fault.Field `json:"fields"`
	}
	if text, e := json.Marshal(err.Details); e == nil && json.Unmarshal(text, &details) == nil && len(details.Fields) > 0 {
		for _, c := range d.Columns {
			path, _, _ := strings.Cut(details.Fields[0].Path, "[")
			if c.Target == path {
				m.column = c.Name
				break
			}
		}
	}
	return m
}
