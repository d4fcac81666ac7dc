import { loadProblems } from "../../base/words/errors";
import { equals, holds, type Tests } from "../../base/testing";
import { newLeaf } from "../rules/leaves";
import { type Config, labelsOf, type Step, type StepType } from "./graph";
import {
	daysWords,
	detailOf,
	fieldWords,
	kindOf,
	kinds,
	labelOf,
	type Names,
	nameOfKind,
	newId,
	problemWords,
	ruleWords,
	spanWords,
	stepWords,
	titleOf,
	triggerWords,
} from "./steps";

const names: Names = {
	messages: new Map([["msg_1", "Welcome"]]),
	types: new Map([["news", "Newsletter"]]),
	segments: new Map([["members", "Members"]]),
	stages: new Map([
		["stg_1", "Lead"],
		["stg_2", "Customer"],
	]),
	sequences: new Map([["seq_1", "Onboarding"]]),
	forms: new Map([["signup", "Sign-up"]]),
	fields: [
		{ field: "first_name", name: "First name", group: "Person", kind: "text" },
		{
			field: "country",
			name: "Country",
			group: "Address",
			kind: "choice",
			choices: [{ value: "DE", label: "Germany" }],
		},
		{ field: "custom_fields.trial_ends_at", name: "Trial ends", group: "Own", kind: "date" },
	],
};

const step = (type: StepType, config: Config = {}): Step => ({ id: type, type, config });
const rule = (...conditions: object[]) => ({ logic: "and", conditions });
const countryRule = { field: "country", operator: "equals", value: "DE" };
const day = (amount: number) => ({ amount, unit: "day" });

