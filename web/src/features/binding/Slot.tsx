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

const noBlocks = (tags: string[]) => (tags.length > 0 ? words.noBlocks({ tags: and(tags) }) : words.noBlocksAtAll);

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
export function Slot({ slot: s, path, value, onChange, faults, readOnly, template, picked }: Props) {
	const [choosing, setChoosing] = useState(false);
	const given = objectAt({ value }, "value");
	const strategy = typeof given.strategy === "string" ? given.strategy : s.default_strategy;
	const block = textOf(given.block_id);
	const allowed = s.allowed_strategies as Strategy[];
	const label = nameOf(s);
	const chosen = useBlock(s, block);
	const set = (name: string, v: unknown) =>
		onChange(withMember(given.strategy === undefined ? { strategy, ...given } : given, name, v));
	const choices = allowed.map((a) => ({
		value: a,
		label: words[a],
		help:
			a === "random"
				? [
						words.randomHelp({ count: s.eligible_blocks_total }),
						strategy === "random" && picked && words.now({ name: picked }),
					]
						.filter(Boolean)
						.join(" ")
				: undefined,
		why:
			readOnly && a !== strategy
				? " "
				: a !== "empty" && s.eligible_blocks_total === 0 && a !== strategy
					? noBlocks(s.tag_filter)
					: undefined,
	}));
	if (!allowed.includes(strategy as Strategy))
		choices.push({
			value: strategy as Strategy,
			label: words.other({ value: strategy }),
			help: undefined,
			why: undefined,
		});
	const scope: Scope | undefined = strategy === "fixed" ? chosen.block : undefined;
	const fault = faults(path);
	const strategyFault = faults(`${path}.strategy`);
	const blockFault = faults(`${path}.block_id`);
	return (
		<fieldset className={css.section} data-path={path} tabIndex={-1}>
			<legend>{label}</legend>
			{s.help_text && <p className={css.hint}>{s.help_text}</p>}
			{fault && <p className={css.bad}>{fault}</p>}
			<div data-path={`${path}.strategy`} tabIndex={-1}>
				<Radios
					label={words.how}
					value={strategy}
					onChange={(v) => !readOnly && set("strategy", v)}
					choices={choices}
				/>
				{strategyFault && <p className={css.bad}>{strategyFault}</p>}
			</div>
			{strategy === "fixed" && (
				<div className={css.chosen} data-path={`${path}.block_id`} tabIndex={-1}>
					{chosen.block ? (
						<>
							<BlockThumb slug={block} name={chosen.block.name} />
							<div className={css.chosenText}>
								<b>{chosen.block.name}</b>
								<Tags tags={chosen.block.tags} />
							</div>
						</>
					) : (
						<p className={css.hint}>{block === "" ? words.none : chosen.loading ? "" : words.unknown({ block })}</p>
					)}
					{!readOnly &&
						(s.eligible_blocks_total === 0 ? (
							<p className={css.hint}>
								{noBlocks(s.tag_filter)} <Link href={to.blocks()}>{words.newBlock}</Link>
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
						value={given}
						onChange={(v) => onChange({ strategy, ...v })}
						faults={faults}
						readOnly={readOnly}
					/>
				</div>
			)}
			{choosing && (
				<BlockPicker
					slot={s}
					template={template}
					current={block}
					onClose={() => setChoosing(false)}
					onChoose={(slug) => {
						setChoosing(false);
						onChange({ ...given, strategy: "fixed", block_id: slug });
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
	const at = (part: string) => (path ? `${path}.${part}` : part);
	return (
		<>
			{scope.parameters_schema.map((p) => (
				<Control
					key={p.name}
					p={p}
					path={at(`parameters.${p.name}`)}
					value={parameters[p.name]}
					error={faults(at(`parameters.${p.name}`))}
					readOnly={readOnly}
					onChange={(v) => onChange(withMember(value, "parameters", withMember(parameters, p.name, v)))}
				/>
			))}
			{scope.sections_schema.map((s) => (
				<Rows
					key={s.name}
					section={s}
					path={at(`sections.${s.name}`)}
					of={sections}
					faults={faults}
					readOnly={readOnly}
					onChange={(rows) => onChange(withMember(value, "sections", withMember(sections, s.name, rows)))}
				/>
			))}
		</>
	);
}

type Chosen = EligibleBlock | BlockRow;

/** useBlock finds a chosen block: among those of the options, else on the server. */
function useBlock(s: SlotOption, block: string): { block?: Chosen; loading: boolean } {
	const near = s.eligible_blocks.find((b) => b.slug === block);
	const far = useQuery({ ...blockQuery(block), enabled: block !== "" && near === undefined, retry: false });
	return { block: near ?? (block === "" ? undefined : far.data?.data), loading: far.isLoading };
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
	const [wanted, setWanted] = useState(false);
	const html = useQuery({ ...thumbnailQuery("block", slug, changed), enabled: wanted && slug !== "" });
	return (
		<Thumb
			html={html.data}
			label={words.preview({ name })}
			width={width}
			height={height}
			onView={() => setWanted(true)}
		/>
	);
}

/** Tags shows labels. */
export function Tags({ tags }: { tags: string[] }) {
	if (tags.length === 0) return null;
	return (
		<span className={css.tags}>
			{tags.map((t) => (
				<span key={t}>{t}</span>
			))}
		</span>
	);
}

/** BlockPicker chooses a block that fits a slot, by picture, name and tags. */
function BlockPicker({
	slot: s,
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
	const more = useQuery(taggedBlocksQuery(s.tag_filter));
	const near = new Set(s.eligible_blocks.map((b) => b.slug));
	const all = ((more.data?.data ?? []) as BlockRow[]).filter((b) =>
		s.eligible_blocks_truncated ? b.active : near.has(b.slug),
	);
	const found = all.filter((b) => `${b.name} ${b.tags.join(" ")}`.toLowerCase().includes(search.trim().toLowerCase()));
	return (
		<Dialog
			drawer="wide"
			title={words.pick({ slot: nameOf(s) })}
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
			) : found.length === 0 ? (
				<p className={css.hint}>{words.nothing}</p>
			) : (
				<ul className={css.picker}>
					{found.map((b) => (
						<li key={b.id}>
							<button
								type="button"
								aria-label={words.use({ name: b.name })}
								aria-pressed={b.slug === current || b.id === current}
								onClick={() => onChoose(b.slug)}
							>
								<BlockThumb slug={b.slug} name={b.name} changed={b.updated_at} width={200} height={120} />
								<b>{b.name}</b>
								<Tags tags={b.tags} />
							</button>
						</li>
					))}
				</ul>
			)}
		</Dialog>
	);
}
