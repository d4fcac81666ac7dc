import type { MessageUse } from "../../api/schema";
import { catalogue } from "../../base/words/catalogue";
import { inSentence } from "../../base/words/formats";
import { stateOf } from "../../base/words/status";

const words = catalogue("library.holders", {
	broadcasts: "{count, plural, one {# broadcast} other {# broadcasts}}",
	sequences: "{count, plural, one {# sequence} other {# sequences}}",
	holder: "{kind, select, sequence {Sequence} other {Broadcast}} {name}, {status}, version {version}",
	holderAlwaysCurrent:
		"{kind, select, sequence {Sequence} other {Broadcast}} {name}, {status}, always the current version",
});

/** holders counts what uses an entry, in words. */
export function holders(uses: MessageUse[]): string {
	const countOf = (kind: string) => new Set(uses.filter((use) => use.kind === kind).map((use) => use.name)).size;
	const [b, s] = [countOf("broadcast"), countOf("sequence")];
	return [b > 0 && words.broadcasts({ count: b }), s > 0 && words.sequences({ count: s })].filter(Boolean).join(", ");
}

/** holderOf names what uses a version of an entry. */
export function holderOf(use: MessageUse): string {
	const kind = use.kind === "sequence" ? "sequence" : "broadcast";
	const holder = { kind, name: use.name, status: inSentence(stateOf(kind, use.status).word) };
	return use.version === null ? words.holderAlwaysCurrent(holder) : words.holder({ ...holder, version: use.version });
}
