import { type LucideIcon, Puzzle, Repeat, SquareDashed } from "lucide-react";
import { useMemo } from "react";
import type { BlockRow, SectionEntry, SlotEntry } from "../../api/schema";
import { useCollection } from "../../base/collections";
import { catalogue } from "../../base/words/catalogue";
import { copyOf, sectionOf, slotOf } from "./blockCopy";
import type { Insertable } from "./inserting";
import type { Tree } from "./model/tree";

const words = catalogue("design.usePaletteParts", {
	sections: "Sections that repeat",
	slots: "Slots",
	blocks: "Blocks",
	copied: "Inserted as a copy that you can change.",
	text: "Text",
});

/** Addition is what the palette adds. */
export type Addition = Insertable & { id: string; name: string; icon: LucideIcon };

/** Declared is what the code of a template can contain besides elements. */
export type Declared = { sections_schema: SectionEntry[]; slots_schema: SlotEntry[] };

type Group = { title: string; help: string; additions: Addition[] };

/** usePaletteParts returns what the palette has besides snippets: what a template declares, and the blocks of the account. */
export function usePaletteParts(tree: Tree, declared?: Declared): Group[] {
	const all = useCollection("blocks").data?.data;
	const blocks = useMemo(
		() => ((all ?? []) as BlockRow[]).filter((block) => block.active && block.content_mjml),
		[all],
	);
	const copies = useMemo(() => blocks.map((block) => ({ block, inserted: copyOf(block) })), [blocks]);
	const addition = (id: string, name: string, icon: LucideIcon, inserted: Insertable | null): Addition[] =>
		inserted ? [{ ...inserted, id, name, icon }] : [];
	const named = ({ name, label }: { name: string; label: string | null }) => label || name;
	return [
		{
			title: words.sections,
			help: "",
			additions: (declared?.sections_schema ?? []).flatMap((section) =>
				addition(`section ${section.name}`, named(section), Repeat, sectionOf(section, words.text)),
			),
		},
		{
			title: words.slots,
			help: "",
			additions: (tree.root.fragment ? [] : (declared?.slots_schema ?? [])).flatMap((slot) =>
				addition(`slot ${slot.name}`, named(slot), SquareDashed, slotOf(tree, slot, blocks)),
			),
		},
		{
			title: words.blocks,
			help: words.copied,
			additions: copies.flatMap(({ block, inserted }) => addition(`block ${block.id}`, block.name, Puzzle, inserted)),
		},
	];
}
