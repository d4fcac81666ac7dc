package httpapi_test

import (
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/consent"
)

func TestConsentsAreListedWithTheirProof(t *testing.T) {
	eachSending(t, func(t *testing.T, s *sendingTest) {
		ann := s.must(201, "key", "POST /contacts", `{"email": "ann@example.org"}`).str("id")
		at := "GET /contacts/" + ann + "/consents"
		if r := s.must(200, "viewer", at, ""); !strings.HasPrefix(r.text, `{"data":[],`) {
			t.Errorf("without records: %s", r.text)
		}
		person, _ := id.Parse[id.Contact](ann)
		given := consent.Record{
			Contact: person, TypeKey: "news", Granted: true, Confirmed: true, At: s.now,
			Proof: consent.Proof{Source: "form:welcome", Wording: "Send me news", IP: "192.0.2.7", Agent: "Browser", PageURL: "https://example.org/join"},
		}
		left := consent.Record{Contact: person, At: s.now.Add(time.Minute), Proof: consent.Proof{Source: consent.OneClick, Message: id.New[id.Message]()}}
		if err := consent.Add(t.Context(), s.db, s.acme, given, left); err != nil {
			t.Fatal(err)
		}
		r := s.must(200, "viewer", at, "")
		rows := r.body["data"].([]any)
		if len(rows) != 2 || rows[0].(map[string]any)["source"] != "one_click" || rows[0].(map[string]any)["message_id"] != left.Message.String() || rows[0].(map[string]any)["email_type_key"] != nil {
			t.Errorf("newest first: %s", r.text)
		}
		if !strings.Contains(r.text, `"email_type_key":"news","category_id":null,"granted":true,`) ||
			!strings.Contains(r.text, `"source":"form:welcome","confirmed":true,"wording":"Send me news","ip":"192.0.2.7","user_agent":"Browser","page_url":"https://example.org/join","message_id":null`) {
			t.Errorf("the proof: %s", r.text)
		}
		s.mustRefuse("key", at, "", 403, "API_KEY_FORBIDDEN")
		s.mustRefuse("viewer", "GET /contacts/"+id.NewText()+"/consents", "", 404, "CONTACT_NOT_FOUND")
	})
}
