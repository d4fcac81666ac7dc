import { history, undo } from "prosemirror-history";
import { EditorState, TextSelection } from "prosemirror-state";
import { equals, holds, Random, type Tests } from "../../base/testing";
import { richText } from "./allowed";
import { clearFormats, setLink, toggleFormat } from "./formats";
import { toggleList } from "./lists";
import { setAlignment, setBlock } from "./paragraphs";
import { read } from "./read";
import { documentOf } from "./view";
import { write } from "./write";

const kept = (source: string) => equals(write(read(source)), source, `what is kept of ${source}`);

/** Texts as people and programs write them, and as nobody should. */
const sources = `
<p>Hello</p>
Hello
<p>a</p><p>b</p>
<p class='x' STYLE="color:red">a</P >
<p>a<p>b
<p>Hello {{ contact.first_name | default: "there" }},</p>
{{ a }}
{% if a %}<p>b</p>{% else %}<p>c</p>{% endif %}
<p>{% if a < b %}x{% endif %}</p>
<p {% if a %}class="b"{% endif %}>c</p>
<a href="{{ url | default: "https://x.test/?a=b>c" }}">x</a>
<a href='https://x.test/?a=1&amp;b=2'>a</a> &copy; 2026 &mdash; AT&T &unknown; &#8217;&#x2019; &
a < b > c "d" 'e'
<b>a<i>b</i></b><b>c</b><i><b>d</b></i>
<b><i>x</b>y</i>
<a>x<a>y</a>
<b>a
<b></b><span></span><a name="x"></a>
<span style="color: #f00"><span style="font-size:20px">a</span> b</span>
<ul><li>a</li><li>b<ul><li>c</ul></ul>
<ul>{% for x in y %}<li>{{ x }}</li>{% endfor %}</ul>
<ul></ul>
<ol start="3">x<li>a</li></ol>
<li>a</li>
<div>a</div><div><p>b</p>c</div>
<blockquote>a<br>b</blockquote>
<table><tbody><tr><td>a</td><td><p>b</p></td></tr></tbody></table>
<table><caption>x</caption><tr><td>a</table>
<span><p>a</p></span><form><input></form>
<h1>a</h1><h2 align="center">b</h2><hr><hr/>
<pre>a
  b &lt; c<br></pre>
a<br/>b<br>c<BR />
<br><br/>
<p><br></p><p></p><p> </p><p>&nbsp;</p>
<!-- a --><p>a<!-- b --></p><![CDATA[x]]><?php x ?>
<script>if (a < b) "</p>"</script><style>p { }</style>
{% raw %}<b>{{ x }}</b>{% endraw %} {% comment %}<p>{% endcomment %}
{{ open <b>a</b>
{% open
{{{ a }}} {{{{ b }}}}
<b {{ a }}>x</b></b></p></div>
<p
<p title="a
<o:p>x</o:p><custom-element a=b>y</custom-element><x/>
<img src="https://x.test/a.png" alt="A"><p><img src=x></p>
<center>a</center><font color=red>b</font>
`
	.trim()
	.split("\n<pre>")
	.flatMap((half, i) =>
		i === 0
			? half.split("\n")
			: [`<pre>${half.slice(0, half.indexOf("</pre>") + 6)}`, ...half.slice(half.indexOf("</pre>") + 7).split("\n")],
	);

const spaced = [
	"",
	"  ",
	"\n  Hello\n  <b>you</b> ,\n",
	"\n\t<p>\n\t\ta\n\t</p>\r\n\t<p>b</p>\n",
	"a  \n <br/> \n b<br/><br/>\n",
	"<ul>\n <li> a </li>\n\n <li>\n b\n <ul>\n <li>c</li>\n </ul>\n </li>\n</ul>",
	" {% if a %} \n <p>b</p>\n {% endif %} ",
	"<table>\n <tr>\n <td> a </td>\n </tr>\n</table> b",
	"a\u00a0b\u2028c",
];

