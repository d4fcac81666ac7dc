import { catalogue } from "../../base/words/catalogue";
import { inSentence } from "../../base/words/formats";

const words = catalogue("broadcasts.criteria", {
	criteria: {
		engagers: "People who opened or clicked",
		openers: "People who opened",
		non_openers: "People who got it and did not open",
		clickers: "People who clicked",
		non_clickers: "People who got it and did not click",
		bouncers: "People whose mail bounced",
		complainers: "People who reported it as spam",
		unsubscribers: "People who unsubscribed",
		not_received: "People in the audience who were not sent it",
	},
});

/** Criterion is what people have done by a broadcast, or not. */
export type Criterion = keyof typeof words.criteria;

/** criteria returns all of them with their words. */
export const criteria = () =>
	(Object.keys(words.criteria) as Criterion[]).map((id) => ({ id, label: words.criteria[id] }));

/** nameOf returns the words of a criterion. */
export const nameOf = (criterion: Criterion) => words.criteria[criterion];

/** segmentName is what a segment of a broadcast is called at first. */
export const segmentName = (broadcast: string, criterion: Criterion) =>
	`${broadcast}: ${inSentence(words.criteria[criterion])}`;
