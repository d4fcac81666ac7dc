package demo

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
)

// newsletterBinding fills the template newsletter.
//
//go:embed newsletter.json
var newsletterBinding []byte

// page is the design of the demo's mails.
//
//go:embed letter.html
var page string

// The sender of the history's mails, and the type of those about single titles.
const (
	shopAddress = "shop@" + domain
	offersType  = "offers"
)

// link is a link of a mail.
type link struct{ path, label string }

// Links of mails.
var (
	shelf     = []link{{"/books/first", "The three books"}, {"/readings", "Readings on Thursdays"}, {"/shop", "Where the shop is"}}
	season    = []link{{"/books/season", "See the catalogue"}, {"/books/maps", "An atlas of small harbours"}, {"/books/kitchen", "Herring, forty ways"}, {"/readings", "Readings on Thursdays"}}
	reading   = []link{{"/club/next", "Read with us"}, {"/club/past", "What we read before"}, {"/readings", "Readings on Thursdays"}}
	office    = []link{{"/office-shelf", "How the shelf works"}, {"/office-shelf/prices", "Prices"}, {"/contact", "Ask us"}}
	lastOnes  = []link{{"/books/last-copies", "The last copies"}, {"/shop", "Where the shop is"}}
	newYear   = []link{{"/readings/january", "The dates of January"}, {"/contact", "Keep a chair for me"}}
	fromLinks = "https://www.example.com"
)

// letter returns the HTML of a mail.
func letter(title string, paragraphs []string, links []link) string {
	var text, list strings.Builder
	for _, p := range paragraphs {
		fmt.Fprintf(&text, "      <p style=\"margin:0 0 16px;\">%s</p>\n", p)
	}
	for _, l := range links {
		fmt.Fprintf(&list, "      <a href=\"%s%s\" class=\"link\" style=\"color:#12507b;\">%s</a><br>\n", fromLinks, l.path, l.label)
	}
	return strings.NewReplacer("%TITLE%", title, "%TEXT%", text.String(), "%LINKS%", list.String()).Replace(page)
}

// The names of the history's broadcasts.
const (
	firstLetter = "Letter from the quay, number 1"
	catalogue   = "Catalogue of the season"
	twoSubjects = "Reading club: which subject works"
	officeShelf = "A shelf for your office"
	lastCopies  = "Last copies of the year"
	january     = "Readings in the new year"
	bound       = "Letter from the quay, number 2"
	unready     = "Members' evening"
)

