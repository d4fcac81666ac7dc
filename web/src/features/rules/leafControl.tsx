import { catalogue } from "../../base/words/catalogue";
import { TextField } from "../../ui/Field";
import * as edits from "./edits";
import { EventName } from "./EventName";
import { unitsWithin } from "./eventSequence";
import { type FieldInfo, operatorName, operators } from "./fields";
import { leafIcon } from "./leafIcons";
import { type Kind, kindOf, type Leaf, leafOperators, leafWords, mailEvents } from "./leaves";
import type { Control } from "./PartButton";
import { propertyControl } from "./PropertyFields";
import { Broadcasts, Consents, FieldChoice, Forms, Lists, Sequences, Types } from "./RecordFields";
import { sentenceWords } from "./sentences";
import { ValueEditor } from "./ValueEditor";
import { Duration, HowOften, When } from "./WhenFields";

const words = catalogue("rules.leafEditor", {
	about: "Type",
	condition: "Condition",
	field: "Field",
	value: "Value",
	event: "What happened",
	happened: "Happened",
	didNotHappen: "Did not happen",
	lists: "Lists",
	segments: "Segments",
	types: "Email types",
	type: "Email type",
	broadcast: "Broadcast",
	link: "Link",
	url: "URL",
	match: "Match",
	form: "Form",
	sequence: "Sequence",
	level: "Counted",
	count: "How often",
	window: "When",
	added: "Added",
	name: "Event",
	first: "First event",
	afterwards: "Afterwards",
	next: "Event that follows",
	within: "Within",
	/** What can be added to a condition. */
	additions: {
		filters: "Property condition",
		first: "Property of the first event",
		next: "Property of the event that follows",
		count: "How often",
		window: "When",
		added: "When they were added",
		link_url: "Link",
		level: "Opens and clicks that count",
	},
});

type Context = {
	leaf: Leaf;
	fields: FieldInfo[];
	/** The name of the event that starts what the rule belongs to; null where rules cannot ask about it. */
	startEvent: string | null;
	onChange: (leaf: Leaf) => void;
};

/** additionChoices returns what can be added to a condition, as choices. */
export const additionChoices = (leaf: Leaf) =>
	edits.additionsTo(leaf).map((addition) => {
		const name = addition === "first.filters" ? "first" : addition === "then.filters" ? "next" : addition;
		return { id: addition, label: words.additions[name] };
	});

/** kindChoices returns the types of conditions, as choices; those on the event that started it where there is one. */
export const kindChoices = (startEvent: string | null, current?: Kind) =>
	(Object.entries(leafWords.kinds) as [Kind, string][])
		.filter(([kind]) => startEvent !== null || kind === current || kind !== "trigger_event")
		.map(([id, label]) => ({ id, label, icon: leafIcon(id) }));

const choicesOf = (labels: { [value: string]: string }) => Object.entries(labels).map(([id, label]) => ({ id, label }));

/** operatorControl changes what a condition says of its subject. */
function operatorControl({ leaf, fields, onChange }: Context): Control {
	const kind = kindOf(leaf);
	if (kind === "field") {
		const field = fields.find((field) => field.field === leaf.field);
		return {
			label: words.condition,
			choices: (field ? operators[field.kind] : []).map((operator) => ({
				id: operator,
				label: operatorName(operator),
			})),
			value: leaf.operator,
			choose: (operator) => field && onChange(edits.withFieldOperator(leaf, operator, field.kind)),
		};
	}
	const names: { [operator: string]: string } =
		(sentenceWords.operators as { [kind: string]: { [operator: string]: string } })[kind] ?? {};
	return {
		label: kind === "event_sequence" ? words.afterwards : words.condition,
		choices: leafOperators[kind].map((operator) => ({ id: operator, label: names[operator] ?? operator })),
		value: leaf.operator,
		choose: (operator) => onChange(edits.withOperator(leaf, operator)),
	};
}

/** eventControl changes what happened, or did not happen, to a mail. */
function eventControl({ leaf, onChange }: Context): Control {
	const events = mailEvents(kindOf(leaf));
	const ofOperator = (operator: "did" | "did_not", group: string) =>
		events.map((event) => ({ id: `${operator} ${event}`, label: sentenceWords.events[operator][event], group }));
	return {
		label: words.event,
		choices: [...ofOperator("did", words.happened), ...ofOperator("did_not", words.didNotHappen)],
		value: `${leaf.operator} ${leaf.event}`,
		choose: (choice) => {
			const [operator = "", event = ""] = choice.split(" ");
			onChange(edits.withEvent(leaf, operator, event));
		},
	};
}

/** filterControl changes a part of a condition on a property of an event. */
function filterControl(id: string, place: number, { leaf, onChange }: Context): Control {
	const match = edits.matchAt(leaf, id);
	const { filters = [] } = match;
	return propertyControl(
		id.slice(id.lastIndexOf(".") + 1),
		{
			eventName: match.event_name,
			filter: filters[place] ?? { property: "", operator: "equals", value: "" },
			onChange: (filter) =>
				onChange(
					edits.withMatch(leaf, id, { ...match, filters: filters.map((old, i) => (i === place ? filter : old)) }),
				),
		},
		() => onChange(edits.remove(leaf, id)),
	);
}

