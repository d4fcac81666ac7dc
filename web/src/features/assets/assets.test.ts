import type { AssetRow } from "../../api/schema";
import { equals, type Tests } from "../../base/testing";
import { altOf, filesOf, hasFiles, isCode, localOf, markupOf } from "./assets";

const image = (parts: Partial<AssetRow> = {}) =>
	({ url: "https://example.com/a/1.png", name: "hero.png", width: 400, height: 300, ...parts }) as AssetRow;

const dropped = (...types: string[]) =>
	({ files: types.map((type) => ({ type })), types: ["Files"] }) as unknown as DataTransfer;

const tests: Tests = {
	"an image is shown as wide as it is, and at most as a mail"() {
		equals(markupOf(image(), "html"), '<img src="https://example.com/a/1.png" alt="hero" width="400" height="300">');
		equals(markupOf(image(), "mjml"), '<mj-image src="https://example.com/a/1.png" alt="hero" width="400px" />');
		equals(
			markupOf(image({ width: 1200, height: 900 }), "html"),
			'<img src="https://example.com/a/1.png" alt="hero" width="600" height="450">',
		);
	},
	"its text is made of its name, and safe in code"() {
		const names: [name: string, alt: string][] = [
			["summer_sale-2026.jpeg", "summer sale 2026"],
			["a.b.png", "a.b"],
			['"<&>.gif', "&quot;&lt;&amp;>"],
			["plain", "plain"],
		];
		for (const [name, alt] of names) equals(/alt="([^"]*)"/.exec(markupOf(image({ name }), "mjml"))?.[1], alt, name);
		equals(altOf({ name: '"<&>_b.gif' }), '"<&> b', "as people read it");
	},
	"the application loads it from its own address"() {
		equals(localOf(image({ url: "https://img.example.com/assets/1.png?x=1" })), "/assets/1.png");
	},
	"files are taken from what is dropped, and those with text are known"() {
		const files = filesOf(
			dropped("image/png", "text/plain", "image/svg+xml", "", "application/json", "application/pdf"),
		);
		equals(
			files.filter((file) => !isCode(file)).map((file) => file.type),
			["image/png", "image/svg+xml", "application/pdf"],
		);
		equals(
			[filesOf(null), hasFiles(null), hasFiles(dropped()), hasFiles({ types: ["text/html"] } as never)],
			[[], false, true, false],
		);
	},
};

export default tests;
