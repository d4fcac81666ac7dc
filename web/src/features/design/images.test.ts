import { equals, holds, type Tests } from "../../base/testing";
import { holdsImage, insertImages, mailWidth, roomOf, setImage } from "./images";
import { applied } from "./model/acts";
import { parse } from "./model/parse";
import { type ElementNode, type Tree, walk } from "./model/tree";

const read = (text: string, fragment = false) => parse(text, fragment) as Tree;
const mail = (inner: string, attributes = "") => `<mjml><mj-body${attributes}>${inner}</mj-body></mjml>`;
const find = (tree: Tree, tag: string) =>
	[...walk(tree.root)].find((node): node is ElementNode => node.kind === "element" && node.tag === tag) as ElementNode;
const image = (width: number, height = 100) => ({
	url: "https://example.com/_q/a/1/2.png?a=1&b=2",
	name: "spring-sale.png",
	width,
	height,
});
const url = image(1).url;

const tests: Tests = {
	"the room of an image is that of its column without padding"() {
		const column = (inner: string, attributes = "") => `<mj-column${attributes}>${inner}</mj-column>`;
		const pair = (attributes: string) => column("<mj-image />", attributes) + column("");
		const cases: [inner: string, attributes: string, room: number][] = [
			[`<mj-section>${column("<mj-image />")}</mj-section>`, "", 550],
			[`<mj-section>${column("<mj-image padding='0' />")}</mj-section>`, ' width="640px"', 640],
			[`<mj-section padding="20px 10px 0 30px">${column("<mj-image padding-left='0' />")}</mj-section>`, "", 535],
			[`<mj-section>${pair("")}</mj-section>`, "", 250],
			[`<mj-section>${pair(' width="25%"')}</mj-section>`, "", 100],
			[`<mj-section>${pair(' width="200px" padding="0 5px"')}</mj-section>`, "", 140],
			[`<mj-wrapper padding="10px"><mj-section>${column("<mj-image />")}</mj-section></mj-wrapper>`, "", 530],
			[`<mj-section><mj-group width="50%">${pair("")}</mj-group>${column("")}</mj-section>`, "", 100],
			["<mj-hero><mj-image /></mj-hero>", "", 550],
		];
		for (const [inner, attributes, room] of cases) {
			const tree = read(mail(inner, attributes));
			equals(roomOf(tree, find(tree, "mj-image")), room, inner);
		}
		const fragment = read("<mj-image />", true);
		equals([roomOf(fragment, find(fragment, "mj-image")), mailWidth(fragment)], [550, 600], "a fragment");
	},

	"an image is chosen in one act"() {
		const set = (code: string, width: number, name = "src", alt?: string) => {
			const text = mail(`<mj-section><mj-column>${code}</mj-column></mj-section>`);
			const tree = read(text);
			const element = [...walk(tree.root)].find((node) => node.from === text.indexOf(code)) as ElementNode;
			const act = setImage(tree, element, name, image(width), alt);
			if (!act) return null;
			holds(act.changes.length === 1 && act.select === element.from, "it is one change of the element");
			return /<mj-column>(.*)<\/mj-column>/.exec(applied(text, act.changes))?.[1] ?? null;
		};
		const cases: [code: string, width: number, alt: string | undefined, want: string | null][] = [
			['<mj-image src="" />', 1200, undefined, `<mj-image src="${url}" alt="spring sale" />`],
			["<mj-image alt='' src='x' />", 200, undefined, `<mj-image alt='' src='${url}' width='200px' />`],
			[
				'<mj-image src="x" alt="A" width="100px" height="50px" />',
				200,
				undefined,
				`<mj-image src="${url}" alt="A" width="100px" />`,
			],
			[
				'<mj-image src="x" alt="A" width="300px" />',
				200,
				'B "&lt;"',
				`<mj-image src="${url}" alt="B &quot;&amp;lt;&quot;" width="200px" />`,
			],
			[`<mj-image src="${url}" alt="A" />`, 600, undefined, null],
		];
		for (const [code, width, alt, want] of cases) equals(set(code, width, "src", alt), want, code);
	},

	"a background has no alternative text, and a hero knows its size"() {
		for (const [tag, want] of [
			["mj-section", ""],
			["mj-hero", ' background-width="900px" background-height="300px"'],
		] as const) {
			const tree = read(mail(`<${tag}></${tag}>`));
			const act = setImage(tree, find(tree, tag), "background-url", image(900, 300));
			equals(act && applied(tree.text, act.changes), mail(`<${tag} background-url="${url}"${want}></${tag}>`), tag);
		}
		equals(["src", "thumbnails-src", "background-url", "left-icon", "href", "srcset", "base-url"].map(holdsImage), [
			true,
			true,
			true,
			true,
			false,
			false,
			false,
		]);
	},

	"images are inserted in one act, and none is blown up"() {
		const images = [
			{ ...image(100), alt: 'A "b"' },
			{ ...image(2000), alt: "" },
		];
		const codes = `<mj-image src="${url}" alt="A &quot;b&quot;" width="100px" /><mj-image src="${url}" alt="" />`;
		const empty = read(mail(""));
		const into = insertImages(empty, { selected: null }, images);
		equals(
			into && applied(empty.text, into.changes).replaceAll(/\n\s*/g, ""),
			mail(`<mj-section><mj-column>${codes}</mj-column></mj-section>`),
			"in an empty mail",
		);
		const text = mail("<mj-section><mj-column><mj-text>1</mj-text></mj-column></mj-section>");
		const tree = read(text);
		const behind = insertImages(tree, { selected: find(tree, "mj-text") }, images);
		const place = insertImages(tree, { place: { parent: find(tree, "mj-column"), index: 0 } }, images);
		equals(
			[behind, place].map((act) => act && applied(text, act.changes).replaceAll(/\n\s*/g, "")),
			[text.replace("</mj-text>", `</mj-text>${codes}`), text.replace("<mj-text>", `${codes}<mj-text>`)],
		);
		equals(insertImages(tree, { place: { parent: find(tree, "mj-section"), index: 0 } }, images), null, "in a section");
	},
};

export default tests;
