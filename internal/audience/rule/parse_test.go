package rule_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/people/contact"
)

const someID = "01900000-0000-7000-8000-0000000000aa"

// segments knows one list and two segments.
func segments(keyOrID string) (rule.SegmentRule, bool) {
	for _, s := range []rule.SegmentRule{
		{ID: idtest.Must[id.Segment]("01900000-0000-7000-8000-0000000000b1"), Key: "vip", Static: true},
		{ID: idtest.Must[id.Segment]("01900000-0000-7000-8000-0000000000b2"), Key: "engaged"},
		{ID: idtest.Must[id.Segment]("01900000-0000-7000-8000-0000000000b3"), Key: "german"},
	} {
		if s.Key == keyOrID || s.ID.String() == keyOrID {
			return s, true
		}
	}
	return rule.SegmentRule{}, false
}

func whole() rule.Schema {
	s := schema()
	s.Segments = segments
	return s
}

// one wraps a leaf into a definition.
func one(leaf string) []byte { return []byte(`{"logic":"and","conditions":[` + leaf + `]}`) }

// sequenceOf returns a leaf of type event_sequence with these members.
func sequenceOf(first, then, within string) string {
	return `{"type":"event_sequence","operator":"followed","first":` + first + `,"then":` + then + `,"within":` + within + `}`
}

