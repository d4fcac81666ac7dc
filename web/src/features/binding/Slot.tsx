import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import type { BlockRow, EligibleBlock, SlotOption } from "../../api/schema";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Radios, TextField } from "../../ui/Field";
import { Failure, Skeleton } from "../../ui/States";
import { Thumb } from "../../ui/Thumb";
import { catalogue } from "../../base/words/catalogue";
import { and } from "../../base/words/formats";
import css from "./Binding.module.css";
import { nameOf, objectAt, type Scope, textOf, withMember } from "./binding";
import { Control } from "./Control";
import { type Faults, Rows } from "./Rows";
import { blockQuery, taggedBlocksQuery } from "../blocks/queries";
import { thumbnailQuery } from "./queries";
import { to } from "../../base/paths";

const words = catalogue("binding.slot", {
	how: "Filled with",
	fixed: "A block you choose",
	random: "A random block",
	randomHelp:
		"When this is saved, one of the {count, plural, one {# block that fits} other {# blocks that fit}} is picked. All recipients get the same one, and it stays while these blocks stay.",
	now: "Now: {name}.",
	empty: "Nothing",
	other: "{value} (not allowed here)",
	block: "Block",
	choose: "Choose block",
	change: "Choose another",
	none: "No block selected.",
	noBlocks: "No active block has the tags {tags} and a body in the template's format.",
	noBlocksAtAll: "There is no active block with a body in the template's format.",
	newBlock: "Blocks",
	unknown: "{block} does not fit here.",
	pick: "Choose a block for {slot}",
	search: "Search blocks",
	nothing: "No block matches.",
	use: "Use {name}",
	preview: "Preview of {name}",
	cancel: "Cancel",
	values: "Values of {name}",
});

const noBlocksText = (tags: string[]) => (tags.length > 0 ? words.noBlocks({ tags: and(tags) }) : words.noBlocksAtAll);

type Strategy = "fixed" | "random" | "empty";

type Props = {
	slot: SlotOption;
	path: string;
	value: unknown;
	onChange: (value: unknown) => void;
	faults: Faults;
	readOnly?: boolean;
	/** The template, for previews of blocks in it. */
	template?: string;
	/** The block that fills the slot when it is picked by the server. */
	picked?: string | null;
};

/** Slot edits what fills a slot: a block with values of its own, one that is picked, or nothing. */
export function Slot({ slot, path, value, onChange, faults, readOnly, template, picked }: Props) {
	const [choosing, setChoosing] = useState(false);
	const fields = objectAt({ value }, "value");
	const strategy = typeof fields.strategy === "string" ? fields.strategy : slot.default_strategy;
	const block = textOf(fields.block_id);
	const allowed = slot.allowed_strategies as Strategy[];
	const label = nameOf(slot);
	const selected = useBlock(slot, block);
	const set = (name: string, value: unknown) =>
		onChange(withMember(fields.strategy === undefined ? { strategy, ...fields } : fields, name, value));
	const choices = allowed.map((a) => ({
		value: a,
		label: words[a],
		help:
			a === "random"
				? [
						words.randomHelp({ count: slot.eligible_blocks_total }),
						strategy === "random" && picked && words.now({ name: picked }),
					]
						.filter(Boolean)
						.join(" ")
				: undefined,
		disabledReason:
			readOnly && a !== strategy
				? " "
				: a !== "empty" && slot.eligible_blocks_total === 0 && a !== strategy
					? noBlocksText(slot.tag_filter)
					: undefined,
	}));
	if (!allowed.includes(strategy as Strategy))
		choices.push({
			value: strategy as Strategy,
			label: words.other({ value: strategy }),
			help: undefined,
			disabledReason: undefined,
		});
	const scope: Scope | undefined = strategy === "fixed" ? selected.block : undefined;
	const fault = faults(path);
	const strategyFault = faults(`${path}.strategy`);
	const blockFault = faults(`${path}.block_id`);
	return (
		<fieldset className={css.section} data-path={path} tabIndex={-1}>
			<legend>{label}</legend>
			{slot.help_text && <p className={css.hint}>{slot.help_text}</p>}
			{fault && <p className={css.bad}>{fault}</p>}
			<div data-path={`${path}.strategy`} tabIndex={-1}>
				<Radios
					label={words.how}
					value={strategy}
					onChange={(value) => !readOnly && set("strategy", value)}
					choices={choices}
				/>
				{strategyFault && <p className={css.bad}>{strategyFault}</p>}
			</div>
			{strategy === "fixed" && (
				<div className={css.chosen} data-path={`${path}.block_id`} tabIndex={-1}>
					{selected.block ? (
						<>
							<BlockThumb slug={block} name={selected.block.name} />
							<div className={css.chosenText}>
								<b>{selected.block.name}</b>
								<Tags tags={selected.block.tags} />
							</div>
						</>
					) : (
						<p className={css.hint}>{block === "" ? words.none : selected.loading ? "" : words.unknown({ block })}</p>
					)}
					{!readOnly &&
						(slot.eligible_blocks_total === 0 ? (
							<p className={css.hint}>
								{noBlocksText(slot.tag_filter)} <Link href={to.blocks()}>{words.newBlock}</Link>
							</p>
						) : (
							<Button small onClick={() => setChoosing(true)}>
								{block === "" ? words.choose : words.change}
							</Button>
						))}
				</div>
			)}
			{blockFault && <p className={css.bad}>{blockFault}</p>}
			{scope && scope.parameters_schema.length + scope.sections_schema.length > 0 && (
				<div className={css.nested}>
					<ScopeFields
						scope={scope}
						path={path}
						value={fields}
						onChange={(value) => onChange({ strategy, ...value })}
						faults={faults}
						readOnly={readOnly}
					/>
				</div>
			)}
			{choosing && (
				<BlockPicker
					slot={slot}
					template={template}
					current={block}
					onClose={() => setChoosing(false)}
					onChoose={(slug) => {
						setChoosing(false);
						onChange({ ...fields, strategy: "fixed", block_id: slug });
					}}
				/>
			)}
		</fieldset>
	);
}

