package compose_test

import (
	"bytes"
	"io"
	"mime/quotedprintable"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/mail/compose"
	"github.com/packetboat/packetboat/internal/mail/liquid"
)

// checkKnown holds a body in pieces, of which every second one is known, against
// the same body of which nothing is.
func checkKnown(t interface {
	Helper()
	Fatalf(string, ...any)
	Errorf(string, ...any)
}, pieces []string, from int) {
	t.Helper()
	var texts []string
	var marks []liquid.Mark
	var body []byte
	for i, p := range pieces {
		if i%2 == 1 {
			marks = append(marks, liquid.Mark{At: len(body), Text: len(texts)})
			texts = append(texts, p)
		}
		body = append(body, p...)
	}
	from = min(from, len(body))
	known := compose.Known{Texts: compose.Precompose(texts), Marks: marks}
	quoted, encoded := compose.EncodeKnown(body, from, known)
	plainQuoted, plain := compose.EncodeKnown(body, from, compose.Known{})
	if quoted != plainQuoted {
		t.Fatalf("%q from %d: quoted-printable %v; %v when nothing is known", pieces, from, quoted, plainQuoted)
	}
	if !quoted {
		if !bytes.Equal(encoded, plain) {
			t.Errorf("%q from %d: base64 %q; %q when nothing is known", pieces, from, encoded, plain)
		}
		return
	}
	if err := compose.WireReady(encoded); err != nil {
		t.Fatalf("%q from %d: %q: %v", pieces, from, encoded, err)
	}
	for line := range bytes.SplitSeq(encoded, []byte("\r\n")) {
		if len(line) > 76 || bytes.HasPrefix(line, []byte(".")) || bytes.HasPrefix(line, []byte("From ")) || bytes.HasSuffix(line, []byte(" ")) || bytes.HasSuffix(line, []byte("\t")) {
			t.Errorf("%q from %d: line %q", pieces, from, line)
		}
	}
	got, err := io.ReadAll(quotedprintable.NewReader(bytes.NewReader(encoded)))
	if err != nil {
		t.Fatalf("%q from %d: %q: %v", pieces, from, encoded, err)
	}
	want, err := io.ReadAll(quotedprintable.NewReader(bytes.NewReader(plain)))
	if err != nil {
		t.Fatalf("%q from %d: %q: %v", pieces, from, plain, err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%q from %d: decoded %q; %q when nothing is known", pieces, from, got, want)
	}
}

// Whatever is known before, a body is encoded the same way and decodes to the
// same bytes.
func TestWhatIsKnownChangesOnlySoftBreaks(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("Words that need no escapes at all. ", 9)
	atom := rapid.OneOf(
		rapid.SampledFrom([]string{" ", "\t", "\r", "\n", "\r\n", ".", "F", "From", "From ", "rom ", "=", "ä", "日", "\xc3", "\xa9", "\xff", "\x00", "\x01", "\ufeff", filler[:60], filler, strings.Repeat("x", 73)}),
		rapid.StringN(0, 6, -1),
		rapid.Custom(func(t *rapid.T) string { return strings.Repeat("a", rapid.IntRange(0, 80).Draw(t, "run")) }),
	)
	piece := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(atom, 0, 6).Draw(t, "atoms"), "")
	})
	rapid.Check(t, func(t *rapid.T) {
		checkKnown(t, rapid.SliceOfN(piece, 0, 8).Draw(t, "pieces"), rapid.IntRange(0, 3).Draw(t, "from"))
	})
}

func FuzzKnown(f *testing.F) {
	tail := strings.Repeat("Words that need no escapes at all.\n", 4)
	for _, s := range []string{
		"", "a|b|c", "a |\nb|", "\r|\nb\r|\n", "F|rom x|", "|From| x", "\n|.a|.b", "\xc3|\xa9|", "|\ufeffa|", "a|" + strings.Repeat("x", 75) + "|b", "ä|ö|ü",
	} {
		f.Add(s+"|"+tail, uint8(0))
	}
	f.Fuzz(func(t *testing.T, s string, from uint8) { checkKnown(t, strings.Split(s, "|"), int(from)) })
}

// A Known that does not fit the body changes nothing.
func TestWhatIsNotThereIsNotWritten(t *testing.T) {
	t.Parallel()
	body := []byte("Dear Ann, the spring has come.\r\n")
	texts := compose.Precompose([]string{", the spring has come.\r\n", "Dear ", "secret"})
	_, want := compose.EncodeBody(body)
	for _, marks := range [][]liquid.Mark{
		{{At: 9, Text: 0}}, {{At: 8, Text: 3}}, {{At: 8, Text: -1}}, {{At: -1, Text: 1}}, {{At: 99, Text: 1}}, {{At: 30, Text: 2}}, {{At: 8, Text: 0}, {At: 0, Text: 1}}, {{At: 0, Text: 1}, {At: 0, Text: 1}},
	} {
		if _, got := compose.EncodeKnown(body, 0, compose.Known{Texts: texts, Marks: marks}); !bytes.Equal(got, want) {
			t.Errorf("%v: %q", marks, got)
		}
	}
}
