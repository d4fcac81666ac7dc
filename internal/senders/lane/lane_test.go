package lane_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/mail/smtpclient"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func newBox(t *testing.T) *secret.Box {
	t.Helper()
	box, err := secret.NewBox(make([]byte, secret.KeyBytes))
	if err != nil {
		t.Fatal(err)
	}
	return box
}

func relay(host string) lane.Fields {
	return lane.Fields{Name: new("Main relay"), Type: new(lane.SMTP), Host: &host}
}

func TestRules(t *testing.T) {
	t.Parallel()
	db, box := dbtest.One(t), newBox(t)
	login := func(f lane.Fields) lane.Fields {
		f.Auth, f.Username, f.Password = new(smtpclient.AuthPlain), new("u"), new("p")
		return f
	}
	with := func(f lane.Fields, change func(*lane.Fields)) lane.Fields {
		change(&f)
		return f
	}
	for _, tt := range []struct {
		name    string
		fields  lane.Fields
		private bool
		wrong   []string
	}{
		{name: "a relay", fields: relay("smtp.example.net")},
		{name: "a relay by address", fields: relay("192.0.2.1")},
		{name: "a sink", fields: lane.Fields{Name: new("Trial"), Type: new(lane.Sink)}},
		{name: "nothing", wrong: []string{"name", "type"}},
		{name: "direct_mx", fields: lane.Fields{Name: new("x"), Type: new(lane.DirectMX), IPs: &[]lane.SourceFields{{IP: "192.0.2.1", HELO: "out.example.net"}, {IP: "2001:db8::1", HELO: "six.example.net"}}}},
		{name: "direct_mx without addresses", fields: lane.Fields{Name: new("x"), Type: new(lane.DirectMX)}, wrong: []string{"settings.ips"}},
		{name: "direct_mx with wrong settings", fields: lane.Fields{Name: new("x"), Type: new(lane.DirectMX), Host: new("a.example"), TLS: new(smtpclient.StartTLS),
			IPs: &[]lane.SourceFields{{IP: "192.0.2.1", HELO: "out.example.net"}, {IP: "192.0.2.1", HELO: "a b"}, {IP: "127.0.0.1", HELO: "a.example"}, {IP: "x"}}},
			wrong: []string{"settings.tls", "settings.ips[1].ip", "settings.ips[1].helo_host", "settings.ips[2].ip", "settings.ips[3].ip", "settings.ips[3].helo_host", "settings.host"}},
		{name: "ses", fields: lane.Fields{Name: new("x"), Type: new(lane.SES), Region: new("eu-central-1"), AccessKeyID: new("AKIAIOSFODNN7EXAMPLE"), SecretAccessKey: new("s"), ConfigurationSet: new("news")}},
		{name: "ses without settings", fields: lane.Fields{Name: new("x"), Type: new(lane.SES)}, wrong: []string{"settings.region", "settings.access_key_id", "settings.secret_access_key"}},
		{name: "ses with wrong settings", fields: lane.Fields{Name: new("x"), Type: new(lane.SES), Region: new("evil.example/"), AccessKeyID: new("a/b"), SecretAccessKey: new("a\nb"), ConfigurationSet: new("a b"), IPs: &[]lane.SourceFields{}},
			wrong: []string{"settings.region", "settings.access_key_id", "settings.configuration_set", "settings.secret_access_key", "settings.ips"}},
		{name: "unknown type", fields: lane.Fields{Name: new("x"), Type: new(lane.Type("fax"))}, wrong: []string{"type"}},
		{name: "no host", fields: lane.Fields{Name: new("x"), Type: new(lane.SMTP)}, wrong: []string{"settings.host"}},
		{name: "private host", fields: relay("10.0.0.1"), wrong: []string{"settings.host"}},
		{name: "loopback host", fields: relay("localhost"), wrong: []string{"settings.host"}},
		{name: "private host allowed", fields: relay("10.0.0.1"), private: true},
		{name: "loopback allowed", fields: relay("localhost"), private: true},
		{name: "mapped loopback", fields: relay("::ffff:127.0.0.1"), wrong: []string{"settings.host"}},
		{name: "metadata, even if private is allowed", fields: relay("169.254.169.254"), private: true, wrong: []string{"settings.host"}},
		{name: "a URL", fields: relay("smtp://x.example"), wrong: []string{"settings.host"}},
		{name: "line break in the host", fields: relay("x.example\r\nRSET"), wrong: []string{"settings.host"}},
		{name: "port", fields: with(relay("smtp.example.net"), func(f *lane.Fields) { f.Port = new(0) }), wrong: []string{"settings.port"}},
		{name: "modes", fields: with(relay("smtp.example.net"), func(f *lane.Fields) {
			f.TLS, f.Auth = new(smtpclient.TLSMode("ssl")), new(smtpclient.AuthMode("ntlm"))
		}), wrong: []string{"settings.tls", "settings.auth"}},
		{name: "login", fields: login(relay("smtp.example.net"))},
		{name: "login without a name or password", fields: with(relay("smtp.example.net"), func(f *lane.Fields) {
			f.Auth = new(smtpclient.AuthLogin)
		}), wrong: []string{"settings.username", "settings.password"}},
		{name: "login in the clear", fields: with(login(relay("smtp.example.net")), func(f *lane.Fields) {
			f.TLS = new(smtpclient.None)
		}), wrong: []string{"settings.tls"}},
		{name: "login in the clear on this machine", private: true, fields: with(login(relay("127.0.0.1")), func(f *lane.Fields) {
			f.TLS = new(smtpclient.None)
		})},
		{name: "helo", fields: with(relay("smtp.example.net"), func(f *lane.Fields) { f.HELO = new("a b") }), wrong: []string{"settings.helo_host"}},
		{name: "a sink has no host", fields: with(relay("smtp.example.net"), func(f *lane.Fields) { f.Type = new(lane.Sink) }), wrong: []string{"settings.host"}},
		{name: "caps and retry", fields: lane.Fields{
			Name: new("x"), Type: new(lane.Sink), MaxConnections: new(0), MaxMessagesPerConnection: new(-1), RetryMaxAgeHours: new(121),
		}, wrong: []string{"caps.max_connections", "caps.max_messages_per_connection", "retry.max_age_hours"}},
		{name: "name", fields: lane.Fields{Name: new(strings.Repeat("ä", 201)), Type: new(lane.Sink)}, wrong: []string{"name"}},
		{name: "name with a line break", fields: lane.Fields{Name: new("a\nb"), Type: new(lane.Sink)}, wrong: []string{"name"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := lane.Create(t.Context(), db, box, idtest.Tenant(), tt.fields, lane.Rules{AllowPrivate: tt.private}, noon)
			if diff := cmp.Diff(tt.wrong, invalidPaths(t, err)); diff != "" {
				t.Errorf("Create = %v; wrong fields (-want +got):\n%s", err, diff)
			}
		})
	}
}

