package compose_test

import (
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/mail/compose"
)

func TestQuotedPrintable(t *testing.T) {
	t.Parallel()
	// Enough plain text for the rules below not to tip a body into base64.
	tail := strings.Repeat("plain\r\n", 20)
	for _, tt := range []struct{ name, in, want string }{
		{"plain", "a b\tc~!\n", "a b\tc~!\r\n"},
		{"equals sign", "a=b\n", "a=3Db\r\n"},
		{"upper-case hex", "ÿ\n", "=C3=BF\r\n"},
		{"line ends", "a\rb\nc\r\nd\r\r\n\n", "a\r\nb\r\nc\r\nd\r\n\r\n\r\n"},
		{"space at a line's end", "a \nb\t\r\n \n", "a=20\r\nb=09\r\n=20\r\n"},
		{"only the last space", "a  \n", "a =20\r\n"},
		{"space before what is dropped", "a \x01\n", "a=20\r\n"},
		{"leading dot", ".a\n..\n a.\n", "=2Ea\r\n=2E.\r\n a.\r\n"},
		{"leading From", "From a\nFrom\nFroma\n>From a\n", "=46rom a\r\nFrom\r\nFroma\r\n>From a\r\n"},
		{"controls", "a\x00b\x1b\x7fc\n", "abc\r\n"},
		{"byte order mark", "\ufeffa\n", "a\r\n"},
		{"bad UTF-8", "a\xff\xc3b\n", "a=EF=BF=BD=EF=BF=BDb\r\n"},
		{"line of 75", strings.Repeat("a", 75) + "\n", strings.Repeat("a", 75) + "\r\n"},
		{"line of 77", strings.Repeat("a", 77) + "\n", strings.Repeat("a", 75) + "=\r\naa\r\n"},
		{"dot after a soft break", strings.Repeat("a", 75) + ".b\n", strings.Repeat("a", 75) + "=\r\n=2Eb\r\n"},
		{"space at the limit", strings.Repeat("a", 74) + " \n", strings.Repeat("a", 74) + "=\r\n=20\r\n"},
		{"space before a soft break", strings.Repeat("a", 74) + " b\n", strings.Repeat("a", 74) + " =\r\nb\r\n"},
		{"escape at the limit", strings.Repeat("a", 73) + "=b\n", strings.Repeat("a", 73) + "=\r\n=3Db\r\n"},
		{"character at the limit", strings.Repeat("a", 68) + "€\n", strings.Repeat("a", 68) + "=\r\n=E2=82=AC\r\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			quoted, got := compose.EncodeBody([]byte(tt.in + tail))
			if !quoted || string(got) != tt.want+tail {
				t.Errorf("body %q\n got %q\nwant %q", tt.in, strings.TrimSuffix(string(got), tail), tt.want)
			}
		})
	}
}

func TestBase64TakesOverAboveAQuarter(t *testing.T) {
	t.Parallel()
	if quoted, _ := compose.EncodeBody([]byte(strings.Repeat("a=bc", 100))); !quoted {
		t.Error("a quarter of escapes is base64")
	}
	quoted, got := compose.EncodeBody([]byte(strings.Repeat("a=b", 100) + "\n\x00"))
	want := strings.Repeat(strings.Repeat("YT1i", 19)+"\r\n", 5) + strings.Repeat("YT1i", 5) + "DQo=\r\n"
	if quoted || string(got) != want {
		t.Errorf("body of a third of escapes = %q; want %q", got, want)
	}
}

func TestWireReady(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 998)
	for raw, want := range map[string]string{
		"a\r\n":            "",
		"\r\n\r\n":         "",
		long + "\r\n":      "",
		"":                 "last line",
		"a":                "last line",
		"a\n":              "last line",
		"a\r\n\n\r\n":      "line feed",
		"\nb\r\n":          "line feed",
		"a\rb\r\n":         "carriage return",
		"a\r\r\n":          "carriage return",
		"ä\r\n":            "eighth bit",
		"12345678\x80\r\n": "eighth bit",
		"a\x00\r\n":        "NUL",
		long + "a\r\n":     "998",
	} {
		err := compose.WireReady([]byte(raw))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("WireReady(%.20q) = %v; want %q", raw, err, want)
		}
	}
}
