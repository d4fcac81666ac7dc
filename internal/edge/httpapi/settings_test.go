package httpapi_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
)

func TestCustomFieldDefinitionsAreChecked(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		for _, tt := range []struct{ body, code, paths string }{
			{`{"name": "", "field_type": "nope", "field_key": "Bad Key", "currency_code": "XXXX", "value_constraint": "loose", "enum_values": [""]}`,
				"INVALID_FIELD", "name field_type field_key currency_code value_constraint enum_values"},
			{`{"name": " ", "field_type": "string"}`, "INVALID_INPUT", "name"},
			{`{"name": "` + strings.Repeat("x", 201) + `", "field_type": "string"}`, "INVALID_INPUT", "name"},
			{`{"field_type": "string"}`, "INVALID_INPUT", "name"},
			{`{"name": "A"}`, "INVALID_INPUT", "field_type"},
			{`{"name": "A", "field_type": "enum"}`, "INVALID_FIELD", "enum_values"},
			{`{"name": "A", "field_type": "enum", "enum_values": []}`, "INVALID_FIELD", "enum_values"},
			{`{"name": "A", "field_type": "enum", "enum_values": "red"}`, "INVALID_FIELD", "enum_values"},
			{`{"name": "A", "field_type": "currency"}`, "INVALID_FIELD", "currency_code"},
			{`{"name": "A", "field_type": "currency", "currency_code": "ABC"}`, "INVALID_FIELD", "currency_code"},
			{`{"name": "A", "field_type": "string", "field_key": "9x"}`, "INVALID_FIELD", "field_key"},
			{`{"name": "A", "field_type": "string", "field_key": 9}`, "INVALID_FIELD", "field_key"},
			{`{"name": "A", "field_type": "string", "field_key": "` + strings.Repeat("x", 65) + `"}`, "INVALID_FIELD", "field_key"},
			{`{"name": "A", "field_type": "number", "default_value": "5", "field_key": "A"}`, "INVALID_FIELD", "field_key default_value"},
			{`{"name": "A", "field_type": "enum", "enum_values": ["red"], "default_value": "blue"}`, "INVALID_FIELD", "default_value"},
			{`{"name": "A", "field_type": "contact", "default_value": "` + id.NewText() + `"}`, "INVALID_FIELD", "default_value"},
		} {
			if r := s.call("admin", "POST /settings/custom-fields", tt.body); r.code != tt.code || r.problems() != tt.paths || r.status != 400 {
				t.Errorf("%.90s\n = %d %s, want %s at %s", tt.body, r.status, r.text, tt.code, tt.paths)
			}
		}
		for _, tt := range []struct{ body, key, constraint, extra string }{
			{`{"name": "Größe (cm)", "field_type": "number", "value_constraint": "open"}`, "grosse_cm", "strict", ""},
			{`{"name": "2nd  --  choice", "field_type": "string", "value_constraint": "open", "enum_values": ["a", " a ", "b"]}`, "cf_2nd_choice", "open", `"enum_values":["a","b"]`},
			{`{"name": "Plain", "field_type": "string"}`, "plain", "strict", `"enum_values":null`},
			{`{"name": "Price", "field_type": "currency", "currency_code": "eur", "default_value": 9.5}`, "price", "strict", `"currency_code":"EUR"`},
			{`{"name": "Open", "field_type": "enum", "value_constraint": "open"}`, "open", "open", ""},
			{`{"name": "` + strings.Repeat("long ", 30) + `", "field_type": "date", "default_value": "2026-02-28"}`, strings.TrimRight(strings.Repeat("long_", 13)[:64], "_"), "strict", `"default_value":"2026-02-28"`},
			{`{"name": "Key", "field_type": "boolean", "field_key": "k", "enum_values": null, "currency_code": null, "default_value": null}`, "k", "strict", `"default_value":null`},
		} {
			r := s.must(201, "admin", "POST /settings/custom-fields", tt.body)
			if r.str("field_key") != tt.key || r.str("value_constraint") != tt.constraint || !strings.Contains(r.text, tt.extra) {
				t.Errorf("%.60s = %s, want key %s, %s, %s", tt.body, r.text, tt.key, tt.constraint, tt.extra)
			}
		}
		for _, body := range []string{
			`{"name": "Plain", "field_type": "number"}`, // by its derived key
			`{"name": "Something else", "field_type": "string", "field_key": "plain"}`,
		} {
			if r := s.call("admin", "POST /settings/custom-fields", body); r.code != "DUPLICATE_FIELD_KEY" || r.status != 409 {
				t.Errorf("%s = %d %s", body, r.status, r.text)
			}
		}
		s.must(201, "admin", "POST /t/other/api/settings/custom-fields", `{"name": "Plain", "field_type": "number"}`)
	})
}

