import type { BlockRow, ParameterEntry, SectionEntry } from "../../api/schema";
import { equals, type Tests } from "../../base/testing";
import { copyOf, sectionOf, slotOf } from "./blockCopy";
import { insertSnippet } from "./inserting";
import { applied } from "./model/acts";
import { parse } from "./model/parse";
import { places } from "./model/places";
import { type Tree, walk } from "./model/tree";

const field = (name: string, type: ParameterEntry["type"], value: ParameterEntry["default"] = null, sample = value) =>
	({ name, type, default: value, sample }) as ParameterEntry;
const section = (name: string, min: number, ...items: ParameterEntry[]) =>
	({ name, min, item_schema: items }) as SectionEntry;
const copy = (content_mjml: string, fields: ParameterEntry[] = [], sections: SectionEntry[] = []) =>
	copyOf({ content_mjml, parameters_schema: fields, sections_schema: sections });
const read = (text: string, fragment = false) => parse(text, fragment) as Tree;
const mail = (inner: string) => `<mjml><mj-body>${inner}</mj-body></mjml>`;

const tests: Tests = {
	"fields of a copy have their values"() {
		const fields = [
			field("title", "text", 'Fish & <chips> "now"'),
			field("note", "textarea", null, "one\ntwo"),
			field("html", "rich_text", "<b>bold</b>"),
			field("many", "list", ["a", "b"]),
			field("price", "number", 12.5),
			field("until", "date"),
			field("caption", "text", "", "A quay"),
		];
		const cases: [code: string, want: string][] = [
			["{{param:title}}", "Fish & &lt;chips> &quot;now&quot;"],
			["{{ title }}, {{ note }}", "Fish & &lt;chips> &quot;now&quot;, one<br />two"],
			["{{ param:html }}{{param:many}}", "<b>bold</b>a, b"],
			["{{param:caption}}", "A quay"],
			['{{param:price | money: "EUR"}}', '{{12.5 | money: "EUR"}}'],
			["{% if param.until != blank %}x{% endif %}", "{% if nil != blank %}x{% endif %}"],
			["{{ param.title }}", `{{ 'Fish & <chips> "now"' }}`],
			["{{ first_name }}{{ contact.param.x }}", "{{ first_name }}{{ contact.param.x }}"],
			["{% comment %}{{param:title}}{% endcomment %}", "{% comment %}{{param:title}}{% endcomment %}"],
		];
		for (const [code, want] of cases)
			equals(copy(`<mj-text>${code}</mj-text>`, fields)?.code, `<mj-text>${want}</mj-text>`, code);
	},

	"sections of a copy have the rows that they need"() {
		const code =
			"<mj-text>\n  {{#section days}}\n  <p>{{item:_index}} {{item:day}}{% if {{item:_last}} %}.{% endif %}</p>\n  {{/section}}\n</mj-text>";
		equals(
			copy(code, [], [section("days", 2, field("day", "text", "Monday"))])?.code,
			"<mj-text>\n  <p>1 Monday{% if false %}.{% endif %}</p>\n  <p>2 Monday{% if true %}.{% endif %}</p>\n</mj-text>",
		);
		equals(
			copy("{{#section rows}}<mj-text>{{item:a}}</mj-text>{{/section}}", [], [section("rows", 0, field("a", "text"))]),
			{ tag: ["mj-text"], code: "<mj-text></mj-text>" },
		);
	},

	"what cannot be copied is not offered"() {
		equals(copy("<mj-text>{% for x in param.many %}x{% endfor %}</mj-text>", [field("many", "list", ["a"])]), null);
		equals([copy(""), copy("<mj-text>"), copy("<!-- nothing -->")], [null, null, null]);
		equals(copy("\t<mj-section>\r\n\t\t<mj-column />\r\n\t</mj-section>\r\n"), {
			tag: ["mj-section"],
			code: "<mj-section>\n  <mj-column />\n</mj-section>",
		});
	},

	"a section and a slot stand where they may"() {
		const days = sectionOf(
			section("days", 1, field("day", "text"), field("image", "image"), field("open", "boolean")),
			"",
		);
		if (!days) throw new Error("there is no section");
		const tree = read(mail("<mj-section><mj-column></mj-column></mj-section>"));
		const act = insertSnippet(tree, null, days);
		if (!act) throw new Error("the section has no place");
		const after = read(applied(tree.text, act.changes));
		const [inserted] = [...walk(after.root)].filter((node) => node.kind === "condition");
		equals(
			inserted?.branches[0]?.children.map((node) => node.kind === "element" && node.tag),
			["mj-text", "mj-image"],
		);
		const inSection = places(after, days.tag).filter(({ parent }) => parent.kind === "branch");
		equals(inSection, [], "places for a section in a section");

		const blocks = [{ tags: ["promo"], content_mjml: "<!-- x --><mj-text>1</mj-text>" } as BlockRow];
		const slot = { name: "promo", tag_filter: ["promo"] };
		equals(slotOf(after, slot, blocks)?.tag, ["{{slot}}", "mj-text"]);
		equals(slotOf(after, { ...slot, tag_filter: ["other"] }, blocks)?.tag, ["{{slot}}", "mj-section"]);
		equals(
			places(after, ["{{slot}}", "mj-text"]).some(({ parent }) => parent.kind === "branch"),
			false,
			"in a section",
		);
		equals(slotOf(read(mail("{{ slot: promo }}")), slot, blocks), null, "a slot that is there");
		const moved = read(mail("{{slot:promo}}{{#section days}}<mj-section></mj-section>{{/section}}"));
		const [node] = [...walk(moved.root)].filter((node) => node.kind === "opaque");
		equals(node && places(moved, node).some(({ parent }) => parent.kind === "branch"), false, "a slot that is moved");
	},

	"what has a slot inside goes into no section"() {
		const tree = read(
			mail(
				"<mj-wrapper>{{slot:promo}}</mj-wrapper><mj-wrapper></mj-wrapper>{{#section days}}<mj-wrapper></mj-wrapper>{{/section}}",
			),
		);
		const intoSection = [...walk(tree.root)]
			.filter((node) => node.kind === "element" && node.tag === "mj-wrapper")
			.map((node) => places(tree, node).some(({ parent }) => parent.kind === "branch"));
		equals(intoSection.slice(0, 2), [false, true]);
	},

	"a copy gets a column or a section of its own"() {
		const cases: [code: string, want: string][] = [
			["<mj-text>1</mj-text>", "<mj-section><mj-column><mj-text>1</mj-text></mj-column></mj-section>"],
			["<mj-column></mj-column>", "<mj-section><mj-column></mj-column></mj-section>"],
			["<mj-section></mj-section>\n<mj-section></mj-section>", "<mj-section></mj-section><mj-section></mj-section>"],
		];
		for (const [code, want] of cases) {
			const inserted = copy(code);
			const tree = read(mail(""));
			const act = inserted && insertSnippet(tree, null, inserted);
			const written = act && /<mj-body>(.*)<\/mj-body>/s.exec(applied(tree.text, act.changes))?.[1];
			equals(written?.replaceAll(/\n\s*/g, ""), want, code);
		}
	},
};

export default tests;
