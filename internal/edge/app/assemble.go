package app

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"path"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/change"
	"github.com/packetboat/packetboat/internal/account/job"
	"github.com/packetboat/packetboat/internal/account/ratelimit"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/account/workingcopy"
	"github.com/packetboat/packetboat/internal/audience/columnar"
	"github.com/packetboat/packetboat/internal/audience/event"
	"github.com/packetboat/packetboat/internal/audience/form"
	"github.com/packetboat/packetboat/internal/audience/savedfilter"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/audience/trigger"
	"github.com/packetboat/packetboat/internal/audience/visitor"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/netguard"
	"github.com/packetboat/packetboat/internal/campaign/automation"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/campaign/usermail"
	"github.com/packetboat/packetboat/internal/campaign/webhook"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/content/mailbox"
	"github.com/packetboat/packetboat/internal/edge/demo"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi"
	"github.com/packetboat/packetboat/internal/edge/public"
	"github.com/packetboat/packetboat/internal/edge/webapp"
	"github.com/packetboat/packetboat/internal/engine/classify"
	"github.com/packetboat/packetboat/internal/engine/deliver"
	"github.com/packetboat/packetboat/internal/engine/inbound"
	"github.com/packetboat/packetboat/internal/engine/transfer"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/mail/dane"
	"github.com/packetboat/packetboat/internal/mail/directmx"
	"github.com/packetboat/packetboat/internal/mail/dkim"
	"github.com/packetboat/packetboat/internal/mail/dkim/libcrypto"
	"github.com/packetboat/packetboat/internal/mail/dnscheck"
	"github.com/packetboat/packetboat/internal/mail/mjml"
	"github.com/packetboat/packetboat/internal/mail/mtasts"
	"github.com/packetboat/packetboat/internal/mail/mx"
	"github.com/packetboat/packetboat/internal/mail/sns"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/render"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/consent"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/people/maildomain"
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/senders/seedlist"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/view/recipient"
)

// parts is the assembled program: the HTTP handlers and the loops.
type parts struct {
	handler http.Handler
	loops   []loop // that answer requests
	engines []loop // that work in the background
	jobs    *job.Engine
	inbound *inbound.Server // nil: this process receives no mail
	changes *change.Hub
	tls     *tls.Config // nil: a proxy serves https
}

// tools are dependencies that several parts share.
type tools struct {
	now      func() time.Time
	keys     *track.Keys
	contents *content.Cache
	senders  *render.Senders
	signers  *deliver.Signers
	renderer *render.Renderer
	limiter  *ratelimit.Limiter
	checks   *sender.Verifier
	router   *directmx.Router
	private  bool // relays may have private addresses
	clientIP func(*http.Request) netip.Addr
}

func (s *Server) tools(registry prometheus.Registerer) tools {
	db, keys := s.Store.DB, track.NewKeys(s.Store.Box)
	limiter := ratelimit.New(db)
	return tools{
		now:      s.now(),
		keys:     keys,
		contents: &content.Cache{DB: db},
		senders:  &render.Senders{DB: db, Now: s.now()},
		signers:  &deliver.Signers{DB: db, Box: s.Store.Box, Library: s.libcrypto()},
		renderer: &render.Renderer{Keys: keys, BaseURL: s.Config.BaseURL},
		limiter:  limiter,
		checks:   s.verifier(limiter),
		private:  s.privateRelays(),
		router:   s.mailRouter(registry),
		clientIP: func(r *http.Request) netip.Addr { return endpoint.ClientIP(r, s.Config.TrustedProxies) },
	}
}

// mailRouter returns what finds and connects the mail servers of recipients' domains.
func (s *Server) mailRouter(registry prometheus.Registerer) *directmx.Router {
	results := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "packetboat_tls_results_total",
		Help: "Connections to mail servers of domains, by the kind of policy of the domain and the result, in the words of RFC 8460.",
	}, []string{"policy", "result"})
	registry.MustRegister(results)
	report := func(policy directmx.PolicyType, result string) { results.WithLabelValues(string(policy), result).Inc() }
	resolver, guard := mx.NewResolver(s.Config.DNSResolver), netguard.Guard{AllowPrivate: s.privateRelays()}
	dialer := &net.Dialer{Timeout: 5 * time.Second, Resolver: resolver, Control: guard.Control}
	r := &directmx.Router{
		Resolver: resolver, Guard: guard, Port: s.Config.MXPort, Now: time.Now, Report: report,
		Policies: &maildomain.Policies{
			DB: s.Store.DB, Fetcher: mtasts.NewFetcher(resolver, &http.Transport{DialContext: dialer.DialContext}),
			Log: s.Log.With("engine", "domains"), Now: time.Now, Failed: func(result string) { report(directmx.STS, result) },
		},
	}
	if s.Config.DANE {
		r.DANE = &dane.Client{Server: s.Config.DNSResolver}
	}
	return r
}