func TestCustomFieldValuesOfEveryType(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		friend := s.must(201, "key", "POST /contacts", `{"email": "friend@example.org"}`).str("id")
		stranger := s.must(201, "key", "POST /t/other/api/contacts", `{"email": "stranger@example.org"}`).str("id")
		for _, body := range []string{
			`{"name": "s", "field_type": "string"}`, `{"name": "closed", "field_type": "string", "enum_values": ["a", "b"]}`,
			`{"name": "n", "field_type": "number"}`, `{"name": "b", "field_type": "boolean"}`, `{"name": "d", "field_type": "date"}`,
			`{"name": "dt", "field_type": "datetime"}`, `{"name": "t", "field_type": "time"}`, `{"name": "e", "field_type": "enum", "enum_values": ["x", "y"]}`,
			`{"name": "o", "field_type": "enum", "value_constraint": "open", "enum_values": ["x"]}`, `{"name": "tg", "field_type": "tags"}`,
			`{"name": "m", "field_type": "email"}`, `{"name": "u", "field_type": "url"}`, `{"name": "tz", "field_type": "timezone"}`,
			`{"name": "co", "field_type": "country"}`, `{"name": "cu", "field_type": "currency", "currency_code": "EUR"}`, `{"name": "c", "field_type": "contact"}`,
		} {
			s.must(201, "admin", "POST /settings/custom-fields", body)
		}
		long := strings.Repeat("é", 4096)
		tags := strings.TrimSuffix(strings.Repeat(`"t",`, 50), ",")
		for _, tt := range []struct{ key, value, want string }{ // want empty: refused
			{"s", `"` + long + `"`, `"` + long + `"`}, {"s", `"` + long + `x"`, ""}, {"s", `5`, ""},
			{"closed", `"a"`, `"a"`}, {"closed", `"c"`, ""},
			{"n", `-1.5`, `-1.5`}, {"n", `"1"`, ""}, {"n", `1e999`, ""},
			{"b", `false`, `false`}, {"b", `"true"`, ""}, {"b", `0`, ""},
			{"d", `"2028-02-29"`, `"2028-02-29"`}, {"d", `"2027-02-29"`, ""}, {"d", `"2026-02-28T10:00:00Z"`, ""},
			{"dt", `"2026-02-28T10:00:00+02:00"`, `"2026-02-28T08:00:00.000Z"`}, {"dt", `"yesterday"`, ""},
			{"t", `"09:30"`, `"09:30"`}, {"t", `"23:59:59"`, `"23:59:59"`}, {"t", `"24:00"`, ""}, {"t", `"9:30"`, ""},
			{"e", `"x"`, `"x"`}, {"e", `"X"`, ""}, {"o", `"anything"`, `"anything"`},
			{"tg", `["a", "b", "a"]`, `["a","b"]`}, {"tg", `[` + tags + `]`, `["t"]`}, {"tg", `[` + tags + `,"t"]`, ""}, {"tg", `"a"`, ""}, {"tg", `[1]`, ""},
			{"m", `"Ann@Example.org"`, `"ann@example.org"`}, {"m", `"ann"`, ""},
			{"u", `"https://example.org/a?b#c"`, `"https://example.org/a?b#c"`}, {"u", `"ftp://example.org"`, ""}, {"u", `"javascript:alert(1)"`, ""},
			{"tz", `"Europe/Amsterdam"`, `"Europe/Amsterdam"`}, {"tz", `"CEST"`, ""},
			{"co", `"nl"`, `"NL"`}, {"co", `"Holland"`, ""},
			{"cu", `12.5`, `12.5`}, {"cu", `"12.50 EUR"`, ""},
			{"c", `"` + strings.ToUpper(friend) + `"`, `"` + friend + `"`}, {"c", `"` + stranger + `"`, ""}, {"c", `"` + id.NewText() + `"`, ""}, {"c", `"friend@example.org"`, ""},
		} {
			body := `{"email": "v@example.org", "custom_fields": {"` + tt.key + `": ` + tt.value + `}}`
			r := s.call("key", "PUT /contacts", body)
			if tt.want == "" {
				if r.status != 400 || r.code != "INVALID_FIELD_VALUE" && tt.value != "1e999" {
					t.Errorf("%.80s = %d %.200s, want INVALID_FIELD_VALUE", body, r.status, r.text)
				}
				continue
			}
			fields, _ := r.body["custom_fields"].(map[string]any)
			if got, _ := json.Marshal(fields[tt.key]); r.status > 201 || string(got) != tt.want {
				t.Errorf("%.80s = %d, the value %.80s, want %.80s", body, r.status, got, tt.want)
			}
		}
		r := s.call("key", "POST /contacts", `{"email": "w@example.org", "custom_fields": {"n": "1", "b": 1, "e": "z", "s": "fine"}}`)
		if r.code != "INVALID_FIELD_VALUE" || r.problems() != "custom_fields.b custom_fields.e custom_fields.n" || !strings.Contains(r.text, `"field_key":"b"`) {
			t.Errorf("three wrong values: %s", r.text)
		}
		r = s.call("key", "POST /contacts", `{"email": "w@example.org", "custom_fields": {"x": 1, "y": null, "n": 1}}`)
		if r.code != "UNKNOWN_FIELD" || r.problems() != "custom_fields.x custom_fields.y" {
			t.Errorf("two undeclared fields: %s", r.text)
		}
		if r := s.must(200, "key", "PUT /contacts", `{"email": "v@example.org", "custom_fields": {"n": null, "e": null}}`); strings.Contains(r.text, `"n":`) || strings.Contains(r.text, `"e":`) || !strings.Contains(r.text, `"closed":"a"`) {
			t.Errorf("null removes: %s", r.text)
		}
	})
}

