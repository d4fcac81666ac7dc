package rule

import (
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/calendar"
	"github.com/packetboat/packetboat/internal/base/clip"
	"github.com/packetboat/packetboat/internal/mail/mx"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/field"
)

// target is a field of contacts: its kind, and where its value is stored.
type target struct {
	kind  kind
	place fieldPlace
	name  string // of the column, or the key in the JSON object

	nullable bool // the column may be NULL
	whole    bool // an integer column
	lower    bool // text stored in lower case ASCII

	// vocabulary returns the canonical form of a word of a closed set, or ok false; expected
	// describes the set. Nil: any text.
	vocabulary func(word string) (canonical string, ok bool)
	expected   string

	// value returns a string, a *string, an int64, a float64, a bool, a
	// time.Time, a *time.Time, or a []string.
	value func(s *Subject) any
}

// fieldPlace is where a value is stored.
type fieldPlace int

const (
	ofContact  fieldPlace = iota // a column of contact c
	ofActivity                   // a column of contact_activity a
	ofCustom                     // a key of c.custom_fields
	ofTouch                      // a key of a.touch
	ofDomain                     // a column of mail_domain, by c.email_domain
	elsewhere                    // a leaf of its own has the value
)

// The prefixes of fields declared by tenants.
const (
	customPrefix   = "custom_fields."
	typePrefix     = "subscriptions."
	categoryPrefix = "category_subscriptions."
)

// The codes of warnings about missing records.
const (
	codeField     = "UNKNOWN_FIELD"
	codeType      = "INVALID_EMAIL_TYPE"
	codeCategory  = "INVALID_CATEGORY"
	codeStage     = "INVALID_STAGE"
	codeSegment   = "INVALID_SEGMENT"
	codeBroadcast = "INVALID_BROADCAST"
	unknownColumn = "there is no such field"
)

// field returns the field with a name; if there is none, a message and a code.
func (s Schema) field(name string) (t target, problem, code string) {
	if t, ok := columns[name]; ok {
		return t, "", ""
	}
	if key, ok := strings.CutPrefix(name, customPrefix); ok {
		f, ok := s.Fields[key]
		if !ok {
			return target{}, "there is no custom field " + clip.Ellipsis(key, maxQuoted), codeField
		}
		return custom(f), "", ""
	}
	if key, ok := strings.CutPrefix(name, typePrefix); ok {
		if _, ok := s.emailType(key); !ok {
			return target{kind: consentKind, place: elsewhere}, "there is no email type " + clip.Ellipsis(key, maxQuoted), codeType
		}
		return target{kind: consentKind, place: elsewhere}, "", ""
	}
	if key, ok := strings.CutPrefix(name, categoryPrefix); ok {
		if !s.categoryNamed(key) {
			return target{kind: consentKind, place: elsewhere}, "there is no category " + clip.Ellipsis(key, maxQuoted), codeCategory
		}
		return target{kind: consentKind, place: elsewhere}, "", ""
	}
	return target{}, unknownColumn, codeField
}

// kinds maps the types of custom fields to kinds.
var kinds = map[field.Type]kind{
	field.String: textKind, field.Email: textKind, field.URL: textKind,
	field.Number: numberKind, field.Currency: numberKind, field.Boolean: booleanKind,
	field.Date: dateKind, field.DateTime: momentKind, field.Time: clockKind, field.Tags: tagsKind,
	field.Enum: choiceKind, field.TimeZone: choiceKind, field.Country: choiceKind, field.Contact: referenceKind,
}

func custom(f field.Field) target {
	t := target{kind: kinds[f.Type], place: ofCustom, name: f.Key, nullable: true}
	switch f.Type {
	case field.Email:
		t.lower = true
	case field.Country:
		t.vocabulary, t.expected = field.CountryCode, aCountry
	case field.TimeZone:
		t.vocabulary, t.expected = calendar.ZoneName, aTimeZone
	}
	t.value = func(s *Subject) any { return s.Contact.CustomFields[f.Key] }
	if f.Type == field.DateTime {
		t.value = func(s *Subject) any {
			text, _ := s.Contact.CustomFields[f.Key].(string)
			at, err := time.Parse(time.RFC3339, text)
			if err != nil {
				return nil
			}
			return at
		}
	}
	return t
}

