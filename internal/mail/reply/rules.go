package reply

import "slices"

// rules are tried in order; the first that matches decides. The same table is used for replies of
// servers and for reports about messages that were accepted before.
//
// Words come before codes, since servers use codes of RFC 3463 with other meanings: Gmail sends 5.2.1
// both for closed accounts and for accounts that get too much mail, and many servers send 5.1.1 or
// 5.7.1 for everything. Among the words, those about the sender, the network and the content come
// before those about the address. A refusal of the sender often mentions an unknown user, for example
// when its address was verified; the opposite is rare. An address is invalid only by rules that are
// bound to RCPT and later stages.
var rules = []rule{
	// The server requires a login, or rejects ours. Such failures are the lane's.
	{id: "login-refused", codes: []int{534, 535, 538}, words: words(`auth`, `password`, `credential`, `log ?in`, `^$`), reason: LoginRefused},
	{id: "starttls-required", codes: []int{5}, reason: TLSRequired, lane: true, words: words(`must issue a starttls`)},
	{id: "login-code", codes: []int{530}, reason: RelayDenied, lane: true},
	{id: "login-later", stages: []Stage{Mail}, codes: []int{454}, reason: LoginRefused},
	{id: "login-later-words", codes: []int{454}, reason: LoginRefused, words: words(`authenticat`)},
	{id: "group-login", codes: []int{5}, reason: RefusedByPolicy, words: words(`not ?authenticated ?for ?(group|mailbox|public|all)`, `authrequired`)},
	{id: "restricted-recipient", enhanced: []string{"5.7."}, reason: RefusedByPolicy, words: words(`resolver\.rst\.`)},
	{id: "restricted-code", enhanced: []string{"5.7.12", "5.7.124", "5.7.129", "5.7.133", "5.7.134", "5.7.135", "5.7.136"}, reason: RefusedByPolicy},
	{id: "login-words", stages: []Stage{Mail, Rcpt, Data}, codes: []int{5}, reason: RelayDenied, lane: true,
		words: words(`authentication (is )?required`, `must authenticate`, `authenticate first`,
			`client was not authenticated`, `please (log ?in|authenticate)`, `smtp auth(entication)? (is )?required`,
			`username and password not accepted`, `application-specific password`, `requires authentication when`, `turn on smtp auth`, `achieve exchange server authentication`, `only allowed with authentication`, `authentication turned on in your e-?mail client`, `invalid credentials for relay`)},

	// Groups that may not exist, or do not accept mail from this sender.
	{id: "group", raw: true, reason: RefusedByPolicy, words: words(`groups\.google\.com`, `closed (mailing )?list`, `not a member`, `(members|subscribers|(local|internal|authenticated|registered) (users?|senders?))[- ]only`, `only (list )?(members|subscribers)`, `you are not (subscribed|allowed to post)`)},

	// The server of the provider does not try any more.
	{id: "suppressed-by-provider", reason: SuppressedByProvider,
		words: words(`(recipient|address)\b.{0,60}\b(suppression|do[- ]not[- ](send|mail|contact)) list`, `on (the|our|your) (account[- ]?level )?suppression list`, `suppression list for your account`, `address is suppressed`, `not delivering to (a |an |the )?(user|recipient|unsubscribed|previously|bounced|suppressed)`, `recipient suppressed`, `bounced address`,
			`inactive recipients (that were found|are ones)`, `found inactive addresses`, `marked as inactive`, `recent history of bouncing`, `previously (been )?(hard[- ]?)?(bounced|reported as invalid)`, `(recipient|address)( address)? (is |was |has been )?(globally )?suppressed`, `suppressed (e-?mail )?address`, `sending (to \S+ )?(is |was )?suppressed`, `hard[- ]?bounced (previously|before|earlier|recently)`, `(recipient|address|user) (\S+ )?(has |have )?unsubscribed`, `rejection (black|block)?list`, `^(\d{3} )?(spam reporting|unsubscribed|suppressed) address\W*$`)},

	// Causes that mention a limit.
	{id: "spam-or-virus", reason: SpamContent, words: words(`(message|mail) (was |is |has been )?(detected|identified|classified|flagged|considered|recogni[sz]ed) as (\S+ )?spam\b`, `\bspam ?(or|/|and) ?virus`, `spam[- ]?signature`, `\bmcspam`, `spam score`, `spam classification`, `antispam checks`)},
	{id: "unauthenticated", words: words(`authenticat`, `\bspf\b`, `\bdkim\b`, `\bdmarc\b`), enhanced: []string{".7.26", ".7.27", ".7.30", ".7.31", ".7.32", ".7.40"}, reason: AuthFailure},

	// Volume, and temporary refusals by design.
	{id: "stored-messages", stages: []Stage{Rcpt, Data, Dot}, reason: MailboxFull, words: words(`(has|hat) (too many|zu ?viele) (messages|mails|e-?mails|nachrichten) (on|in|auf)`, `number of messages in .{0,30}(mailbox|inbox)`, `larger than the space available`, `(maximum|allowed) (allowed )?(mailbox size|storage)\b`, `(due to|because of) (an? |the |their |his |her )?full mailbox`, `too many messages (in|on) (this|the) (mailbox|inbox)`)},
	{id: "recipient-throttled", reason: RecipientThrottled,
		words: words(`receiving (mail|email|e-mail|messages) (too quickly|at a rate)`, `too many (messages|mails|emails) (to|for) (this|the) (recipient|user|mailbox)`,
			`(recipient|mailbox|user) .{0,30}(receiving|received) too many`, `recipient .{0,20}(rate limit|throttl)`, `receive limit`, `recipient thread limit`, `recipient has exceeded their limit`, `recipient has exceeded (\S+ )?(message|mail) rate`, `receivingrate`, `rate that prevents additional messages`, `receiving too (much|many)`, `(hourly|daily|per.(hour|day)) (receiv\w+|incoming|inbound) limit`, `(account|recipient) .{0,40}over its rate limit`)},
	{id: "greylisted", reason: Greylisted,
		words: words(`gr[ea]y[- ]?list`, `verification in progress`, `not yet authori[sz]ed to deliver`, `come back later`, `unknown (sender|triplet), (please )?(try|retry)`, `(unknown|new|unseen|unfamiliar) (triplet|sender.{0,5}recipient (pair|combination))`, `temporarily rejected.{0,30}(try|retry)`, `postgrey`, `temporarily blocked for \d+ (sec|min)`, `first.time sender.{0,60}(try|retry)`)},
	{id: "rate-limited", reason: RateLimited,
		words: words(`too many (\w+ )?(connections|messages|mails|emails|recipients|requests|sessions|concurrent|invalid recipients|errors)`, `rate.?limit`, `throttl`,
			`\b(frequency|rate|volume|number of ((concurrent |simultaneous )?connections|messages|emails))\b.{0,40}(limit|exceed|too (high|fast|many))`, `exceed\w* .{0,40}(\brate|frequency|number of (messages|connections|emails)|connections)`,
			`unusual (rate of|sending activity)`, `concurren\w+ (\S+ ){0,3}?(limit|exceed|reached)`, `sending (too|mail too) (fast|many|much)`, `sending (limit|quota)`, `\brp-00[123]\b`, `daily .{0,20}(quota|limit)`, `(hourly|outbound) .{0,20}(quota|limit)`,
			`(quota|limit) .{0,20}(per|for) (hour|day|sender)`, `server (is )?busy`, `temporarily deferred due to (unexpected volume|user complaints)`, `limit the number of messages`,
			`multiple destination domains per transaction`, `same message-id`, `messages? per connection`, `max (e-?)?mails per`, `excessive volume`, `exceeded threshold`, `relay limit`, `slow down`, `try again slower`, `(retry|connect|send)ing too (fast|often|quickly)`, `temporarily blocked because`, `connections? limit`, `(maximum|per-domain) connection limit`, `connection limit`, `numerous attempts`, `submission quota`, `queue quota`, `exceeded unknown (recipient|user)`, `exceeded permitted limits`, `(unusual|multiple|excessive|numerous) (number of )?(invalid|unknown|bad) (recipients|users)`, `credits? (limit )?(exceed|exhaust|used up)`, `message threshold`, `sending quota`, `quota exceeded for (your|this) (ip|host|server|sender|domain|network)`, `try again later, closing connection`,
			`trop de (connexions|messages|mails|destinataires)`, `zu viele (verbindungen|nachrichten|empfänger)`, `demasiad[ao]s (conexiones|mensajes)`, `tropp[ei] (connessioni|messaggi)`, `muitas (conexões|mensagens)`, `слишком много (соединений|писем|сообщений|подключений)`, `(连接|发送|频率).{0,10}(过多|频繁|过高|限制)`, `ip frequency`, `ofr00\d 10[34]`, `service refus\w*\.? veuillez essayer`, `\b(hl:if[cq]|hl:icc|(mi|rp):(cel|dmc|ccl|drc|qrc|sfq|stc|imf))\b`, `\bts(s?)04\b`)},

	// Full mailboxes. Servers retry them until the mail expires, and some call it a limit of size.
	{id: "mailbox-full", stages: []Stage{Rcpt, Data, Dot}, reason: MailboxFull, words: words(`(mailbox|mail ?box|inbox|mail file|postfach|user account|quota)('s)?( size)?( for \S+| \S+)? (has |is |was |will )?(exceed\w*|over|reached)\b`, `mail(box| file) size (limit|exceed)`, `mailbox (is )?full`, `quota ?exceeded`, `over ?quota`)},

	// Loops, and mail that waited too long.
	{id: "loop", reason: RoutingLoop,
		words: words(`too many (hops|"?received"?)`, `"?received:?"? headers?( counts?)? .{0,20}(exceed|limit|too many)`, `exceeded \d+ hops`, `hop count`, `mail (forwarding )?loop`, `(routing|forwarding|delivery) loop`, `points? back to`, `depth exceeded`, `\blooping\b`, `loops? back to (myself|me\b)`, `message looping`, `loop detected`, `best-preference mx`, `lowest numbered mx record points to local host`)},
	{id: "expired", reason: ExpiredQueue,
		words: words(`(message|mail|delivery) (has |time )*(expired|timed? ?out in queue)`, `retry time(out)?( not)? (exceeded|reached)`, `(been )?in (the )?queue too long`, `failing for a long time`,
			`(for|after) (more than )?\d+ (days|hours)[^.]{0,40}(giving up|cannot|could ?n.t|undeliver|failed)`, `(could not|couldn.t|cannot|can.t|unable to) be? ?deliver(ed)? .{0,30}(for|within|after) (the last |more than )?\d+ (days|hours)`,
			`delivery (was )?attempted for`, `maximum (delivery|retry) (time|attempts)`, `exceeded (the )?maximum .{0,20}(attempts|retries)`, `tried to deliver .{0,60}(hours|days)`, `queue ?lifetime`, `envelope expired`, `aborted after [\d.]+ hours?`, `cannot send message for \d+ (days|hours|minutes)`, `deliver for the last \d+ seconds`, `will be deleted from (the )?queue`, `multiple retries`, `failed \d+ attempts`, `after \d+ attempts`, `within the (allowed|configured) .{0,20}(period|time)`, `message (is )?too old`, `(been|was) (on|in) the queue for \d+`,
			`giving up after`, `not been collected after`, `stopped trying`, `(max(imum)?|message) (queue )?(age|time in queue)`, `queue time (was )?exceeded`, `weitere zustellversuche werden nicht`)},
	{id: "many-headers", codes: []int{5}, reason: Protocol, words: words(`too many (\S+ ){0,3}(x-)?headers?\b`)},
	{id: "too-many", reason: RateLimited, words: words(`too many (of |simultaneous |unauthenticated |login |smtp |open |bad |failed )*(connect|message|mail|recipient|sender|command|attempt|rcpt|delivery|host|incoming|session|client|process)\w*`, `too many\b`)}, // of something else

	// Capacity of the receiver.
	{id: "disk-full", codes: []int{4}, reason: RemoteSystem, words: words(`(insufficient|not enough|low|no) (free )?disk ?space`)},
	{id: "program-failed", reason: RemoteSystem, words: words(`(command output|(cannot|can.t|unable to|could not|failed to) (open|create|write|read|execute|lock|access))\b.{0,80}(permission denied|no such file)`)},
	{id: "system-full", reason: RemoteSystem,
		words: words(`insufficient (system|server) (storage|resources)`, `(system|server|file system|filesystem|queue|disk) (is )?full`, `no space left on device`, `system resources`, `low on disk`)},
	{id: "size-words", reason: MessageTooLarge,
		words: words(`(message|mail|e-?mail|content|body) (is |was |size |length )*(too (big|large|long)|larger than|exceeds)`, `(message|mail|e-?mail) size`, `size limit`, `maximum .{0,30}size`, `size .{0,20}exceeds?`,
			`exceeds? .{0,40}\bsize\b`, `message exceeds`, `nachricht .{0,20}zu gro(ß|ss)`, `line limit exceeded`, `message file too big`, `size per transaction exceeded`, `header size`, `taille limite`, `taille .{0,20}(dépasse|trop)`, `attachments? .{0,20}too (big|large)`, `larger than the .{0,20}limit`, `headers? (is |are |size )*too (big|large|long)`, `exceeds google`, `individual header size`,
			`mensaje .{0,20}(demasiado grande|excede)`, `messaggio .{0,20}troppo grande`, `mensagem .{0,20}(muito grande|excede)`, `zbyt duż`, `слишком (большо|велик)`, `te groot`, `för stort?`, `(邮件|郵件).{0,10}(过大|太大|過大)`, `サイズ.{0,20}(超|大き)`)},
	{id: "full-words", stages: []Stage{Rcpt, Data, Dot}, reason: MailboxFull, words: full},

	// The content.
	{id: "url-listed", reason: SpamContent,
		words: words(`\bur[il]?bl\b`, `\bsurbl\b`, `\bdbl\b`, `(url|uri|link|domain)s? (\S+ )?(in|within) .{0,30}(message|body|mail)([^-\w]|$)`, `(contains|containing|embedded) .{0,40}\b(url|uri|link)`, `(black|block)[- ]?listed (url|uri|link)`, `\bph01\b`)},
	{id: "scanner-failed", codes: []int{4}, reason: RemoteSystem, words: words(`error in processing, id`, `during fwd-\w+`, `tempfailed`, `negative greeting`, `mta failure`, `scanners? failed`, `(unable|failed) to scan`)},
	{id: "virus", reason: VirusOrAttachment,
		words: words(`\bvirus(es)?\b`, `\bmalware\b`, `infected`, `\btrojan\b`, `attachments? .{0,40}(not (allowed|permitted|accepted)|blocked|prohibited|rejected|forbidden|denied|banned|removed)`,
			`(blocked|prohibited|banned|illegal|forbidden|disallowed|dangerous) .{0,20}attachment`, `(attachment|file) (type|extension|name)`, `potential (\S+ )?security issue`, `password[- ]protected`, `encrypted (archive|zip|attachment)`, `clamav`, `eicar`, `macro[- ]enabled`, `with (a )?macros?`, `attachments? of (certain|this|that) type`, `attachment count`, `executable`, `malicious (\S+ )?(code|content|file|software|attachment|program|payload)`, `\bthreats? (\S+ )?(found|detected)`, `(found|detected) (a |the )?threat`, `ransomware`, `\bworm\b`, `\b(w32|w97m|win32|win64|backdoor|exploit)[./]\w`, `\bbanned: `, `(dangerous|forbidden|disallowed|banned|prohibited|blacklisted|blocked|unacceptable) (file|extension)`, `(file|extension)s? .{0,20}(of a blocked type|(is|are|was) (blocked|prohibited|forbidden|banned))`, `attachment .{0,20}(dangerous|suspicious)`, `attachments? (filter|polic|restrict)`, `(restricted|unacceptable|unwanted) attachment`)},

	// Defects of the message that mention a mechanism.
	{id: "header-words", codes: []int{5}, reason: Protocol, words: words(`rfcmessagenoncompliant`, `too many related errors`, `multi-recipient bounce`, `compliant`, `multiple (from )?addresses`, `(duplicate|multiple|more than one) .{0,20}headers?`, `multiple addresses in from`, `messages? (without|missing|lacking) .{0,20}(header|field|to:|from:|date:|message-?id)`)},
	{id: "reserved-domain", stages: []Stage{Rcpt, Data, Dot}, codes: []int{5}, reason: InvalidRecipient, words: words(`reserved by rfc`, `single label domains? not accepted`)},

	{id: "recipient-syntax", stages: []Stage{Rcpt}, codes: []int{5}, reason: InvalidRecipient, words: words(`recipient address (\S+ )?is not a valid rfc`)},
	{id: "recipient-check", stages: []Stage{Rcpt}, codes: []int{5}, reason: InvalidRecipient, words: words(`failed recipient (validation|verification)`, `^callout verification failed\W.*(invalid|unknown|no such|not exist|unrouteable|unavailable|not found|rejected)`)},
	{id: "relaying-denied", reason: RelayDenied, words: words(`relaying denied\W+ip name lookup`)},
	{id: "bad-destination", stages: []Stage{Rcpt}, reason: InvalidDomain, words: words(`bad destination (host|system)`, `dns hard error`)},
	{id: "sender-domain", reason: SenderRejected, words: words(`domain may not exist or dns check`, `(sender|return.?path|mail from|envelope.?from)( domain)?( has)? no\b.{0,20}\b(mx|a|aaaa|dns)\b`, `sender (e-?mail )?(address )?domain (was |is |could )?(not |un)(found|resolv|be)`, `\b(return|reply|sender|from|originat\w+)( e-?mail| mail)?( address| domain)+ (is |was )?(invalid|not valid|unknown|not resolv|unresolv)`)},
	{id: "sender-listed", reason: SenderRejected, words: words(`sender( envelope)?( e-?mail)? address .{0,40}(black|block)[- ]?list`, `sender is (on|in) .{0,20}(black|block)[- ]?list`, `(domain|address) of (the )?sender (is |was )?(blocked|banned|denied|rejected)`, `mi:dma`)},
	{id: "no-such-return-path", codes: []int{517}, reason: SenderRejected},
	{id: "sender-mismatch", codes: []int{5}, reason: SenderRejected, words: words(`(envelope|envolope) (from|sender) (\S+ )?mismatch`, `must (be same as|equal|match) (the )?(authori[sz]ed|authori[sz]ation|authenticated|login) (user|account)`)},
	{id: "hello-code", codes: []int{5}, reason: AuthFailure, words: words(`\bmi:nh[dl]\b`)},
	{id: "sender-code-words", codes: []int{553}, reason: SenderRejected, words: words(`^(\d+ )?([\d.]+ )?(\S+ )?([\w-]+\.)+[a-z]{2,}\W* does not exist`)},
	{id: "sender-verification", reason: SenderRejected, words: words(`sender (address )?verif\w+ (fail|error)`, `verification failed (for|while)`, `sender verify callout`)},
	{id: "recipient-rejects", codes: []int{5}, reason: RefusedByPolicy, words: words(`rule imposed`, `accept\w* (e-?mails?|mail|messages?) with\b`, `(is|was|been) (rejected|blocked|refused) by (the |this )?(recipients?|users?)\b`, `recipients? (is|are|was|were) (\S+ )?blocked by`)},
	{id: "closed-to-outside", codes: []int{5}, reason: RefusedByPolicy, words: words(`(outside|external) (of )?(the |this |our |your )?(organi[sz]ation|company|senders?)`, `not (allowed|permitted|authori[sz]ed) to (send|post|mail|write)( \S+){0,3}? to (this|the) (group|list|recipient|user|mailbox)`)},
	{id: "spoofing-policy", reason: RefusedByPolicy, words: words(`anti-?spoofing (policy|lockout)`, `manually blocked senders`)},

	// Proof of who sent it, and the network it came from.
	{id: "auth-failure", reason: AuthFailure,
		words: words(`\bbad helo\b`, `\bdmarc\b`, `\bspf\b`, `\bdkim\b`, `sender policy framework`, `unauthenticated`, `authentication (checks|results|information|requirements)`, `(fail\w*|pass) .{0,20}authenticat`,
			`\bhelo name\b`, `\bptr\b`, `reverse (dns|lookup|hostname|name|mapping)`, `\br(everse )?dns\b`, `not found in dns`, `(helo|ehlo)\b.{0,40}(invalid|rejected|reject|refused|match|resolve|bad|not|must|fqdn|fully.qualified)`, `5\.7\.515`, `mismatches client ip`, `forward dns entry`, `spf hard ?fail`, `reject on hard fail`, `dns check fail`, `is not allowed to send (e-?)?mails? (from|for)`, `unresolvable rfc`, `ip (name )?lookup failed`, `your (host ?name|server|ip|mta)( name| address)? (\S+ )?(does ?n.t|does not|cannot be|could not be|must|should) resolve`, `(cannot|can.t|unable to|could not) (find|resolve) your (reverse )?(host ?name|address|ip)`, `unresolvable relay host`, `unverif[iy]+able sending ip`,
			`has not passed validation`, `invalid ip for sending mail`, `not match the ip address`, `ip address of the hostname`, `purported responsible`, `\bsender.?id\b`, `anti-?spoof`, `spoof(ed|ing)`, `forgery`, `not designated`, `domainkeys`, `\barc\b.{0,20}(fail|invalid)`, `forward.confirmed`, `(invalid|bad|malformed|illegal) (domain|host ?name|name|argument|address)[^.]{0,60}\b(helo|ehlo)\b`, `\bfcrdns\b`, `no (valid )?(a|rdns|reverse) record`, `sender authentication`)},
	{id: "blocklisted", reason: ReputationBlock, raw: true,
		words: words(`(block|black|deny|reject|bad|drop)[ -]?list(s|ed|ing)?\b`, `reputation`, `spamhaus`, `spamcop`, `\bsorbs\b`, `barracuda(central|networks)\S*.{0,40}(reputation|rbl|lookup|listed|block)`, `uceprotect`, `abuseat`,
			`\b(dns|r)bls?\b`, `\bdnswl\b`, `s31[45]0`, `\[?tss?\d\d`, `\bipts\d\d`, `\bbl0*[0-9]{1,3}\b`, `\d\.\d+ (\S+ ){0,2}?block(ed)? for spam`, `\[?(hm|sb|bs|hcm)0?\d+\]`, `\bblocked using \S+\.\w`, `ofr00\d 102`, `\b(hl:(rep|ipb|ihu|mep)|dt:rbl|wm:bl[iu])\b`, `\(bl\)`, `\blisted (at|by|on|with)\b`, `(is|are|was|been|host|ip|address) listed\b`, `senderscore`, `(ip ?removal|ipcheck|csi\.cloudmark)`,
			`is blocked using`, `suspected spammer`, `spam ?(source|origin)`, `\((rtr|dyn):`, `known spam`, `dynamic (ip|address|host)`, `generic (ptr|hostname)`, `\bdrbl\b`, `blocked for abuse`, `(att\.net|sbcglobal\.net|bellsouth\.net)\S*/blocks`, `aup#`, `suspected (spam ip|bounce attack)`, `permanently deferred`, `sender is (a )?spammer`, `currently sending spam`, `bad ip profile`, `sender domain listed`, `too many spam complaints`, `use the smtp server of your isp`, `(no longer|not) accept\w* connections?`, `dynamically assigned`, `block-?lookup`, `spam (\S+ )?from (your|this|the) (ip|network|host|server)`, `remov\w+ (of|from) the (block|list)`, `(mail|messages?|connections?) from \d+\.\d+\.\d+\.\d+ .{0,40}(block|reject|refus|denied|not allowed)`, `requires confirmation`, `bypassing (\S+ ){0,3}relay`, `problem occurred\. \(ask your postmaster`, `confirm this mail server`, `esmtp not accepting connections`, `submit messages to this e?-?mail system`, `spammers?\b`, `you are sending spam`, `not currently accepting mail from your`, `no access from mail server`, `abuse (from|by) your`,
			`\bproofpoint\.com\S*ip=`, `(mxrate|invaluement|mailspike|backscatterer|psbl|dnsbl|truncate\.gbudb|0spam|hostkarma|manitu|surriel)\b`, `cbl\.`, `sbl-?xbl|\b(xbl|sbl|pbl|css)\b`, `trend ?micro.{0,20}(rbl|ers|reputation)`, `\b(quil|qil)\b`, `access to (this|our) mail system has been rejected`, `ofr ?999\b`, `your access to submit messages`, `\bip .{0,30}(listed|blacklist)`, `listed in \S+\.\S+`, `does not accept e?mail over ipv6`, `\bdnb[0-9]|ipdeny`, `banned (ip|sender|host|network|sending)`, `schwarze liste|sperrliste|liste noire|lista (negra|nera)|черн(ый|ом) спис|чёрн(ый|ом) спис|黑名单|黑名單|ブラックリスト`)},

	// Words that are clear, whatever the code: servers that find a null MX use that of a sender which has
	// one (RFC 7505), and those of one vendor say no more than this of an unknown recipient.
	{id: "no-mail-host", stages: []Stage{Rcpt, Data, Dot}, codes: []int{5}, reason: InvalidDomain,
		words: words(`^(\d{3} )?([\d.]+ )?(the )?(recipient |destination |target |remote )?(host|domain|server|system)( \S+)? (does not|doesn.t|do not) (accept|receive) (any )?(e-?)?mails?\W*$`, `(recipient|destination|rcpt)\w*( address)?( domain| host)?( \S+)? (has|publishes|is) (an? )?null ?mx`)},
	{id: "no-mailbox-despite-code", stages: []Stage{Rcpt, Data, Dot}, codes: []int{5}, enhanced: codesOfSenders, reason: InvalidRecipient,
		words: words(`^(\d{3} )?([\d.]+ )?\W*(the )?(e-?mail )?(user|recipient|mailbox|account)( address)?( \S+)? (is )?(unknown|not found|does not exist|doesn.t exist)\b`, `^(\d{3} )?([\d.]+ )?\W*(unknown|no such|invalid) (user|recipient|mailbox)\b`, `recipient (address )?rejected\W+((unknown|no such) user|user (unknown|not found))`)},
	{id: "inactive-despite-code", stages: []Stage{Rcpt, Data, Dot}, codes: []int{5}, enhanced: codesOfSenders, reason: InactiveMailbox,
		words: words(`^(\d{3} )?([\d.]+ )?\W*(the )?(recipient|mailbox|recipient.s (account|mailbox))( \S+)? (is |was |has been )?(disabled|inactive|deactivated|suspended|closed)\b`)},
	{id: "recipient-rejected", stages: []Stage{Rcpt, Data, Dot}, codes: []int{542}, reason: InvalidRecipient, words: words(`^(542 )?([\d.]+ )?rejected\W*$`)},

	// Codes that have one meaning only, and are used with it.
	{id: "tls-code", enhanced: []string{".7.10", ".7.29"}, reason: TLSRequired},
	{id: "auth-code", enhanced: authCodes, reason: AuthFailure},
	{id: "rate-code", enhanced: rateCodes, reason: RateLimited},
	{id: "reputation-code", enhanced: []string{".7.501", ".7.502", ".7.503", ".7.511", ".7.606", ".7.607", ".7.608", ".7.609", ".7.610", ".7.649", ".7.705", ".7.708", ".7.750"}, reason: ReputationBlock},
	{id: "relay-code", enhanced: []string{".7.64"}, reason: RelayDenied},
	{id: "sender-code", enhanced: []string{".1.7", ".1.8"}, reason: SenderRejected},

	{id: "not-open-relay", reason: RelayDenied, words: words(`(not an?|no) open relay`, `open relay (is )?not allowed`, `unauthori[sz]ed relay`, `insecure mail relay`, `(do not|don.t|not|will not|won.t|cannot) relay (without|unless)`)},
	{id: "network-blocked", reason: ReputationBlock,
		words: words(`\bips?\b( address)?(es)? .{0,60}(block|bann|reject|refus|denied|not allowed|not authori|suspicious|restrict)`, `(client|sending|your|the) (host|network|server|mta|system|mail ?server)s? .{0,60}(block|bann|reject|refus|denied|suspicious)`,
			`(blocked|banned|rejected|refus\w+|denied) .{0,50}(\bips?\b|your (network|server|host)|client host|connections? from|sending ip)`, `banned sending`, `\binvalid ip$`, `(messages|mail|traffic|connections?) (from|sent from) .{0,40}(was|were|weren.t|was not|not|temporarily|has been|have been) (sent|accepted|deferred|blocked|rejected)`, `messages from .{0,60}weren.t sent`,
			`traffic not accepted`, `exploit`, `open (relay|proxy)`, `abusive`, `user complaints`, `(connection|mail|message)s? .{0,20}(refused|rejected|blocked) due to abuse`, `^(\d\d\d )?go away`, `connections? not accepted from`)},
	{id: "spam-words", reason: SpamContent,
		words: words(`\bspam`, `spammy`, `\bjunk\b`, `unsolicited`, `bulk[- ]?(e-?)?mail`, `\bphish`, `\bscam\b`, `\bfraud`, `(mail )?content .{0,20}(rejected|refused|blocked|denied|prohibited|unacceptable|objectionable|inappropriate)`, `content[- ](filter|scan|polic|reject|restrict|violation)`, `(suspicious|prohibited|forbidden|banned|offensive|inappropriate) (content|message|mail|subject)`, `cyren`, `vade`, `cloudmark`, `mailguard`, `垃圾`, `内容`, `bulk\.?advertis`, `advertis(ing|ement)`, `nature of the content`, `hits=[\d.]+ required`, `message filtered`, `rejected as bulk`, `html tag`, `rejecting (banned |mail )?content`, `mass mailer`, `unnecessary base64`, `reject, id=`, `ofr ?50\d\b`, `system has detected that this message`, `likely suspicious`, `high.?risk`, `spam-?score`, `(message|mail) scored`, `(message|mail) is unwanted`, `unwanted (e-?mail|mail|message)`, `contenu (refus|rejet|interdit)`, `werbung`, `correo no deseado`, `indésirable`, `спам`, `迷惑メール`, `스팸`, `\bdt:sp[am]`, `\b(dt|mi):\w+`, `rule (imposed|match)`, `content analysis`, `fingerprint`, `heuristic`)},
	{id: "sender-not-valid", codes: []int{5}, reason: SenderRejected, words: words(`sender address (is |was )?(not a? ?valid|invalid)`)},
	{id: "protocol-words", codes: []int{5}, reason: Protocol,
		words: words(`missing .{0,20}(header|message-?id)`, `\brfc ?-?\d{3,4}(\W*$|[^\d;])`, `malformed (address|message|mime|header|mail|command|from)`, `unqualified (address|sender|recipient|domain|host)`, `bare (lf|line|cr|newline)`, `(command|parameters?) .{0,20}syntax|syntax error`, `headers? (error|(is |are )?(not accepted|invalid|missing))`, `improperly.formatted`, `(invalid|illegal) (mime|structure|characters?|header|message)`, `encoded-word syntax`, `(hello|helo|ehlo|mail|rcpt) first`, `unimplemented`, `unrecognized (auth|command)`, `pipelining`, `data command rejected`, `line length`, `protocol (violation|deviation)`, `not rfc.compliant`, `unicode character`, `is malformed`, `valid address in the from`, `no data (before|after)`, `may not be repeated`, `cannot decode`, `optional argument`, `bad address syntax`, `multiple destination domains`, `(null|nul|8-?bit) (byte|character|data)`, `8bit`, `line (is )?too long`, `cannot be parsed`, `(failed|unable) to parse|error parsing`, `smtputf8`, `non-?ascii`, `nested mail`, `bad sequence`, `unrecognized command`, `too many (bad|junk|unknown) commands`)},
	{id: "tls-unsupported", reason: TLSFailed, words: words(`does not support (tls|starttls)`, `tls (is )?(currently |temporarily )?(not available|unavailable)`, `starttls-not-supported`, `must support tls`, `certificate.{0,30}expired`, `dnssec-invalid`, `restrictdomains`, `mta-sts`, `high-strength ciphers`, `(tls|ssl) (\S+ ){0,3}?(handshake|negotiation|failed|failure)`, `certificate (verif|not trusted|has expired|validation|mismatch)`, `invalid for this certificate`, `cannot start tls`, `no shared cipher`, `\bdane\b`)},
	{id: "tls-required", reason: TLSRequired,
		words: words(`must issue a starttls`, `(starttls|tls|encryption|encrypted connection) (is )?(required|mandatory)`, `require\w* .{0,20}(starttls|\btls\b|encryption)`, `use (a )?(tls|encrypted)`, `not encrypted`)},
	{id: "relay-words", reason: RelayDenied,
		words: words(`relay(ing)? (\S+ )?(access )?(is |was )?(denied|prohibited|not (permitted|allowed|supported|accepted)|restricted|blocked|disallowed)`, `(unable|not (permitted|allowed|authori[sz]ed|configured)|refus\w+|don.t|do not|won.t|cannot|can.?t|no) (to )?relay`,
			`allowed rcpthosts?`, `not (a )?local host`, `not a (gateway|relay)`, `relaying`, `we do not accept mail for (this|that) (domain|host)`, `(domain|host) .{0,20}not (local|hosted|handled|served) (here|by|on)`, `as a relay`, `do(n.t| not) handle mail for`, `gatewaying`, `specified domain is not allowed`, `mail relay`, `not (a )?local domain`, `recipient domain .{0,30}not (allowed|accepted|permitted)`, `ретрансл`, `relais`, `no longer relays?\b`, `rejected: no-domain`, `forwarding to remote hosts`, `reenvío`, `non-local (user|recipient|domain|address|host|mail|delivery)`, `not .{0,20}list of allowed`)},
	{id: "sender-words", reason: SenderRejected,
		words: words(`sender(.?s)? .{0,30}(rejected|denied|refused|verif|invalid|unknown|not (allowed|permitted|accepted|authori[sz]ed|exist|valid|found)|does not exist|blocked|disabled)`, `domain of sender`, `(invalid|bad|unknown|unverified|forged|fake) (sender|from|return.?path|envelope)`,
			`(mail from|return.?path|envelope.?from|from (address|domain)) .{0,40}(reject|denied|refus|invalid|not (allowed|exist|resolve|accepted|permitted|verified|valid)|does not|unknown|block)`, `your (e-?mail )?(address|domain|account) .{0,30}(block|reject|denied|not|n.t|has no|invalid|suspend|disabled|unknown|lacks)`, `unable to verify (the )?sender`,
			`not accept mail from (you|your)`, `callout`, `from address must`, `sending (is )?(paused|disabled|suspended)`, `unwanted senders?`, `verification failed for`, `send(ing)? (mail )?as\b`, `null senders? (are |is )?not`, `sender authori[sz]ation`, `from:? domain is invalid`, `not accept (e-?mails?|messages?|mails?) from`, `bogus mail from`, `bad sender ip`, `[ée]metteur invalide`, `backscatter`, `sendasdenied`, `missing (envelope |from )?(sender|return.?path|from address)`, `(unconfigured|unverified|unregistered|unauthori[sz]ed) (sending|sender|from)( e-?mail)? (domain|address|identit)`, `(sender|from) .{0,30}not (belong|owned|match).{0,40}(user|account|login)`, `third-party dsn`, `unsigned dsn`, `mail from not owned`, `sender not pre-?approved`, `unroutable sender`, `returned mail not accepted`, `fully qualified e?mail address required`, `no identity changes`, `badmailfrom`, `unauthori[sz]ed sender`, `invalid dns mx`, `verification failed while`, `not owned by user`, `senderfilter`, `list of senders`, `sender domain`, `sender e?mail (is|address)`, `without a valid sender`, `empty e?mail address`, `e?mail address is not verified`, `identities failed the check`, `different address or alias`, `\bbatv\b`, `\bprvs\b`,
			`(absender|expéditeur|remitente|mittente|remetente|nadawc[ay]|отправител[ьяе]|发件人|寄件者|送信者).{0,40}(abgelehnt|bloque|bloccat|blockiert|zablokow|заблок|ungültig|unbekannt|gesperrt|refusé|invalide|rechazado|inválido|rifiutato|non valido|rejeitado|odrzucon|отклон|недопустим|не найден|被拒|无效|拒絶)`, `blocked (the )?sender`, `sender (was|is|has been) (blocked|blacklisted)`)},
	{id: "sender-missing", stages: []Stage{Mail}, reason: SenderRejected, words: words(`not? (exist|found|known|valid|verified|recogni[sz]ed)`, `invalid mail from`, `for sender address`, `domain name required`, `(unknown|invalid|no such) (mail )?(sender|domain|host|user|address|e-?mail|account)`, `mail from must`, `fully.qualified`, `unable to (verify|resolve)`)},
	{id: "policy-words", reason: RefusedByPolicy,
		words: words(`gcdp`, `polic(y|ies)`, `organizational settings`, `not subscribed`, `low priority`, `containing images`, `recipient refuses`, `envelope recipient has been denied`, `sender was not authenticated`, `allowed-senders`, `mime complexity`, `exceeds (the )?policy`, `banned recipient`, `mailbox access for`, `not accepting mail with`, `delivery not authori[sz]ed`, `mail sending denied`, `not (in|on) .{0,20}(allow|white|safe) ?list`, `sender is not (allowed|permitted|authori[sz]ed)`, `richtlinie`, `politique`, `política`, `политик`, `策略`, `ポリシー`, `not (authori[sz]ed|permitted|allowed) to (send|post|mail|submit|deliver)`, `(have|has)? ?(no|not|n.t have) permission`, `permission to (post|send)`, `restricted`, `only accepts? (mail|messages|e-?mail) from`, `not accept (incoming|external|such) (e-?mails?|messages?)`, `(may|can|could) ?not (write|post|send|mail) to`, `moderat`,
			`authrequired`, `notauthori[sz]ed`, `not accepting (mail|messages) from`, `administrative(ly)? (prohibit|denied|block|reject)`, `prohibited`, `\bbanned\b`, `blocked by (the )?(recipient|user|admin|receiv|organi|tenant|mailbox owner)`, `local (rule|filter)`, `rejected by rule`, `transport rule`, `mail flow rule`,
			`recipient .{0,30}(has )?(blocked|rejected|declined) (you|your|mail|the message|this message)`, `security (reasons|polic)`, `rejected by (the )?(recipient|destination)`, `access control`, `refused by (the )?(recipient|user)`, `challenge`, `human verification`, `held before permitting`, `(user|recipient) reject(s|ed)? (the|this|your) (mail|message)`, `do not want`)},

	// States of servers, which mention mailboxes.
	{id: "connection-refused", reason: ConnectFailed, words: words(`^(\d+ )?connection refused`, `connection refused\W*$`, `connect to \S+ .{0,60}(refused|no route)`, `connection refused by \S+\.\w`)},
	{id: "unavailable-now", reason: RemoteSystem, words: words(`(currently|temporar(y|ily)) (\S+ )?(unavailable|not available|out of service)`, `resources (are )?temporarily`, `temporarily rejected`, `missing or bad storedriver`, `service not available, closing`, `system not accepting`, `internal (server |system )?error`, `local configuration error`, `ldap`, `temporary server error\W+(please|try)`, `failed to be (replicated|made redundant)`, `proxy session setup failed`, `but will deliver to`, `queue file write error`, `maildir delivery failed`, `(create|open|write|access|lock|delivery)\b.{0,80}: ?permission denied`)},
	{id: "dns-again", reason: DNSTemporary, words: words(`host (name )?not found, try again`, `domain lookup failed`, `malformed or unexpected name server reply`, `name server timeout`, `(cname|mx|dns|host|address) (\S+ )?look-?up (\S+ )?failed temporarily`, `dns query failed`)},

	// The address. The words of the last rule are ambiguous.
	// In doubt whether the sender or the address is meant, the address stays valid.
	{id: "blocked-or-missing", reason: RefusedByPolicy,
		words: words(`(unknown|no such user|not found).*\bblocked\b`, `\bblocked\b.*(unknown|no such user|not found)`)},
	// An access list, or a command: not the domain or the mailbox of the recipient.
	{id: "access-list", codes: []int{5}, enhanced: []string{"5.7."}, reason: RefusedByPolicy, words: words(`recipient address rejected: access denied`)},
	{id: "access-list-without-code", codes: []int{554}, enhanced: []string{""}, reason: RefusedByPolicy, words: words(`recipient address rejected: access denied`)},
	{id: "name-in-command", codes: []int{500, 501, 502, 503, 504}, enhanced: []string{".5."}, reason: Protocol, words: words(`domain`, `host ?name`)},
	{id: "unresolved-for-now", codes: []int{4}, enhanced: []string{".4.3"}, reason: DNSTemporary, words: words(`resolv`, `look-?up`)},
	{id: "missing-for-now", stages: []Stage{Rcpt, Data, Dot}, codes: []int{4}, reason: InvalidRecipient, words: words(`user unknown`, `recipient (\S+ )?is unavailable`, `invalid recipient`, `unknown (user|recipient|mailbox)`, `no such (user|mailbox|recipient|address|person)`, `(user|recipient|mailbox|account|address) (is |was )?(not found|does not exist|doesn.t exist|unknown)`)},
	{id: "inactive-words", stages: []Stage{Rcpt, Data, Dot}, reason: InactiveMailbox,
		words: words(`(account|mailbox|mail ?box|user|recipient|address|inbox|e-?mail|postfach|konto|compte|cuenta) (\S+ ){0,6}?(disabled|inactive|suspended|deactivated|de-?activated|closed|terminated|locked|discontinued|cancell?ed|frozen|retired|blocked|deaktiviert|gesperrt|geschlossen|d[ée]sactiv[ée]e?|desactivad[ao]|suspendu)`,
			`(account|mailbox|address|user|e-?mail) (\S+ ){0,4}?(has )?expired`, `(disabled|inactive|suspended|deactivated|closed|expired) (e-?mail |mail )?(account|mailbox|user|recipient|address)`, `no longer (active|in use|in service|monitored|valid|accept\w* (\S+ ){0,2}?(e-?mails?|messages?)|available|used|exists?|works?|employed|with)`,
			`(account|mailbox|user|address|recipient)( \S+){0,3}? not (currently )?(active|enabled)\b`, `not an active (address|account|user|mailbox)`, `(deactivated|disabled|closed) due to`, `extended inactivity`, `user has ?n.t (entered|logged)`, `not capable (to|of) receiv`, `temporar(il)?y locked`, `archived recipient`, `archiv[ée]e`, `(has been|is|was) (currently |temporarily )?suspended`, `suspend the service`, `inactivated`, `(customer|subscriber) .{0,20}(cancel|terminat)`, `(mailbox|account|address) (has |have )?not been (used|accessed|activated|logged)`, `mailbox cannot be accessed`, `accountdisabled`, `expirad[oa]`, `caducad[oa]`, `mailbox .{0,20}not (available|active|enabled)`, `(mailbox|mail ?box|account|user|recipient|address|domain) (\S+ ){0,4}?not accepting (any )?(mail|messages|email)`, `account (\S+ )?deleted`, `deleted by user`, `no (recipient )?activity`, `log ?in to enable`, `заблокирован`, `отключ[её]н`, `удал[её]н`, `неактивн|не активен`, `停用`, `冻结`, `凍結`, `禁用`, `注销`, `利用停止|解約|契約終了`,
			`(compte|cuenta|conta|konto|casella|buz[oó]n|hesab\S*|аккаунт|ящик) .{0,30}(d[ée]sactiv|ferm[ée]|clos|suspend|inactiv|desativ|suspens|inativ|bloquead|cancelad|disattiv|sospes|chius|scadut|deaktiviert|gesperrt|inaktiv|geschlossen|zablokowan|nieaktywn|zawieszon|kapat|devre)`, `mailbox disatt+ivata`)},
	{id: "no-domain-words", stages: []Stage{Rcpt, Data, Dot}, reason: InvalidDomain,
		words: words(`null ?mx`, `uses mx in (\S+ )?address space`, `(host|domain)( name)?( \S+)? (is |was )?(unknown|not found|invalid|non-?existent|does not exist|doesn.?t exist|not exist|has no (mx|mail|a\b))`, `(unknown|no such|invalid|bad|non-?existent|unresolvable) (destination |recipient )?(host|domain|destination (host|domain|system))`, `indicated no smtp service`, `(recipient )?domain must exist`, `mail domain mentioned .{0,30}unknown`, `host does not accept mail`, `mail receiving disabled`, `find the recipient domain`, `name or service not known`, `domain name not found`, `domain (is )?not (in use|used for mail)`, `could ?n.t find a mail exchanger`, `no relevant answers`, `unrout(e?)able (mail )?domain`, `(domain|host)( name)? .{0,60}could ?n.t be (found|resolved)`, `(could ?n.t|cannot|unable to) (find|resolve|look ?up) (the )?(recipient )?(domain|host|mx)`,
			`(domaine|dominio|domínio|domena|домен|domein|domän|alan adı).{0,40}(introuvable|inexist|no existe|non esiste|n[ãa]o existe|nie istnieje|не существует|не найден|bestaat niet|finns inte|bulunamadı)`, `(no|does ?n.t|does not) (have|accept|receive) (any |an )?(mx|mail|e-?mail) (record|according)`, `doesn.t receive e?mail`, `域名(不存在|错误|无法)`, `host or domain name not found`,
			`nxdomain`, `no (valid )?(mx|mail exchangers?|mail ?hosts?)\b`, `all relevant mx`, `name service error .{0,60}not found`, `domain .{0,40}does ?n.t accept mail`, `does not accept mail\b`, `unrouteable mail domain`, `couldn.t find any host`, `dns (lookup )?.{0,30}(no (such|mx|record)|nonexistent|does not exist)`,
			`domain .{0,30}(expired|suspended)`, `badhostname`, `hostnotfound`, `hôte inconnu`, `domaine inconnu`, `域名不存在`)},
	{id: "no-mailbox-words", stages: []Stage{Rcpt, Data, Dot}, codes: []int{5}, reason: InvalidRecipient, words: noMailbox},

	// Refusals of the message, in general words.
	{id: "message-refused", stages: []Stage{Rcpt, Data, Dot}, codes: []int{5}, reason: SpamContent,
		words: words(`\b(message|content|mail) .{0,40}(rejected|refused|blocked|denied|prohibited|not accepted|unacceptable|objectionable|inappropriate|suspicious|harmful)`,
			`(rejected|refused|blocked|denied) .{0,50}(content|message)`)},
	// Who refuses a connection knows the network only, and who refuses MAIL knows the sender, too.
	{id: "denied-connection", stages: []Stage{Connect, TLS}, codes: []int{5}, reason: ReputationBlock, words: denied},
	{id: "denied-sender", stages: []Stage{Mail}, codes: []int{5}, reason: SenderRejected, words: denied},
	{id: "denied-words", codes: []int{5}, reason: RefusedByPolicy, words: denied},

	// Codes for one reason each. The rules for prefixes come last.
	{id: "inactive-code", stages: []Stage{Rcpt, Data, Dot}, enhanced: []string{"5.7.13", "5.2.1"}, reason: InactiveMailbox},
	{id: "owner-changed", stages: []Stage{Rcpt, Data, Dot}, enhanced: []string{"5.7.17"}, reason: InvalidRecipient},
	{id: "loop-code", enhanced: []string{".4.6", ".4.14"}, reason: RoutingLoop},
	{id: "expired-code", enhanced: []string{".4.7", ".4.300"}, reason: ExpiredQueue},
	{id: "full-code", stages: []Stage{Rcpt, Data, Dot}, enhanced: []string{".2.2"}, reason: MailboxFull},
	{id: "size-code", enhanced: []string{".3.4", ".2.3"}, reason: MessageTooLarge},
	{id: "policy-code-of-connection", stages: []Stage{Connect, TLS}, enhanced: []string{"5.7."}, reason: ReputationBlock},
	{id: "policy-code-of-sender", stages: []Stage{Mail}, enhanced: []string{"5.7."}, reason: SenderRejected},
	{id: "policy-code", enhanced: []string{"5.7."}, reason: RefusedByPolicy},
	{id: "later-policy-code", enhanced: []string{"4.7."}, reason: RateLimited},
	{id: "no-null-mx", stages: []Stage{Rcpt}, codes: []int{556}, reason: InvalidDomain},
	{id: "no-mailbox-code", stages: []Stage{Rcpt, Data, Dot}, enhanced: []string{"5.1.1", "5.1.3", "5.1.6"}, reason: InvalidRecipient},
	{id: "no-domain-code", stages: []Stage{Rcpt}, enhanced: []string{"5.1.2", "5.1.10", "5.4.4", "5.4.310", "5.4.32"}, reason: InvalidDomain},
	{id: "dns-code", enhanced: []string{".4.3", ".4.4"}, reason: DNSTemporary},

	// Refusals and failures without a clear reason.
	{id: "tls-failed-words", reason: TLSFailed, words: words(`(tls|ssl) (\S+ ){0,3}?(handshake|negotiation|error|failed|failure)`, `certificate (verif|not trusted|has expired|validation)`, `cannot start tls`)},
	{id: "timeout-words", reason: Timeout, words: words(`timed? ?out`, `time-out`, `not respond`, `no (response|answer)`, `read error`)},
	{id: "connect-words", reason: ConnectFailed, words: words(`connection (attempt )?(was )?(refused|reset|dropped|closed|lost|failed|aborted)`, `(no route to|unreachable|lost connection|could ?n.t connect|cannot connect|can.t connect|failed to connect|unable to connect|connection died)`, `network (is )?unreachable`, `all hosts .{0,40}fail`, `able to (establish|make) (an?|any) (smtp )?connection`, `requests to connect`, `unable to contact`, `network error`, `host is down`, `(domain|host|server) is not reachable`, `not reachable`, `no route`)},
	{id: "dns-words", reason: DNSTemporary, words: words(`(temporary|transient) .{0,30}(lookup|resolution|dns|name service)`, `(dns|name service|name server|mx|host|cname) (\S+ ){0,3}?(lookup|resolution) (\S+ ){0,2}?(fail|error|timed)`, `name service error`, `servfail`, `no dns (\S+ )?data`, `host lookup did not complete`)},
	{id: "remote-words", codes: []int{4}, reason: RemoteSystem, words: words(`error (in |while )?processing`, `local (error|problem|policy)`, `internal (server )?error`, `temporary (local|system|internal|failure)`, `system (error|problem|not accepting)`, `shutting down`, `maintenance`, `service (is )?(unavailable|not available)`)},
	{id: "remote-failure", reason: RemoteSystem, words: words(`local (error|problem)`, `temporary (local|system|internal|failure|problem|error)`, `system (error|failure|problem)`, `server (error|failure|is down)`, `mailer error`, `i/o error`, `error writing`, `(cannot|can.t|unable to|could not) (access|open|append|create|write|lock)`, `(command|process) (died|failed|exited)`, `exit (status|code)`, `procmail`, `database`, `maintenance`, `configuration (error|problem)`, `try again later`, `please try (later|again)`)},
	{id: "network-code", enhanced: []string{".4.1", ".4.2", ".4."}, reason: ConnectFailed},
	{id: "system-code", weak: true, enhanced: []string{".3."}, reason: RemoteSystem},
	{id: "protocol-code", weak: true, enhanced: []string{".5.", ".6."}, reason: Protocol},
	{id: "protocol", weak: true, codes: []int{500, 501, 502, 503, 504, 555}, reason: Protocol,
		words: nil},
	{id: "full-basic-code", stages: []Stage{Rcpt, Dot}, codes: []int{552}, reason: MailboxFull},
	{id: "deferred-words", codes: []int{4}, reason: RateLimited, words: words(`(temporarily|being) deferred`)},
	{id: "later-system", codes: []int{451, 452, 421}, enhanced: []string{""}, reason: RemoteSystem},

	// Only the stage is left to decide.
	{id: "refused-connection", weak: true, stages: []Stage{Connect, TLS}, codes: []int{5}, reason: ReputationBlock},
	{id: "refused-sender", weak: true, stages: []Stage{Mail}, codes: []int{5}, reason: SenderRejected},
	{id: "refused-message", weak: true, stages: []Stage{Data, Dot}, codes: []int{5}, reason: SpamContent},
}

