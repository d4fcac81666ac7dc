package public

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/content/mailbox"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// count sets the numbers of mails, of each broadcast and of the one that is shown.
func (b *Mailbox) count(ctx context.Context, view *listView) error {
	groups, err := mailbox.Groups(ctx, b.DB, view.Tenant.Tenant)
	if err != nil {
		return err
	}
	var sends []id.Send
	for _, g := range groups {
		if !g.Send.IsZero() {
			sends = append(sends, g.Send)
		}
	}
	labels, err := b.Sends.Labels(ctx, b.DB, view.Tenant.Tenant, sends)
	if err != nil {
		return err
	}
	for _, g := range groups {
		named := mailGroup{Group: g, Source: labels[g.Send].Source.ID, Name: labels[g.Send].Name}
		switch {
		case g.Send.IsZero():
			named.Name = "Tests of MTA configs"
		case named.Name == "":
			named.Name = "A deleted broadcast"
		}
		named.Link = view.link("broadcast", named.Key())
		view.Groups = append(view.Groups, named)
		if view.Group == nil {
			view.Total, view.Unread = view.Total+g.Total, view.Unread+g.Unread
		} else if g.Send == view.Group.Send {
			view.Group, view.Total, view.Unread = &named, g.Total, g.Unread
		}
	}
	view.Until = b.Now().UnixMicro()
	return nil
}

// sendOf returns the send of a group's key; nil: all of them.
func (b *Mailbox) sendOf(ctx context.Context, tenant id.Tenant, key string) (*id.Send, error) {
	switch key {
	case "":
		return nil, nil
	case noBroadcast:
		return new(id.Send), nil
	}
	if source, ok := id.Parse[id.Source](key); ok {
		send, found, err := b.Sends.SendOf(ctx, b.DB, tenant, source)
		if found || err != nil {
			return &send, err
		}
	}
	send, ok := id.Parse[id.Send](key) // of a broadcast that was deleted
	if !ok {
		send = id.New[id.Send]() // without mail
	}
	return &send, nil
}

// change returns the tenant whose mail a form changes, or writes why that is not allowed.
func (b *Mailbox) change(w http.ResponseWriter, r *http.Request, least auth.Role) (auth.Membership, bool) {
	if !b.checkOrigin(w, r) {
		return auth.Membership{}, false
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		b.refuse(w, r, http.StatusBadRequest, "That did not work", "The form could not be read. Please try again.")
		return auth.Membership{}, false
	}
	v, ok := b.enter(w, r)
	if !ok {
		return auth.Membership{}, false
	}
	t, known := v.inTenant(r.PathValue("tenant"))
	switch {
	case !known:
		b.notFound(w, r)
	case !t.Role.AtLeast(least):
		b.refuse(w, r, http.StatusForbidden, "Not allowed", "Your role in this tenant does not allow that. It takes the role admin.")
	default:
		return t, true
	}
	return t, false
}

// markRead marks the mail of a broadcast, or all of it, as read.
func (b *Mailbox) markRead(w http.ResponseWriter, r *http.Request) {
	t, ok := b.change(w, r, auth.Viewer)
	if !ok {
		return
	}
	group := clean(r.PostForm.Get("broadcast"))
	send, err := b.sendOf(r.Context(), t.Tenant, group)
	if err != nil {
		b.fail(w, r, err)
		return
	}
	if err := mailbox.MarkAllRead(r.Context(), b.DB, t.Tenant, send, b.Now()); err != nil {
		b.fail(w, r, err)
		return
	}
	backToList(w, r, t, group)
}

// deleteMessages deletes the mail of a broadcast, or all of it.
func (b *Mailbox) deleteMessages(w http.ResponseWriter, r *http.Request) {
	t, ok := b.change(w, r, auth.Admin)
	if !ok {
		return
	}
	until, err := strconv.ParseInt(r.PostForm.Get("until"), 10, 64)
	if err != nil {
		b.refuse(w, r, http.StatusBadRequest, "That did not work", "The form could not be read. Please try again.")
		return
	}
	send, err := b.sendOf(r.Context(), t.Tenant, clean(r.PostForm.Get("broadcast")))
	if err != nil {
		b.fail(w, r, err)
		return
	}
	if err := mailbox.DeleteAll(r.Context(), b.DB, t.Tenant, send, sqldb.Time(until)); err != nil {
		b.fail(w, r, err)
		return
	}
	backToList(w, r, t, "")
}

// deleteMessage deletes one message.
func (b *Mailbox) deleteMessage(w http.ResponseWriter, r *http.Request) {
	t, ok := b.change(w, r, auth.Admin)
	if !ok {
		return
	}
	message, valid := id.Parse[id.SinkMessage](r.PathValue("message"))
	if !valid {
		b.notFound(w, r)
		return
	}
	if err := mailbox.Delete(r.Context(), b.DB, t.Tenant, message); errors.Is(err, mailbox.ErrNotFound) {
		b.notFound(w, r)
		return
	} else if err != nil {
		b.fail(w, r, err)
		return
	}
	backToList(w, r, t, "")
}

// backToList shows the list of a tenant's mail after a change.
func backToList(w http.ResponseWriter, r *http.Request, t auth.Membership, group string) {
	q := url.Values{"tenant": {t.Slug}}
	if group != "" {
		q.Set("broadcast", group)
	}
	http.Redirect(w, r, frameOf(r, "").Root+"?"+q.Encode(), http.StatusSeeOther)
}
