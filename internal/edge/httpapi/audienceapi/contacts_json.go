package audienceapi

import (
	"strconv"

	"github.com/packetboat/packetboat/internal/edge/endpoint"
)

// AppendJSON appends the row as encoding/json encodes it, but faster. A test compares the two.
func (c *Contact) AppendJSON(b []byte) ([]byte, error) {
	text := func(name string, v *string) {
		b = endpoint.AppendText(append(b, name...), v)
	}
	stamp := func(name string, v *endpoint.Stamp) {
		b = endpoint.AppendStamp(append(b, name...), v)
	}
	count := func(name string, v int64) {
		b = strconv.AppendInt(append(b, name...), v, 10)
	}
	b = endpoint.AppendID(append(b, `{"id":`...), c.ID)
	b = endpoint.AppendID(append(b, `,"tenant_id":`...), c.TenantID)
	text(`,"email":`, &c.Email)
	text(`,"external_id":`, c.ExternalID)
	text(`,"first_name":`, c.FirstName)
	text(`,"last_name":`, c.LastName)
	text(`,"full_name":`, c.FullName)
	text(`,"title":`, c.Title)
	text(`,"company":`, c.Company)
	text(`,"phone":`, c.Phone)
	text(`,"website":`, c.Website)
	text(`,"timezone":`, c.Timezone)
	text(`,"address_line1":`, c.AddressLine1)
	text(`,"address_line2":`, c.AddressLine2)
	text(`,"city":`, c.City)
	text(`,"state":`, c.State)
	text(`,"postal_code":`, c.PostalCode)
	text(`,"country":`, c.Country)
	text(`,"source":`, c.Source)
	b = endpoint.AppendID(append(b, `,"stage_id":`...), derefOrZero(c.StageID))
	var err error
	if b, err = c.appendData(b); err != nil {
		return b, err
	}
	b = endpoint.AppendText(append(b, `,"global_status":`...), &c.GlobalStatus)
	b = endpoint.AppendText(append(b, `,"status_before_suppress":`...), c.StatusBeforeSuppress)
	b = strconv.AppendBool(append(b, `,"do_not_contact":`...), c.DoNotContact)
	text(`,"bounce_type":`, c.BounceType)
	b = endpoint.AppendText(append(b, `,"deliverability_status":`...), &c.DeliverabilityStatus)
	text(`,"deliverability_reason":`, c.DeliverabilityReason)
	stamp(`,"deliverability_updated_at":`, &c.DeliverabilityUpdatedAt)
	stamp(`,"created_at":`, &c.CreatedAt)
	stamp(`,"updated_at":`, &c.UpdatedAt)
	stamp(`,"anonymized_at":`, c.AnonymizedAt)
	stamp(`,"suppressed_at":`, c.SuppressedAt)
	stamp(`,"unsubscribed_at":`, c.UnsubscribedAt)
	stamp(`,"member_added_at":`, c.MemberAddedAt)
	stamp(`,"score_updated_at":`, c.ScoreUpdatedAt)
	stamp(`,"last_activity_at":`, c.LastActivityAt)
	if c.LastActivityPending != nil {
		b = strconv.AppendBool(append(b, `,"last_activity_pending":`...), *c.LastActivityPending)
	}
	stamp(`,"last_email_sent_at":`, c.LastEmailSentAt)
	stamp(`,"last_email_opened_at":`, c.LastEmailOpenedAt)
	stamp(`,"last_email_clicked_at":`, c.LastEmailClickedAt)
	stamp(`,"last_page_viewed_at":`, c.LastPageViewedAt)
	count(`,"total_emails_sent":`, c.TotalEmailsSent)
	count(`,"total_emails_opened":`, c.TotalEmailsOpened)
	count(`,"total_emails_clicked":`, c.TotalEmailsClicked)
	if b, err = endpoint.AppendNumber(append(b, `,"prospect_score":`...), c.ProspectScore); err != nil {
		return b, err
	}
	if b, err = endpoint.AppendNumber(append(b, `,"customer_score":`...), c.CustomerScore); err != nil {
		return b, err
	}
	stamp(`,"first_touch_at":`, c.FirstTouchAt)
	text(`,"first_touch_campaign":`, c.FirstTouchCampaign)
	text(`,"first_touch_country":`, c.FirstTouchCountry)
	text(`,"first_touch_landing_url":`, c.FirstTouchLandingURL)
	text(`,"first_touch_medium":`, c.FirstTouchMedium)
	text(`,"first_touch_referrer":`, c.FirstTouchReferrer)
	text(`,"first_touch_source":`, c.FirstTouchSource)
	text(`,"first_touch_timezone":`, c.FirstTouchTimezone)
	stamp(`,"last_touch_at":`, c.LastTouchAt)
	text(`,"last_touch_campaign":`, c.LastTouchCampaign)
	text(`,"last_touch_medium":`, c.LastTouchMedium)
	text(`,"last_touch_source":`, c.LastTouchSource)
	text(`,"email_domain":`, &c.EmailDomain)
	text(`,"mx_record":`, c.MXRecord)
	text(`,"smtp_provider":`, c.SMTPProvider)
	return append(b, '}'), nil
}

// appendData appends the objects and arrays, most of which are empty.
func (c *Contact) appendData(b []byte) ([]byte, error) {
	b = append(b, `,"custom_fields":`...)
	var err error
	if len(c.CustomFields) == 0 && c.CustomFields != nil {
		b = append(b, "{}"...)
	} else if b, err = endpoint.AppendValue(b, c.CustomFields); err != nil {
		return b, err
	}
	b = append(b, `,"tags":`...)
	if c.Tags == nil {
		b = append(b, "null"...)
	} else {
		b = append(b, '[')
		for i, t := range c.Tags {
			if i > 0 {
				b = append(b, ',')
			}
			b = endpoint.AppendString(b, t)
		}
		b = append(b, ']')
	}
	for _, m := range []struct {
		name  string
		value any
		none  bool
	}{
		{`,"subscriptions":`, c.Subscriptions, c.Subscriptions != nil && len(c.Subscriptions) == 0},
		{`,"category_subscriptions":`, c.CategorySubscriptions, c.CategorySubscriptions != nil && len(c.CategorySubscriptions) == 0},
	} {
		b = append(b, m.name...)
		if m.none {
			b = append(b, "{}"...)
		} else if b, err = endpoint.AppendValue(b, m.value); err != nil {
			return b, err
		}
	}
	return b, nil
}

// derefOrZero returns *v, or the zero value for nil.
func derefOrZero[T any](v *T) (zero T) {
	if v == nil {
		return zero
	}
	return *v
}
