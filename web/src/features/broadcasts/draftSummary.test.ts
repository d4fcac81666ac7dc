import { equals, type Tests } from "../../base/testing";
import { preheadersOf, sendersOf, shownWithout, subjectsOf, warningsOf } from "./draftSummary";

const warning = (code: string, message = "") => ({ code, message });
const warned = (readiness: object[] | null, own: object[]) =>
	warningsOf({ view_model: { schedule_readiness: readiness && { warnings: readiness } }, warnings: own } as never).map(
		(warning) => `${warning.code}${warning.message}`,
	);
const share = (email: string | null, expected: number, mta_config_key: string | null = null) => ({
	email,
	expected,
	mta_config_key,
});

const tests: Tests = {
	"warnings are told once each, those of saving too"() {
		equals(warned([warning("NO_DMARC"), warning("NO_SCHEDULED_AT")], []), ["NO_DMARC"]);
		equals(warned([warning("NO_DMARC")], [warning("NO_DMARC"), warning("TEMPLATE_CHANGED")]), [
			"NO_DMARC",
			"TEMPLATE_CHANGED",
		]);
		equals(warned([warning("LANE_UNVERIFIED", "a"), warning("LANE_UNVERIFIED", "b")], []), [
			"LANE_UNVERIFIEDa",
			"LANE_UNVERIFIEDb",
		]);
		equals(warned(null, [warning("NO_SCHEDULED_AT")]), []);
		const warningAt = (field: string, line: number) => ({ ...warning("DEAD_LINK"), field, line });
		equals(
			warned([warningAt("html", 1), warningAt("html", 2), warningAt("text", 1)], [warningAt("html", 1)]).length,
			3,
			"warnings of one kind at several places",
		);
	},
	"the senders are those that will send"() {
		const selected = { sending_identity_emails: ["a@example.com", "b@example.com"] };
		equals(sendersOf(selected, undefined), ["a@example.com", "b@example.com"]);
		equals(sendersOf({ sending_identity_emails: null }, { senders: [share("n@example.com", 10)] }), ["n@example.com"]);
		equals(
			sendersOf(selected, {
				senders: [
					share("a@example.com", 2, "x"),
					share("b@example.com", 5),
					share("a@example.com", 4, "y"),
					share(null, 9),
					share("c@example.com", 0),
				],
			}),
			["a@example.com", "b@example.com"],
		);
		equals(sendersOf({ sending_identity_emails: null }, { senders: [] }), []);
		equals(
			sendersOf(selected, {
				senders: [share("a@example.com", 3, "x"), share("b@example.com", 1, "x"), share("b@example.com", 4, "y")],
			}),
			["b@example.com", "a@example.com"],
			"the sum of what several MTA configs send",
		);
	},
	"the subjects are those of the variants"() {
		const draft = (subject: string | null, ...own: (string | undefined)[]) =>
			subjectsOf({
				content: { subject },
				variants: own.map((subject) => ({ content_overrides: subject === undefined ? null : { subject } })),
			} as never);
		equals(draft("Hello"), ["Hello"]);
		equals(draft("Hello", undefined, "Hi"), ["Hello", "Hi"]);
		equals(draft("Hello", "Hi", "Hi"), ["Hi"]);
		equals(draft(null), [""]);
	},
	"preview texts are those of the versions, without empty ones"() {
		const preheaders = (own: string | null, ...variants: object[]) =>
			preheadersOf({
				content: { preheader: own },
				variants: variants.map((content_overrides) => ({ content_overrides })),
			} as never);
		equals(preheaders("Hello"), ["Hello"]);
		equals(preheaders(null), []);
		equals(preheaders("Hello", {}, { preheader: "" }, { preheader: "Bye" }), ["Hello", "Bye"]);
	},
	"those who lack a field see what the mail has in its place"() {
		const mail =
			"{{ contact.plan | upcase | default: \"free\" }} {{plan|default:'none'}} {{- plan -}} {{ contact.plans }}";
		equals(shownWithout(mail, "contact.plan"), ["free", "none", ""]);
		equals(shownWithout("{% if contact.plan %}x{% endif %}", "contact.plan"), []);
		equals(shownWithout("{{ contact.custom_fields.city }}", "contact.custom_fields.city"), [""]);
		equals(shownWithout("{{ contact.custom_fieldsxcity }}", "contact.custom_fields.city"), []);
	},
};

export default tests;
