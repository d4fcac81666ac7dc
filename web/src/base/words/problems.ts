import { catalogue } from "./catalogue";
import { fieldName } from "./fieldNames";
import { quoted } from "./forms";
import { fixText, mailText } from "./mailTexts";
import { serverText } from "./serverTexts";

// What the server finds wrong with a field is a fragment for programmers, such as "must have at least 10 characters".
// The sentences here say the same to people, with the name that the page gives to the field. A test reads all fragments
// in the server's sources, and reports those that have no sentence.

type Place = { name: string; low: string; high: string; what: string };

// A name may stand for several values ("3 entries of Tags"), so that only verbs without a number follow it.
const words = catalogue("errors.problems", {
	required: "{name} must be filled in.",
	styles:
		"The styles are too large to be written into the elements. Use fewer and shorter rules, or switch off that this is done.",
	again: "{name} must be entered again, because what it belongs to has changed.",
	length: "{name} must have {low} to {high} characters.",
	shortest: "{name} must have at least {low} characters.",
	longest: "{name} can have at most {high} characters.",
	size: "{name} can have at most {high}.",
	entry: "{name} must have at least one entry.",
	entries: "{name} must have {low} to {high} entries.",
	fewest: "{name} must have at least {low} entries.",
	most: "{name} can have at most {high} entries.",
	every: "{name} must include every entry. Load the page again.",
	range: "{name} must be a number from {low} to {high}.",
	least: "{name} must be at least {low}.",
	greatest: "{name} must be at most {high}.",
	above: "{name} must be more than {low}.",
	below: "{name} must be less than {high}.",
	weight: "{name} must be more than 0, and at most 1,000,000.",
	number: "{name} must be a number, such as 12.5.",
	whole: "{name} must be a whole number, such as 12.",
	positive: "{name} must be a number above 0.",
	tooLarge: "{name} must be a smaller number.",
	yes: "{name} must be yes or no.",
	choice: "{name} must be one of the choices.",
	text: "{name} must be a text.",
	line: "{name} must be one line.",
	plain: "{name} must not contain control characters.",
	ascii: "{name} must have only letters without accents, digits and signs, on one line.",
	key: "{name} must have {low} to {high} letters, digits, hyphens and underscores, without spaces.",
	identifier: "{name} must begin with a letter, and have only small letters, digits and underscores, at most 64.",
	slug: "{name} must have {low} to {high} small letters, digits and hyphens, and begin and end with a letter or a digit.",
	notId: "{name} must not look like an id. Choose words.",
	guess: "{name} must be harder to guess. Use several words that do not belong together.",
	email: "{name} must be an email address, such as ann@example.com.",
	url: "{name} must be a web address, such as https://example.com/page.",
	https: "{name} must be a web address that begins with https://.",
	origin: "{name} must be the address of a website without a path, such as https://example.com.",
	public: "{name} must be an address that the internet can reach.",
	credentials: "{name} must not contain a user name, a password or a part after #.",
	scripts: "{name} must be a web address, not a program.",
	host: "{name} must be the name of a host, such as mail.example.com.",
	another: "{name} must be another host.",
	subdomain: "{name} must be different from the subdomain of the return path.",
	ip: "{name} must be an IP address, such as 203.0.113.7.",
	ownIp: "{name} must be an address of this server that others can reach.",
	date: "{name} must be a date, such as 2026-05-09.",
	dateTime: "{name} must be a date and a time, such as 2026-05-09T14:30:00Z.",
	time: "{name} must be a time, such as 08:30.",
	future: "{name} must be in the future.",
	afterStart: "{name} must be later than the start.",
	beforeEnd: "{name} must not be later than the end.",
	early: "{name} must be a later day.",
	span: "{name} must be at most {high} days before the end.",
	zone: "{name} must be a time zone, such as Europe/Amsterdam.",
	language: "{name} must be the code of a language, such as en or pt-BR.",
	currency: "{name} must be the code of a currency, such as EUR.",
	country: "{name} must be the code of a country, such as NL.",
	colour: "{name} must be a colour, such as #1a73e8.",
	region: "{name} must be a region of AWS, such as eu-central-1.",
	accessKey: "{name} must be the id of an access key of AWS, without spaces.",
	topic: "{name} must be the ARN of a topic, such as arn:aws:sns:eu-central-1:123456789012:bounces.",
	reply: "{name} must be the reply of a server, such as 550 5.1.1 no such user.",
	image: "{name} must be a PNG, JPEG, GIF or WebP image.",
	pixels: "{name} must be an image with fewer pixels.",
	lastDays: "{name} can be at most {high} days ago.",
	noStart: "Nothing starts this sequence: people enter only when they are added.",
	unseenEvent: "No event of this name has happened yet.",
	closedForm: "The form is not published, so nobody can submit it.",
	unknown: "{name} must be something that exists. Choose again.",
	list: "{name} must be a list that people are added to, not a segment by rule.",
	mergeField: "{name} must be a field of contacts.",
	textField: "{name} must be a field of contacts that holds a text.",
	dateField: "{name} must be the day of creation, or a custom field with a date.",
	twice: "{name} must be different from the others.",
	fixed: "{name} cannot be changed any more.",
	later: "{name} cannot be set yet.",
	notHere: "{name} must be empty here.",
	kind: "{name} must be completed, or chosen again.",
	stale: "{name} must be entered again, because what it names has changed.",
	condition: "{name} must have at least one condition.",
	conditions: "{name} can have at most {high} conditions.",
	nested: "{name} must have fewer levels.",
	operator: "{name} must be filled in. To ask only for whether there is one, choose “is set”.",
	order: "{name} must begin with the smaller value.",
	notNegative: "{name} must be 0 or more.",
	domainName: "{name} must have a domain, such as example.com.",
	domain: "{name} must be an address on one of your domains.",
	minMax: "{name} must not be larger than the highest value.",
	pattern: "{name} must have the form that the field asks for.",
	regexp: "{name} must be a regular expression.",
	complicated: "{name} must be a simpler regular expression.",
	limits: "{name} must have at least one limit.",
	tls: "{name} must be STARTTLS or TLS, because there is a login.",
	spfAll: "{name} must not end with +all, which lets everybody send. Use -all.",
	spf: "{name} must be an SPF record of one line that begins with v=spf1.",
	record: "{name} must be MX, TXT or CNAME.",
	json: "{name} must be valid JSON.",
	utf8: "{name} must be saved as UTF-8.",
	archive: "{name} must be an undamaged workbook, or an archive with a single file. Save a large table as CSV.",
	smallerTable: "{name} must be a smaller workbook or archive. Save a large table as CSV.",
	likeStatus: "{name} looks like the status of contacts and is not imported.",
	twoForms: "{name} can be read in two ways. Say how its values are written.",
	table: "{name} must be a CSV file or an .xlsx workbook. Save the table as one of them.",
	csv: "{name} must be a CSV file. Save the table as CSV (UTF-8).",
	header: "{name} must begin with a row that names the columns.",
	oneFile: "{name} must be one file.",
	column: "{name} must be a column of the file.",
	sameTarget: "{name} must be imported as something else, because another column is imported as this.",
	emailColumn: "{name} must have a column for the email address.",
	liquid: "{name} must not contain placeholders.",
	fontEnd: "{name} must end with serif, sans-serif or monospace, such as “Georgia, serif”.",
	fontUnknown:
		"{name} has a font that mail programs do not know. Use one such as Arial, Georgia, Verdana or Courier New.",
	brokenLiquid: "{name} must have valid placeholders, such as '{{ first_name }}'.",
	rawLiquid: "{name} must not switch off the protection of what placeholders print.",
	encoded: "{name} must not contain spaces, quotes or brackets. Write them percent-encoded.",
	slot: "{name} must be a block that fits there.",
	vouched: "{name} must be a policy of the choices.",
	scope: "{name} must have at least one permission of the list.",
	onlyHidden: "{name} can be set only for hidden fields.",
	people: "{name} must name at least one contact.",
	archived: "{name} must be active or paused.",
	link: "{name} can be set only where a click is asked for.",
	captcha: "{name} must be solved again. Load the page again.",
	several: "{name} must be different texts.",
	confirmLink: "The mail has no link to confirm with.",
	confirmMail: "The confirmation mail cannot be sent. Choose a default sender that is active.",
	requiredField: "The field for the email address must be required.",
	emailField: "Exactly one field must be for the email address.",
	metadata: "{name} must be a short text, a number, yes or no, or a list of them.",
	it: "This value",
	request: "(Request {id})",
	elements: "{count, plural, one {One entry of {name}} other {# entries of {name}}}",
	general: "{name} was not accepted.",
});

