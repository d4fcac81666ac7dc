package track

import "strings"

// imageProxies are the proxies of mailbox providers that fetch images when a person opens the mail, by
// a part of their agents. The first match counts.
var imageProxies = []struct{ part, vendor string }{
	{"GoogleImageProxy", "google"},
	{"YahooMailProxy", "yahoo"},
	{"YandexImageResizer", "yandex"},
	{"YandexUserproxy", "yandex"},
	{"MailruImageProxy", "mailru"},
	{"MailRuImageProxy", "mailru"},
	{"RamblerMail/", "rambler"},
	{"mail.ukr.net proxy", "ukrnet"},
	{"SeznamEmailProxy", "seznam"},
	{"ImageProxy", ""},
	{"MailProxy", ""},
}

// ImageProxy reports whether the agent is a proxy that fetches images when a person opens the mail.
func ImageProxy(agent string) bool {
	_, is := imageProxy(agent)
	return is
}

// ProxyVendor returns whose proxy an agent is, one that fetches images in advance or when a person opens
// the mail: empty if that is not known.
func ProxyVendor(agent string) (vendor string, is bool) {
	switch apple, gmail := Prefetching(agent); {
	case apple:
		return "apple", true
	case gmail:
		return "google", true
	}
	return imageProxy(agent)
}

func imageProxy(agent string) (vendor string, is bool) {
	for _, p := range imageProxies {
		if strings.Contains(agent, p.part) {
			return p.vendor, true
		}
	}
	return "", false
}

// keptAgent is the SQL for what is kept of an agent when it is removed: the part by which it is an image
// proxy. Unlike LIKE, replace distinguishes upper and lower case on both databases.
var keptAgent = func() string {
	var b strings.Builder
	b.WriteString("CASE")
	for _, p := range imageProxies {
		b.WriteString(" WHEN replace(agent, '" + p.part + "', '') <> agent THEN '" + p.part + "'")
	}
	return b.String() + " ELSE '' END"
}()