// sending returns the broadcasts, and what their readers did.
func sending() []act {
	at := func(days, hours float64) time.Duration {
		return time.Duration(days*24)*time.Hour + time.Duration(hours*float64(time.Hour))
	}
	content := func(subject, preheader, title string, text []string, links []link) object {
		return object{"subject": subject, "preheader": preheader, "body_html": letter(title, text, links)}
	}
	letters := object{"email_type_key": emailType, "include_segment_keys": []string{list}, "tags": []string{"letter"}, "content": content(
		"{{ contact.first_name | default: \"Hello\" }}, a letter from the quay", "The kettle is on, and three books about weather", "A letter from the quay",
		[]string{"The shop has a second room now, with a window to the water. We filled it with books in which the weather has the leading part.", "Come and see it{% if contact.city %}, it is not so far from {{ contact.city }}{% endif %}."}, shelf)}
	catalogues := object{"email_type_key": offersType, "include_segment_keys": []string{list, shopList}, "tags": []string{"catalogue"}, "content": content(
		"The catalogue of the season is here", "Forty titles, two atlases and a cookbook", "The catalogue of the season",
		[]string{"Forty titles, two atlases, and the cookbook that everybody asked for. What you order until Sunday is with you before the holidays."}, season)}
	clubs := object{"email_type_key": emailType, "include_segment_keys": []string{list, "bought_lately"}, "tags": []string{"reading-club", "test"}, "content": content(
		"What we read next", "A vote, and a chair by the stove", "What we read next", []string{"Two books are on the table, and the club votes on Thursday. Read the first chapters with us."}, reading),
		"variants": []object{
			{"id": "plain", "name": "Plain", "weight": 1, "content_overrides": object{"subject": "What we read next"}},
			{"id": "named", "name": "With the name", "weight": 1, "content_overrides": object{"subject": "{{ contact.first_name | default: \"Reader\" }}, which book is next?"}},
		}}
	offices := object{"email_type_key": offersType, "include_segment_keys": []string{shopList}, "exclude_segment_keys": []string{list}, "tags": []string{"office"},
		"delivery_mode": "over_days", "delivery_window_days": 6, "content": content(
			"A shelf for {{ contact.company | default: \"your office\" }}", "Thirty books that change every month", "A shelf for {{ contact.company | default: \"your office\" }}",
			[]string{"Thirty books that change every month, and nobody has to carry them."}, office)}
	copies := object{"email_type_key": offersType, "include_segment_keys": []string{"bought_lately"}, "tags": []string{"catalogue"}, "delivery_mode": "over_days", "delivery_window_days": 3, "content": content(
		"The last copies of the year", "When they are gone, they are gone", "The last copies of the year", []string{"Eleven titles of which a handful is left, at the price of last year."}, lastOnes)}
	readings := object{"email_type_key": emailType, "include_segment_keys": []string{list}, "tags": []string{"readings"}, "content": content(
		"Readings in the new year", "Five Thursdays in January", "Readings in the new year", []string{"Five Thursdays, five readers, one stove. The chairs are free, but there are only thirty of them."}, newYear)}
	return []act{
		{at(-39, 9), "draft " + firstLetter, draftAct(firstLetter, letters), false},
		{at(-38, 8), "send " + firstLetter, sendAct(firstLetter), false},
		{at(-38, 8.5), "readers of " + firstLetter, readAct(firstLetter, 1), true},
		{at(-33, 8), "leavers of " + firstLetter, leaveAct(firstLetter, 1, 0), false},
		{at(-13, 9), "draft " + catalogue, draftAct(catalogue, catalogues), false},
		{at(-12, 8), "send " + catalogue, sendAct(catalogue), false},
		{at(-12, 8.1), "retries of " + catalogue, nothing, false},
		{at(-12, 8.5), "readers of " + catalogue, readAct(catalogue, 0.9), true},
		{at(-12, 11), "retries of " + catalogue, nothing, false},
		{at(-12, 20), "leavers of " + catalogue, leaveAct(catalogue, 7, 2), false},
		{at(-6, 9), "draft " + twoSubjects, draftAct(twoSubjects, clubs), false},
		{at(-5, 7), "send " + twoSubjects, sendAct(twoSubjects), false},
		{at(-5, 7.5), "readers of " + twoSubjects, readAct(twoSubjects, 1.1), true},
		{at(-4, 18), "leavers of " + twoSubjects, leaveAct(twoSubjects, 2, 0), false},
		{at(-3, 9), "draft " + officeShelf, draftAct(officeShelf, offices), false},
		{at(-2, 7), "send " + officeShelf, sendAct(officeShelf), false},
		{at(-2, 18), "readers of " + officeShelf, readAct(officeShelf, 0.8), true},
		{at(-1, 7), "second day of " + officeShelf, nothing, false},
		{at(-2, 17), "draft " + lastCopies, draftAct(lastCopies, copies), false},
		{at(-1, 8), "send " + lastCopies, sendAct(lastCopies), false},
		{at(-1, 13), "half a day of " + lastCopies, nothing, false},
		{at(-1, 14), "draft " + january, draftAct(january, readings), false},
		{at(-1, 14.2), "schedule " + january, sendLaterAct(january, 4*day+9*time.Hour), false},
		{at(-1, 15), "draft " + bound, (*History).boundDraft, false},
		{at(-1, 16), "draft " + unready, (*History).unreadyDraft, false},
		{at(-1, 17), "pause " + lastCopies, pauseAct(lastCopies), false},
		{at(-1, 17.5), "readers of " + lastCopies, readAct(lastCopies, 1), true},
		{at(-1, 18), "readers of " + officeShelf, readAct(officeShelf, 0.8), true},
	}
}

func nothing(*History, context.Context) error { return nil }

