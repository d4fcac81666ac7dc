package columnar

import (
	"slices"

	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
)

// Limits of a column. One with more values, such as that of addresses, is not kept.
const (
	maxValues     = 1<<16 - 1
	maxValueBytes = 4 << 20
)

// Memory that entries take besides their texts, in bytes: slices and maps have room for more, and texts are rounded up.
const (
	valueBytes = 96 // in column.texts and column.code
	moreBytes  = 48 // in table.more
)

// column has the values of an attribute, one for each contact. Equal values have the same code; 0 stands for none.
type column struct {
	codes []uint16
	texts []string // by code
	code  map[string]uint16
	bytes int
}

func newColumn(contacts int) *column {
	return &column{codes: make([]uint16, 0, contacts), texts: []string{""}, code: map[string]uint16{}}
}

// codeOf returns the code of a value; ok is false if there are too many.
func (c *column) codeOf(text string, known bool) (code uint16, ok bool) {
	if !known {
		return 0, true
	}
	if code, ok = c.code[text]; ok {
		return code, true
	}
	if len(c.texts) > maxValues || c.bytes+len(text) > maxValueBytes {
		return 0, false
	}
	c.bytes += len(text)
	code = uint16(len(c.texts))
	c.texts = append(c.texts, text)
	c.code[text] = code
	return code, true
}

// The flags of a contact, on which every count depends.
const (
	member    = 1 << iota // neither pending nor anonymized
	reachable             // active, and not excluded from mail
	listed                // its address is on the suppression list
)

// row is what is read of a contact.
type row struct {
	id     id.Contact
	flags  uint8
	values []value // in the order of the table's attributes
}

type value struct {
	text  string
	known bool
}

// table has the values of all contacts of a tenant, as one evaluation saw them.
type table struct {
	attributes []rule.Attribute
	columns    map[rule.Attribute]*column // without those that have too many values
	flags      []uint8
	ids        []id.Contact          // the first ones, in order
	more       map[id.Contact]uint32 // positions of the others
}

func newTable(attributes []rule.Attribute, contacts int) *table {
	t := &table{
		attributes: attributes, columns: make(map[rule.Attribute]*column, len(attributes)),
		flags: make([]uint8, 0, contacts), ids: make([]id.Contact, 0, contacts), more: map[id.Contact]uint32{},
	}
	for _, a := range attributes {
		t.columns[a] = newColumn(contacts)
	}
	return t
}

// load appends a contact whose id is higher than those of all others.
func (t *table) load(r row) {
	t.ids = append(t.ids, r.id)
	t.append(r)
}

func (t *table) append(r row) {
	t.flags = append(t.flags, r.flags)
	t.each(r, func(c *column, code uint16) { c.codes = append(c.codes, code) })
}

// each calls do with the columns and the codes of a row's values. It drops columns that get too many values.
func (t *table) each(r row, do func(c *column, code uint16)) {
	for i, a := range t.attributes {
		c := t.columns[a]
		if c == nil {
			continue
		}
		code, ok := c.codeOf(r.values[i].text, r.values[i].known)
		if !ok {
			delete(t.columns, a)
			continue
		}
		do(c, code)
	}
}

// set replaces the values of a contact, or adds it.
func (t *table) set(r row) {
	at, found := t.position(r.id)
	if !found {
		t.more[r.id] = uint32(len(t.flags))
		t.append(r)
		return
	}
	t.flags[at] = r.flags
	t.each(r, func(c *column, code uint16) { c.codes[at] = code })
}

func (t *table) position(c id.Contact) (int, bool) {
	if at, found := slices.BinarySearchFunc(t.ids, c, id.Compare); found {
		return at, true
	}
	at, found := t.more[c]
	return int(at), found
}

// has reports whether the table has all of some attributes. A nil table has none, and not even the flags.
func (t *table) has(attributes []rule.Attribute) bool {
	return t != nil && !slices.ContainsFunc(attributes, func(a rule.Attribute) bool { return t.columns[a] == nil })
}

// refuses reports whether one of some attributes has too many values.
func (t *table) refuses(attributes []rule.Attribute) bool {
	return t != nil && slices.ContainsFunc(attributes, func(a rule.Attribute) bool { return t.columns[a] == nil && slices.Contains(t.attributes, a) })
}

// rowBytes returns the memory that a contact needs in a table of so many attributes.
func rowBytes(attributes int) int { return 17 + 2*attributes }

// size returns the memory of the table, in bytes.
func (t *table) size() int {
	n := cap(t.flags) + 16*cap(t.ids) + moreBytes*len(t.more)
	for _, c := range t.columns {
		n += 2*cap(c.codes) + c.valuesSize()
	}
	return n
}

// valuesSize returns the memory of the distinct values, in bytes.
func (c *column) valuesSize() int { return c.bytes + valueBytes*len(c.texts) }

// flagsOf returns the flags of a contact.
func flagsOf(status contact.Status, doNotContact, anonymized, onList bool) uint8 {
	var f uint8
	if status != contact.Pending && !anonymized {
		f |= member
	}
	if status == contact.Active && !doNotContact {
		f |= reachable
	}
	if onList {
		f |= listed
	}
	return f
}
