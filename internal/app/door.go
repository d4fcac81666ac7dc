package app

import (
	"github.com/packetboat/packetboat/internal/auth"
	"github.com/packetboat/packetboat/internal/ratelimit"
)

// login is where people sign in.
func (s *Server) login(limits *ratelimit.Limiter) *auth.Login {
	d := &auth.Login{
		DB: s.Store.DB, Passwords: auth.NewPasswords(), Limits: limits, SignupEnabled: s.Config.SignupEnabled,
		Setups: TenantSetup(), BaseURL: s.Config.BaseURL, Log: s.Log.With("part", "door"),
	}
	if s.Config.SystemRelay != nil {
		d.Mail = s.Config.SystemRelay.Mail
	}
	return d
}
