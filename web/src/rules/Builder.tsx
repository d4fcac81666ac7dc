import { ArrowDown, ArrowUp, Copy, FolderPlus, Plus, Trash2 } from "lucide-react";
import { useContext, useState } from "react";
import { Button, IconButton } from "../ui/Button";
import { Select, TextArea } from "../ui/Field";
import { Menu } from "../ui/Menu";
import { catalogue } from "../words/catalogue";
import css from "./Builder.module.css";
import { type FieldInfo, useRuleFields } from "./fields";
import { EventRules, LeafEditor } from "./LeafEditor";
import { type Condition, deepest, type Group, insertAt, isGroup, type Kind, type Leaf, leafWords, newLeaf, pathText, replaceAt } from "./leaves";

const words = catalogue({
	all: "all of these",
	any: "any of these",
	logic: "Match",
	not: "none",
	negate: "but not",
	is: "Contacts who match",
	isNot: "Contacts who do not match",
	add: "Add a condition",
	group: "Add a group",
	remove: "Remove",
	removeGroup: "Remove the group",
	duplicate: "Duplicate",
	wrap: "Put into a group",
	up: "Move up",
	down: "Move down",
	json: "JSON",
	builder: "Builder",
	bad: "This is not a group of conditions yet.",
	condition: (n: number) => `Condition ${n}`,
	groupName: (n: number) => `Group ${n}`,
});

/** Fault is a problem of the server with its path, and further ones that it found at once. */
export type Fault = { path: string; message: string; others?: { path: string; message: string }[] };

/** messageAt returns the problem at a path that passes a test. */
function messageAt(fault: Fault | null | undefined, is: (path: string) => boolean): string | undefined {
	return fault ? [fault, ...(fault.others ?? [])].find((f) => is(f.path.replace(/^definition\.?/, "")))?.message : undefined;
}

type Props = {
	value: Group;
	onChange: (g: Group) => void;
	/** A problem of the server with its path. */
	fault?: Fault | null;
};

/** Builder edits a rule: groups of conditions, as sentences or as JSON. */
export function Builder({ value, onChange, fault }: Props) {
	const fields = useRuleFields();
	const [text, setText] = useState<string | null>(null);
	const [bad, setBad] = useState(false);
	return (
		<div className={css.builder}>
			<div className={css.top}>
				<Button small look="quiet" onClick={() => setText(text === null ? JSON.stringify(value, null, 2) : null)}>
					{text === null ? words.json : words.builder}
				</Button>
			</div>
			{text === null ? (
				<GroupEditor group={value} path={[]} root={value} fields={fields} onChange={onChange} fault={fault} />
			) : (
				<TextArea
					code
					rows={16}
					label={words.json}
					hideLabel
					value={text}
					error={bad ? words.bad : fault?.message}
					onChange={(t) => {
						setText(t);
						try {
							const next = JSON.parse(t) as Group;
							if (!Array.isArray(next.conditions)) throw new Error();
							setBad(false);
							onChange(next);
						} catch {
							setBad(true);
						}
					}}
				/>
			)}
		</div>
	);
}

type Inner = { group: Group; path: number[]; root: Group; fields: FieldInfo[]; onChange: (g: Group) => void; fault?: Fault | null };

