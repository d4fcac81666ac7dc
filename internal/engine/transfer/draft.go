package transfer

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/field"
)

// drafter converts rows to drafts.
type drafter struct {
	importParams
	fields field.Catalog
	stages []contact.Stage
	forms  map[int]form // by column
}

// rowError is why a row was not imported, or not one of its cells: the code and message of a fault, and the key of the
// column if it concerns one.
type rowError struct {
	column, code, message string
	value                 string // of the cell, if it concerns one
}

// modes maps the modes of imports to those of package contact.
var modes = map[Mode]contact.Mode{Upsert: contact.Upserting, Create: contact.Creating, Update: contact.Updating}

// draft converts a row to a draft. Cells whose values do not fit their fields are left out of it, and returned. The
// error is why the row cannot be imported.
func (d *drafter) draft(cells []string) (out contact.Draft, unfit []rowError, _ *rowError) {
	out.Mode = modes[d.Mode]
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
		if trimmed(cell) == "" {
			cell = ""
		}
		if cell == "" && !d.UpdateBlank && c.Target != emailTarget {
			continue
		}
		why := d.setCell(&out, &tags, i, cell)
		if why == nil {
			continue
		}
		why.column, why.value = c.key(), cell
		if d.Strict || needed(c.Target) {
			return out, nil, why
		}
		unfit = append(unfit, *why)
	}
	if len(tags) > 0 {
		ch.Tags = &tags
	}
	return out, unfit, nil
}

// needed reports whether a row is not imported without the value of a column: if it has no address, and if what
// it says about a refusal is not understood, since mail must not be sent against it.
func needed(target string) bool {
	return target == emailTarget || target == statusTarget || target == blockTarget || strings.HasPrefix(target, consentPrefix)
}

// misfit returns the problem with a cell.
func misfit(why string) *rowError { return &rowError{code: fault.ErrInput.Code, message: why} }

// setCell adds the cell of a column to a draft, or returns what is wrong with it. An empty cell is passed only if
// it clears the field.
func (d *drafter) setCell(out *contact.Draft, tags *[]string, column int, cell string) *rowError {
	ch, target := &out.Change, d.Columns[column].Target
	if key, ok := strings.CutPrefix(target, customPrefix); ok {
		value, expected, ok := d.customValue(d.fields[key], cell, d.forms[column])
		if !ok {
			return &rowError{code: field.ErrValue.Code, message: "must be " + expected}
		}
		if ch.CustomFields == nil {
			ch.CustomFields = map[string]any{}
		}
		ch.CustomFields[key] = value
		return nil
	}
	cell = trimmed(cell)
	if key, ok := strings.CutPrefix(target, consentPrefix); ok {
		if cell == "" {
			return nil // an empty cell is no consent
		}
		yes, ok := parseBoolean(cell, d.forms[column])
		if !ok {
			return misfit(notBoolean)
		}
		if ch.Subscriptions == nil {
			ch.Subscriptions = map[string]*bool{}
		}
		ch.Subscriptions[key] = &yes
		return nil
	}
	switch target {
	case emailTarget:
		if cell == "" {
			return misfit("required")
		}
		cell = bareAddress(cell)
		if _, err := address.Normalize(cell); err != nil {
			return misfit(err.Error())
		}
		out.Email = cell
	case tagsTarget:
		list := splitList(cell)
		for _, tag := range list {
			if _, err := contact.ParseTag(tag); err != nil {
				return misfit(err.Error())
			}
		}
		*tags = append(slices.Clip(*tags), list...)
	case stageTarget:
		return d.stage(ch, cell)
	case statusTarget:
		return setStatus(ch, cell)
	case blockTarget:
		if cell == "" {
			return nil
		}
		value, ok := parseBoolean(cell, d.forms[column])
		if !ok {
			return misfit(notBoolean)
		}
		ch.DoNotContact = &value
	default:
		text := contact.Text(target)
		if cell == "" {
			ch.Texts[text] = nil
			return nil
		}
		if why := text.Refusal(cell); why != "" {
			return misfit(why)
		}
		ch.Texts[text] = &cell
	}
	return nil
}

// bareAddress returns the address in a cell such as "Ann Lee" <ann@example.org>, as mail programs copy it, or the cell.
func bareAddress(cell string) string {
	if inner, closed := strings.CutSuffix(cell, ">"); closed {
		if i := strings.LastIndexByte(inner, '<'); i >= 0 {
			cell = trimmed(inner[i+1:])
		}
	}
	if scheme := "mailto:"; len(cell) > len(scheme) && strings.EqualFold(cell[:len(scheme)], scheme) {
		cell = cell[len(scheme):]
	}
	return cell
}

// setStatus adds a status to a change. Of several the one that allows least counts.
func setStatus(ch *contact.Change, cell string) *rowError {
	if cell == "" {
		return nil
	}
	s, ok := parseStatus(cell)
	if !ok {
		return misfit("is no known status: write active, pending, unsubscribed, bounced, complained or suppressed, or map the column to no field if it is about something else")
	}
	if order := contact.Statuses(); slices.Index(order, s) > slices.Index(order, ch.Status) {
		ch.Status = s
	}
	return nil
}

// stage parses the id, the slug or the name of a stage.
func (d *drafter) stage(ch *contact.Change, cell string) *rowError {
	if cell == "" {
		return nil
	}
	for _, s := range d.stages {
		if s.ID.String() == strings.ToLower(cell) || s.Slug == strings.ToLower(cell) {
			ch.Stage = new(s.ID.String())
			return nil
		}
	}
	for _, s := range d.stages {
		if strings.EqualFold(s.Name, cell) {
			ch.Stage = new(s.ID.String())
			return nil
		}
	}
	return misfit("there is no such stage")
}

// customValue converts a cell to the value of a custom field; nil clears the field. If it does not fit, ok is false.
// Text is kept as it is, unless only the trimmed one is a value of the field.
func (d *drafter) customValue(f field.Field, cell string, written form) (value any, expected string, ok bool) {
	if cell == "" {
		return nil, "", true
	}
	if f.Type == field.String || f.Type == field.Enum {
		if _, _, ok := f.Value(cell); ok {
			return cell, "", true
		}
	}
	cell = trimmed(cell)
	value = cell
	switch f.Type {
	case field.Number, field.Currency:
		if n, ok := parseNumber(cell, written); ok {
			value = n
		}
	case field.Boolean:
		if yes, ok := parseBoolean(cell, written); ok {
			value = yes
		}
	case field.Tags:
		list := []any{}
		for _, v := range splitList(cell) {
			list = append(list, v)
		}
		value = list
	case field.Date, field.DateTime:
		if _, _, iso := f.Value(cell); iso {
			break
		}
		t, ok := parseDate(cell, written)
		switch midnight := t.Truncate(24 * time.Hour); {
		case ok && f.Type == field.DateTime:
			value = t.Format(time.RFC3339Nano)
		case ok && t.Equal(midnight):
			value = t.Format(time.DateOnly)
		}
	case field.Time:
		if of, ok := parseClock(cell); ok {
			value = clockText(of)
		}
	}
	_, expected, ok = f.Value(value)
	return value, expected, ok
}

const notBoolean = "must be true, false, yes, no, 1 or 0"

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
				m.column = c.key()
				break
			}
		}
	}
	return m
}
