// Package httpapi is the API of a tenant: one file per resource, each with its
// operations and the structs they speak.
//
// Handlers translate between the wire and the domain and hold no rule of their
// own. A caller with an API key sees the public form of a record, a person the
// session form; the two are different structs.
package httpapi

import (
	"log/slog"
	"net/url"
	"time"

	"github.com/packetboat/packetboat/internal/auth"
	"github.com/packetboat/packetboat/internal/bulk"
	"github.com/packetboat/packetboat/internal/contact"
	"github.com/packetboat/packetboat/internal/endpoint"
	"github.com/packetboat/packetboat/internal/mail/mjml"
	"github.com/packetboat/packetboat/internal/secret"
	"github.com/packetboat/packetboat/internal/segment"
	"github.com/packetboat/packetboat/internal/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/usage"
)

// API is what the operations lean on.
type API struct {
	DB      *sqldb.DB
	Box     *secret.Box
	Cursors *endpoint.Cursors
	Now     func() time.Time
	BaseURL *url.URL
	Hosts   sender.Hosts // what DNS records of tenants name; what is empty: the host of BaseURL
	Login   *auth.Login  // where people sign in
	Gate    *auth.Gate   // forgets what a request changed; may be nil
	Log     *slog.Logger

	Saver     *contact.Saver     // gathers what callers write about contacts; nil: each by itself
	Providers *contact.Providers // who runs the mail of domains; nil: asked each time
	Usage     usage.Finder       // who needs a record, asked before it goes
	Sends     usage.Counter      // which mailings use a template or a block; nil: none
	MJML      *mjml.Compiler     // makes HTML of MJML
	Tester    Tester             // sends mails that are no part of a send

	// Holdings are the places that keep something about people: used to export
	// and to erase personal data.
	Holdings []contact.PersonalData

	// Sequences answers for those who keep sequences; nil: there are none.
	Sequences bulk.Sequences

	// AllowPrivateRelays lets MTA configs name hosts on private networks.
	AllowPrivateRelays bool

	counts *segment.Counter
}

// Register adds every operation to r. One sorted line per resource, then what
// describes them all.
func (a *API) Register(r *endpoint.Router) {
	a.Cursors = endpoint.NewCursors(a.Box)
	a.counts = &segment.Counter{DB: a.DB, Now: a.Now}
	a.account(r)
	a.apiKeys(r)
	a.audit(r)
	a.blocks(r)
	a.broadcasts(r)
	a.contactActivity(r)
	a.contactLife(r)
	a.contacts(r)
	a.contactsBulk(r)
	a.contactsSearch(r)
	a.contactsTransfer(r)
	a.customFields(r)
	a.domains(r)
	a.emailTypes(r)
	a.identities(r)
	a.identitySecret(r)
	a.jobs(r)
	a.mailbox(r)
	a.messages(r)
	a.mtaConfigs(r)
	a.recipients(r)
	a.reports(r)
	a.savedFilters(r)
	a.scoring(r)
	a.segments(r)
	a.session(r)
	a.stages(r)
	a.suppressions(r)
	a.templates(r)
	a.users(r)

	a.discovery(r)
}
