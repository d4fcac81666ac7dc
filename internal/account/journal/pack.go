package journal

import (
	"encoding/binary"
	"slices"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// packOf is a pack: one row for up to maxPack entries of a type that were appended together and differ only
// in what packed has of each. Of contacts that were created it has the id, 16 bytes; of mails that were sent or
// delivered, 40 bytes: the contact, the message, and the time in microseconds after that of the pack.
//
// Followers get each entry, with the position and the id of the pack. No statement looks up such entries by
// contact or message; what they say is also in the rows of the contact and of the message.
type packOf struct {
	Entry
	packed []byte
}

// maxPack and maxPackedMails limit a pack, so that PostgreSQL stores the row inline rather than in TOAST.
const (
	maxPack        = 100
	maxPackedMails = 40
)

const mailBytes = 16 + 16 + 8

// aboutMail reports whether entries of the type are packed with their messages.
func (t Type) aboutMail() bool { return t == EmailSent || t == EmailDelivered }

// packable reports whether a pack can say all that an entry says.
func (e Entry) packable() bool {
	if e.Contact.IsZero() || !e.ID.IsZero() || e.Name != "" || e.Data != nil {
		return false
	}
	if e.Type.aboutMail() {
		return !e.Message.IsZero()
	}
	return e.Type == ContactCreated && e.Send.IsZero() && e.Message.IsZero()
}

// packKey is what the entries of a pack have in common.
type packKey struct {
	Type Type
	Send id.Send
	At   int64 // of contacts that were created, in microseconds; 0 for mails, which have a time each
}

func (e Entry) packKey() packKey {
	if e.Type.aboutMail() {
		return packKey{e.Type, e.Send, 0}
	}
	return packKey{e.Type, e.Send, e.At.UnixMicro()}
}

// full reports whether a pack has as many entries as fit.
func (p *packOf) full() bool {
	if p.Type.aboutMail() {
		return len(p.packed) == maxPackedMails*mailBytes
	}
	return len(p.packed) == maxPack*len(p.Contact)
}

func (p *packOf) add(e Entry) {
	p.packed = append(p.packed, e.Contact[:]...)
	if e.Type.aboutMail() {
		p.packed = append(p.packed, e.Message[:]...)
		p.packed = binary.BigEndian.AppendUint64(p.packed, uint64(e.At.UnixMicro()-p.At.UnixMicro()))
	}
}

// pack combines entries into packs. Those of created contacts come first, because a contact's creation must precede its
// other entries; the others keep their order, a pack that of its first entry. An entry that is alone in its pack stays
// an entry, with packed nil.
func pack(entries []Entry) []packOf {
	if len(entries) == 1 {
		return []packOf{{Entry: entries[0]}}
	}
	list := make([]packOf, 0, len(entries))
	alone := make([]Entry, 0, len(entries)) // the first entry of each in list
	last := map[packKey]int{}               // the index of the last pack
	add := func(e Entry) {
		if !e.packable() {
			list, alone = append(list, packOf{Entry: e}), append(alone, e)
			return
		}
		i, ok := last[e.packKey()]
		if !ok || list[i].full() {
			i, last[e.packKey()] = len(list), len(list)
			p := packOf{Entry: e}
			p.Contact, p.Message = id.Contact{}, id.Message{}
			list, alone = append(list, p), append(alone, e)
		}
		list[i].add(e)
	}
	for _, created := range []bool{true, false} {
		for _, e := range entries {
			if created == (e.Type == ContactCreated && e.packable()) {
				add(e)
			}
		}
	}
	for i := range list {
		if list[i].single() {
			list[i] = packOf{Entry: alone[i]}
		}
	}
	return list
}

// single reports whether a pack has one entry.
func (p *packOf) single() bool {
	if p.Type.aboutMail() {
		return len(p.packed) == mailBytes
	}
	return len(p.packed) == len(p.Contact)
}

// unpacked appends the entries of a pack to list.
func unpacked(list []Entry, e Entry, packed []byte) []Entry {
	size := len(e.Contact)
	if e.Type.aboutMail() {
		size = mailBytes
	}
	list = slices.Grow(list, len(packed)/size)
	from := e.At.UnixMicro()
	for one := range slices.Chunk(packed, size) {
		e.Contact = id.Contact(one[:16])
		if e.Type.aboutMail() {
			e.Message = id.Message(one[16:32])
			e.At = sqldb.Time(from + int64(binary.BigEndian.Uint64(one[32:])))
		}
		list = append(list, e)
	}
	return list
}
