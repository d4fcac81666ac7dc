// The race detector lets pools of regular expressions forget, so allocations cannot be counted under it.

//go:build !race

package dsn

import (
	"encoding/base64"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// hostile are beginnings of mails, and what is repeated until they have a size. Each is made for one
// loop of the parser. %d is the number of the repetition.
var hostile = map[string][2]string{
	"levels":                   {"", "Content-Type: multipart/mixed; boundary=b%d\n\n--b%[1]d\n"},
	"forwarded mails":          {"", "From: MAILER-DAEMON@x.example\nSubject: Undeliverable\nContent-Type: message/rfc822\n\n"},
	"fields":                   {"", "X-%d: y\n"},
	"folded field":             {"X: a\n", " b\n"},
	"one line":                 {"\n", "a"},
	"one line of addresses":    {"\n", "ann@x.example 550 user unknown "},
	"at signs":                 {"\n", "a@"},
	"hyphens":                  {"Content-Type: multipart/mixed\n\n", "-"},
	"boundaries":               {"Content-Type: multipart/mixed; boundary=B\n\n", "--B\n"},
	"boundaries, none named":   {"Content-Type: multipart/mixed\n\n", "--x\n"},
	"boundaries, another":      {"Content-Type: multipart/mixed; boundary=B\n\n", "--x%d\nContent-Type: text/plain\n"},
	"parts":                    {"Content-Type: multipart/mixed; boundary=B\n\n", "--B\nContent-Type: text/plain\n\n550 user unknown\n"},
	"encoded words":            {"Subject: =?utf-8?q?a?=", " =?utf-8?q?a?="},
	"encoded words, folded":    {"Subject: =?utf-8?b?YQ==?=\n", " =?utf-8?b?YQ==?=\n"},
	"base64":                   {"Content-Transfer-Encoding: base64\n\n", base64.StdEncoding.EncodeToString([]byte("550 user unknown "))},
	"base64 that is none":      {"Content-Transfer-Encoding: base64\n\n", "=\x00!a"},
	"equals signs":             {"Content-Transfer-Encoding: quoted-printable\n\n", "="},
	"equals signs and spaces":  {"Content-Transfer-Encoding: quoted-printable\n\n", "=  "},
	"soft breaks":              {"Content-Transfer-Encoding: quoted-printable\n\n", "a=\n"},
	"tags":                     {"Content-Type: text/html\n\n", "<p>ann@x.example 550 user"},
	"tags without end":         {"Content-Type: text/html\n\n", "<a"},
	"comments":                 {"Content-Type: text/html\n\n", "<!--"},
	"scripts":                  {"Content-Type: text/html\n\n<script>", "</scrip"},
	"recipients":               {"Content-Type: message/delivery-status\n\nReporting-MTA: dns; x\n\n", "Final-Recipient: rfc822; a%d@x.example\nAction: failed\nStatus: 5.0.0\nDiagnostic-Code: smtp; 550 mailbox of the user account\n\n"},
	"recipients in one block":  {"Content-Type: message/delivery-status\n\nReporting-MTA: dns; x\n\n", "Final-Recipient: rfc822; a%d@x.example\n"},
	"status without fields":    {"Content-Type: message/delivery-status\n\nReporting-MTA: dns; x\n\n", ": \n"},
	"status of folded fields":  {"Content-Type: message/delivery-status\n\nReporting-MTA: dns; x\n\n", "A: b" + strings.Repeat("\n c", 30000) + "\n\n"},
	"status parts":             {"Content-Type: multipart/report; boundary=B\n\n", "--B\nContent-Type: message/delivery-status\n\nFinal-Recipient: rfc822; a%d@x.example\nAction: failed\n\n"},
	"recipients with a text":   {"Content-Type: multipart/report; boundary=B\n\n--B\n\n" + strings.Repeat("a1@x.example: 550 the mailbox of the user is not\n", 1000) + "--B\nContent-Type: message/delivery-status\n\n", "Final-Recipient: rfc822; a1@x.example\nAction: failed\nStatus: 5.0.0\n\n"},
	"recipients of a bounce":   {"\n", "a%d@x.example: 550 mailbox account user sender client host message policy content is not\n"},
	"replies":                  {"\nann@x.example:\n", "550 "},
	"replies in paragraphs":    {"\nann@x.example:\n", "550 mailbox of the user account is not\n\n"},
	"words":                    {"\nann@x.example: 550 ", "mailbox account user sender client host message policy content is not "},
	"fields of an original":    {"\nfailed\nReceived: from x by y\n", "To: a\n"},
	"quotation":                {"\n", "> x\n"},
	"notification":             {"\n{\"notificationType\":\"Bounce\",\"a\":", "["},
	"objects in notifications": {"\n{\"notificationType\":\"Bounce\",\"a\":{", "\"a\":{"},
}

// mailOf returns a mail of a size.
func mailOf(form [2]string, size int) []byte {
	var b strings.Builder
	b.WriteString("From: MAILER-DAEMON@x.example\nSubject: Undelivered Mail Returned to Sender\n" + form[0])
	counted := strings.Contains(form[1], "%")
	for i := 0; b.Len() < size; i++ {
		if counted {
			fmt.Fprintf(&b, form[1], i)
		} else {
			b.WriteString(form[1])
		}
	}
	return []byte(b.String()[:size])
}

// What a mail costs grows at most linearly with its size, whatever it contains: the bytes and fields
// that loops visit, the bytes that are searched for reasons, and memory.
func TestWorkIsLinear(t *testing.T) {
	const (
		stepsPerByte = 14 // each of the levels of a mail is read once, and then decoded and searched
		allocated    = 8  // bytes of memory per byte
		allocations  = 6000
		fixed        = 4 << 20 // for texts that have a limit, whatever the size
	)
	Parse(mailOf(hostile["recipients of a bounce"], 100<<10)) // builds the tables
	for name, form := range hostile {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{128 << 10, MaxSize} {
				mail := mailOf(form, size)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				_, m := parse(mail)
				runtime.ReadMemStats(&after)
				if m.Steps > stepsPerByte*size {
					t.Errorf("%d bytes: %d steps, %d a byte", size, m.Steps, m.Steps/size)
				}
				if m.classified > maxClassified {
					t.Errorf("%d bytes: %d were searched for reasons", size, m.classified)
				}
				if n := int(after.TotalAlloc - before.TotalAlloc); n > allocated*size+fixed {
					t.Errorf("%d bytes: %d were allocated", size, n)
				}
				if n := after.Mallocs - before.Mallocs; n > allocations {
					t.Errorf("%d bytes: %d allocations", size, n)
				}
				t.Logf("%d bytes: %.1f steps a byte, %d searched, %.1f MB, %d allocations", size, float64(m.Steps)/float64(size), m.classified, float64(after.TotalAlloc-before.TotalAlloc)/1e6, after.Mallocs-before.Mallocs)
			}
		})
	}
}

// No mail takes more steps than its size allows.
func FuzzWork(f *testing.F) {
	for _, form := range hostile {
		f.Add(mailOf(form, 2000))
	}
	f.Fuzz(func(t *testing.T, mail []byte) {
		if _, m := parse(mail); m.Steps > 14*len(mail)+1000 || m.classified > maxClassified {
			t.Errorf("%d bytes: %d steps, %d searched", len(mail), m.Steps, m.classified)
		}
	})
}
