import { catalogue } from "../../base/words/catalogue";
import { and } from "../../base/words/formats";
import type { FieldConflict } from "../../sync/merge";
import type { Version } from "../../ui/Versions";
import { type Start, startPart } from "./draft";
import { type Graph, placesOf, type Step, stepOf, targetOf } from "./graph";
import { detailOf, exitsWords, type Names, titleOf, triggerWords } from "./steps";

// What two people made of the same part of a sequence, in words.

const words = catalogue("sequences.versions", {
	first: "First step",
	removed: "Removed",
	leads: "{title}, then {next}",
	end: "the end",
	parts: { trigger: "Trigger", exits: "Leaving early", allow_reentry: "Re-entry" },
	again: "A contact can enter again after leaving",
	once: "Each contact goes through once",
	nothing: "Nothing besides what always ends it",
});

/** partName is the name of a part of the start. */
export const partName = (part: keyof Start): string => words.parts[part];

/** partWords writes a part of the start in words. */
export function partWords(part: keyof Start, start: Partial<Start>, names: Names): string {
	if (part === "trigger") return triggerWords(start.trigger?.type, start.trigger?.config ?? {}, names);
	if (part === "exits") return exitsWords(start.exits ?? {}, names) || words.nothing;
	return start.allow_reentry ? words.again : words.once;
}

/**
 * versionOf writes what each side made of a step and where it leads, or of a part of the start; where that reads the
 * same, its configuration.
 */
export function versionOf({ group, mine, theirs }: FieldConflict, own: Graph, other: Graph, names: Names): Version {
	const part = startPart(group);
	const [step, otherStep] = [mine, theirs] as (Step | null)[];
	const stepText = (step: Step | null, graph: Graph) => {
		if (!step) return words.removed;
		const next = placesOf(step)
			.map((place) => stepOf(graph, targetOf(graph, place)))
			.map((step) => (step ? titleOf(step, names, graph) : words.end));
		const title = [titleOf(step, names, graph), detailOf(step, names)].filter(Boolean).join(", ");
		return group === "" || next.length === 0 ? title : words.leads({ title, next: and([...new Set(next)]) });
	};
	const [a, b] = part
		? [partWords(part, mine as Partial<Start>, names), partWords(part, theirs as Partial<Start>, names)]
		: [stepText(step ?? null, own), stepText(otherStep ?? null, other)];
	const json = (value: unknown) => JSON.stringify(part ? value : (value as Step | null)?.config, null, 2);
	const name = part ? partName(part) : group === "" ? words.first : titleOf((step ?? otherStep) as Step, names, own);
	return { id: group, name, ...(a === b ? { mine: json(mine), theirs: json(theirs) } : { mine: a, theirs: b }) };
}
