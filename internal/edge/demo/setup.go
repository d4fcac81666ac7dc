package demo

import (
	"context"
	"net/http"
	"time"
)

// object is a JSON object.
type object = map[string]any

// mailbox is the default MTA config.
const mailbox = "Mailbox"

// relay is the MTA config by which the demo's past mail left: a sink that refuses mail to addresses that a
// server would refuse.
const relay = "Relay (trial)"

// shopList is the list of those who bought in the shop; newsletter readers are on another.
const shopList = "shop_customers"

// settingUp returns what the owner set up in the first days.
func settingUp() []act {
	at := func(d int, hour float64) time.Duration {
		return time.Duration(d)*day + time.Duration(hour*float64(time.Hour))
	}
	return []act{
		{at(-74, 9), "types and senders", (*History).typesAndSenders, false},
		{at(-74, 9.5), "first mail", (*History).firstMail, false},
		{at(-74, 10), "stages and scoring", (*History).stagesAndScoring, false},
		{at(-74, 11), "lists and segments", (*History).lists, false},
		{at(-73, 9), "suppressions", (*History).suppressions, false},
		{at(-73, 10), "library", (*History).library, false},
	}
}

func (h *History) typesAndSenders(ctx context.Context) error {
	category, err := h.ensure(ctx, "/email-categories", "name", object{"name": "Marketing", "description": "What readers can do without", "sort_order": 1})
	if err != nil {
		return err
	}
	letters, err := h.find(ctx, "/email-types", "type_key", emailType)
	if err != nil {
		return err
	}
	if _, err := h.call(ctx, http.MethodPut, "/email-types/"+letters.text("id"), object{"description": "Twice a month, from the quay"}); err != nil {
		return err
	}
	offers, err := h.ensure(ctx, "/email-types", "display_name", object{
		"display_name": "Offers", "type_key": offersType, "description": "Sales and single titles", "category_id": category.text("id"), "list_id_enabled": true, "list_key": offersType,
	})
	if err != nil {
		return err
	}
	orders, err := h.ensure(ctx, "/email-types", "display_name", object{
		"display_name": "Your orders", "type_key": "orders", "description": "What was ordered and when it leaves the shop",
	})
	if err != nil {
		return err
	}
	lane, err := h.ensure(ctx, "/mta-configs", "name", object{"name": relay, "type": "sink", "settings": object{"fail_patterns": failures()}})
	if err != nil {
		return err
	}
	for _, s := range []object{
		{"email_address": shopAddress, "display_name": "Harbour Books", "email_type_ids": []string{offers.text("id")}, "utm_code": "shop"},
		{"email_address": "orders@" + domain, "display_name": "Harbour Books orders", "email_type_ids": []string{orders.text("id")}, "reply_to": "quay@" + domain},
	} {
		s["active"], s["default_mta_config_id"] = true, lane.text("id")
		if _, err := h.ensure(ctx, "/sending-identities", "email_address", s); err != nil {
			return err
		}
	}
	return nil
}

// firstMail confirms the newsletter's sender with a mail to the owner.
func (h *History) firstMail(ctx context.Context) error {
	from, err := h.find(ctx, "/sending-identities", "email_address", "news@"+domain)
	if err != nil {
		return err
	}
	lane, err := h.find(ctx, "/mta-configs", "name", mailbox)
	if err != nil {
		return err
	}
	_, err = h.call(ctx, http.MethodPost, "/sending-identities/"+from.text("id")+"/verify-lane", object{"mta_config_id": lane.text("id"), "to": h.Access.Email})
	return err
}

func (h *History) stagesAndScoring(ctx context.Context) error {
	for name, color := range colors {
		s, err := h.find(ctx, "/settings/stages", "name", name)
		if err != nil {
			return err
		}
		if s == nil || s.text("color") == color {
			continue
		}
		if _, err := h.call(ctx, http.MethodPut, "/settings/stages/"+s.text("id"), object{"color": color}); err != nil {
			return err
		}
	}
	_, err := h.call(ctx, http.MethodPut, "/settings/scoring", object{
		"enabled": true, "min": 0, "max": 200, "decay": object{"after_days": 60, "percent": 10},
		"rules": []object{
			{"id": "open", "trigger": "email_opened", "points": 1, "daily_cap": 3},
			{"id": "click", "trigger": "email_clicked", "points": 5, "daily_cap": 2},
			{"id": "page", "trigger": "page_viewed", "points": 1, "daily_cap": 10},
			{"id": "form", "trigger": "form_submitted", "points": 10},
			{"id": "order", "trigger": "event", "points": 15, "match": object{"type": "order_placed"}},
			{"id": "leaves", "trigger": "email_unsubscribed", "points": -20},
			{"id": "complains", "trigger": "email_complained", "points": -50},
		},
	})
	return err
}

// colors are the colours of stages.
var colors = map[string]string{"Lead": "#3b82c4", "Customer": "#2f8f5b", "Churned": "#b4583b", "Partner": "#7a5bb5"}

