import { FolderPlus, Plus } from "lucide-react";
import { useContext } from "react";
import { catalogue } from "../../base/words/catalogue";
import { Button } from "../../ui/Button";
import { Select } from "../../ui/Field";
import { Menu } from "../../ui/Menu";
import css from "./Builder.module.css";
import { type Fault, groupProblem } from "./faults";
import type { FieldInfo } from "./fields";
import { conditionAt, deepest, type Group, heightOf, isGroup, pathText, replaceAt } from "./groups";
import { kindChoices } from "./leafControl";
import { LeafRow } from "./LeafRow";
import { newLeaf } from "./leaves";
import { ConditionMenu, Handle, keysOf, Moving, placeOf } from "./moves";
import { StartEvent } from "./startEvent";

const words = catalogue("rules.group", {
	all: "all of these",
	any: "any of these",
	logic: "Match",
	is: "Contacts who match",
	isNot: "Contacts who do not match",
	add: "Add condition",
	group: "Add group",
	groupName: "Group {number}",
});

type Props = {
	group: Group;
	path: number[];
	root: Group;
	fields: FieldInfo[];
	onChange: (group: Group) => void;
	fault?: Fault | null;
};

/** GroupEditor edits a group of conditions, of which all or any must hold, and the groups in it. */
export function GroupEditor({ group, path, root, fields, onChange, fault }: Props) {
	const moves = useContext(Moving);
	const startEvent = useContext(StartEvent);
	const isTop = path.length === 0;
	const set = (next: Group) => onChange(isTop ? next : replaceAt(root, path, next));
	const place = [...path, group.conditions.length];
	const problem = groupProblem(fault, pathText(path));
	const name = isTop ? words.is : words.groupName({ number: (path.at(-1) ?? 0) + 1 });
	const around = conditionAt(root, path.slice(0, -1));
	const isLast = around && isGroup(around) ? (path.at(-1) ?? 0) === around.conditions.length - 1 : true;
	const canWrap = !isTop && path.length + heightOf(group) < deepest;
	const inside = { root, fields, onChange, fault };
	return (
		<fieldset
			className={css.group}
			data-depth={path.length}
			{...placeOf(moves, path)}
			onKeyDown={isTop ? undefined : keysOf(moves, path, canWrap)}
		>
			<legend className="visually-hidden">{name}</legend>
			<div className={css.head}>
				{!isTop && <Handle path={path} name={name} />}
				<div className={css.logic}>
					<Select
						label={words.is}
						hideLabel
						value={group.negate ? "not" : "is"}
						onChange={(value) => set({ ...group, negate: value === "not" || undefined })}
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
				</div>
				{!isTop && <ConditionMenu path={path} isLast={isLast} canWrap={canWrap} isOfGroup />}
			</div>
			{problem && (
				<p role="alert" className={css.fault}>
					{problem}
				</p>
			)}
			<ol className={css.conditions}>
				{group.conditions.map((condition, i) => (
					<li key={`${i}-${isGroup(condition) ? "g" : "l"}`}>
						{isGroup(condition) ? (
							<GroupEditor group={condition} path={[...path, i]} {...inside} />
						) : (
							<LeafRow leaf={condition} path={[...path, i]} isLast={i === group.conditions.length - 1} {...inside} />
						)}
					</li>
				))}
			</ol>
			<div className={css.head}>
				<Menu
					small
					start
					label={words.add}
					actions={kindChoices(startEvent).map((kind) => ({
						...kind,
						run: () => {
							moves?.noteAdded(place);
							set({ ...group, conditions: [...group.conditions, newLeaf(kind.id)] });
						},
					}))}
				>
					<Plus aria-hidden />
					{words.add}
				</Menu>
				{path.length < deepest - 1 && (
					<Button
						small
						variant="quiet"
						icon={<FolderPlus aria-hidden />}
						onClick={() => {
							moves?.noteAdded([...place, 0]);
							const logic = group.logic === "and" ? "or" : "and";
							set({ ...group, conditions: [...group.conditions, { logic, conditions: [newLeaf("field")] }] });
						}}
					>
						{words.group}
					</Button>
				)}
			</div>
		</fieldset>
	);
}