// draftAct returns the act that writes a broadcast.
func draftAct(name string, fields object) func(*History, context.Context) error {
	return func(h *History, ctx context.Context) error {
		lane, err := h.find(ctx, "/mta-configs", "name", relay)
		if err != nil {
			return err
		}
		body := object{"name": name, "mta_config_id": lane.text("id")}
		maps.Copy(body, fields)
		_, err = h.ensure(ctx, "/broadcasts", "name", body)
		return err
	}
}

// sendAct returns the act that sends a broadcast at once.
func sendAct(name string) func(*History, context.Context) error { return sendLaterAct(name, 0) }

// sendLaterAct returns the act that schedules a broadcast to a time after the end of the history; 0 is now.
func sendLaterAct(name string, after time.Duration) func(*History, context.Context) error {
	return func(h *History, ctx context.Context) error {
		b, err := h.broadcast(ctx, name)
		if err != nil || b.Status != broadcast.Draft {
			return err
		}
		at := h.Clock.Now()
		if after > 0 {
			at = h.end().Add(after)
		}
		path := "/broadcasts/" + b.ID.String()
		if _, err := h.call(ctx, http.MethodPut, path, object{"scheduled_at": at}); err != nil {
			return err
		}
		if _, err := h.call(ctx, http.MethodPost, path+"/schedule", nil); err != nil {
			return err
		}
		return h.Settle(ctx)
	}
}

// pauseAct returns the act that pauses a broadcast.
func pauseAct(name string) func(*History, context.Context) error {
	return func(h *History, ctx context.Context) error {
		b, err := h.broadcast(ctx, name)
		if err != nil || b.Status != broadcast.Sending {
			return err
		}
		_, err = h.call(ctx, http.MethodPost, "/broadcasts/"+b.ID.String()+"/pause", nil)
		return err
	}
}

// broadcast returns the broadcast of the history with a name.
func (h *History) broadcast(ctx context.Context, name string) (broadcast.Broadcast, error) {
	found, err := h.find(ctx, "/broadcasts", "name", name)
	if err != nil {
		return broadcast.Broadcast{}, err
	}
	bid, ok := id.Parse[id.Broadcast](found.text("id"))
	if !ok {
		return broadcast.Broadcast{}, errors.New("there is no broadcast " + name)
	}
	return broadcast.Load(ctx, h.DB, h.Tenant, bid)
}

// boundDraft writes a draft from a template with values, sections and blocks, if the program has the
// templates.
func (h *History) boundDraft(ctx context.Context) error {
	t, err := h.find(ctx, "/templates", "slug", emailType)
	if t == nil || err != nil {
		return err
	}
	return draftAct(bound, object{"email_type_key": emailType, "include_segment_keys": []string{list}, "exclude_segment_keys": []string{"looked_did_not_buy"}, "tags": []string{"letter"},
		"content": object{"template_slug": emailType, "template_binding": json.RawMessage(newsletterBinding)}})(h, ctx)
}

// unreadyDraft writes a draft with what is missing before it can be sent.
func (h *History) unreadyDraft(ctx context.Context) error {
	return draftAct(unready, object{"email_type_key": "orders", "tags": []string{"members"}, "content": object{
		"subject": "An evening for members", "body_html": letter("An evening for members", []string{"Soup at seven, a reading at eight. Tell us whether you come: {{ contact.custom_fields.seat_number }}."}, []link{{"/members", "I come"}}),
	}})(h, ctx)
}

// failures returns the addresses to which the relay refuses mail, with what a server would answer.
func failures() []object {
	var list []object
	for n, p := range contacts(time.Time{}) {
		for _, f := range []struct {
			every, at int
			says      string
		}{
			{83, 11, "550 5.1.1 recipient rejected: no such user here"},
			{167, 21, "550 5.1.10 the account was closed by its owner"},
			{131, 40, "552 5.2.2 mailbox full"},
			{197, 75, "550 5.7.1 message refused by the policy of this organisation"},
			{251, 180, "554 5.7.1 refused: looks like bulk mail"},
			{401, 90, "451 4.7.1 greylisted, try again later"},
		} {
			if n%f.every == f.at && len(list) < 50 {
				list = append(list, object{"pattern": p.email, "response": f.says})
				break
			}
		}
	}
	return list
}