func invalidPaths(t *testing.T, err error) (paths []string) {
	t.Helper()
	if err == nil {
		return nil
	}
	f, ok := fault.As(err)
	if !ok {
		t.Fatalf("%v is not a fault", err)
	}
	fields, _ := f.Details.(fault.Fields)
	for _, field := range fields.Fields {
		paths = append(paths, field.Path)
	}
	return paths
}

func TestAConfigIsKeptWithItsDefaults(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx, box, mine, other := t.Context(), newBox(t), idtest.Tenant(), idtest.Tenant()
		c := mustCreate(t, db, box, mine, relay("SMTP.Example.net"))
		want := lane.Config{
			ID: c.ID, Tenant: mine, Key: "main_relay", Name: "Main relay", Type: lane.SMTP, Active: true,
			SMTP:        lane.SMTPSettings{Host: "smtp.example.net", Port: 587, TLS: smtpclient.StartTLS, Auth: smtpclient.AuthNone, DKIMSign: true},
			Caps:        lane.Caps{MaxConnections: 10, MaxMessagesPerConnection: 100},
			Warmup:      lane.Warmup{StartPerDay: 200, GrowthPct: 30},
			RetryMaxAge: 48 * time.Hour, CreatedAt: noon, Revision: 1,
		}
		if diff := cmp.Diff(want, c); diff != "" {
			t.Errorf("Create (-want +got):\n%s", diff)
		}
		second := mustCreate(t, db, box, mine, relay("smtp.example.net"))
		theirs := mustCreate(t, db, box, other, relay("smtp.example.org"))
		if second.Key != "main_relay_2" || theirs.Key != "main_relay" {
			t.Errorf("keys of the next = %q and %q, want main_relay_2 and main_relay", second.Key, theirs.Key)
		}
		if got, err := lane.ByKey(ctx, db, mine, "main_relay"); err != nil || !cmp.Equal(got, want) {
			t.Errorf("ByKey = %+v, %v; want %+v", got, err, want)
		}
		if _, err := lane.ByKey(ctx, db, mine, "no_such"); !errors.Is(err, lane.ErrUnknown) {
			t.Errorf("ByKey of nothing: %v, want %v", err, lane.ErrUnknown)
		}
		if _, err := lane.ByID(ctx, db, mine, theirs.ID); !errors.Is(err, lane.ErrNotFound) {
			t.Errorf("ByID of another tenant's: %v, want %v", err, lane.ErrNotFound)
		}
		list, err := lane.List(ctx, db, mine)
		if err != nil || len(list) != 2 {
			t.Errorf("List = %d configs, %v; want 2", len(list), err)
		}
	})
}