func TestLeavesAreStoredCanonically(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		// Aliases, and what a field keeps its values as.
		`{"field":"first_name","operator":"eq","value":"Ann"}`:                                                             `{"field":"first_name","operator":"equals","value":"Ann"}`,
		`{"type":"field","field":"first_name","operator":"is","value":"Ann"}`:                                              `{"field":"first_name","operator":"equals","value":"Ann"}`,
		`{"field":"first_name","operator":"=","value":"<Ann & \"Bob\">"}`:                                                  `{"field":"first_name","operator":"equals","value":"<Ann & \"Bob\">"}`,
		`{"field":"first_name","operator":"!=","value":"A\u030a"}`:                                                         `{"field":"first_name","operator":"not_equals","value":"Å"}`,
		`{"field":"first_name","operator":"neq","value":"x"}`:                                                              `{"field":"first_name","operator":"not_equals","value":"x"}`,
		`{"field":"first_name","operator":"is_not","value":"x"}`:                                                           `{"field":"first_name","operator":"not_equals","value":"x"}`,
		`{"field":"first_name","operator":"exists","value":null}`:                                                          `{"field":"first_name","operator":"is_set"}`,
		`{"field":"first_name","operator":"not_exists"}`:                                                                   `{"field":"first_name","operator":"is_not_set"}`,
		`{"field":"first_name","operator":"is_empty","value":""}`:                                                          `{"field":"first_name","operator":"is_not_set"}`,
		`{"field":"first_name","operator":"in","value":["a","b","a"]}`:                                                     `{"field":"first_name","operator":"in","value":["a","b"]}`,
		`{"field":"prospect_score","operator":"gt","value":1e2}`:                                                           `{"field":"prospect_score","operator":"greater_than","value":100}`,
		`{"field":"prospect_score","operator":"gte","value":-0.0}`:                                                         `{"field":"prospect_score","operator":"greater_or_equal","value":0}`,
		`{"field":"prospect_score","operator":"lt","value":0.10}`:                                                          `{"field":"prospect_score","operator":"less_than","value":0.1}`,
		`{"field":"prospect_score","operator":"lte","value":7}`:                                                            `{"field":"prospect_score","operator":"less_or_equal","value":7}`,
		`{"field":"prospect_score","operator":"between","value":[1,1.5]}`:                                                  `{"field":"prospect_score","operator":"between","value":[1,1.5]}`,
		`{"field":"prospect_score","operator":"in","value":[1,1.0,2]}`:                                                     `{"field":"prospect_score","operator":"in","value":[1,2]}`,
		`{"field":"email","operator":"equals","value":" Ann@EXAMPLE.org"}`:                                                 `{"field":"email","operator":"equals","value":"ann@example.org"}`,
		`{"field":"email_domain","operator":"in","value":["Müller.example"]}`:                                              `{"field":"email_domain","operator":"in","value":["xn--mller-kva.example"]}`,
		`{"field":"custom_fields.email","operator":"not_in","value":["A@B.example"]}`:                                      `{"field":"custom_fields.email","operator":"not_in","value":["a@b.example"]}`,
		`{"field":"country","operator":"in","value":["de","AT"]}`:                                                          `{"field":"country","operator":"in","value":["DE","AT"]}`,
		`{"field":"global_status","operator":"equals","value":"Active"}`:                                                   `{"field":"global_status","operator":"equals","value":"active"}`,
		`{"field":"stage","operator":"equals","value":"` + lead.String() + `"}`:                                            `{"field":"stage","operator":"equals","value":"lead"}`,
		`{"field":"stage_id","operator":"equals","value":"lead"}`:                                                          `{"field":"stage_id","operator":"equals","value":"` + lead.String() + `"}`,
		`{"field":"tags","operator":"contains","value":"vip"}`:                                                             `{"field":"tags","operator":"has_any","value":["vip"]}`,
		`{"field":"tags","operator":"has_all","value":["a","b"]}`:                                                          `{"field":"tags","operator":"has_all","value":["a","b"]}`,
		`{"field":"list","operator":"in","value":"vip"}`:                                                                   `{"field":"list","operator":"in","value":["vip"]}`,
		`{"field":"do_not_contact","operator":"equals","value":false}`:                                                     `{"field":"do_not_contact","operator":"equals","value":false}`,
		`{"field":"subscriptions.01900000-0000-7000-8000-0000000000E1","operator":"subscribed"}`:                           `{"field":"subscriptions.offers","operator":"subscribed"}`,
		`{"field":"category_subscriptions.` + strings.ToUpper(news.String()) + `","operator":"unsubscribed","value":true}`: `{"field":"category_subscriptions.` + news.String() + `","operator":"unsubscribed"}`,
		`{"field":"custom_fields.contact","operator":"equals","value":"` + strings.ToUpper(someID) + `"}`:                  `{"field":"custom_fields.contact","operator":"equals","value":"` + someID + `"}`,
		// Dates.
		`{"field":"created_at","operator":"on","value":"2026-03-01"}`:                                           `{"field":"created_at","operator":"on","value":"2026-03-01"}`,
		`{"field":"created_at","operator":"after","value":"2026-03-01T10:00:00+02:00"}`:                         `{"field":"created_at","operator":"after","value":"2026-03-01T08:00:00.000Z"}`,
		`{"field":"created_at","operator":"before","value":"2026-03-01T10:00"}`:                                 `{"field":"created_at","operator":"before","value":"2026-03-01T10:00:00.000Z"}`,
		`{"field":"created_at","operator":"before","value":"2026-03-01T10:00:00.0000019Z"}`:                     `{"field":"created_at","operator":"before","value":"2026-03-01T10:00:00.000001Z"}`,
		`{"field":"created_at","operator":"after","value":"2026-03-01 10:00:00+0200"}`:                          `{"field":"created_at","operator":"after","value":"2026-03-01T08:00:00.000Z"}`,
		`{"field":"created_at","operator":"after","value":"20260301t1000z"}`:                                    `{"field":"created_at","operator":"after","value":"2026-03-01T10:00:00.000Z"}`,
		`{"field":"created_at","operator":"on","value":"20260301"}`:                                             `{"field":"created_at","operator":"on","value":"2026-03-01"}`,
		`{"field":"created_at","operator":"before","value":"2016-12-31T23:59:60Z"}`:                             `{"field":"created_at","operator":"before","value":"2017-01-01T00:00:00.000Z"}`,
		`{"field":"custom_fields.date","operator":"on_or_after","value":"20260301T233000-05"}`:                  `{"field":"custom_fields.date","operator":"on_or_after","value":"2026-03-01"}`,
		`{"field":"custom_fields.date","operator":"on_or_after","value":"2016-12-31 23:59:60Z"}`:                `{"field":"custom_fields.date","operator":"on_or_after","value":"2016-12-31"}`,
		`{"field":"custom_fields.date","operator":"on_or_after","value":"2026-03-01T23:30:00-05:00"}`:           `{"field":"custom_fields.date","operator":"on_or_after","value":"2026-03-01"}`,
		`{"field":"created_at","operator":"in_the_last","value":{"amount":30,"unit":"Days"}}`:                   `{"field":"created_at","operator":"in_the_last","value":{"amount":30,"unit":"day"}}`,
		`{"field":"custom_fields.time","operator":"between","value":["22:00","06:00:30"]}`:                      `{"field":"custom_fields.time","operator":"between","value":["22:00","06:00:30"]}`,
		`{"field":"custom_fields.datetime","operator":"between","value":["2026-03-01","2026-03-01T00:00:00Z"]}`: `{"field":"custom_fields.datetime","operator":"between","value":["2026-03-01","2026-03-01T00:00:00.000Z"]}`,
		`{"field":"custom_fields.date","operator":"anniversary_in_next","value":{"unit":"weeks","amount":2}}`:   `{"field":"custom_fields.date","operator":"anniversary_in_next","value":{"amount":2,"unit":"week"}}`,
		// The other types of leaves.
		`{"type":"list","segment_keys":["vip","01900000-0000-7000-8000-0000000000b1"],"operator":"in","added":{"in_the_last":{"amount":1,"unit":"years"}}}`:                  `{"type":"list","operator":"in","segment_keys":["vip"],"added":{"in_the_last":{"amount":1,"unit":"year"}}}`,
		`{"type":"segment","segment_keys":["engaged","german"],"operator":"not_in"}`:                                                                                         `{"type":"segment","operator":"not_in","segment_keys":["engaged","german"]}`,
		`{"type":"email","event":"sent","operator":"did","email_type_keys":[],"level":"confirmed","window":{}}`:                                                              `{"type":"email","event":"sent","operator":"did"}`,
		`{"type":"email","event":"opened","operator":"did","level":"verified","count":{"value":3}}`:                                                                          `{"type":"email","event":"opened","operator":"did","count":{"operator":"at_least","value":3}}`,
		`{"type":"email","event":"clicked","operator":"did_not","level":"apparent","email_type_keys":["offers"],"window":{"from":"2026-01-01","to":"2026-02-01T00:00:00Z"}}`: `{"type":"email","event":"clicked","operator":"did_not","email_type_keys":["offers"],"level":"apparent","window":{"from":"2026-01-01","to":"2026-02-01T00:00:00.000Z"}}`,
		`{"type":"broadcast","broadcast_id":"` + someID + `","event":"clicked","link_url":"https://x.example/?a=1&b=2","variant_id":"b","operator":"did"}`:                   `{"type":"broadcast","broadcast_id":"` + someID + `","event":"clicked","operator":"did","link_url":"https://x.example/?a=1&b=2","variant_id":"b"}`,
		`{"type":"sequence_email","sequence_id":"` + someID + `","node_id":"n1","event":"delivered","operator":"did_not"}`:                                                   `{"type":"sequence_email","sequence_id":"` + someID + `","node_id":"n1","event":"delivered","operator":"did_not"}`,
		`{"type":"event","event_name":" order_placed ","operator":"did","count":{"operator":"exactly","value":0},"filters":[{"property":"items[].sku","operator":"eq","value":5},{"property":"gift","operator":"is_true"},{"property":"at","operator":"in_the_last","value":{"amount":2,"unit":"hours"}},{"property":"at","operator":"between","value":["2026-01-01","2026-01-02"]},{"property":"n","operator":"between","value":[1,2]},{"property":"s","operator":"in","value":["a",1,true]}]}`: `{"type":"event","event_name":"order_placed","operator":"did","filters":[{"property":"items[].sku","operator":"equals","value":5},{"property":"gift","operator":"is_true"},{"property":"at","operator":"in_the_last","value":{"amount":2,"unit":"hour"}},{"property":"at","operator":"between","value":["2026-01-01","2026-01-02"]},{"property":"n","operator":"between","value":[1,2]},{"property":"s","operator":"in","value":["a",1,true]}],"count":{"operator":"exactly","value":0}}`,
		`{"type":"event_sequence","within":{"unit":"Weeks","amount":521},"then":{"event_name":"order_placed"},"first":{"filters":[{"property":"a","operator":"is","value":1}],"event_name":" cart "},"operator":"not_followed","window":{"in_the_last":{"amount":1,"unit":"years"}}}`:                                                                                                                                                                                                            `{"type":"event_sequence","operator":"not_followed","first":{"event_name":"cart","filters":[{"property":"a","operator":"equals","value":1}]},"then":{"event_name":"order_placed"},"within":{"amount":521,"unit":"week"},"window":{"in_the_last":{"amount":1,"unit":"year"}}}`,
		`{"type":"page_view","url":"/pricing","match":"contains","operator":"did"}`:                          `{"type":"page_view","url":"/pricing","match":"contains","operator":"did"}`,
		`{"type":"page_view","url":"https://x.example/","match":"equals","operator":"did_not"}`:              `{"type":"page_view","url":"https://x.example/","operator":"did_not"}`,
		`{"type":"form","form_slug":"newsletter","operator":"did"}`:                                          `{"type":"form","form_slug":"newsletter","operator":"did"}`,
		`{"type":"subscription","email_type_key":"offers","operator":"subscribed"}`:                          `{"type":"subscription","email_type_key":"offers","operator":"subscribed"}`,
		`{"type":"subscription","category_id":"` + news.String() + `","operator":"unsubscribed"}`:            `{"type":"subscription","category_id":"` + news.String() + `","operator":"unsubscribed"}`,
		`{"type":"sequence","sequence_id":"` + someID + `","operator":"never","window":{"to":"2026-01-01"}}`: `{"type":"sequence","sequence_id":"` + someID + `","operator":"never","window":{"to":"2026-01-01"}}`,
		`{"type":"suppression","operator":"not_listed"}`:                                                     `{"type":"suppression","operator":"not_listed"}`,
		`{"logic":"ANY","conditions":[{"type":"suppression","operator":"listed"}],"negate":true}`:            `{"logic":"or","conditions":[{"type":"suppression","operator":"listed"}],"negate":true}`,
	} {
		tree, err := rule.ParseDefinition(one(in), whole())
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if got, err := tree.MarshalJSON(); err != nil || string(got) != string(one(want)) {
			t.Errorf("%s\nis stored as %s, %v\nwant         %s", in, got, err, one(want))
		}
		again, err := rule.ParseDefinition([]byte(encoded(tree)), whole())
		if diff := cmp.Diff(tree, again); err != nil || diff != "" {
			t.Errorf("%s reads back otherwise: %v\n%s", want, err, diff)
		}
		stored, err := rule.Decode([]byte(encoded(tree)), whole())
		if diff := cmp.Diff(tree, stored); err != nil || diff != "" {
			t.Errorf("%s is decoded otherwise: %v\n%s", want, err, diff)
		}
	}
}

