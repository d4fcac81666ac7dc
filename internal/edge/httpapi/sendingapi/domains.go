package sendingapi

import (
	"context"
	"net/url"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/netguard"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Domains serves sending domains.
type Domains struct {
	db      *sqldb.DB
	box     *secret.Box
	baseURL *url.URL
	hosts   sender.Hosts
	checks  *sender.Verifier
	now     func() time.Time
}

// NewDomains returns the operations on sending domains. hosts are the targets of their DNS records.
func NewDomains(e wire.Env, hosts sender.Hosts, checks *sender.Verifier) Domains {
	return Domains{db: e.DB, box: e.Box, baseURL: e.BaseURL, hosts: hosts, checks: checks, now: e.Now}
}

// On returns the operations on another handle.
func (api Domains) On(db *sqldb.DB) Domains { api.db = db; return api }

// Register adds the operations on sending domains.
func (api Domains) Register(r *endpoint.Router) {
	op := func(name, summary string, faults ...*fault.Error) endpoint.Op {
		return endpoint.Op{Name: name, Summary: summary, Tag: "sending domains", Session: true, Faults: faults}
	}
	create := op("createSendingDomain", "Create a sending domain with a DKIM key.", sender.ErrDuplicateDomain, sender.ErrTooManyDomains).Once().Revised(sender.DomainRevisions)
	create.Status, create.Role = 201, auth.Admin
	remove := op("deleteSendingDomain", "Delete a sending domain that no identity uses.", sender.ErrDomainNotFound, sender.ErrDomainInUse).IfMatch(sender.DomainRevisions)
	remove.Role = auth.Admin
	resume := op("resumeSendingDomain", "Resume a paused sending domain; its rates are counted from then on.", sender.ErrDomainNotFound, sender.ErrDNSLost).IfMatch(sender.DomainRevisions)
	resume.Role = auth.Admin
	verify := op("verifySendingDomain", "Check the DNS records and the tracking host of a sending domain now.", sender.ErrDomainNotFound, sender.ErrCheckedTooOften).Revised(sender.DomainRevisions)
	verify.Role, verify.Timeout = auth.Admin, 50*time.Second
	verify.Description = "Records whose name servers do not answer keep their last status. A domain may be checked 20 times a minute. On an installation whose base URL is on loopback, an owner may pass operator: true: the domain then counts as verified without DNS, and tracking as live on tracking_host."
	rotate := op("rotateSendingDomainKey", "Begin the rotation of a sending domain's DKIM key.", sender.ErrDomainNotFound, sender.ErrRotating).IfMatch(sender.DomainRevisions)
	rotate.Role = auth.Admin
	rotate.Description = "Adds the records of the next keys to dns_records. Mail is signed with the next key once a check has found its record; the record of the current one must stay for seven more days."
	endpoint.Handle(r, "GET /t/{tenant}/api/sending-domains", op("listSendingDomains", "List the sending domains and the DNS records to publish."), api.listDomains)
	endpoint.Handle(r, "POST /t/{tenant}/api/sending-domains", create.ExampleBody(`{"domain": "news.example.com"}`), api.createDomain, checkNewDomain)
	endpoint.Handle(r, "GET /t/{tenant}/api/sending-domains/{id}", op("getSendingDomain", "Get a sending domain and the DNS records to publish.", sender.ErrDomainNotFound).Revised(sender.DomainRevisions), api.getDomain)
	endpoint.Handle(r, "POST /t/{tenant}/api/sending-domains/{id}/resume", resume, api.resumeDomain)
	endpoint.Handle(r, "POST /t/{tenant}/api/sending-domains/{id}/verify", verify, api.verifyDomain)
	endpoint.Handle(r, "POST /t/{tenant}/api/sending-domains/{id}/rotate-dkim", rotate, api.rotateKey)
	endpoint.Handle(r, "DELETE /t/{tenant}/api/sending-domains/{id}", remove, api.deleteDomain)
}

// SendingDomain is a sending domain with its DNS records.
type SendingDomain struct {
	ID             id.Domain       `json:"id" format:"uuid"`
	TenantID       id.Tenant       `json:"tenant_id" format:"uuid"`
	Domain         string          `json:"domain"`
	Status         sender.Status   `json:"status" enum:"pending,verified,failed"`
	DKIMSelector   string          `json:"dkim_selector"`
	ReturnPathHost string          `json:"return_path_host"`
	TrackingHost   string          `json:"tracking_host"`
	TrackingStatus sender.Status   `json:"tracking_status" enum:"pending,live,failed"`
	DMARCPolicy    *string         `json:"dmarc_policy"`
	Paused         bool            `json:"paused"`
	PauseReason    *string         `json:"pause_reason" doc:"complaint_rate, bounce_rate, dns_lost, operator; null unless paused"`
	VerifiedBy     *string         `json:"verified_by" doc:"dns or operator; null until it was verified."`
	VerifiedAt     *endpoint.Stamp `json:"verified_at"`
	LastCheckedAt  *endpoint.Stamp `json:"last_checked_at"`
	NextCheckAt    endpoint.Stamp  `json:"next_check_at"`
	FailingSince   *endpoint.Stamp `json:"failing_since" doc:"Since when required records are missing or wrong. A verified domain fails 72 hours later."`
	Health         *DomainHealth   `json:"health,omitempty"`
	Rotation       *KeyRotation    `json:"dkim_rotation" doc:"The rotation of the DKIM key; null if none takes place."`
	CreatedAt      endpoint.Stamp  `json:"created_at"`
	DNSRecords     []DNSRecord     `json:"dns_records"`
	DNSOmitted     []OmittedRecord `json:"dns_records_omitted" doc:"Records that cannot be published, because this installation has no host name for them."`
}

// DNSRecord is a record that the domain's owner publishes.
type DNSRecord struct {
	Purpose   string          `json:"purpose" enum:"dkim,return_path,return_path_spf,dmarc,tracking,dkim_ed25519"`
	Type      string          `json:"type" enum:"TXT,MX,CNAME"`
	Host      string          `json:"host"`
	Value     string          `json:"value"`
	Priority  *int            `json:"priority,omitempty" doc:"Of MX records."`
	Required  bool            `json:"required"`
	Status    string          `json:"status" enum:"missing,invalid,ok" doc:"At the last check to which the DNS gave an answer."`
	Found     *string         `json:"found" doc:"What the DNS has, one value per line."`
	Problem   *string         `json:"problem" doc:"What is wrong and what to do, or what is worth knowing."`
	Note      *string         `json:"note" doc:"What the record is for if its purpose does not say it, such as the relay that needs it."`
	CheckedAt *endpoint.Stamp `json:"checked_at" doc:"When the DNS last gave an answer."`
}

// DomainHealth is how recipients and their servers received the recent mail of a domain.
type DomainHealth struct {
	Deliveries     int            `json:"deliveries"`
	ComplaintRate  float64        `json:"complaint_rate" doc:"Complaints per delivery. With at least 1000 deliveries, a warning begins at 0.001, and the domain is paused at 0.003."`
	HardBounceRate float64        `json:"hard_bounce_rate" doc:"Hard bounces per message accepted or permanently refused. With at least 1000 deliveries, a warning begins at 0.02 and at 0.05, and the domain is paused at 0.1."`
	Since          endpoint.Stamp `json:"since" doc:"24 hours ago, or when the domain was resumed if that was later."`
	GoodDays       int            `json:"good_days" doc:"Days of mail with few deferrals, refusals and complaints. Until there are 60, MTA configs that warm up send half as much from the domain as from an address."`

	Warnings []DomainWarning `json:"warnings" doc:"Rates that are too high, and throughput that is too low. They pause nothing."`
}

// DomainWarning is a rate of a domain that is too high, or its throughput if that is too low.
type DomainWarning struct {
	Metric    sender.Metric  `json:"metric" enum:"complaint_rate,hard_bounce_rate,refusal_rate,auth_failure_rate,unknown_user_rate,throughput" doc:"complaint_rate: complaints per delivery, of all mail or to a provider. hard_bounce_rate: hard bounces per message accepted or permanently refused. refusal_rate: attempts that were refused for content or reputation, of at least 200. auth_failure_rate: attempts that were refused because SPF, DKIM or DMARC failed. unknown_user_rate: of the first 1000 recipients of a broadcast, of those who had no mail before, the mailboxes that do not exist. throughput: messages of five minutes, of the median of the hour before, while messages are due."`
	Provider  *string        `json:"provider" doc:"A provider group, or other; null: of all mail."`
	Broadcast *id.Broadcast  `json:"broadcast_id" format:"uuid" doc:"Of unknown_user_rate; otherwise null."`
	Rate      float64        `json:"rate"`
	Count     int            `json:"count"`
	Of        int            `json:"of" doc:"Deliveries, attempts or recipients, or the median."`
	Threshold float64        `json:"threshold" doc:"The rate is above it with a probability of 97.5 %; that of throughput is below it."`
	Minutes   int            `json:"window_minutes"`
	Since     endpoint.Stamp `json:"since" doc:"When the warning began. Warnings are computed every minute."`
}

// KeyRotation is the state of a rotation. The next key signs once its record is found; the retired
// one's record must stay until retire_at.
type KeyRotation struct {
	NextSelector    *string         `json:"next_selector"`
	StartedAt       *endpoint.Stamp `json:"started_at"`
	RetiredSelector *string         `json:"retired_selector"`
	RetireAt        *endpoint.Stamp `json:"retire_at"`
}

// OmittedRecord is a record that would be needed but has no value.
type OmittedRecord struct {
	Purpose string `json:"purpose" enum:"return_path,return_path_spf,tracking"`
	Type    string `json:"type" enum:"TXT,MX,CNAME"`
	Host    string `json:"host"`
	Reason  string `json:"reason"`
}

func (api Domains) listDomains(ctx context.Context, p auth.Principal, _ *struct{}) (endpoint.List[SendingDomain], error) {
	list, err := sender.Domains(ctx, api.db, p.Tenant)
	if err != nil {
		return endpoint.List[SendingDomain]{}, err
	}
	rows, err := api.showDomains(ctx, p, list)
	return endpoint.Whole(rows), err
}

func (api Domains) showDomain(ctx context.Context, p auth.Principal, d sender.Domain) (SendingDomain, error) {
	endpoint.SetRevision(ctx, d.Revision)
	rows, err := api.showDomains(ctx, p, []sender.Domain{d})
	if err != nil {
		return SendingDomain{}, err
	}
	return rows[0], nil
}

func (api Domains) showDomains(ctx context.Context, p auth.Principal, list []sender.Domain) ([]SendingDomain, error) {
	health, err := sender.HealthOf(ctx, api.db, p.Tenant, list, api.now())
	if err != nil {
		return nil, err
	}
	bounces, err := sender.ReturnPathOf(ctx, api.db, p.Tenant)
	if err != nil {
		return nil, err
	}
	warnings, err := sender.Warnings(ctx, api.db, p.Tenant)
	if err != nil {
		return nil, err
	}
	rows := make([]SendingDomain, len(list))
	for i, d := range list {
		rows[i] = ShowSendingDomain(d, api.hosts.Or(api.baseURL.Hostname()), bounces)
		h := health[d.ID]
		rows[i].Health = &DomainHealth{h.Deliveries, h.ComplaintRate, h.HardBounceRate, endpoint.At(h.Since), d.WarmDays, []DomainWarning{}}
		for _, w := range warnings[d.ID] {
			rows[i].Health.Warnings = append(rows[i].Health.Warnings, showWarning(w))
		}
	}
	return rows, nil
}

func showWarning(w sender.Warning) DomainWarning {
	row := DomainWarning{
		Metric: w.Metric, Provider: optional.Pointer(w.Provider), Rate: w.Rate(), Count: w.Count, Of: w.Of, Threshold: w.Threshold,
		Minutes: int(w.Window / time.Minute), Since: endpoint.At(w.Since),
	}
	if !w.Broadcast.IsZero() {
		row.Broadcast = &w.Broadcast
	}
	return row
}

// ShowSendingDomain returns the row of d, with records that name hosts or those of its tenant's relay. The
// command line prints it too.
func ShowSendingDomain(d sender.Domain, hosts sender.Hosts, bounces lane.ReturnPath) SendingDomain {
	row := SendingDomain{
		ID: d.ID, TenantID: d.Tenant, Domain: d.Name, Status: d.Status, DKIMSelector: d.DKIMSelector,
		ReturnPathHost: d.ReturnPathHost, TrackingHost: d.TrackingHost, TrackingStatus: d.TrackingStatus,
		DMARCPolicy: optional.Pointer(d.DMARCPolicy), Paused: d.Paused, PauseReason: optional.Pointer(d.PauseReason),
		VerifiedBy: optional.Pointer(d.VerifiedBy), VerifiedAt: endpoint.AtOr(d.VerifiedAt), LastCheckedAt: endpoint.AtOr(d.LastCheckedAt),
		NextCheckAt: endpoint.At(d.NextCheckAt), FailingSince: endpoint.AtOr(d.FailingSince),
		CreatedAt: endpoint.At(d.CreatedAt), DNSRecords: []DNSRecord{}, DNSOmitted: []OmittedRecord{},
	}
	if r, ok := d.Rotation(); ok {
		row.Rotation = &KeyRotation{optional.Pointer(r.NextSelector), endpoint.AtOr(r.StartedAt), optional.Pointer(r.RetiredSelector), endpoint.AtOr(r.RetireAt)}
	}
	for _, r := range d.Records(hosts, bounces) {
		if r.Omitted != "" {
			row.DNSOmitted = append(row.DNSOmitted, OmittedRecord{r.Purpose, r.Type, r.Host, r.Omitted})
			continue
		}
		var priority *int
		if r.Type == "MX" {
			priority = &r.Priority
		}
		row.DNSRecords = append(row.DNSRecords, DNSRecord{
			Purpose: r.Purpose, Type: r.Type, Host: r.Host, Value: r.Value, Priority: priority, Required: r.Required,
			Status: string(r.Status), Found: optional.Pointer(r.Found), Problem: optional.Pointer(r.Problem), Note: optional.Pointer(r.Note), CheckedAt: endpoint.AtOr(r.CheckedAt),
		})
	}
	return row
}

type createDomainRequest struct {
	Body struct {
		Domain              string               `json:"domain"`
		TrackingSubdomain   endpoint.Opt[string] `json:"tracking_subdomain" nullable:"false"`
		ReturnPathSubdomain endpoint.Opt[string] `json:"return_path_subdomain" nullable:"false"`
	}
}

func checkNewDomain(_ auth.Principal, in *createDomainRequest) error { return in.draft().Check() }

func (api Domains) createDomain(ctx context.Context, p auth.Principal, in *createDomainRequest) (SendingDomain, error) {
	prepared, err := sender.PrepareDomain(api.box, p.Tenant, in.draft(), api.now())
	if err != nil {
		return SendingDomain{}, err
	}
	var out SendingDomain
	err = wire.Audited(ctx, api.db, p, "create", "sending_domain", api.now(), func(tx *sqldb.DB) (_ string, err error) {
		if err = prepared.Save(ctx, tx); err != nil {
			return "", err
		}
		if out, err = api.On(tx).showDomain(ctx, p, prepared.Domain); err != nil {
			return "", err
		}
		return prepared.ID.String(), endpoint.Remember(ctx, tx, out)
	})
	return out, err
}

func (in *createDomainRequest) draft() sender.DomainDraft {
	return sender.DomainDraft{
		Domain: in.Body.Domain, TrackingSubdomain: in.Body.TrackingSubdomain.Value, ReturnPathSubdomain: in.Body.ReturnPathSubdomain.Value,
	}
}

func (api Domains) getDomain(ctx context.Context, p auth.Principal, in *wire.RecordPath) (SendingDomain, error) {
	domain, err := wire.RecordID[id.Domain](in.ID, sender.ErrDomainNotFound)
	if err != nil {
		return SendingDomain{}, err
	}
	d, err := sender.DomainByID(ctx, api.db, p.Tenant, domain)
	if err != nil {
		return SendingDomain{}, err
	}
	return api.showDomain(ctx, p, d)
}

func (api Domains) resumeDomain(ctx context.Context, p auth.Principal, in *wire.RecordPath) (SendingDomain, error) {
	domain, err := wire.RecordID[id.Domain](in.ID, sender.ErrDomainNotFound)
	if err != nil {
		return SendingDomain{}, err
	}
	var d sender.Domain
	err = wire.Audited(ctx, api.db, p, "resume", "sending_domain", api.now(), func(tx *sqldb.DB) (_ string, err error) {
		d, err = sender.ResumeDomain(ctx, tx, p.Tenant, domain, api.now())
		return domain.String(), err
	})
	if err != nil {
		return SendingDomain{}, err
	}
	return api.showDomain(ctx, p, d)
}

type verifyDomainRequest struct {
	wire.RecordPath
	Body *struct {
		Operator     bool   `json:"operator,omitempty" doc:"Verify the domain without DNS; only where the base URL is on loopback, and by owners."`
		TrackingHost string `json:"tracking_host,omitempty" doc:"With operator: the host of tracked links, host or host:port."`
	}
}

func (in *verifyDomainRequest) forced() bool { return in.Body != nil && in.Body.Operator }

// checkVerify checks whether the caller may verify a domain without DNS.
func (api Domains) checkVerify(p auth.Principal, in *verifyDomainRequest) error {
	switch {
	case !in.forced():
		return nil
	case !p.Role.AtLeast(auth.Owner):
		return endpoint.ErrRole
	case !netguard.IsLoopback(api.baseURL.Hostname()):
		return fault.Input(fault.Field{Path: "operator", Message: "the base URL of this installation is not on loopback; the operator can run packetboat domain verify"})
	case in.Body.TrackingHost != "":
		return sender.CheckTrackingHost("tracking_host", in.Body.TrackingHost)
	}
	return nil
}

func (api Domains) verifyDomain(ctx context.Context, p auth.Principal, in *verifyDomainRequest) (SendingDomain, error) {
	if err := api.checkVerify(p, in); err != nil {
		return SendingDomain{}, err
	}
	domain, err := wire.RecordID[id.Domain](in.ID, sender.ErrDomainNotFound)
	if err != nil {
		return SendingDomain{}, err
	}
	if in.forced() {
		return api.forceVerify(ctx, p, domain, in.Body.TrackingHost)
	}
	d, err := api.checks.VerifyOnDemand(ctx, p.Tenant, domain)
	if err != nil {
		return SendingDomain{}, err
	}
	return api.showDomain(ctx, p, d)
}

// forceVerify verifies a domain without DNS.
func (api Domains) forceVerify(ctx context.Context, p auth.Principal, domain id.Domain, trackingHost string) (SendingDomain, error) {
	var d sender.Domain
	err := wire.Audited(ctx, api.db, p, "verify", "sending_domain", api.now(), func(tx *sqldb.DB) (string, error) {
		known, err := sender.DomainByID(ctx, tx, p.Tenant, domain)
		if err != nil {
			return "", err
		}
		d, err = sender.ForceVerify(ctx, tx, p.Tenant, known.Name, trackingHost, api.now())
		return domain.String(), err
	})
	if err != nil {
		return SendingDomain{}, err
	}
	return api.showDomain(ctx, p, d)
}

func (api Domains) rotateKey(ctx context.Context, p auth.Principal, in *wire.RecordPath) (SendingDomain, error) {
	domain, err := wire.RecordID[id.Domain](in.ID, sender.ErrDomainNotFound)
	if err != nil {
		return SendingDomain{}, err
	}
	if _, err := sender.DomainByID(ctx, api.db, p.Tenant, domain); err != nil { // before keys are made
		return SendingDomain{}, err
	}
	next, err := sender.PrepareRotation(api.box, p.Tenant, domain)
	if err != nil {
		return SendingDomain{}, err
	}
	var d sender.Domain
	err = wire.Audited(ctx, api.db, p, "rotate_dkim", "sending_domain", api.now(), func(tx *sqldb.DB) (_ string, err error) {
		d, err = next.Save(ctx, tx, api.now())
		return domain.String(), err
	})
	if err != nil {
		return SendingDomain{}, err
	}
	return api.showDomain(ctx, p, d)
}

func (api Domains) deleteDomain(ctx context.Context, p auth.Principal, in *wire.RecordPath) (endpoint.None, error) {
	domain, err := wire.RecordID[id.Domain](in.ID, sender.ErrDomainNotFound)
	if err != nil {
		return endpoint.None{}, err
	}
	return endpoint.None{}, wire.Audited(ctx, api.db, p, "delete", "sending_domain", api.now(), func(tx *sqldb.DB) (string, error) {
		return domain.String(), sender.DeleteDomain(ctx, tx, p.Tenant, domain)
	})
}