const (
	aCountry  = "a country code of two letters (ISO 3166-1)"
	aTimeZone = "the IANA name of a time zone"
)

// words returns a vocabulary of the given words.
func words[T ~string](list ...T) (func(string) (string, bool), string) {
	return func(s string) (string, bool) {
		s = strings.ToLower(s)
		for _, w := range list {
			if string(w) == s {
				return s, true
			}
		}
		return s, false
	}, "one of " + join(list)
}

// columns are the built-in fields.
var columns = func() map[string]target {
	all := map[string]target{}
	add := func(name string, t target, value func(s *Subject) any) {
		t.name, t.value = name, value
		all[name] = t
	}
	person := func(name string, t target, value func(c *contact.Contact) any) {
		add(name, t, func(s *Subject) any { return value(&s.Contact) })
	}
	text := target{kind: textKind, nullable: true}
	plain := target{kind: textKind, lower: true}
	moment, known := target{kind: momentKind, nullable: true}, target{kind: momentKind}
	choice := func(vocabulary func(string) (string, bool), expected string) target {
		return target{kind: choiceKind, nullable: true, vocabulary: vocabulary, expected: expected}
	}
	active := func(t target) target { t.place = ofActivity; return t }

	person("id", target{kind: referenceKind}, func(c *contact.Contact) any { return c.ID.String() })
	person("tenant_id", target{kind: referenceKind}, func(c *contact.Contact) any { return c.Tenant.String() })
	person("email", plain, func(c *contact.Contact) any { return c.Email })
	person("email_domain", plain, func(c *contact.Contact) any { return c.EmailDomain })
	person("external_id", text, func(c *contact.Contact) any { return c.ExternalID })
	person("first_name", text, func(c *contact.Contact) any { return c.FirstName })
	person("last_name", text, func(c *contact.Contact) any { return c.LastName })
	person("full_name", text, func(c *contact.Contact) any { return c.FullName })
	person("title", text, func(c *contact.Contact) any { return c.Title })
	person("company", text, func(c *contact.Contact) any { return c.Company })
	person("phone", text, func(c *contact.Contact) any { return c.Phone })
	person("website", text, func(c *contact.Contact) any { return c.Website })
	person("address_line1", text, func(c *contact.Contact) any { return c.AddressLine1 })
	person("address_line2", text, func(c *contact.Contact) any { return c.AddressLine2 })
	person("city", text, func(c *contact.Contact) any { return c.City })
	person("state", text, func(c *contact.Contact) any { return c.State })
	person("postal_code", text, func(c *contact.Contact) any { return c.PostalCode })
	person("country", choice(field.CountryCode, aCountry), func(c *contact.Contact) any { return c.Country })
	person("timezone", choice(calendar.ZoneName, aTimeZone), func(c *contact.Contact) any { return c.Timezone })
	person("source", text, func(c *contact.Contact) any { return c.Source })
	person("tags", target{kind: tagsKind}, func(c *contact.Contact) any { return c.Tags })

	statuses, expected := words(contact.Statuses()...)
	person("global_status", target{kind: choiceKind, vocabulary: statuses, expected: expected}, func(c *contact.Contact) any { return string(c.Status) })
	person("status_before_suppress", choice(statuses, expected), func(c *contact.Contact) any { return string(c.StatusBeforeSuppress) })
	person("do_not_contact", target{kind: booleanKind}, func(c *contact.Contact) any { return c.DoNotContact })
	person("prospect_score", target{kind: numberKind}, func(c *contact.Contact) any { return c.ProspectScore })
	person("customer_score", target{kind: numberKind}, func(c *contact.Contact) any { return c.CustomerScore })
	person("score_updated_at", moment, func(c *contact.Contact) any { return c.ScoreUpdatedAt })
	person("created_at", known, func(c *contact.Contact) any { return c.CreatedAt })
	person("updated_at", known, func(c *contact.Contact) any { return c.UpdatedAt })
	person("anonymized_at", moment, func(c *contact.Contact) any { return c.AnonymizedAt })
	person("suppressed_at", moment, func(c *contact.Contact) any { return c.SuppressedAt })
	person("unsubscribed_at", moment, func(c *contact.Contact) any { return c.UnsubscribedAt })

	person("last_activity_at", active(moment), func(c *contact.Contact) any { return c.LastActivityAt })
	person("last_activity_pending", active(target{kind: booleanKind}), func(c *contact.Contact) any { return c.LastActivityPending })
	person("last_email_sent_at", active(moment), func(c *contact.Contact) any { return c.LastEmailSentAt })
	person("last_email_opened_at", active(moment), func(c *contact.Contact) any { return c.LastEmailOpenedAt })
	person("last_email_clicked_at", active(moment), func(c *contact.Contact) any { return c.LastEmailClickedAt })
	person("last_page_viewed_at", active(moment), func(c *contact.Contact) any { return c.LastPageViewedAt })
	counter := active(target{kind: numberKind, whole: true})
	person("total_emails_sent", counter, func(c *contact.Contact) any { return c.TotalEmailsSent })
	person("total_emails_opened", counter, func(c *contact.Contact) any { return c.TotalEmailsOpened })
	person("total_emails_clicked", counter, func(c *contact.Contact) any { return c.TotalEmailsClicked })
	person("bounce_type", active(choice(words(contact.BounceHard, contact.BounceSoft))), func(c *contact.Contact) any { return c.BounceType })
	health := active(choice(words(contact.Healthy, contact.Watch, contact.AtRisk, contact.Blocked)))
	health.nullable = false
	person("deliverability_status", health, func(c *contact.Contact) any { return string(c.DeliverabilityStatus) })
	person("deliverability_reason", active(text), func(c *contact.Contact) any { return c.DeliverabilityReason })
	person("deliverability_updated_at", active(known), func(c *contact.Contact) any { return c.DeliverabilityUpdatedAt })

	touch := func(name string, t target, value func(t contact.Touches) any) {
		t.place = ofTouch
		add(name, t, func(s *Subject) any {
			touches, err := s.Contact.Touches()
			if err != nil { // not written by this program: treat as unknown
				return nil
			}
			return value(touches)
		})
	}
	touch("first_touch_at", moment, func(t contact.Touches) any { return t.FirstAt })
	touch("first_touch_campaign", text, func(t contact.Touches) any { return t.FirstCampaign })
	touch("first_touch_country", choice(field.CountryCode, aCountry), func(t contact.Touches) any { return t.FirstCountry })
	touch("first_touch_landing_url", text, func(t contact.Touches) any { return t.FirstLandingURL })
	touch("first_touch_medium", text, func(t contact.Touches) any { return t.FirstMedium })
	touch("first_touch_referrer", text, func(t contact.Touches) any { return t.FirstReferrer })
	touch("first_touch_source", text, func(t contact.Touches) any { return t.FirstSource })
	touch("first_touch_timezone", choice(calendar.ZoneName, aTimeZone), func(t contact.Touches) any { return t.FirstTimezone })
	touch("last_touch_at", moment, func(t contact.Touches) any { return t.LastAt })
	touch("last_touch_campaign", text, func(t contact.Touches) any { return t.LastCampaign })
	touch("last_touch_medium", text, func(t contact.Touches) any { return t.LastMedium })
	touch("last_touch_source", text, func(t contact.Touches) any { return t.LastSource })

	add("mx_record", target{kind: textKind, place: ofDomain, nullable: true}, func(s *Subject) any { return s.MXRecord })
	provider := choice(words(mx.Providers()...))
	provider.place = ofDomain
	add("smtp_provider", provider, func(s *Subject) any { return s.SMTPProvider })

	add("stage", target{kind: choiceKind, place: elsewhere}, nil)
	add("stage_id", target{kind: choiceKind, place: elsewhere}, nil)
	add("list", target{kind: listKind, place: elsewhere}, nil)
	return all
}()
