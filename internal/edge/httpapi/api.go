// Package httpapi is the API of a tenant. Each resource has a file with its operations and the
// structs of their requests and answers.
//
// Handlers translate between HTTP and the domain packages, which contain the rules. A caller with
// an API key gets the public form of a record, a signed-in user the session form; the two are
// different structs.
package httpapi

import (
	"cmp"
	"log/slog"
	"net/url"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/change"
	"github.com/packetboat/packetboat/internal/account/ratelimit"
	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/audience/event"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/netguard"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/campaign/webhook"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/engine/classify"
	"github.com/packetboat/packetboat/internal/engine/dispatch"
	"github.com/packetboat/packetboat/internal/mail/dnscheck"
	"github.com/packetboat/packetboat/internal/mail/mjml"
	"github.com/packetboat/packetboat/internal/message/render"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/maildomain"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/view/overview"
	"github.com/packetboat/packetboat/internal/view/preview"
	"github.com/packetboat/packetboat/internal/view/recipient"
	"github.com/packetboat/packetboat/internal/view/report"
)

// API is the configuration of the operations, which Register adds to a router.
type API struct {
	DB      *sqldb.DB
	Box     *secret.Box
	Now     func() time.Time
	BaseURL *url.URL
	Hosts   sender.Hosts // the targets of tenants' DNS records; an empty one is the host of BaseURL
	Login   *auth.Login  // for signing in and members
	Gate    *auth.Gate   // its cache is cleared when keys or tenants change; may be nil
	Log     *slog.Logger

	Saver      *contact.Saver        // saves the contacts of many requests together; nil: a saver of its own
	Recorder   *event.Recorder       // records the events of many requests together; nil: a recorder of its own
	Enroller   *sequence.Enroller    // enrolls the contacts of many requests together; nil: an enroller of its own
	Providers  *maildomain.Providers // mailbox providers of contacts' domains; nil: a cache of its own
	Usage      usage.Finder          // finds the records that refer to one that is to be deleted
	SendCounts usage.Counter         // counts the broadcasts that use a template or a block; nil: none
	MJML       *mjml.Compiler        // compiles MJML to HTML
	Tester     Tester                // sends test mails

	// Recipients shows the mails of single recipients; nil: a reader with caches of its own.
	Recipients *recipient.Reader
	Lists      *classify.Lists // of networks, to describe addresses; nil: the bundled ones

	// PersonalData are the tables with personal data, for exporting and erasing it.
	PersonalData []contact.PersonalData

	// Limits are the rate limits of all processes; nil: some of its own.
	Limits *ratelimit.Limiter

	// Verifier checks sending domains; nil: one that asks the machine's name servers.
	Verifier *sender.Verifier

	// Changes are the streams of changes; nil: streams end at once.
	Changes *change.Hub

	// Demo and Version are shown before signing in: whether this is the demo, and the version of the program.
	Demo    bool
	Version string

	// Preparing reports whether sends wait, because the demo still writes its history; nil: never.
	Preparing func() bool

	// AllowPrivateRelays allows MTA configs with hosts on private networks.
	AllowPrivateRelays bool

	// AllowPrivateWebhooks allows webhook endpoints with http, and on private networks.
	AllowPrivateWebhooks bool
}