func TestPasswordsAreSealedForTheirRow(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx, box, mine := t.Context(), newBox(t), idtest.Tenant()
		f := relay("smtp.example.net")
		f.Auth, f.Username, f.Password = new(smtpclient.AuthPlain), new("u"), new("hunter2 ✓")
		c := mustCreate(t, db, box, mine, f)
		other := mustCreate(t, db, box, mine, f)
		if got, err := lane.Password(ctx, db, box, mine, c.ID); err != nil || got != "hunter2 ✓" {
			t.Fatalf("Password = %q, %v", got, err)
		}
		var sealed string
		if err := db.QueryRow(ctx, `SELECT password FROM mta_config WHERE tenant_id = $1 AND id = $2`, mine, c.ID).Scan(&sealed); err != nil || strings.Contains(sealed, "hunter2") {
			t.Fatalf("the database holds %q, %v", sealed, err)
		}
		if _, err := db.Exec(ctx, `UPDATE mta_config SET password = $3 WHERE tenant_id = $1 AND id = $2`, mine, other.ID, sealed); err != nil {
			t.Fatal(err)
		}
		if got, err := lane.Password(ctx, db, box, mine, other.ID); err == nil {
			t.Errorf("a password moved to another row opens as %q", got)
		}
		kept, err := lane.Update(ctx, db, box, mine, c.ID, lane.Fields{Name: new("Renamed"), MaxConnections: new(3)}, lane.Rules{}, noon)
		if err != nil || kept.Key != "main_relay" || kept.Name != "Renamed" || kept.Caps.MaxConnections != 3 || !kept.SMTP.HasPassword {
			t.Errorf("Update = %+v, %v", kept, err)
		}
		if got, err := lane.Password(ctx, db, box, mine, c.ID); err != nil || got != "hunter2 ✓" {
			t.Errorf("Password after another change = %q, %v", got, err)
		}
		if _, err := lane.Update(ctx, db, box, mine, c.ID, lane.Fields{Password: new("")}, lane.Rules{}, noon); !slices.Equal(invalidPaths(t, err), []string{"settings.password"}) {
			t.Errorf("a login without a password: %v", err)
		}
		if _, err := lane.Update(ctx, db, box, mine, c.ID, lane.Fields{Password: new(""), Auth: new(smtpclient.AuthNone)}, lane.Rules{}, noon); err != nil {
			t.Error(err)
		}
		if got, err := lane.Password(ctx, db, box, mine, c.ID); err != nil || got != "" {
			t.Errorf("Password after it was cleared = %q, %v", got, err)
		}
		if _, err := lane.Update(ctx, db, box, mine, c.ID, lane.Fields{Type: new(lane.Sink)}, lane.Rules{}, noon); !slices.Equal(invalidPaths(t, err), []string{"type"}) {
			t.Errorf("a change of type: %v", err)
		}
	})
}

