import type {
	BlockRow,
	ExpectEntry,
	GroupEntry,
	ParameterEntry,
	SectionEntry,
	SlotEntry,
	TemplateRow,
} from "../../api/schema";

// What an author writes of a template or a block: its code, what it declares, and its settings. The schema is
// kept as the text of JSON, so that it may be wrong for a while.

export type Draft = {
	name: string;
	slug: string;
	subject: string;
	mjml: string;
	html: string;
	text: string;
	schema: string;
	tags: string[];
	slot_keys: string[];
	inline_css: boolean;
	active: boolean;
};

/** Schema is what a template or a block declares. */
export type Schema = {
	parameters_schema: ParameterEntry[];
	sections_schema: SectionEntry[];
	slots_schema: SlotEntry[];
	groups_schema: GroupEntry[];
	expects_schema: ExpectEntry[];
};

export const parts = [
	"parameters_schema",
	"sections_schema",
	"slots_schema",
	"groups_schema",
	"expects_schema",
] as const;
export type Part = (typeof parts)[number];

const write = (schema: Partial<Schema>) => JSON.stringify(schema, null, 2);

/** templateDraft returns what is written of a template. */
export function templateDraft(template: TemplateRow): Draft {
	const { parameters_schema, sections_schema, slots_schema, groups_schema, expects_schema } = template;
	return {
		name: template.name,
		slug: template.slug,
		subject: template.subject ?? "",
		mjml: template.format === "mjml" ? (template.content_mjml ?? "") : "",
		html: template.format === "html" ? template.content_html : "",
		text: template.content_text ?? "",
		schema: write({ parameters_schema, sections_schema, slots_schema, groups_schema, expects_schema }),
		tags: template.tags,
		slot_keys: [],
		inline_css: template.inline_css,
		active: true,
	};
}

/** blockDraft returns what is written of a block. */
export function blockDraft(block: BlockRow): Draft {
	const { parameters_schema, sections_schema, groups_schema } = block;
	return {
		name: block.name,
		slug: block.slug,
		subject: "",
		mjml: block.content_mjml ?? "",
		html: block.content_html ?? "",
		text: block.content_text ?? "",
		schema: write({ parameters_schema, sections_schema, groups_schema }),
		tags: block.tags,
		slot_keys: block.slot_keys,
		inline_css: false,
		active: block.active,
	};
}

/** schemaOf reads the schema of a draft; undefined while its text is not an object. */
export function schemaOf(draft: Pick<Draft, "schema">): Schema | undefined {
	try {
		const value: unknown = JSON.parse(draft.schema);
		if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
		const parsed = value as Partial<Schema>;
		const list = <T>(value: T[] | undefined) => (Array.isArray(value) ? value : []);
		return {
			parameters_schema: list(parsed.parameters_schema),
			sections_schema: list(parsed.sections_schema),
			slots_schema: list(parsed.slots_schema),
			groups_schema: list(parsed.groups_schema),
			expects_schema: list(parsed.expects_schema),
		};
	} catch {
		return undefined;
	}
}

/** withSchema replaces the schema of a draft; parts that it did not have, and that are empty, stay away. */
export function withSchema(draft: Draft, next: Schema): Partial<Draft> {
	const parsed = JSON.parse(draft.schema) as Partial<Schema>;
	return {
		schema: write(
			Object.fromEntries(
				parts.filter((part) => part in parsed || next[part].length > 0).map((part) => [part, next[part]]),
			) as Partial<Schema>,
		),
	};
}

/** The bodies of a draft, in which placeholders stand. */
export const bodies = ["subject", "mjml", "html", "text"] as const;

export type Reference = { kind: "param" | "item" | "slot" | "section"; name: string };

