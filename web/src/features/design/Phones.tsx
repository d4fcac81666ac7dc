import { useState } from "react";
import { catalogue } from "../../base/words/catalogue";
import { Checkbox, Select, TextField } from "../../ui/Field";
import { defaultOf } from "./attributes";
import { valueName } from "./attributeNames";
import css from "./Design.module.css";
import { type Apply, Kept, refusals } from "./Kept";
import { type Act, setAttribute } from "./model/acts";
import { attributeValue } from "./model/labels";
import {
	columnsAround,
	type PhoneLook,
	phoneLook,
	phoneSettings,
	placeBelow,
	placeBeside,
	setPhoneLook,
} from "./model/phones";
import type { ElementNode, Tree } from "./model/tree";

const words = catalogue("design.phones", {
	title: "On phones",
	columns: "Columns",
	below: "Below each other",
	beside: "Beside each other",
	mixed: "Some beside each other",
	mixedHelp: "Some columns of this section are in a group and stay beside each other. Change their groups one by one.",
	groupHelp: "The group of columns has settings of its own, which would be lost. Remove them first.",
	other: "Only columns can stand beside each other. This section has something else, too.",
	fluid: "Fill the width",
	menu: "Show a menu button instead of the links",
	menuHelp: "Some mail programs show the links nevertheless.",
	shown: "Show",
	always: "Always",
	not: "Not on phones",
	only: "Only on phones",
	onlyHelp: "Outlook for Windows can show parts of it nevertheless.",
	size: "Text size in pixels",
	align: "Alignment",
	padding: "Padding",
	paddingHelp: "One number of pixels, or two: above and below, beside.",
	same: "As elsewhere",
	wrongSize: "Enter a number from 6 to 120.",
	wrongPadding: "Enter one to four numbers of pixels, such as 16 or 8 16.",
	support: "The Gmail app ignores these settings in accounts of other providers, except for how columns stand.",
	block: "A block cannot keep settings for phones. Change them in the emails that it is in.",
	blockOthers: "A block cannot keep other settings for phones. Change them in the emails that it is in.",
});

type Props = { tree: Tree; node: ElementNode; apply: Apply };

