package reply_test

import (
	"fmt"

	"github.com/packetboat/packetboat/internal/mail/reply"
)

func ExampleClassify() {
	for _, text := range []string{
		"250 2.0.0 queued as 42",
		"550 5.1.1 <ann@example.org>: no such user here",
		"452 4.2.2 mailbox full",
		"421 4.7.0 too many connections, slow down",
	} {
		r, err := reply.Parse(text)
		if err != nil {
			panic(err)
		}
		v := reply.Classify(r.Outcome(reply.Dot))
		fmt.Println(v.Class, v.Category, v.Rule)
	}
	// Output:
	// accepted  accepted
	// hard mailbox no-mailbox-words
	// deferred full mailbox-full
	// deferred policy rate-limited
}
