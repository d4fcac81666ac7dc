package contact

import "slices"

// columnNames are what there is to show of a contact, by the names that callers
// know (spec 2.4), in the order in which a person would look for them. Values
// of custom fields and subscriptions have names of their own below these.
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

// ColumnNames returns the names of everything that is shown of a contact.
func ColumnNames() []string { return slices.Clone(columnNames) }