// verifier returns what checks sending domains.
func (s *Server) verifier(limits *ratelimit.Limiter) *sender.Verifier {
	dns := dnscheck.NewResolver(s.Config.DNSResolver)
	guard := netguard.Guard{AllowPrivate: s.privateRelays()}
	return &sender.Verifier{
		DB: s.Store.DB, DNS: dns, Hosts: s.Config.RecordHosts(), Limits: limits, Log: s.Log.With("engine", "sending domains"), Now: time.Now,
		Tracking: sender.NewPinger(sender.NewNonce(s.Store.Box), s.Config.BaseURL.Scheme, dns.Resolver, guard, nil),
	}
}

// privateRelays reports whether mail may be sent to loopback and private addresses.
func (s *Server) privateRelays() bool {
	return s.Config.AllowPrivateRelays || s.Config.LoopbackBaseURL()
}

// libcrypto opens the system's library for signing, or returns nil.
func (s *Server) libcrypto() dkim.Library {
	if !s.Config.Libcrypto {
		return nil
	}
	library, err := libcrypto.Open()
	if err != nil {
		s.Log.Debug("mail is signed by Go", "err", err)
		return nil
	}
	s.Log.Info("mail is signed by the system's libcrypto", "version", library.Version())
	return library
}

// assemble builds the parts for the server's roles.
func (s *Server) assemble(ctx context.Context, registry prometheus.Registerer) (*parts, error) {
	t := s.tools(registry)
	api, router := s.api(registry, t)
	mux := http.NewServeMux()
	s.health(mux)
	out := &parts{handler: mux, changes: api.Changes, jobs: s.jobs(api, t), loops: s.maintenance(t.limiter, api.Login)}
	if s.Store.changes != nil {
		s.Store.changes.Log = s.Log.With("engine", "changes")
		out.loops = append(out.loops, loop{"changes", s.Store.changes.Run})
	}
	for range s.writers() {
		out.loops = append(out.loops, loop{"save contacts", api.Saver.Run}, loop{"record events", api.Recorder.Run}, loop{"enroll contacts", api.Enroller.Run})
	}
	if err := s.returned(registry, out, mux, t); err != nil {
		return nil, err
	}
	if certs := s.certificates(t); certs != nil {
		certs.Routes(mux)
		if s.has(RoleAPI) || s.has(RoleApp) || s.has(RoleTrack) {
			out.tls = certs.TLS()
		}
		if s.has(RoleWorker) {
			out.loops = append(out.loops, s.issuer(t, s.servedHosts()))
		}
	}
	if s.has(RoleAPI) || s.has(RoleApp) {
		out.loops = append(out.loops, loop{"streams", api.Changes.Run})
		if err := reference(mux, router); err != nil {
			return nil, err
		}
		if s.Demo == 0 {
			out.loops = append(out.loops, s.hosts())
		}
		out.handler = front(mux, router)
	}
	if s.has(RoleAPI) || s.has(RoleApp) || s.has(RoleWorker) {
		loader := &columnar.Loader{DB: s.Store.DB, Log: s.Log.With("engine", "columns"), Now: time.Now}
		out.loops = append(out.loops, loop{"columns", loader.Run})
	}
	if s.has(RoleApp) {
		if err := s.pages(ctx, mux, api, t); err != nil {
			return nil, err
		}
	}
	if s.has(RoleTrack) {
		out.loops = append(out.loops, s.recipients(registry, mux, t), s.websites(mux, t))
	}
	if s.has(RoleWorker) {
		out.engines = s.engines(registry, out.jobs, t)
	}
	return out, nil
}

// writers is the number of transactions that the database can run concurrently without waiting,
// roughly.
func (s *Server) writers() int {
	if s.Store.DB.Dialect() == sqldb.Postgres {
		return 2
	}
	return 1
}

