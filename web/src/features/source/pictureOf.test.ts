import { equals, type Tests } from "../../base/testing";
import { pictureOf } from "./pictureOf";

const answer = { html: "<p>Hello</p>", size: 12 };
const of = (source: object, marks = true) => pictureOf({ answer, request: JSON.stringify({ source, marks }) })?.text;

const tests: Tests = {
	"a picture has the MJML that its marks are positions of"() {
		equals(of({ template: { content_mjml: "<mjml></mjml>" } }), "<mjml></mjml>");
		equals(of({ block: { content_mjml: "" } }), "");
		equals(of({ content: { body_mjml: "<mjml></mjml>", body_html: null } }), "<mjml></mjml>");
	},
	"a preview without marks, of HTML or of a mail with errors is no picture"() {
		equals(of({ template: { content_mjml: "<mjml></mjml>" } }, false) ?? null, null);
		equals(of({ content: { body_mjml: null, body_html: "<p></p>" } }) ?? null, null);
		equals(of({ broadcast_id: "1" }) ?? null, null);
		equals(pictureOf({ answer: { html: null, size: null }, request: "{}" }), null);
		equals(pictureOf(null), null);
	},
};

export default tests;