function GroupEditor({ group, path, root, fields, onChange, fault }: Inner) {
	const set = (next: Group) => onChange(path.length === 0 ? next : replaceAt(root, path, next));
	const add = (kind: Kind) => set({ ...group, conditions: [...group.conditions, newLeaf(kind, fields)] });
	const ofEvents = useContext(EventRules);
	const kinds = (Object.entries(leafWords.kinds) as [Kind, string][]).filter(([kind]) => ofEvents || kind !== "trigger_event");
	const here = pathText(path);
	const faulty = messageAt(fault, (at) => at === here);
	return (
		<fieldset className={css.group} data-depth={path.length}>
			<legend className="visually-hidden">{path.length === 0 ? words.is : words.groupName((path.at(-1) ?? 0) + 1)}</legend>
			<div className={css.head}>
				<Select
					label={words.is}
					hideLabel
					value={group.negate ? "not" : "is"}
					onChange={(v) => set({ ...group, negate: v === "not" || undefined })}
					choices={[
						{ value: "is", label: words.is },
						{ value: "not", label: words.isNot },
					]}
				/>
				<Select
					label={words.logic}
					hideLabel
					value={group.logic}
					onChange={(logic) => set({ ...group, logic: logic as "and" | "or" })}
					choices={[
						{ value: "and", label: words.all },
						{ value: "or", label: words.any },
					]}
				/>
				{path.length > 0 && <IconButton small label={words.removeGroup} icon={<Trash2 aria-hidden />} onClick={() => onChange(replaceAt(root, path, null))} />}
			</div>
			{faulty && (
				<p role="alert" className={css.fault}>
					{faulty}
				</p>
			)}
			<ol className={css.conditions}>
				{group.conditions.map((c, i) => (
					<li key={`${i}-${isGroup(c) ? "g" : "l"}`}>
						{isGroup(c) ? (
							<GroupEditor group={c} path={[...path, i]} root={root} fields={fields} onChange={onChange} fault={fault} />
						) : (
							<LeafRow leaf={c} index={i} path={[...path, i]} last={i === group.conditions.length - 1} root={root} fields={fields} onChange={onChange} fault={fault} />
						)}
					</li>
				))}
			</ol>
			<div className={css.head}>
				<Menu small start label={words.add} actions={kinds.map(([kind, name]) => ({ id: kind, label: name, run: () => add(kind) }))}>
					<Plus aria-hidden />
					{words.add}
				</Menu>
				{path.length < deepest - 1 && (
					<Button small look="quiet" icon={<FolderPlus aria-hidden />} onClick={() => set({ ...group, conditions: [...group.conditions, { logic: group.logic === "and" ? "or" : "and", conditions: [newLeaf("field", fields)] }] })}>
						{words.group}
					</Button>
				)}
			</div>
		</fieldset>
	);
}

type Row = { leaf: Leaf; index: number; path: number[]; last: boolean; root: Group; fields: FieldInfo[]; onChange: (g: Group) => void; fault?: Fault | null };

function LeafRow({ leaf, index, path, last, root, fields, onChange, fault }: Row) {
	const move = (by: number) => {
		const to = [...path.slice(0, -1), index + by];
		onChange(insertAt(replaceAt(root, path, null), to, leaf));
	};
	const put = (c: Condition | null) => onChange(replaceAt(root, path, c));
	const here = pathText(path);
	const faulty = messageAt(fault, (at) => at.startsWith(here));
	return (
		<fieldset
			aria-label={words.condition(index + 1)}
			className={css.leaf}
			data-bad={faulty ? true : undefined}
			onKeyDown={(e) => {
				if (!e.altKey) return;
				if (e.key === "ArrowUp" && index > 0) move(-1);
				else if (e.key === "ArrowDown" && !last) move(1);
				else if (e.key === "ArrowRight" && path.length < deepest) put({ logic: "and", conditions: [leaf] });
				else return;
				e.preventDefault();
			}}
		>
			<div className={css.editor}>
				<LeafEditor leaf={leaf} fields={fields} onChange={put} error={faulty} />
			</div>
			<Menu
				small
				actions={[
					index > 0 && { id: "up", label: words.up, icon: <ArrowUp aria-hidden />, run: () => move(-1) },
					!last && { id: "down", label: words.down, icon: <ArrowDown aria-hidden />, run: () => move(1) },
					{ id: "copy", label: words.duplicate, icon: <Copy aria-hidden />, run: () => onChange(insertAt(root, path, leaf)) },
					path.length < deepest && { id: "wrap", label: words.wrap, icon: <FolderPlus aria-hidden />, run: () => put({ logic: "and", conditions: [leaf] }) },
					{ id: "remove", label: words.remove, icon: <Trash2 aria-hidden />, danger: true, run: () => put(null) },
				]}
			/>
		</fieldset>
	);
}
