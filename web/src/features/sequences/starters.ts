import { api, newKey } from "../../api/client";
import type { Sequence, SequenceBody } from "../../api/schema";
import { collection } from "../../base/collections";
import { catalogue } from "../../base/words/catalogue";
import { bodyOf, type Config, type Graph, type Step, type StepType, type Edge } from "./graph";
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

const greeting = 'Hello {{ contact.first_name | default: "there" }},';

const mails = {
	welcome: [
		"Welcome",
		"Good to have you here",
		[greeting, "thank you for joining us. Here is what you can expect, and how to begin."],
	],
	begin: [
		"Getting started",
		"Three things to try first",
		[greeting, "most people begin with these three things. Reply to this mail if you need a hand."],
	],
	miss: [
		"We miss you",
		"Are our mails still right for you?",
		[greeting, "we have not heard from you for a while. Here is what is new."],
	],
	last: [
		"One last question",
		"Shall we stop writing to you?",
		[
			greeting,
			"if you would like to hear from us, open one of our mails now and then. Otherwise unsubscribe with one click below.",
		],
	],
	trialEnding: [
		"Your trial ends soon",
		"Your trial ends in three days",
		[greeting, "your trial ends on {{ event.date }}. Choose a plan to keep everything that you have made."],
	],
	over: [
		"Your trial is over",
		"Your trial is over, your work is still there",
		[greeting, "your trial has ended. Everything that you made is kept; choose a plan to go on."],
	],
} as const;

/** library returns the id of a mail of the library with a name, which is made if there is none. */
async function library(mailName: keyof typeof mails): Promise<string> {
	const [name, subject, lines] = mails[mailName];
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
const edge = (from: Step, to: Step, label: string | null = null): Edge => ({ from: from.id, label, to: to.id });
const wait = (amount: number, unit = "day") => step("wait", { mode: "duration", amount, unit });

async function make(body: SequenceBody, graph: Graph): Promise<Sequence> {
	const created = await api("POST /sequences", { body, idempotencyKey: newKey() });
	await api("PUT /sequences/{id}/graph", { path: { id: created.id }, body: bodyOf(graph) });
	return created;
}

/** createStarter makes the draft of a starter. */
export async function createStarter(starter: Starter): Promise<Sequence> {
	const types = await collection("email_types");
	const type = types.data.find((emailType) => emailType.active)?.type_key;
	if (!type) throw new Error(words.noType);
	const send = async (mail: keyof typeof mails) =>
		step("send", { message_id: await library(mail), email_type_key: type });
	const clicked = (node: Step, event = "clicked") =>
		step("wait", { mode: "until_engagement", node_id: node.id, event, timeout: { amount: 3, unit: "day" } });
	const { name } = words.flows[starter];
	if (starter === "welcome") {
		const [first, second] = [await send("welcome"), await send("begin")];
		const [read, tag] = [clicked(first), step("tag", { action: "add", tags: ["welcomed"] })];
		return make(
			{ name, entry_trigger: { trigger_type: "contact_created", trigger_config: {} } },
			{
				entry: first.id,
				steps: [first, read, second, tag],
				edges: [edge(first, read), edge(read, tag, "met"), edge(read, second, "timeout"), edge(second, tag)],
			},
		);
	}
	if (starter === "win_back") {
		const inactive = "No opens in 90 days";
		const segments = await collection("segments");
		const segment =
			segments.data.find((segment) => segment.name === inactive) ??
			(await api("POST /segments", {
				body: {
					name: inactive,
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
		const exit = step("exit", {});
		return make(
			{
				name,
				entry_trigger: { trigger_type: "segment_entered", trigger_config: { segment_key: segment.segment_key } },
			},
			{
				entry: first.id,
				steps: [first, read, exit, second, again, tag],
				edges: [
					edge(first, read),
					edge(read, exit, "met"),
					edge(read, second, "timeout"),
					edge(second, again),
					edge(again, exit, "met"),
					edge(again, tag, "timeout"),
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
	const [reminder, trialEnd] = [await send("trialEnding"), await send("over")];
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
		{
			entry: reminder.id,
			steps: [reminder, pause, trialEnd, goal],
			edges: [edge(reminder, pause), edge(pause, trialEnd)],
		},
	);
}
