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
	"github.com/packetboat/packetboat/internal/maildomain"
	"github.com/packetboat/packetboat/internal/secret"
	"github.com/packetboat/packetboat/internal/segment"
	"github.com/packetboat/packetboat/internal/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/usage"
)

// API holds what the operations need.
type API struct {
	DB      *sqldb.DB
	Box     *secret.Box
	Now     func() time.Time
	BaseURL *url.URL
	Hosts   sender.Hosts // what DNS records of tenants name; what is empty: the host of BaseURL
	Login   *auth.Login  // where people sign in
	Gate    *auth.Gate   // forgets what a request changed; may be nil
	Log     *slog.Logger

	Saver      *contact.Saver        // gathers what callers write about contacts; nil: each by itself
	Providers  *maildomain.Providers // who runs the mail of domains; nil: asked each time
	Usage      usage.Finder          // who needs a record, asked before it goes
	SendCounts usage.Counter         // which mailings use a template or a block; nil: none
	MJML       *mjml.Compiler        // makes HTML of MJML
	Tester     Tester                // sends mails that are no part of a send

	// Holdings are the places that keep something about people: used to export
	// and to erase personal data.
	PersonalData []contact.PersonalData

	// Sequences answers for those who keep sequences; nil: there are none.
	Sequences bulk.Sequences

	// AllowPrivateRelays lets MTA configs name hosts on private networks.
	AllowPrivateRelays bool
}

// Register adds every operation to r: those of each resource, then the documents that describe them.
func (a *API) Register(r *endpoint.Router) {
	cursors, contacts := endpoint.NewCursors(a.Box), a.contacts()
	contacts.cursors = cursors

	accountAPI{db: a.DB, box: a.Box, gate: a.Gate, now: a.Now}.register(r)
	apiKeysAPI{db: a.DB, gate: a.Gate, now: a.Now}.register(r)
	auditAPI{db: a.DB, cursors: cursors}.register(r)
	broadcastsAPI{db: a.DB, cursors: cursors, mjml: a.MJML, now: a.Now, tester: a.Tester}.register(r)
	contacts.register(r)
	customFieldsAPI{db: a.DB, now: a.Now, usage: a.Usage}.register(r)
	domainsAPI{db: a.DB, box: a.Box, baseURL: a.BaseURL, hosts: a.Hosts, now: a.Now}.register(r)
	emailTypesAPI{db: a.DB, now: a.Now, usage: a.Usage}.register(r)
	identitiesAPI{db: a.DB, now: a.Now, tester: a.Tester, usage: a.Usage}.register(r)
	jobsAPI{db: a.DB, baseURL: a.BaseURL, now: a.Now}.register(r)
	mailboxAPI{db: a.DB, cursors: cursors}.register(r)
	messagesAPI{db: a.DB, mjml: a.MJML, now: a.Now, usage: a.Usage}.register(r)
	mtaConfigsAPI{db: a.DB, box: a.Box, allowPrivateRelays: a.AllowPrivateRelays, now: a.Now, tester: a.Tester, usage: a.Usage}.register(r)
	savedFiltersAPI{db: a.DB, now: a.Now}.register(r)
	scoringAPI{db: a.DB, now: a.Now}.register(r)
	segmentsAPI{db: a.DB, contacts: contacts, counts: &segment.Counter{DB: a.DB, Now: a.Now}, now: a.Now, usage: a.Usage}.register(r)
	sessionAPI{db: a.DB, baseURL: a.BaseURL, login: a.Login, now: a.Now}.register(r)
	stagesAPI{db: a.DB, now: a.Now}.register(r)
	suppressionsAPI{db: a.DB, now: a.Now}.register(r)
	templatesAPI{db: a.DB, mjml: a.MJML, now: a.Now, sendCounts: a.SendCounts}.register(r)
	usersAPI{db: a.DB, login: a.Login, now: a.Now}.register(r)

	publishDocuments(r, a.BaseURL)
}

// contacts returns what serves contacts, but for the cursors of lists.
func (a *API) contacts() contactsAPI {
	c := contactsAPI{
		db: a.DB, box: a.Box, log: a.Log, now: a.Now,
		saver: a.Saver, providers: a.Providers, personalData: a.PersonalData, sequences: a.Sequences,
	}
	if c.saver == nil {
		c.saver = &contact.Saver{DB: a.DB, Rules: sender.ContactRules, Now: a.Now}
	}
	if c.providers == nil {
		c.providers = &maildomain.Providers{DB: a.DB, Now: a.Now}
	}
	return c
}
