package httpapi_test

import (
	"log/slog"
	"net/url"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/sqldb"
)

func TestIncompleteConfigurationsAreRefused(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.DiscardHandler)
	api := newAPI(t, &sqldb.DB{}, &url.URL{Scheme: "https", Host: "mail.example.com"}, time.Now, log)
	api.Saver, api.Usage, api.Network, api.PersonalData = nil, nil, nil, nil
	defer func() {
		if got, want := recover(), "httpapi: API lacks Saver, Usage, Network, PersonalData"; got != want {
			t.Errorf("Register panicked with %v, want %q", got, want)
		}
	}()
	api.Register(endpoint.New(endpoint.Options{Now: time.Now, Log: log}))
}
