package journal

import (
	"slices"

	"github.com/packetboat/packetboat/internal/base/id"
)

// packOf is a pack: one row for up to maxPack contacts that were created in one call, with their
// ids, 16 bytes each. Followers get an entry for each contact, with the position and the id of the
// pack. No statement looks up such entries by contact; the data about its creation are in the
// contact's own row.
type packOf struct {
	Entry
	contacts []byte
}

// maxPack limits a pack, so that PostgreSQL stores the row inline rather than in TOAST.
const maxPack = 100

// packable reports whether an entry contains nothing but the creation of a contact.
func (e Entry) packable() bool {
	return e.Type == ContactCreated && !e.Contact.IsZero() && e.ID.IsZero() && e.Name == "" && e.Send.IsZero() && e.Message.IsZero() && e.Data == nil
}

// pack combines entries about created contacts into packs, and returns the remaining entries. Packs
// are inserted first, because a contact's creation must precede its other entries.
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
		if i < 0 || len(packs[i].contacts) == maxPack*len(e.Contact) || !packs[i].At.Equal(e.At) {
			p := packOf{Entry: e, contacts: make([]byte, 0, min(n, maxPack)*len(e.Contact))}
			p.Contact = id.Contact{}
			packs, i = append(packs, p), i+1
		}
		packs[i].contacts = append(packs[i].contacts, e.Contact[:]...)
		n--
	}
	return packs, left
}

// unpacked appends an entry for each contact of a pack to list.
func unpacked(list []Entry, e Entry, contacts []byte) []Entry {
	list = slices.Grow(list, len(contacts)/len(e.Contact))
	for c := range slices.Chunk(contacts, len(e.Contact)) {
		e.Contact = id.Contact(c)
		list = append(list, e)
	}
	return list
}
