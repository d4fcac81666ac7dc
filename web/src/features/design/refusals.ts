import { catalogue } from "../../base/words/catalogue";
import { isFixed, step } from "./model/acts";
import type { Node } from "./model/tree";
import { nameOf } from "./names";

const words = catalogue("design.refusals", {
	fixed: "“{name}” has to stay as it is: it cannot be moved, copied or deleted.",
	first: "“{name}” is at the top already.",
	last: "“{name}” is at the bottom already.",
	notThere: "“{name}” cannot stand there.",
	noPlace: "Nothing in this email can hold “{name}”.",
	changed: "The code was changed at the same moment. Please try again.",
});

/** notMoved says why a node is not moved past its neighbour. */
export function notMoved(node: Node, by: -1 | 1): string {
	const name = nameOf(node);
	if (isFixed(node)) return words.fixed({ name });
	if (step(node, by)) return words.notThere({ name });
	return by < 0 ? words.first({ name }) : words.last({ name });
}

/** fixed says that a node is not copied or removed. */
export const fixed = (node: Node) => words.fixed({ name: nameOf(node) });

/** notThere says that something may not stand where it was let go. */
export const notThere = (name: string) => words.notThere({ name });

/** noPlace says that there is nowhere to put something. */
export const noPlace = (name: string) => words.noPlace({ name });

/** changed says that the text became another one while something was done. */
export const changed = () => words.changed;