// returned adds the parts that receive mail that comes back, and providers' reports about mail.
func (s *Server) returned(registry prometheus.Registerer, out *parts, mux *http.ServeMux, t tools) error {
	if !s.has(RoleInbound) && !s.has(RoleTrack) && !s.has(RoleWorker) {
		return nil
	}
	log := s.Log.With("part", "inbound")
	recorder := inbound.NewRecorder(s.Store.DB, t.now)
	for range s.writers() {
		out.loops = append(out.loops, loop{"record reports", recorder.Run})
	}
	receiver := &inbound.Receiver{
		DB: s.Store.DB, Keys: t.keys, Contents: t.contents, Senders: t.senders, Recorder: recorder, Metrics: inbound.NewMetrics(registry),
		Log: log, Now: t.now, Host: s.Config.RecordHosts().MX, Feedback: s.Config.FeedbackAddress,
	}
	if s.has(RoleTrack) {
		client := sns.NewClient(t.now, mx.NewResolver(s.Config.DNSResolver), netguard.Guard{AllowPrivate: t.private})
		(&public.Hooks{DB: s.Store.DB, Keys: t.keys, Receiver: receiver, SNS: client, Log: log, Now: t.now}).Routes(mux)
	}
	if s.has(RoleWorker) {
		mailboxes := &inbound.Mailboxes{
			DB: s.Store.DB, Box: s.Store.Box, Receiver: receiver, Log: s.Log.With("engine", "mailboxes"), Now: t.now,
			AllowPrivate: t.private, Alone: alone(s.Store.DB),
		}
		out.loops = append(out.loops, loop{"bounce mailboxes", mailboxes.Run})
	}
	if !s.has(RoleInbound) || s.Config.InboundListen == "" {
		return nil
	}
	out.inbound = &inbound.Server{Receiver: receiver, Log: log}
	if s.Config.InboundTLSCert == "" {
		return nil
	}
	config, err := inbound.CertificateFiles(s.Config.InboundTLSCert, s.Config.InboundTLSKey, t.now)
	out.inbound.TLS = config
	return err
}

// listenInbound opens the listener for returned mail, if this process has one.
func (s *Server) listenInbound() (net.Listener, error) {
	if !s.has(RoleInbound) || s.Config.InboundListen == "" {
		return nil, nil
	}
	l, err := listen("PACKETBOAT_INBOUND_LISTEN", s.Config.InboundListen)
	if err == nil {
		s.Log.Info("returned mail is received", "listen", l.Addr().String())
	}
	return l, err
}

// api returns the operations and their handler.
func (s *Server) api(registry prometheus.Registerer, t tools) (*httpapi.API, *endpoint.Router) {
	db, log := s.Store.DB, s.Log.With("part", "api")
	gate := auth.NewGate(db, t.now, s.Log)
	router := endpoint.New(endpoint.Options{
		Gate: gate, Limiter: t.limiter, DB: db, Box: s.Store.Box, BaseURL: s.Config.BaseURL,
		TrustedProxies: s.Config.TrustedProxies, RatePerMinute: s.Config.RateLimitPerMinute,
		Now: t.now, Log: log, Took: requestTimes(registry),
	})
	api := &httpapi.API{
		DB: db, Box: s.Store.Box, Now: t.now, BaseURL: s.Config.BaseURL, Hosts: s.Config.Hosts, Log: log, AllowPrivateRelays: t.private, AllowPrivateWebhooks: s.Config.AllowPrivateWebhooks,
		Login: s.login(t.limiter), Gate: gate, Saver: contact.NewSaver(db, sender.QueueContactRules, suppression.QueueListed, t.now), Enroller: sequence.NewEnroller(db, sender.ContactRules, t.now), Usage: usage.Finders{broadcast.Finder(), segment.Finder(), savedfilter.Finder(), form.Finder(), sequence.Finder(), automation.Finder()},
		Demo: s.Demo != 0, Version: programVersion(),
		Recorder:   event.NewRecorder(db, t.now),
		Limits:     t.limiter,
		Changes:    change.NewHub(db, t.now, log),
		Verifier:   t.checks,
		Network:    s.Config.ClassifierLists.NetworkOf,
		Recipients: &recipient.Reader{DB: db, Contents: t.contents, Senders: t.senders, Renderer: t.renderer},
		Providers:  &maildomain.Providers{DB: db, Now: t.now},
		MJML:       mjml.New(), SendCounts: broadcast.Sends{},
		PersonalData: personalData(t.now),
		Tester: &deliver.Tester{
			DB: db, Box: s.Store.Box, Now: t.now, AllowPrivate: t.private, Keys: t.keys, Senders: t.senders, Signers: t.signers, Renderer: t.renderer,
			FeedbackSender: s.Config.FeedbackSenderID, Log: log, Router: t.router, SESEndpoint: s.Config.SESEndpoint,
		},
	}
	api.Register(router)
	return api, router
}

