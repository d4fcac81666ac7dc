import { equals, type Tests } from "../../base/testing";
import { elementAt, fillingAt, lineAt, partsOf, pathOf, rowAt, withoutMarks } from "./mailParts";

const template = `<mjml><mj-body>
<mj-section background-color="{{param:color}}"><mj-column>
<mj-text><h1>{{ headline }}</h1>Hello {{ first_name }}</mj-text>
{% if param.note != blank %}<mj-text>{{param:note}}</mj-text>{% endif %}
<mj-button href="https://example.com/?a=1>2">Go</mj-button>
{{#section products}}
<mj-image src="{{item:image}}" />
<mj-text>{{item:_index}}. {{item:name}}</mj-text>
<mj-divider />
{{/section}}
<mj-table>{{#section days}}<tr><td>{{item:day}}</td></tr>{{/section}}</mj-table>
</mj-column></mj-section>
{{slot:promo}}
<mj-section><mj-column><mj-text>{% if param.footer %}x{% endif %}</mj-text></mj-column></mj-section>
</mj-body></mjml>`;

const at = (text: string) => template.indexOf(text);
const filling = (text: string) => fillingAt(template, at(text), ["headline", "color"]);

const tests: Tests = {
	"an element ends with its own end tag, or with itself"() {
		const text = '<a><b/><a x=">"><b></b></a></a><img><p>open';
		equals(elementAt(text, 0), '<a><b/><a x=">"><b></b></a></a>');
		equals(elementAt(text, text.indexOf('<a x=">"')), '<a x=">"><b></b></a>');
		equals(elementAt(text, text.indexOf("<b/>")), "<b/>");
		equals(elementAt(text, text.indexOf("<img>")), "<img>");
		equals(elementAt(text, text.indexOf("<p>")), "<p>");
		equals(elementAt(text, 1), "");
		equals(elementAt("<", 0), "");
		equals(
			elementAt("<mj-text>a<mj-text-x>b</mj-text-x></mj-text>", 0),
			"<mj-text>a<mj-text-x>b</mj-text-x></mj-text>",
		);
	},
	"an element is filled by the first parameter, section or slot that it names"() {
		equals(filling("<mj-text><h1>"), { kind: "parameters", name: "headline" });
		equals(filling("<mj-text>{{param:note"), { kind: "parameters", name: "note" });
		equals(filling("<mj-section background"), { kind: "parameters", name: "color" });
		equals(filling("<mj-table>"), { kind: "sections", name: "days" });
		equals(filling("{{slot:promo}}"), { kind: "slots", name: "promo" });
		equals(filling("<mj-text>{% if param.footer"), { kind: "parameters", name: "footer" });
	},
	"what a section repeats is filled by a field of its rows, or by the section"() {
		equals(filling("<mj-image"), { kind: "sections", name: "products", item: "image" });
		equals(filling("<mj-text>{{item:_index"), { kind: "sections", name: "products" });
		equals(filling("<mj-divider"), { kind: "sections", name: "products" });
		equals(filling("<tr>"), { kind: "sections", name: "days", item: "day" });
	},
	"what names nothing that is declared is filled by nothing"() {
		equals(filling("<mj-button"), null);
		equals(fillingAt(template, at("<mj-text><h1>"), []), null);
		equals(fillingAt(template, 100_000, []), null);
		equals(fillingAt("<p>{{#section", 0, []), null);
		equals(fillingAt("{{slot:", 0, []), null);
	},
	"a field of a row has the path of the row that was pressed"() {
		equals(pathOf({ kind: "sections", name: "products", item: "image" }, 2), "sections.products[2].image");
		equals(pathOf({ kind: "sections", name: "products" }, 2), "sections.products");
		equals(pathOf({ kind: "parameters", name: "headline" }, 0), "parameters.headline");
	},
	"lines are counted from 1"() {
		equals(
			[0, 3, 4].map((position) => lineAt("abc\nd", position)),
			[1, 1, 2],
		);
	},
	"the parts of a mail are what it shows, without what is inside of them"() {
		equals(
			partsOf('<mj-section><mj-text><p>Hello  <b>Ann</b></p></mj-text><mj-image alt="A boat" src="x"/></mj-section>'),
			[
				{ at: 12, tag: "mj-text", text: "Hello Ann" },
				{ at: 55, tag: "mj-image", text: "A boat" },
			],
		);
		equals(
			partsOf(`<h1>Title</h1><p>${"long ".repeat(20)}</p><P><img></P><article>`).map(({ tag, text }) => [tag, text]),
			[
				["h1", "Title"],
				["p", "long long long long long long long long long lon…"],
				["p", ""],
			],
		);
		equals(partsOf("<p>x</p>".repeat(100)).length, 60);
	},
	"the source of a mail is shown without marks"() {
		equals(
			withoutMarks('<p class="pb-mark-12">a</p><td class="x pb-mark-3 y"><b class="z pb-mark-4">pb-market</b></td>'),
			'<p>a</p><td class="x y"><b class="z">pb-market</b></td>',
		);
	},
	"a press is on the row of a section that it is in"() {
		const rect = (mark: number, y: number) => ({ mark, x: 0, y, width: 100, height: 10 });
		const rects = [rect(1, 0), rect(2, 10), rect(1, 20), rect(1, 30)];
		equals(
			[rowAt(rects, 1, 5, 5), rowAt(rects, 1, 5, 25), rowAt(rects, 2, 5, 15), rowAt(rects, 1, 5, 500)],
			[0, 1, 0, 0],
		);
	},
};

export default tests;