// Enhanced codes about the sender and its volume, which few servers use for anything else.
var (
	authCodes      = []string{".7.20", ".7.21", ".7.22", ".7.23", ".7.24", ".7.25", ".7.26", ".7.27", ".7.30", ".7.31", ".7.32", ".7.40", ".7.509", ".7.515", ".7.9"}
	rateCodes      = []string{".7.28", ".4.5", ".5.3"}
	codesOfSenders = slices.Concat(authCodes, rateCodes)
)

// denied matches texts that refuse something, and do not say why.
var denied = words(`\bblocked\b`, `not (authori[sz]ed|allowed|permitted)`, `denied`, `refused`, `forbidden`, `administrator`)

// full matches texts about a full mailbox.
var full = words(`over ?quota`, `no (more )?room in`, `quotas?\b`, `recipient storage full`, `(exceed\w*|over) .{0,30}(message count|number of (stored )?messages)`, `able to receive any more (e?mail|messages)`, `larger than the space available`, `(mailbox|mail ?box|inbox|account|mail ?folder|postfach|maildir|mail file|mail storage|user.?s mailbox|box) (\S+ ){0,3}?(is |was |are )?(over ?)?(full|voll|überfüllt|ueberfuellt|pleine?|llen[oa]|pien[ao]|cheia|pełna|переполнен)`,
	`full mailbox`, `(mailbox|inbox|account|storage|user|recipient) (\S+ ){0,6}?(exceed|over|exhaust|out of|reach)\w* (\S+ ){0,4}?(size|limit|quota|storage|space|allocat\w*|capacity)`, `out of (storage|space|disk)`, `insufficient (mailbox |disk )?(storage|space)`,
	`(storage|disk) (space )?(limit|allocation|exceeded)`, `exceeded storage`, `not enough (storage|space|room|disk)`, `no (more )?(storage|space) (left )?(in|for|available)`, `mail ?box size limit`, `bo[iî]te .{0,30}pleine`, `not? (have )?(enough|sufficient) (disk )?space`, `(space|storage) (is )?not enough`, `hat zu ?viele`, `space has (been )?used up`, `too much mail data`, `number of messages in .{0,30}exceed`, `file too large`, `mailbox .{0,80} is full`, `(is |are )full\b`, `(casella|caixa|skrzynka|schránka|postvak|brevlådan?|postkasse\w*|posta kutusu|kotas[ıi]) .{0,40}(pien[ao]|chei[ao]|pełn|przepełn|plná|vol\b|full|fuld|dolu|aş)`, `kvot`, `limite de (almacenamiento|armazenamento)`, `(espacio|espaço|spazio|espace).{0,20}(insuf|esaurit|agotad)`, `превышен.{0,40}(квот|лимит|размер)`, `квот`, `нет .{0,20}места`, `(已满|已滿|空间不足|空間不足|容量不足)`, `いっぱい`, `(용량|가득)`, `buz[oó]n .{0,30}llen`, `ящик .{0,20}переполнен`, `переполнен`, `信箱已满`, `邮箱(空间不足|已满)`, `容量`, `voll ist`, `speicherplatz`)

