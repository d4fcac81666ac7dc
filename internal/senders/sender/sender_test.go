package sender_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/mail/dkim"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// fixture is a database with two tenants; the records of the second must not change.
type fixture struct {
	*testing.T
	db          *sqldb.DB
	box         *secret.Box
	mine, other id.Tenant
}

func each(t *testing.T, f func(h fixture)) {
	t.Helper()
	box, err := secret.NewBox(make([]byte, secret.KeyBytes))
	if err != nil {
		t.Fatal(err)
	}
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f(fixture{t, db, box, idtest.Tenant(), idtest.Tenant()})
	})
}

func (h fixture) domain(tenant id.Tenant, name, trackingHost string) sender.Domain {
	h.Helper()
	d, err := sender.CreateDomain(h.Context(), h.db, h.box, tenant, sender.DomainDraft{Domain: name}, noon)
	if err == nil && trackingHost != "" {
		d, err = sender.ForceVerify(h.Context(), h.db, tenant, name, trackingHost, noon)
	}
	if err != nil {
		h.Fatalf("domain %s: %v", name, err)
	}
	return d
}

func (h fixture) emailType(tenant id.Tenant, name string) sender.EmailType {
	h.Helper()
	t, err := sender.CreateEmailType(h.Context(), h.db, tenant, sender.EmailTypeFields{DisplayName: &name}, noon)
	if err != nil {
		h.Fatalf("email type %s: %v", name, err)
	}
	return t
}

func (h fixture) identity(tenant id.Tenant, address string, types ...id.EmailType) sender.Identity {
	h.Helper()
	i, err := sender.CreateIdentity(h.Context(), h.db, tenant, sender.IdentityFields{
		Address: &address, DisplayName: new("Acme"), EmailTypes: &types,
	}, noon)
	if err != nil {
		h.Fatalf("identity %s: %v", address, err)
	}
	return i
}

// invalidPaths returns the paths of the fields in err.
func (h fixture) invalidPaths(err error) (paths []string) {
	h.Helper()
	f, ok := fault.As(err)
	if err != nil && !ok {
		h.Fatalf("%v is not a fault", err)
	}
	if ok {
		fields, _ := f.Details.(fault.Fields)
		for _, field := range fields.Fields {
			paths = append(paths, field.Path)
		}
	}
	return paths
}

func usedBy(source string) usage.Finder {
	return usage.Func(func(context.Context, *sqldb.DB, id.Tenant, usage.Subject) (usage.Holders, error) {
		return usage.Holders{source: {{Name: "Spring"}}}, nil
	})
}

