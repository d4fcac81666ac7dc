package reply

import (
	"regexp"
	"strings"
)

// rules are tried in order; the first that matches decides. They come in four parts: those about our
// login, those about temporary failures, words and codes that name a reason, and the meaning of a
// stage if nothing else matches.
//
// Three properties of the order must be kept. Words about spam and policy come before codes, because
// servers use 5.1.1 for refusals that have nothing to do with the address. Only rules bound to RCPT,
// and 5.1.1 after the message, are hard. Rules for a class of codes come last within their part.
var rules = []rule{
	// The server requires a login, or rejects ours.
	{id: "login-required", codes: []int{530, 534, 535, 538}, class: Lane, category: Policy},
	{id: "login-later", stages: []Stage{Mail}, codes: []int{454}, class: Lane, category: Policy},
	{id: "login-words", stages: []Stage{Mail, Rcpt, Data}, codes: []int{5}, class: Lane, category: Policy,
		words: words(`authentication (is )?required`, `must authenticate`, `authenticate first`,
			`not authenticated`, `please (log ?in|authenticate)`)},

	// Temporary failures. Gmail sends the first of these with 550 5.2.1 as well.
	{id: "recipient-throttled", class: Deferred, category: Policy,
		words: words(`receiving (mail|email|messages) (too quickly|at a rate)`)},
	{id: "later-full", codes: []int{4}, enhanced: []string{"4.2.2"}, class: Deferred, category: Full},
	{id: "later-full-words", codes: []int{4}, class: Deferred, category: Full, words: full},
	{id: "later-policy", codes: []int{4}, enhanced: []string{"4.7."}, class: Deferred, category: Policy},
	{id: "later-policy-words", codes: []int{4}, class: Deferred, category: Policy,
		words: words(`gr[ea]y-?list`, `too many`, `rate.?limit`, `throttl`, `reputation`, `\bspam`, `block ?list`)},
	{id: "later-network", codes: []int{4}, enhanced: []string{"4.4."}, class: Deferred, category: Network},
	{id: "later", codes: []int{4}, class: Deferred, category: Other},

	// Refusals with a named reason.
	{id: "full-words", stages: []Stage{Rcpt, Data, Dot}, codes: []int{5}, class: Soft, category: Full, words: full},
	{id: "spam-words", codes: []int{5}, class: Block, category: Content,
		words: words(`\bspam\b`, `unsolicited`, `\bvirus`, `malware`, `\bur[il]bl\b`)},
	{id: "reputation-words", codes: []int{5}, class: Block, category: Policy,
		words: words(`(block|black|deny)[ -]?list`, `reputation`, `spamhaus`, `\b(dnsbl|rbl)\b`)},
	{id: "relay-words", codes: []int{5}, class: Block, category: Policy,
		words: words(`relay(ing)? (access )?(is )?(denied|prohibited|not (permitted|allowed))`, `(unable|not permitted) to relay`)},
	{id: "sender", codes: []int{5}, enhanced: []string{"5.1.7", "5.1.8"}, class: Block, category: Policy},
	{id: "sender-words", codes: []int{5}, class: Block, category: Policy,
		words: words(`sender (address )?(rejected|denied|refused)`, `domain of sender`, `sender verif`)},
	{id: "full", stages: []Stage{Rcpt, Data, Dot}, codes: []int{5}, enhanced: []string{"5.2.2"}, class: Soft, category: Full},
	{id: "size", codes: []int{5}, enhanced: []string{"5.3.4", "5.2.3"}, class: Soft, category: Content},
	{id: "policy", codes: []int{5}, enhanced: []string{"5.7."}, class: Block, category: Policy},

	// Invalid addresses. Microsoft sends the last of the codes.
	{id: "no-null-mx", stages: []Stage{Rcpt}, codes: []int{556}, enhanced: []string{"5.1.10"}, class: Hard, category: Domain},
	{id: "no-mailbox", stages: []Stage{Rcpt}, codes: []int{5}, enhanced: []string{"5.1.1", "5.1.10", "5.2.1"}, class: Hard, category: Mailbox},
	{id: "no-mailbox-late", stages: []Stage{Data, Dot}, codes: []int{5}, enhanced: []string{"5.1.1"}, class: Hard, category: Mailbox},
	{id: "no-domain", stages: []Stage{Rcpt}, codes: []int{5}, enhanced: []string{"5.1.2"}, class: Hard, category: Domain},
	{id: "no-mailbox-directory", stages: []Stage{Rcpt}, codes: []int{5}, enhanced: []string{"5.4.1"}, class: Hard, category: Mailbox,
		words: words(`recipient address rejected: access denied`)},
	{id: "no-mailbox-words", stages: []Stage{Rcpt}, codes: []int{550, 551, 553, 554}, class: Hard, category: Mailbox,
		words: words(`(user|recipient|mailbox|address|account)( is)? unknown`, `unknown (user|recipient|mailbox|local)`,
			`no such (user|recipient|mailbox|address|account|person)`,
			`(user|recipient|mailbox|address|account) (does not|doesn'?t) exist`,
			`(user|recipient|mailbox|address|account) not found`,
			`invalid (user|recipient|mailbox)`, `no mailbox here`)},
	{id: "no-domain-words", stages: []Stage{Rcpt}, codes: []int{550, 551, 553, 554, 556}, class: Hard, category: Domain,
		words: words(`(host|domain) (is )?(unknown|not found)`, `unknown (host|domain)`, `no such (host|domain)`,
			`domain (does not|doesn'?t) exist`)},

	// Refusals without a clear reason.
	{id: "routing", codes: []int{5}, enhanced: []string{"5.4."}, class: Soft, category: Domain},
	{id: "size-words", codes: []int{552, 554}, class: Soft, category: Content,
		words: words(`message (is )?too (big|large)`, `message size`, `size limit`, `maximum (message )?size`)},
	{id: "policy-words", codes: []int{5}, class: Block, category: Policy,
		words: words(`polic(y|ies)`, `\bblocked\b`, `\bbanned\b`, `prohibited`, `not (authori[sz]ed|allowed|permitted)`, `denied`)},
	{id: "full-code", stages: []Stage{Rcpt, Dot}, codes: []int{552}, class: Soft, category: Full},
	{id: "content", codes: []int{5}, enhanced: []string{"5.6."}, class: Block, category: Content},
	{id: "protocol", codes: []int{500, 501, 502, 503, 504, 555}, class: Block, category: Other},

	// Only the stage is left to decide.
	{id: "refused-sender", stages: []Stage{Mail}, codes: []int{5}, class: Block, category: Policy},
	{id: "refused-message", stages: []Stage{Data, Dot}, codes: []int{5}, class: Block, category: Content},
	{id: "refused", codes: []int{5}, class: Soft, category: Other},
}

// full matches texts about a full mailbox.
var full = words(`over ?quota`, `quota (is )?(exceeded|full)`, `exceed(s|ed)? .{0,20}quota`,
	`mailbox (is )?full`, `full mailbox`, `out of storage`, `insufficient (mailbox )?storage`)

// words returns a pattern that matches if any of the alternatives does.
func words(alternatives ...string) *regexp.Regexp {
	return regexp.MustCompile(strings.Join(alternatives, "|"))
}
