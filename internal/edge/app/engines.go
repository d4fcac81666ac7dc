package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/job"
	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/account/ratelimit"
	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/account/workingcopy"
	"github.com/packetboat/packetboat/internal/audience/event"
	"github.com/packetboat/packetboat/internal/audience/form"
	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/audience/trigger"
	"github.com/packetboat/packetboat/internal/audience/visitor"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/automation"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/campaign/sequence"
	"github.com/packetboat/packetboat/internal/campaign/usermail"
	"github.com/packetboat/packetboat/internal/campaign/webhook"
	"github.com/packetboat/packetboat/internal/content/mailbox"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi"
	"github.com/packetboat/packetboat/internal/engine/bulk"
	"github.com/packetboat/packetboat/internal/engine/classify"
	"github.com/packetboat/packetboat/internal/engine/deliver"
	"github.com/packetboat/packetboat/internal/engine/dispatch"
	"github.com/packetboat/packetboat/internal/engine/flow"
	"github.com/packetboat/packetboat/internal/engine/notify"
	"github.com/packetboat/packetboat/internal/engine/retention"
	"github.com/packetboat/packetboat/internal/engine/transfer"
	"github.com/packetboat/packetboat/internal/engine/watch"
	"github.com/packetboat/packetboat/internal/mail/mx"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/contactlog"
	"github.com/packetboat/packetboat/internal/people/contactsearch"
	"github.com/packetboat/packetboat/internal/people/maildomain"
	"github.com/packetboat/packetboat/internal/people/outage"
	"github.com/packetboat/packetboat/internal/people/score"
	"github.com/packetboat/packetboat/internal/people/suppression"
	"github.com/packetboat/packetboat/internal/senders/seedlist"
	"github.com/packetboat/packetboat/internal/sqldb/leader"
)

// followers returns the followers of the journal, in the order in which they are called.
func followers(now func() time.Time, log *slog.Logger) []journal.Follower {
	return []journal.Follower{
		outage.Follower(),
		contact.Follower(),
		suppression.Follower(),
		outbox.Follower(),
		broadcast.Follower(log),
		score.Follower(rule.ScoringFilters, outbox.Broadcasts, now),
		maildomain.Follower(now),
		track.ProofFollower(),
		seedlist.Follower(),
		webhook.Follower(now),
		event.Follower(),
		trigger.Follower(now),
		sequence.Follower(now),
		automation.Follower(now),
	}
}

// oldRows returns the tables whose old rows are deleted by the settings of tenants.
func oldRows() []retention.Table {
	return []retention.Table{
		{Name: "addresses of opens and clicks", Days: func(r tenant.Retention) int { return r.RawRequests }, Step: track.ClearRequests},
		{Name: "opens and clicks", Days: func(r tenant.Retention) int { return r.Engagement }, Step: track.Prune},
		{Name: "former values of contacts", Days: func(r tenant.Retention) int { return r.Engagement }, Step: contact.PruneVersions},
		{Name: "runs of automations", Days: func(r tenant.Retention) int { return r.Events }, Step: automation.Prune},
		{Name: "webhook deliveries", Days: func(r tenant.Retention) int { return r.Deliveries }, Step: webhook.Prune},
		{Name: "idempotency keys of events", Days: func(tenant.Retention) int { return 0 }, Step: event.Prune}, // expired ones
		{Name: "idempotency keys", Days: func(tenant.Retention) int { return 0 }, Step: endpoint.PruneKeys},    // expired ones
		{Name: "what imports changed", Days: func(tenant.Retention) int { return transfer.KeepUndoDays }, Step: transfer.PruneChanges},
		{Name: "working copies", Days: func(tenant.Retention) int { return int(workingcopy.MaxAge.Hours() / 24) }, Step: workingcopy.Prune},
	}
}

