import { equals, holds, type Tests } from "../../base/testing";
import { footerOf, printed } from "./brandCode";

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