// Otherwise, an admin who may change an MTA config, and not know its passwords, could have them sent elsewhere.
func TestPasswordsStayWhereTheyAreSent(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx, box, mine := t.Context(), newBox(t), idtest.Tenant()
		private := lane.Rules{AllowPrivate: true}
		f := relay("127.0.0.1")
		f.Auth, f.Username, f.Password = new(smtpclient.AuthPlain), new("u"), new("relay secret")
		f.BounceMailbox = &lane.BounceMailboxFields{Host: new("imap.example.net"), Username: new("b"), Password: new("mailbox secret")}
		c, err := lane.Create(ctx, db, box, mine, f, private, noon)
		if err != nil {
			t.Fatal(err)
		}
		mailbox := func(m lane.BounceMailboxFields) lane.Fields { return lane.Fields{BounceMailbox: &m} }
		for _, tt := range []struct {
			name   string
			fields lane.Fields
			wrong  []string
		}{
			{"another host", lane.Fields{Host: new("smtp.attacker.example")}, []string{"settings.password"}},
			{"another port", lane.Fields{Port: new(2525)}, []string{"settings.password"}},
			{"another user name", lane.Fields{Username: new("v")}, []string{"settings.password"}},
			{"no TLS", lane.Fields{TLS: new(smtpclient.None)}, []string{"settings.password"}},
			{"a host without a login, for now", lane.Fields{Host: new("smtp.attacker.example"), Auth: new(smtpclient.AuthNone)}, []string{"settings.password"}},
			{"the same spelled differently", lane.Fields{Host: new(" 127.0.0.1"), Port: new(587), Username: new("u"), TLS: new(smtpclient.StartTLS), Auth: new(smtpclient.AuthLogin)}, nil},
			{"another host of the mailbox", mailbox(lane.BounceMailboxFields{Host: new("imap.attacker.example")}), []string{"settings.bounce_mailbox.password"}},
			{"another port of the mailbox", mailbox(lane.BounceMailboxFields{Port: new(143)}), []string{"settings.bounce_mailbox.password"}},
			{"another user name of the mailbox", mailbox(lane.BounceMailboxFields{Username: new("c")}), []string{"settings.bounce_mailbox.password"}},
			{"weaker TLS of the mailbox", mailbox(lane.BounceMailboxFields{TLS: new(smtpclient.StartTLS)}), []string{"settings.bounce_mailbox.password"}},
			{"the same mailbox", mailbox(lane.BounceMailboxFields{Host: new("IMAP.example.net"), Port: new(993)}), nil},
		} {
			_, err := lane.Update(ctx, db, box, mine, c.ID, tt.fields, private, noon)
			if diff := cmp.Diff(tt.wrong, invalidPaths(t, err)); diff != "" {
				t.Errorf("%s: %v; wrong fields (-want +got):\n%s", tt.name, err, diff)
			}
		}
		want := func(what, relay, mailbox string) {
			t.Helper()
			got, err := lane.Password(ctx, db, box, mine, c.ID)
			bounces, err2 := lane.BouncePassword(ctx, db, box, mine, c.ID)
			if got != relay || bounces != mailbox || err != nil || err2 != nil {
				t.Errorf("%s: passwords %q, %q, %v, %v; want %q and %q", what, got, bounces, err, err2, relay, mailbox)
			}
		}
		want("after refused changes", "relay secret", "mailbox secret")
		moved := lane.Fields{Host: new("smtp.example.org"), Password: new("its secret"), BounceMailbox: &lane.BounceMailboxFields{Host: new("imap.example.org"), Password: new("its mailbox")}}
		if _, err := lane.Update(ctx, db, box, mine, c.ID, moved, private, noon); err != nil {
			t.Fatal(err)
		}
		want("after a change with passwords", "its secret", "its mailbox")
		// A mailbox that is removed and made again has no password, nor has a relay after its login was removed.
		if _, err := lane.Update(ctx, db, box, mine, c.ID, lane.Fields{Host: new("smtp.attacker.example"), Auth: new(smtpclient.AuthNone), Password: new(""), BounceMailbox: &lane.BounceMailboxFields{Remove: true}}, private, noon); err != nil {
			t.Fatal(err)
		}
		want("after their removal", "", "")
		again := lane.Fields{Auth: new(smtpclient.AuthPlain), BounceMailbox: &lane.BounceMailboxFields{Host: new("imap.attacker.example"), Username: new("b")}}
		_, err = lane.Update(ctx, db, box, mine, c.ID, again, private, noon)
		if diff := cmp.Diff([]string{"settings.password", "settings.bounce_mailbox.password"}, invalidPaths(t, err)); diff != "" {
			t.Errorf("a login again: %v; wrong fields (-want +got):\n%s", err, diff)
		}
	})
}