// engines returns the loops of a worker.
func (s *Server) engines(registry prometheus.Registerer, jobs *job.Engine, t tools) []loop {
	db := s.Store.DB
	followed := &journal.Engine{DB: db, Followers: followers(t.now, s.Log), Log: s.Log.With("engine", "journal"), Wake: db.Subscribe(journal.Wake)}
	// These two are created again after a hold, without state from before.
	broadcasts, messages := db.Subscribe(broadcast.Wake), db.Subscribe(outbox.Wake)
	metrics := deliver.NewMetrics(registry)
	dispatching := s.unlessHeld("dispatch", func(ctx context.Context) error {
		e := &dispatch.Engine{
			DB: db, Owner: id.NewText(), Now: t.now, Log: s.Log.With("engine", "dispatch"), Wake: broadcasts,
		}
		return e.Run(ctx)
	})
	delivering := s.unlessHeld("deliver", func(ctx context.Context) error { return s.deliverer(t, metrics, messages).Run(ctx) })
	watcher := &watch.Engine{DB: db, Box: s.Store.Box, Now: t.now, Log: s.Log.With("engine", "watch"), AllowPrivate: t.private, SESEndpoint: s.Config.SESEndpoint, Pausers: []outbox.Pauser{broadcast.Pauser()}}
	keeping := &retention.Engine{
		DB: db, Log: s.Log.With("engine", "retention"), Now: t.now, Tables: oldRows(), Followers: followers(t.now, s.Log),
	}
	inbox := &track.Inbox{DB: db, Log: s.Log.With("engine", "inbox")}
	classifier := s.classifier(t)
	maintenance := &contact.Maintenance{DB: db, Log: s.Log.With("engine", "contacts"), Now: t.now}
	resolution := &maildomain.Resolution{
		DB: db, Resolver: mx.NewResolver(s.Config.DNSResolver), Log: s.Log.With("engine", "domains"), Now: t.now,
	}
	searched := &contactsearch.Indexer{DB: db, Log: s.Log.With("engine", "search"), Now: t.now}
	fading := &score.Decay{DB: db, Log: s.Log.With("engine", "scores"), Now: t.now}
	seeds := &seedlist.Recheck{DB: db, Log: s.Log.With("engine", "seeds"), Now: t.now}
	counting := &segment.Refresher{
		DB: db, Log: s.Log.With("engine", "segments"), Now: t.now,
		InUse: func(ctx context.Context) ([]segment.Used, error) { return broadcast.Segments(ctx, db) },
	}
	triggering := &trigger.Engine{DB: db, Now: t.now, Log: s.Log.With("engine", "triggers"), Wake: db.Subscribe(trigger.Wake)}
	flowing := &flow.Engine{DB: db, Now: t.now, Box: s.Store.Box, Log: s.Log.With("engine", "sequences"), Wake: db.Subscribe(sequence.Wake)}
	automating := &flow.Automations{DB: db, Now: t.now, Box: s.Store.Box, Log: s.Log.With("engine", "automations"), Wake: db.Subscribe(automation.Wake)}
	visitors := &visitor.Engine{
		DB: db, Box: s.Store.Box, Log: s.Log.With("engine", "visitors"), Now: t.now, PersonalData: ownPersonalData(),
		MaxKept: s.Config.MaxVisitorRequests,
	}
	notifying := s.notifier(t, notify.NewMetrics(registry))
	notifying.Wake = db.Subscribe(webhook.Wake)
	mails := &notify.UserMails{DB: db, Log: s.Log.With("engine", "notify"), Now: t.now, Wake: db.Subscribe(usermail.Wake)}
	disabled := &notify.DisabledEndpoints{DB: db, Log: s.Log.With("engine", "notify")}
	if s.Config.SystemRelay != nil {
		disabled.Mail, mails.Mail = s.Config.SystemRelay.Mail, s.Config.SystemRelay.Mail
	}
	return []loop{
		{"journal", followed.Run},
		s.led("scheduler", dispatching, loop{"watch", watcher.Run}, loop{"disabled endpoints", disabled.Run}, loop{"mails to users", mails.Run}),
		delivering,
		s.led("classifier", loop{"classify", classifier.Run}, loop{"inbox", inbox.Run}),
		s.led("visitors", loop{"visitors", visitors.Run}),
		s.led("retention", loop{"retention", keeping.Run}),
		{"contacts", maintenance.Run},
		{"domains", resolution.Run},
		{"sending domains", t.checks.Run},
		{"scores", fading.Run},
		{"search", searched.Run},
		{"seeds", seeds.Run},
		{"segments", counting.Run},
		{"jobs", jobs.Run},
		{"triggers", triggering.Run},
		{"sequences", flowing.Run},
		{"automations", automating.Run},
		{"notify", notifying.Run},
		s.every("trim the log of changed contacts", 30*time.Second, func(ctx context.Context) error { return contactlog.Trim(ctx, db, t.now()) }),
		s.every("prune form spam", time.Hour, func(ctx context.Context) error { return form.Prune(ctx, db, t.now()) }),
		s.every("prune mailboxes", 10*time.Minute, func(ctx context.Context) error {
			for {
				if more, err := mailbox.Prune(ctx, db, t.now()); err != nil || !more {
					return err
				}
			}
		}),
	}
}

