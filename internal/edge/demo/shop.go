package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"time"
)

// The names of the shop's events.
const (
	ordered  = "order_placed"
	reserved = "seat_reserved"
)

// book is a title of the shop.
type book struct {
	path, title string
	price       float64
}

var books = [...]book{
	{"/books/maps", "An atlas of small harbours", 48}, {"/books/kitchen", "Herring, forty ways", 27.5}, {"/books/first", "The lighthouse year", 19.9},
	{"/books/storms", "Five storms on paper", 22}, {"/books/night", "The night shift", 16.5}, {"/books/translator", "Letters to a translator", 24.9},
	{"/books/library", "The flooded library", 21}, {"/books/tides", "Tide tables for beginners", 14},
}

// shopping returns what customers did in the shop and on its website: the orders of each week, and in the
// last days of each day.
func shopping() []act {
	var acts []act
	last := -past
	for d := -69; d < 0; d++ {
		if d < -10 && (d+69)%7 != 0 {
			continue
		}
		from, at := last, time.Duration(d)*day+20*time.Hour
		last = at
		acts = append(acts,
			act{at, fmt.Sprintf("orders of day %d", d), func(h *History, ctx context.Context) error { return h.orders(ctx, from, at) }, false},
			act{at + time.Minute, fmt.Sprintf("visits of day %d", d), func(h *History, ctx context.Context) error { return h.visits(ctx, d) }, false},
		)
	}
	return acts
}

// customer returns a contact that was created before a time; some come again and again.
func (h *History) customer(random *rand.Rand, before time.Time) sample {
	joined := people * before.Sub(h.Began).Hours() / joining.Hours()
	share := random.Float64()
	n := int(share * share * share * (min(max(joined, 1), people) - 1))
	if _, ok := gone[n]; ok {
		n++
	}
	return h.people[n]
}

// orders records what was ordered between two times, four orders a day.
func (h *History) orders(ctx context.Context, from, to time.Duration) error {
	random := seeded("orders", to.String())
	var events []object
	for at := from; at < to; at += time.Duration(4+random.IntN(5)) * time.Hour {
		when := h.end().Add(at).Add(seconds(random.IntN(3000)))
		if when.Hour() < 6 || !when.Before(h.end().Add(to)) {
			continue
		}
		number := int(when.Sub(h.Began) / time.Minute)
		buyer := h.customer(random, when.Add(-day))
		if random.IntN(7) == 0 {
			events = append(events, object{
				"event_name": reserved, "type": "meeting_booked", "contact_email": buyer.email, "occurred_at": when, "idempotency_key": fmt.Sprint("seat-", number),
				"properties": object{"meeting_type": "reading", "starts_at": when.Truncate(day).Add(9*day + 18*time.Hour), "seats": 1 + random.IntN(2)},
			})
			continue
		}
		var items []object
		value := 0.0
		for range 1 + random.IntN(3) {
			b, n := books[random.IntN(len(books))], 1+random.IntN(2)
			items = append(items, object{"sku": b.path[len("/books/"):], "name": b.title, "price": b.price, "quantity": n})
			value += b.price * float64(n)
		}
		events = append(events, object{
			"event_name": ordered, "type": ordered, "contact_email": buyer.email, "occurred_at": when, "idempotency_key": fmt.Sprint("order-", number),
			"properties": object{"order_id": fmt.Sprint("HB-", number), "value": value, "currency": "EUR", "items": items},
		})
	}
	if len(events) == 0 {
		return nil
	}
	out, err := h.call(ctx, http.MethodPost, "/events/batch", object{"events": events})
	if err != nil {
		return err
	}
	results, _ := out["results"].([]any)
	for _, r := range results {
		if m, ok := r.(map[string]any); ok && m["error"] != nil {
			return fmt.Errorf("an order was refused: %v", m["error"])
		}
	}
	return nil
}

// visits lets some customers look at books, on the evening of a day.
func (h *History) visits(ctx context.Context, d int) error {
	account, err := h.call(ctx, http.MethodGet, "/settings/account", nil)
	if err != nil {
		return err
	}
	random := seeded("visits", fmt.Sprint(d))
	at := h.end().Add(time.Duration(d)*day + 20*time.Hour + 2*time.Minute)
	for range 3 + random.IntN(4) {
		p := h.customer(random, at.Add(-day))
		browser := programOf(p.email).click
		visit := func(kind string, fields object) error {
			at = at.Add(seconds(20 + random.IntN(100)))
			h.Clock.Forward(at)
			fields["site_key"], fields["visitor_id"] = account.text("site_key"), "browser-of-"+p.email
			return h.post(ctx, browser, p.email, "/_q/"+kind, fields)
		}
		if err := visit("identify", object{"email": p.email}); err != nil {
			return err
		}
		for range 1 + random.IntN(4) {
			b := books[random.IntN(len(books))]
			if err := visit("page", object{"url": fromLinks + b.path, "title": b.title + " · Harbour Books", "referrer": fromLinks + "/"}); err != nil {
				return err
			}
		}
	}
	return h.Settle(ctx)
}

// post makes a request of a website's page in a contact's browser.
func (h *History) post(ctx context.Context, c client, email, path string, body object) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+h.Host+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Origin", fromLinks)
	r.Header.Set("User-Agent", ofItsTime(c.agent, h.Clock.Now()))
	r.RemoteAddr = netip.AddrPortFrom(netip.MustParseAddr(c.address(email)), 50000).String()
	_, err = h.serve(r)
	return err
}