func TestCustomFieldsAreUpdatedAndDeleted(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		plan := "/settings/custom-fields/" + s.must(201, "admin", "POST /settings/custom-fields", `{"name": "Plan", "field_type": "enum", "enum_values": ["free", "pro"], "default_value": "free"}`).str("id")
		price := "/settings/custom-fields/" + s.must(201, "admin", "POST /settings/custom-fields", `{"name": "Price", "field_type": "currency", "currency_code": "EUR"}`).str("id")
		s.must(201, "key", "POST /contacts", `{"email": "ann@example.org", "custom_fields": {"plan": "free", "price": 1}}`)
		// Contacts keep a removed value, and it is refused from then on.
		if r := s.must(200, "admin", "PUT "+plan, `{"enum_values": ["pro"]}`); r.str("default_value") != "free" || fmt.Sprint(r.body["enum_values"]) != "[pro]" {
			t.Errorf("updated %s", r.text)
		}
		if r := s.must(200, "key", "PUT /contacts", `{"email": "ann@example.org", "first_name": "Ann"}`); !strings.Contains(r.text, `"plan":"free"`) {
			t.Errorf("ann %s", r.text)
		}
		for _, tt := range []struct{ what, body, code, paths string }{
			{"PUT /contacts", `{"email": "ann@example.org", "custom_fields": {"plan": "free"}}`, "INVALID_FIELD_VALUE", "custom_fields.plan"},
			{"PUT " + plan, `{"field_key": "p", "field_type": "string", "currency_code": "EUR", "enum_values": [], "name": ""}`, "INVALID_FIELD", "name field_key field_type currency_code enum_values"},
			{"PUT " + plan, `{"enum_values": null}`, "INVALID_FIELD", "enum_values"},
			{"PUT " + plan, `{"default_value": "gold"}`, "INVALID_FIELD", "default_value"},
			{"PUT " + plan, `{"name": null}`, "INVALID_INPUT", "name"},
			{"PUT " + price, `{"currency_code": null}`, "INVALID_FIELD", "currency_code"},
			{"PUT " + price, `{"currency_code": "USD"}`, "INVALID_FIELD", "currency_code"},
		} {
			caller := "admin"
			if strings.HasSuffix(tt.what, "contacts") {
				caller = "key"
			}
			if r := s.call(caller, tt.what, tt.body); r.code != tt.code || r.problems() != tt.paths {
				t.Errorf("%s %s = %d %s, want %s at %s", tt.what, tt.body, r.status, r.text, tt.code, tt.paths)
			}
		}
		s.must(200, "admin", "PUT "+price, `{"name": "Price", "field_key": "price", "field_type": "currency", "currency_code": "EUR", "value_constraint": "open"}`)
		if r := s.must(200, "admin", "PUT "+plan, `{"value_constraint": "open", "enum_values": null, "default_value": "gold"}`); r.str("value_constraint") != "open" || r.body["enum_values"] != nil || r.str("default_value") != "gold" {
			t.Errorf("opened %s", r.text)
		}
		s.must(200, "key", "PUT /contacts", `{"email": "ann@example.org", "custom_fields": {"plan": "gold"}}`)
		s.must(404, "admin", "PUT /t/other/api"+plan, `{}`)
		s.must(404, "admin", "DELETE /t/other/api"+plan, ``)
		s.must(204, "admin", "DELETE "+plan, ``)
		s.must(404, "admin", "DELETE "+plan, ``)
		// The key can be used again, and the old values do not reappear.
		s.must(201, "admin", "POST /settings/custom-fields", `{"name": "Plan", "field_type": "number"}`)
		if r := s.must(200, "key", "GET /contacts/lookup?email=ann@example.org", ""); fmt.Sprint(r.body["custom_fields"]) != "map[price:1]" {
			t.Errorf("ann %s", r.text)
		}
	})
}

