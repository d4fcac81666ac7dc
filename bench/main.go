// Command bench measures the program: each subject is a subcommand, and docs/performance.md says what its columns
// mean. scripts/bench builds what it needs and starts a PostgreSQL for it.
//
// The program is the real binary in a process of its own, on fresh databases; the clients share the machine with it,
// so most figures are printed beside those of a client or a server that does nothing else. All but versus read and
// fill the tables of the program, so it must have those of this tree.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/alecthomas/kong"

	"github.com/packetboat/packetboat/bench/application"
	"github.com/packetboat/packetboat/bench/audience"
	"github.com/packetboat/packetboat/bench/send"
	"github.com/packetboat/packetboat/bench/sequences"
	"github.com/packetboat/packetboat/bench/site"
	"github.com/packetboat/packetboat/bench/versus"
)

// commandLine is the command line.
type commandLine struct {
	site.Target

	Send        send.Command        `cmd:"" help:"A whole send of N recipients, unsigned and signed, beside bare clients."`
	Fair        send.Fair           `cmd:"" help:"A small send beside a large one."`
	Prepare     send.Prepare        `cmd:"" help:"The audience of a send into the outbox."`
	Direct      send.Direct         `cmd:"" help:"Delivery to the servers of 1,000 domains, in turns with the same send by one relay."`
	Audience    audience.Command    `cmd:"" help:"Contacts: requests a second, an import of ROWS rows, and questions to a database of CONTACTS contacts and ENTRIES journal entries."`
	Content     contents            `cmd:"" help:"Bindings checked and rendered, and the memory of the MJML compiler."`
	Hits        hits                `cmd:"" help:"HITS opens and clicks, and other requests meanwhile."`
	Events      events              `cmd:"" help:"Custom events, one by one and in batches, and the bytes of each."`
	Visits      visits              `cmd:"" help:"Requests of websites: page views, identities, events."`
	Webhooks    webhooks            `cmd:"" help:"Events delivered to one webhook endpoint and to twenty."`
	Reports     reports             `cmd:"" help:"Reports of a send to RECIPIENTS recipients, and a recount of all sums."`
	Inbound     inbound             `cmd:"" help:"REPORTS reports about failed mail by SMTP, with their effects."`
	Sequences   sequences.Command   `cmd:"" help:"Enrollments, steps, the time from an event to its mail, and a pause, beside WAITING enrollments that wait."`
	Application application.Command `cmd:"" help:"The browser application in Chromium: loads, presses, scrolling, keys, previews, designs."`
	Versus      versus.Command      `cmd:"" help:"Several programs in turn, over HTTP alone."`
	Client      client              `cmd:"" help:"An SMTP server's limit: a bare client that sends ready-made messages."`
	Nothing     audience.Nothing    `cmd:"" hidden:"" help:"Be the HTTP server that does nothing."`
}

func main() {
	var line commandLine
	k := kong.Parse(&line, kong.Name("bench"), kong.Description("Measures the program. See docs/performance.md."), kong.UsageOnError())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	k.BindTo(ctx, (*context.Context)(nil))
	if err := k.Run(&line.Target); err != nil {
		fmt.Fprintf(os.Stderr, "bench %s: %v\n", k.Command(), err)
		os.Exit(1)
	}
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
