package overview

import (
	"cmp"
	"context"
	"slices"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/webhook"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/sender"
)

// StepKey identifies a step of the set-up.
type StepKey string

// The steps, in their order. Those from DMARC on are not needed for sending.
const (
	Account     StepKey = "account"          // it has a name, a time zone and a postal address
	Lane        StepKey = "mta_config"       // the default MTA config is active, and a test was accepted or it is a mailbox
	Domain      StepKey = "sending_domain"   // a domain is verified, and its tracking host live
	Identity    StepKey = "sending_identity" // the default identity is active on such a domain, with an email type
	Contacts    StepKey = "contacts"         // someone could be mailed
	FirstMail   StepKey = "first_mail"       // the MTA config of an identity accepted a test mail
	DMARC       StepKey = "dmarc"            // the domain has a DMARC record
	SecondOwner StepKey = "second_owner"
	Segment     StepKey = "segment" // there is a list or segment besides the built-in ones
	Webhooks    StepKey = "webhooks"
)

// StepKeys returns the keys of all steps.
func StepKeys() []StepKey {
	return []StepKey{Account, Lane, Domain, Identity, Contacts, FirstMail, DMARC, SecondOwner, Segment, Webhooks}
}

// Step is a step of the set-up.
type Step struct {
	Key    StepKey
	Done   bool
	Detail string // what is missing; empty if the key says it
	Target string // the id of the record that completes the step; empty: none
}

// setup returns the steps.
func (r *Reader) setup(ctx context.Context, s setting) ([]Step, error) {
	steps := []Step{s.aboutAccount(), s.aboutLane(), s.aboutDomain(), s.aboutIdentity()}
	sendable, err := segment.AnySendable(ctx, r.DB, s.account.ID)
	if err != nil {
		return nil, err
	}
	steps = append(steps, Step{Key: Contacts, Done: sendable}, s.aboutFirstMail(), s.aboutDMARC())
	members, err := auth.Members(ctx, r.DB, s.account.ID)
	if err != nil {
		return nil, err
	}
	owners := 0
	for _, m := range members {
		if m.Role == auth.Owner && m.Status == auth.MemberActive {
			owners++
		}
	}
	own, err := segment.AnyOwn(ctx, r.DB, s.account.ID)
	if err != nil {
		return nil, err
	}
	hooks, err := webhook.List(ctx, r.DB, s.account.ID)
	if err != nil {
		return nil, err
	}
	active := slices.ContainsFunc(hooks, func(e webhook.Endpoint) bool { return e.Active })
	return append(steps, Step{Key: SecondOwner, Done: owners > 1}, Step{Key: Segment, Done: own}, Step{Key: Webhooks, Done: active}), nil
}

func (s setting) aboutAccount() Step {
	step := Step{Key: Account}
	switch {
	case s.account.Name == "":
		step.Detail = "the account has no name"
	case s.account.Settings.Timezone == "":
		step.Detail = "the account has no time zone"
	case s.account.Settings.PostalAddress.Empty():
		step.Detail = "the account has no postal address"
	default:
		step.Done = true
	}
	return step
}

// lane returns an MTA config.
func (s setting) lane(config id.Lane) (lane.Config, bool) {
	i := slices.IndexFunc(s.lanes, func(c lane.Config) bool { return c.ID == config })
	if i < 0 {
		return lane.Config{}, false
	}
	return s.lanes[i], true
}

func (s setting) aboutLane() Step {
	step := Step{Key: Lane}
	c, ok := s.lane(s.account.Settings.DefaultLane)
	switch {
	case !ok && len(s.lanes) > 0:
		step.Detail = "the account has no default MTA config"
		step.Target = s.lanes[0].ID.String()
	case !ok:
		step.Detail = "there is no MTA config"
	case !c.Active:
		step.Detail, step.Target = "the default MTA config is not active", c.ID.String()
	case c.Type != lane.Sink && c.TestedAt == nil:
		step.Detail, step.Target = "no test of "+c.Name+" was accepted yet", c.ID.String()
	default:
		step.Done, step.Target = true, c.ID.String()
	}
	return step
}

// ready reports whether mail can be sent from a domain, with tracked links.
func ready(d sender.Domain) bool {
	return d.Status == sender.Verified && d.TrackingStatus == sender.Live
}

// bestDomain returns a domain that is ready, else a verified one, else the first.
func (s setting) bestDomain() (sender.Domain, bool) {
	if len(s.domains) == 0 {
		return sender.Domain{}, false
	}
	return slices.MinFunc(s.domains, func(a, b sender.Domain) int { return cmp.Compare(missing(a), missing(b)) }), true
}

// missing returns how much of a domain's verification is missing.
func missing(d sender.Domain) int {
	switch {
	case ready(d):
		return 0
	case d.Status == sender.Verified:
		return 1
	}
	return 2
}

func (s setting) aboutDomain() Step {
	step := Step{Key: Domain}
	d, ok := s.bestDomain()
	if !ok {
		step.Detail = "there is no sending domain"
		return step
	}
	step.Target, step.Done = d.ID.String(), ready(d)
	switch missing(d) {
	case 1:
		step.Detail = "the tracking host of " + d.Name + " is not live"
	case 2:
		step.Detail = d.Name + " is not verified"
	}
	return step
}

func (s setting) aboutIdentity() Step {
	step := Step{Key: Identity}
	i := slices.IndexFunc(s.identities, func(i sender.Identity) bool { return i.ID == s.account.Settings.DefaultIdentity })
	if i < 0 {
		step.Detail = "there is no sending identity"
		if len(s.identities) > 0 {
			step.Detail, step.Target = "the account has no default sending identity", s.identities[0].ID.String()
		}
		return step
	}
	one := s.identities[i]
	step.Target = one.ID.String()
	d := slices.IndexFunc(s.domains, func(d sender.Domain) bool { return d.ID == one.Domain })
	switch {
	case !one.Active:
		step.Detail = one.Address + " is not active"
	case len(one.EmailTypes) == 0:
		step.Detail = one.Address + " has no email type"
	case d < 0 || !ready(s.domains[d]):
		step.Detail = "the domain of " + one.Address + " is not verified, or its tracking host not live"
	default:
		step.Done = true
	}
	return step
}

func (s setting) aboutFirstMail() Step {
	step := Step{Key: FirstMail}
	for _, i := range s.identities {
		config := i.DefaultLane
		if config.IsZero() {
			config = s.account.Settings.DefaultLane
		}
		if i.Active && slices.Contains(i.VerifiedLanes, config) {
			return Step{Key: FirstMail, Done: true, Target: i.ID.String()}
		}
		if step.Target == "" || i.ID == s.account.Settings.DefaultIdentity {
			step.Target = i.ID.String()
		}
	}
	return step
}

func (s setting) aboutDMARC() Step {
	step := Step{Key: DMARC}
	if d, ok := s.bestDomain(); ok {
		step.Target, step.Done = d.ID.String(), d.DMARCPolicy != ""
	}
	return step
}