func TestAFieldInUseCannotBeDeleted(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		f := s.must(201, "admin", "POST /settings/custom-fields", `{"name": "Plan", "field_type": "string"}`).str("id")
		s.must(201, "key", "POST /contacts", `{"email": "ann@example.org", "custom_fields": {"plan": "free"}}`)
		seg := s.must(201, "key", "POST /segments", `{"name": "Free", "definition": {"logic": "and", "conditions": [{"field": "custom_fields.plan", "operator": "equals", "value": "free"}]}}`).str("segment_key")
		r := s.call("admin", "DELETE /settings/custom-fields/"+f, "")
		if r.code != "FIELD_IN_USE" || !strings.Contains(r.text, `"usage":{"automations":0,"contacts":1,"forms":0,"saved_filters":0,"segments":1,"sequences":0}`) {
			t.Errorf("deleted: %d %s", r.status, r.text)
		}
		s.must(204, "key", "DELETE /segments/"+seg, "")
		s.must(204, "admin", "DELETE /settings/custom-fields/"+f, "")
	})
}

func TestStagesAndTheirScores(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		stage := func(body string) string { return s.must(201, "admin", "POST /settings/stages", body).str("id") }
		lead := stage(`{"name": "Lead", "category": "prospect"}`)
		warm := stage(`{"name": "Warm", "category": "prospect", "color": "#AABBCC", "description": "d"}`)
		won := stage(`{"name": "Won", "category": "customer"}`)
		put := func(email, stage string) string {
			return s.must(201, "key", "POST /contacts", `{"email": "`+email+`", "stage_id": "`+stage+`"}`).str("id")
		}
		ann, bob := put("ann@example.org", warm), put("bob@example.org", won)
		scored := func() {
			for _, c := range []string{ann, bob} {
				err := contact.SaveScores(t.Context(), s.db, s.acme, []contact.Scored{{Contact: id.Read[id.Contact](c), Prospect: 7, Customer: 9}}, s.now)
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		want := func(c, stage string, prospect, customer float64) {
			t.Helper()
			if r := s.must(200, "key", "GET /contacts/"+c, ""); r.str("stage_id") != stage || r.body["prospect_score"] != prospect || r.body["customer_score"] != customer {
				t.Errorf("stage %v, scores %v and %v; want %s, %v and %v", r.body["stage_id"], r.body["prospect_score"], r.body["customer_score"], stage, prospect, customer)
			}
		}
		for _, tt := range []struct{ what, body, code, paths string }{
			{"POST /settings/stages", `{"name": "", "color": "red", "sort_order": -1, "description": "` + strings.Repeat("x", 2001) + `", "category": "prospect"}`, "INVALID_INPUT", "name color description sort_order"},
			{"POST /settings/stages", `{"name": "x", "category": "vip"}`, "INVALID_INPUT", "category"},
			{"PUT /settings/stages/order", `{"ids": ["x", "` + lead + `", "` + lead + `"]}`, "INVALID_INPUT", "ids ids"},
			{"PUT /settings/stages/" + lead, `{"is_default": false}`, "INVALID_INPUT", "is_default"},
			{"DELETE /settings/stages/" + warm + "?replacement_stage_id=" + warm, ``, "INVALID_STAGE", ""},
			{"DELETE /settings/stages/" + warm, ``, "IN_USE", ""},
			{"DELETE /settings/stages/" + lead + "?replacement_stage_id=" + warm, ``, "IN_USE", ""}, // the default
		} {
			if r := s.call("admin", tt.what, tt.body); r.code != tt.code || r.problems() != tt.paths {
				t.Errorf("%s %.60s = %d %s, want %s at %s", tt.what, tt.body, r.status, r.text, tt.code, tt.paths)
			}
		}
		if r := s.must(200, "admin", "PUT /settings/stages/order", `{"ids": ["`+won+`", "`+strings.ToUpper(warm)+`", "`+lead+`"]}`); !slices.Equal(r.data("slug"), []string{"won", "warm", "lead"}) {
			t.Errorf("order %s", r.text)
		}
		scored()
		s.must(200, "admin", "PUT /settings/stages/"+won, `{"category": "partner"}`) // no contact changes its stage
		want(bob, won, 7, 9)
		s.must(200, "admin", "PUT /settings/stages/"+won, `{"category": "customer"}`)
		s.must(204, "admin", "DELETE /settings/stages/"+warm+"?replacement_stage_id="+lead, "")
		want(ann, lead, 7, 9) // both stages are prospects'
		s.must(204, "admin", "DELETE /settings/stages/"+won+"?replacement_stage_id="+lead, "")
		want(bob, lead, 0, 0)
		s.must(404, "admin", "DELETE /settings/stages/"+won, "")
	})
}

