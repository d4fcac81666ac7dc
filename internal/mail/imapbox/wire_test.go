package imapbox

import (
	"bytes"
	"io"
	"net"
	"strings"
	"testing"
)

// script is a connection on which a server says what it says, whatever it is asked.
type script struct {
	net.Conn
	io.Reader
}

func (s script) Read(p []byte) (int, error)  { return s.Reader.Read(p) }
func (s script) Write(p []byte) (int, error) { return len(p), nil }

func FuzzResponses(f *testing.F) {
	f.Add([]byte("* 1 FETCH (UID 3 RFC822.SIZE 5 INTERNALDATE \" 1-Mar-2026 12:00:00 +0000\")\r\np1 OK done\r\n"))
	f.Add([]byte("* 1 FETCH (FLAGS (\\Seen {3}\r\na)b) UID 3 BODY[HEADER.FIELDS (TO)] {5}\r\nhello BODY[]<0> \"a\\\"b\")\r\np1 NO [X] done\r\n"))
	f.Add([]byte("* BYE\r\n+ x\r\n"))
	f.Fuzz(func(t *testing.T, said []byte) {
		const allowed = 1000
		w := newWire(script{Reader: bytes.NewReader(said)})
		w.allow(allowed)
		size := 0
		err := w.do("FETCH", func(r response) error {
			for _, l := range r.literals {
				size += len(l)
			}
			_, items, _ := fetched(r)
			for _, i := range items {
				if i.name == "" {
					t.Error("an item without a name")
				}
			}
			return nil
		}, func() string { return "" })
		if size > allowed {
			t.Errorf("%d bytes of literals", size)
		}
		if err == nil && !bytes.Contains(said, []byte("p1 ")) {
			t.Error("no tagged response, and no error")
		}
	})
}

func TestItemsOfAResponse(t *testing.T) {
	t.Parallel()
	w := newWire(script{Reader: bytes.NewReader([]byte("* 7 FETCH (FLAGS (\\Seen \"a)\" {3}\r\n)))(x)) X-GM-LABELS (\"a\\\"(\") BODY[HEADER.FIELDS (TO CC)] {4}\r\nTo: UID 12 BODY[]<0> NIL INTERNALDATE \"x\\\"y\")\r\n"))})
	w.allow(1000)
	r, err := w.read()
	if err != nil {
		t.Fatal(err)
	}
	seq, items, ok := fetched(r)
	var got strings.Builder
	for _, i := range items {
		got.WriteString(i.name + "=" + i.value + string(i.bytes) + ";")
	}
	if want := `FLAGS=;X-GM-LABELS=;BODY[HEADER.FIELDS (TO CC)]=To: ;UID=12;BODY[]<0>=NIL;INTERNALDATE=x"yx"y;`; !ok || seq != 7 || got.String() != want {
		t.Errorf("%d %q, want %q", seq, got.String(), want)
	}
}