// workingCopies returns the working copies of contacts for erasure. They are not exported: they are
// what their authors have not saved.
func workingCopies() contact.PersonalData {
	return contact.PersonalData{
		Name: "working_copies",
		Erase: func(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, people []contact.Person) error {
			records := make([]string, len(people))
			for i, p := range people {
				records[i] = p.ID.String()
			}
			return workingcopy.Erase(ctx, tx, tenant, records)
		},
	}
}

// storedResponses returns the responses that are stored for idempotency keys, for erasure.
func storedResponses() contact.PersonalData {
	return contact.PersonalData{
		Name: "stored_responses",
		Erase: func(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, _ []contact.Person) error {
			return endpoint.EraseResponses(ctx, tx, tenant)
		},
	}
}

// personalData lists the packages with personal data, in the order of an export.
func personalData(now func() time.Time) []contact.PersonalData {
	return append(ownPersonalData(), transfer.PersonalData(now), storedResponses())
}

// ownPersonalData lists those whose rows belong to single contacts. Erasing one contact from the others
// deletes files and responses that are about many, which would be too much for contacts that merely
// expire: those files and responses expire within days.
func ownPersonalData() []contact.PersonalData {
	return []contact.PersonalData{segment.PersonalData(), outbox.PersonalData(), track.PersonalData(), mailbox.PersonalData(), suppression.PersonalData(), seedlist.PersonalData(), visitor.PersonalData(), form.PersonalData(), consent.PersonalData(), webhook.PersonalData(), sequence.PersonalData(), automation.PersonalData(), usermail.PersonalData(), trigger.PersonalData(), workingCopies()}
}

// reference adds the page that documents the API.
func reference(mux *http.ServeMux, router *endpoint.Router) error {
	document, err := router.Document()
	if err != nil {
		return err
	}
	application, err := router.AppDocument()
	if err != nil {
		return err
	}
	docs, err := public.Docs(document, application)
	if err != nil {
		return err
	}
	mux.Handle("GET /docs", docs)
	mux.Handle("GET /docs/", docs)
	return router.ReleaseDocuments()
}

// pages adds the pages for signed-in users. The demo's mailbox needs no login on the machine it
// runs on.
func (s *Server) pages(ctx context.Context, mux *http.ServeMux, api *httpapi.API, t tools) error {
	mailbox := &public.Mailbox{
		DB: s.Store.DB, Sends: broadcast.Labeler(), Login: api.Login, Cursors: endpoint.NewCursors(api.Box), BaseURL: s.Config.BaseURL,
		Log: s.Log.With("part", "mailbox"), Now: t.now, ClientIP: t.clientIP,
	}
	if s.Demo != 0 && s.Config.LoopbackBaseURL() {
		t, err := tenant.ByID(ctx, s.Store.DB, s.Demo)
		if err != nil {
			return err
		}
		mailbox.Open = []tenant.Tenant{t}
		mux.Handle("POST "+demo.StockPath, demo.StockSystem{Began: t.CreatedAt})
	}
	mailbox.Routes(mux)
	return (&webapp.App{Serves: s.showsApp, Log: s.Log.With("part", "app")}).Routes(mux)
}

// showsApp reports whether the browser application is shown on a host: on that of the base URL, and on
// others that are not tracking hosts of tenants.
func (s *Server) showsApp(r *http.Request, host string) (bool, error) {
	name, err := address.Hostname(host)
	if err != nil || strings.EqualFold(name, s.Config.BaseURL.Hostname()) {
		return true, nil // an IP address, or our own
	}
	tracks, err := sender.ServesHost(r.Context(), s.Store.DB, name)
	return !tracks, err
}

// recipients adds the links of mails, and returns the loop that stores their hits.
func (s *Server) recipients(registry prometheus.Registerer, mux *http.ServeMux, t tools) loop {
	hits := track.NewQueue(s.Store.DB, s.Log.With("part", "track"))
	hitMetrics(registry, hits)
	links := &public.Recipient{
		DB: s.Store.DB, Keys: t.keys, Hits: hits, Contents: t.contents, Senders: t.senders, Renderer: t.renderer,
		Log: s.Log.With("part", "track"), Now: t.now, ClientIP: t.clientIP,
	}
	links.Routes(mux)
	s.servedHosts().Routes(mux)
	return loop{"hits", hits.Run}
}

