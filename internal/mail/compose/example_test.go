package compose_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/mail/compose"
)

func ExampleBuilder_Build() {
	var b compose.Builder
	raw, err := b.Build(nil, &compose.Message{
		Date:      time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC),
		From:      compose.Mailbox{Name: "Zoë", Address: "zoe@news.example.org"},
		To:        "bob@example.com",
		Subject:   "Two things",
		MessageID: "1@news.example.org",
		Text:      []byte("Good morning.\n"),
	})
	fmt.Println(strings.ReplaceAll(string(raw), "\r\n", "\n"), err)
	// Output:
	// Date: Mon, 02 Nov 2026 10:00:00 +0000
	// From: =?utf-8?Q?Zo=C3=AB?= <zoe@news.example.org>
	// To: bob@example.com
	// Subject: Two things
	// Message-ID: <1@news.example.org>
	// MIME-Version: 1.0
	// Content-Type: text/plain; charset=utf-8
	// Content-Transfer-Encoding: quoted-printable
	//
	// Good morning.
	//  <nil>
}
