// Package httpapi is the API of a tenant. It constructs the resources, which are in a package for each
// subject (accountapi, audienceapi, contentapi, campaignapi, sendingapi), publishes the documents that
// describe them, and has the operations that read across subjects: the overview, the search, collections
// and the stream of changes.
//
// In each of these packages a resource has a file with its operations and the structs of their requests and
// answers. Handlers translate between HTTP and the domain packages, which contain the rules. A caller with
// an API key gets the public form of a record, a signed-in user the session form; the two are different
// structs.
package httpapi

import (
	"context"
	"log/slog"
	"net/url"
	"reflect"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/change"
	"github.com/packetboat/packetboat/internal/account/ratelimit"
	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/audience/event"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/campaign/webhook"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/accountapi"
	"github.com/packetboat/packetboat/internal/edge/httpapi/audienceapi"
	"github.com/packetboat/packetboat/internal/edge/httpapi/campaignapi"
	"github.com/packetboat/packetboat/internal/edge/httpapi/contentapi"
	"github.com/packetboat/packetboat/internal/edge/httpapi/sendingapi"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/engine/dispatch"
	"github.com/packetboat/packetboat/internal/engine/flow"
	"github.com/packetboat/packetboat/internal/engine/transfer"
	"github.com/packetboat/packetboat/internal/mail/mjml"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/maildomain"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/view/overview"
	"github.com/packetboat/packetboat/internal/view/preview"
	"github.com/packetboat/packetboat/internal/view/recipient"
	"github.com/packetboat/packetboat/internal/view/report"
)

// API is the configuration of the operations, which Register adds to a router. It must be complete: only
// the fields that say so may be zero.
type API struct {
	DB      *sqldb.DB
	Box     *secret.Box
	Now     func() time.Time
	BaseURL *url.URL
	Hosts   sender.Hosts // the targets of tenants' DNS records; an empty one is the host of BaseURL
	Login   *auth.Login  // for signing in and members
	Gate    *auth.Gate   // its cache is cleared when keys or tenants change
	Log     *slog.Logger

	Saver      *contact.Saver        // saves the contacts of many requests together
	Recorder   *event.Recorder       // records the events of many requests together
	Enroller   *sequence.Enroller    // enrolls the contacts of many requests together
	Providers  *maildomain.Providers // mailbox providers of contacts' domains
	Usage      usage.Finder          // finds the records that refer to one that is to be deleted
	SendCounts usage.Counter         // counts the broadcasts that use a template or a block
	MJML       *mjml.Compiler        // compiles MJML to HTML
	Tester     wire.Tester           // sends test mails
	Recipients *recipient.Reader     // shows the mails of single recipients
	Limits     *ratelimit.Limiter    // the rate limits of all processes
	Verifier   *sender.Verifier      // checks sending domains
	Changes    *change.Hub           // the streams of changes

	// Network describes the network of an address.
	Network func(ip string) string

	// PersonalData are the tables with personal data, for exporting and erasing it.
	PersonalData []contact.PersonalData

	// Demo and Version are shown before signing in: whether this is the demo, and the version of the program,
	// which may be empty.
	Demo    bool
	Version string

	// AllowPrivateRelays allows MTA configs with hosts on private networks.
	AllowPrivateRelays bool

	// AllowPrivateWebhooks allows webhook endpoints with http, and on private networks.
	AllowPrivateWebhooks bool
}