// Register adds the operations of all resources to r, and the documents that describe them.
func (a *API) Register(r *endpoint.Router) {
	cursors, contacts := endpoint.NewCursors(a.Box), a.contacts()
	contacts.cursors = cursors

	account := accountAPI{db: a.DB, box: a.Box, gate: a.Gate, now: a.Now}
	account.register(r)
	assetsAPI{db: a.DB, baseURL: a.BaseURL, now: a.Now}.register(r)
	activityAPI{db: a.DB, cursors: cursors}.register(r)
	apiKeysAPI{db: a.DB, gate: a.Gate, now: a.Now}.register(r)
	auditAPI{db: a.DB, cursors: cursors}.register(r)
	automationsAPI{db: a.DB, cursors: cursors, rules: webhook.Rules{AllowPrivate: a.AllowPrivateWebhooks}, now: a.Now}.register(r)
	limits := a.Limits
	if limits == nil {
		limits = ratelimit.New(a.DB)
	}
	people := a.recipients()
	broadcasts := broadcastsAPI{
		db: a.DB, cursors: cursors, mjml: a.MJML, now: a.Now, tester: a.Tester,
		summaries: &report.Summaries{DB: a.DB, Limits: limits, Now: a.Now},
		evidence:  people, network: a.Lists.NetworkOf, forecaster: dispatch.NewForecaster(a.DB, a.Now),
	}
	broadcasts.register(r)
	contacts.register(r)
	customFields := customFieldsAPI{db: a.DB, now: a.Now, usage: a.Usage}
	customFields.register(r)
	domainsAPI{db: a.DB, box: a.Box, baseURL: a.BaseURL, hosts: a.Hosts, checks: a.verifier(limits), now: a.Now}.register(r)
	emailTypes := emailTypesAPI{db: a.DB, now: a.Now, usage: a.Usage}
	emailTypes.register(r)
	eventsAPI{db: a.DB, recorder: a.recorder()}.register(r)
	forms := formsAPI{db: a.DB, box: a.Box, cursors: cursors, baseURL: a.BaseURL, now: a.Now}
	forms.register(r)
	identities := identitiesAPI{db: a.DB, now: a.Now, tester: a.Tester, usage: a.Usage}
	identities.register(r)
	jobs := jobsAPI{db: a.DB, cursors: cursors, baseURL: a.BaseURL, now: a.Now}
	jobs.register(r)
	mailboxAPI{db: a.DB, cursors: cursors}.register(r)
	messages := messagesAPI{db: a.DB, mjml: a.MJML, now: a.Now, usage: a.Usage}
	messages.register(r)
	mtaConfigs := mtaConfigsAPI{db: a.DB, box: a.Box, allowPrivateRelays: a.AllowPrivateRelays, now: a.Now, tester: a.Tester, usage: a.Usage, keys: track.NewKeys(a.Box), hooks: a.BaseURL.String() + "/_q/hooks/"}
	mtaConfigs.register(r)
	previewer := preview.New(a.DB, a.MJML, people.Senders, people.Renderer, a.Now)
	previewAPI{previewer}.register(r)
	thumbnailsAPI{db: a.DB, preview: previewer}.register(r)
	savedFilters := savedFiltersAPI{db: a.DB, now: a.Now}
	savedFilters.register(r)
	reader := &overview.Reader{DB: a.DB, Now: a.Now}
	overviewAPI{db: a.DB, reader: reader, now: a.Now}.register(r)
	shellAPI{account: account, jobs: jobs, reader: reader, preparing: a.Preparing}.register(r)
	scoringAPI{db: a.DB, now: a.Now}.register(r)
	searchAPI{db: a.DB}.register(r)
	seedLists := seedListsAPI{db: a.DB, now: a.Now}
	seedLists.register(r)
	segments := segmentsAPI{db: a.DB, contacts: contacts, counts: &segment.Counter{DB: a.DB, Now: a.Now}, now: a.Now, usage: a.Usage}
	segments.register(r)
	sequences := sequencesAPI{
		db: a.DB, enroller: cmp.Or(a.Enroller, &sequence.Enroller{DB: a.DB, Rules: sender.ContactRules, Now: a.Now}), tester: a.Tester,
		rules: webhook.Rules{AllowPrivate: a.AllowPrivateWebhooks}, cursors: cursors, now: a.Now, usage: a.Usage,
	}
	sequences.register(r)
	sessionAPI{db: a.DB, baseURL: a.BaseURL, login: a.Login, now: a.Now, demo: a.Demo, version: a.Version}.register(r)
	stages := stagesAPI{db: a.DB, now: a.Now, usage: a.Usage}
	stages.register(r)
	streamAPI{hub: cmp.Or(a.Changes, change.Ended())}.register(r)
	suppressionsAPI{db: a.DB, cursors: cursors, now: a.Now}.register(r)
	templates := templatesAPI{db: a.DB, mjml: a.MJML, now: a.Now, sendCounts: a.SendCounts}
	templates.register(r)
	usersAPI{db: a.DB, login: a.Login, now: a.Now}.register(r)
	workingCopies := workingCopiesAPI{db: a.DB, now: a.Now}
	workingCopies.register(r)
	webhooksAPI{db: a.DB, box: a.Box, cursors: cursors, rules: webhook.Rules{AllowPrivate: a.AllowPrivateWebhooks}, now: a.Now}.register(r)

	collectionsAPI{
		broadcasts: broadcasts, customFields: customFields, emailTypes: emailTypes, forms: forms, identities: identities, messages: messages, mtaConfigs: mtaConfigs,
		savedFilters: savedFilters, seedLists: seedLists, segments: segments, sequences: sequences, stages: stages, templates: templates, workingCopies: workingCopies,
	}.register(r)

	publishDocuments(r, a.BaseURL)
}

// contacts returns the operations on contacts, without the cursors of lists.
func (a *API) contacts() contactsAPI {
	c := contactsAPI{
		db: a.DB, box: a.Box, log: a.Log, now: a.Now,
		saver: a.Saver, providers: a.Providers, personalData: a.PersonalData,
	}
	if c.saver == nil {
		c.saver = &contact.Saver{DB: a.DB, Rules: sender.QueueContactRules, Now: a.Now}
	}
	if c.providers == nil {
		c.providers = &maildomain.Providers{DB: a.DB, Now: a.Now}
	}
	return c
}

func (a *API) recipients() *recipient.Reader {
	if a.Recipients != nil {
		return a.Recipients
	}
	return &recipient.Reader{
		DB: a.DB, Contents: &content.Cache{DB: a.DB}, Senders: &render.Senders{DB: a.DB, Now: a.Now},
		Renderer: &render.Renderer{Keys: track.NewKeys(a.Box), BaseURL: a.BaseURL},
	}
}

func (a *API) recorder() *event.Recorder {
	if a.Recorder != nil {
		return a.Recorder
	}
	return &event.Recorder{DB: a.DB, Now: a.Now}
}

func (a *API) verifier(limits *ratelimit.Limiter) *sender.Verifier {
	if a.Verifier != nil {
		return a.Verifier
	}
	dns := dnscheck.NewResolver("")
	return &sender.Verifier{
		DB: a.DB, DNS: dns, Hosts: a.Hosts.Or(a.BaseURL.Hostname()), Limits: limits, Log: a.Log, Now: a.Now,
		Tracking: sender.NewPinger(sender.NewNonce(a.Box), a.BaseURL.Scheme, dns.Resolver, netguard.Guard{AllowPrivate: a.AllowPrivateRelays}, nil),
	}
}
