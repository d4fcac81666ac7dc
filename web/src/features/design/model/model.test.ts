import { equals, holds, type Tests } from "../../../base/testing";
import {
	type Act,
	applied,
	duplicate,
	insert,
	move,
	remove,
	setAttribute,
	setCondition,
	setText,
	step,
	unwrap,
	wrapInCondition,
} from "./acts";
import { attributeValue, labelOf } from "./labels";
import { parse } from "./parse";
import { columnsAround, phoneLook, placeBelow, placeBeside, setPhoneLook } from "./phones";
import { places } from "./places";
import { attributeOf, decode } from "./text";
import { type ElementNode, find, type Node, nodeAt, pathOf, type Tree, walk } from "./tree";

const read = (text: string, fragment = false): Tree => {
	const tree = parse(text, fragment);
	if (tree.broken) throw new Error(`broken at ${tree.broken.at}: ${tree.broken.why}`);
	return tree;
};

const all = (tree: Tree, what: string) =>
	[...walk(tree.root)].filter(
		(node) => (node.kind === "element" ? node.tag : node.kind === "opaque" ? node.what : node.name) === what,
	);
const first = <T extends Node = ElementNode>(tree: Tree, what: string) => all(tree, what)[0] as T;

const after = (tree: Tree, act: Act | null) => act && applied(tree.text, act.changes);

const mail = (...lines: string[]) =>
	["<mjml>", "  <mj-body>", ...lines.map((line) => `    ${line}`), "  </mj-body>", "</mjml>", ""].join("\n");
const column = (...lines: string[]) =>
	mail("<mj-section>", "  <mj-column>", ...lines.map((line) => `    ${line}`), "  </mj-column>", "</mj-section>");

/** outline writes a tree in one line. */
const outline = (nodes: Node[]): string =>
	nodes
		.map((node) => {
			if (node.kind === "opaque") return node.what;
			if (node.kind === "element")
				return node.tag.slice(3) + (node.children.length > 0 ? `(${outline(node.children)})` : "");
			return `${node.name}{${node.branches.map((branch) => `${branch.code}: ${outline(branch.children)}`).join(" | ")}}`;
		})
		.join(" ");
const bodyOf = (tree: Tree) => outline(first(tree, "mj-body").children);

