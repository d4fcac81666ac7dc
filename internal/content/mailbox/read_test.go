package mailbox_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/content/mailbox"
)

var update = flag.Bool("update", false, "write the golden file")

// multipart returns a mail of parts, with a boundary.
func multipart(kind string, parts ...string) string {
	return "Subject: S\r\n" + nested("b", kind, parts...)
}

func nested(boundary, kind string, parts ...string) string {
	var s strings.Builder
	s.WriteString("Content-Type: multipart/" + kind + "; boundary=\"" + boundary + "\"\r\n\r\n")
	for _, p := range parts {
		s.WriteString("--" + boundary + "\r\n" + p + "\r\n")
	}
	return s.String() + "--" + boundary + "--\r\n"
}

const (
	plain  = "Content-Type: text/plain; charset=utf-8\r\n\r\nPlain words"
	styled = "Content-Type: text/html; charset=utf-8\r\n\r\n<p>Styled words</p>"
	image  = "Content-Type: image/png\r\nContent-ID: <dot>\r\nContent-Disposition: inline\r\nContent-Transfer-Encoding: base64\r\n\r\niVBORw0KGgo="
	attach = "Content-Type: text/plain; name=notes.txt\r\nContent-Disposition: attachment; filename=notes.txt\r\n\r\nAttached words"
	page   = "Content-Type: text/html\r\nContent-Disposition: attachment; filename=page.html\r\n\r\n<p>Attached page</p>"
)

func deep(n int) string {
	s := plain
	for i := range n {
		s = nested(fmt.Sprint("b", i), "mixed", s)
	}
	return "Subject: S\r\n" + s
}

func text(header, body string) string { return "Subject: S\r\n" + header + "\r\n\r\n" + body }