func (h *History) lists(ctx context.Context) error {
	window := func(days int) object { return object{"in_the_last": object{"amount": days, "unit": "day"}} }
	all := func(conditions ...object) object { return object{"logic": "and", "conditions": conditions} }
	some := func(conditions ...object) object { return object{"logic": "or", "conditions": conditions} }
	bought := object{"type": "event", "event_name": ordered, "operator": "did", "window": window(60)}
	for _, s := range []object{
		{"name": "Bought lately", "tags": []string{"shop"}, "definition": all(bought)},
		{"name": "Regular customers", "tags": []string{"shop"}, "definition": all(
			object{"type": "event", "event_name": ordered, "operator": "did", "count": object{"operator": "at_least", "value": 2}, "window": window(120)},
			object{"type": "field", "field": "stage", "operator": "is_set"},
		)},
		{"name": "Looked, did not buy", "tags": []string{"shop"}, "definition": all(
			object{"type": "page_view", "url": "https://www.example.com/books", "match": "starts_with", "operator": "did", "window": window(30)},
			object{"type": "event", "event_name": ordered, "operator": "did_not", "window": window(30)},
		)},
		{"name": "Readers who click", "tags": []string{"readers"}, "definition": all(
			object{"type": "list", "segment_keys": []string{list}, "operator": "in"},
			object{"type": "email", "event": "clicked", "operator": "did", "window": window(60)},
		)},
		{"name": "Warm audience", "tags": []string{"readers", "shop"}, "definition": some(
			object{"type": "segment", "segment_keys": []string{"bought_lately", "readers_who_click"}, "operator": "in"},
			object{"conditions": []object{
				{"type": "email", "event": "opened", "operator": "did", "count": object{"operator": "at_least", "value": 2}, "window": window(60)},
				{"field": "country", "operator": "in", "value": []string{"NL", "DE", "FR"}},
			}, "logic": "and"},
		)},
		{"name": "Readers near the shop", "tags": []string{"readers"}, "definition": all(
			object{"field": "country", "operator": "equals", "value": "NL"},
			object{"field": "city", "operator": "in", "value": []string{"Rotterdam", "Breda", "Utrecht"}},
		)},
	} {
		s["type"] = "dynamic"
		if _, err := h.ensure(ctx, "/segments", "name", s); err != nil {
			return err
		}
	}
	for _, f := range []object{
		{"name": "Large accounts", "filters": []object{{"field": "custom_fields.books_bought", "operator": "greater_than", "value": 15}}, "columns": []string{"email", "company", "custom_fields.books_bought", "stage_id"}, "sort": "created_at", "dir": "desc"},
		{"name": "Bounced or complained", "status": "bounced,complained", "columns": []string{"email", "global_status", "company", "updated_at"}},
		{"name": "Reading club abroad", "filters": []object{{"field": "tags", "operator": "has_any", "value": []string{"reading-club"}}, {"field": "country", "operator": "not_equals", "value": "NL"}}, "columns": []string{"email", "city", "country", "tags"}},
	} {
		if _, err := h.ensure(ctx, "/saved-filters", "name", f); err != nil {
			return err
		}
	}
	return nil
}

func (h *History) suppressions(ctx context.Context) error {
	for email, reason := range map[string]string{
		"former.tenant@example.net": "asked by phone not to be written to", "postmaster@example.org": "role address", "abuse@example.com": "role address",
		"jan.devries@example.net": "moved to another address", "no-reply@northlight-studio.example": "nobody reads it",
	} {
		if _, err := h.call(ctx, http.MethodPost, "/suppressions", object{"email": email, "reason": reason}); err != nil {
			return err
		}
	}
	return nil
}

func (h *History) library(ctx context.Context) error {
	for _, m := range []struct {
		name, subject string
		first, second []string
	}{
		{
			"Welcome aboard", "Welcome aboard, {{ contact.first_name | default: \"reader\" }}",
			[]string{"Thank you for joining. We write twice a month, never more."},
			[]string{"Thank you for joining. We write twice a month, never more.", "The kettle is on every Thursday from seven; bring a chair, or take one of ours."},
		},
		{"Three books to begin with", "Three books to begin with", []string{"A short one, a long one, and one for the train. We chose them for people who like {{ contact.custom_fields.favourite_genre | default: \"stories\" }}."}, nil},
		{"Confirm your address", "Please confirm your address", nil, nil},
	} {
		if m.first == nil {
			continue
		}
		made, err := h.ensure(ctx, "/messages", "name", object{"name": m.name, "status": "published", "tags": []string{"onboarding"}, "content": object{"subject": m.subject, "body_html": letter("Welcome", m.first, shelf)}})
		if err != nil {
			return err
		}
		if n, _ := made["current_version"].(float64); m.second == nil || n > 1 {
			continue
		}
		if _, err := h.call(ctx, http.MethodPatch, "/messages/"+made.text("id"), object{"content": object{"body_html": letter("Welcome aboard", m.second, shelf)}}); err != nil {
			return err
		}
	}
	return nil
}
