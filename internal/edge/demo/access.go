package demo

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// File is the file with the demo's credentials, of which the database has only hashes.
const File = "demo.json"

// Access is the demo's credentials.
type Access struct {
	Email    string `json:"email"`
	Password string `json:"password"`
	APIKey   string `json:"api_key"`
	// Reached is the time that the history has reached, at which an interrupted one goes on.
	Reached time.Time `json:"history_reached,omitzero"`
}

// loadAccess reads the file of an earlier run; the result is empty before the first.
func loadAccess(dir string) (Access, error) {
	var a Access
	b, err := os.ReadFile(filepath.Join(dir, File))
	if errors.Is(err, fs.ErrNotExist) {
		return a, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &a)
	}
	return a, err
}

// save writes the file, readable by its owner only.
func (a Access) save(dir string) error {
	b, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, File+".*") // with mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(append(b, '\n'))
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, File))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// LoginLink returns a link that signs the demo's owner in, once.
func LoginLink(ctx context.Context, db *sqldb.DB, base *url.URL, a Access, now time.Time) (string, error) {
	u, err := auth.UserByEmail(ctx, db, a.Email)
	if err != nil {
		return "", err
	}
	token, err := auth.LoginLinkToken(ctx, db, u.ID, now)
	return auth.LoginLink(base, token), err
}

// Text returns the instructions for the demo, with a link that signs its owner in.
func Text(base *url.URL, a Access, link string, now time.Time) string {
	api := base.JoinPath("t", Slug, "api").String()
	return strings.NewReplacer(
		"%BASE%", base.String(), "%API%", api, "%KEY%", a.APIKey, "%EMAIL%", a.Email, "%PASSWORD%", a.Password, "%LINK%", link,
		"%NOW%", now.UTC().Format(time.RFC3339), "%TYPE%", emailType, "%LIST%", list,
	).Replace(text)
}

const text = `
Packetboat is up: %BASE%

  open      %LINK%
            signs you in, once, within ten minutes

  app       %BASE%/app/       later: sign in with the login below
  mails     %BASE%/mailbox/   what the demo sends arrives here
  API       %API%
  its docs  %BASE%/docs
  templates %API%/templates   eight to begin with
  API key   %KEY%
  login     %EMAIL%  %PASSWORD%

At the first start, what happened in the weeks before appears within some seconds.

Send a broadcast. Paste these one after the other into another terminal:

B=$(curl -s %API%/broadcasts -H 'X-API-Key: %KEY%' -H 'Content-Type: application/json' -d '{"name": "First light", "email_type_key": "%TYPE%", "include_segment_keys": ["%LIST%"], "scheduled_at": "%NOW%", "content": {"subject": "Good morning {{ contact.first_name }}", "body_html": "<h1>Good morning {{ contact.first_name }}</h1><p>This is <a href=\"https://www.example.com/\">a link</a> that counts its clicks.</p>"}}' | grep -o '"id":"[^"]*"' | head -n 1 | cut -d '"' -f 4); echo "broadcast $B"

curl -s -X POST %API%/broadcasts/$B/schedule -H 'X-API-Key: %KEY%' | grep -o '"status":"[a-z]*"' | head -n 1

while R=$(curl -sS %API%/broadcasts/$B/report -H 'X-API-Key: %KEY%') && echo "$R" | grep -Eq '"status":"(scheduled|sending)"'; do sleep 1; done; echo "$R"

Then open a mail at %BASE%/mailbox/, follow its link, and read the report again ten seconds later.
Ctrl-C stops; the data stay.

`
