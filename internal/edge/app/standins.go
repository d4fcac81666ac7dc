package app

import (
	"net/url"
	"strconv"
)

// smtpPort is the port of mail servers (RFC 5321 section 4.5.4.2).
const smtpPort = 25

// standIns reads the options that let tests replace mail servers and SES by their own. They are
// refused unless the base URL is on loopback, so that mail of an installation in use cannot be sent
// elsewhere.
func (c *Config) standIns(o Options, m *Mistakes) {
	local := c.BaseURL != nil && c.LoopbackBaseURL()
	port, err := strconv.Atoi(o.MXPort)
	switch {
	case err != nil || port < 1 || port > 65535:
		m.add("PACKETBOAT_MX_PORT", "is %q; write 25, or for tests another port", o.MXPort)
	case port != smtpPort && !local:
		m.add("PACKETBOAT_MX_PORT", "is %q; mail servers listen on port 25, and another port is for tests with a loopback base URL", o.MXPort)
	}
	c.MXPort = port
	if o.SESEndpoint == "" {
		return
	}
	u, err := url.Parse(o.SESEndpoint)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		m.add("PACKETBOAT_SES_ENDPOINT", "is %q; write a URL such as http://127.0.0.1:4579", o.SESEndpoint)
	case !local:
		m.add("PACKETBOAT_SES_ENDPOINT", "is set; it is for tests with a loopback base URL, so leave it out")
	}
	c.SESEndpoint = o.SESEndpoint
}
