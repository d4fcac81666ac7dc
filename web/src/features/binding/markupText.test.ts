import { equals, type Tests } from "../../base/testing";
import { hideStyles, sameMarkup, showStyles, unescapeLiquid } from "./markupText";

const tests: Tests = {
	"styles are hidden, and shown as they were"() {
		const sources: [source: string, hidden: string][] = [
			['<p style="color: red">a</p>', '<p data-style="color: red">a</p>'],
			['<td class="x" style="a:b" align="left">', '<td class="x" data-style="a:b" align="left">'],
			['<b style="x"><i style="y">', '<b data-style="x"><i data-style="y">'],
			["no style= here", "no style= here"],
			["<p>style=</p>", "<p>style=</p>"],
			['<p data-style="x">', '<p data-style="x">'],
		];
		for (const [source, hidden] of sources) equals(hideStyles(source), hidden);
		for (const [source] of sources.slice(0, 5)) equals(showStyles(hideStyles(source)), source);
		equals(hideStyles('<P STYLE="x">'), '<P data-style="x">', "capitals");
	},
	"Liquid is not escaped, the text around it is"() {
		const cases: [html: string, want: string][] = [
			["a &lt; b", "a &lt; b"],
			["{{ a }} &amp; {{ b }}", "{{ a }} &amp; {{ b }}"],
			["{% if a &lt; b &amp;&amp; c &gt; d %}&lt;{% endif %}", "{% if a < b && c > d %}&lt;{% endif %}"],
			['{{&nbsp;a&nbsp;|&nbsp;default:&nbsp;"x"&nbsp;}}', '{{ a | default: "x" }}'],
			['{{ "&amp;lt;" }}', '{{ "&lt;" }}'],
			['{{ "&amp;nbsp;" }}', '{{ "&nbsp;" }}'],
			["{{ a\n&gt; b }}", "{{ a\n> b }}"],
			["{{ open &lt;", "{{ open &lt;"],
		];
		for (const [html, expected] of cases) equals(unescapeLiquid(html), expected, html);
	},
	"differences that mean nothing are none"() {
		const same: [a: string, b: string][] = [
			["<br/>", "<br>"],
			["<br />", "<BR>"],
			["a&nbsp;b", "a\u00a0b"],
			["a  b\n c", "a b c"],
			[' <p class="x">a</p> ', "<p class='x'>a</p>"],
			["say &quot;hi&quot;", 'say "hi"'],
			["it&#39;s", "it's"],
		];
		for (const [a, b] of same) equals(sameMarkup(a, b), true, `${a} and ${b}`);
		const other: [a: string, b: string][] = [
			["<p>a</p>", "<div>a</div>"],
			["a", "b"],
			['<p class="x">a</p>', "<p>a</p>"],
			["<b>a</b>", "<b>a"],
			["a&lt;b", "a<b"],
		];
		for (const [a, b] of other) equals(sameMarkup(a, b), false, `${a} and ${b}`);
	},
};

export default tests;