func TestTheNumberOfFieldsAndStagesIsLimited(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		for i := range 200 {
			s.must(201, "admin", "POST /settings/custom-fields", fmt.Sprintf(`{"name": "f%d", "field_type": "string"}`, i))
		}
		for i := range 50 {
			s.must(201, "admin", "POST /settings/stages", fmt.Sprintf(`{"name": "s%d", "category": "prospect"}`, i))
		}
		for _, tt := range []struct{ what, body string }{
			{"POST /settings/custom-fields", `{"name": "one more", "field_type": "string"}`},
			{"POST /settings/stages", `{"name": "one more", "category": "prospect"}`},
		} {
			if r := s.call("admin", tt.what, tt.body); r.code != "LIMIT_EXCEEDED" || r.status != 400 {
				t.Errorf("%s = %d %s", tt.what, r.status, r.text)
			}
		}
	})
}

func TestScoringSettings(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *apiTest) {
		r := s.must(200, "viewer", "GET /settings/scoring", "")
		if !strings.Contains(r.text, `{"id":"email_opened","trigger":"email_opened","match":{},"points":1,"daily_cap":3}`) ||
			!strings.Contains(r.text, `"match":{"event_name":"order_placed","type":"order_placed"}`) ||
			!strings.Contains(r.text, `"decay":{"after_days":30,"percent":20},"min":0,"max":1000`) || len(r.body["rules"].([]any)) != 9 {
			t.Errorf("the defaults: %s", r.text)
		}
		if again := s.must(200, "admin", "PUT /settings/scoring", r.text); again.text != r.text {
			t.Errorf("writing back what was read: %s", again.text)
		}
		r = s.must(200, "admin", "PUT /settings/scoring", `{"decay": {"percent": 0}, "max": 100, "rules": [{"trigger": "page_viewed", "points": -2, "match": {"filters": [{"property": "url", "operator": "eq", "value": "x"}]}}]}`)
		rule := r.body["rules"].([]any)[0].(map[string]any)
		if !id.Valid(fmt.Sprint(rule["id"])) || rule["daily_cap"] != nil || !strings.Contains(r.text, `"operator":"equals"`) || !strings.Contains(r.text, `"after_days":30,"percent":0`) {
			t.Errorf("changed: %s", r.text)
		}
		for _, tt := range []struct{ caller, body, code, paths string }{
			{"key", `{}`, "API_KEY_FORBIDDEN", ""},
			{"editor", `{}`, "FORBIDDEN", ""},
			{"admin", `{"rules": [{"id": "a", "trigger": "opened", "points": 5000, "daily_cap": 0}, {"id": "a", "trigger": "event", "points": 1, "match": {"filters": [{"property": "a", "operator": "like", "value": 1}]}}], "min": 5, "decay": {"percent": 101}}`,
				"INVALID_INPUT", "rules[0].trigger rules[0].points rules[0].daily_cap rules[1].id rules[1].match.filters[0].operator decay.percent min"},
			{"admin", `{"rules": null}`, "INVALID_INPUT", "rules"},
			{"admin", `{"rules": [` + strings.TrimSuffix(strings.Repeat(`{"trigger": "event", "points": 1},`, 101), ",") + `]}`, "LIMIT_EXCEEDED", ""},
		} {
			if r := s.call(tt.caller, "PUT /settings/scoring", tt.body); r.code != tt.code || r.problems() != tt.paths {
				t.Errorf("%s %.60s = %d %s, want %s at %s", tt.caller, tt.body, r.status, r.text, tt.code, tt.paths)
			}
		}
		if again := s.must(200, "viewer", "GET /settings/scoring", ""); again.text != r.text {
			t.Errorf("after refused changes: %s", again.text)
		}
		if other := s.must(200, "viewer", "GET /t/other/api/settings/scoring", ""); len(other.body["rules"].([]any)) != 9 {
			t.Errorf("the other tenant has %s", other.text)
		}
	})
}
