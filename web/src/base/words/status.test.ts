import { equals, holds, type Tests } from "../testing";
import { type Kind, knows, stateOf, toneNames } from "./status";

/** Some states of each kind of the API, with how good they are. */
const states: [kind: Kind, state: string, tone: string][] = [
	["broadcast", "draft", "neutral"],
	["broadcast", "sending", "progress"],
	["broadcast", "failed", "danger"],
	["contact", "active", "success"],
	["contact", "complained", "danger"],
	["recipient", "deferred", "warning"],
	["domain", "verified", "success"],
	["domainPause", "dns_lost", "danger"],
	["pause", "tenant_paused", "warning"],
	["mta", "down", "danger"],
	["hit", "bot", "neutral"],
	["webhook", "disabled", "danger"],
	["freshness", "stale", "danger"],
	["seed", "conflict", "warning"],
	["submission", "spam", "neutral"],
];

const tests: Tests = {
	"states have a word and a tone"() {
		for (const [kind, state, tone] of states) {
			const shown = stateOf(kind, state);
			equals(shown.tone, tone, `the tone of ${kind} ${state}`);
			holds(shown.word !== "" && !shown.word.includes("_"), `${kind} ${state} is called ${shown.word}`);
			holds(knows(kind, state), `${kind} ${state} has no words`);
			holds(toneNames[shown.tone] !== "", `${shown.tone} has no name`);
		}
	},
	"a sentence ends as one"() {
		for (const [kind, state] of states) {
			const { sentence } = stateOf(kind, state);
			holds(sentence === undefined || /^[A-Z].*\.$/.test(sentence), `${kind} ${state} says ${sentence}`);
		}
	},
	"an unknown state is shown as it is"() {
		equals(stateOf("job", "rolled_back_again"), { word: "rolled back again", tone: "neutral" });
		equals(stateOf("job", ""), { word: "", tone: "neutral" });
		equals(knows("job", "rolled_back_again"), false);
	},
};

export default tests;
