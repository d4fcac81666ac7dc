package main

import (
	"context"
	"errors"
	"time"

	benchsite "github.com/packetboat/packetboat/bench/site"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/track"
)

// site is a running program with a send that is over, and the paths of its links.
type site struct {
	*benchsite.Site
	opens  []string
	clicks []string
}

func open(ctx context.Context, o options, dialect string) (*site, error) {
	running, err := benchsite.Open(ctx, benchsite.Options{
		Name: "hits", Program: o.program, Dialect: dialect, Postgres: o.postgres, Admin: o.admin, Contacts: o.messages,
		Env: []string{"PACKETBOAT_TRUSTED_PROXIES=127.0.0.1/32"}, // the addresses are in X-Forwarded-For
	})
	if err != nil {
		return nil, err
	}
	s := &site{Site: running}
	if err := s.sign(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// sign stores a send and signs the links of its mails.
func (s *site) sign(ctx context.Context) error {
	box, err := s.Box()
	if err != nil {
		return err
	}
	keys := track.NewKeys(box)
	return s.FinishedSend(ctx, func(tenant id.Tenant, m outbox.Message, _ time.Time) error {
		signer, err := keys.Signer(tenant, m.ID)
		if err != nil {
			return err
		}
		signer.SetOrigin(m.Content, m.Identity)
		s.opens = append(s.opens, "/_q/o/"+string(signer.Append(nil, track.OpenPixel, 0, ""))+".gif")
		s.clicks = append(s.clicks, "/_q/c/"+string(signer.Append(nil, track.ClickLink, 0, "")))
		return nil
	})
}

// pending returns how many hits are still to be judged, and kept how many there are.
func (s *site) pending(ctx context.Context) (n int, err error) {
	err = s.DB.QueryRow(ctx, `SELECT COUNT(*) FROM hit WHERE class = 'pending' /* all tenants: there is one */`).Scan(&n)
	return n, err
}

func (s *site) countRecorded(ctx context.Context) (n int, err error) {
	err = s.DB.QueryRow(ctx, `SELECT COUNT(*) FROM hit /* all tenants: there is one */`).Scan(&n)
	return n, err
}
