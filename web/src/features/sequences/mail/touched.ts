import type { MessageUse } from "../../../api/schema";
import { catalogue } from "../../../base/words/catalogue";
import { holderOf } from "../../library/holders";
import type { Graph, Step } from "../graph";
import { mailOf, versionOf } from "./mailOfStep";

const words = catalogue("sequences.mail.touched", {
	step: "This step sends the new version to everybody who reaches it from now on, also to people who are in the sequence already. Nobody gets the email twice.",
	stepPinned: "This step keeps sending version {version}. To send the new one, choose it in the settings of the step.",
	steps:
		"{count, plural, one {Another step of this sequence sends the new version, too.} other {# other steps of this sequence send the new version, too.}}",
	others: "Everything that uses the current version sends the new one: {who, list}.",
	pinned: "Not changed, because a version was chosen there: {who, list}.",
});

/** touched says what a new version of the mail of a step changes, in sentences. The uses are those of all its versions. */
export function touched(graph: Graph, step: Step, sequence: string, uses: MessageUse[]): string[] {
	const version = versionOf(step.config);
	const siblings = graph.steps.filter(
		(other) =>
			other.id !== step.id &&
			other.type === "send" &&
			mailOf(other.config) === mailOf(step.config) &&
			versionOf(other.config) === undefined,
	).length;
	const others = uses.filter((use) => use.kind !== "sequence" || use.name !== sequence);
	const who = (isPinned: boolean) => [
		...new Set(others.filter((use) => (use.version !== null) === isPinned).map(holderOf)),
	];
	const [current, pinned] = [who(false), who(true)];
	return [
		version === undefined ? words.step : words.stepPinned({ version }),
		siblings > 0 && words.steps({ count: siblings }),
		current.length > 0 && words.others({ who: current }),
		pinned.length > 0 && words.pinned({ who: pinned }),
	].filter((sentence) => sentence !== false);
}