// Register adds the operations of all resources to r, and the documents that describe them. It panics if
// the configuration is incomplete.
func (a *API) Register(r *endpoint.Router) {
	if missing := a.missing(); missing != nil {
		panic("httpapi: API lacks " + strings.Join(missing, ", "))
	}
	e, rules := a.env(), webhook.Rules{AllowPrivate: a.AllowPrivateWebhooks}
	counter := &segment.Counter{DB: a.DB, Now: a.Now}
	reader := &overview.Reader{DB: a.DB, Now: a.Now, Segments: counter}
	previewer := preview.New(a.DB, a.MJML, a.Recipients.Senders, a.Recipients.Renderer, a.Now)

	account, jobs, workingCopies := accountapi.NewAccount(e, a.Gate), accountapi.NewJobs(e), accountapi.NewWorkingCopies(e)
	contacts, customFields, forms := a.contacts(), audienceapi.NewCustomFields(e, a.Usage), audienceapi.NewForms(e)
	savedFilters, segments, stages := audienceapi.NewSavedFilters(e), audienceapi.NewSegments(e, contacts, counter, a.Usage), audienceapi.NewStages(e, a.Usage)
	messages, templates := contentapi.NewMessages(e, a.MJML, a.Usage), contentapi.NewTemplates(e, a.MJML, a.SendCounts)
	emailTypes, seedLists := sendingapi.NewEmailTypes(e, a.Usage), sendingapi.NewSeedLists(e)
	identities, mtaConfigs := sendingapi.NewIdentities(e, a.Tester, a.Usage), sendingapi.NewMTAConfigs(e, a.Tester, a.Usage, a.AllowPrivateRelays)
	broadcasts := campaignapi.NewBroadcasts(e, campaignapi.BroadcastOptions{
		MJML: a.MJML, Tester: a.Tester, Summaries: &report.Summaries{DB: a.DB, Limits: a.Limits, Now: a.Now},
		Evidence: a.Recipients, Network: a.Network, Forecaster: dispatch.NewForecaster(a.DB, a.Now),
	})
	sequences := campaignapi.NewSequences(e, campaignapi.SequenceOptions{Enroller: a.Enroller, Rules: rules, Tester: a.Tester, Usage: a.Usage, Simulator: flow.NewSimulator(a.DB, a.Now)})

	// The documents list the operations in this order.
	for _, resource := range []interface{ Register(*endpoint.Router) }{
		account, contentapi.NewAssets(e), audienceapi.NewActivity(e), accountapi.NewAPIKeys(e, a.Gate), accountapi.NewAuditLog(e), accountapi.NewBrand(e),
		campaignapi.NewAutomations(e, rules), broadcasts, contacts, customFields, sendingapi.NewDomains(e, a.Hosts, a.Verifier), emailTypes,
		audienceapi.NewEvents(e, a.Recorder), forms, identities, jobs, sendingapi.NewMailbox(e), messages, mtaConfigs,
		contentapi.NewPreviews(previewer), contentapi.NewThumbnails(e, previewer), savedFilters, overviewAPI{db: a.DB, reader: reader, now: a.Now},
		shellAPI{db: a.DB, account: account, jobs: jobs, reader: reader}, audienceapi.NewScoring(e), searchAPI{db: a.DB},
		seedLists, segments, sequences, accountapi.NewSessions(e, a.Login, a.Version, a.Demo), stages, streamAPI{hub: a.Changes},
		audienceapi.NewSuppressions(e), templates, accountapi.NewUsers(e, a.Login), workingCopies, accountapi.NewWebhooks(e, rules),
	} {
		resource.Register(r)
	}
	collectionsAPI{
		list: []collection{
			collect("blocks", auth.Viewer, templates.AllBlocks, func(v *CollectionsView) **[]contentapi.BlockRow { return &v.Blocks }),
			collect("broadcasts", auth.Viewer, every(broadcasts.ListBroadcasts), func(v *CollectionsView) **[]campaignapi.BroadcastRow { return &v.Broadcasts }),
			collect("custom_fields", auth.Viewer, every(customFields.ListCustomFields), func(v *CollectionsView) **[]audienceapi.CustomFieldRow { return &v.CustomFields }),
			collect("email_categories", auth.Viewer, every(emailTypes.ListEmailCategories), func(v *CollectionsView) **[]sendingapi.EmailCategoryRow { return &v.EmailCategories }),
			collect("email_types", auth.Viewer, every(emailTypes.ListEmailTypes), func(v *CollectionsView) **[]sendingapi.EmailTypeRow { return &v.EmailTypes }),
			collect("forms", auth.Viewer, every(forms.ListForms), func(v *CollectionsView) **[]audienceapi.FormSummary { return &v.Forms }),
			collect("messages", auth.Viewer, messages.Newest, func(v *CollectionsView) **[]contentapi.MessageRow { return &v.Messages }),
			collect("mta_configs", auth.Viewer, every(mtaConfigs.ListMTAConfigs), func(v *CollectionsView) **[]sendingapi.MtaConfigRow { return &v.MTAConfigs }),
			collect("saved_filters", auth.Viewer, every(savedFilters.ListSavedFilters), func(v *CollectionsView) **[]audienceapi.SavedFilterRow { return &v.SavedFilters }),
			collect("seed_lists", auth.Viewer, every(seedLists.ListSeedLists), func(v *CollectionsView) **[]sendingapi.SeedListRow { return &v.SeedLists }),
			collect("segments", auth.Viewer, every(segments.ListSegments), func(v *CollectionsView) **[]audienceapi.SegmentForm { return &v.Segments }),
			collect("sending_identities", auth.Viewer, every(identities.ListIdentities), func(v *CollectionsView) **[]sendingapi.IdentityRow { return &v.SendingIdentities }),
			collect("sequences", auth.Viewer, every(sequences.ListSequences), func(v *CollectionsView) **[]campaignapi.Sequence { return &v.Sequences }),
			collect("stages", auth.Viewer, every(stages.ListStages), func(v *CollectionsView) **[]audienceapi.StageRow { return &v.Stages }),
			collect("templates", auth.Viewer, templates.All, func(v *CollectionsView) **[]contentapi.TemplateRow { return &v.Templates }),
			collect("working_copies", auth.Editor, every(workingCopies.ListWorkingCopies), func(v *CollectionsView) **[]accountapi.WorkingCopyRow { return &v.WorkingCopies }),
		},
		workingCopy: workingCopies.GetWorkingCopy, bindingOptions: templates.GetBindingOptions,
	}.Register(r)

	publishDocuments(r, a.BaseURL)
}

// missing returns the names of the fields that are nil: each pointer, function, interface and list of the
// configuration is needed.
func (a *API) missing() (names []string) {
	for field, v := range reflect.ValueOf(a).Elem().Fields() {
		switch v.Kind() {
		case reflect.Pointer, reflect.Func, reflect.Interface, reflect.Slice:
			if v.IsNil() {
				names = append(names, field.Name)
			}
		}
	}
	return names
}

// env returns what the resources share.
func (a *API) env() wire.Env {
	return wire.Env{DB: a.DB, Box: a.Box, Cursors: endpoint.NewCursors(a.Box), BaseURL: a.BaseURL, Log: a.Log, Now: a.Now}
}

func (a *API) contacts() audienceapi.Contacts {
	return audienceapi.NewContacts(a.env(), a.Saver, a.Providers, a.PersonalData)
}

// Exporter returns the runner of export jobs, whose files have the rows of answers.
func (a *API) Exporter() transfer.Exporter {
	return transfer.Exporter{
		Encode: a.contacts().Encode,
		Recipients: func(ctx context.Context, t id.Tenant, list []outbox.Record) ([][]byte, error) {
			return campaignapi.EncodeRecipients(ctx, a.DB, t, list)
		},
		Bounces: campaignapi.EncodeBounces,
		Audit:   accountapi.NewAuditLog(a.env()).Encode,
	}
}
