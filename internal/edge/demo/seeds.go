package demo

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// seeding returns what the owner did with the list of seeds: mailboxes of a vendor who looks at which mails
// get into the inbox.
func seeding() []act {
	return []act{
		{-70*day + 9*time.Hour, "seed list", func(h *History, ctx context.Context) error { return h.seedList(ctx, 0) }, false},
		{-40*day + 9*time.Hour, "first rotation of the seed list", func(h *History, ctx context.Context) error { return h.seedList(ctx, 1) }, false},
		{-14*day + 11*time.Hour, "second rotation of the seed list", func(h *History, ctx context.Context) error { return h.seedList(ctx, 2) }, false},
	}
}

// seedList creates the list, and updates its addresses for the nth time: the vendor replaces some each time.
func (h *History) seedList(ctx context.Context, n int) error {
	from, err := h.find(ctx, "/sending-identities", "email_address", "news@"+domain)
	if err != nil {
		return err
	}
	l, err := h.ensure(ctx, "/seed-lists", "name", object{
		"name": "Inbox placement", "vendor_label": "Placement vendor", "vendor_dashboard_url": "https://placement.example/dashboard",
		"include_by_default": true, "rotation_days": 30, "rotation_grace_days": 5, "sending_identity_ids": []string{from.text("id")},
	})
	if err != nil {
		return err
	}
	path := "/seed-lists/" + l.text("id")
	done, err := h.call(ctx, http.MethodGet, path+"/syncs", nil)
	if err != nil || len(done.rows()) > n {
		return err
	}
	var seeds []object
	for i := range 12 {
		seeds = append(seeds, object{
			"email":    fmt.Sprintf("seed-%02d@placement.example", 1+i+3*n),
			"provider": []string{"gmail", "outlook", "yahoo", "icloud"}[i%4],
		})
	}
	if n == 2 { // a colleague put a contact into the text
		seeds = append(seeds, object{"email": h.people[8].email})
	}
	_, err = h.call(ctx, http.MethodPut, path+"/seeds", object{"seeds": seeds})
	return err
}
