package httpapi_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/e2e/sink"
	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/senders/testmail"
)

// Settings are tested with a connection before they are saved, and nothing is stored but the call; the test of
// stored ones says whether they work.
func TestMTASettingsAreTestedBeforeTheyAreSaved(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		server, thief := sink.Start(t, sink.Options{User: "u", Password: "right"}), sink.Start(t, sink.Options{})
		settings := func(port int, password string) string {
			return fmt.Sprintf(`"settings": {"host": "127.0.0.1", "port": %d, "tls": "none", "auth": "plain", "username": "u"%s}`, port, password)
		}
		const right, wrong = `, "password": "right"`, `, "password": "wrong"`
		before := s.tableCounts()
		good := s.must(200, "admin", "POST /mta-configs/test", `{"type": "smtp", `+settings(server.Port(), right)+`}`)
		if good.body["accepted"] != true || good.body["smtp_code"] != 235.0 {
			t.Errorf("the right password: %s", good.text)
		}
		bad := s.must(200, "admin", "POST /mta-configs/test", `{"type": "smtp", "name": "Relay", `+settings(server.Port(), wrong)+`}`)
		if bad.body["accepted"] != false || bad.body["smtp_code"] != 535.0 || strings.Contains(bad.text, "wrong") {
			t.Errorf("a wrong password: %s", bad.text)
		}
		after := s.tableCounts()
		for _, table := range []string{"audit", "test_mail"} {
			delete(before, table)
			delete(after, table)
		}
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("rows that a test left (-before +after):\n%s", diff)
		}

		made := s.must(201, "admin", "POST /mta-configs", `{"name": "Relay", "type": "smtp", `+settings(server.Port(), right)+`}`)
		config := made.str("id")
		if made.body["tested_at"] != nil {
			t.Errorf("a new one was tested at %v", made.body["tested_at"])
		}
		if r := s.must(200, "admin", "POST /mta-configs/test", `{"id": "`+config+`", `+settings(server.Port(), "")+`}`); r.body["accepted"] != true {
			t.Errorf("with the stored password: %s", r.text)
		}
		if r := s.must(400, "admin", "POST /mta-configs/test", `{"id": "`+config+`", `+settings(thief.Port(), "")+`}`); !cmp.Equal(r.paths(), []string{"settings.password"}) {
			t.Errorf("the stored password to another port: %s", r.text)
		}
		if n := thief.Stats().Connections; n != 0 {
			t.Errorf("the other port has %d connections", n)
		}

		read := func() map[string]any { return s.must(200, "viewer", "GET /mta-configs/"+config, "").body }
		if read()["tested_at"] != nil {
			t.Error("the test of a draft counts for what is stored")
		}
		s.must(200, "admin", "POST /mta-configs/"+config+"/test", `{}`)
		if read()["tested_at"] == nil {
			t.Error("the test of what is stored does not count")
		}
		s.must(200, "admin", "PUT /mta-configs/"+config, `{`+settings(server.Port(), wrong)+`}`)
		if read()["tested_at"] != nil {
			t.Error("a test with another password counts")
		}
		s.must(200, "admin", "POST /mta-configs/"+config+"/test", `{}`)
		if health := read()["health"].(map[string]any); health["state"] != "down" || !strings.HasPrefix(fmt.Sprint(health["last_error"]), "535") {
			t.Errorf("after a refused login its health is %v", health)
		}

		log := s.must(200, "admin", "GET /audit-log?action=mta_config.test", "")
		if n := len(log.data("id")); n != 5 || !strings.Contains(log.text, fmt.Sprintf(`"server":"127.0.0.1:%d"`, server.Port())) || strings.Contains(log.text, "right") {
			t.Errorf("%d tests are in the audit log: %s", n, log.text)
		}
		if err := testmail.Begin(t.Context(), s.db, testmail.Call{By: auth.Principal{Tenant: s.acme}, Action: "a", Mails: testmail.MaxPerHour - 5}, s.now); err != nil {
			t.Fatal(err)
		}
		connections := server.Stats().Connections
		if r := s.must(429, "admin", "POST /mta-configs/test", `{"type": "smtp", `+settings(server.Port(), right)+`}`); r.header.Get("Retry-After") == "" || server.Stats().Connections != connections {
			t.Errorf("one more in the hour: %s", r.text)
		}
		s.now = s.now.Add(time.Hour)
		s.must(200, "admin", "POST /mta-configs/test", `{"type": "smtp", `+settings(server.Port(), right)+`}`)
	})
}