// noMailbox matches texts about addresses that do not exist.
var noMailbox = words(`ディレクトリのリストにありません`, `(user|recipient|mailbox|mail ?box|address(ee)?|account|alias|local.?part|person|e-?mail|inbox|username|client)s?( name| account| address| part)?( is| was|\.| are| has been)? (unknown|invalid|undefined|non-?existent|unavailable|unrecognized)`, `(unknown|invalid|no such|non-?existent|nonexistent|bad|undeliverable|unrecogni[sz]ed|illegal|incorrect|wrong|unresolvable) (or \S+ )?(local )?(destination |virtual |email |e-mail |mail |rcpt |forward-?path |local )?(user|recipient|mailbox|mail ?box|address|account|local|alias|person|rcpt|e-?mail|inbox|destination address)`,
	`(user|recipient|mailbox|address|account|alias|inbox|name|e-?mail|person|domain|you tried to reach|destination) (\S+ ){0,8}?(does ?n.?o?t|do not|don.?t|did not|didn.?t|not|doesnt) (\S+ )?(exist|appear to exist|found|match|have an? )`, `does ?n.t (exist|have an? \S*( yahoo\S*)? ?(account|mailbox))`, `does not have (an? )?\S* ?(account|mailbox)`,
	`(user|recipient|mailbox|address|account|e-?mail|alias|entry|inbox|member)s?( \S+){0,3}? (not|could ?n.?t be|could not be|cannot be|can.?t be|was not|wasn.t|is not) (found|resolved|listed|located|recogni[sz]ed|known|valid|a valid|local|identified)`,
	`no (such )?(user|mailbox|recipient|account|address|person)s?( \S+){0,2}? (here|by that name|with that|found|named|exists?|in|at|on)`, `no mailbox (here|found|by)`, `no such (user|recipient|mailbox|address|account|person|local|rcpt|destination|email|domain at|here)`, `recipientnotfound`, `resolver\.adr\.(recip(ient)?not ?found|exrecipnotfound|recipnotfound)`, `not (a )?known (user|recipient|address)`,
	`not our (customer|user)`, `(user|mailbox|recipient|address) (\S+ )?not (local|here|exist|available|known|present)`, `(is|are) not a (known|valid|registered|local|current) (user|recipient|address|mailbox|e-?mail|account)`, `unknown (user|recipient|mailbox|address|account|local|or illegal alias)`, `user ?unknown`, `mailbox unavailable`, `mailbox (name )?not (allowed|found)`, `unrout(e?)able address`,
	`all recipient addresses rejected ?: access denied`, `no local user`, `dosn.t exist`, `recipient address rejected: (access denied|undeliverable|unverified|user|unknown|address|no such|invalid)`, `(not|isn.t) a? ?valid (recipient|user|mailbox|address)`, `recipient (address )?(was |has been )?(rejected|refused)\W*$`, `recipient rejected\W`, `address (was |has been )?(rejected|refused)\W*$`, `#5\.1\.0 address rejected`, `has moved`, `user (has )?moved`, `address (has )?changed`, `can.?t verify recipient`, `recipient verify fail`, `(recipient|address|rcpt) (verification|check) fail`, `left the (company|organi[sz]ation)`,
	`not listed in (domino|public|the)`, `no matches? (found )?(for|in)`, `not in (the )?recipient list`, `nosuchuser`, `(user|recipient|mailbox|account) ["'][^"']+["'] (is )?(unknown|not known|invalid)`, `^(\d{3}[ -])? ?not used\W*(\(in reply|$)`, `list (was |is )?(not found|unknown)`, `address does not receive e?mail`, `unable to validate (the )?recipient`, `550 5\.1\.1`, `doesn.t exist`, `isn.t (in|a|listed|valid)`, `wasn.t found at`, `address not found`, `couldn.t be found`, `typo`, `no ?one (here |there )?by that name`, `is not known here`, `ungültige? (empfänger|adresse)`,
	`unbekannt`, `existiert (hier )?nicht`, `server rejected recipients`, `mailbox unav\w+`, `nessun utente`, `not (an? )?e?mail address(es)?\b`, `(mail|messages?) to this address bounces?`, `recipient (is )?not (accepted|ok|correct)`, `recipients? (was|were|is|are) undeliverable`, `badrecipientto`, `missing home directory`, `recipient address rejected\. \(`, `has been replaced by`, `weren.t able to find the recipient`, `invalid x\.400 address`, `not a valid rfc \d+ address`, `no longer on server`, `no valid recipients?\b`, `\bno mail ?box\W*$`, `several matches found`, `address not present`, `can.?t accept user`, `addresses? (were|was|is|are) unknown`, `no mail ?box available for`, `not a local address`, `recipient not ?found`, `badrcptto`, `no ?one (at|with) (this|that)`, `validrcptto`, `(recipient|recipient address|user) is not (in|on) (my|our|the) (local )?list`, `recipient cannot be verified`, `user path no exist`, `not found or inactivated`, `final delivery userid`, `mail for that user`, `bad destination mailbox`, `addressee unknown`, `no such mail ?drop`, `not a registered`, `unknown account`, `user .{0,40}not registered`, `no account by that name`, `no (such )?e?mail address`,
	`destinat(ario|aire|ário)\w* .{0,30}(sconosciut|inconnu|desconocid|desconhecid|errat|inv[aá]lid|inexist|n.existe|no existe|non esiste|não existe|introuvable)`, `adresse .{0,30}(invalide|inconnue|n.existe|introuvable|ungültig|unbekannt|existiert nicht)`, `indirizzo .{0,20}(inesistente|non valido|errato|sconosciuto)`, `nie ma takiego`, `kullanıcı .{0,30}(bulunamadı|yok|mevcut değil|tanınm)`, `không tồn tại`, `לא (קיים|נמצא)`, `غير موجود`, `nem (létezik|található)`, `nu exist[aă]`, `δεν υπάρχει`, `ei ole olemassa`, `tuntematon`, `(eksisterer|finnes|findes) ikke`,
	`无效(地址|用户|收件人)`, `(用户|用戶|收件人|邮箱|郵箱|帐号|賬號|地址)(不存在|未找到|无效)`, `(宛先|ユーザ|メールアドレス).{0,20}(不明|見つかり|存在しま|ありません)`, `(수신자|사용자|계정|주소).{0,20}(없|존재하지)`, `nicht (gefunden|vorhanden|bekannt)`, `kein(e|en)? (postfach|benutzer|empfänger|solche)`, `inconnue?`, `n.existe pas`, `inexistant`, `introuvable`, `desconocid[oa]`, `no existe`, `sconosciut[oa]`, `non esiste`, `inesistente`, `desconhecid[oa]`, `inexistente`, `n[ãa]o existe`, `nie istnieje`, `nieznany`, `onbekend`, `bestaat niet`, `finns (inte|ej)`, `okänd`, `ukjent`, `neznám`, `neexistuje`, `ismeretlen`,
	`не (существует|найден|зарегистрирован)`, `неизвестн`, `нет такого`, `недоступен`, `不存在`, `無此`, `无此`, `查无`, `找不到`, `存在しま(せん|せん)`, `見つかりません`, `宛先不明`, `ユーザー?不明`, `없는 (사용자|주소)`, `존재하지`)

// words returns alternatives, any of which may match.
func words(alternatives ...string) []string { return alternatives }