/** referenceIn finds the placeholder that a message names. */
export function referenceIn(message: string): Reference | undefined {
	const match = /\{\{\s*(?:(param|item|slot)\s*:|#(section))\s*([a-z][a-z0-9_]*)\s*\}\}/.exec(message);
	return match ? { kind: (match[1] ?? match[2]) as Reference["kind"], name: match[3] ?? "" } : undefined;
}

/** sectionAt returns the section in which an item stands at a line; undefined if it stands in none. */
export function sectionAt(code: string, line: number, item: string): string | undefined {
	const codeBefore = code.split("\n").slice(0, line).join("\n");
	const items = [...codeBefore.matchAll(new RegExp(`\\{\\{\\s*item\\s*:\\s*${item}\\s*\\}\\}`, "g"))];
	const open: string[] = [];
	for (const tag of codeBefore
		.slice(0, items.at(-1)?.index)
		.matchAll(/\{\{\s*(?:#section\s+([a-z0-9_]+)|\/section)\s*\}\}/g)) {
		if (tag[1] === undefined) open.pop();
		else open.push(tag[1]);
	}
	return open.at(-1);
}

/** rename replaces a name wherever the bodies and the groups of a draft use it. */
export function rename(
	draft: Draft,
	schema: Schema,
	kind: Reference["kind"],
	from: string,
	to: string,
	section?: string,
): Partial<Draft> {
	const name = `${from}(?![a-z0-9_])`;
	const patterns: { [K in Reference["kind"]]: [RegExp, string][] } = {
		param: [
			[new RegExp(`(\\{\\{\\s*param\\s*:\\s*)${name}`, "g"), `$1${to}`],
			[new RegExp(`(\\{\\{\\s*)${name}(\\s*\\}\\})`, "g"), `$1${to}$2`],
			[new RegExp(`\\bparam\\.${name}`, "g"), `param.${to}`],
		],
		slot: [[new RegExp(`(\\{\\{\\s*slot\\s*:\\s*)${name}`, "g"), `$1${to}`]],
		section: [[new RegExp(`(\\{\\{\\s*[#/]section\\s+)${name}`, "g"), `$1${to}`]],
		item: [[new RegExp(`(\\{\\{\\s*item\\s*:\\s*)${name}`, "g"), `$1${to}`]],
	};
	const renameIn = (text: string) =>
		patterns[kind].reduce((t, [pattern, replacement]) => t.replace(pattern, replacement), text);
	const apply = (text: string) =>
		kind === "item" && section
			? text.replace(
					new RegExp(`(\\{\\{\\s*#section\\s+${section}\\s*\\}\\})([^]*?)(\\{\\{\\s*/section\\s*\\}\\})`, "g"),
					(_, open: string, body: string, close: string) => open + renameIn(body) + close,
				)
			: renameIn(text);
	const member = kind === "param" ? "parameters" : kind === "slot" ? "slots" : kind === "section" ? "sections" : null;
	const renameEntries = <T extends { name: string }>(list: T[]) =>
		list.map((entry) => (entry.name === from ? { ...entry, name: to } : entry));
	const next: Schema = {
		...schema,
		parameters_schema: kind === "param" ? renameEntries(schema.parameters_schema) : schema.parameters_schema,
		slots_schema: kind === "slot" ? renameEntries(schema.slots_schema) : schema.slots_schema,
		sections_schema:
			kind === "section"
				? renameEntries(schema.sections_schema)
				: kind === "item"
					? schema.sections_schema.map((e) =>
							e.name === section ? { ...e, item_schema: renameEntries(e.item_schema) } : e,
						)
					: schema.sections_schema,
		groups_schema: member
			? schema.groups_schema.map((group) => ({
					...group,
					[member]: group[member].map((name) => (name === from ? to : name)),
				}))
			: schema.groups_schema,
	};
	return {
		...withSchema(draft, next),
		subject: apply(draft.subject),
		mjml: apply(draft.mjml),
		html: apply(draft.html),
		text: apply(draft.text),
	};
}

/** newParameter is a parameter as it begins. */
export const newParameter = (name: string, type: ParameterEntry["type"] = "text"): ParameterEntry => ({
	name,
	type,
	required: false,
	label: null,
	help_text: null,
	validation: {},
	sample: null,
	default: null,
});

/** freeName returns a name that is not taken. */
export function freeName(base: string, taken: { name: string }[]): string {
	for (let round = 1; ; round++) {
		const name = round === 1 ? base : `${base}_${round}`;
		if (!taken.some((entry) => entry.name === name)) return name;
	}
}
