package mimepart_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/mail/mimepart"
)

func TestHeadersAreRead(t *testing.T) {
	t.Parallel()
	many := strings.Repeat("X: y\n", 1500)
	long := "X: " + strings.Repeat("a\n ", 70_000)
	for _, tt := range []struct {
		name, text  string
		whole       bool
		fields      int
		first, body string
	}{
		{"fields", "A: b\nC: d\n\nrest", false, 2, "b", "rest"},
		{"folded", "A: b\r\n c\r\n\td\r\n\r\nrest", false, 1, "b c d", "rest"},
		{"none", "just words\n\nrest", true, 0, "", "just words\n\nrest"},
		{"a line that is none", "A: b\nno field\nC: d\n\nrest", false, 1, "b", "no field\nC: d\n\nrest"},
		{"a line that is none, whole", "A: b\nno field\n with more\nC: d\n\nrest", true, 2, "b", "rest"},
		{"a blank folded line", "A: b\n \nC: d\n\nrest", false, 1, "b", "C: d\n\nrest"},
		{"a blank folded line, whole", "A: b\n \nC: d\n\nrest", true, 2, "b", "rest"},
		{"many", many + "\nrest", false, 1000, "y", strings.Repeat("X: y\n", 500) + "\nrest"},
		{"many, whole", many + "Content-Type: a/b\n\nrest", true, 1001, "y", "rest"},
		{"long, whole", long + "\nB: c\n\nrest", true, 2, strings.TrimSpace(strings.Repeat("a ", 1<<15)), "rest"},
	} {
		n := new(mimepart.Meter).Parse(tt.text, mimepart.Limits{Depth: 1, Parts: 1, WholeHeaders: tt.whole})
		first := ""
		if len(n.Header) > 0 {
			first = n.Header[0].Value
		}
		if len(n.Header) != tt.fields || n.Body != tt.body || first != tt.first && !strings.HasPrefix(first, tt.first) {
			t.Errorf("%s: %d fields, the first %.50q (%d bytes), then %.50q; want %d, %.50q, %.50q", tt.name, len(n.Header), first, len(first), n.Body, tt.fields, tt.first, tt.body)
		}
	}
}

func TestTextsAreUTF8(t *testing.T) {
	t.Parallel()
	type given struct {
		text, charset string
		page          bool
	}
	got, want := map[given]string{}, map[given]string{
		{"Grüße", "", false}:                              "Grüße",
		{"Grüße", "iso-8859-1", false}:                    "Grüße",
		{"caf\xe9", "ISO-8859-1", false}:                  "café",
		{"caf\xe9", "", false}:                            "café",
		{"caf\xe9", "x-nothing", false}:                   "café",
		{"H\x00i\x00", "utf-16le", false}:                 "Hi",
		{"\x1b$B$3\x1b(B", "iso-2022-jp", false}:          "こ",
		{"words", "iso-2022-kr", false}:                   "words", // which browsers refuse
		{"<meta charset=koi8-r>\xf0", "", true}:           "<meta charset=koi8-r>П",
		{"<meta charset=koi8-r>\xf0", "", false}:          "<meta charset=koi8-r>ð",
		{"<meta charset=koi8-r>\xf0", "iso-8859-1", true}: "<meta charset=koi8-r>ð",
		{"", "utf-8", true}:                               "",
	}
	for g := range want {
		got[g] = mimepart.UTF8(g.text, g.charset, g.page)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Whatever a message is, no more is read of it than the limits allow, and the work grows with its size alone.
func FuzzParse(f *testing.F) {
	deep := "Content-Type: text/plain\n\nwords"
	for i := range 8 {
		deep = fmt.Sprintf("Content-Type: multipart/mixed; boundary=%d\n\n--%d\n%s\n--%d--\n", i, i, deep, i)
	}
	for _, s := range []string{
		"", "words", "A: b\n\nwords", deep, strings.ReplaceAll(deep, "\n", "\r\n"), strings.ReplaceAll(deep, "; boundary", "; x"), strings.ReplaceAll(deep, "=", "=1"),
		"Content-Type: multipart/mixed; boundary=b\n\n" + strings.Repeat("--b\nContent-Type: a/b\n\nx\n", 30),
		"Content-Transfer-Encoding: base64\n\nPHA+*=\n", "Content-Transfer-Encoding: quoted-printable\n\n=41= \n=4", "A: b\n c\n \n\td\nno field\n e\n\n",
		"Content-Type: text/plain; charset=utf-16\n\n\xff\xfe\x00",
	} {
		f.Add(s, true)
		f.Add(s, false)
	}
	limits := mimepart.Limits{Depth: 4, Parts: 20}
	f.Fuzz(func(t *testing.T, text string, whole bool) {
		var m mimepart.Meter
		limits := limits
		limits.WholeHeaders = whole
		root := m.Parse(text, limits)
		parts, size := 0, 0
		var visit func(n *mimepart.Part, depth int)
		visit = func(n *mimepart.Part, depth int) {
			parts++
			if depth > limits.Depth {
				t.Fatalf("a part at depth %d", depth)
			}
			if len(n.Children) == 0 {
				content := n.Content(&m)
				size += len(content)
				mimepart.UTF8(content, n.Params["charset"], n.Kind == "text/html")
				n.Decoded(&m)
			}
			for _, c := range n.Children {
				visit(c, depth+1)
			}
		}
		visit(root, 0)
		if parts > limits.Parts || size > len(text) {
			t.Errorf("%d parts, %d bytes of %d", parts, size, len(text))
		}
		if most := 40*len(text) + 1000; m.Steps > most {
			t.Errorf("%d steps for %d bytes", m.Steps, len(text))
		}
	})
}
