package sendingapi

import (
	"context"
	"net"
	"strconv"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/testmail"
)

type testMTAConfigRequest struct {
	wire.RecordPath
	Body struct {
		To endpoint.Opt[string] `json:"to" doc:"The recipient of the mail. Null or absent: no mail is sent, only a connection opened."`
	}
}

type testedMTAConfig struct {
	Accepted     bool   `json:"accepted"`
	SMTPCode     *int   `json:"smtp_code" doc:"null when no server answered"`
	SMTPResponse string `json:"smtp_response"`
	LatencyMS    int64  `json:"latency_ms"`
}

func (api MTAConfigs) testMTAConfig(ctx context.Context, p auth.Principal, in *testMTAConfigRequest) (testedMTAConfig, error) {
	to, err := recipient(in.Body.To)
	if err != nil {
		return testedMTAConfig{}, err
	}
	config, err := wire.RecordID[id.Lane](in.ID, lane.ErrNotFound)
	if err != nil {
		return testedMTAConfig{}, err
	}
	c, err := lane.ByID(ctx, api.db, p.Tenant, config)
	if err != nil {
		return testedMTAConfig{}, err
	}
	var trial lane.Trial
	if to == "" {
		secret, err := lane.Password(ctx, api.db, api.box, p.Tenant, config)
		if err != nil {
			return testedMTAConfig{}, err
		}
		if trial, err = api.connect(ctx, p, c, secret, to); err != nil {
			return testedMTAConfig{}, err
		}
	} else {
		if err := wire.BeginTest(ctx, api.db, testmail.Call{By: p, Action: "mta_config.test", Target: "mta_config", ID: config.String(), To: []string{to}, Mails: 1}, api.now()); err != nil {
			return testedMTAConfig{}, err
		}
		if trial, err = api.tester.Try(ctx, p.Tenant, config, id.Identity{}, to); err != nil {
			return testedMTAConfig{}, err
		}
	}
	return rowOfTrial(trial), lane.RecordTrial(ctx, api.db, c, trial, api.now())
}

type testMTAConfigDraftRequest struct {
	Body struct {
		ID       endpoint.Opt[string]          `json:"id" doc:"The MTA config that is being changed: what the body leaves out is as it is stored. Its password is used only if host, port, user name and encryption are those that it was stored for. Null or absent: a new one."`
		To       endpoint.Opt[string]          `json:"to" doc:"Of type direct_mx, required: an address, to a server of whose domain the connection is opened. No mail is sent."`
		Type     endpoint.Opt[lane.Type]       `json:"type" nullable:"false" doc:"As of createMtaConfig, whose other fields do not matter here."`
		Settings endpoint.Opt[mtaSettingsBody] `json:"settings" nullable:"false"`
	}
}

func (in *testMTAConfigDraftRequest) fields() lane.Fields {
	return mtaConfigBody{Type: in.Body.Type, Settings: in.Body.Settings}.fields()
}

func (api MTAConfigs) checkMTAConfigDraft(_ auth.Principal, in *testMTAConfigDraftRequest) error {
	_, err := recipient(in.Body.To)
	var problems fault.Problems
	problems.AddFrom(err)
	problems.AddFrom(in.fields().CheckDraft(!in.Body.ID.Given(), lane.Rules{AllowPrivate: api.allowPrivateRelays}))
	return problems.Err()
}

func (api MTAConfigs) testMTAConfigDraft(ctx context.Context, p auth.Principal, in *testMTAConfigDraftRequest) (testedMTAConfig, error) {
	if err := api.checkMTAConfigDraft(p, in); err != nil {
		return testedMTAConfig{}, err
	}
	to, err := recipient(in.Body.To)
	if err != nil {
		return testedMTAConfig{}, err
	}
	var config id.Lane
	if in.Body.ID.Given() {
		if config, err = wire.RecordID[id.Lane](in.Body.ID.Value, lane.ErrNotFound); err != nil {
			return testedMTAConfig{}, err
		}
	}
	rules, err := api.laneRules(ctx, api.db, p.Tenant)
	if err != nil {
		return testedMTAConfig{}, err
	}
	c, secret, err := lane.Draft(ctx, api.db, api.box, p.Tenant, config, in.fields(), rules)
	if err != nil {
		return testedMTAConfig{}, err
	}
	trial, err := api.connect(ctx, p, c, secret, to)
	if err != nil {
		return testedMTAConfig{}, err
	}
	return rowOfTrial(trial), nil
}

// connect opens a connection for a test that sends no mail. It counts as a test mail, and is in the audit log.
func (api MTAConfigs) connect(ctx context.Context, p auth.Principal, c lane.Config, secret, to string) (lane.Trial, error) {
	if c.Type == lane.DirectMX && to == "" {
		return lane.Trial{}, fault.Input(fault.Field{Path: "to", Message: "required: a test of type direct_mx connects to a server of its domain"})
	}
	call := testmail.Call{By: p, Action: "mta_config.test", Target: "mta_config", Mails: 1, Server: string(c.Type)}
	if !c.ID.IsZero() {
		call.ID = c.ID.String()
	}
	switch c.Type {
	case lane.SMTP:
		call.Server = net.JoinHostPort(c.SMTP.Host, strconv.Itoa(c.SMTP.Port))
	case lane.DirectMX:
		call.To = []string{to}
	}
	if err := wire.BeginTest(ctx, api.db, call, api.now()); err != nil {
		return lane.Trial{}, err
	}
	return api.tester.Connect(ctx, c, secret, to)
}

// recipient returns the normalized address of a test, or "" without one.
func recipient(to endpoint.Opt[string]) (string, error) {
	if !to.Given() {
		return "", nil
	}
	var problems fault.Problems
	addr := parseAddress(&problems, "to", to.Value)
	return addr, problems.Err()
}

func rowOfTrial(trial lane.Trial) testedMTAConfig {
	row := testedMTAConfig{Accepted: trial.Accepted, SMTPResponse: trial.Response, LatencyMS: trial.Latency.Milliseconds()}
	if trial.Code != 0 {
		row.SMTPCode = &trial.Code
	}
	return row
}