/** Phones is the one place for what is different about an element on phones. */
export function Phones({ tree, node, apply }: Props) {
	const columns = columnsAround(node);
	const settings = phoneSettings(node) ?? [];
	const look = phoneLook(tree, node);
	const isBlock = tree.root.fragment;
	const isImage = node.tag === "mj-image";
	const isNavbar = node.tag === "mj-navbar";
	const isDifferent =
		Object.values(look).some((value) => value !== undefined) ||
		attributeValue(tree, node, "fluid-on-mobile") === "true" ||
		attributeValue(tree, node, "hamburger") === "hamburger";
	const [isOpen] = useState(isDifferent);
	const set = (change: PhoneLook, typing = false) => apply(setPhoneLook(tree, node, change), typing);
	if (settings.length === 0) return null;
	return (
		<details className={css.more} open={isOpen} data-path="phones">
			<summary>{words.title}</summary>
			<div className={css.fields}>
				{columns && <ColumnsField tree={tree} node={node} apply={apply} />}
				{isImage && (
					<YesNo tree={tree} node={node} apply={apply} name="fluid-on-mobile" on="true" label={words.fluid} />
				)}
				{isNavbar && (
					<YesNo
						tree={tree}
						node={node}
						apply={apply}
						name="hamburger"
						on="hamburger"
						label={words.menu}
						help={words.menuHelp}
					/>
				)}
				{isBlock && <p className={css.hint}>{columns || isImage || isNavbar ? words.blockOthers : words.block}</p>}
				{!isBlock && (
					<>
						<Select
							label={words.shown}
							path="phones-shown"
							help={look.shown === "only" ? words.onlyHelp : undefined}
							value={look.shown ?? ""}
							onChange={(value) => set({ shown: (value || undefined) as PhoneLook["shown"] })}
							choices={[
								{ value: "", label: words.always },
								{ value: "not", label: words.not },
								{ value: "only", label: words.only },
							]}
						/>
						{settings.includes("size") && (
							<Kept
								value={look.size?.replace(/px$/, "") ?? ""}
								write={(text) =>
									text === ""
										? set({ size: undefined }, true)
										: isSize(text) && set({ size: `${Number(text)}px` }, true)
								}
								errorOf={(text) => (isSize(text) || text === "" ? refusals.refused : words.wrongSize)}
							>
								{(field) => (
									<TextField
										{...field}
										label={words.size}
										path="phones-size"
										placeholder={words.same}
										inputMode="decimal"
										autoComplete="off"
									/>
								)}
							</Kept>
						)}
						{settings.includes("align") && (
							<Select
								label={words.align}
								path="phones-align"
								value={look.align ?? ""}
								onChange={(value) => set({ align: value || undefined })}
								choices={[
									{ value: "", label: words.same },
									...["left", "center", "right"].map((value) => ({ value, label: valueName(value) })),
								]}
							/>
						)}
						{settings.includes("padding") && (
							<Kept
								value={look.padding?.replaceAll("px", "") ?? ""}
								write={(text) => {
									const written = paddingIn(text);
									return written !== null && set({ padding: written || undefined }, true);
								}}
								errorOf={(text) => (paddingIn(text) === null ? words.wrongPadding : undefined)}
							>
								{(field) => (
									<TextField
										{...field}
										label={words.padding}
										help={words.paddingHelp}
										path="phones-padding"
										placeholder={words.same}
										autoComplete="off"
										spellCheck={false}
									/>
								)}
							</Kept>
						)}
						<p className={css.hint}>{words.support}</p>
					</>
				)}
			</div>
		</details>
	);
}

const isSize = (text: string) => /^\d+(\.\d+)?$/.test(text.trim()) && Number(text) >= 6 && Number(text) <= 120;

/** paddingIn returns a padding as it is written; "" of none, null of what is no padding. */
function paddingIn(text: string): string | null {
	const all = text.trim().split(/\s+/).filter(Boolean);
	if (all.length > 4 || !all.every((one) => /^\d+(\.\d+)?(px|%)?$/.test(one))) return null;
	return all.map((one) => (/^[\d.]+$/.test(one) ? `${one}px` : one)).join(" ");
}

function ColumnsField({ tree, node, apply }: Props) {
	const columns = columnsAround(node);
	if (!columns) return null;
	const { section, group, stand } = columns;
	const act: Act | null = group ? placeBelow(tree, group) : placeBeside(tree, section);
	const why = { below: words.other, beside: words.groupHelp, mixed: words.mixedHelp }[stand];
	const isFixed = stand === "mixed" || act === null;
	return (
		<Select
			label={words.columns}
			path="phones-columns"
			help={isFixed ? why : undefined}
			value={stand}
			onChange={() => apply(act)}
			choices={[
				{ value: "below", label: words.below, disabled: isFixed },
				{ value: "beside", label: words.beside, disabled: isFixed },
				...(stand === "mixed" ? [{ value: "mixed", label: words.mixed, disabled: true }] : []),
			]}
		/>
	);
}

/** YesNo is an attribute that is there or not. */
function YesNo({
	tree,
	node,
	apply,
	name,
	on,
	label,
	help,
}: Props & { name: string; on: string; label: string; help?: string }) {
	const value = attributeValue(tree, node, name) ?? defaultOf(tree, node, name);
	const isGiven = defaultOf(tree, node, name) === on;
	return (
		<Checkbox
			label={label}
			help={help}
			path={name}
			checked={value === on}
			onChange={(checked) => apply(setAttribute(tree, node, name, checked === isGiven ? null : checked ? on : "false"))}
		/>
	);
}
