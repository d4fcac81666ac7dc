import { holds, Random } from "../../../base/testing";
import { read, readLine } from "../../../ui/richtext/read";
import { write } from "../../../ui/richtext/write";
import type { Change } from "../../../ui/editor/changeBetween";
import { applied } from "../model/acts";
import { allowedOf, isSafe, type Piece, piecesOf, setText, setValues, valueIn } from "./pieces";

// Changes of pieces of HTML, and what has to be so after each. tools/web tries them on the documents of all tests.

const values = [
	"https://example.com/?a=1&b=2&copy=3",
	"",
	"a > b & c < \"d\" 'e'",
	'{{ x | default: "a>b" }}',
	"{{ and {",
	"{% if a < b %}1{% else %}2{% endif %}",
	"&amp; &lt; &#39;",
	"Grüße 👩‍🚀\n日本",
];
const contents = [
	"Hello",
	"",
	"a < b & c",
	"<b>bold</b><br>line",
	"{% for x in (1..3) %}<i>{{ x }}</i>{% endfor %}",
	'<a href="{{ url | default: "</td>" }}">{{ name }}</a>',
	"<!-- </td> -->",
	"<p>one<p>two",
	"</td><td>",
	"</p>",
	"<!--",
	"{% raw %}",
	"<script>",
	"<p a='",
];

type Outcome = { tried: number; refused: number; pieces: number[] };

/** tryHtml writes each piece of HTML back as it is, and changes some of them. It returns where the pieces are. */
export function tryHtml(html: string, seed: number, count: number): Outcome {
	const random = new Random(seed);
	const pieces = [...piecesOf(html).values()];
	for (const piece of pieces) keepsAll(html, piece);
	const outcome = { tried: 0, refused: 0, pieces: pieces.map((piece) => piece.from) };
	for (; outcome.tried < count && pieces.length > 0; outcome.tried++) {
		const piece = random.of(pieces);
		const works =
			piece.inner && random.below(2) > 0 ? writes(html, piece, random.of(contents)) : sets(html, piece, random);
		if (!works) outcome.refused++;
	}
	return outcome;
}

/** keepsAll fails unless a piece that is written back changes nothing. */
function keepsAll(html: string, piece: Piece) {
	const names = piece.attributes.map(({ name }) => name);
	const same = Object.fromEntries(names.map((name) => [name, valueIn(html, piece, name)]));
	holds(setValues(html, piece, same).length === 0, `the attributes at ${piece.from} change`);
	const allowed = allowedOf(piece);
	if (!piece.inner || !allowed) return;
	const inner = html.slice(piece.inner.from, piece.inner.to);
	const doc = allowed.isLine ? readLine(inner) : read(inner, allowed.blocks[0]);
	const written = doc ? write(doc) : inner;
	if (piece.isPlain) holds(written === inner, `the editor changes the text at ${piece.from}: ${inner}`);
	holds(applied(html, setText(piece, inner)) === html, `the text at ${piece.from} changes`);
}

function writes(html: string, piece: Piece, text: string): boolean {
	const next = changed(html, piece, setText(piece, text));
	if (next === null) return false;
	const { inner } = after(next, piece);
	holds(inner !== null && next.slice(inner.from, inner.to) === text, `the text at ${piece.from} is another`);
	return true;
}

function sets(html: string, piece: Piece, random: Random): boolean {
	const name = random.of(["href", "src", "alt"]);
	const value = random.of(values);
	const next = changed(html, piece, setValues(html, piece, { [name]: value }));
	if (next === null) return false;
	const now = after(next, piece);
	holds(valueIn(next, now, name) === value, `${name} at ${piece.from} is ${valueIn(next, now, name)}; want ${value}`);
	for (const { name: other } of piece.attributes)
		if (other !== name) holds(valueIn(next, now, other) === valueIn(html, piece, other), `${other} has changed, too`);
	return true;
}

/** after returns what a piece has become. */
function after(next: string, { from }: Piece): Piece {
	const now = piecesOf(next).get(from);
	if (!now) throw new Error(`the piece at ${from} is gone`);
	return now;
}

/** changed returns HTML with changes of a piece; null if they are refused. What is around the piece has to be as it was. */
function changed(html: string, piece: Piece, changes: Change[]): string | null {
	const next = applied(html, changes);
	if (!isSafe(html, piece, next)) return null;
	holds(
		next.startsWith(html.slice(0, piece.from)) && next.endsWith(html.slice(piece.to)),
		"something else has changed",
	);
	let shift = 0;
	const back = changes.map(({ from, to, insert }): Change => {
		const start = from + shift;
		shift += insert.length - (to - from);
		return { from: start, to: start + insert.length, insert: html.slice(from, to) };
	});
	holds(applied(next, back) === html, "undo does not restore it");
	return next;
}