// deliverer returns an engine that sends messages; wake receives when there are new ones.
func (s *Server) deliverer(t tools, metrics *deliver.Metrics, wake <-chan struct{}) *deliver.Engine {
	return &deliver.Engine{
		DB: s.Store.DB, Box: s.Store.Box, Keys: t.keys, Contents: t.contents, Senders: t.senders, Signers: t.signers, Renderer: t.renderer,
		Log: s.Log.With("engine", "deliver"), Now: t.now, Compare: s.comparison(), Metrics: metrics, Wake: wake,
		FeedbackSender: s.Config.FeedbackSenderID, ReceivesMail: s.Config.InboundListen != "", AllowPrivate: t.private, Alone: alone(s.Store.DB),
		Lease: s.Config.NodeLease, Router: t.router, SESEndpoint: s.Config.SESEndpoint,
	}
}

// jobs returns the engine that runs jobs.
func (s *Server) jobs(api *httpapi.API, t tools) *job.Engine {
	db := s.Store.DB
	return &job.Engine{
		DB: db, Owner: id.NewText(), Now: t.now, Log: s.Log.With("engine", "jobs"), Wake: db.Subscribe(job.Wake), Alone: alone(db),
		Runners: map[job.Kind]job.Runner{
			job.Import:     transfer.Import,
			job.ImportUndo: transfer.UndoImport,
			job.Export:     api.Exporter().Run,
			job.Bulk:       bulk.Runner{PersonalData: api.PersonalData}.Run,
		},
	}
}

// classifier returns the engine that classifies opens and clicks.
func (s *Server) classifier(t tools) *classify.Engine {
	db := s.Store.DB
	live := func(ctx context.Context, tenant id.Tenant, send id.Send) (bool, error) {
		return outbox.Live(ctx, db, tenant, send)
	}
	return &classify.Engine{
		DB: db, Log: s.Log.With("engine", "classify"), Now: t.now, Live: live,
		Lists: s.Config.ClassifierLists, Domains: &maildomain.Providers{DB: db, Now: t.now},
	}
}

// led returns a loop that runs others while this process is the leader for a name.
func (s *Server) led(name string, loops ...loop) loop {
	owner := id.NewText()
	return loop{name, func(ctx context.Context) error {
		return leader.Run(ctx, s.Store.DB, name, owner, time.Now, s.Log.With("engine", name), func(ctx context.Context) error {
			all, ctx := errgroup.WithContext(ctx)
			for _, l := range loops {
				all.Go(func() error { return l.run(ctx) })
			}
			return all.Wait()
		})
	}}
}

// maintenance returns the loops that delete expired sessions and rate windows, try mail of invitations again,
// and wait for mail of sign-ins that is being sent.
func (s *Server) maintenance(limits *ratelimit.Limiter, login *auth.Login) []loop {
	return []loop{
		s.every("sweep sessions and limits", 10*time.Minute, func(ctx context.Context) error {
			if err := limits.Sweep(ctx, time.Now()); err != nil {
				return err
			}
			return auth.DeleteExpired(ctx, s.Store.DB, time.Now())
		}),
		// An import of minutes ago is in no statistics yet, and somebody looks at its segments now.
		s.every("analyze tables that have grown", 10*time.Second, func(ctx context.Context) error { return s.Store.DB.AnalyzeStale(ctx) }),
		s.every("mail invitations", 15*time.Second, func(ctx context.Context) error {
			for {
				if more, err := login.MailInvitations(ctx, time.Now()); err != nil || !more {
					return err
				}
			}
		}),
		{"system mail", func(ctx context.Context) error {
			<-ctx.Done()
			login.Wait()
			return nil
		}},
	}
}

// notifier returns what delivers events to webhooks.
func (s *Server) notifier(t tools, metrics *notify.Metrics) *notify.Engine {
	return &notify.Engine{
		DB: s.Store.DB, Box: s.Store.Box, Owner: id.NewText(), Now: t.now, Log: s.Log.With("engine", "notify"),
		Metrics: metrics, Alone: alone(s.Store.DB), AllowPrivate: s.Config.AllowPrivateWebhooks, UserAgent: "Packetboat-Webhooks/1",
	}
}