// A leaf in a request must have a subject and no unknown fields. A stored definition may have
// leaves about any event, page or form, and unknown fields.
func TestLeavesOfRequestsAreComplete(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][]string{
		`{"type":"event","operator":"did"}`:                       {".event_name: required"},
		`{"type":"event","event_name":null,"operator":"did_not"}`: {".event_name: required"},
		`{"type":"event","event_name":"","operator":"did"}`:       {".event_name: must be a string that is not empty"},
		`{"type":"event","event_name":"  ","operator":"did"}`:     {".event_name: must be a string that is not empty"},
		`{"type":"event_sequence","operator":"did","first":{"filters":[],"name":"a"},"then":{"event_name":""},"within":{"amount":1,"unit":"day","of":1}}`: {
			".first.name: is not a field", ".first.event_name: required", ".then.event_name: must be a string that is not empty", ".within.of: is not a field", ".operator: must be one of followed, not_followed",
		},
		`{"type":"event","event_nam":"x","operator":"did"}`:                                                                   {".event_name: required", ".event_nam: is not a field"},
		`{"type":"page_view","operator":"did","match":"contains"}`:                                                            {".url: required"},
		`{"type":"page_view","url":"","operator":"did_not"}`:                                                                  {".url: must be a string that is not empty"},
		`{"type":"form","operator":"did"}`:                                                                                    {".form_slug: required"},
		`{"type":"form","form_slug":null,"operator":"did_not","slug":"x"}`:                                                    {".form_slug: required", ".slug: is not a field"},
		`{"field":"city","operator":"is_set","else":null}`:                                                                    {".else: is not a field"},
		`{"type":"field","field":"city","operator":"is","value":"x","window":{},"negate":true}`:                               {".negate: is not a field", ".window: is not a field"},
		`{"type":"list","operator":"in","segment_keys":["vip"],"window":{}}`:                                                  {".window: is not a field"},
		`{"type":"segment","operator":"in","segment_keys":["german"],"added":{}}`:                                             {".added: is not a field"},
		`{"type":"email","event":"sent","operator":"did","email_type_key":"offers"}`:                                          {".email_type_key: is not a field"},
		`{"type":"broadcast","broadcast_id":"` + someID + `","event":"sent","operator":"did","window":{}}`:                    {".window: is not a field"},
		`{"type":"sequence_email","sequence_id":"` + someID + `","event":"sent","operator":"did","count":{}}`:                 {".count: is not a field"},
		`{"type":"sequence","sequence_id":"` + someID + `","operator":"active","event":"sent"}`:                               {".event: is not a field"},
		`{"type":"subscription","email_type_key":"offers","operator":"subscribed","value":true}`:                              {".value: is not a field"},
		`{"type":"suppression","operator":"listed","reason":"bounce"}`:                                                        {".reason: is not a field"},
		`{"type":"form","form_slug":"x","operator":"did","window":{"until":"2026-01-01"}}`:                                    {".window.until: is not a field"},
		`{"type":"form","form_slug":"x","operator":"did","window":{"in_the_last":{"amount":1,"unit":"day","of":1}}}`:          {".window.in_the_last.of: is not a field"},
		`{"type":"email","event":"sent","operator":"did","count":{"op":"at_most","value":1}}`:                                 {".count.op: is not a field"},
		`{"type":"event","event_name":"x","operator":"did","filters":[{"property":"a","op":"is","operator":"is","value":1}]}`: {".filters[0].op: is not a field"},
	} {
		_, err := rule.ParseDefinition(one(in), whole())
		list, _ := problems(t, err, rule.ErrInvalidDefinition)
		const at = "definition.conditions[0]"
		ok := len(list) == len(want)
		for i := 0; ok && i < len(want); i++ {
			ok = strings.HasPrefix(list[i], at+want[i])
		}
		if !ok {
			t.Errorf("%s: %q, want %q", in, list, want)
		}
		if blank := strings.Contains(in, `""`); blank { // was never valid
			continue
		}
		if _, err := rule.Reparse(one(in), whole()); err != nil {
			t.Errorf("%s was accepted once: %v", in, err)
		}
		stored, err := rule.Decode(one(in), whole())
		if err != nil || len(stored.Warnings(whole())) != 0 {
			t.Errorf("%s as it is stored: %v, %v", in, err, stored.Warnings(whole()))
		}
	}
	// Groups and filters of a list ignore unknown fields, as other bodies do.
	if _, err := rule.ParseDefinition([]byte(`{"logic":"and","title":"x","conditions":[{"field":"city","operator":"is_set"}]}`), whole()); err != nil {
		t.Error(err)
	}
	if _, err := rule.ParseFilters([]byte(`[{"field":"city","operator":"is_set","title":"x"}]`), whole()); err != nil {
		t.Error(err)
	}
	// Unknown fields are limited like other problems: a hundred are reported.
	_, err := rule.ParseDefinition(one(`{"field":"city","operator":"is_set"`+manyFields(2000)+`}`), whole())
	if list, first := problems(t, err, rule.ErrInvalidDefinition); len(list) != fault.MaxFields || first != "definition.conditions[0].x0" {
		t.Errorf("%d problems, the first at %s", len(list), first)
	}
}

