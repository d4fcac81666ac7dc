import { type ReactNode, useState } from "react";
import { Button } from "../../ui/Button";
import { Select, TextArea, TextField } from "../../ui/Field";
import { toast } from "../../ui/Toast";
import { catalogue } from "../../base/words/catalogue";
import { attributeName, valueName } from "./attributeNames";
import { attributesOf, choicesOf, defaultOf, kindOf, outlookDoes, stylesIn } from "./attributes";
import { ColorTool } from "./ColorTool";
import css from "./Design.module.css";
import { ElementText } from "./ElementText";
import { AltAttribute, ImageAttribute, type Newest } from "./ImageFields";
import { holdsImage } from "./images";
import { setAttribute, setCondition, setText, unwrap, wrapInCondition } from "./model/acts";
import { type Apply, Kept, refusals } from "./Kept";
import { attributeValue, contentOf } from "./model/labels";
import { type ConditionNode, type ElementNode, isInBody, type Node, type OpaqueNode, type Tree } from "./model/tree";
import { branchName, nameOf } from "./names";
import { hasPadding } from "./padding";
import { PaddingFields } from "./PaddingFields";
import { Phones } from "./Phones";
import { withText } from "./texts";

const words = catalogue("design.inspector", {
	title: "Settings of what is selected",
	nothing: "Select something in the email or in the structure.",
	inPlace: "The text is being edited in the email.",
	html: "Content as HTML",
	more: "More settings",
	default: "Default",
	standard: "Default: {value}",
	length: "With a unit, such as 16px or 50%.",
	condition: "Condition",
	conditionOf: "Condition of: {branch}",
	conditionHelp: 'In Liquid, such as plan == "pro".',
	show: "Show only if",
	wrap: "Add condition",
	unwrap: "Remove condition, keep content",
	dropped: "This condition has no effect where it stands. Correct it in the code.",
	opaque: "It can be moved, copied and deleted here. It is edited in the code.",
	code: "Open in code",
	source: "Show the code",
});

const outlook = catalogue("design.outlook", {
	ignored: "Outlook for Windows ignores this.",
	differently: "Outlook for Windows may place and scale the image differently.",
	lowercase: "Outlook for Windows ignores small letters.",
});

type Props = {
	tree: Tree;
	node: Node | null;
	readOnly: boolean;
	apply: Apply;
	newest: Newest;
	onCode: (node: Node) => void;
	/** Whether its text is edited over the picture. */
	inPlace: boolean;
	/** What can be done with the node. */
	actions: ReactNode;
};

/** Inspector has the settings of a node. */
export function Inspector(props: Props) {
	const { node, readOnly } = props;
	return (
		<section aria-label={words.title} className={css.inspector}>
			{!node && <p className={css.hint}>{words.nothing}</p>}
			{node && (
				<>
					<div className={css.head}>
						<h2>{nameOf(node)}</h2>
						{props.actions}
					</div>
					<fieldset disabled={readOnly} className={css.fields}>
						{node.kind === "element" && <ElementFields {...props} node={node} />}
						{node.kind === "condition" && <ConditionFields {...props} node={node} />}
						{node.kind === "opaque" && <OpaqueFields {...props} node={node} />}
					</fieldset>
					<div className={css.buttons}>
						<Button small variant="quiet" onClick={() => props.onCode(node)}>
							{words.code}
						</Button>
					</div>
				</>
			)}
		</section>
	);
}

type Of<N> = Omit<Props, "node"> & { node: N };

function ElementFields({ tree, node, readOnly, inPlace, apply, newest }: Of<ElementNode>) {
	const { first, rest } = attributesOf(tree, node);
	const hasText = withText(node) !== null;
	const field = (name: string) => {
		const of = { tree, element: node, name, apply };
		if (holdsImage(name)) return <ImageAttribute key={name} {...of} newest={newest} readOnly={readOnly} />;
		return name === "alt" ? <AltAttribute key={name} {...of} /> : <AttributeField key={name} {...of} />;
	};
	return (
		<>
			{inPlace && <p className={css.hint}>{words.inPlace}</p>}
			{hasText && !inPlace && <ElementText tree={tree} node={node} readOnly={readOnly} apply={apply} />}
			{first.map(field)}
			{hasPadding(node) && <PaddingFields tree={tree} node={node} apply={apply} />}
			<Phones tree={tree} node={node} apply={apply} />
			{node.tag === "mj-table" && (
				<details className={css.more}>
					<summary>{words.html}</summary>
					<Kept value={contentOf(tree, node)} write={(html) => apply(setText(tree, node, html), true)}>
						{(field) => <TextArea {...field} label={words.html} hideLabel code rows={8} path="text" />}
					</Kept>
				</details>
			)}
			{rest.length > 0 && (
				<details className={css.more}>
					<summary>{words.more}</summary>
					<div className={css.fields}>{rest.map(field)}</div>
				</details>
			)}
			{isInBody(node.parent) && <Wrap tree={tree} node={node} apply={apply} />}
		</>
	);
}

