package sink

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/textproto"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Message is a message that was taken.
type Message struct {
	Time      time.Time `json:"time"`
	Conn      int64     `json:"conn"` // number of the connection, from 1
	Mail      string    `json:"mail"`
	Rcpt      []string  `json:"rcpt"`
	MessageID string    `json:"message_id"`
	Ref       string    `json:"ref,omitempty"` // X-Entity-Ref-ID
	Size      int       `json:"size"`
	SHA256    string    `json:"sha256"`         // of all of it, after the dots were unstuffed
	Lost      bool      `json:"lost,omitempty"` // a rule may have lost the answer
	Raw       []byte    `json:"-"`              // only in Messages
}

// ledger stores messages: in memory, in a log, as files.
type ledger struct {
	keep  bool
	store string
	sync  bool
	log   *os.File

	mu       sync.Mutex
	messages []Message
	more     chan struct{} // closed when messages grows
	stored   int
	pending  []byte        // lines to be written
	written  *batch        // the batch that pending belongs to
	wake     chan struct{} // wakes the writer for pending lines
	closed   bool
	writer   sync.WaitGroup
}

// batch is a set of lines that become durable together.
type batch struct {
	done chan struct{}
	err  error
}

func openLedger(o Options) (*ledger, error) {
	l := &ledger{keep: o.Keep, store: o.Store, sync: !o.NoSync, more: make(chan struct{})}
	if l.store != "" {
		if err := os.MkdirAll(l.store, 0o755); err != nil {
			return nil, err
		}
	}
	if o.Log == "" {
		return l, nil
	}
	f, err := os.OpenFile(o.Log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	l.log, l.written, l.wake = f, &batch{done: make(chan struct{})}, make(chan struct{}, 1)
	l.writer.Go(l.write)
	return l, nil
}

// idle reports whether messages are not stored at all.
func (l *ledger) idle() bool { return !l.keep && l.store == "" && l.log == nil }

// add enters a message and returns when its entry is durable.
func (l *ledger) add(m Message, raw []byte) error {
	m.Size = len(raw)
	sum := sha256.Sum256(raw)
	m.SHA256 = hex.EncodeToString(sum[:])
	m.MessageID, m.Ref = headers(raw)
	if l.keep {
		m.Raw = bytes.Clone(raw)
	}
	var line []byte
	if l.log != nil {
		var err error
		if line, err = json.Marshal(m); err != nil {
			return err
		}
	}
	l.mu.Lock()
	l.stored++
	n := l.stored
	l.mu.Unlock()
	if l.store != "" {
		name := filepath.Join(l.store, fmt.Sprintf("%08d.eml", n))
		if err := os.WriteFile(name, raw, 0o644); err != nil {
			return err
		}
	}
	l.mu.Lock()
	if l.keep {
		l.messages = append(l.messages, m)
		close(l.more)
		l.more = make(chan struct{})
	}
	if l.log == nil {
		l.mu.Unlock()
		return nil
	}
	l.pending = append(append(l.pending, line...), '\n')
	b := l.written
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
	<-b.done
	return b.err
}

// write makes pending lines durable, all that have gathered at a time.
func (l *ledger) write() {
	var spare []byte
	for range l.wake {
		l.mu.Lock()
		if len(l.pending) == 0 { // they went with the batch before
			l.mu.Unlock()
			continue
		}
		lines, b := l.pending, l.written
		l.pending, l.written = spare[:0], &batch{done: make(chan struct{})}
		l.mu.Unlock()
		_, b.err = l.log.Write(lines)
		if b.err == nil && l.sync {
			b.err = l.log.Sync()
		}
		close(b.done)
		spare = lines
	}
}

// close ends the log. No message may be added any more.
func (l *ledger) close() error {
	if l.log == nil || l.closed {
		return nil
	}
	l.closed = true
	close(l.wake)
	l.writer.Wait()
	return l.log.Close()
}

// list returns the messages kept in memory, and a channel that is closed when
// there are more.
func (l *ledger) list() ([]Message, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.messages), l.more
}

// headers returns the two header fields that identify a message.
func headers(raw []byte) (messageID, ref string) {
	for len(raw) > 0 {
		line, rest, _ := bytes.Cut(raw, []byte("\r\n"))
		if len(line) == 0 {
			break
		}
		// A folded value goes on in lines that start with white space.
		for len(rest) > 0 && (rest[0] == ' ' || rest[0] == '\t') {
			var more []byte
			more, rest, _ = bytes.Cut(rest, []byte("\r\n"))
			line = append(bytes.Clone(line), more...)
		}
		raw = rest
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch textproto.CanonicalMIMEHeaderKey(string(name)) {
		case "Message-Id":
			messageID = string(bytes.TrimSpace(value))
		case "X-Entity-Ref-Id":
			ref = string(bytes.TrimSpace(value))
		}
	}
	return messageID, ref
}
