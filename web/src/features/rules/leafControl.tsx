import { catalogue } from "../../base/words/catalogue";
import * as edits from "./edits";
import { operatorName, operators } from "./fields";
import { leafIcon } from "./leafIcons";
import { type Kind, kindOf, type Leaf, leafOperators, leafWords, mailEvents } from "./leaves";
import type { Control } from "./PartButton";
import { type Edited, partFields } from "./partFields";
import { chosenKind } from "./propertyFilters";
import { propertyControl } from "./PropertyFields";
import { sentenceWords } from "./sentences";

const words = catalogue("rules.leafControl", {
	about: "Type",
	condition: "Condition",
	afterwards: "Afterwards",
	event: "What happened",
	happened: "Happened",
	didNotHappen: "Did not happen",
	match: "Match",
	level: "Counted",
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

type Context = Edited & {
	/** The name of the event that starts what the rule belongs to; null where rules cannot ask about it. */
	startEvent: string | null;
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

/** leafControl returns what changes a part of a condition. */
export function leafControl(id: string, context: Context): Control {
	const { leaf, startEvent, onChange } = context;
	const kind = kindOf(leaf);
	const place = edits.filterPlace(id);
	if (place !== undefined) return filterControl(id, place, context);
	if (kind === "trigger_event" && id !== "type")
		return propertyControl(id, {
			eventName: startEvent ?? undefined,
			filter: {
				property: leaf.property ?? "",
				operator: leaf.operator ?? "equals",
				value: leaf.value,
				[chosenKind]: leaf[chosenKind],
			},
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
			const remove = edits.canRemove(id) ? () => onChange(edits.remove(leaf, id)) : undefined;
			return { ...partFields(id, context), remove };
		}
	}
}