// manyFields returns unknown members of an object.
func manyFields(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"x%d":1`, i)
	}
	return b.String()
}

// problems returns the paths and messages of a fault's details, and its path.
func problems(t *testing.T, err error, of *fault.Error) (list []string, first string) {
	t.Helper()
	f, ok := fault.As(err)
	if !ok || !errors.Is(err, of) || f.Kind != fault.Invalid {
		t.Fatalf("error = %v, want %s", err, of.Code)
	}
	var d struct {
		Path   string
		Fields []fault.Field
	}
	if err := json.Unmarshal([]byte(encoded(f.Details)), &d); err != nil {
		t.Fatal(err)
	}
	for _, p := range d.Fields {
		list = append(list, p.Path+": "+p.Message)
	}
	return list, d.Path
}

func TestProblemsOfLeaves(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`5`:                                 `: must be an object`,
		`[]`:                                `: must be an object`,
		`{}`:                                `: a leaf names a "field" or a "type"`,
		`{"type":"colour","operator":"is"}`: `.type: must be one of field, list`,
		`{"type":5}`:                        `.type: must be one of`,
		`{"type":"field","operator":"is","value":1}`:                                                                                 `.field: required`,
		`{"field":5,"operator":"is","value":1}`:                                                                                      `.field: must be a string`,
		`{"field":"colour","operator":"is","value":"x"}`:                                                                             `.field: there is no such field`,
		`{"field":"member_added_at","operator":"is_set"}`:                                                                            `.field: there is no such field`,
		`{"field":"search_text","operator":"is_set"}`:                                                                                `.field: there is no such field`,
		`{"field":"custom_fields.colour","operator":"is","value":"x"}`:                                                               `.field: there is no custom field colour`,
		`{"field":"custom_fields.' OR 1=1 --","operator":"is","value":"x"}`:                                                          `.field: there is no custom field`,
		`{"field":"subscriptions.colour","operator":"subscribed"}`:                                                                   `.field: there is no email type colour`,
		`{"field":"category_subscriptions.` + gone.String() + `","operator":"subscribed"}`:                                           `.field: there is no category`,
		`{"field":"category_subscriptions.x","operator":"subscribed"}`:                                                               `.field: there is no category`,
		`{"field":"first_name"}`:                                                                                                     `.operator: required`,
		`{"field":"first_name","operator":"gt","value":"x"}`:                                                                         `.operator: must be one of equals, not_equals, contains`,
		`{"field":"first_name","operator":["is"],"value":"x"}`:                                                                       `.operator: must be a string`,
		`{"field":"tags","operator":"equals","value":"x"}`:                                                                           `.operator: must be one of has_any`,
		`{"field":"created_at","operator":"equals","value":"2026-01-01"}`:                                                            `.operator: must be one of on, not_on`,
		`{"field":"country","operator":"contains","value":"D"}`:                                                                      `.operator: must be one of`,
		`{"field":"list","operator":"equals","value":"vip"}`:                                                                         `.operator: must be one of in, not_in`,
		`{"field":"first_name","operator":"is"}`:                                                                                     `.value: required`,
		`{"field":"first_name","operator":"is","value":null}`:                                                                        `.value: required`,
		`{"field":"first_name","operator":"is","value":5}`:                                                                           `.value: must be a string`,
		`{"field":"first_name","operator":"is","value":""}`:                                                                          `.value: must not be empty`,
		`{"field":"first_name","operator":"is","value":["x"]}`:                                                                       `.value: must be a string`,
		`{"field":"first_name","operator":"is","value":{"a":1}}`:                                                                     `.value: must be a string`,
		`{"field":"first_name","operator":"is","value":"` + strings.Repeat("x", 4097) + `"}`:                                         `.value: at most 4096 characters`,
		`{"field":"first_name","operator":"in","value":"x"}`:                                                                         `.value: must be an array`,
		`{"field":"first_name","operator":"in","value":[]}`:                                                                          `.value: must not be empty`,
		`{"field":"first_name","operator":"in","value":["x",null]}`:                                                                  `.value[1]: must be a string`,
		`{"field":"prospect_score","operator":"is","value":"5"}`:                                                                     `.value: must be a number`,
		`{"field":"prospect_score","operator":"is","value":1e400}`:                                                                   `.value: is too large a number`,
		`{"field":"prospect_score","operator":"in","value":[1,"2"]}`:                                                                 `.value[1]: must be a number`,
		`{"field":"prospect_score","operator":"in","value":[` + strings.Repeat("1,", 1000) + `1]}`:                                   `.value: at most 1000 values`,
		`{"field":"prospect_score","operator":"between","value":[2,1]}`:                                                              `.value: the first must not be larger`,
		`{"field":"prospect_score","operator":"between","value":[1]}`:                                                                `.value: must be an array of two`,
		`{"field":"do_not_contact","operator":"is","value":"true"}`:                                                                  `.value: must be true or false`,
		`{"field":"do_not_contact","operator":"is","value":1}`:                                                                       `.value: must be true or false`,
		`{"field":"country","operator":"is","value":"Germany"}`:                                                                      `.value: must be a country code`,
		`{"field":"timezone","operator":"is","value":"Mars/Olympus"}`:                                                                `.value: must be the IANA name`,
		`{"field":"global_status","operator":"in","value":["active","asleep"]}`:                                                      `.value[1]: must be one of active, pending`,
		`{"field":"stage","operator":"is","value":"colour"}`:                                                                         `.value: there is no stage colour`,
		`{"field":"created_at","operator":"on","value":"yesterday"}`:                                                                 `.value: must be a date`,
		`{"field":"created_at","operator":"on","value":5}`:                                                                           `.value: must be a date`,
		`{"field":"created_at","operator":"on","value":"2026-02-30"}`:                                                                `.value: must be a date`,
		`{"field":"custom_fields.date","operator":"on","value":"10000-01-01"}`:                                                       `.value: must be a date`,
		`{"field":"created_at","operator":"between","value":["2026-03-02","2026-03-01"]}`:                                            `.value: the first must not be after`,
		`{"field":"created_at","operator":"in_the_last","value":30}`:                                                                 `.value: must be an object such as`,
		`{"field":"created_at","operator":"in_the_last","value":{"amount":0,"unit":"day"}}`:                                          `.value.amount: must be a whole number`,
		`{"field":"created_at","operator":"in_the_last","value":{"amount":1.5,"unit":"day"}}`:                                        `.value.amount: must be a whole number`,
		`{"field":"created_at","operator":"in_the_last","value":{"amount":1e30,"unit":"day"}}`:                                       `.value.amount: must be a whole number`,
		`{"field":"created_at","operator":"in_the_last","value":{"unit":"day"}}`:                                                     `.value.amount: required`,
		`{"field":"created_at","operator":"in_the_last","value":{"amount":1,"unit":"minute"}}`:                                       `.value.unit: must be hour`,
		`{"field":"custom_fields.time","operator":"before","value":"9:30"}`:                                                          `.value: must be a time`,
		`{"field":"custom_fields.contact","operator":"is","value":"ann"}`:                                                            `.value: must be a UUID`,
		`{"field":"list","operator":"in","value":["vip","engaged"]}`:                                                                 `.value[1]: "engaged" is a segment`,
		`{"field":"list","operator":"in","value":"colour"}`:                                                                          `.value: there is no list "colour"`,
		`{"type":"list","operator":"in"}`:                                                                                            `.segment_keys: required`,
		`{"type":"list","operator":"in","segment_keys":"vip"}`:                                                                       `.segment_keys: must be an array of strings`,
		`{"type":"list","operator":"in","segment_keys":["vip",5]}`:                                                                   `.segment_keys[1]: must be a string`,
		`{"type":"list","operator":"in","segment_keys":["vip"],"added":{"in_the_last":{"amount":1,"unit":"day"},"to":"2026-01-01"}}`: `.added: has either`,
		`{"type":"segment","operator":"in","segment_keys":["vip"]}`:                                                                  `.segment_keys[0]: "vip" is a list`,
		`{"type":"segment","operator":"in","segment_keys":["colour"]}`:                                                               `.segment_keys[0]: there is no segment`,
		`{"type":"email","event":"read","operator":"did"}`:                                                                           `.event: must be one of sent`,
		`{"type":"email","event":"engaged","operator":"did"}`:                                                                        `.event: must be one of sent`,
		`{"type":"email","event":"sent","operator":"has"}`:                                                                           `.operator: must be one of did, did_not`,
		`{"type":"email","event":"opened","operator":"did","level":"sure"}`:                                                          `.level: must be verified`,
		`{"type":"email","event":"sent","operator":"did","email_type_keys":["colour"]}`:                                              `.email_type_keys[0]: there is no email type`,
		`{"type":"email","event":"sent","operator":"did_not","count":{"value":1}}`:                                                   `.count: goes with the operator did only`,
		`{"type":"email","event":"sent","operator":"did","count":{"operator":"at_least","value":0}}`:                                 `.count.value: must be a whole number from 1`,
		`{"type":"email","event":"sent","operator":"did","count":{"operator":"about","value":1}}`:                                    `.count.operator: must be at_least`,
		`{"type":"email","event":"sent","operator":"did","count":3}`:                                                                 `.count: must be an object`,
		`{"type":"email","event":"sent","operator":"did","window":"30d"}`:                                                            `.window: must be an object`,
		`{"type":"email","event":"sent","operator":"did","window":{"from":"2026-02-01","to":"2026-01-01"}}`:                          `.window: from must not be after to`,
		`{"type":"broadcast","broadcast_id":"x","event":"sent","operator":"did"}`:                                                    `.broadcast_id: must be a UUID`,
		`{"type":"broadcast","event":"sent","operator":"did"}`:                                                                       `.broadcast_id: required`,
		`{"type":"broadcast","broadcast_id":"` + someID + `","event":"opened","operator":"did","link_url":"x"}`:                      `.link_url: goes with the event clicked only`,
		`{"type":"sequence_email","sequence_id":"` + someID + `","event":"recipient","operator":"did"}`:                              `.event: must be one of`,
		`{"type":"event","operator":"did","event_name":"` + strings.Repeat("x", 129) + `"}`:                                          `.event_name: at most 128`,
		`{"type":"event","operator":"did","event_name":"x","filters":{}}`:                                                            `.filters: must be an array`,
		`{"type":"event","operator":"did","event_name":"x","filters":[5]}`:                                                           `.filters[0]: must be an object`,
		`{"type":"event","operator":"did","event_name":"x","filters":[{"operator":"is","value":1}]}`:                                 `.filters[0].property: required`,
		`{"type":"event","operator":"did","event_name":"x","filters":[{"property":"a","operator":"has_any","value":1}]}`:             `.filters[0].operator: must be one of`,
		`{"type":"event","operator":"did","event_name":"x","filters":[{"property":"a","operator":"gt","value":"1"}]}`:                `.filters[0].value: must be a number`,
		`{"type":"event","operator":"did","event_name":"x","filters":[{"property":"a","operator":"is"}]}`:                            `.filters[0].value: required`,
		`{"type":"event","operator":"did","event_name":"x","filters":[{"property":"a","operator":"in","value":[{}]}]}`:               `.filters[0].value[0]: must be a string, a number`,
		sequenceOf(`null`, `{"event_name":"b"}`, `{"amount":1,"unit":"day"}`):                                                        `.first: required`,
		sequenceOf(`{"event_name":"a"}`, `"b"`, `{"amount":1,"unit":"day"}`):                                                         `.then: must be an object`,
		sequenceOf(`{"event_name":"a"}`, `{"event_name":"b","filters":5}`, `{"amount":1,"unit":"day"}`):                              `.then.filters: must be an array`,
		sequenceOf(`{"event_name":"a"}`, `{"event_name":"b"}`, `null`):                                                               `.within: required`,
		sequenceOf(`{"event_name":"a"}`, `{"event_name":"b"}`, `7`):                                                                  `.within: must be an object`,
		sequenceOf(`{"event_name":"a"}`, `{"event_name":"b"}`, `{"amount":0,"unit":"day"}`):                                          `.within.amount: must be a whole number`,
		sequenceOf(`{"event_name":"a"}`, `{"event_name":"b"}`, `{"amount":1,"unit":"month"}`):                                        `.within.unit: must be hour, day or week`,
		sequenceOf(`{"event_name":"a"}`, `{"event_name":"b"}`, `{"amount":3651,"unit":"day"}`):                                       `.within.amount: must be a whole number from 1 to 3650`,
		sequenceOf(`{"event_name":"a"}`, `{"event_name":"b"}`, `{"amount":522,"unit":"week"}`):                                       `.within.amount: must be a whole number from 1 to 521`,
		sequenceOf(`{"event_name":"a"}`, `{"event_name":"b"}`, `{"amount":87601,"unit":"hour"}`):                                     `.within.amount: must be a whole number from 1 to 87600`,
		sequenceOf(`{"event_name":"a"}`, `{"event_name":"b"}`, `{"amount":1,"unit":"day"},"window":"30d"`):                           `.window: must be an object`,
		`{"type":"page_view","url":"x","match":"ends_with","operator":"did"}`:                                                        `.match: must be equals`,
		`{"type":"form","form_slug":"No Slug","operator":"did"}`:                                                                     `.form_slug: must be 1 to 64`,
		`{"type":"subscription","operator":"subscribed"}`:                                                                            `: names either an email_type_key or a category_id`,
		`{"type":"subscription","operator":"subscribed","email_type_key":"offers","category_id":"` + news.String() + `"}`:            `: names either`,
		`{"type":"subscription","operator":"subscribed","email_type_key":"colour"}`:                                                  `.email_type_key: there is no email type`,
		`{"type":"subscription","operator":"subscribed","category_id":"` + gone.String() + `"}`:                                      `.category_id: there is no such category`,
		`{"type":"sequence","sequence_id":"` + someID + `","operator":"did"}`:                                                        `.operator: must be one of active`,
		`{"type":"suppression"}`: `.operator: required`,
		`{"logic":"xor","conditions":[{"type":"suppression","operator":"listed"}]}`: `.logic: must be "and" or "or"`,
		`{"logic":5,"conditions":[{"type":"suppression","operator":"listed"}]}`:     `.logic: must be "and" or "or"`,
		`{"conditions":[{"type":"suppression","operator":"listed"}]}`:               `.logic: required`,
		`{"logic":"and"}`:                 `.conditions: required`,
		`{"logic":"and","conditions":{}}`: `.conditions: must be an array`,
		`{"logic":"and","conditions":[]}`: `.conditions: must hold at least one`,
		`{"logic":"and","negate":"yes","conditions":[{"type":"suppression","operator":"listed"}]}`: `.negate: must be true or false`,
		`{"logic":"and","field":"city","conditions":[{"type":"suppression","operator":"listed"}]}`: `.field: a condition is either`,
	} {
		_, err := rule.ParseDefinition(one(in), whole())
		list, first := problems(t, err, rule.ErrInvalidDefinition)
		const at = "definition.conditions[0]"
		if len(list) != 1 || !strings.HasPrefix(list[0], at+want) {
			t.Errorf("%.200s: %q, want %s%s", in, list, at, want)
		}
		if path, _, _ := strings.Cut(at+want, ": "); first != path {
			t.Errorf("%.200s: details.path = %s, want %s", in, first, path)
		}
		if !strings.Contains(in, `"field"`) || strings.Contains(in, `"conditions"`) {
			continue
		}
		_, err = rule.ParseFilters([]byte(`[{"field":"city","operator":"is_set"},`+in+`]`), whole())
		if list, first := problems(t, err, contact.ErrInvalidFilters); len(list) != 1 || !strings.HasPrefix(list[0], "filters[1]"+want) || !strings.HasPrefix(first, "filters[1]") {
			t.Errorf("the filter %.200s: %q at %s, want filters[1]%s", in, list, first, want)
		}
	}
}

func TestEveryProblemIsReportedAtOnce(t *testing.T) {
	t.Parallel()
	_, err := rule.ParseFilters([]byte(`[{"field":"x","operator":"is","value":1},5,{"type":"suppression","operator":"listed"},{"field":"city","operator":"is","value":5},{"logic":"and","conditions":[]}]`), whole())
	list, first := problems(t, err, contact.ErrInvalidFilters)
	if len(list) != 5 || first != "filters[0].field" {
		t.Errorf("problems = %q, the first at %s; want five", list, first)
	}
	_, err = rule.ParseDefinition([]byte(`{"logic":"nor","conditions":[{"type":"email","event":"x","operator":"y","count":{"value":-1}},{"field":"x","operator":"is"}]}`), whole())
	if list, _ := problems(t, err, rule.ErrInvalidDefinition); len(list) != 5 {
		t.Errorf("problems = %q; want five", list)
	}
}

func TestMalformedRules(t *testing.T) {
	t.Parallel()
	deep := func(open, close string, n int) string { return strings.Repeat(open, n) + strings.Repeat(close, n) }
	leaf := `{"field":"city","operator":"is_set"}`
	levels := func(n int) string {
		return strings.Repeat(`{"logic":"and","conditions":[`, n) + leaf + strings.Repeat(`]}`, n)
	}
	for name, in := range map[string]string{
		"nothing":                 ``,
		"no JSON":                 `{"logic"`,
		"two values":              string(one(leaf)) + `{}`,
		"a trailing brace":        string(one(leaf)) + `}`,
		"a number":                `5`,
		"null":                    `null`,
		"an array":                `[` + leaf + `]`,
		"a leaf":                  leaf,
		"an empty object":         `{}`,
		"nothing to ask":          `{"logic":"and","conditions":[]}`,
		"six levels":              levels(6),
		"101 leaves":              `{"logic":"or","conditions":[` + strings.Repeat(leaf+",", 100) + leaf + `]}`,
		"over 64 KB":              string(one(leaf)) + strings.Repeat(" ", 64<<10),
		"a member twice":          `{"logic":"and","logic":"or","conditions":[` + leaf + `]}`,
		"a NUL":                   string(one(`{"field":"city","operator":"is","value":"a\u0000b"}`)),
		"a NUL in a name":         string(one(`{"field":"ci\u0000ty","operator":"is_set"}`)),
		"no UTF-8":                string(one("{\"field\":\"city\",\"operator\":\"is\",\"value\":\"\xff\"}")),
		"30,000 arrays":           deep("[", "]", 30_000),
		"5,000 objects":           deep(`{"a":`, `}`, 5_000),
		"100,000 conditions":      `{"logic":"or","conditions":[` + strings.Repeat(leaf+",", 99_999) + leaf + `]}`,
		"a huge number of digits": string(one(`{"field":"prospect_score","operator":"is","value":` + strings.Repeat("9", 60_000) + `}`)),
	} {
		_, err := rule.ParseDefinition([]byte(in), whole())
		if list, first := problems(t, err, rule.ErrInvalidDefinition); len(list) == 0 || !strings.HasPrefix(first, "definition") {
			t.Errorf("%s: %q at %s", name, list, first)
		}
	}
	for name, in := range map[string]string{
		"nothing": ``, "an object": `{}`, "null": `null`, "a string": `"[]"`, "no JSON": `[{"field":`, "a trailing comma": `[` + leaf + `,]`,
		"101 conditions": `[` + strings.Repeat(leaf+",", 100) + leaf + `]`, "over 64 KB": `[` + strings.Repeat(leaf+",", 100_000) + leaf + `]`,
		"a NUL": `["\u0000"]`, "a group": `[` + levels(1) + `]`,
	} {
		_, err := rule.ParseFilters([]byte(in), whole())
		if list, first := problems(t, err, contact.ErrInvalidFilters); len(list) == 0 || !strings.HasPrefix(first, "filters") {
			t.Errorf("filters that are %s: %q at %s", name, list, first)
		}
	}
	for _, in := range []string{levels(5), `{"logic":"or","conditions":[` + strings.Repeat(leaf+",", 99) + leaf + `]}`} {
		if _, err := rule.ParseDefinition([]byte(in), whole()); err != nil {
			t.Errorf("%.60s…: %v", in, err)
		}
	}
	if tree, err := rule.ParseFilters([]byte(` [] `), whole()); err != nil || len(tree.Root.Conditions) != 0 {
		t.Errorf("no filters: %v, %v", tree, err)
	}
}

// A stored rule stays readable after records it refers to were deleted.
func TestMissingReferencesAreWarnings(t *testing.T) {
	t.Parallel()
	text := `{"logic":"and","conditions":[` +
		`{"field":"custom_fields.string","operator":"not_contains","value":"x"},` +
		`{"field":"custom_fields.number","operator":"greater_than","value":1},` +
		`{"field":"stage","operator":"in","value":["lead","buyer"]},` +
		`{"field":"subscriptions.offers","operator":"subscribed"},` +
		`{"logic":"or","conditions":[{"type":"list","operator":"in","segment_keys":["vip"]},{"type":"segment","operator":"not_in","segment_keys":["engaged","german"]}]},` +
		`{"type":"email","event":"opened","operator":"did","email_type_keys":["offers","digest"]},` +
		`{"type":"subscription","category_id":"` + news.String() + `","operator":"subscribed"},` +
		`{"type":"form","form_slug":"signup","operator":"did"},` +
		`{"type":"sequence","sequence_id":"` + someID + `","operator":"active"},` +
		`{"type":"broadcast","broadcast_id":"` + someID + `","event":"sent","operator":"did"},` +
		`{"field":"city","operator":"is_set"}]}`
	tree, err := rule.ParseDefinition([]byte(text), whole())
	if err != nil {
		t.Fatal(err)
	}
	if w := tree.Warnings(whole()); len(w) != 0 {
		t.Errorf("warnings of what is whole: %v", w)
	}
	const at = "definition.conditions"
	want := []rule.Reference{
		{Kind: usage.Field, Name: "string", Path: at + "[0].field"},
		{Kind: usage.Field, Name: "number", Path: at + "[1].field"},
		{Kind: rule.RefStage, Name: "lead", Path: at + "[2].value[0]"},
		{Kind: rule.RefStage, Name: "buyer", Path: at + "[2].value[1]"},
		{Kind: usage.EmailType, Name: "offers", Path: at + "[3].field"},
		{Kind: usage.Segment, Name: "vip", Path: at + "[4].conditions[0].segment_keys[0]"},
		{Kind: usage.Segment, Name: "engaged", Path: at + "[4].conditions[1].segment_keys[0]"},
		{Kind: usage.Segment, Name: "german", Path: at + "[4].conditions[1].segment_keys[1]"},
		{Kind: usage.EmailType, Name: "offers", Path: at + "[5].email_type_keys[0]"},
		{Kind: usage.EmailType, Name: "digest", Path: at + "[5].email_type_keys[1]"},
		{Kind: rule.RefCategory, Name: news.String(), Path: at + "[6].category_id"},
		{Kind: rule.RefForm, Name: "signup", Path: at + "[7].form_slug"},
		{Kind: rule.RefSequence, Name: someID, Path: at + "[8].sequence_id"},
		{Kind: rule.RefBroadcast, Name: someID, Path: at + "[9].broadcast_id"},
	}
	if diff := cmp.Diff(want, tree.References()); diff != "" {
		t.Errorf("references: %s", diff)
	}
	bare := rule.Schema{Stages: whole().Stages[:1], Segments: func(key string) (rule.SegmentRule, bool) {
		if key == "engaged" {
			return rule.SegmentRule{}, false
		}
		return segments(key)
	}}
	stored, err := rule.Decode([]byte(text), bare)
	if err != nil {
		t.Fatal(err)
	}
	if got := encoded(stored); !sameJSON(t, got, text) {
		t.Errorf("what was stored is written as %s", got)
	}
	var got []string
	for _, w := range stored.Warnings(bare) {
		got = append(got, strings.TrimPrefix(w.Path, at)+" "+w.Code)
	}
	wantWarnings := []string{
		"[0] UNKNOWN_FIELD", "[1] UNKNOWN_FIELD", "[2].value[1] INVALID_STAGE", "[3].field INVALID_EMAIL_TYPE", "[4].conditions[1].segment_keys[0] INVALID_SEGMENT",
		"[5].email_type_keys[0] INVALID_EMAIL_TYPE", "[5].email_type_keys[1] INVALID_EMAIL_TYPE", "[6].category_id INVALID_CATEGORY",
	}
	if diff := cmp.Diff(wantWarnings, got); diff != "" {
		t.Errorf("warnings: %s", diff)
	}
	env := rule.Env{Now: noon, Schema: bare}
	for i, want := range []bool{true, false, true} {
		one := rule.Tree{Root: rule.Group{Conditions: stored.Root.Conditions[i : i+1]}}
		if got := one.Match(env, rule.Subject{Contact: contact.Contact{Stage: lead}}); got != want {
			t.Errorf("condition %d, about what is gone, holds: %t, want %t", i, got, want)
		}
	}
	if _, err := rule.Decode([]byte(`{"logic":`), bare); err == nil || errors.Is(err, rule.ErrInvalidDefinition) {
		t.Errorf("Decode of no JSON = %v, want an error that is no fault", err)
	}
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	if err := errors.Join(json.Unmarshal([]byte(a), &x), json.Unmarshal([]byte(b), &y)); err != nil {
		t.Fatal(err)
	}
	return cmp.Equal(x, y)
}

func TestFiltersAreEncodedAsFilters(t *testing.T) {
	t.Parallel()
	tree, err := rule.ParseFilters([]byte(`[{"field":"city","operator":"is","value":"Köln"},{"field":"tags","operator":"contains","value":"a"}]`), whole())
	if err != nil {
		t.Fatal(err)
	}
	raw, err := tree.Filters()
	const want = `[{"field":"city","operator":"equals","value":"Köln"},{"field":"tags","operator":"has_any","value":["a"]}]`
	if err != nil || string(raw) != want {
		t.Errorf("Filters = %s, %v; want %s", raw, err, want)
	}
	again, err := rule.Decode(raw, rule.Schema{})
	if diff := cmp.Diff(tree, again); err != nil || diff != "" {
		t.Errorf("Decode of filters: %v\n%s", err, diff)
	}
}

// Any input is refused with a fault, or is a tree whose encoding is the same tree.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`{"logic":"and","conditions":[{"field":"country","operator":"in","value":["DE","AT"]},{"type":"event","event_name":"order_placed","operator":"did","count":{"operator":"at_least","value":2},"window":{"in_the_last":{"amount":90,"unit":"day"}}}]}`,
		`[{"field":"custom_fields.datetime","operator":"between","value":["2026-01-01","2026-01-01T00:00:00.000001Z"]}]`,
		`{"logic":"any","negate":true,"conditions":[{"logic":"all","conditions":[{"type":"list","operator":"in","segment_keys":["vip"]}]}]}`,
		`{"logic":"and","conditions":[{"type":"event","operator":"did","filters":[{"property":"a.b[]","operator":"in","value":["x",1e3,false]}]}]}`,
		`{"logic":"and","conditions":[{"type":"event_sequence","operator":"not_followed","first":{"event_name":"a","filters":[{"property":"x","operator":"gt","value":1}]},"then":{"event_name":"b"},"within":{"amount":7,"unit":"day"},"window":{"from":"2026-01-01"}}]}`,
		`[{"field":"custom_fields.gone","operator":"in","value":[1e22,{"a":[null,-0.0]}]},{"field":"stage","operator":"in","value":["x","x"]},{"field":"list","operator":"in","value":[]}]`,
		`{"logic":"or","conditions":[]}`, `{"logic":"or","conditions":[{"type":"later","x":"<&>"},{"type":"segment","operator":"not_in","segment_keys":["a"]},{"field":"city","operator":"between","value":1}]}`,
		`[{"field":"created_at","operator":"on","value":"0001-01-01T00:00:00+14:00"}]`, `[[[[`, `{"a":1e400}`, `"\ud800"`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		check := func(tree rule.Tree, err error, of *fault.Error) {
			if err != nil {
				if list, _ := problems(t, err, of); len(list) == 0 {
					t.Errorf("%q is refused without a reason", raw)
				}
				return
			}
			text := encoded(tree)
			if again, err := rule.Decode([]byte(text), whole()); err != nil || encoded(again) != text {
				t.Errorf("%q is stored as %s and read back as %s, %v", raw, text, encoded(again), err)
			}
			if len(tree.Warnings(whole())) > 0 {
				t.Errorf("%q is accepted with warnings %v", raw, tree.Warnings(whole()))
			}
			tree.Match(rule.Env{Now: noon, Schema: whole()}, rule.Subject{Contact: contact.Contact{ID: id.New[id.Contact]()}})
		}
		tree, err := rule.ParseDefinition(raw, whole())
		check(tree, err, rule.ErrInvalidDefinition)
		if err == nil {
			if again, err := rule.ParseDefinition([]byte(encoded(tree)), whole()); err != nil || !cmp.Equal(again, tree) {
				t.Errorf("%q: its encoding is no definition: %v", raw, err)
			}
		}
		tree, err = rule.ParseFilters(raw, whole())
		check(tree, err, contact.ErrInvalidFilters)
		bare := rule.Schema{Segments: func(string) (rule.SegmentRule, bool) { return rule.SegmentRule{}, false }}
		if stored, err := rule.Decode(raw, bare); err == nil { // none of its references exists
			text := encoded(stored)
			if again, err := rule.Decode([]byte(text), bare); err != nil || encoded(again) != text {
				t.Errorf("%q is decoded as %s, and that as %s, %v", raw, text, encoded(again), err)
			}
			stored.Warnings(bare)
			stored.Match(rule.Env{Now: noon, Schema: bare}, rule.Subject{})
		}
	})
}
