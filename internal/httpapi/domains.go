package httpapi

import (
	"context"
	"net/url"
	"time"

	"github.com/packetboat/packetboat/internal/auth"
	"github.com/packetboat/packetboat/internal/endpoint"
	"github.com/packetboat/packetboat/internal/fault"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/secret"
	"github.com/packetboat/packetboat/internal/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// domainsAPI serves sending domains.
type domainsAPI struct {
	db      *sqldb.DB
	box     *secret.Box
	baseURL *url.URL
	hosts   sender.Hosts
	now     func() time.Time
}

// register adds the operations on sending domains.
func (api domainsAPI) register(r *endpoint.Router) {
	op := func(name, summary string, faults ...*fault.Error) endpoint.Op {
		return endpoint.Op{Name: name, Summary: summary, Tag: "sending domains", Session: true, Faults: faults}
	}
	create := op("createSendingDomain", "Create a sending domain with a DKIM key.", sender.ErrDuplicateDomain)
	create.Status, create.Role = 201, auth.Admin
	remove := op("deleteSendingDomain", "Delete a sending domain that no identity uses.", sender.ErrDomainNotFound, sender.ErrDomainInUse)
	remove.Role = auth.Admin
	resume := op("resumeSendingDomain", "Resume a paused sending domain; its rates are counted from then on.", sender.ErrDomainNotFound)
	resume.Role = auth.Admin
	endpoint.Handle(r, "GET /t/{tenant}/api/sending-domains", op("listSendingDomains", "List the sending domains and the DNS records to publish."), api.listDomains)
	endpoint.Handle(r, "POST /t/{tenant}/api/sending-domains", create.ExampleBody(`{"domain": "news.example.com"}`), api.createDomain, checkNewDomain)
	endpoint.Handle(r, "GET /t/{tenant}/api/sending-domains/{id}", op("getSendingDomain", "Get a sending domain and the DNS records to publish.", sender.ErrDomainNotFound), api.getDomain)
	endpoint.Handle(r, "POST /t/{tenant}/api/sending-domains/{id}/resume", resume, api.resumeDomain)
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
	VerifiedBy     *string         `json:"verified_by"`
	VerifiedAt     *endpoint.Stamp `json:"verified_at"`
	LastCheckedAt  *endpoint.Stamp `json:"last_checked_at"`
	CreatedAt      endpoint.Stamp  `json:"created_at"`
	DNSRecords     []DNSRecord     `json:"dns_records"`
	DNSOmitted     []OmittedRecord `json:"dns_records_omitted" doc:"Records that cannot be published, because this installation has no host name for them."`
}

// DNSRecord is a record that the domain's owner publishes.
type DNSRecord struct {
	Purpose  string  `json:"purpose" enum:"dkim,return_path,return_path_spf,dmarc,tracking"`
	Type     string  `json:"type" enum:"TXT,MX,CNAME"`
	Host     string  `json:"host"`
	Value    string  `json:"value"`
	Priority int     `json:"priority,omitempty" doc:"Of MX records."`
	Required bool    `json:"required"`
	Status   string  `json:"status" enum:"missing,invalid,ok"`
	Found    *string `json:"found"`
}

// OmittedRecord is a record that would be needed but has no value.
type OmittedRecord struct {
	Purpose string `json:"purpose" enum:"return_path,return_path_spf,tracking"`
	Type    string `json:"type" enum:"TXT,MX,CNAME"`
	Host    string `json:"host"`
	Reason  string `json:"reason"`
}

func (api domainsAPI) listDomains(ctx context.Context, p auth.Principal, _ *struct{}) (endpoint.List[SendingDomain], error) {
	list, err := sender.Domains(ctx, api.db, p.Tenant)
	if err != nil {
		return endpoint.List[SendingDomain]{}, err
	}
	rows := make([]SendingDomain, len(list))
	for i, d := range list {
		rows[i] = api.showDomain(d)
	}
	return endpoint.Whole(rows), nil
}

func (api domainsAPI) showDomain(d sender.Domain) SendingDomain {
	return ShowSendingDomain(d, api.hosts.Or(api.baseURL.Hostname()))
}

// ShowSendingDomain returns the row of d, with records that name hosts. The command line prints it
// too.
func ShowSendingDomain(d sender.Domain, hosts sender.Hosts) SendingDomain {
	row := SendingDomain{
		ID: d.ID, TenantID: d.Tenant, Domain: d.Name, Status: d.Status, DKIMSelector: d.DKIMSelector,
		ReturnPathHost: d.ReturnPathHost, TrackingHost: d.TrackingHost, TrackingStatus: d.TrackingStatus,
		DMARCPolicy: orNull(d.DMARCPolicy), Paused: d.Paused, PauseReason: orNull(d.PauseReason),
		VerifiedBy: orNull(d.VerifiedBy), VerifiedAt: endpoint.AtOr(d.VerifiedAt), LastCheckedAt: endpoint.AtOr(d.LastCheckedAt),
		CreatedAt: endpoint.At(d.CreatedAt), DNSRecords: []DNSRecord{}, DNSOmitted: []OmittedRecord{},
	}
	for _, r := range d.Records(hosts) {
		if r.Omitted != "" {
			row.DNSOmitted = append(row.DNSOmitted, OmittedRecord{r.Purpose, r.Type, r.Host, r.Omitted})
			continue
		}
		row.DNSRecords = append(row.DNSRecords, DNSRecord{
			Purpose: r.Purpose, Type: r.Type, Host: r.Host, Value: r.Value, Priority: r.Priority, Required: r.Required, Status: "missing",
		})
	}
	return row
}

type createDomainRequest struct {
	Body struct {
		Domain              endpoint.Opt[string] `json:"domain" nullable:"false"`
		TrackingSubdomain   endpoint.Opt[string] `json:"tracking_subdomain" nullable:"false"`
		ReturnPathSubdomain endpoint.Opt[string] `json:"return_path_subdomain" nullable:"false"`
	}
}

func checkNewDomain(_ auth.Principal, in *createDomainRequest) error { return in.draft().Check() }

func (api domainsAPI) createDomain(ctx context.Context, p auth.Principal, in *createDomainRequest) (SendingDomain, error) {
	prepared, err := sender.PrepareDomain(api.box, p.Tenant, in.draft(), api.now())
	if err != nil {
		return SendingDomain{}, err
	}
	err = audited(ctx, api.db, p, "create", "sending_domain", api.now(), func(tx *sqldb.DB) (string, error) {
		return prepared.ID.String(), prepared.Save(ctx, tx)
	})
	if err != nil {
		return SendingDomain{}, err
	}
	return api.showDomain(prepared.Domain), nil
}

func (in *createDomainRequest) draft() sender.DomainDraft {
	return sender.DomainDraft{
		Domain: in.Body.Domain.Value, TrackingSubdomain: in.Body.TrackingSubdomain.Value, ReturnPathSubdomain: in.Body.ReturnPathSubdomain.Value,
	}
}

func (api domainsAPI) getDomain(ctx context.Context, p auth.Principal, in *RecordPath) (SendingDomain, error) {
	domain, err := recordID[id.Domain](in.ID, sender.ErrDomainNotFound)
	if err != nil {
		return SendingDomain{}, err
	}
	d, err := sender.DomainByID(ctx, api.db, p.Tenant, domain)
	if err != nil {
		return SendingDomain{}, err
	}
	return api.showDomain(d), nil
}

func (api domainsAPI) resumeDomain(ctx context.Context, p auth.Principal, in *RecordPath) (SendingDomain, error) {
	domain, err := recordID[id.Domain](in.ID, sender.ErrDomainNotFound)
	if err != nil {
		return SendingDomain{}, err
	}
	var d sender.Domain
	err = audited(ctx, api.db, p, "resume", "sending_domain", api.now(), func(tx *sqldb.DB) (_ string, err error) {
		d, err = sender.ResumeDomain(ctx, tx, p.Tenant, domain, api.now())
		return domain.String(), err
	})
	if err != nil {
		return SendingDomain{}, err
	}
	return api.showDomain(d), nil
}

func (api domainsAPI) deleteDomain(ctx context.Context, p auth.Principal, in *RecordPath) (endpoint.None, error) {
	domain, err := recordID[id.Domain](in.ID, sender.ErrDomainNotFound)
	if err != nil {
		return endpoint.None{}, err
	}
	return endpoint.None{}, audited(ctx, api.db, p, "delete", "sending_domain", api.now(), func(tx *sqldb.DB) (string, error) {
		return domain.String(), sender.DeleteDomain(ctx, tx, p.Tenant, domain)
	})
}