func TestEmailTypesHaveKeysThatStay(t *testing.T) {
	t.Parallel()
	each(t, func(h fixture) {
		ctx := h.Context()
		category, err := sender.CreateCategory(ctx, h.db, h.mine, sender.CategoryFields{Name: new("News")}, noon)
		if err != nil {
			h.Fatal(err)
		}
		typ, err := sender.CreateEmailType(ctx, h.db, h.mine, sender.EmailTypeFields{
			DisplayName: new("Product Überblick"), Description: new("What is new"), UTMCampaignPrefix: new("pn-"),
			Category: &category.ID, SortOrder: new(2), ListKey: new("product"),
		}, noon)
		want := sender.EmailType{
			ID: typ.ID, Tenant: h.mine, Key: "product_uberblick", DisplayName: "Product Überblick", Description: "What is new",
			UTMCampaignPrefix: "pn-", Category: category.ID, SortOrder: 2, Active: true, ListIDEnabled: true, ListKey: "product", CreatedAt: noon, Revision: 1,
		}
		if err != nil || !cmp.Equal(typ, want) {
			h.Fatalf("CreateEmailType: %v (-want +got):\n%s", err, cmp.Diff(want, typ))
		}
		again := h.emailType(h.mine, "Product Überblick")
		theirs := h.emailType(h.other, "Product Überblick")
		if again.Key != "product_uberblick_2" || theirs.Key != "product_uberblick" {
			h.Errorf("keys of the next = %q, %q", again.Key, theirs.Key)
		}
		changed, err := sender.UpdateEmailType(ctx, h.db, h.mine, typ.ID, sender.EmailTypeFields{
			Key: new("product_uberblick"), DisplayName: new("Product"), Category: new(id.Category{}), ListKey: new(""), Active: new(false),
		}, noon)
		want.DisplayName, want.Category, want.ListKey, want.Active = "Product", id.Category{}, "", false
		want.Revision = 2
		if err != nil || !cmp.Equal(changed, want) {
			h.Errorf("UpdateEmailType: %v (-want +got):\n%s", err, cmp.Diff(want, changed))
		}
		if got, err := sender.EmailTypeByKey(ctx, h.db, h.mine, "product_uberblick"); err != nil || !cmp.Equal(got, want) {
			h.Errorf("EmailTypeByKey = %+v, %v", got, err)
		}
		if want.Label() != "product_uberblick" || typ.Label() != "product" {
			h.Errorf("labels %q and %q", want.Label(), typ.Label())
		}
		if _, err := sender.UpdateEmailType(ctx, h.db, h.mine, typ.ID, sender.EmailTypeFields{Key: new("other")}, noon); !cmp.Equal(h.invalidPaths(err), []string{"type_key"}) {
			h.Errorf("a change of key: %v", err)
		}
		if list, err := sender.EmailTypes(ctx, h.db, h.mine); err != nil || len(list) != 2 || list[0].ID != again.ID {
			h.Errorf("EmailTypes = %+v, %v; want two, by sort_order", list, err)
		}
		for name, err := range map[string]error{
			"get":    second(sender.EmailTypeByID(ctx, h.db, h.other, typ.ID)),
			"update": second(sender.UpdateEmailType(ctx, h.db, h.other, typ.ID, sender.EmailTypeFields{}, noon)),
			"delete": sender.DeleteEmailType(ctx, h.db, h.other, typ.ID, usage.Finders{}),
		} {
			if !errors.Is(err, sender.ErrEmailTypeNotFound) {
				h.Errorf("%s by another tenant: %v", name, err)
			}
		}
		if _, err := sender.EmailTypeByKey(ctx, h.db, h.mine, "nothing"); !errors.Is(err, sender.ErrUnknownEmailType) {
			h.Errorf("an unknown key: %v", err)
		}
		if err := sender.DeleteEmailType(ctx, h.db, h.mine, typ.ID, usedBy("broadcasts")); !errors.Is(err, sender.ErrEmailTypeInUse) {
			h.Errorf("delete while in use: %v", err)
		}
		if err := sender.DeleteEmailType(ctx, h.db, h.mine, typ.ID, usage.Finders{}); err != nil {
			h.Error(err)
		}
	})
}

func second[T any](_ T, err error) error { return err }

func TestEmailTypeRules(t *testing.T) {
	t.Parallel()
	each(t, func(h fixture) {
		foreign, err := sender.CreateCategory(h.Context(), h.db, h.other, sender.CategoryFields{Name: new("Theirs")}, noon)
		if err != nil {
			h.Fatal(err)
		}
		for _, tt := range []struct {
			name   string
			fields sender.EmailTypeFields
			wrong  []string
		}{
			{"nothing", sender.EmailTypeFields{}, []string{"display_name"}},
			{"blank name", sender.EmailTypeFields{DisplayName: new("  ")}, []string{"display_name"}},
			{"line break in what becomes a header", sender.EmailTypeFields{DisplayName: new("a\r\nBcc: x")}, []string{"display_name"}},
			{"bad keys", sender.EmailTypeFields{DisplayName: new("a"), Key: new("Not a key"), ListKey: new("a.b")}, []string{"type_key", "list_key"}},
			{"category of another tenant", sender.EmailTypeFields{DisplayName: new("a"), Category: &foreign.ID}, []string{"category_id"}},
			{"too long", sender.EmailTypeFields{
				DisplayName: new(strings.Repeat("x", 201)), Description: new(strings.Repeat("x", 2001)), UTMCampaignPrefix: new(strings.Repeat("x", 101)), SortOrder: new(1 << 30),
			}, []string{"display_name", "description", "utm_campaign_prefix", "sort_order"}},
		} {
			_, err := sender.CreateEmailType(h.Context(), h.db, h.mine, tt.fields, noon)
			if !errors.Is(err, fault.ErrInput) || !cmp.Equal(h.invalidPaths(err), tt.wrong) {
				h.Errorf("%s: %v; want INVALID_INPUT for %v", tt.name, err, tt.wrong)
			}
		}
	})
}

