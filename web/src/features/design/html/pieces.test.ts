import { equals, holds, type Tests } from "../../../base/testing";
import type { Change } from "../../../ui/editor/changeBetween";
import { applied } from "../model/acts";
import { canOpen, isSafe, listed, type Piece, piecesOf, setText, setValues, valueIn } from "./pieces";

const at = (html: string, part: string): Piece => {
	const piece = piecesOf(html).get(html.indexOf(part));
	if (!piece) throw new Error(`no piece at ${part}`);
	return piece;
};
const names = (html: string) => listed(piecesOf(html)).map(({ tag, words }) => `${tag}: ${words}`);
const make = (html: string, piece: Piece, changes: Change[]) => {
	const next = applied(html, changes);
	return isSafe(html, piece, next) ? next : null;
};

const tests: Tests = {
	"texts, links and images are pieces, and what builds a tag or hides one is none"() {
		equals(
			names('<TD class="a">Hi <b>there</b></TD><p>a <a href=x>link</a></p><img alt="A dog"><div><div>b</div></div>'),
			["TD: Hi there", "p: a link", "a: link", "img: A dog", "div: b"].map((name) => name.replace("TD", "td")),
		);
		equals(
			names("<!-- <p>a</p> --><!--[if mso]><p>b</p><![endif]--><style>p{}<p>c</p></style><title><p>d</p></title>"),
			[],
		);
		equals(names("<p {% if a %}id=1{% endif %}>a</p><{{ tag }}>b</p><p id={{ id }}>c</p>"), ["p: c"]);
		equals(names("{% raw %}<p>{{ a }}</p>{% endraw %}<p>{% if a > b %}x{% endif %}</p>"), [
			"p: {% if a > b %}x{% endif %}",
		]);
		equals(names("<p>one<p>two</p><li>three<td><table><tr><td>four</td></tr></table></td>"), ["p: two", "td: four"]);
		equals(names("<p> &nbsp; </p><td></td>"), []);
	},

	"a text that only holds an image is not opened"() {
		holds(!canOpen(at('<td><img src="a"></td>', "<td")), "an image");
		holds(canOpen(at("<td>&nbsp;</td>", "<td")) && canOpen(at("<td>a</td>", "<td")), "texts");
	},

	"only the range of a value changes"() {
		const html = `<p><a  HREF = 'https://a.test/?a=1&amp;b={{ "x>'" | size }}' id=1>x</a><img src=a.png/><img alt src="b"></p>`;
		const link = at(html, "<a ");
		equals(valueIn(html, link, "href"), `https://a.test/?a=1&b={{ "x>'" | size }}`);
		equals(make(html, link, setValues(html, link, { href: valueIn(html, link, "href") })), html, "unchanged");
		const next = "https://b.test/?a=1&copy='";
		equals(
			make(html, link, setValues(html, link, { href: next })),
			html.replace(/'https.*?}}'/, "'https://b.test/?a=1&copy=&#39;'"),
		);
		const image = at(html, "<img src=a");
		equals(
			make(html, image, setValues(html, image, { src: "b.png", alt: 'A "dog"' })),
			html.replace("src=a.png/", 'src="b.png" alt="A &quot;dog&quot;"'),
		);
		const other = at(html, "<img alt");
		equals(make(html, other, setValues(html, other, { src: "b", alt: "c" })), html.replace("<img alt", '<img alt="c"'));
		equals(setValues(html, other, { alt: "" }), [], "no value");
		equals(make(html, image, setValues(html, image, { alt: "" })), html.replace("a.png/", 'a.png/ alt=""'));
		const bare = at("<img>", "<img");
		equals(make("<img>", bare, setValues("<img>", bare, { alt: "a" })), '<img alt="a">');
	},

	"only the range of a text changes, and what would change what is around it is refused"() {
		const html = "<table><tr><td>a<br>b</td><td>c</td></tr></table>";
		const cell = at(html, "<td>a");
		equals(make(html, cell, setText(cell, "<p>x</p>")), html.replace("a<br>b", "<p>x</p>"));
		for (const bad of ["x</td>", "</td><td>", "<!--", "<style>", "{% raw %}", "{% comment %}", "<p", "</table>"])
			equals(make(html, cell, setText(cell, bad)), null, bad);
	},
};

export default tests;
