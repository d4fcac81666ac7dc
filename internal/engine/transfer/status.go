package transfer

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/packetboat/packetboat/internal/people/contact"
)

// statusWords are the words by which other systems say what a contact's status is, without case, spaces and
// punctuation. A word that may mean consent in one system and a refusal in another is left out.
var statusWords = func() map[string]contact.Status {
	words := map[string]contact.Status{}
	for status, list := range map[contact.Status]string{
		contact.Active:       "active subscribed confirmed enabled optedin optin softbounced softbounce",
		contact.Pending:      "pending unconfirmed notconfirmed unverified",
		contact.Unsubscribed: "unsubscribed unsubscribe nonsubscribed notsubscribed optedout optout blocklisted blacklisted blocked disabled donotcontact donotemail cancelled canceled",
		contact.Bounced:      "bounced bounce hardbounced hardbounce cleaned undeliverable unreachable",
		contact.Complained:   "complained complaint complainer spam markedasspam reportedspam spamcomplaint spamreport abuse junk",
		contact.Suppressed:   "suppressed deleted",
	} {
		for word := range strings.FieldsSeq(list) {
			words[word] = status
		}
	}
	return words
}()

// parseStatus returns the status that a word means.
func parseStatus(word string) (contact.Status, bool) {
	s, ok := statusWords[strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return unicode.ToLower(r)
		}
		if unicode.IsSpace(r) || unicode.IsPunct(r) {
			return -1
		}
		return r
	}, norm.NFKC.String(word))]
	return s, ok
}