func TestADeletedCategoryLeavesItsTypes(t *testing.T) {
	t.Parallel()
	each(t, func(h fixture) {
		ctx := h.Context()
		c, err := sender.CreateCategory(ctx, h.db, h.mine, sender.CategoryFields{Name: new("News"), Description: new("d"), SortOrder: new(1)}, noon)
		if err != nil {
			h.Fatal(err)
		}
		typ := h.emailType(h.mine, "Weekly")
		if _, err := sender.UpdateEmailType(ctx, h.db, h.mine, typ.ID, sender.EmailTypeFields{Category: &c.ID}, noon); err != nil {
			h.Fatal(err)
		}
		if c, err = sender.UpdateCategory(ctx, h.db, h.mine, c.ID, sender.CategoryFields{Name: new("All news")}, noon); err != nil || c.Name != "All news" || c.Description != "d" {
			h.Errorf("UpdateCategory = %+v, %v", c, err)
		}
		if list, err := sender.Categories(ctx, h.db, h.mine); err != nil || len(list) != 1 || list[0] != c {
			h.Errorf("Categories = %+v, %v", list, err)
		}
		if err := sender.DeleteCategory(ctx, h.db, h.other, c.ID, noon); !errors.Is(err, sender.ErrCategoryNotFound) {
			h.Errorf("delete by another tenant: %v", err)
		}
		if err := sender.DeleteCategory(ctx, h.db, h.mine, c.ID, noon); err != nil {
			h.Errorf("DeleteCategory: %v", err)
		}
		if typ, err = sender.EmailTypeByID(ctx, h.db, h.mine, typ.ID); err != nil || !typ.Category.IsZero() {
			h.Errorf("the type has category %q, %v", typ.Category, err)
		}
	})
}