/** Pieces of markup of which texts are made, whether they fit or not. */
const pieces =
	"<p>|</p>|<b>|</b>|<i class=x>|</i>|<a href='{{ a }}'>|</a>|<br>|<br/>|<ul>|</ul>|<li>|</li>|<div>|</div>|<table>|<tr>|<td>|</td>|</tr>|</table>|<span style='color: red'>|</span>|<h2>|</h2>|<hr>|<pre>|</pre>|<blockquote>|</blockquote>|<form>|</form>|<x>|</x>|<img src=x>|{{ a }}|{% if b %}|{% endif %}|{{|}}|{%|%}|<!-- c -->|<!|<|>|&|&amp;|&copy;|&nope;|\u00a0| |\n  |a|Hello there|\"|'|{% raw %}|{% endraw %}|{% comment %}|{% endcomment %}".split(
		"|",
	);

const tests: Tests = {
	"what is read is written as it was"() {
		for (const source of [...sources, ...spaced]) kept(source);
	},
	"so is any sequence of pieces of markup"() {
		const random = new Random(1);
		for (let i = 0; i < 1200; i++) kept(random.list(14, () => random.of(pieces)).join(""));
	},
	"typing adds what is typed, and changes nothing else"() {
		const random = new Random(2);
		const all = [...sources, ...spaced];
		for (let i = 0; i < 400; i++) {
			const source = random.of([random.of(all), random.list(14, () => random.of(pieces)).join("")]);
			const doc = read(source);
			const places: number[] = [];
			doc.descendants((node, at) => {
				if (!node.isTextblock || node.content.size === 0) return;
				for (let offset = 0; offset <= node.content.size; offset++) places.push(at + 1 + offset);
			});
			if (places.length === 0) continue;
			const state = EditorState.create({ doc, plugins: [history()] });
			const at = random.of(places);
			const typed = state.apply(state.tr.insertText("\u00a7", at));
			// An element that was never closed may be, before what is typed behind it.
			const rest = [/\u00a7/, /\u00a7<\/\w+>/, /<\/\w+>\u00a7/].map((added) => write(typed.doc).replace(added, ""));
			holds(rest.includes(source), `what stays of ${source}, typed into at ${at}, is ${rest[0]}`);
			let undone = typed;
			undo(typed, (tr) => {
				undone = typed.apply(tr);
			});
			equals(write(undone.doc), source, `what is undone in ${source}`);
		}
	},
	"the paragraphs beside one that is edited stay as they are"() {
		const random = new Random(3);
		const blocks = sources.filter((source) =>
			/^<(p|h1|ul|ol|blockquote)\b.*<\/(p|P|h1|ul|ol|blockquote) ?>$/i.test(source),
		);
		for (let i = 0; i < 150; i++) {
			const [before, after] = [random.of(blocks), random.of(blocks)].map((block) => `\n  ${block}\n`);
			const source = `${before}<p class=x>Hello <b>you</b></p>${after}`;
			const state = EditorState.create({ doc: read(source) });
			const acts = [
				toggleFormat("em"),
				toggleFormat("strong"),
				setBlock("h2"),
				setAlignment("center"),
				toggleList("ol"),
				setLink("https://x.test"),
				clearFormats,
			];
			let edited = state;
			let name = 0;
			state.doc.descendants((node, at) => {
				if (node.type.name !== "paragraph" || !String(node.attrs.open).includes("class=x")) return;
				const selection = TextSelection.create(state.doc, at + 2, at + 8);
				const act = random.of(acts);
				name = acts.indexOf(act);
				act(state.apply(state.tr.setSelection(selection)), (tr) => {
					edited = state.apply(tr);
				});
			});
			const result = write(edited.doc);
			holds(result !== source, `act ${name} changes ${source}`);
			holds(result.startsWith(before ?? ""), `${result} begins as ${source} does`);
			holds(result.endsWith(after ?? ""), `${result} ends as ${source} does`);
			holds(documentOf(result, richText) !== null, `${result} can be edited`);
		}
	},
};

export default tests;