const tests: Tests = {
	"positions are those of the text, whatever stands in Liquid, comments and values"() {
		const text =
			'\ufeff<mjml><mj-body><!-- <mj-text> --><mj-section css-class=\'a>b\'><mj-column>{% if a < b %}<mj-text color="{{ x | default: "a>b" }}">👩‍🚀</mj-text>{% endif %}</mj-column></mj-section></mj-body></mjml>';
		const tree = read(text);
		equals(bodyOf(tree), "comment section(column(if{a < b: text}))");
		const element = first(tree, "mj-text");
		equals(text.slice(element.from, element.to), '<mj-text color="{{ x | default: "a>b" }}">👩‍🚀</mj-text>');
		equals(attributeValue(tree, element, "color"), '{{ x | default: "a>b" }}');
		equals(attributeValue(tree, first(tree, "mj-section"), "css-class"), "a>b");
		equals(
			pathOf(element).map((node) => (node.kind === "element" ? node.tag : node.kind)),
			["mjml", "mj-body", "mj-section", "mj-column", "condition", "mj-text"],
		);
		holds(
			find(tree, text.indexOf("👩")) === element && nodeAt(tree, element.from) === element,
			"it is found by positions",
		);
	},
	"Liquid around elements is a condition; where it holds them together in another way, they are one opaque block"() {
		const raw = (code: string) => `<mj-raw>${code}</mj-raw>`;
		const columnOf = (...lines: string[]) => {
			const tree = read(column(...lines));
			return outline(first(tree, "mj-column").children);
		};
		equals(
			columnOf(
				raw("{% if a %}"),
				"<mj-text>1</mj-text>",
				raw("{% else %}"),
				"<mj-image />",
				raw("{% endif %}"),
				"<mj-spacer />",
			),
			"if{a: text | : image} spacer",
		);
		equals(
			columnOf(
				"{{#section rows}}",
				raw("{% unless x %}"),
				"<mj-text>1</mj-text>",
				raw("{% endunless %}"),
				"{{/section}}",
				"{{slot:promo}}",
			),
			"section{rows: unless{x: text}} slot",
		);
		equals(
			columnOf(
				raw("{% if a %}<hr>"),
				"<mj-text>1</mj-text>",
				raw("{% endif %}"),
				raw("{% if b %}<hr>{% endif %}"),
				"<mj-text>2</mj-text>",
			),
			"group raw text",
		);
		equals(
			columnOf(
				"<mj-text>{% for x in y %}</mj-text>",
				"<mj-spacer />",
				"<mj-text>{% endfor %}</mj-text>",
				"<mj-spacer />",
			),
			"group spacer",
		);
		equals(
			columnOf(
				"<mj-text>{% if a %}1{% endif %}</mj-text>",
				"{% assign x = 1 %}",
				"<mj-nothing><mj-text>1</mj-text></mj-nothing>",
			),
			"text liquid unknown",
		);
	},
	"a text that cannot be read says where"() {
		const broken: [string, number][] = [
			["<mjml><mj-body><mj-section></mj-body></mjml>", 15],
			["<mjml><mj-body><mj-text>a</mj-body></mjml>", 15],
			["<mjml><mj-body>{% if a %}<mj-section />{% endfor %}</mj-body></mjml>", 39],
			["<mjml><mj-body>{% if a %}<mj-section /></mj-body></mjml>", 15],
			["<mjml><mj-body a=b></mj-body></mjml>", 15],
			["hello", 0],
			["<mjml></mjml>", 0],
			["<mjml><mj-body>\u0001</mj-body></mjml>", 15],
		];
		equals(
			broken.map(([text]) => parse(text).broken?.at),
			broken.map(([, at]) => at),
		);
	},
	"what is inserted follows the lines around it"() {
		const tree = read(column("<mj-text>1</mj-text>"));
		const inColumn = first(tree, "mj-column");
		equals(
			after(tree, insert(tree, { parent: inColumn, index: 0 }, "<mj-spacer />")),
			column("<mj-spacer />", "<mj-text>1</mj-text>"),
		);
		equals(
			after(tree, insert(tree, { parent: inColumn, index: 1 }, "<mj-spacer />")),
			column("<mj-text>1</mj-text>", "<mj-spacer />"),
		);
		const lines = "<mjml>\r\n\t<mj-body>\r\n\t\t<mj-section />\r\n\t</mj-body>\r\n</mjml>";
		const tabs = read(lines);
		equals(
			after(
				tabs,
				insert(
					tabs,
					{ parent: first(tabs, "mj-section"), index: 0 },
					"<mj-column>\n  <mj-text>1</mj-text>\n</mj-column>",
				),
			),
			lines.replace(
				"<mj-section />",
				"<mj-section>\r\n\t\t\t<mj-column>\r\n\t\t\t\t<mj-text>1</mj-text>\r\n\t\t\t</mj-column>\r\n\t\t</mj-section>",
			),
		);
		const inline = read(
			"<mjml><mj-body><mj-section><mj-column><mj-text>1</mj-text></mj-column></mj-section></mj-body></mjml>",
		);
		equals(
			after(inline, insert(inline, { parent: first(inline, "mj-column"), index: 0 }, "<mj-spacer />")),
			inline.text.replace("<mj-text>", "<mj-spacer /><mj-text>"),
		);
		equals(insert(tree, { parent: inColumn, index: 0 }, "<mj-section></mj-section>"), null);
	},
	"what is moved keeps its characters, but for the indentation, and takes its line along"() {
		const tree = read(column("<mj-text", '  color="red">1</mj-text>', "<mj-spacer />"));
		const [text, spacer] = [first(tree, "mj-text"), first(tree, "mj-spacer")];
		equals(
			after(tree, move(tree, text, { parent: spacer.parent, index: 2 })),
			column("<mj-spacer />", "<mj-text", '  color="red">1</mj-text>'),
		);
		equals(move(tree, text, { parent: spacer.parent, index: 1 }), null);
		const section = first(tree, "mj-section");
		equals(move(tree, section, { parent: first(tree, "mj-column"), index: 0 }), null);
		const deep = read(mail("<mj-wrapper>", "  <mj-section>", "    <mj-column />", "  </mj-section>", "</mj-wrapper>"));
		equals(
			after(deep, move(deep, first(deep, "mj-section"), { parent: first(deep, "mj-body"), index: 0 })),
			mail("<mj-section>", "  <mj-column />", "</mj-section>", "<mj-wrapper>", "</mj-wrapper>"),
		);
		const act = move(deep, first(deep, "mj-section"), { parent: first(deep, "mj-body"), index: 1 });
		const moved = read(after(deep, act) ?? "");
		holds(nodeAt(moved, act?.select ?? -1) === first(moved, "mj-section"), "what was moved is not selected");
	},
	"a step goes over a neighbour, into a condition and out of it, and into the next column"() {
		const lines = [
			"<mj-raw>{% if a %}</mj-raw>",
			"<mj-text>1</mj-text>",
			"<mj-raw>{% endif %}</mj-raw>",
			"<mj-spacer />",
		];
		const tree = read(column(...lines));
		const spacer = first(tree, "mj-spacer");
		const up = step(spacer, -1);
		const inside = after(tree, up && move(tree, spacer, up));
		equals(inside, column(lines[0] ?? "", lines[1] ?? "", lines[3] ?? "", lines[2] ?? ""));
		const again = read(inside ?? "");
		const down = step(first(again, "mj-spacer"), 1);
		equals(after(again, down && move(again, first(again, "mj-spacer"), down)), tree.text);
		const two = read(
			mail(
				"<mj-section>",
				"  <mj-column><mj-text>1</mj-text></mj-column>",
				"  <mj-column></mj-column>",
				"</mj-section>",
			),
		);
		const over = step(first(two, "mj-text"), 1);
		holds(over?.parent === all(two, "mj-column")[1], "it does not go into the next column");
	},
	"what is removed takes its line along, and what is copied is behind it"() {
		const tree = read(column("<mj-text>1</mj-text>", "<mj-spacer />"));
		equals(after(tree, remove(tree, first(tree, "mj-spacer"))), column("<mj-text>1</mj-text>"));
		equals(
			after(tree, duplicate(tree, first(tree, "mj-text"))),
			column("<mj-text>1</mj-text>", "<mj-text>1</mj-text>", "<mj-spacer />"),
		);
		equals([remove(tree, first(tree, "mj-body")), duplicate(tree, first(tree, "mjml"))], [null, null]);
	},
	"an attribute is added, changed and removed, and nothing else is"() {
		const tree = read(mail("<mj-section padding='1px'", '  css-class = "a" ><mj-column/></mj-section>'));
		const section = first(tree, "mj-section");
		const with_ = (name: string, value: string | null) => after(tree, setAttribute(tree, section, name, value));
		equals(with_("padding", "it's"), tree.text.replace("'1px'", "'it&#39;s'"));
		equals(
			with_("css-class", 'b "c" < d & {{ x | default: "e" }}'),
			tree.text.replace('"a"', '"b &quot;c&quot; &lt; d & {{ x | default: "e" }}"'),
		);
		equals(with_("padding", null), tree.text.replace(" padding='1px'", ""));
		equals(with_("css-class", null), tree.text.replace('\n      css-class = "a"', ""));
		equals(with_("direction", "rtl"), tree.text.replace('"a"', '"a"\n      direction="rtl"'));
		equals([with_("padding", "1px"), with_("direction", null), with_("padding", "{% if x %}")], [null, null, null]);
		equals(
			after(tree, setAttribute(tree, first(tree, "mj-column"), "width", "50%")),
			tree.text.replace("<mj-column/>", '<mj-column width="50%"/>'),
		);
	},
	"a text is written as it is, unless it would not stay in its element"() {
		const tree = read(column("<mj-text>1</mj-text>", "<mj-button />"));
		const write = (html: string, tag = "mj-text") => after(tree, setText(tree, first(tree, tag), html));
		equals(write("a <b>2</b> {{ x }}"), tree.text.replace(">1<", ">a <b>2</b> {{ x }}<"));
		equals(write("Go", "mj-button"), tree.text.replace("<mj-button />", "<mj-button >Go</mj-button>"));
		equals(
			["</mj-text>", "<!--", "{% if x %}", "{% endif %}", '<a href="', "<script>", "1"].map((html) => write(html)),
			[null, null, null, null, null, null, null],
		);
	},
	"an attribute is read and written without its entities, Liquid as it is"() {
		for (const text of [
			'a < b > c & "d"',
			"&amp; &copy;",
			'{{ x | default: "<&>" }} & y',
			"{% off {{ {",
			"👩‍🚀 日本",
			"{% if a < b %}1{% endif %}",
		]) {
			equals(decode(attributeOf(text, '"')), text, text);
			equals(decode(attributeOf(text, "'")), text, text);
		}
	},
	"elements are wrapped in a condition, which is changed and taken away"() {
		const tree = read(column("<mj-text>1</mj-text>", "<mj-spacer />", "<mj-text>2</mj-text>"));
		const [text, spacer] = [first(tree, "mj-text"), first(tree, "mj-spacer")];
		const wrapped = after(tree, wrapInCondition(tree, text, spacer, 'plan == "pro"')) ?? "";
		equals(
			wrapped,
			column(
				'<mj-raw>{% if plan == "pro" %}</mj-raw>',
				"<mj-text>1</mj-text>",
				"<mj-spacer />",
				"<mj-raw>{% endif %}</mj-raw>",
				"<mj-text>2</mj-text>",
			),
		);
		const now = read(wrapped);
		const condition = all(now, "if")[0];
		if (condition?.kind !== "condition" || !condition.branches[0]) throw new Error("there is no condition");
		equals(
			after(now, setCondition(now, condition.branches[0], "points > 10")),
			wrapped.replace('plan == "pro"', "points > 10"),
		);
		equals(after(now, unwrap(now, condition)), tree.text);
		equals(
			[wrapInCondition(tree, text, spacer, ""), wrapInCondition(tree, text, spacer, "x %} {% if y")],
			[null, null],
		);
		equals(wrapInCondition(tree, text, first(tree, "mj-section"), "x"), null);
	},
	"elements may stand where MJML has them, and not in themselves, nor before the first when"() {
		const tree = read(
			column(
				"<mj-raw>{% case a %}</mj-raw>",
				"<mj-raw>{% when 1 %}</mj-raw>",
				"<mj-text>1</mj-text>",
				"<mj-raw>{% endcase %}</mj-raw>",
			),
		);
		const named = (all: ReturnType<typeof places>) =>
			all.map(
				({ parent, index }) =>
					`${parent.kind === "element" ? parent.tag : parent.kind === "branch" ? parent.code : ""} ${index}`,
			);
		equals(named(places(tree, "mj-text")), ["mj-column 0", "mj-column 1", "1 0", "1 1"]);
		equals(named(places(tree, first(tree, "mj-text"))), ["mj-column 0", "mj-column 1"]);
		equals(named(places(tree, "mj-section")), ["mj-body 0", "mj-body 1"]);
		equals(named(places(tree, first(tree, "mj-section"))), []);
		const rows = read("<mj-section />", true);
		equals([places(rows, "mj-hero").length, places(rows, "mj-text").length], [2, 0]);
		equals(
			[places(read("", true), "mj-text").length, places(read("<mj-text>1</mj-text>", true), "mj-section").length],
			[1, 0],
		);
	},
	"a node is told by its words"() {
		const tree = read(
			column(
				"<mj-text><h1>Good <b>news</b></h1>{{ name }}</mj-text>",
				'<mj-image alt="A &quot;cat&quot;" />',
				"<mj-raw><p>raw</p></mj-raw>",
				"{{slot:promo}}",
				"<!-- note -->",
				"<mj-raw>{% if a %}</mj-raw>",
				"<mj-raw>{% endif %}</mj-raw>",
			),
		);
		equals(
			first(tree, "mj-column").children.map((node) => labelOf(tree, node)),
			["Good news {{ name }}", 'A "cat"', "raw", "promo", "note", "a"],
		);
	},
	"what is different on phones is a class, with rules in one style of the head, which are read again"() {
		const tree = read(column("<mj-text>1</mj-text>", '<mj-button css-class="mine">Go</mj-button>'));
		const hidden = read(after(tree, setPhoneLook(tree, first(tree, "mj-text"), { shown: "not" })) ?? "");
		equals(
			hidden.text,
			column('<mj-text css-class="on-phones-1">1</mj-text>', '<mj-button css-class="mine">Go</mj-button>').replace(
				"<mjml>\n",
				`<mjml>
  <mj-head>
    <mj-style>
      /* On phones: written by the design. */
      @media only screen and (max-width: 479px) {
        .on-phones-1 { display: none !important; }
      }
    </mj-style>
  </mj-head>
`,
			),
		);
		equals(phoneLook(hidden, first(hidden, "mj-text")), { shown: "not" });
		const look = { shown: "only", size: "18px", align: "center", padding: "8px 0" } as const;
		const both = read(after(hidden, setPhoneLook(hidden, first(hidden, "mj-button"), look)) ?? "");
		equals(
			[phoneLook(both, first(both, "mj-button")), phoneLook(both, first(both, "mj-text"))],
			[look, { shown: "not" }],
		);
		holds(both.text.includes('css-class="mine on-phones-2"'), "the class that was there is gone");
		const none = { shown: undefined, size: undefined, align: undefined, padding: undefined };
		const one = read(after(both, setPhoneLook(both, first(both, "mj-button"), none)) ?? "");
		equals(one.text, hidden.text);
		const again = after(one, setPhoneLook(one, first(one, "mj-text"), none));
		equals(again, tree.text.replace("<mjml>\n", "<mjml>\n  <mj-head>\n  </mj-head>\n"));
	},
	"styles and classes of people stay, and a copy of an element gets a class of its own once it is changed"() {
		const style =
			"<mj-style>.on-phones-1 { color: red } @media only screen and (max-width: 479px) { .on-phones-1 { display: none } }</mj-style>";
		const text = column('<mj-text css-class="on-phones-1">1</mj-text>').replace(
			"<mjml>",
			`<mjml><mj-head>${style}</mj-head>`,
		);
		const tree = read(text);
		equals(phoneLook(tree, first(tree, "mj-text")), {});
		const now = read(after(tree, setPhoneLook(tree, first(tree, "mj-text"), { size: "20px" })) ?? "");
		holds(
			now.text.includes(style) && now.text.includes('css-class="on-phones-1 on-phones-2"'),
			"what was there changed",
		);
		const twice = read(after(now, duplicate(now, first(now, "mj-text"))) ?? "");
		const [one, two] = all(twice, "mj-text") as ElementNode[];
		if (!one || !two) throw new Error("there is no copy");
		equals([phoneLook(twice, one), phoneLook(twice, two)], [{ size: "20px" }, { size: "20px" }]);
		const apart = read(after(twice, setPhoneLook(twice, two, { size: "30px" })) ?? "");
		equals(
			all(apart, "mj-text").map((node) => phoneLook(apart, node as ElementNode)),
			[{ size: "20px" }, { size: "30px" }],
		);
		const edited = read(apart.text.replace("font-size: 20px !important;", "font-size: 20px !important; color: red;"));
		const kept = after(edited, setPhoneLook(edited, all(edited, "mj-text")[0] as ElementNode, { size: "21px" })) ?? "";
		holds(
			kept.includes("color: red;") && kept.includes("on-phones-4"),
			"a style that a person has changed was written",
		);
	},
	"classes of the head are kept, the breakpoint is that of the mail, and a block has none of it"() {
		const head =
			'<mj-head><mj-breakpoint width="600px" /><mj-attributes><mj-text css-class="all" /></mj-attributes></mj-head>';
		const tree = read(column("<mj-text>1</mj-text>").replace("<mjml>", `<mjml>${head}`));
		const text = all(tree, "mj-text").at(-1) as ElementNode;
		const now = after(tree, setPhoneLook(tree, text, { align: "center" })) ?? "";
		holds(now.includes('<mj-text css-class="all on-phones-1">1') && now.includes("(max-width: 599px)"), now);
		const block = read("<mj-text>1</mj-text>", true);
		equals(setPhoneLook(block, first(block, "mj-text"), { align: "center" }), null);
		equals(setPhoneLook(tree, text, { size: "1px; } x {" }), null);
	},
	"columns stay beside each other in a group, which is put around all of them and taken away"() {
		const lines = [
			"<mj-section>",
			"  <mj-column>",
			"    <mj-text>1</mj-text>",
			"  </mj-column>",
			"  <mj-column />",
			"</mj-section>",
		];
		const tree = read(mail(...lines));
		equals(columnsAround(first(tree, "mj-column"))?.stand, "below");
		const grouped = read(after(tree, placeBeside(tree, first(tree, "mj-section"))) ?? "");
		const inside = lines.slice(1, -1).map((line) => `  ${line}`);
		equals(grouped.text, mail("<mj-section>", "  <mj-group>", ...inside, "  </mj-group>", "</mj-section>"));
		equals(columnsAround(first(grouped, "mj-section"))?.stand, "beside");
		equals(after(grouped, placeBelow(grouped, first(grouped, "mj-group"))), tree.text);
		const own = read(grouped.text.replace("<mj-group>", '<mj-group width="50%">'));
		equals(placeBelow(own, first(own, "mj-group")), null);
		const single = read(mail("<mj-section>", "  <mj-column />", "</mj-section>"));
		equals(columnsAround(first(single, "mj-section")), null);
	},
	"a document of 300 KB is read, and an act on it is one change"() {
		const section = column(
			`<mj-text>{{ name }} <b>${"text ".repeat(40)}</b></mj-text>`,
			'<mj-image src="a.png" alt="{{ alt }}" />',
		)
			.split("\n")
			.slice(2, 8)
			.join("\n");
		const text = mail(...Array.from({ length: 990 }, () => section.trimStart()));
		holds(text.length > 300_000, `it has ${text.length} characters`);
		const tree = read(text);
		equals(all(tree, "mj-text").length, 990);
		const last = all(tree, "mj-text").at(-1) as ElementNode;
		equals(setAttribute(tree, last, "color", "red")?.changes.length, 1);
	},
};

export default tests;