func TestLimitsOnCounts(t *testing.T) {
	t.Parallel()
	db, mine := dbtest.One(t), idtest.Tenant()
	for range sender.MaxCategories {
		if _, err := sender.CreateCategory(t.Context(), db, mine, sender.CategoryFields{Name: new("c")}, noon); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := sender.CreateCategory(t.Context(), db, mine, sender.CategoryFields{Name: new("c")}, noon); !errors.Is(err, sender.ErrTooManyCategories) {
		t.Errorf("one category more: %v", err)
	}
	for range sender.MaxEmailTypes {
		if _, err := sender.CreateEmailType(t.Context(), db, mine, sender.EmailTypeFields{DisplayName: new("t")}, noon); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := sender.CreateEmailType(t.Context(), db, mine, sender.EmailTypeFields{DisplayName: new("t")}, noon); !errors.Is(err, sender.ErrTooManyEmailTypes) {
		t.Errorf("one email type more: %v", err)
	}
}

func TestADomainIsMadeWithItsKey(t *testing.T) {
	t.Parallel()
	each(t, func(h fixture) {
		ctx := h.Context()
		d := h.domain(h.mine, "Bücher.Example", "")
		if d.Name != "xn--bcher-kva.example" || d.TrackingHost != "go.xn--bcher-kva.example" || d.ReturnPathHost != "bounce.xn--bcher-kva.example" ||
			d.Status != sender.Pending || d.TrackingLive || d.DKIMSelector != "es1" {
			h.Errorf("CreateDomain = %+v", d)
		}
		key, selector, err := sender.DomainKey(ctx, h.db, h.box, h.mine, d.ID)
		if err != nil || selector != "es1" {
			h.Fatalf("DomainKey = %q, %v", selector, err)
		}
		if record, err := dkim.Record(&key.PublicKey); err != nil || record != d.DKIMRecord || key.N.BitLen() != 2048 {
			h.Errorf("the record is %q, %v; want that of the key, of 2048 bits: %q", d.DKIMRecord, err, record)
		}
		var sealed string
		if err := h.db.QueryRow(ctx, `SELECT dkim_key FROM sending_domain WHERE tenant_id = $1 AND id = $2`, h.mine, d.ID).Scan(&sealed); err != nil || !strings.HasPrefix(sealed, "k1:") {
			h.Errorf("the key is stored as %.20q, %v; want it sealed", sealed, err)
		}
		theirs := h.domain(h.other, "bücher.example", "")
		if theirs.DKIMRecord == d.DKIMRecord {
			h.Error("two tenants got the same key for a domain")
		}
		if _, err := h.db.Exec(ctx, `UPDATE sending_domain SET dkim_key = $3 WHERE tenant_id = $1 AND id = $2`, h.other, theirs.ID, sealed); err != nil {
			h.Fatal(err)
		}
		if _, _, err := sender.DomainKey(ctx, h.db, h.box, h.other, theirs.ID); err == nil {
			h.Error("a key moved to another tenant's row opens")
		}
		if _, _, err := sender.DomainKey(ctx, h.db, h.box, h.other, d.ID); !errors.Is(err, sender.ErrDomainNotFound) {
			h.Errorf("the key of another tenant's domain: %v", err)
		}
		if _, err := sender.CreateDomain(ctx, h.db, h.box, h.mine, sender.DomainDraft{Domain: "bücher.example"}, noon); !errors.Is(err, sender.ErrDuplicateDomain) {
			h.Errorf("the domain a second time: %v", err)
		}
	})
}

func TestDomainRules(t *testing.T) {
	t.Parallel()
	each(t, func(h fixture) {
		for _, tt := range []struct {
			draft sender.DomainDraft
			wrong []string
		}{
			{sender.DomainDraft{}, []string{"domain"}},
			{sender.DomainDraft{Domain: "localhost"}, []string{"domain"}},
			{sender.DomainDraft{Domain: "192.0.2.1"}, []string{"domain"}},
			{sender.DomainDraft{Domain: "https://acme.example", TrackingSubdomain: "a b"}, []string{"domain", "tracking_subdomain"}},
			{sender.DomainDraft{Domain: "acme.example", TrackingSubdomain: "go.", ReturnPathSubdomain: "-"}, []string{"tracking_subdomain", "return_path_subdomain"}},
			{sender.DomainDraft{Domain: "acme.example", TrackingSubdomain: "x", ReturnPathSubdomain: "X"}, []string{"tracking_subdomain"}},
		} {
			_, err := sender.CreateDomain(h.Context(), h.db, h.box, h.mine, tt.draft, noon)
			if !cmp.Equal(h.invalidPaths(err), tt.wrong) {
				h.Errorf("CreateDomain(%+v): %v; want faults at %v", tt.draft, err, tt.wrong)
			}
		}
	})
}

func TestForceVerify(t *testing.T) {
	t.Parallel()
	each(t, func(h fixture) {
		ctx := h.Context()
		h.domain(h.mine, "acme.example", "")
		theirs := h.domain(h.other, "acme.example", "")
		d, err := sender.ForceVerify(ctx, h.db, h.mine, "ACME.example", "", noon)
		if err != nil || d.Status != sender.Verified || d.VerifiedBy != sender.ByOperator || d.TrackingLive || d.TrackingHost != "go.acme.example" {
			h.Errorf("ForceVerify without a host = %+v, %v", d, err)
		}
		for in, want := range map[string]string{
			"127.0.0.1:8080": "127.0.0.1:8080", "LocalHost:8080": "localhost:8080", "go.other.example": "go.other.example", "[::1]:80": "[::1]:80",
			"[0:0::1]": "[::1]", "": "", "http://x.example": "", "x.example:": "", "x.example:0": "", "x.example:+1": "", "x.example:99999": "",
			"::1": "", "[::1": "", "a b.example": "", "undotted": "", "x.example/y": "", "[fe80::1%25lo]:1": "",
		} {
			d, err := sender.ForceVerify(ctx, h.db, h.mine, "acme.example", in, noon)
			switch {
			case in == "":
			case want == "" && !cmp.Equal(h.invalidPaths(err), []string{"tracking_host"}):
				h.Errorf("ForceVerify with host %q = %+v, %v; want a fault at tracking_host", in, d, err)
			case want != "" && (err != nil || d.TrackingHost != want || !d.TrackingLive || !d.VerifiedAt.Equal(noon)):
				h.Errorf("ForceVerify with host %q = %+v, %v; want it live at %s", in, d, err, want)
			}
		}
		if _, err := sender.ForceVerify(ctx, h.db, h.mine, "nobody.example", "", noon); !errors.Is(err, sender.ErrDomainNotFound) {
			h.Errorf("an unknown domain: %v", err)
		}
		if d, err := sender.DomainByID(ctx, h.db, h.other, theirs.ID); err != nil || d.Status != sender.Pending {
			h.Errorf("the other tenant's domain is %s, %v", d.Status, err)
		}
	})
}

func TestAnIdentityNeedsItsDomain(t *testing.T) {
	t.Parallel()
	each(t, func(h fixture) {
		ctx := h.Context()
		h.domain(h.mine, "pending.example", "")
		d := h.domain(h.mine, "acme.example", "127.0.0.1:8080")
		h.domain(h.other, "theirs.example", "127.0.0.1:8080")
		typ, foreign := h.emailType(h.mine, "News"), h.emailType(h.other, "News")
		mta, err := lane.Create(ctx, h.db, h.box, h.mine, lane.Fields{Name: new("Sink"), Type: new(lane.Sink)}, lane.Rules{}, noon)
		if err != nil {
			h.Fatal(err)
		}
		i, err := sender.CreateIdentity(ctx, h.db, h.mine, sender.IdentityFields{
			Address: new(" News@ACME.example "), DisplayName: new("Acme"), ReplyTo: new("Help@acme.example"), UTMCode: new("acme"),
			ContentHost: new("pages.acme.example"), DefaultLane: &mta.ID, EmailTypes: &[]id.EmailType{typ.ID, typ.ID},
		}, noon)
		want := sender.Identity{
			ID: i.ID, Tenant: h.mine, Address: "news@acme.example", DisplayName: "Acme", ReplyTo: "help@acme.example", UTMCode: "acme",
			Domain: d.ID, TrackingHost: new("127.0.0.1:8080"), ContentHost: new("pages.acme.example"), DefaultLane: mta.ID,
			EmailTypes: []id.EmailType{typ.ID}, VerifiedLanes: []id.Lane{}, Active: true, CreatedAt: noon, Revision: 1,
		}
		if err != nil || !cmp.Equal(i, want) {
			h.Fatalf("CreateIdentity: %v (-want +got):\n%s", err, cmp.Diff(want, i))
		}
		if got, err := sender.IdentityByID(ctx, h.db, h.mine, i.ID); err != nil || !cmp.Equal(got, want) {
			h.Errorf("IdentityByID: %v (-want +got):\n%s", err, cmp.Diff(want, got))
		}
		if quiet := h.identity(h.mine, "a@pending.example"); quiet.Active || quiet.TrackingHost != nil {
			h.Errorf("an identity on a pending domain starts as %+v, want inactive", quiet)
		}
		for _, tt := range []struct {
			name   string
			fields sender.IdentityFields
			err    *fault.Error
			wrong  []string
		}{
			{"nothing", sender.IdentityFields{}, fault.ErrInput, []string{"email_address", "display_name"}},
			{"no such domain", sender.IdentityFields{Address: new("a@theirs.example"), DisplayName: new("x")}, fault.ErrInput, []string{"email_address"}},
			{"a subdomain is another domain", sender.IdentityFields{Address: new("a@x.acme.example"), DisplayName: new("x")}, fault.ErrInput, []string{"email_address"}},
			{"taken", sender.IdentityFields{Address: new("NEWS@acme.example"), DisplayName: new("x")}, sender.ErrDuplicateIdentity, nil},
			{"active on a pending domain", sender.IdentityFields{Address: new("b@pending.example"), DisplayName: new("x"), Active: new(true)}, sender.ErrDomainNotVerified, nil},
			{"everything", sender.IdentityFields{
				Address: new("Ann <a@acme.example>"), DisplayName: new("a\nb"), ReplyTo: new("x"), UTMCode: new("a\tb"), ContentHost: new("a/b"), ImageHost: new("img.example.com"),
				DefaultLane: new(id.New[id.Lane]()), EmailTypes: &[]id.EmailType{typ.ID, foreign.ID},
			}, fault.ErrInput, []string{"email_address", "display_name", "reply_to", "utm_code", "content_rewrite_domain", "image_rewrite_domain", "default_mta_config_id", "email_type_ids"}},
		} {
			_, err := sender.CreateIdentity(ctx, h.db, h.mine, tt.fields, noon)
			if !errors.Is(err, tt.err) || !cmp.Equal(h.invalidPaths(err), tt.wrong) {
				h.Errorf("%s: %v; want %v at %v", tt.name, err, tt.err, tt.wrong)
			}
		}
		if err := sender.DeleteDomain(ctx, h.db, h.mine, d.ID); !errors.Is(err, sender.ErrDomainInUse) {
			h.Errorf("delete a domain with identities: %v", err)
		}
	})
}

func TestChangesOfAnIdentity(t *testing.T) {
	t.Parallel()
	each(t, func(h fixture) {
		ctx := h.Context()
		h.domain(h.mine, "pending.example", "")
		h.domain(h.mine, "acme.example", "go.acme.example")
		typ := h.emailType(h.mine, "News")
		mta, err := lane.Create(ctx, h.db, h.box, h.mine, lane.Fields{Name: new("Sink"), Type: new(lane.Sink)}, lane.Rules{}, noon)
		if err != nil {
			h.Fatal(err)
		}
		i, taken := h.identity(h.mine, "a@acme.example", typ.ID), h.identity(h.mine, "b@acme.example")
		if err := sender.LaneVerified(ctx, h.db, h.mine, i.ID, mta.ID, noon); err != nil {
			h.Fatal(err)
		}
		update := func(f sender.IdentityFields) error {
			i, err = sender.UpdateIdentity(ctx, h.db, h.mine, i.ID, f, noon)
			return err
		}
		was := i.ID
		if err := update(sender.IdentityFields{DisplayName: new("New"), DefaultLane: &mta.ID}); err != nil || i.DisplayName != "New" ||
			!cmp.Equal(i.EmailTypes, []id.EmailType{typ.ID}) || !cmp.Equal(i.VerifiedLanes, []id.Lane{mta.ID}) {
			h.Fatalf("after a change of name: %+v, %v", i, err)
		}
		for _, tt := range []struct {
			fields sender.IdentityFields
			err    *fault.Error
		}{
			{sender.IdentityFields{Address: &taken.Address}, sender.ErrDuplicateIdentity},
			{sender.IdentityFields{Address: new("a@pending.example")}, sender.ErrDomainNotVerified},
			{sender.IdentityFields{DisplayName: new("")}, fault.ErrInput},
		} {
			if _, err := sender.UpdateIdentity(ctx, h.db, h.mine, was, tt.fields, noon); !errors.Is(err, tt.err) {
				h.Errorf("UpdateIdentity(%+v): %v, want %v", tt.fields, err, tt.err)
			}
		}
		if err := update(sender.IdentityFields{Address: new("c@acme.example"), EmailTypes: &[]id.EmailType{}}); err != nil || len(i.VerifiedLanes)+len(i.EmailTypes) != 0 {
			h.Errorf("after a change of address: %+v, %v; want no verified lanes and types", i, err)
		}
		if err := sender.LaneVerified(ctx, h.db, h.mine, i.ID, mta.ID, noon); err != nil {
			h.Fatal(err)
		}
		if err := sender.RemoveLane(ctx, h.db, h.mine, mta.ID, usedBy("broadcasts"), noon); !errors.Is(err, lane.ErrInUse) {
			h.Errorf("removal of a lane in use: %v", err)
		}
		if i, err := sender.IdentityByID(ctx, h.db, h.mine, was); err != nil || len(i.VerifiedLanes) != 1 {
			h.Errorf("after a refused removal: %+v, %v; want nothing changed", i, err)
		}
		if err := sender.RemoveLane(ctx, h.db, h.mine, mta.ID, usage.Finders{}, noon); err != nil {
			h.Fatal(err)
		}
		if i, err := sender.IdentityByID(ctx, h.db, h.mine, was); err != nil || !i.DefaultLane.IsZero() || len(i.VerifiedLanes) != 0 {
			h.Errorf("after its lane went: %+v, %v", i, err)
		}
		if _, err := sender.UpdateIdentity(ctx, h.db, h.other, was, sender.IdentityFields{}, noon); !errors.Is(err, sender.ErrIdentityNotFound) {
			h.Errorf("update by another tenant: %v", err)
		}
		if err := sender.DeleteIdentity(ctx, h.db, h.mine, was, usedBy("broadcasts")); !errors.Is(err, sender.ErrIdentityInUse) {
			h.Errorf("delete while in use: %v", err)
		}
		if err := sender.DeleteIdentity(ctx, h.db, h.mine, was, usage.Finders{}); err != nil {
			h.Error(err)
		}
	})
}

func TestCandidates(t *testing.T) {
	t.Parallel()
	each(t, func(h fixture) {
		ctx := h.Context()
		h.domain(h.mine, "live.example", "go.live.example")
		h.domain(h.mine, "untracked.example", "")
		if _, err := sender.ForceVerify(ctx, h.db, h.mine, "untracked.example", "", noon); err != nil {
			h.Fatal(err)
		}
		paused := h.domain(h.mine, "paused.example", "go.paused.example")
		if _, err := h.db.Exec(ctx, `UPDATE sending_domain SET paused = true WHERE tenant_id = $1 AND id = $2`, h.mine, paused.ID); err != nil {
			h.Fatal(err)
		}
		h.domain(h.other, "live.example", "go.live.example")
		typ, theirs := h.emailType(h.mine, "News"), h.emailType(h.other, "News")
		b := h.identity(h.mine, "b@live.example", typ.ID)
		a := h.identity(h.mine, "a@live.example", typ.ID)
		untyped := h.identity(h.mine, "untyped@live.example")
		inactive := h.identity(h.mine, "inactive@live.example", typ.ID)
		if _, err := sender.UpdateIdentity(ctx, h.db, h.mine, inactive.ID, sender.IdentityFields{Active: new(false)}, noon); err != nil {
			h.Fatal(err)
		}
		untracked := h.identity(h.mine, "x@untracked.example", typ.ID)
		onPaused := h.identity(h.mine, "x@paused.example", typ.ID)
		foreign := h.identity(h.other, "a@live.example", theirs.ID)
		for _, tt := range []struct {
			name     string
			explicit []id.Identity
			want     []string
		}{
			{"by email type", nil, []string{a.Address, b.Address}},
			{"by name", []id.Identity{untyped.ID, b.ID}, []string{b.Address, untyped.Address}},
			{"none of them may", []id.Identity{inactive.ID, untracked.ID, onPaused.ID, foreign.ID}, nil},
		} {
			pool, err := sender.Candidates(ctx, h.db, h.mine, tt.explicit, typ.ID)
			var got []string
			for _, c := range pool.Able {
				got = append(got, c.Identity.Address)
				if c.Domain.ID != c.Identity.Domain || c.Domain.TrackingHost != "go.live.example" {
					h.Errorf("%s: %s comes with domain %+v", tt.name, c.Identity.Address, c.Domain)
				}
			}
			if err != nil || !cmp.Equal(got, tt.want) {
				h.Errorf("%s: %v, %v; want %v", tt.name, got, err, tt.want)
			}
			for _, c := range pool.Paused {
				if c.Identity.ID != onPaused.ID || !c.Domain.Paused {
					h.Errorf("%s: only a paused domain keeps %+v", tt.name, c)
				}
			}
			if held := len(pool.Paused) == 1; held != (tt.name != "by name") {
				h.Errorf("%s: %d wait for a paused domain", tt.name, len(pool.Paused))
			}
		}
		list, err := sender.IdentitiesByAddress(ctx, h.db, h.mine, []string{"B@live.example", "a@live.example", "b@live.example"})
		if err != nil || len(list) != 2 || list[0].ID != b.ID || list[1].ID != a.ID || !cmp.Equal(list[1].EmailTypes, []id.EmailType{typ.ID}) {
			h.Errorf("IdentitiesByAddress = %+v, %v", list, err)
		}
		for _, unknown := range []string{"nobody@live.example", "no address"} {
			if _, err := sender.IdentitiesByAddress(ctx, h.db, h.mine, []string{"a@live.example", unknown}); !errors.Is(err, sender.ErrUnknownIdentity) {
				h.Errorf("IdentitiesByAddress(%q): %v", unknown, err)
			}
		}
		if all, err := sender.Identities(ctx, h.db, h.mine); err != nil || len(all) != 6 || all[0].ID != a.ID {
			h.Errorf("Identities = %d, %v; want 6 by address", len(all), err)
		}
	})
}

func TestANewTenantHasANewsletter(t *testing.T) {
	t.Parallel()
	each(t, func(h fixture) {
		acme, err := tenant.Create(h.Context(), h.db, "acme", "Acme", "", noon, sender.Newsletter)
		if err != nil {
			h.Fatal(err)
		}
		typ, err := sender.EmailTypeByKey(h.Context(), h.db, acme.ID, "newsletter")
		if err != nil || acme.Settings.DefaultEmailType != typ.ID {
			h.Errorf("the default email type is %q, %v; want %q", acme.Settings.DefaultEmailType, err, typ.ID)
		}
	})
}

func TestKeysStayUniqueUnderConcurrentCallers(t *testing.T) {
	t.Parallel()
	each(t, func(h fixture) {
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if _, err := sender.CreateEmailType(h.Context(), h.db, h.mine, sender.EmailTypeFields{DisplayName: new("Same name")}, noon); err != nil {
					h.Error(err)
				}
				f := lane.Fields{Name: new("Same name"), Type: new(lane.Sink)}
				if err := h.db.InTx(h.Context(), func(tx *sqldb.DB) error {
					_, err := lane.Create(h.Context(), tx, h.box, h.mine, f, lane.Rules{}, noon)
					return err
				}); err != nil {
					h.Error(err)
				}
			})
		}
		wg.Wait()
		types, err := sender.EmailTypes(h.Context(), h.db, h.mine)
		if err != nil || len(types) != 8 {
			h.Errorf("%d email types, %v; want 8", len(types), err)
		}
		lanes, err := lane.List(h.Context(), h.db, h.mine)
		if err != nil || len(lanes) != 8 {
			h.Errorf("%d lanes, %v; want 8", len(lanes), err)
		}
	})
}
