import type { ParameterEntry, PreviewProblem } from "../../api/schema";
import { catalogue } from "../../base/words/catalogue";
import { type Draft, newParameter, type Reference, referenceIn, type Schema, sectionAt, withSchema } from "./draft";

const words = catalogue("source.fixes", {
	declare: "Declare {name} as {type}",
	section: "Declare section {name}",
	slot: "Declare slot {name}",
	remove: "Remove {name}",
});

/** The names of types of parameters. */
export const typeNames = catalogue("source.fixes.typeNames", {
	text: "text",
	textarea: "multi-line text",
	rich_text: "formatted text",
	html: "HTML",
	url: "link",
	image: "picture",
	email: "email address",
	color: "colour",
	number: "number",
	boolean: "yes or no",
	date: "date",
	datetime: "date and time",
	select: "choice",
	list: "list",
});

export const types = Object.keys(typeNames) as ParameterEntry["type"][];

export type Fix = { label: string; change: Partial<Draft> };

/** typesOf guesses the usual types for a name, the likeliest first. */
function typesOf(name: string): ParameterEntry["type"][] {
	const likelyTypes: ParameterEntry["type"][] = /image|img|logo|picture|photo/.test(name)
		? ["image"]
		: /url|link|href|cta/.test(name)
			? ["url"]
			: /price|amount|count|number/.test(name)
				? ["number"]
				: /colou?r/.test(name)
					? ["color"]
					: /body|intro|content/.test(name)
						? ["rich_text"]
						: [];
	return [...new Set([...likelyTypes, ...types])];
}

const bodyOf = (draft: Draft, field: string) =>
	field.includes("mjml")
		? draft.mjml
		: field.includes("html")
			? draft.html
			: field.includes("text")
				? draft.text
				: draft.subject;

/** A choice needs choices before it is valid. */
const declared = (name: string, type: ParameterEntry["type"]): ParameterEntry =>
	type === "select"
		? { ...newParameter(name, type), validation: { options: ["one", "two"] } }
		: newParameter(name, type);

/** fixesFor returns what joins code and schema again, for a problem of either. */
export function fixesFor(problem: PreviewProblem, draft: Draft, schema: Schema, canHaveSlots: boolean): Fix[] {
	const use = (next: Schema): Partial<Draft> => withSchema(draft, next);
	if (problem.code === "UNRESOLVED_REFERENCE") {
		const reference: Reference | undefined = referenceIn(problem.message);
		if (!reference) return [];
		switch (reference.kind) {
			case "param":
				return typesOf(reference.name).map((type) => ({
					label: words.declare({ name: reference.name, type: typeNames[type] }),
					change: use({ ...schema, parameters_schema: [...schema.parameters_schema, declared(reference.name, type)] }),
				}));
			case "section":
				return [
					{
						label: words.section({ name: reference.name }),
						change: use({
							...schema,
							sections_schema: [
								...schema.sections_schema,
								{
									name: reference.name,
									label: null,
									help_text: null,
									required: false,
									min: 0,
									max: 200,
									item_schema: [],
								},
							],
						}),
					},
				];
			case "slot":
				if (!canHaveSlots) return [];
				return [
					{
						label: words.slot({ name: reference.name }),
						change: use({
							...schema,
							slots_schema: [
								...schema.slots_schema,
								{
									name: reference.name,
									label: null,
									help_text: null,
									required: false,
									tag_filter: [],
									allowed_strategies: ["fixed", "random", "empty"],
									default_strategy: "empty",
								},
							],
						}),
					},
				];
			case "item": {
				const section = sectionAt(bodyOf(draft, problem.field), problem.line ?? 1, reference.name);
				if (!schema.sections_schema.some((x) => x.name === section)) return [];
				return typesOf(reference.name).map((type) => ({
					label: words.declare({ name: reference.name, type: typeNames[type] }),
					change: use({
						...schema,
						sections_schema: schema.sections_schema.map((x) =>
							x.name === section ? { ...x, item_schema: [...x.item_schema, declared(reference.name, type)] } : x,
						),
					}),
				}));
			}
		}
	}
	if (problem.code === "unused") {
		const match = /^(parameters|sections|slots)_schema\[(\d+)\](?:\.item_schema\[(\d+)\])?/.exec(problem.field);
		if (!match) return [];
		const kind = match[1] as "parameters" | "sections" | "slots";
		const part = `${kind}_schema` as const;
		const index = Number(match[2]);
		const entry = schema[part][index];
		if (!entry) return [];
		if (match[3] !== undefined && kind === "sections") {
			const item = Number(match[3]);
			const section = schema.sections_schema[index];
			return section
				? [
						{
							label: words.remove({ name: section.item_schema[item]?.name ?? "" }),
							change: use({
								...schema,
								sections_schema: schema.sections_schema.map((section, i) =>
									i === index
										? { ...section, item_schema: section.item_schema.filter((_, index) => index !== item) }
										: section,
								),
							}),
						},
					]
				: [];
		}
		const groups = schema.groups_schema.map((group) => ({
			...group,
			[kind]: group[kind].filter((name) => name !== entry.name),
		}));
		return [
			{
				label: words.remove({ name: entry.name }),
				change: use({
					...schema,
					[part]: (schema[part] as { name: string }[]).filter((_, i) => i !== index),
					groups_schema: groups,
				}),
			},
		];
	}
	return [];
}
