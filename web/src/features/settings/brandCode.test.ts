import { equals, holds, type Tests } from "../../base/testing";
import { footerOf, isUnset, printed } from "./brandCode";

const look = {
	colors: { primary: "#000", secondary: null, text: "#000", background: "#fff", surface: "#fff" },
	fonts: { heading: "serif", body: "serif" },
	button: { color: null, text_color: "#fff", radius: 3 },
	width: 600,
	logo_url: null,
	footer: "",
};

const tests: Tests = {
	"the characters of a footer are no code, but its Liquid is"() {
		equals(
			printed('Kids <12 & {% if a > "b" %}{{ contact.x | default: "<" }}{% endif %}\n>'),
			'{% capture footer %}Kids &lt;12 &amp; {% if a > "b" %}{{ contact.x | default: "<" }}{% endif %}\n&gt;{% endcapture %}{{ footer | newline_to_br }}',
		);
	},
	"a brand is set once a colour, a font, the logo or the footer is"() {
		const unset = {
			...look,
			colors: { primary: "#12507b", secondary: null, text: "#1f2a35", background: "#f5f3ee", surface: "#ffffff" },
			fonts: { heading: "Georgia, Times New Roman, serif", body: "Helvetica Neue, Helvetica, Arial, sans-serif" },
		};
		equals(isUnset(unset), true);
		for (const set of [
			{ colors: { ...unset.colors, primary: "#7a1f5c" } },
			{ fonts: { ...unset.fonts, body: "serif" } },
			{ logo_url: "https://a.example/l.png" },
			{ footer: "Bricks" },
		])
			equals(isUnset({ ...unset, ...set }), false);
	},
	"a mail prints the footer if the brand has one"() {
		equals(footerOf(look), "");
		equals(footerOf({ ...look, footer: " " }), "");
		holds(
			footerOf({ ...look, footer: "Bricks" }).includes(">{{ brand.footer | newline_to_br }}<"),
			"it is not printed",
		);
	},
};

export default tests;
