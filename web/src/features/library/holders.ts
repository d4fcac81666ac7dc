import type { MessageUse } from "../../api/schema";
import { catalogue } from "../../base/words/catalogue";

const words = catalogue("library.holders", {
	broadcasts: "{count, plural, one {# broadcast} other {# broadcasts}}",
	sequences: "{count, plural, one {# sequence} other {# sequences}}",
});

/** holders counts what uses an entry, in words. */
export function holders(uses: MessageUse[]): string {
	const countOf = (kind: string) => new Set(uses.filter((use) => use.kind === kind).map((use) => use.name)).size;
	const [b, s] = [countOf("broadcast"), countOf("sequence")];
	return [b > 0 && words.broadcasts({ count: b }), s > 0 && words.sequences({ count: s })].filter(Boolean).join(", ");
}
