package contact

import "slices"

// Value returns a field by its name in the API, as templates print it: a text (*string for
// columns of the contact), number, boolean, time or list. A field without a value is known
// and nil.
func (c *Contact) Value(name string) (value any, known bool) {
	switch name {
	case "id":
		return c.ID.String(), true
	case "email":
		return &c.Email, true
	case "email_domain":
		return &c.EmailDomain, true
	case "external_id":
		return textOf(c.ExternalID), true
	case "first_name":
		return textOf(c.FirstName), true
	case "last_name":
		return textOf(c.LastName), true
	case "full_name":
		return textOf(c.FullName), true
	case "title":
		return textOf(c.Title), true
	case "company":
		return textOf(c.Company), true
	case "phone":
		return textOf(c.Phone), true
	case "website":
		return textOf(c.Website), true
	case "timezone":
		return textOf(c.Timezone), true
	case "address_line1":
		return textOf(c.AddressLine1), true
	case "address_line2":
		return textOf(c.AddressLine2), true
	case "city":
		return textOf(c.City), true
	case "state":
		return textOf(c.State), true
	case "postal_code":
		return textOf(c.PostalCode), true
	case "country":
		return textOf(c.Country), true
	case "source":
		return textOf(c.Source), true
	case "tags":
		list := make([]any, len(c.Tags))
		for i, t := range c.Tags {
			list[i] = t
		}
		return list, true
	case "global_status":
		return string(c.Status), true
	case "do_not_contact":
		return c.DoNotContact, true
	case "prospect_score":
		return c.ProspectScore, true
	case "customer_score":
		return c.CustomerScore, true
	case "created_at":
		return c.CreatedAt, true
	case "updated_at":
		return c.UpdatedAt, true
	}
	return c.Activity.value(name)
}

func textOf(s *string) any {
	if s == nil {
		return nil
	}
	return s
}

// columnNames are the fields of a contact by their names in the API, in the order of
// display. Custom fields and subscriptions are not listed one by one.
var columnNames = []string{
	"id", "tenant_id", "email", "external_id", "first_name", "last_name", "full_name", "title", "company", "phone", "website", "timezone",
	"address_line1", "address_line2", "city", "state", "postal_code", "country", "source", "stage_id",
	"custom_fields", "tags", "subscriptions", "category_subscriptions",
	"global_status", "status_before_suppress", "do_not_contact", "bounce_type",
	"deliverability_status", "deliverability_reason", "deliverability_updated_at",
	"created_at", "updated_at", "anonymized_at", "suppressed_at", "unsubscribed_at", "member_added_at", "score_updated_at",
	"last_activity_at", "last_activity_pending", "last_email_sent_at", "last_email_opened_at", "last_email_clicked_at", "last_page_viewed_at",
	"total_emails_sent", "total_emails_opened", "total_emails_clicked", "prospect_score", "customer_score",
	"first_touch_at", "first_touch_campaign", "first_touch_country", "first_touch_landing_url", "first_touch_medium",
	"first_touch_referrer", "first_touch_source", "first_touch_timezone",
	"last_touch_at", "last_touch_campaign", "last_touch_medium", "last_touch_source",
	"email_domain", "mx_record", "smtp_provider",
}

// ColumnNames returns the names of all fields of a contact in the API.
func ColumnNames() []string { return slices.Clone(columnNames) }
