import { equals, type Tests } from "../../base/testing";
import { fieldsOf } from "../rules/fields";
import type { Schema } from "./draft";
import { namesOf } from "./namesOf";

const entry = (name: string) => ({ name, label: `The ${name}`, help_text: `Help with ${name}` });

const schema = {
	parameters_schema: [entry("title")],
	sections_schema: [{ ...entry("stories"), item_schema: [entry("headline")] }, entry("bare")],
	slots_schema: [entry("footer")],
	groups_schema: [],
	expects_schema: [],
} as unknown as Schema;

const tests: Tests = {
	"code may name what is declared, and items in their section"() {
		equals(namesOf(schema, []), [
			{ kind: "parameter", name: "title", label: "The title", help: "Help with title" },
			{ kind: "section", name: "stories", label: "The stories", help: "Help with stories" },
			{ kind: "item", name: "headline", label: "The headline", help: "Help with headline", section: "stories" },
			{ kind: "section", name: "bare", label: "The bare", help: "Help with bare" },
			{ kind: "slot", name: "footer", label: "The footer", help: "Help with footer" },
		]);
	},
	"code may name fields of contacts that have a value"() {
		const names = namesOf(undefined, fieldsOf([], [], [{ segment_key: "members", name: "Members", type: "static" }]));
		const includes = (name: string) => names.some((n) => n.kind === "field" && n.name === name);
		equals(
			[includes("email"), includes("first_name"), includes("country"), includes("list"), includes("email_domain")],
			[true, true, true, false, false],
		);
		equals(
			names.every((name) => name.kind === "field" && name.label !== ""),
			true,
		);
	},
};

export default tests;