// odd are mails as strangers write them.
var odd = map[string]string{
	"plain":                               text("Content-Type: text/plain; charset=utf-8", "Grüße\r\nfrom here\r\n"),
	"no content type":                     "Subject: S\r\n\r\nWords\r\n",
	"line feeds alone":                    "Subject: S\nContent-Type: text/html\n\n<p>\nWords</p>\n",
	"no header":                           "Just words, without a header.\r\n\r\nMore words\r\n",
	"no body":                             "Subject: S\r\n\r\n",
	"header without an end":               "Subject: S\r\nContent-Type: text/html",
	"base64":                              text("Content-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: base64", "PHA+R3LDvMOfZTwv\r\ncD4=\r\n"),
	"base64 in capitals":                  text("CONTENT-TYPE: TEXT/HTML; CHARSET=UTF-8\r\ncontent-transfer-encoding: BASE64 ", "PHA+R3LDvMOfZTwvcD4="),
	"broken base64":                       text("Content-Type: text/plain\r\nContent-Transfer-Encoding: base64", "SGVsbG8s*IHdvcmxkIQ==\r\nand words"),
	"base64 without padding":              text("Content-Type: text/plain\r\nContent-Transfer-Encoding: base64", "SGVsbG8sIHdvcmxk"),
	"quoted-printable":                    text("Content-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable", "caf=E9 =\r\nau lait=20\r\n"),
	"broken quoted-printable":             text("Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable", "100=% of =3D and =C3=BC = \r\nrest ="),
	"quoted-printable with long lines":    text("Content-Type: text/html\r\nContent-Transfer-Encoding: quoted-printable", "<p>"+strings.Repeat("=41", 3000)+"</p>"),
	"unknown transfer encoding":           text("Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: x-uue", "begin 644"),
	"8bit":                                text("Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit", "Grüße"),
	"iso-2022-jp":                         text("Content-Type: text/plain; charset=iso-2022-jp", "\x1b$B$3$s$K$A$O\x1b(B"),
	"gb2312":                              text("Content-Type: text/plain; charset=gb2312", "\xc4\xe3\xba\xc3"),
	"koi8-r":                              text("Content-Type: text/html; charset=koi8-r", "<p>\xf0\xd2\xc9\xd7\xc5\xd4</p>"),
	"windows-1252":                        text("Content-Type: text/plain; charset=\"Windows-1252\"", "\x93quoted\x94"),
	"utf-16":                              text("Content-Type: text/plain; charset=utf-16le\r\nContent-Transfer-Encoding: base64", "SABlAGwAbABvAA=="),
	"utf-7":                               text("Content-Type: text/plain; charset=utf-7", "Hi Mom -+Jjo--!"),
	"unknown charset":                     text("Content-Type: text/plain; charset=x-nothing", "Words and \xe9"),
	"charset with a prefix":               text("Content-Type: text/plain; charset=\"charset=iso-8859-1\"", "caf\xe9"),
	"8 bits without a charset":            text("Content-Type: text/plain", "caf\xe9 au lait"),
	"8 bits that are utf-8":               text("Content-Type: text/plain; charset=us-ascii", "Grüße"),
	"utf-8 that claims to be latin-1":     text("Content-Type: text/plain; charset=iso-8859-1", strings.Repeat("Grüße aus der Küche. ", 10)),
	"a long text in latin-1":              text("Content-Type: text/plain; charset=iso-8859-1", strings.Repeat("Gr\xfc\xdfe aus der K\xfcche. ", 10)),
	"a long text in latin-2":              text("Content-Type: text/plain; charset=iso-8859-2", strings.Repeat("\xbflu\xb6\xe6 i \xb1\xea. ", 20)),
	"charset in the page":                 text("Content-Type: text/html", "<html><head><meta charset=\"koi8-r\"></head><p>\xf0\xd2\xc9\xd7\xc5\xd4</p></html>"),
	"byte order mark":                     text("Content-Type: text/plain; charset=utf-8", "\xef\xbb\xbfWords"),
	"format=flowed":                       text("Content-Type: text/plain; charset=utf-8; format=flowed; delsp=yes", "> Quoted \r\n> words\r\n\r\nA line that \r\ngoes on.\r\n-- \r\nAnn\r\n"),
	"null characters":                     text("Content-Type: text/plain", "a\x00b"),
	"damaged parameters":                  text("Content-Type: text/html; charset=utf-8; ; name", "<p>Grüße</p>"),
	"parameters without semicolons":       text("Content-Type: text/html charset=utf-8", "<p>Words</p>"),
	"parameters in pieces":                text("Content-Type: text/html; charset*0=ut; charset*1=f-8", "<p>Grüße</p>"),
	"content type with a comment":         text("Content-Type: text/html (a page); charset=utf-8 (of course)", "<p>Grüße</p>"),
	"content type twice":                  text("Content-Type: text/html\r\nContent-Type: text/plain", "<p>Words</p>"),
	"content type without a slash":        text("Content-Type: text", "Words"),
	"giant folded header":                 text("X-Long: "+strings.Repeat("a,\r\n ", 50_000)+"\r\nContent-Type: text/html", "<p>Words</p>"),
	"giant header":                        text("X-Long: "+strings.Repeat("a", 200_000)+"\r\nContent-Type: text/html", "<p>Words</p>"),
	"many headers":                        text(strings.Repeat("X-More: a\r\n", 5000)+"Content-Type: text/html", "<p>Words</p>"),
	"a line that is no header":            text("X-One: a\r\nno header here\r\nContent-Type: text/html", "<p>Words</p>"),
	"folded content type":                 text("Content-Type: multipart/alternative;\r\n\tboundary=b", "--b\r\n"+plain+"\r\n--b\r\n"+styled+"\r\n--b--"),
	"alternative":                         multipart("alternative", plain, styled),
	"alternative, the page first":         multipart("alternative", styled, plain),
	"mixed with attachments":              multipart("mixed", nested("c", "alternative", plain, styled), attach, page, image),
	"related":                             multipart("related; type=\"text/html\"", styled, image),
	"related within alternative in mixed": multipart("mixed", nested("c", "alternative", plain, nested("d", "related", styled, image)), attach),
	"two texts":                           multipart("mixed", plain, "Content-Type: text/plain\r\n\r\nMore words"),
	"two pages":                           multipart("mixed", styled, "Content-Type: text/html\r\n\r\n<p>More words</p>"),
	"texts around an image":               multipart("mixed", plain, image, "\r\nWords of no type"),
	"report":                              multipart("report; report-type=delivery-status", "\r\nIt bounced.", "Content-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; a", "Content-Type: text/rfc822-headers\r\n\r\nSubject: Original"),
	"digest":                              multipart("digest", "\r\nSubject: One\r\n\r\nFirst", "\r\nSubject: Two\r\n\r\nSecond"),
	"message within":                      multipart("mixed", plain, "Content-Type: message/rfc822\r\n\r\nSubject: Inner\r\nContent-Type: text/html\r\n\r\n<p>Inner</p>"),
	"message alone":                       text("Content-Type: message/rfc822", "Subject: Inner\r\n\r\nInner words"),
	"signed":                              multipart("signed; protocol=\"application/pgp-signature\"", plain, "Content-Type: application/pgp-signature\r\n\r\nxyz"),
	"encrypted":                           multipart("encrypted", "Content-Type: application/pgp-encrypted\r\n\r\nVersion: 1", "Content-Type: application/octet-stream\r\n\r\nxyz"),
	"unknown multipart":                   multipart("x-mystery", plain, styled),
	"calendar":                            multipart("alternative", plain, "Content-Type: text/calendar\r\n\r\nBEGIN:VCALENDAR"),
	"document alone":                      text("Content-Type: application/pdf; name=a.pdf", "%PDF"),
	"attached text alone":                 text("Content-Type: text/plain\r\nContent-Disposition: attachment; filename=a.txt", "Words"),
	"inline text with a name":             text("Content-Type: text/plain\r\nContent-Disposition: inline; filename=a.txt", "Words"),
	"preamble and epilogue":               "Subject: S\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\nThis is a multipart message.\r\n--b\r\n" + plain + "\r\n--b--\r\nAfter it\r\n",
	"multipart without an end":            "Subject: S\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n" + plain + "\r\n--b\r\n" + styled,
	"multipart without its inner end":     "Subject: S\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: multipart/alternative; boundary=c\r\n\r\n--c\r\n" + plain + "\r\n--b\r\n" + attach + "\r\n--b--",
	"multipart without a boundary":        "Subject: S\r\nContent-Type: multipart/alternative\r\n\r\n--b\r\n" + plain + "\r\n--b\r\n" + styled + "\r\n--b--",
	"multipart with another boundary":     "Subject: S\r\nContent-Type: multipart/alternative; boundary=a\r\n\r\n--b\r\n" + plain + "\r\n--b\r\n" + styled + "\r\n--b--",
	"multipart without parts":             "Subject: S\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\nOnly a preamble\r\n",
	"boundary in quotes with spaces":      "Subject: S\r\nContent-Type: multipart/mixed; boundary=\"a b=_?\"\r\n\r\n--a b=_?\r\n" + plain + "\r\n--a b=_?--",
	"boundary that begins another":        multipart("mixed", plain+"\r\n--bc\r\nstill the first", styled),
	"part without an empty line":          "Subject: S\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/html\r\n--b\r\n" + plain + "\r\n--b--",
	"part with a damaged header":          multipart("mixed", "Content-Type: text/html\r\nno header\r\n\r\n<p>Words</p>", plain),
	"multipart in line feeds":             strings.ReplaceAll(multipart("alternative", plain, styled), "\r", ""),
	"20 levels":                           deep(20),
	"100 parts":                           multipart("mixed", slices.Repeat([]string{"Content-Type: text/plain\r\n\r\nx"}, 100)...),
}

// wrote is the golden form of what Read returns.
type wrote struct {
	HTML, Text string
	Headers    int
}

func short(s string) string {
	if len(s) > 2000 {
		return fmt.Sprintf("%s… of %d bytes", strings.ToValidUTF8(s[:200], ""), len(s))
	}
	return s
}

// The texts of mails are found whatever their form, those of the repository and those that strangers write.
func TestTextsOfMailsAreFound(t *testing.T) {
	t.Parallel()
	mails := maps.Clone(odd)
	files, err := filepath.Glob("../../*/*/testdata/*.eml")
	if err != nil || len(files) < 6 {
		t.Fatalf("%d mails of other packages, %v", len(files), err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.HasPrefix(raw, []byte("(envelope ")) { // a line of the test of delivery
			_, raw, _ = bytes.Cut(raw, []byte("\n"))
		}
		mails[filepath.ToSlash(file)] = string(raw)
	}
	got := map[string]wrote{}
	for name, raw := range mails {
		p := mailbox.Read([]byte(raw))
		got[name] = wrote{short(p.HTML), short(p.Text), len(p.Headers)}
	}
	const golden = "testdata/texts.json"
	if *update {
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.SetIndent("", "\t")
		if err := e.Encode(got); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]wrote
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
