import type { PreviewAnswer, PreviewProblem } from "../../api/schema";
import type { Place } from "../../ui/focusField";
import { lineAt } from "./mailParts";

// What the server finds in a mail, by what it concerns: in the order in which it is shown, errors first.

export const kinds = ["errors", "pictures", "links", "contrast", "names", "others", "missing"] as const;
export type Kind = (typeof kinds)[number];

/** Found is something to look at, with its place. */
export type Found = Pick<PreviewProblem, "field" | "line" | "mark" | "row"> & {
	/** What is wrong; a value that is missing has a path instead. */
	problem?: PreviewProblem;
	severity?: PreviewProblem["severity"];
	path?: string;
};

const kindOf: { [code: string]: Kind } = {
	PICTURE_WITHOUT_TEXT: "pictures",
	LINK_LEADS_NOWHERE: "links",
	LOW_CONTRAST: "contrast",
	UNKNOWN_NAME: "names",
	FOREIGN_PLACEHOLDER: "names",
};

/** The size tells it. */
const clipped = "MAIL_CLIPPED";

/** foundIn returns what there is to look at in a mail. What a contact lacks counts only if it is shown for one. */
export function foundIn(answer: PreviewAnswer, isForContact: boolean): { kind: Kind; found: Found[] }[] {
	const found = new Map<Kind, Found[]>();
	const add = (kind: Kind, one: Found) => found.set(kind, [...(found.get(kind) ?? []), one]);
	for (const problem of answer.problems) {
		if (problem.severity === "error") add("errors", { ...problem, problem });
		else if (problem.code !== clipped) add(kindOf[problem.code] ?? "others", { ...problem, problem });
	}
	if (isForContact) for (const { field = "", ...missing } of answer.missing) add("missing", { ...missing, field });
	return kinds.flatMap((kind) => {
		const ofKind = found.get(kind);
		return ofKind ? [{ kind, found: ofKind }] : [];
	});
}

/** hasPlace reports whether something leads anywhere. */
export const hasPlace = ({ field, line, mark }: Found) => field !== "" || Boolean(line) || mark !== undefined;

/** placeIn returns where in a text something is; null if it is not known. A design of a text with an error is that of the text before. */
export function placeIn(found: Found, text: string): Place | null {
	const position = positionOf(found, text);
	const at = found.line ?? (position === null ? null : lineAt(text, position));
	if (!at) return null;
	return position === null || found.severity === "error" ? { at } : { at, position };
}

/** positionOf returns where in a text a place is; null if it is not known. */
function positionOf(place: Pick<Found, "line" | "mark">, text: string): number | null {
	if (place.mark !== undefined) return place.mark;
	if (!place.line) return null;
	const lines = text.split("\n");
	const line = lines[place.line - 1];
	if (line === undefined) return null;
	const start = lines.slice(0, place.line - 1).reduce((sum, before) => sum + before.length + 1, 0);
	return start + (line.length - line.trimStart().length);
}
