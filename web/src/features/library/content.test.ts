import type { FullSessionContent } from "../../api/schema";
import { equals, type Tests } from "../../base/testing";
import { bodyOf, comparable, editable } from "./content";

const emptyContent = {
	subject: null,
	preheader: null,
	from_name: null,
	reply_to: null,
	template_slug: null,
	template_binding: null,
	body_mjml: null,
	body_html: null,
	body_text: null,
};

const content = (parts: object) => ({ ...emptyContent, ...parts }) as unknown as FullSessionContent;

const compiled = { body_mjml: "<mjml/>", body_html: "<p>compiled</p>", body_text: "compiled" };

const tests: Tests = {
	"content of a template is its values, other content its code"() {
		const fromTemplate = editable(
			"News",
			content({ template_slug: "t", template_binding: { parameters: {} }, ...compiled }),
		);
		equals(
			[fromTemplate.template, fromTemplate.binding, fromTemplate.mjml, fromTemplate.html, fromTemplate.text],
			["t", { parameters: {} }, "", "", ""],
		);
		const ofCode = editable("News", content(compiled));
		equals([ofCode.template, ofCode.mjml, ofCode.html, ofCode.text], ["", "<mjml/>", "", "compiled"]);
		equals(editable("News", content({ body_html: "<p>own</p>" })).html, "<p>own</p>");
	},
	"an entry without content is empty, but for its name"() {
		const { name, binding, ...rest } = editable("News", null);
		equals([name, binding, [...new Set(Object.values(rest))]], ["News", {}, [""]]);
	},
	"what was made of a template is compared, too"() {
		const c = comparable(content({ template_slug: "t", ...compiled }));
		equals([c.template, c.mjml, c.html, c.text], ["t", "<mjml/>", "", "compiled"]);
		equals(comparable(content({ template_slug: "t", body_html: "<p>x</p>" })).html, "<p>x</p>");
	},
	"what is edited and stored is the same, and empty texts are none"() {
		const cases = [
			emptyContent,
			{ subject: "Hello", from_name: "Ann", template_slug: "t", template_binding: { parameters: { a: 1 } } },
			{ subject: "Hello", preheader: "There", reply_to: "a@example.com", body_mjml: "<mjml/>", body_text: "Hi" },
			{ body_html: "<p>Hi</p>" },
		];
		for (const c of cases) {
			const body = bodyOf(editable("", content(c)));
			equals(content(body), content(c), JSON.stringify(c));
		}
	},
	"of code that is written twice, MJML is stored"() {
		const body = bodyOf({ ...editable("", null), mjml: "<mjml/>", html: "<p/>" }) as typeof emptyContent;
		equals([body.body_mjml, body.body_html], ["<mjml/>", null]);
	},
};

export default tests;