const tests: Tests = {
	"every step says what it does, with the names of what it names"() {
		const steps: [type: StepType, config: Config, want: string][] = [
			["send", { message_id: "msg_1" }, "Send Welcome"],
			["send", { message_id: "msg_gone" }, "Send msg_gone"],
			["send", {}, "Send …"],
			["wait", { mode: "duration", ...day(2) }, "Wait 2 days"],
			["wait", { mode: "duration", amount: 1, unit: "hour" }, "Wait 1 hour"],
			["wait", { mode: "until_time", time: "09:00", days: [5, 1, 2, 3, 4] }, "Wait until 09:00, weekdays"],
			["wait", { mode: "until_date", at: "2026-05-09T10:00:00Z" }, "Wait until 9 May 2026, 10:00"],
			["wait", { mode: "until_date", at: "" }, "Wait until …"],
			["wait", { mode: "until_date", field: "custom_fields.trial_ends_at" }, "Wait until Trial ends"],
			[
				"wait",
				{ mode: "until_date", field: "trial_ends_at", offset: { ...day(3), direction: "after" } },
				"Wait until 3 days after Trial ends",
			],
			["wait", { mode: "until_date", field: "first_name", offset: day(1) }, "Wait until 1 day before First name"],
			["wait", { mode: "until_event", event_name: "paid" }, "Wait until paid"],
			["wait", { mode: "until_segment", segment_key: "members", state: "in" }, "Wait until in Members"],
			["wait", { mode: "until_segment", segment_key: "members", state: "not_in" }, "Wait until not in Members"],
			["wait", { mode: "until_engagement", node_id: "send", event: "opened" }, "Wait until Welcome is opened"],
			["wait", { mode: "until_engagement", node_id: "send", event: "clicked" }, "Wait until Welcome is clicked"],
			["wait", { mode: "until_engagement", node_id: "gone" }, "Wait until … is clicked"],
			["condition", { definition: rule(countryRule) }, "Country is Germany?"],
			["branch", { branches: [{ label: "a" }, { label: "b" }] }, "2 paths and everybody else"],
			["branch", { branches: [{ label: "a" }] }, "1 path and everybody else"],
			["split", { branches: [{ weight: 1 }, { weight: 2 }] }, "Split 33 % / 67 %"],
			["split", { branches: [{ weight: 0 }, { weight: "x" }] }, "Split 0 % / 0 %"],
			["list", { action: "add", segment_key: "members" }, "Add to Members"],
			["list", { action: "remove", segment_key: "members" }, "Remove from Members"],
			["tag", { action: "add", tags: ["a", "b"] }, "Add a and b"],
			["tag", { action: "remove", tags: [] }, "Remove …"],
			[
				"update_contact",
				{ fields: { first_name: "x" }, custom_fields: { trial_ends_at: "" } },
				"Set First name and Trial ends",
			],
			["update_contact", { fields: {} }, "Set …"],
			["stage", { stage_id: "stg_1" }, "Move to Lead"],
			["subscription", { action: "subscribe", email_type_key: "news" }, "Subscribe to Newsletter"],
			["subscription", { action: "unsubscribe", email_type_key: "news" }, "Unsubscribe from Newsletter"],
			["event", { event_name: "welcomed" }, "Record welcomed"],
			["webhook", { url: "https://example.com/hook?x=1" }, "Call example.com"],
			["webhook", { url: "exam" }, "Call exam"],
			["webhook", { url: "" }, "Call …"],
			["notify", { to: ["a@example.com"] }, "Notify a@example.com"],
			["enroll", { sequence_id: "seq_1" }, "Start Onboarding"],
			["goal", { definition: rule(countryRule) }, "Goal: Country is Germany"],
			["exit", {}, "Exit"],
		];
		const graph = { entry: null, steps: [step("send", { message_id: "msg_1" })], edges: [] };
		for (const [type, config, expected] of steps) equals(titleOf(step(type, config), names, graph), expected);
	},
	"a detail is what the title leaves out"() {
		const window = { days: [6, 7], start: "09:00", end: "17:00" };
		const details: [type: StepType, config: Config, want: string][] = [
			["send", { message_id: "msg_1" }, ""],
			["send", { email_type_key: "news" }, "As Newsletter"],
			["send", { send_window: window }, "Sat and Sun, 09:00 to 17:00"],
			["send", { email_type_key: "news", send_window: window }, "As Newsletter · Sat and Sun, 09:00 to 17:00"],
			["wait", { mode: "until_event", timeout: day(3) }, "Up to 3 days"],
			["wait", { mode: "duration", ...day(1) }, ""],
			["tag", { tags: ["a"] }, ""],
		];
		for (const [type, config, expected] of details)
			equals(detailOf(step(type, config), names), expected, `${type} ${JSON.stringify(config)}`);
	},
	"times and days are written as people say them"() {
		equals(spanWords(day(1)), "1 day");
		equals(spanWords({ amount: 30, unit: "minute" }), "30 minutes");
		equals(spanWords({ amount: 2, unit: "fortnight" }), "2 fortnight");
		equals(spanWords(undefined), "0 days");
		const days: [days: unknown, want: string][] = [
			[[1, 2, 3, 4, 5, 6, 7], "every day"],
			[[5, 4, 3, 2, 1], "weekdays"],
			[[7, 6], "Sat and Sun"],
			[[1, 3, 5], "Mon, Wed, and Fri"],
			[[9], "9"],
			[[], "…"],
			[undefined, "…"],
		];
		for (const [list, expected] of days) equals(daysWords(list), expected, JSON.stringify(list));
	},
	"a field is called by its name, also without its prefix"() {
		const fields: [field: unknown, want: string][] = [
			["first_name", "First name"],
			["custom_fields.trial_ends_at", "Trial ends"],
			["trial_ends_at", "Trial ends"],
			["gone", "gone"],
			["", "…"],
			[undefined, "…"],
		];
		for (const [field, expected] of fields) equals(fieldWords(names, field), expected, String(field));
	},
	"a short rule is written, a long one is counted"() {
		const rules: [rule: unknown, want: string][] = [
			[undefined, "no condition yet"],
			[rule(), "no condition yet"],
			[{ conditions: "x" }, "no condition yet"],
			[rule(countryRule), "Country is Germany"],
			[
				{ logic: "or", conditions: [countryRule, { field: "first_name", operator: "is_set", value: "x" }] },
				"Country is Germany or First name is set",
			],
			[
				rule(countryRule, { type: "list", operator: "in", segment_keys: ["members", "x"] }),
				"Country is Germany and is any of Members, x",
			],
			[rule({ type: "segment", operator: "not_in", segment_keys: [] }), "is none of segment"],
			[rule({ type: "event", event_name: "paid" }), "event paid"],
			[rule({ type: "event" }), "event …"],
			[rule({ ...newLeaf("event_sequence"), operator: "not_followed" }), "…, but not … within 7 days"],
			[rule({ type: "page_view", url: "/prices" }), "page view /prices"],
			[
				rule({ type: "trigger_event", property: "plan", operator: "equals", value: "pro" }),
				"its event has plan is pro",
			],
			[rule({ type: "trigger_event" }), "a property of its event"],
			[rule({ type: "suppression", operator: "listed" }), "suppression list"],
			[rule({ type: "of_tomorrow" }), "of_tomorrow"],
			[rule({ field: "country", operator: "in", value: ["DE", "AT"] }), "Country is any of Germany, AT"],
			[rule({ field: "gone", operator: "in_the_last", value: day(3) }), "gone is in the last 3 days"],
			[{ ...rule(countryRule), negate: true }, "not (Country is Germany)"],
			[rule(countryRule, countryRule, countryRule), "3 conditions"],
			[rule(rule(countryRule, rule(countryRule))), "2 conditions"],
		];
		for (const [rule, expected] of rules) equals(ruleWords(rule, names), expected, JSON.stringify(rule));
	},
	"a trigger is a sentence"() {
		const triggers: [type: string | null, config: Config, want: string][] = [
			[null, {}, "Only manually, by an automation or through the API"],
			["event", { event_name: "paid" }, "When paid happens"],
			[
				"event",
				{ event_name: "paid", filters: [{ property: "plan", operator: "equals", value: "pro" }] },
				"When paid happens, where plan is pro",
			],
			["segment_entered", { segment_key: "members" }, "When a contact enters Members"],
			["segment_left", { segment_key: "members" }, "When a contact leaves Members"],
			["list_added", { segment_key: "members" }, "When a contact is added to Members"],
			["form_submitted", { form_slug: "signup" }, "When Sign-up is submitted"],
			["tag_added", { tag: "vip" }, "When the tag vip is added"],
			["tag_added", {}, "When the tag … is added"],
			["stage_changed", { to_stage_id: "stg_2" }, "When the stage becomes Customer"],
			[
				"stage_changed",
				{ from_stage_id: "stg_1", to_stage_id: "stg_2" },
				"When the stage changes from Lead to Customer",
			],
			["contact_created", {}, "When a contact is created"],
			["contact_created", { source: "import" }, "When a contact is created by import"],
			["field_changed", { field: "country" }, "When Country changes"],
			["field_changed", { field: "country", to: "DE" }, "When Country becomes DE"],
			["field_changed", { field: "country", to: false }, "When Country becomes false"],
			["date", { field: "trial_ends_at" }, "On the day of Trial ends"],
			["date", { field: "trial_ends_at", offset: { ...day(3), direction: "before" } }, "3 days before Trial ends"],
			["date", { field: "trial_ends_at", repeat: "yearly" }, "On the day of Trial ends, each year"],
			["email_engagement", { event: "opened" }, "When an email is opened"],
			["email_engagement", { event: "clicked" }, "When a link in an email is clicked"],
			["contact_created", { definition: rule(countryRule) }, "When a contact is created, if Country is Germany"],
			["contact_created", { definition: rule() }, "When a contact is created"],
		];
		for (const [type, config, expected] of triggers) equals(triggerWords(type, config, names), expected);
	},
	"each outgoing edge of a step has a name"() {
		const ways: [step: Step, want: string[]][] = [
			[step("tag"), [""]],
			[step("condition"), ["Yes", "No"]],
			[step("branch", { branches: [{ label: "A" }] }), ["A", "Everybody else"]],
			[step("split", { branches: [{ label: "true" }, { label: "B" }] }), ["true", "B"]],
			[step("wait", { mode: "until_event", timeout: day(3) }), ["It happens", "Not within 3 days"]],
			[step("wait", { mode: "until_segment" }), ["In time", "Not in time"]],
			[step("wait", { mode: "until_engagement", event: "opened" }), ["Opened", "Not in time"]],
			[step("wait", { mode: "until_engagement", event: "clicked" }), ["Clicked", "Not in time"]],
			[step("exit"), []],
		];
		for (const [step, expected] of ways)
			equals(
				labelsOf(step).map((label) => labelOf(step, label)),
				expected,
				JSON.stringify(step),
			);
	},
	async "a problem names the field instead of its path"() {
		await loadProblems();
		const problems: [message: string, want: string][] = [
			["message_id: required", "Email must be filled in."],
			["message_id: is a riddle", "Email was not accepted."],
			["unheard_of: required", "Unheard of must be filled in."],
		];
		for (const [message, expected] of problems) equals(problemWords(message), expected, message);
	},
	"each kind of the menu makes a step of its kind, with a name, and only once"() {
		equals(new Set(kinds.map((kind) => kind.id)).size, kinds.length);
		for (const kind of kinds) {
			equals(kindOf({ type: kind.type, config: kind.config() }).id, kind.id);
			const { name, help } = nameOfKind(kind.id);
			holds(name !== kind.id && help !== "", `${kind.id} has no words`);
			holds(kind.group in stepWords.groups && kind.type in stepWords.types, `${kind.id} is in no group`);
			const [first, other] = [kind.config(), kind.config()];
			holds(first !== other, `${kind.id} gives two steps one configuration`);
		}
		equals(kindOf({ type: "wait", config: { mode: "until_doomsday" } }).type, "wait");
		equals(nameOfKind("unheard_of"), { name: "unheard_of", help: "" });
	},
	"an id tells the type, and is new"() {
		const ids = Array.from({ length: 50 }, () => newId("send"));
		for (const id of ids) holds(/^send_[0-9a-z]{5}$/.test(id), id);
		holds(new Set(ids).size > 45, "ids repeat themselves");
	},
};

export default tests;
