package journal

import (
	"slices"

	"github.com/packetboat/packetboat/internal/id"
)

// A pack is what was appended at once about contacts that were made: one row holds
// the ids of up to packed of them, 16 bytes each, instead of a row for each. Those
// who follow the journal are shown an entry for each contact; these have the place
// and the id of the pack. No statement looks such entries up by contact: what a
// contact's creation says is in its own row.
type packOf struct {
	Entry
	contacts []byte
}

// packed bounds a pack, so that PostgreSQL keeps the row on its page.
const packed = 100

// packable reports whether an entry says nothing but that a contact was made.
func (e Entry) packable() bool {
	return e.Type == ContactCreated && !e.Contact.IsZero() && e.ID.IsZero() && e.Name == "" && e.Send.IsZero() && e.Message.IsZero() && e.Data == nil
}

// pack gathers what was appended at once about contacts that were made, and returns
// the entries that are left. A contact's creation is the first entry about it, so
// packs stand before them.
func pack(entries []Entry) ([]packOf, []Entry) {
	n := 0
	for _, e := range entries {
		if e.packable() {
			n++
		}
	}
	if n < 2 {
		return nil, entries
	}
	var packs []packOf
	left := make([]Entry, 0, len(entries)-n)
	for _, e := range entries {
		if !e.packable() {
			left = append(left, e)
			continue
		}
		i := len(packs) - 1
		if i < 0 || len(packs[i].contacts) == packed*len(e.Contact) || !packs[i].At.Equal(e.At) {
			p := packOf{Entry: e, contacts: make([]byte, 0, min(n, packed)*len(e.Contact))}
			p.Contact = id.Contact{}
			packs, i = append(packs, p), i+1
		}
		packs[i].contacts = append(packs[i].contacts, e.Contact[:]...)
		n--
	}
	return packs, left
}

// unpacked appends to list an entry of each contact of a pack.
func unpacked(list []Entry, e Entry, contacts []byte) []Entry {
	list = slices.Grow(list, len(contacts)/len(e.Contact))
	for c := range slices.Chunk(contacts, len(e.Contact)) {
		e.Contact = id.Contact(c)
		list = append(list, e)
	}
	return list
}