/** otherControl changes a part by fields of its own. */
function otherControl(id: string, { leaf, fields, onChange }: Context): Control {
	const set = (part: Partial<Leaf>) => onChange({ ...leaf, ...part });
	const kind = kindOf(leaf);
	switch (id) {
		case "field":
			return {
				label: words.field,
				fields: (error) => (
					<FieldChoice
						label={words.field}
						fields={fields}
						value={leaf.field}
						onChange={(field) => onChange(edits.withField(field))}
						error={error}
					/>
				),
			};
		case "value": {
			const field = fields.find((field) => field.field === leaf.field);
			return {
				label: words.value,
				fields: (error) => (
					<ValueEditor
						autoFocus
						field={field ?? { field: leaf.field ?? "", name: "", group: "", kind: "reference" }}
						operator={leaf.operator ?? ""}
						value={leaf.value}
						onChange={(value) => set({ value })}
						error={error}
					/>
				),
			};
		}
		case "segment_keys": {
			const label = kind === "list" ? words.lists : words.segments;
			return {
				label,
				fields: (error) => (
					<Lists
						label={label}
						isStatic={kind === "list"}
						values={leaf.segment_keys ?? []}
						onChange={(segment_keys) => set({ segment_keys })}
						error={error}
					/>
				),
			};
		}
		case "email_type_keys":
			return {
				label: words.types,
				fields: (error) => (
					<Types
						label={words.types}
						values={leaf.email_type_keys ?? []}
						onChange={(keys) => set({ email_type_keys: keys.length ? keys : undefined })}
						error={error}
					/>
				),
			};
		case "email_type_key":
			return {
				label: words.type,
				fields: (error) => (
					<Consents
						label={words.type}
						type={leaf.email_type_key}
						category={leaf.category_id}
						onChange={set}
						error={error}
					/>
				),
			};
		case "broadcast_id":
			return {
				label: words.broadcast,
				fields: (error) => (
					<Broadcasts
						label={words.broadcast}
						value={leaf.broadcast_id}
						onChange={(broadcast_id) => set({ broadcast_id })}
						error={error}
					/>
				),
			};
		case "sequence_id":
			return {
				label: words.sequence,
				fields: (error) => (
					<Sequences
						label={words.sequence}
						value={leaf.sequence_id}
						onChange={(sequence_id) => set({ sequence_id })}
						error={error}
					/>
				),
			};
		case "form_slug":
			return {
				label: words.form,
				fields: (error) => (
					<Forms label={words.form} value={leaf.form_slug} onChange={(form_slug) => set({ form_slug })} error={error} />
				),
			};
		case "url":
		case "link_url": {
			const label = id === "url" ? words.url : words.link;
			return {
				label,
				fields: (error) => (
					<TextField
						autoFocus
						label={label}
						value={leaf[id] ?? ""}
						onChange={(url) => set({ [id]: url })}
						error={error}
					/>
				),
			};
		}
		case "count":
			return {
				label: words.count,
				fields: (error) =>
					leaf.count && <HowOften count={leaf.count} onChange={(count) => set({ count })} error={error} />,
			};
		case "window":
		case "added":
			return {
				label: id === "window" ? words.window : words.added,
				fields: (error) => {
					const window = leaf[id];
					return window && <When window={window} onChange={(window) => set({ [id]: window })} error={error} />;
				},
			};
		case "within":
			return {
				label: words.within,
				fields: (error) => (
					<Duration
						autoFocus
						label={words.within}
						units={unitsWithin}
						value={leaf.within ?? { amount: 7, unit: "day" }}
						onChange={(within) => set({ within })}
						error={error}
					/>
				),
			};
		default: {
			// The name of an event: that of the condition, or one of two.
			const match = edits.matchAt(leaf, id);
			const label = id.startsWith("first.") ? words.first : id.startsWith("then.") ? words.next : words.name;
			return {
				label,
				fields: (error) => (
					<EventName
						autoFocus
						label={label}
						leaf={match}
						set={({ event_name }) => onChange(edits.withMatch(leaf, id, { ...match, event_name }))}
						error={error}
					/>
				),
			};
		}
	}
}

/** leafControl returns what changes a part of a condition. */
export function leafControl(id: string, context: Context): Control {
	const { leaf, startEvent, onChange } = context;
	const kind = kindOf(leaf);
	const place = edits.filterPlace(id);
	if (place !== undefined) return filterControl(id, place, context);
	if (kind === "trigger_event" && id !== "type")
		return propertyControl(id, {
			eventName: startEvent ?? undefined,
			filter: { property: leaf.property ?? "", operator: leaf.operator ?? "equals", value: leaf.value },
			onChange: (filter) => onChange({ type: kind, ...filter }),
		});
	switch (id) {
		case "type":
			return {
				label: words.about,
				choices: kindChoices(startEvent, kind),
				value: kind,
				choose: (kind) => onChange(edits.withKind(leaf, kind)),
			};
		case "operator":
			return operatorControl(context);
		case "event":
			return eventControl(context);
		case "match":
			return {
				label: words.match,
				choices: choicesOf(sentenceWords.matches),
				value: leaf.match ?? "equals",
				choose: (match) => onChange({ ...leaf, match }),
			};
		case "level":
			return {
				label: words.level,
				choices: choicesOf(sentenceWords.levels),
				value: leaf.level ?? "verified",
				choose: (level) => onChange(level === "verified" ? edits.remove(leaf, "level") : { ...leaf, level }),
			};
		default: {
			const control = otherControl(id, context);
			return edits.canRemove(id) ? { ...control, remove: () => onChange(edits.remove(leaf, id)) } : control;
		}
	}
}
