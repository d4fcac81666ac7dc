import type { MessageUse, TemplateStarter } from "../../../api/schema";
import { equals, type Tests } from "../../../base/testing";
import type { Graph, Step } from "../graph";
import { blank, chosenStarter, nameOf, pictureOf, withSubject } from "./beginning";
import { mailOf, versionOf, withMail, withVersion } from "./mailOfStep";
import { touched } from "./touched";

const send = (id: string, config: Step["config"]): Step => ({ id, type: "send", config });
const graph = (...steps: Step[]): Graph => ({ entry: steps[0]?.id ?? null, steps, edges: [] });
const use = (kind: MessageUse["kind"], name: string, version: number | null): MessageUse => ({
	kind,
	name,
	status: kind === "sequence" ? "active" : "draft",
	version,
});
const starter = (slug: string, parts: Partial<TemplateStarter> = {}) =>
	({ slug, name: slug, sample: {}, tags: [], ...parts }) as TemplateStarter;

const tests: Tests = {
	"another mail of a step is sent in its newest version"() {
		const config = { message_id: "a", version: 2, email_type_key: "news" };
		equals(withMail(config, "b"), { email_type_key: "news", message_id: "b" });
		equals(withMail(config, null), { email_type_key: "news" });
		equals(withMail(config, "a"), config);
		equals(withVersion(config, undefined), { message_id: "a", email_type_key: "news" });
		equals(versionOf(withVersion(config, 3)), 3);
		equals([mailOf({}), mailOf({ message_id: 7 }), versionOf({ version: "2" })], ["", "", undefined]);
	},
	"saving tells what sends the new version, and what does not"() {
		const first = send("1", { message_id: "a" });
		const other = send("2", { message_id: "a" });
		const pinned = send("3", { message_id: "a", version: 1 });
		const foreign = send("4", { message_id: "b" });
		const uses = [use("sequence", "Welcome", null), use("sequence", "Mine", null), use("broadcast", "May", 1)];
		equals(touched(graph(first, foreign, pinned), first, "Mine", []), [
			"This step sends the new version to everybody who reaches it from now on, also to people who are in the sequence already. Nobody gets the email twice.",
		]);
		equals(touched(graph(first, other, pinned), first, "Mine", uses).slice(1), [
			"Another step of this sequence sends the new version, too.",
			"Everything that uses the current version sends the new one: Sequence Welcome, active, always the current version.",
			"Not changed, because a version was chosen there: Broadcast May, draft, version 1.",
		]);
		equals(touched(graph(first, pinned), pinned, "Mine", []), [
			"This step keeps sending version 1. To send the new one, choose it in the settings of the step.",
			"Another step of this sequence sends the new version, too.",
		]);
	},
	"a new mail begins with the welcome, or with the first starter"() {
		const starters = [starter("digest"), starter("welcome")];
		equals(chosenStarter(starters, null)?.slug, "welcome");
		equals(chosenStarter(starters, "digest")?.slug, "digest");
		equals(chosenStarter(starters.slice(0, 1), "gone")?.slug, "digest");
		equals(chosenStarter([], null), undefined);
	},
	"a new mail is named as typed, else after its subject or its beginning"() {
		equals(nameOf({ ...blank, name: " Hello ", subject: "Hi" }, "Welcome"), "Hello");
		equals(nameOf({ ...blank, name: " ", subject: "Hi" }, "Welcome"), "Hi");
		equals(nameOf(blank, "Welcome"), "Welcome");
		equals(withSubject({ subject: "Welcome" }, { ...blank, subject: "Hi" }), { subject: "Hi" });
		equals(withSubject({ subject: "Welcome" }, { ...blank, subject: " " }), { subject: "Welcome" });
	},
	"a starter is shown without the blocks of its sample"() {
		const { template } = pictureOf(starter("welcome", { sample: { parameters: { a: 1 }, slots: { b: "c" } } }));
		equals(template?.binding, { parameters: { a: 1 } });
	},
};

export default tests;
