package track

import "strings"

// Client is the program that made a request and the kind of device it ran on, such as
// "apple_mail.mobile"; empty: both unknown.
type Client string

// The kinds of devices.
const (
	Desktop       = "desktop"
	Mobile        = "mobile"
	Tablet        = "tablet"
	UnknownDevice = "unknown"
)

// OtherClient is the program of agents that are not known.
const OtherClient = "other"

// Program returns the mail program or browser.
func (c Client) Program() string {
	program, _, _ := strings.Cut(string(c), ".")
	if program == "" {
		return OtherClient
	}
	return program
}

// Device returns the kind of device.
func (c Client) Device() string {
	_, device, ok := strings.Cut(string(c), ".")
	if !ok {
		return UnknownDevice
	}
	return device
}

// programs are the programs by a part of their agents. The first match counts: most agents also
// contain the names of older programs.
var programs = []struct{ part, name string }{
	{"GoogleImageProxy", "gmail"},
	{"Edge/12.246 Mozilla/5.0", "gmail"}, // Gmail's prefetch
	{"YahooMailProxy", "yahoo_mail"},
	{"Outlook-iOS", "outlook"},
	{"Outlook-Android", "outlook"},
	{"MacOutlook", "outlook"},
	{"Microsoft Outlook", "outlook"},
	{"Microsoft Office/", "outlook"}, // with MAPI, though without its name
	{"MSOffice", "outlook"},
	{"ms-office", "outlook"},
	{"Thunderbird", "thunderbird"},
	{"SamsungBrowser", "samsung_internet"},
	{"Edg/", "edge"},
	{"EdgA/", "edge"},
	{"EdgiOS/", "edge"},
	{"OPR/", "opera"},
	{"Firefox/", "firefox"},
	{"FxiOS/", "firefox"},
	{"Chrome/", "chrome"},
	{"CriOS/", "chrome"},
	{"Safari/", "safari"},
	{"AppleWebKit", "apple_mail"}, // without the name of a browser
}

// ClientOf returns the client of a user agent.
func ClientOf(agent string) Client {
	if agent == "Mozilla/5.0" { // Apple's privacy proxy
		return "apple_mail." + UnknownDevice
	}
	for _, p := range programs {
		if !strings.Contains(agent, p.part) {
			continue
		}
		if p.name == "apple_mail" && !strings.Contains(agent, "Mac OS X") {
			break
		}
		return Client(p.name + "." + deviceOf(agent))
	}
	if d := deviceOf(agent); d != UnknownDevice {
		return Client(OtherClient + "." + d)
	}
	return ""
}

// deviceOf returns the kind of device of an agent. Image proxies do not tell it.
func deviceOf(agent string) string {
	has := func(part string) bool { return strings.Contains(agent, part) }
	switch {
	case ImageProxy(agent), has("Edge/12.246 Mozilla/5.0"):
		return UnknownDevice
	case has("iPad"), has("Android") && !has("Mobile"):
		return Tablet
	case has("iPhone"), has("iPod"), has("Android"), has("Mobile"), has("Outlook-iOS"):
		return Mobile
	case has("Windows NT"), has("Macintosh"), has("X11"), has("Linux"), has("CrOS"):
		return Desktop
	}
	return UnknownDevice
}
