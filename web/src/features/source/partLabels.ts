import { catalogue } from "../../base/words/catalogue";
import type { Part } from "./mailParts";

const words = catalogue("source.partLabels", {
	part: "{kind}: {text}",
	heading: "Heading",
	text: "Text",
	link: "Link",
	button: "Button",
	image: "Image",
	hero: "Hero",
	table: "Table",
	social: "Social links",
	navbar: "Menu",
	accordion: "Accordion",
	carousel: "Carousel",
	raw: "Code",
});

/** partLabel names a part of a mail, such as "Button: Read more". */
export function partLabel({ tag, text }: Part): string {
	const name = tag.replace(/^mj-/, "");
	const kind =
		name === "img"
			? words.image
			: name === "a"
				? words.link
				: /^h[1-6]$/.test(name)
					? words.heading
					: ((words as unknown as { [name: string]: string })[name] ?? words.text);
	return text ? words.part({ kind, text }) : kind;
}