/** ScopeFields edits the parameters and sections of a block. */
export function ScopeFields({
	scope,
	path,
	value,
	onChange,
	faults,
	readOnly,
}: {
	scope: Scope;
	path: string;
	value: unknown;
	onChange: (value: { [name: string]: unknown }) => void;
	faults: Faults;
	readOnly?: boolean;
}) {
	const parameters = objectAt(value, "parameters");
	const sections = objectAt(value, "sections");
	const pathOf = (part: string) => (path ? `${path}.${part}` : part);
	return (
		<>
			{scope.parameters_schema.map((parameter) => (
				<Control
					key={parameter.name}
					parameter={parameter}
					path={pathOf(`parameters.${parameter.name}`)}
					value={parameters[parameter.name]}
					error={faults(pathOf(`parameters.${parameter.name}`))}
					readOnly={readOnly}
					onChange={(v) => onChange(withMember(value, "parameters", withMember(parameters, parameter.name, v)))}
				/>
			))}
			{scope.sections_schema.map((section) => (
				<Rows
					key={section.name}
					section={section}
					path={pathOf(`sections.${section.name}`)}
					members={sections}
					faults={faults}
					readOnly={readOnly}
					onChange={(rows) => onChange(withMember(value, "sections", withMember(sections, section.name, rows)))}
				/>
			))}
		</>
	);
}

type Chosen = EligibleBlock | BlockRow;

/** useBlock finds a chosen block: among those of the options, else on the server. */
function useBlock(slot: SlotOption, block: string): { block?: Chosen; loading: boolean } {
	const eligible = slot.eligible_blocks.find((b) => b.slug === block);
	const ineligibleBlock = useQuery({
		...blockQuery(block),
		enabled: block !== "" && eligible === undefined,
		retry: false,
	});
	return {
		block: eligible ?? (block === "" ? undefined : ineligibleBlock.data?.data),
		loading: ineligibleBlock.isLoading,
	};
}

/** BlockThumb is a small picture of a block. */
export function BlockThumb({
	slug,
	name,
	changed,
	width = 120,
	height = 80,
}: {
	slug: string;
	name: string;
	changed?: string;
	width?: number;
	height?: number;
}) {
	const [pickerOpen, setPickerOpen] = useState(false);
	const html = useQuery({ ...thumbnailQuery("block", slug, changed), enabled: pickerOpen && slug !== "" });
	return (
		<Thumb
			html={html.data}
			label={words.preview({ name })}
			width={width}
			height={height}
			onView={() => setPickerOpen(true)}
		/>
	);
}

/** Tags shows labels. */
export function Tags({ tags }: { tags: string[] }) {
	if (tags.length === 0) return null;
	return (
		<span className={css.tags}>
			{tags.map((tag) => (
				<span key={tag}>{tag}</span>
			))}
		</span>
	);
}

/** BlockPicker chooses a block that fits a slot, by picture, name and tags. */
function BlockPicker({
	slot,
	current,
	onChoose,
	onClose,
}: {
	slot: SlotOption;
	template?: string;
	current: string;
	onChoose: (slug: string) => void;
	onClose: () => void;
}) {
	const [search, setSearch] = useState("");
	const more = useQuery(taggedBlocksQuery(slot.tag_filter));
	const eligibleSlugs = new Set(slot.eligible_blocks.map((block) => block.slug));
	const all = ((more.data?.data ?? []) as BlockRow[]).filter((block) =>
		slot.eligible_blocks_truncated ? block.active : eligibleSlugs.has(block.slug),
	);
	const matches = all.filter((block) =>
		`${block.name} ${block.tags.join(" ")}`.toLowerCase().includes(search.trim().toLowerCase()),
	);
	return (
		<Dialog
			drawer="wide"
			title={words.pick({ slot: nameOf(slot) })}
			onClose={onClose}
			footer={<Button onClick={onClose}>{words.cancel}</Button>}
		>
			<TextField
				label={words.search}
				hideLabel
				type="search"
				autoFocus
				placeholder={words.search}
				value={search}
				onChange={setSearch}
			/>
			{more.isPending ? (
				<Skeleton rows={4} height={80} />
			) : more.isError ? (
				<Failure error={more.error} retry={() => void more.refetch()} />
			) : matches.length === 0 ? (
				<p className={css.hint}>{words.nothing}</p>
			) : (
				<ul className={css.picker}>
					{matches.map((block) => (
						<li key={block.id}>
							<button
								type="button"
								aria-label={words.use({ name: block.name })}
								aria-pressed={block.slug === current || block.id === current}
								onClick={() => onChoose(block.slug)}
							>
								<BlockThumb slug={block.slug} name={block.name} changed={block.updated_at} width={200} height={120} />
								<b>{block.name}</b>
								<Tags tags={block.tags} />
							</button>
						</li>
					))}
				</ul>
			)}
		</Dialog>
	);
}