// servedHosts returns what knows the hosts of the installation.
func (s *Server) servedHosts() *public.Hosts {
	return &public.Hosts{DB: s.Store.DB, Answer: sender.NewNonce(s.Store.Box).Answer, Own: s.ownHosts(), Log: s.Log.With("part", "hosts")}
}

// websites adds the script for tenants' websites, its collectors, and forms. It returns the loop that stores
// their requests.
func (s *Server) websites(mux *http.ServeMux, t tools) loop {
	collector := visitor.NewCollector(s.Store.DB, t.keys)
	agents := classify.NewAgents(s.Config.ClassifierLists)
	site := &public.Site{
		DB: s.Store.DB, Visitors: collector, Limits: t.limiter, Machine: agents.Machine, Country: s.country,
		Log: s.Log.With("part", "site"), Now: t.now, ClientIP: t.clientIP,
	}
	site.Routes(mux)
	assets := public.NewAssets(s.Store.DB, s.Log.With("part", "assets"))
	assets.Routes(mux)
	forms := &public.Forms{
		DB: s.Store.DB, Keys: t.keys, Limits: t.limiter, Log: s.Log.With("part", "forms"), Now: t.now, ClientIP: t.clientIP,
		Intake:   &form.Intake{DB: s.Store.DB, Tokens: form.NewTokens(s.Store.Box), Captcha: form.NewCaptcha(s.Store.Box, nil, false)},
		Visitors: collector,
	}
	forms.Routes(mux)
	return loop{"visitors' requests", collector.Run}
}

// country returns the country of a request's client: as the trusted proxy's header says, or else by its
// address.
func (s *Server) country(r *http.Request) string {
	if s.Config.CountryHeader != "" && endpoint.FromProxy(r, s.Config.TrustedProxies) {
		if code, ok := field.CountryCode(r.Header.Get(s.Config.CountryHeader)); ok {
			return code
		}
	}
	if s.Config.GeoIP == nil {
		return ""
	}
	code, _ := field.CountryCode(s.Config.GeoIP.Country(endpoint.ClientIP(r, s.Config.TrustedProxies)))
	return code
}

// login returns the service for sign-in and sign-up.
func (s *Server) login(limits *ratelimit.Limiter) *auth.Login {
	d := &auth.Login{
		DB: s.Store.DB, Passwords: auth.NewPasswords(), Limits: limits, SignupEnabled: s.Config.SignupEnabled,
		Setups: TenantSetup(), BaseURL: s.Config.BaseURL, Log: s.Log.With("part", "login"),
	}
	if s.Config.SystemRelay != nil {
		d.Mail = s.Config.SystemRelay.Mail
	}
	return d
}

// front routes requests to the pages, and all others to api, which answers unknown routes in the
// API's format. That includes unclean paths such as //t/x: http.ServeMux would redirect them, and
// an API client would take the redirect for an answer. A recipients' page asked for with a wrong method
// is 405.
func front(pages *http.ServeMux, api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		found, page := pages.Handler(r)
		switch {
		case !clean(r.URL.Path):
			api.ServeHTTP(w, r)
		case page != "":
			pages.ServeHTTP(w, r)
		case strings.HasPrefix(r.URL.Path, "/_q/") && refusesMethod(found, r):
			found.ServeHTTP(w, r)
		default:
			api.ServeHTTP(w, r)
		}
	})
}

// refusesMethod reports whether what http.ServeMux found for a request without a route says that there
// is one for other methods.
func refusesMethod(found http.Handler, r *http.Request) bool {
	said := statusOnly{header: http.Header{}}
	found.ServeHTTP(&said, r)
	return said.status == http.StatusMethodNotAllowed
}

// statusOnly keeps the status of a response.
type statusOnly struct {
	header http.Header
	status int
}

func (s *statusOnly) Header() http.Header         { return s.header }
func (s *statusOnly) Write(b []byte) (int, error) { return len(b), nil }
func (s *statusOnly) WriteHeader(status int)      { s.status = status }

func clean(p string) bool {
	c := path.Clean(p)
	return p == c || c != "/" && p == c+"/"
}
