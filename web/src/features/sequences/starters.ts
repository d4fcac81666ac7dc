import { api, newKey } from "../../api/client";
import type { Sequence, SequenceBody } from "../../api/schema";
import { collection } from "../../base/collections";
import { catalogue } from "../../base/words/catalogue";
import { bodyOf, type Config, type Graph, type Step, type StepType, type Way } from "./graph";
import { newId } from "./steps";

// Three flows to begin with. Each makes a draft of a sequence, and what it needs.

const words = catalogue("sequences.starters", {
	flows: {
		welcome: {
			name: "Welcome",
			text: "Greets new contacts and writes again to those who have not clicked.",
			makes: "Creates a draft and two library emails.",
		},
		win_back: {
			name: "Win back",
			text: "Writes to people who have not opened an email for 90 days, and tags those who do not come back.",
			makes: "Creates a draft, a segment and two library emails.",
		},
		trial: {
			name: "End of trial",
			text: "Reminds people before their trial ends. Stops for those who become customers.",
			makes: "Creates a draft, two library emails and, if missing, the date field “Trial ends at”.",
		},
	},
	noType: "There is no active email type. Create one under Sending setup first.",
});

export type Starter = keyof typeof words.flows;

export const starters = () =>
	Object.entries(words.flows).map(([id, catalogue]) => ({ id: id as Starter, ...catalogue }));

// The mails are content for readers, so they are not in catalogues.
const mail = (lines: string[]) =>
	`<mjml>
  <mj-body>
    <mj-section>
      <mj-column>
${lines.map((line) => `        <mj-text>${line}</mj-text>`).join("\n")}
      </mj-column>
    </mj-section>
  </mj-body>
</mjml>
`;

const hello = 'Hello {{ contact.first_name | default: "there" }},';

const mails = {
	welcome: [
		"Welcome",
		"Good to have you here",
		[hello, "thank you for joining us. Here is what you can expect, and how to begin."],
	],
	begin: [
		"Getting started",
		"Three things to try first",
		[hello, "most people begin with these three things. Reply to this mail if you need a hand."],
	],
	miss: [
		"We miss you",
		"Are our mails still right for you?",
		[hello, "we have not heard from you for a while. Here is what is new."],
	],
	last: [
		"One last question",
		"Shall we stop writing to you?",
		[
			hello,
			"if you would like to hear from us, open one of our mails now and then. Otherwise unsubscribe with one click below.",
		],
	],
	soon: [
		"Your trial ends soon",
		"Your trial ends in three days",
		[hello, "your trial ends on {{ event.date }}. Choose a plan to keep everything that you have made."],
	],
	over: [
		"Your trial is over",
		"Your trial is over, your work is still there",
		[hello, "your trial has ended. Everything that you made is kept; choose a plan to go on."],
	],
} as const;

/** library returns the id of a mail of the library with a name, which is made if there is none. */
async function library(of: keyof typeof mails): Promise<string> {
	const [name, subject, lines] = mails[of];
	const messages = await api("GET /messages", { query: { search: name, limit: 50 } });
	const same = messages.data.find((message) => message.name === name && message.status !== "archived");
	if (same) return same.id;
	const created = await api("POST /messages", {
		body: { name, content: { subject, body_mjml: mail([...lines]) } },
		idempotencyKey: newKey(),
	});
	return created.id;
}

const step = (type: StepType, config: Config): Step => ({ id: newId(type), type, config });
const way = (from: Step, to: Step, label: string | null = null): Way => ({ from: from.id, label, to: to.id });
const wait = (amount: number, unit = "day") => step("wait", { mode: "duration", amount, unit });

async function make(body: SequenceBody, graph: Graph): Promise<Sequence> {
	const created = await api("POST /sequences", { body, idempotencyKey: newKey() });
	await api("PUT /sequences/{id}/graph", { path: { id: created.id }, body: bodyOf(graph) });
	return created;
}

/** begin makes the draft of a starter. */
export async function beginWith(which: Starter): Promise<Sequence> {
	const types = await collection("email_types");
	const type = types.data.find((emailType) => emailType.active)?.type_key;
	if (!type) throw new Error(words.noType);
	const send = async (of: keyof typeof mails) => step("send", { message_id: await library(of), email_type_key: type });
	const clicked = (node: Step, event = "clicked") =>
		step("wait", { mode: "until_engagement", node_id: node.id, event, timeout: { amount: 3, unit: "day" } });
	const { name } = words.flows[which];
	if (which === "welcome") {
		const [first, second] = [await send("welcome"), await send("begin")];
		const [read, tag] = [clicked(first), step("tag", { action: "add", tags: ["welcomed"] })];
		return make(
			{ name, entry_trigger: { trigger_type: "contact_created", trigger_config: {} } },
			{
				entry: first.id,
				steps: [first, read, second, tag],
				ways: [way(first, read), way(read, tag, "met"), way(read, second, "timeout"), way(second, tag)],
			},
		);
	}
	if (which === "win_back") {
		const quiet = "No opens in 90 days";
		const segments = await collection("segments");
		const segment =
			segments.data.find((segment) => segment.name === quiet) ??
			(await api("POST /segments", {
				body: {
					name: quiet,
					type: "dynamic",
					definition: {
						logic: "and",
						conditions: [
							{ type: "email", operator: "did", event: "delivered" },
							{
								type: "email",
								operator: "did_not",
								event: "opened",
								window: { in_the_last: { amount: 90, unit: "day" } },
							},
						],
					},
				},
				idempotencyKey: newKey(),
			}));
		const [first, second] = [await send("miss"), await send("last")];
		const [read, again] = [clicked(first, "opened"), clicked(second, "opened")];
		const tag = step("tag", { action: "add", tags: ["lapsed"] });
		const back = step("exit", {});
		return make(
			{
				name,
				entry_trigger: { trigger_type: "segment_entered", trigger_config: { segment_key: segment.segment_key } },
			},
			{
				entry: first.id,
				steps: [first, read, back, second, again, tag],
				ways: [
					way(first, read),
					way(read, back, "met"),
					way(read, second, "timeout"),
					way(second, again),
					way(again, back, "met"),
					way(again, tag, "timeout"),
				],
			},
		);
	}
	const field = "trial_ends_at";
	const fields = await collection("custom_fields");
	if (!fields.data.some((customField) => customField.field_key === field))
		await api("POST /settings/custom-fields", {
			body: { name: "Trial ends at", field_key: field, field_type: "date" },
			idempotencyKey: newKey(),
		});
	const [soon, over] = [await send("soon"), await send("over")];
	const [pause, goal] = [
		wait(4),
		step("goal", {
			definition: { logic: "and", conditions: [{ field: "tags", operator: "has_any", value: ["customer"] }] },
		}),
	];
	return make(
		{
			name,
			entry_trigger: {
				trigger_type: "date",
				trigger_config: {
					field: `custom_fields.${field}`,
					offset: { amount: 3, unit: "day", direction: "before" },
					time: "09:00",
					repeat: "none",
				},
			},
		},
		{ entry: soon.id, steps: [soon, pause, over, goal], ways: [way(soon, pause), way(pause, over)] },
	);
}