/** fill returns a message with what it has places for. */
const fill = (message: string | ((places: Place) => string), places: Place) =>
	typeof message === "string" ? message : message(places);

const nowhere: Place = { name: "", low: "", high: "", what: "" };

const N = "(?:[\\d,.-]+)";

/** The fragments of each sentence, the first that matches counts. Named groups are the values of its places. */
const fragments: [Exclude<keyof typeof words, "it" | "elements" | "request">, RegExp][] = [
	["styles", /inline_css off$/],
	["again", /^required, since the /],
	["length", /^(?:is )?required, (?<low>\d+) to (?<high>\d+) characters$/],
	["record", /^(?:required: |must be )MX, TXT or CNAME$/],
	["entries", /^required: (?<low>\d+) to (?<high>\d+) options$/],
	["reply", /^(?:required: an SMTP reply|must begin with a code of three digits)/],
	[
		"required",
		/^(?:is )?required(?:$|[,;: ])|^(?:must not be null|must not be empty$|expected length >= 1$)|^must be a string that is not empty$|^must name (?:a |what )|^needs (?:content\.)?message_id$|^the binding is missing$/,
	],
	["operator", /^must not be empty; is_set/],
	["vouched", /^must be (?:verified, confirmed or apparent)$/],
	["guess", /^is too easy to guess/],
	[
		"people",
		/^name at least one contact|^name the contacts here|^send contact_id, email|^send contact_ids or selector|^contact_email/,
	],
	["scope", /^name at least one scope|^no such scope/],
	[
		"entry",
		/^at least one is needed$|^must hold at least one value$|at least one (?:value|part|field)$|^a strict enum field needs at least one value$|^names? at least one/,
	],
	["shortest", /^must have at least (?<low>\d+) characters|^expected length >= (?<low2>\d+)/],
	["slug", /^use (?<low>\d+) to (?<high>\d+) lower-case letters, digits and hyphens/],
	[
		"identifier",
		/^must begin with a letter and hold only|^must be 1 to 64 (?:lower case )?letters, .*the first a letter|^keys are a lower-case letter/,
	],
	["accessKey", /^must be the id of an access key/],
	["key", /^must (?:be|have) (?<low>\d+) to (?<high>\d+) (?:lower case )?letters, digits/],
	["ascii", /(?:visible )?ASCII characters/],
	["several", /^must be different texts/],
	["length", /^must (?:be|have) (?:a string of |texts? of )?(?<low>\d+) to (?<high>\d+) characters/],
	[
		"longest",
		/^(?:must (?:be|have) )?(?:a string of )?at most (?<high>[\d,]+) characters|^expected length <= (?<high2>\d+)|^is a string of more than (?<high3>\d+) characters|^is one pattern too many: all together may have (?<high4>\d+) characters/,
	],
	["size", /(?:at most|larger than) (?<high>[\d.,]+ (?:bytes|KB|MB))/],
	[
		"table",
		/^is (?:UTF-32|a PDF|a workbook of an old|compressed|an archive in)|^has a header row that cannot be read: .*NUL/,
	],
	["plain", /NUL|control character|line breaks$/],
	["pixels", /pixels/],
	["span", /^must be at most (?<high>\d+) days before/],
	["conditions", /^at most (?<high>\d+) conditions/],
	[
		"metadata",
		/^must be a string, number, boolean or an array|^must be a text, a number or a boolean|^must be a string, a number or a boolean/,
	],
	[
		"entries",
		/^must (?:be|have|hold) (?:a list of )?(?<low>\d+) to (?<high>\d+) (?:actions|addresses|events|ids|uuids|variants|tags|entries)/,
	],
	[
		"most",
		/^(?:must (?:be|have|hold) )?(?:an object with |a list of )?(?:at most|has more than|more than) (?<high>\d+)(?: (?:fields|columns|font families|contacts(?: at once)?|host names|lists|origins|tags|values|days|ids|keys|events at once|items))?$|^expected array length <= (?<high2>\d+)|^expected object with at most (?<high3>\d+)|^has more than (?<high4>\d+) (?:keys|items|columns)|^must be an object with at most (?<high5>\d+) keys|^must be an array of at most (?<high6>\d+) strings/,
	],
	[
		"fewest",
		/^expected array length >= (?<low>\d+)|^expected object with at least (?<low2>\d+)|; at least (?<low3>\S+) must be there$/,
	],
	["most", /; at most (?<high>\S+) are allowed$/],
	["every", /^must name every /],
	["weight", /^must be a number (?:over|above) 0,? (?:and )?at most/],
	[
		"range",
		new RegExp(
			`^must be (?:from |between |a whole number from )?(?<low>${N}) (?:to|and) (?<high>${N})(?:, or null.*)?$`,
		),
	],
	["positive", /^must be a positive integer$/],
	["notNegative", /^must not be negative$/],
	["minMax", /^must not be more than (?:max|the maximum)/],
	[
		"least",
		/^expected number >= (?<low>\S+)|^must be at least (?<low2>\S+)$|^must be a whole number from (?<low3>\d+)$/,
	],
	["greatest", /^expected number <= (?<high>\S+)|^must be at most (?<high2>\S+)$/],
	["above", /^expected number > (?<low>\S+)/],
	["below", /^expected number < (?<high>\S+)/],
	["tooLarge", /too large (?:a|or too small)|^is out of range$|^must be a number of at most/],
	["whole", /^(?:must be a )?whole number$|^invalid integer$|^expected (?:integer|number to be a multiple)/],
	[
		"email",
		/^must be an email address(?:$|:)|^not an address|^the (?:address|part before the @) |^(?:an address at an IP literal|only one address|a quoted local part) is (?:not )?accepted/,
	],
	["domainName", /^(?:the|a part of the) domain /],
	["domain", /is not one of the sending domains$/],
	["https", /^must begin with https:/],
	["pattern", /^must begin with |^must match the pattern|^expected string to (?:be|match)/],
	["public", /private or reserved address$|is private$|^connections to this address/],
	["credentials", /^must not contain a (?:user name|fragment)/],
	["scripts", /^must not hold a URL that runs/],
	["encoded", /^must not hold white space/],
	["origin", /^must be an origin/],
	[
		"host",
		/^must be (?:a host name|the name of a host)|^not a host name|^has a bad (?:host name|port)|^must be gmail, outlook|^a part of the domain with a \*/,
	],
	["another", /^must be another host$/],
	["url", /^the (?:link|address) "|^must be (?:an? )?(?:absolute )?(?:http or https )?URL/],
	["subdomain", /^must differ from return_path_subdomain$/],
	["ip", /^must be an IPv4 or IPv6 address$/],
	["ownIp", /^must be an address of this machine/],
	["future", /^must be a date and time in the future/],
	[
		"dateTime",
		/^must be a (?:date and time|date-time|time as RFC 3339)|^must be a date such as \S+, or a date and time/,
	],
	["date", /^must be a (?:date|day)\b|^must be an? (?:existing )?date/],
	["time", /^must be a time\b/],
	["afterStart", /^must be later than the start$/],
	["beforeEnd", /^(?:from )?must not be after to$|^the first must not be after the second$/],
	["early", /^must not (?:lie before|end after) /],
	["zone", /^must be (?:an IANA timezone|the IANA name)/],
	["language", /^must be a language tag/],
	["currency", /^must be (?:an ISO 4217|a currency code)/],
	["country", /^must be (?:a country code|an ISO 3166)/],
	["colour", /^must be a colou?r /],
	["region", /^must be a region of AWS/],
	["topic", /^must be the ARN/],
	["image", /^must be a PNG/],
	["captcha", /^has expired: load the form/],
	["smallerTable", /^is a workbook (?:or an archive of more|that is too large)/],
	["archive", /^is (?:a damaged workbook|an archive|a workbook without)/],
	["csv", /^is not (?:form-encoded|multipart)|^could not be read$|^is not text$/],
	["likeStatus", /^looks like a status/],
	["twoForms", /are both possible: say which$/],
	["utf8", /UTF-8/],
	["header", /header row/],
	["oneFile", /^send (?:one file|them once)$/],
	["sameTarget", /^%?.+ is what the column .+ is about already$/],
	["column", /^the file has no such column$/],
	["emailColumn", /^no column is email$/],
	[
		"mergeField",
		/^must be the path of a merge field|^is not a field (?:of contacts|that can be imported)|^there is no such field of contacts$|^the contact has no field/,
	],
	["textField", /^must be (?:email or )?a text field|^must be custom_fields\./],
	["dateField", /^must be created_at or a custom field/],
	["list", /is not a static list$|^must be the key of a static list$|^%?.+ is (?:a list|a segment): ask for it/],
	[
		"unknown",
		/^must be (?:a|the) (?:uuid|UUID|key|id|type_key)|^must be a list of uuids$|^must be an event type|^no such |^no (?:email type|MTA config|template|list or segment|sending identity) has |^the workbook has no such sheet|^there is no (?:such |type |action |template |list |segment |status |email type |static list |stage )|^has ids that are not|^names no |^not a declared|^the broadcast has no such|^no node has|names nothing that is declared|^the message was deleted$|^the (?:stage|list|template) .*was deleted|^a list was deleted$|^names either|^must be the tenant's slug$|^must be the id/,
	],
	[
		"twice",
		/^is there twice$|^%?"?.*"? (?:is there|is declared) twice$|^another (?:field|rule|node|edge|entry|contact) |^is taken by another|^names an MTA config that is in the list|stands in .* already$|^more addresses than there|items to be unique$/,
	],
	["fixed", /^cannot be changed|cannot be skipped any more$/],
	["later", /^is not available yet$/],
	["stale", /^is not valid(?: any more)?$|entity tags/],
	["condition", /^must hold at least one condition$/],
	["nested", /nested|levels of objects/],
	["complicated", /^is too complicated/],
	["regexp", /^must be a regular expression/],
	["order", /^the first must not be larger/],
	["limits", /^needs max_/],
	["tls", /^a login needs starttls/],
	["spfAll", /^\+all allows/],
	["spf", /^an SPF record |^the term /],
	["onlyHidden", /^only hidden fields/],
	["link", /^only a click has a link$|^goes with the /],
	[
		"notHere",
		/^is (?:for|only for) |^only (?:inputs|MX|MTA configs|conditions) |^an MTA config of type .* has no such setting$|has no such field$|^is not a (?:field|rule) of |^unexpected property|^may hold only|^must not set|^a variant cannot have|^a (?:text block|reference to a contact) |^at most one of |^has either /,
	],
	["archived", /^a new automation is active/],
	["lastDays", /^must be at most (?<high>\d+) days ago$/],
	["noStart", /^nobody enters unless/],
	["unseenEvent", /^no event .* has happened yet$/],
	["closedForm", /^the form is not published$/],
	["confirmLink", /^no link$/],
	["confirmMail", /^no sender can send the confirmation/],
	["emailField", /^exactly one field must be bound/],
	["requiredField", /^the email field must be required$/],
	["fontEnd", /^must end with serif/],
	["fontUnknown", /^has a font family/],
	["brokenLiquid", /Liquid that /],
	["rawLiquid", /^must not use the /],
	["liquid", /^must not hold Liquid/],
	["slot", /^is required, and no block|^is not a strategy|is not a strategy that|^has no block/],
	["line", /one line/],
	["yes", /^must be true or false|^expected boolean$/],
	[
		"kind",
		/^cannot be (?:stored|kept)|^must be (?:an? )?(?:JSON object|object|array|single condition|group|"and" or)|^expected (?:object|array|value)|^must be of type|^must be an? .*, not |^a (?:leaf|condition) |^a value does not fit|^must have exactly one of|^it must be one object|^content has no part|^add or remove is required|^is not a condition/,
	],
	["json", /JSON/],
	["text", /^(?:must be )?(?:a )?(?:string|text)(?:,|$)|^expected string$|^must be a string/],
	["number", /^(?:must be )?a number$|^expected number$/],
	[
		"choice",
		/^must be (?:one of|now,|[\w:/+-]+(?:, [\w:/+-]+)* or [\w -]+)|^known types|^must be email$|^must be a comma list|^must be (?:true or only|"\w+" or)|^%?.* is not a status|^must look like/,
	],
	["notId", /^must not look like an id$/],
];

/**
 * problemSentence returns a sentence about a problem of a field, or null if the fragment is not known.
 * name is what the page calls the field.
 */
export function problemSentence(fragment: string, name: string): string | null {
	const [, count, rest = ""] = /^(?:(\d+) elements?: )?(.*)$/s.exec(fragment) ?? [];
	const subject = count ? words.elements({ count: Number(count), name }) : name;
	for (const [key, form] of fragments) {
		const match = form.exec(rest);
		if (!match) continue;
		const places: Place = { ...nowhere, name: subject };
		for (const [place, value] of Object.entries(match.groups ?? {}))
			if (value) places[place.replace(/\d$/, "") as keyof Place] = value;
		return fill(words[key], places);
	}
	return null;
}

/** general is the sentence about a problem that has no other. */
export const general = (name: string) => words.general({ name: name || words.it });

/** Parts of the server's messages that name a field. */
const clauses = catalogue("errors.clauses", {
	line: "{name}, line {low}: {what}",
	about: "{name}: {what}",
});

/** clauseSentence returns a message of the server as sentences, or null if it has none. */
export function clauseSentence(message: string): string | null {
	const known = serverText(message);
	if (known) return known;
	const [, at, line = "", behindLine = ""] = /^([\w.[\]]+), line (\d+): (.*)$/s.exec(message) ?? [];
	if (at) {
		const name = fieldName(at);
		return clauses.line({ name, low: line, what: mailProblem({ field: at, message: behindLine }) });
	}
	const [, path, behindPath = ""] =
		/^([a-z]\w*(?:\.\w+|\[\d+\])+|[a-z]+(?:_[a-z]+)+)(?: \([^)]*\))?: (.+)$/s.exec(message) ??
		/^([a-z]+(?:_[a-z]+)+) ((?:must|is|has|cannot|names|needs) .+)$/s.exec(message) ??
		[];
	if (path) {
		const name = fieldName(path);
		const rest = clauseSentence(behindPath);
		const sentence = problemSentence(behindPath, name) ?? (rest && clauses.about({ name, what: rest }));
		if (sentence) return sentence;
	}
	return mailText(message);
}

/** mailProblem says what is wrong with a part of a mail. What other programs say, such as the compiler of MJML, is quoted. */
export const mailProblem = ({ field, message }: { field: string; message: string }) =>
	mailText(message) ?? problemSentence(message, fieldName(field) || words.it) ?? serverText(message) ?? quoted(message);

/** mailFix says how a problem of a mail is solved. */
export const mailFix = (fix: string) => fixText(fix) ?? quoted(fix);

/**
 * fieldSentence says what is wrong with a field. name is what the page calls it, if that is not its usual name. If the
 * server's text is not known, the sentence is a general one, with the id of the request.
 */
export function fieldSentence(
	{ path, message }: { path: string; message: string },
	name = fieldName(path),
	request: string | null = null,
): string {
	const [first = ""] = message.split(/; (?=[\w.[\]]+: )/); // the first of several
	const fragment = first.replace(/^(?:\w+(?:\.\w+|\[\d+\])+|[a-z]+_[a-z_]+): /, ""); // the path of a part of the value
	const sentence = problemSentence(fragment, name || words.it) ?? clauseSentence(fragment);
	return sentence ?? general(name) + (request ? ` ${words.request({ id: request })}` : "");
}
