import type { BindingOptions, Issue, ParameterEntry, PreviewProblem } from "../../api/schema";
import { equals, type Tests } from "../../base/testing";
import {
	isBinding,
	fromText,
	groupsOf,
	isUnknown,
	issuesOf,
	nameOf,
	objectAt,
	optionsOf,
	rowsAt,
	templateOptions,
	textOf,
	withMember,
	withoutUnknown,
	words,
} from "./binding";

const parameter = (type: string, options?: unknown) =>
	({ name: "p", type, validation: options === undefined ? {} : { options } }) as ParameterEntry;

const tests: Tests = {
	"a member that is no object, and rows that are none, are shown as empty ones"() {
		const binding = { parameters: { a: 1 }, sections: [], slots: null, rows: [{ b: 2 }, 3, null, [4]] };
		equals(
			["parameters", "sections", "slots", "gone"].map((name) => objectAt(binding, name)),
			[{ a: 1 }, {}, {}, {}],
		);
		equals([objectAt(null, "a"), objectAt("text", "length"), objectAt([1], "0")], [{}, {}, {}]);
		equals(rowsAt(binding, "rows"), [{ b: 2 }, {}, {}, {}]);
		equals([rowsAt(binding, "parameters"), rowsAt(null, "rows")], [[], []]);
	},
	"a form can show a binding whose parts are objects with rows"() {
		const bindings: [binding: unknown, want: boolean][] = [
			[{}, true],
			[{ parameters: {}, sections: { stories: [{}, {}] }, slots: null }, true],
			[{ sections: { stories: [] } }, true],
			[{ parameters: [] }, false],
			[{ parameters: "x" }, false],
			[{ sections: { stories: {} } }, false],
			[{ sections: { stories: [{}, 3] } }, false],
			[{ slots: 3 }, false],
			[[], false],
			[null, false],
			["x", false],
			[undefined, false],
		];
		for (const [binding, expected] of bindings) equals(isBinding(binding), expected, JSON.stringify(binding));
	},
	"a member is replaced in its place, added at the end, or removed"() {
		const value = { a: 1, b: 2, c: 3 };
		equals(Object.entries(withMember(value, "b", 9)), [
			["a", 1],
			["b", 9],
			["c", 3],
		]);
		equals(Object.entries(withMember(value, "d", 4)).at(-1), ["d", 4]);
		equals(withMember(value, "b", undefined), { a: 1, c: 3 });
		equals(withMember(value, "b", null), { a: 1, b: null, c: 3 });
		equals(withMember("text", "a", 1), { a: 1 });
		equals(withMember(null, "a", undefined), {});
		equals(value, { a: 1, b: 2, c: 3 }, "the object that was given");
	},
	"an entry is called by its label, or by words of its name"() {
		equals([words("hero_image"), words("a"), words(""), words("_x_")], ["Hero image", "A", "", "X"]);
		equals(nameOf({ label: "Picture", name: "hero_image" }), "Picture");
		equals([nameOf({ label: null, name: "hero_image" }), nameOf({ label: "", name: "x" })], ["Hero image", "X"]);
	},
	"a text becomes a value of the parameter's type, or stays to be corrected"() {
		const sizes = [{ value: "s", label: "Small" }, "m"];
		const texts: [parameter: ParameterEntry, text: string, want: unknown][] = [
			[parameter("number"), " 3.5 ", 3.5],
			[parameter("number"), "three", "three"],
			[parameter("number"), "1e999", "1e999"],
			[parameter("boolean"), "Yes", true],
			[parameter("boolean"), "x", true],
			[parameter("boolean"), "0", false],
			[parameter("boolean"), "1", true],
			[parameter("boolean"), "true", true],
			[parameter("boolean"), "FALSE", false],
			[parameter("boolean"), "perhaps", "perhaps"],
			[parameter("list"), "a; b\nc;;", ["a", "b", "c"]],
			[parameter("select", sizes), "s", "s"],
			[parameter("select", sizes), "SMALL", "s"],
			[parameter("select", sizes), "M", "m"],
			[parameter("select", sizes), "large", "large"],
			[parameter("text"), " a ", "a"],
			[parameter("date"), "2026-05-09", "2026-05-09"],
		];
		for (const [parameter, text, expected] of texts)
			equals(fromText(parameter, text), expected, `${parameter.type} "${text}"`);
		for (const type of ["number", "boolean", "list", "select", "text"])
			equals(fromText(parameter(type), "  "), undefined, type);
	},
	"a value of any type is shown as text"() {
		const values: [value: unknown, want: string][] = [
			[undefined, ""],
			[null, ""],
			["a", "a"],
			[0, "0"],
			[false, "false"],
			[["a", 1], '["a",1]'],
			[{ a: 1 }, '{"a":1}'],
		];
		for (const [value, expected] of values) equals(textOf(value), expected);
	},
	"choices are values, or values with labels"() {
		equals(optionsOf(parameter("select", ["a", 2, { value: "b", label: "B" }, { value: "c" }])), [
			{ value: "a", label: "a" },
			{ value: "2", label: "2" },
			{ value: "b", label: "B" },
			{ value: "c", label: "c" },
		]);
		equals([optionsOf(parameter("select")), optionsOf(parameter("select", "x"))], [[], []]);
	},
	"each thing to fill stands in one group, in the order of the form"() {
		const withNames = (...names: string[]) => names.map((name) => ({ name }));
		const group = (name: string, parameters: string[], sections: string[] = [], slots: string[] = []) => ({
			name,
			label: null,
			help_text: null,
			collapsed: false,
			parameters,
			sections,
			slots,
		});
		const groups = groupsOf({
			parameters_schema: withNames("a", "b", "c"),
			sections_schema: withNames("s"),
			slots_schema: withNames("x", "y"),
			groups_schema: [group("first", ["b", "gone"], ["s"], ["y"]), group("second", ["b", "a"]), group("empty", [])],
		} as unknown as BindingOptions);
		equals(
			groups.map((group) => [group.name, group.label, group.items.map((item) => `${item.kind} ${item.entry.name}`)]),
			[
				["first", "First", ["parameters b", "sections s", "slots y"]],
				["second", "Second", ["parameters a"]],
				["empty", "Empty", []],
				["", null, ["parameters c", "slots x"]],
			],
		);
		const none = { parameters_schema: [], sections_schema: [], slots_schema: [], groups_schema: [] };
		equals(groupsOf(none as unknown as BindingOptions), []);
	},
	"problems of values have their paths in them"() {
		const problem = (field: string, code: string) => ({ field, code, message: `${field} is wrong` }) as PreviewProblem;
		const issues = issuesOf(
			[
				problem("template_binding.parameters.a", "required"),
				problem("template_binding.x", "INVALID_TEMPLATE"),
				problem("subject", "required"),
			],
			"template_binding.",
		);
		equals(issues, [
			{ path: "parameters.a", code: "required", message: "template_binding.parameters.a is wrong", fix: "" },
		]);
	},
	"names that a template does not declare are taken away, and nothing else"() {
		const issue = (path: string, code: string) => ({ path, code, message: "", fix: "" }) as Issue;
		const issues = [
			issue("parameters.old", "unknown_param"),
			issue("sections.stories[1].gone", "unknown_param"),
			issue("sections.news", "unknown_section"),
			issue("slots.footer", "unknown_slot"),
			issue("parameters.kept", "required"),
		];
		equals(issues.filter(isUnknown).length, 4);
		equals(
			withoutUnknown(
				{
					parameters: { old: 1, kept: 2, list: ["old"] },
					sections: {
						stories: [
							{ gone: 1, a: 2 },
							{ gone: 3, a: 4 },
						],
						news: [],
					},
					slots: { footer: {}, header: null },
				},
				issues,
			),
			{
				parameters: { kept: 2, list: ["old"] },
				sections: { stories: [{ gone: 1, a: 2 }, { a: 4 }] },
				slots: { header: null },
			},
		);
		const binding = { parameters: { a: [1, { b: null }] } };
		equals(withoutUnknown(binding, []), binding);
	},
	"the choices of a template are all, or the chosen one until they are loaded"() {
		const selected = { slug: "news", name: "News" } as BindingOptions;
		const all = [{ slug: "news", name: "News", format: "mjml" }];
		equals(templateOptions(all, undefined), [{ id: "news", label: "News", detail: "MJML" }]);
		equals(templateOptions(undefined, selected), [{ id: "news", label: "News" }]);
		equals([templateOptions(undefined, undefined), templateOptions([], selected)], [[], []]);
	},
};

export default tests;
