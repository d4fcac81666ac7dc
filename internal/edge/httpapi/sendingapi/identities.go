package sendingapi

import (
	"context"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/optional"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/senders/testmail"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Identities serves sending identities.
type Identities struct {
	db     *sqldb.DB
	now    func() time.Time
	tester wire.Tester
	usage  usage.Finder
}

// NewIdentities returns the operations on sending identities.
func NewIdentities(e wire.Env, tester wire.Tester, uses usage.Finder) Identities {
	return Identities{db: e.DB, now: e.Now, tester: tester, usage: uses}
}

// On returns the operations on another handle.
func (api Identities) On(db *sqldb.DB) Identities { api.db = db; return api }

// Register adds the operations on sending identities.
func (api Identities) Register(r *endpoint.Router) {
	write := func(name, summary string, faults ...*fault.Error) endpoint.Op {
		return endpoint.Op{Name: name, Summary: summary, Tag: "sending identities", Session: true, Role: auth.Admin, Faults: faults}
	}
	create := write("createSendingIdentity", "Create a sending identity.",
		sender.ErrDuplicateIdentity, sender.ErrDomainNotVerified, sender.ErrTooManyIdentities).Once().Revised(sender.IdentityRevisions)
	create.Status = 201
	endpoint.Handle(r, "GET /t/{tenant}/api/sending-identities", endpoint.Op{
		Name: "listSendingIdentities", Summary: "List sending identities, by address.",
		Tag: "sending identities", Scope: auth.SendingIdentitiesRead,
	}, api.ListIdentities)
	endpoint.Handle(r, "GET /t/{tenant}/api/sending-identities/{id}", endpoint.Op{
		Name: "getSendingIdentity", Summary: "Get a sending identity.",
		Tag: "sending identities", Scope: auth.SendingIdentitiesRead, Faults: []*fault.Error{sender.ErrIdentityNotFound},
	}.Revised(sender.IdentityRevisions), api.getIdentity)
	endpoint.Handle(r, "POST /t/{tenant}/api/sending-identities", create.ExampleBody(`{"email_address": "hello@$DOMAIN", "display_name": "Acme", "email_type_ids": ["$EMAIL_TYPE_ID"], "default_mta_config_id": "$MTA_CONFIG_ID", "active": true}`), wire.Once(api, api.db, Identities.createIdentity), checkNewIdentity)
	endpoint.Handle(r, "PUT /t/{tenant}/api/sending-identities/{id}",
		write("updateSendingIdentity", "Update a sending identity.",
			sender.ErrIdentityNotFound, sender.ErrDuplicateIdentity, sender.ErrDomainNotVerified).IfMatch(sender.IdentityRevisions).ExampleBody(`{"display_name": "Acme News", "reply_to": "office@example.com"}`), api.updateIdentity, checkIdentity)
	endpoint.Handle(r, "DELETE /t/{tenant}/api/sending-identities/{id}",
		write("deleteSendingIdentity", "Delete a sending identity.",
			sender.ErrIdentityNotFound, sender.ErrIdentityInUse).IfMatch(sender.IdentityRevisions), api.deleteIdentity)
	endpoint.Handle(r, "POST /t/{tenant}/api/sending-identities/{id}/verify-lane",
		write("verifySendingIdentityLane", "Send one mail from the address through an MTA config; if it is accepted, the pair is verified.",
			sender.ErrIdentityNotFound, testmail.ErrLimit).Once().ExampleBody(`{"mta_config_id": "$MTA_CONFIG_ID", "to": "ada@example.com"}`).WithTitle("Verify lane"), api.verifyLane, checkVerifyLane)
}

type IdentityRow struct {
	ID                   id.Identity    `json:"id" format:"uuid"`
	TenantID             id.Tenant      `json:"tenant_id" format:"uuid"`
	EmailAddress         string         `json:"email_address" doc:"The value in sending_identity_emails."`
	DisplayName          string         `json:"display_name"`
	ReplyTo              *string        `json:"reply_to"`
	EmailTypeIDs         []id.EmailType `json:"email_type_ids"`
	SendingDomainID      id.Domain      `json:"sending_domain_id" format:"uuid"`
	TrackingDomain       *string        `json:"tracking_domain" doc:"null until tracking is live; nothing is sent before."`
	ContentRewriteDomain *string        `json:"content_rewrite_domain" doc:"Host of the pages we serve; null means tracking_domain."`
	ImageRewriteDomain   *string        `json:"image_rewrite_domain" doc:"Host of the images we serve; null means tracking_domain."`
	UTMCode              *string        `json:"utm_code" doc:"utm_source of tracked links; null means the tenant's slug."`
	DefaultMTAConfigID   *id.Lane       `json:"default_mta_config_id" format:"uuid"`
	VerifiedMTAConfigIDs []id.Lane      `json:"verified_mta_config_ids" doc:"Those that accepted a test mail from the address."`
	Active               bool           `json:"active"`
	CreatedAt            endpoint.Stamp `json:"created_at"`
}

func (api Identities) ListIdentities(ctx context.Context, p auth.Principal, _ *struct{}) (endpoint.List[IdentityRow], error) {
	list, err := sender.Identities(ctx, api.db, p.Tenant)
	if err != nil {
		return endpoint.List[IdentityRow]{}, err
	}
	rows := make([]IdentityRow, len(list))
	for n, i := range list {
		rows[n] = rowOfIdentity(i)
	}
	return endpoint.Whole(rows), nil
}

func rowOfIdentity(i sender.Identity) IdentityRow {
	return IdentityRow{
		ID: i.ID, TenantID: i.Tenant, EmailAddress: i.Address, DisplayName: i.DisplayName, ReplyTo: optional.Pointer(i.ReplyTo),
		EmailTypeIDs: i.EmailTypes, SendingDomainID: i.Domain, TrackingDomain: i.TrackingHost, ContentRewriteDomain: i.ContentHost,
		UTMCode: optional.Pointer(i.UTMCode), DefaultMTAConfigID: optional.Pointer(i.DefaultLane), VerifiedMTAConfigIDs: i.VerifiedLanes,
		Active: i.Active, CreatedAt: endpoint.At(i.CreatedAt),
	}
}

func (api Identities) getIdentity(ctx context.Context, p auth.Principal, in *wire.RecordPath) (IdentityRow, error) {
	identity, err := wire.RecordID[id.Identity](in.ID, sender.ErrIdentityNotFound)
	if err != nil {
		return IdentityRow{}, err
	}
	i, err := sender.IdentityByID(ctx, api.db, p.Tenant, identity)
	if err != nil {
		return IdentityRow{}, err
	}
	endpoint.SetRevision(ctx, i.Revision)
	return rowOfIdentity(i), nil
}

type createIdentityRequest struct{ Body identityBody }

type identityBody struct {
	EmailAddress         endpoint.Opt[string]   `json:"email_address" nullable:"false" doc:"On one of the sending domains. Required when an identity is created."`
	DisplayName          endpoint.Opt[string]   `json:"display_name" nullable:"false" doc:"Required when an identity is created."`
	ReplyTo              endpoint.Opt[string]   `json:"reply_to"`
	EmailTypeIDs         endpoint.Opt[[]string] `json:"email_type_ids"`
	UTMCode              endpoint.Opt[string]   `json:"utm_code"`
	DefaultMTAConfigID   endpoint.Opt[string]   `json:"default_mta_config_id"`
	ContentRewriteDomain endpoint.Opt[string]   `json:"content_rewrite_domain"`
	ImageRewriteDomain   endpoint.Opt[string]   `json:"image_rewrite_domain"`
	Active               endpoint.Opt[bool]     `json:"active" nullable:"false"`
}

func checkNewIdentity(_ auth.Principal, in *createIdentityRequest) error {
	return in.Body.checked(in.Body.fields().CheckNew())
}

func (api Identities) createIdentity(ctx context.Context, p auth.Principal, in *createIdentityRequest) (IdentityRow, error) {
	i, err := sender.CreateIdentity(ctx, api.db, p.Tenant, in.Body.fields(), api.now())
	if err != nil {
		return IdentityRow{}, err
	}
	endpoint.SetRevision(ctx, i.Revision)
	return rowOfIdentity(i), nil
}

// checked adds to err a problem with the MTA config id of the body.
func (b identityBody) checked(err error) error {
	var bad fault.Problems
	bad.AddFrom(err)
	wire.CheckID(&bad, "default_mta_config_id", b.DefaultMTAConfigID, "no such MTA config")
	return bad.Err()
}

func (b identityBody) fields() sender.IdentityFields {
	f := sender.IdentityFields{
		Address: b.EmailAddress.Pointer(), DisplayName: b.DisplayName.Pointer(), ReplyTo: wire.NullAsZero(b.ReplyTo), UTMCode: wire.NullAsZero(b.UTMCode),
		ContentHost: wire.NullAsZero(b.ContentRewriteDomain), ImageHost: wire.NullAsZero(b.ImageRewriteDomain),
		DefaultLane: wire.NullableID[id.Lane](b.DefaultMTAConfigID), Active: b.Active.Pointer(),
	}
	if b.EmailTypeIDs.Set {
		list := []id.EmailType{}
		for _, text := range b.EmailTypeIDs.Value {
			list = append(list, *wire.NullableID[id.EmailType](endpoint.Some(text)))
		}
		f.EmailTypes = &list
	}
	return f
}

type updateIdentityRequest struct {
	wire.RecordPath
	Body identityBody
}

func checkIdentity(_ auth.Principal, in *updateIdentityRequest) error {
	return in.Body.checked(in.Body.fields().Check())
}

func (api Identities) updateIdentity(ctx context.Context, p auth.Principal, in *updateIdentityRequest) (IdentityRow, error) {
	identity, err := wire.RecordID[id.Identity](in.ID, sender.ErrIdentityNotFound)
	if err != nil {
		return IdentityRow{}, err
	}
	var i sender.Identity
	err = wire.AuditedUpdate(ctx, api.db, p, wire.Update{
		Action: "update", Target: "sending_identity", ID: identity.String(), Table: sender.IdentityRevisions, Key: identity,
		Show: func(tx *sqldb.DB) (any, error) {
			i, err := sender.IdentityByID(ctx, tx, p.Tenant, identity)
			return rowOfIdentity(i), err
		},
		Do: func(tx *sqldb.DB) (err error) {
			i, err = sender.UpdateIdentity(ctx, tx, p.Tenant, identity, in.Body.fields(), api.now())
			return err
		},
	}, api.now())
	if err != nil {
		return IdentityRow{}, err
	}
	endpoint.SetRevision(ctx, i.Revision)
	return rowOfIdentity(i), nil
}

func (api Identities) deleteIdentity(ctx context.Context, p auth.Principal, in *wire.RecordPath) (endpoint.None, error) {
	identity, err := wire.RecordID[id.Identity](in.ID, sender.ErrIdentityNotFound)
	if err != nil {
		return endpoint.None{}, err
	}
	return endpoint.None{}, sender.DeleteIdentity(ctx, api.db, p.Tenant, identity, api.usage)
}

type verifyLaneRequest struct {
	wire.RecordPath
	Body struct {
		MTAConfigID string `json:"mta_config_id"`
		To          string `json:"to"`
	}
}

type verifiedLane struct {
	Accepted     bool   `json:"accepted"`
	SMTPResponse string `json:"smtp_response"`
}

func checkVerifyLane(_ auth.Principal, in *verifyLaneRequest) error {
	_, _, err := in.parse()
	return err
}

func (api Identities) verifyLane(ctx context.Context, p auth.Principal, in *verifyLaneRequest) (verifiedLane, error) {
	to, config, err := in.parse()
	if err != nil {
		return verifiedLane{}, err
	}
	identity, err := wire.RecordID[id.Identity](in.ID, sender.ErrIdentityNotFound)
	if err != nil {
		return verifiedLane{}, err
	}
	i, err := sender.IdentityByID(ctx, api.db, p.Tenant, identity)
	if err != nil {
		return verifiedLane{}, err
	}
	c, err := lane.ByID(ctx, api.db, p.Tenant, config)
	if err != nil {
		return verifiedLane{}, unknownConfig(err)
	}
	if err := wire.BeginTest(ctx, api.db, testmail.Call{By: p, Action: "sending_identity.verify_lane", Target: "sending_identity", ID: i.ID.String(), To: []string{to}, Mails: 1}, api.now()); err != nil {
		return verifiedLane{}, err
	}
	trial, err := api.tester.Try(ctx, p.Tenant, config, i.ID, to)
	if err != nil {
		return verifiedLane{}, err
	}
	if err := lane.RecordTrial(ctx, api.db, c, trial, api.now()); err != nil {
		return verifiedLane{}, err
	}
	if trial.Accepted {
		err = api.db.InTx(ctx, func(tx *sqldb.DB) error {
			return sender.LaneVerified(ctx, tx, p.Tenant, i.ID, config, api.now())
		})
	}
	return verifiedLane{trial.Accepted, trial.Response}, err
}

// parse returns the address and the MTA config of the body, or its problems.
func (in *verifyLaneRequest) parse() (to string, config id.Lane, _ error) {
	var problems fault.Problems
	to = parseAddress(&problems, "to", in.Body.To)
	config, ok := id.Parse[id.Lane](in.Body.MTAConfigID)
	if !ok {
		problems.Add("mta_config_id", "must be the id of an MTA config")
	}
	return to, config, problems.Err()
}