func TestDeleteRefusesLanesInUse(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx, box, mine, other := t.Context(), newBox(t), idtest.Tenant(), idtest.Tenant()
		c := mustCreate(t, db, box, mine, relay("smtp.example.net"))
		busy := usage.Func(func(context.Context, *sqldb.DB, id.Tenant, usage.Subject) (usage.Holders, error) {
			return usage.Holders{"broadcasts": {{Name: "Spring"}}}, nil
		})
		if err := lane.Delete(ctx, db, mine, c.ID, busy); !errors.Is(err, lane.ErrInUse) {
			t.Errorf("Delete of one in use: %v, want %v", err, lane.ErrInUse)
		}
		if err := lane.Delete(ctx, db, other, c.ID, usage.Finders{}); !errors.Is(err, lane.ErrNotFound) {
			t.Errorf("Delete by another tenant: %v, want %v", err, lane.ErrNotFound)
		}
		if err := lane.Delete(ctx, db, mine, c.ID, usage.Finders{}); err != nil {
			t.Error(err)
		}
		if _, err := lane.ByID(ctx, db, mine, c.ID); !errors.Is(err, lane.ErrNotFound) {
			t.Errorf("ByID after Delete: %v", err)
		}
	})
}

func TestATenantHasAtMostFifty(t *testing.T) {
	t.Parallel()
	db, box, mine := dbtest.One(t), newBox(t), idtest.Tenant()
	f := lane.Fields{Name: new("Sink"), Type: new(lane.Sink)}
	for range lane.MaxConfigs {
		mustCreate(t, db, box, mine, f)
	}
	if _, err := lane.Create(t.Context(), db, box, mine, f, lane.Rules{}, noon); !errors.Is(err, lane.ErrTooMany) {
		t.Errorf("Create of one more: %v, want %v", err, lane.ErrTooMany)
	}
}

func mustCreate(t *testing.T, db *sqldb.DB, box *secret.Box, tenant id.Tenant, f lane.Fields) lane.Config {
	t.Helper()
	c, err := lane.Create(t.Context(), db, box, tenant, f, lane.Rules{}, noon)
	if err != nil {
		t.Fatalf("create an MTA config: %v", err)
	}
	return c
}
