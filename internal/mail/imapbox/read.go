package imapbox

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Cursor is a position in a mailbox; the zero Cursor is before all messages.
type Cursor struct {
	Validity uint32 // UIDVALIDITY of the mailbox
	UID      uint32 // of the last message that was read
}

// Message is one message.
type Message struct {
	UID uint32
	At  time.Time // when it arrived at the mailbox
	Raw []byte    // at most the given maximum; the rest is not read
}

// Limits of a page.
const (
	pageMessages = 32
	pageBytes    = 4 << 20
	// unreadable is how old a message is that the server cannot deliver when it is skipped. Before,
	// it may be a failure that passes.
	unreadable = 24 * time.Hour
)

// Page is some messages in the order of their UIDs. It may be empty although more follow.
type Page struct {
	Messages []Message
	After    Cursor // the position after them
	More     bool   // messages follow, as the mailbox was when it was opened
}

// Next returns the next messages after the cursor, at most maxSize bytes of each. The first call
// determines the position, further ones continue after the page before.
func (b *Box) Next(ctx context.Context, from Cursor, maxSize int, now time.Time) (p Page, err error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	if from.Validity != b.validity {
		from = Cursor{Validity: b.validity}
	}
	p.After = from
	err = b.within(ctx, func() (err error) {
		p.Messages, p.After, err = b.page(from, maxSize, now)
		return b.config.problem("read messages", err)
	})
	p.More = err == nil && b.next <= b.total
	return p, err
}

// page is Next. Sequence numbers stay the same until the session ends: a server does not report
// removed messages while a FETCH is in progress (RFC 3501 section 7.4.1), and there is no other
// command.
func (b *Box) page(from Cursor, maxSize int, now time.Time) ([]Message, Cursor, error) {
	if b.next == 0 {
		first, err := b.seek(from.UID)
		if err != nil {
			return nil, from, err
		}
		b.next = first
	}
	if b.next > b.total {
		return nil, from, nil
	}
	entries, err := b.entries(b.next, min(b.total, b.next+pageMessages-1))
	if err != nil {
		return nil, from, err
	}
	size, chosen := 0, map[uint32]entry{}
	last := from.UID
	for seq := b.next; seq <= b.total && seq < b.next+pageMessages; seq++ {
		e, ok := entries[seq]
		if !ok || e.uid <= last { // removed by another session, or out of order
			continue
		}
		n := int(max(0, min(e.size, int64(maxSize))))
		if len(chosen) > 0 && size+n > pageBytes {
			break
		}
		size += n
		chosen[seq], last = e, e.uid
	}
	ended := b.next + pageMessages
	for seq := range entries {
		if e := entries[seq]; e.uid > last && seq < ended {
			ended = seq // the page ended before it
		}
	}
	if len(chosen) == 0 {
		b.next = ended
		return nil, from, nil
	}
	list, err := b.bodies(chosen, size, maxSize)
	if refused(err) {
		list, err = b.oneByOne(chosen, maxSize, now)
	}
	if err != nil {
		return nil, from, err
	}
	b.next = ended
	return list, Cursor{b.validity, last}, nil
}

// seek returns the sequence number of the first message with a greater UID: UIDs ascend with sequence
// numbers, so it asks for few of them.
func (b *Box) seek(uid uint32) (uint32, error) {
	low, high := uint32(1), b.total+1 // the answer is in low to high
	for uid > 0 && low < high {
		middle := low + (high-low)/2
		found, err := b.entries(middle, middle)
		if err != nil {
			return 0, err
		}
		e, ok := found[middle]
		if !ok {
			return 0, errors.New("the server does not give the UID of a message")
		}
		if e.uid > uid {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low, nil
}

// entry is what is known about a message before it is read.
type entry struct {
	uid  uint32
	size int64
	at   time.Time
}

// entries returns the entries of a range of sequence numbers.
func (b *Box) entries(first, last uint32) (map[uint32]entry, error) {
	b.wire.allow(overhead)
	all := map[uint32]entry{}
	err := b.wire.do(fmt.Sprintf("FETCH %d:%d (UID RFC822.SIZE INTERNALDATE)", first, last), func(r response) error {
		seq, items, ok := fetched(r)
		if !ok || seq < first || seq > last {
			return nil
		}
		e := all[seq]
		for _, i := range items {
			switch i.name {
			case "UID":
				e.uid, _ = number(i.value)
			case "RFC822.SIZE":
				e.size, _ = strconv.ParseInt(i.value, 10, 64)
			case "INTERNALDATE":
				e.at, _ = time.Parse("_2-Jan-2006 15:04:05 -0700", strings.TrimSpace(i.value))
			}
		}
		all[seq] = e
		return nil
	}, nil)
	return all, err
}

// bodies returns messages, in order. size is how long they are together.
func (b *Box) bodies(chosen map[uint32]entry, size, maxSize int) ([]Message, error) {
	b.wire.allow(overhead + int64(size))
	var set []string
	for seq := b.next; seq < b.next+pageMessages; seq++ {
		if _, ok := chosen[seq]; ok {
			set = append(set, strconv.FormatUint(uint64(seq), 10))
		}
	}
	read := map[uint32][]byte{}
	err := b.wire.do(fmt.Sprintf("FETCH %s (UID BODY.PEEK[]<0.%d>)", strings.Join(set, ","), maxSize), func(r response) error {
		seq, items, ok := fetched(r)
		if _, asked := chosen[seq]; !ok || !asked {
			return nil
		}
		for _, i := range items {
			if strings.HasPrefix(i.name, "BODY[]") && i.bytes != nil { // else NIL
				read[seq] = i.bytes[:min(len(i.bytes), maxSize)]
			}
		}
		return nil
	}, nil)
	if err != nil {
		return nil, err
	}
	var list []Message
	for seq := b.next; seq < b.next+pageMessages; seq++ {
		if raw, ok := read[seq]; ok {
			list = append(list, Message{chosen[seq].uid, chosen[seq].at, raw})
		}
	}
	return list, nil
}

// oneByOne reads messages one by one, because the server refuses to deliver one of them. It skips
// old ones that cannot be read.
func (b *Box) oneByOne(chosen map[uint32]entry, maxSize int, now time.Time) ([]Message, error) {
	var list []Message
	for seq := b.next; seq < b.next+pageMessages; seq++ {
		e, ok := chosen[seq]
		if !ok {
			continue
		}
		one, err := b.bodies(map[uint32]entry{seq: e}, int(min(e.size, int64(maxSize))), maxSize)
		if refused(err) && now.Sub(e.at) > unreadable {
			continue
		}
		if err != nil {
			return nil, err
		}
		list = append(list, one...)
	}
	return list, nil
}
