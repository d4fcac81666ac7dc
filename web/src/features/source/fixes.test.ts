import type { PreviewProblem } from "../../api/schema";
import { equals, holds, type Tests } from "../../base/testing";
import { type Draft, newParameter, type Schema, schemaOf } from "./draft";
import { fixesFor, typeNames, types } from "./fixes";

const emptySchema: Schema = {
	parameters_schema: [],
	sections_schema: [],
	slots_schema: [],
	groups_schema: [],
	expects_schema: [],
};

const draft = (schema: Schema, html = ""): Draft => ({
	name: "",
	slug: "",
	subject: "",
	mjml: "",
	html,
	text: "",
	schema: JSON.stringify(schema),
	tags: [],
	slot_keys: [],
	inline_css: false,
	active: true,
});

const problem = (code: string, message: string, field = "content_html", line = 1) =>
	({ code, message, field, line }) as PreviewProblem;

const unresolved = (placeholder: string, line = 1) =>
	problem("UNRESOLVED_REFERENCE", `${placeholder} is not declared.`, "content_html", line);

/** fixed returns the schema after each fix of a problem. */
const fixed = (problem: PreviewProblem, schema: Schema, html = "", slots = true) =>
	fixesFor(problem, draft(schema, html), schema, slots).map((fix) => ({
		label: fix.label,
		schema: schemaOf({ schema: fix.change.schema ?? "" }) ?? emptySchema,
	}));

const tests: Tests = {
	"a parameter that code names is declared with any type, the likeliest first"() {
		const cases: [name: string, type: string][] = [
			["hero_image", "image"],
			["logo", "image"],
			["cta_link", "url"],
			["href", "url"],
			["price", "number"],
			["background_color", "color"],
			["main_colour", "color"],
			["intro", "rich_text"],
			["headline", "text"],
		];
		for (const [name, type] of cases) {
			const fixes = fixed(unresolved(`{{param:${name}}}`), emptySchema);
			const declared = fixes.map((fix) => fix.schema.parameters_schema[0]);
			equals([declared[0]?.name, declared[0]?.type], [name, type]);
			equals([...declared.map((parameter) => parameter?.type)].sort(), [...types].sort(), `the types of ${name}`);
			holds(fixes[0]?.label.includes(name) ?? false, `the fix does not name ${name}`);
		}
	},
	"a choice has choices, or it would be wrong at once"() {
		const choice = fixed(unresolved("{{param:size}}"), emptySchema)
			.map((fix) => fix.schema.parameters_schema[0])
			.find((parameter) => parameter?.type === "select");
		equals(Array.isArray(choice?.validation.options), true);
	},
	"what was declared stays"() {
		const schema = { ...emptySchema, parameters_schema: [newParameter("title")] };
		equals(
			fixed(unresolved("{{param:intro}}"), schema)[0]?.schema.parameters_schema.map((parameter) => parameter.name),
			["title", "intro"],
		);
	},
	"sections and slots are declared, slots only where there can be some"() {
		const [section] = fixed(unresolved("{{#section stories}}"), emptySchema);
		equals(
			section?.schema.sections_schema.map((section) => [section.name, section.item_schema]),
			[["stories", []]],
		);
		const [slot] = fixed(unresolved("{{slot:footer}}"), emptySchema);
		equals(
			slot?.schema.slots_schema.map((slot) => [slot.name, slot.default_strategy]),
			[["footer", "empty"]],
		);
		equals(fixed(unresolved("{{slot:footer}}"), emptySchema, "", false), []);
	},
	"an item is declared in the section that names it"() {
		const schema = {
			...emptySchema,
			sections_schema: [
				{ name: "one", item_schema: [] },
				{ name: "two", item_schema: [newParameter("a")] },
			] as never,
		};
		const html = "{{#section one}}{{/section}}\n{{#section two}}\n{{item:photo}}{{/section}}";
		const [fix] = fixed(unresolved("{{item:photo}}", 3), schema, html);
		equals(
			fix?.schema.sections_schema.map((section) =>
				section.item_schema.map((parameter) => `${parameter.name} ${parameter.type}`),
			),
			[[], ["a text", "photo image"]],
		);
		equals(fixed(unresolved("{{item:photo}}", 1), schema, "{{item:photo}}"), [], "outside of a section");
		equals(
			fixed(unresolved("{{item:x}}"), emptySchema, "{{#section gone}}{{item:x}}"),
			[],
			"in a section that is not declared",
		);
	},
	"what no code names is removed, from its groups too"() {
		const group = { name: "g", parameters: ["a", "b"], sections: ["a"], slots: ["a"] };
		const schema = {
			...emptySchema,
			parameters_schema: [newParameter("a"), newParameter("b")],
			sections_schema: [{ name: "a", item_schema: [newParameter("x"), newParameter("y")] }] as never,
			slots_schema: [{ name: "a" }] as never,
			groups_schema: [group] as never,
		};
		const unused = (field: string) => fixed(problem("unused", "", field), schema)[0]?.schema;
		const parameters = unused("parameters_schema[0]");
		equals(
			parameters?.parameters_schema.map((parameter) => parameter.name),
			["b"],
		);
		equals(parameters?.groups_schema, [{ ...group, parameters: ["b"] }]);
		const slots = unused("slots_schema[0].name");
		equals([slots?.slots_schema, slots?.groups_schema], [[], [{ ...group, slots: [] }]]);
		equals(unused("sections_schema[0]")?.sections_schema, []);
		equals(
			unused("sections_schema[0].item_schema[1]")?.sections_schema[0]?.item_schema.map((parameter) => parameter.name),
			["x"],
		);
		for (const field of ["parameters_schema[7]", "sections_schema[3].item_schema[0]", "groups_schema[0]", "subject"])
			equals(unused(field), undefined, field);
	},
	"other problems have no fix"() {
		equals(fixed(problem("INVALID_MJML", "{{param:a}} is wrong"), emptySchema), []);
		equals(fixed(problem("UNRESOLVED_REFERENCE", "something is wrong"), emptySchema), []);
	},
	"every type has a name"() {
		for (const type of types) holds(typeNames[type] !== "", `${type} has no name`);
	},
};

export default tests;