function AttributeField({
	tree,
	element,
	name,
	apply,
}: {
	tree: Tree;
	element: ElementNode;
	name: string;
	apply: Apply;
}) {
	const { tag } = element;
	const label = attributeName(tag, name);
	const value = attributeValue(tree, element, name) ?? "";
	const standard = defaultOf(tree, element, name);
	const kind = kindOf(tag, name);
	const write = (next: string) => apply(setAttribute(tree, element, name, next === "" ? null : next), true);
	const how = outlookDoes(tag, name);
	const notes = [how && outlook[how], kind === "length" && !value && !standard && words.length];
	const help = notes.filter(Boolean).join(" ") || undefined;
	if (kind === "choice" || name === "mj-class") {
		const all = name === "mj-class" ? stylesIn(tree) : choicesOf(tag, name);
		return (
			<Select
				label={label}
				help={help}
				path={name}
				value={value}
				onChange={write}
				choices={[
					{ value: "", label: standard ? words.standard({ value: valueName(standard) }) : words.default },
					...(value && !all.includes(value) ? [{ value, label: valueName(value) }] : []),
					...all.map((choice) => ({ value: choice, label: valueName(choice) })),
				]}
			/>
		);
	}
	// A number has to have a unit.
	const finish = (text: string) => kind === "length" && /^\d+(\.\d+)?$/.test(text) && write(`${text}px`);
	return (
		<Kept value={value} write={write} finish={finish}>
			{(field) => (
				<TextField
					{...field}
					label={label}
					help={help}
					path={name}
					placeholder={standard}
					autoComplete="off"
					spellCheck={name === "title"}
					inputMode={kind === "address" ? "url" : undefined}
					before={
						kind === "color" && (
							<ColorTool label={label} tree={tree} value={value || standard} onChange={field.onChange} />
						)
					}
				/>
			)}
		</Kept>
	);
}

function Wrap({ tree, node, apply }: { tree: Tree; node: Node; apply: Apply }) {
	const [condition, setCondition] = useState("");
	const [refused, setRefused] = useState(false);
	return (
		<details className={css.more}>
			<summary>{words.show}</summary>
			<div className={css.fields}>
				<TextField
					label={words.condition}
					help={words.conditionHelp}
					error={refused ? refusals.refused : undefined}
					value={condition}
					onChange={(value) => {
						setRefused(false);
						setCondition(value);
					}}
					spellCheck={false}
					data-own-text={condition !== "" || undefined}
				/>
				<Button small onClick={() => setRefused(!apply(wrapInCondition(tree, node, node, condition)))}>
					{words.wrap}
				</Button>
			</div>
		</details>
	);
}

function ConditionFields({ tree, node, apply }: Of<ConditionNode>) {
	return (
		<>
			{!node.effective && <p className={css.warning}>{words.dropped}</p>}
			{node.branches
				.filter((branch) => branch.code !== "" && node.name !== "section" && node.name !== "capture")
				.map((branch, i) => (
					<Kept key={branch.from} value={branch.code} write={(code) => apply(setCondition(tree, branch, code), true)}>
						{(field) => (
							<TextField
								{...field}
								label={i === 0 ? words.condition : words.conditionOf({ branch: branchName(branch) })}
								help={words.conditionHelp}
								spellCheck={false}
							/>
						)}
					</Kept>
				))}
			<div className={css.buttons}>
				<Button small onClick={() => apply(unwrap(tree, node)) || toast(refusals.refused)}>
					{words.unwrap}
				</Button>
			</div>
		</>
	);
}

function OpaqueFields({ tree, node, apply }: Of<OpaqueNode>) {
	return (
		<>
			<p className={css.hint}>{words.opaque}</p>
			<details className={css.more}>
				<summary>{words.source}</summary>
				{/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keys */}
				<pre tabIndex={0} className={css.source}>
					{tree.text.slice(node.from, node.to)}
				</pre>
			</details>
			{node.what === "slot" && <Wrap tree={tree} node={node} apply={apply} />}
		</>
	);
}
