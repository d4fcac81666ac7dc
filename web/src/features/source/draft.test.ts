import type { BlockRow, ParameterEntry, TemplateRow } from "../../api/schema";
import { equals, type Tests } from "../../base/testing";
import {
	blockDraft,
	type Draft,
	freeName,
	newParameter,
	type Reference,
	referenceIn,
	rename,
	type Schema,
	schemaOf,
	sectionAt,
	templateDraft,
	withSchema,
} from "./draft";

const emptySchema: Schema = {
	parameters_schema: [],
	sections_schema: [],
	slots_schema: [],
	groups_schema: [],
	expects_schema: [],
};

const draft = (parts: Partial<Draft> = {}): Draft => ({
	name: "News",
	slug: "news",
	subject: "",
	mjml: "",
	html: "",
	text: "",
	schema: JSON.stringify(emptySchema),
	tags: [],
	slot_keys: [],
	inline_css: false,
	active: true,
	...parts,
});

const withNames = (...names: string[]) => names.map((name) => ({ name }) as never);
const items = (...names: string[]) => names.map((name) => newParameter(name));

const tests: Tests = {
	"a template is written in its format"() {
		const row = {
			name: "News",
			slug: "news",
			subject: null,
			content_mjml: "<mjml/>",
			content_html: "<p>compiled</p>",
			content_text: null,
			tags: ["a"],
			inline_css: true,
			...emptySchema,
		};
		const written = (format: string) => {
			const draft = templateDraft({ ...row, format } as unknown as TemplateRow);
			return [draft.mjml, draft.html, draft.subject, draft.text, draft.inline_css];
		};
		equals(written("mjml"), ["<mjml/>", "", "", "", true]);
		equals(written("html"), ["", "<p>compiled</p>", "", "", true]);
		equals(schemaOf(templateDraft({ ...row, format: "html" } as unknown as TemplateRow)), emptySchema);
	},
	"a block declares no slots and expects nothing"() {
		const draft = blockDraft({
			name: "B",
			slug: "b",
			content_html: "<p/>",
			tags: [],
			slot_keys: ["x"],
			active: false,
			...emptySchema,
		} as unknown as BlockRow);
		equals([draft.html, draft.mjml, draft.slot_keys, draft.active], ["<p/>", "", ["x"], false]);
		equals(Object.keys(JSON.parse(draft.schema)), ["parameters_schema", "sections_schema", "groups_schema"]);
	},
	"a schema is read while its text is an object"() {
		for (const text of ["", "{", "[]", "null", "3", '"x"']) equals(schemaOf({ schema: text }), undefined, text);
		equals(schemaOf({ schema: "{}" }), emptySchema);
		equals(schemaOf({ schema: '{"parameters_schema": "x", "slots_schema": [{"name": "a"}]}' }), {
			...emptySchema,
			slots_schema: [{ name: "a" }],
		});
	},
	"parts that were not written, and are empty, stay away"() {
		const parts = (text: string, next: Partial<Schema>) =>
			Object.keys(JSON.parse(withSchema(draft({ schema: text }), { ...emptySchema, ...next }).schema ?? "{}"));
		equals(parts("{}", {}), []);
		equals(parts('{"slots_schema": []}', {}), ["slots_schema"]);
		equals(parts("{}", { parameters_schema: items("a") }), ["parameters_schema"]);
	},
	"a message names one placeholder"() {
		const messages: [message: string, want: Reference | undefined][] = [
			["{{param:title}} is not declared", { kind: "param", name: "title" }],
			["Nothing declares {{ item : headline }} here", { kind: "item", name: "headline" }],
			["{{slot:footer_2}}", { kind: "slot", name: "footer_2" }],
			["{{#section stories}} is not declared", { kind: "section", name: "stories" }],
			["{{ contact.first_name }} is unknown", undefined],
			["param:title", undefined],
			["{{param:Title}}", undefined],
		];
		for (const [message, expected] of messages) equals(referenceIn(message), expected, message);
	},
	"code is in the section that was opened last before its item"() {
		const code = [
			"{{#section first}}",
			"{{item:a}}",
			"{{/section}}",
			"{{#section second}} {{ item : a }}",
			"{{item:b}} {{/section}}",
		].join("\n");
		equals(sectionAt(code, 2, "a"), "first");
		equals(sectionAt(code, 4, "a"), "second");
		equals(sectionAt(code, 5, "b"), "second");
		equals(sectionAt("{{item:a}}", 1, "a"), undefined);
		equals(sectionAt("{{#section x}}{{/section}} {{item:a}}", 1, "a"), undefined, "after the section");
		equals(sectionAt("{{#section x}}\n{{item:b}}", 2, "a"), "x", "an item that the line does not have");
	},
	"a parameter is renamed wherever the code names it"() {
		const code = "{{param:title}} {{ title }} {{ param.title | upcase }} {{param:title_2}} {{item:title}} title";
		const next = rename(
			draft({ mjml: code, subject: "{{param:title}}" }),
			{
				...emptySchema,
				parameters_schema: items("title", "title_2"),
				groups_schema: [{ name: "g", parameters: ["title"], sections: [], slots: [] } as never],
			},
			"param",
			"title",
			"headline",
		);
		equals(
			next.mjml,
			"{{param:headline}} {{ headline }} {{ param.headline | upcase }} {{param:title_2}} {{item:title}} title",
		);
		equals(next.subject, "{{param:headline}}");
		const schema = schemaOf({ schema: next.schema ?? "" });
		equals(
			schema?.parameters_schema.map((parameter) => parameter.name),
			["headline", "title_2"],
		);
		equals(schema?.groups_schema[0]?.parameters, ["headline"]);
	},
	"an item is renamed in its section alone"() {
		const section = (name: string) => `{{#section ${name}}}{{item:a}}{{item:ab}}{{/section}}`;
		const next = rename(
			draft({ html: section("one") + section("two") }),
			{
				...emptySchema,
				sections_schema: [
					{ name: "one", item_schema: items("a", "ab") } as never,
					{ name: "two", item_schema: items("a") } as never,
				],
			},
			"item",
			"a",
			"x",
			"one",
		);
		equals(next.html, `{{#section one}}{{item:x}}{{item:ab}}{{/section}}${section("two")}`);
		equals(
			schemaOf({ schema: next.schema ?? "" })?.sections_schema.map((section) =>
				section.item_schema.map((parameter) => parameter.name),
			),
			[["x", "ab"], ["a"]],
		);
	},
	"sections and slots are renamed in code, schema and groups"() {
		const group = { name: "g", parameters: ["a"], sections: ["a"], slots: ["a"] } as never;
		const d = draft({ text: "{{#section a}}{{/section}} {{slot:a}} {{param:a}}" });
		const schema = {
			...emptySchema,
			sections_schema: withNames("a"),
			slots_schema: withNames("a"),
			groups_schema: [group],
		};
		equals(rename(d, schema, "section", "a", "b").text, "{{#section b}}{{/section}} {{slot:a}} {{param:a}}");
		const sections = schemaOf({ schema: rename(d, schema, "section", "a", "b").schema ?? "" });
		equals(
			[sections?.sections_schema[0]?.name, sections?.slots_schema[0]?.name, sections?.groups_schema[0]],
			["b", "a", { name: "g", parameters: ["a"], sections: ["b"], slots: ["a"] }],
		);
		const slots = rename(d, schema, "slot", "a", "b");
		equals(slots.text, "{{#section a}}{{/section}} {{slot:b}} {{param:a}}");
		const after = schemaOf({ schema: slots.schema ?? "" });
		equals(
			[after?.slots_schema[0]?.name, after?.sections_schema[0]?.name, after?.groups_schema[0]],
			["b", "a", { name: "g", parameters: ["a"], sections: ["a"], slots: ["b"] }],
		);
	},
	"a name that is taken gets a number"() {
		const taken = withNames("text", "text_2", "other") as ParameterEntry[];
		equals(
			[freeName("text", taken), freeName("image", taken), freeName("other", taken)],
			["text_3", "image", "other_2"],
		);
	},
};

export default tests;
