package lane

import (
	"reflect"
	"time"

	"github.com/packetboat/packetboat/internal/base/netguard"
	"github.com/packetboat/packetboat/internal/mail/ses"
)

// SameAccount reports whether mail is sent in the same way with both settings.
func (s SESSettings) SameAccount(o SESSettings) bool {
	s.TopicARNs, o.TopicARNs = nil, nil // only for notifications
	return reflect.DeepEqual(s, o)
}

// SESClient returns a client for a lane of type ses. The endpoint replaces that of the region if it is
// not empty.
func SESClient(c Config, secret, endpoint string, allowPrivate bool, now func() time.Time) (*ses.Client, error) {
	return ses.New(ses.Config{
		Region: c.SES.Region, AccessKeyID: c.SES.AccessKeyID, SecretAccessKey: secret, ConfigurationSet: c.SES.ConfigurationSet,
		Endpoint: endpoint, Guard: netguard.Guard{AllowPrivate: allowPrivate && endpoint != ""}, Connections: c.Caps.MaxConnections, Now: now,
	})
}
