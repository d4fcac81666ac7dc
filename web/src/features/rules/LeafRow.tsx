import { useContext, useId, useRef, useState } from "react";
import { catalogue } from "../../base/words/catalogue";
import { useTouched } from "../../ui/errorVisibility";
import css from "./Builder.module.css";
import { type Addition, add } from "./edits";
import { type Fault, problemsIn } from "./faults";
import type { FieldInfo } from "./fields";
import { deepest, type Group, pathText, replaceAt } from "./groups";
import { additionChoices, leafControl } from "./leafControl";
import { leafIcon } from "./leafIcons";
import { kindOf, type Leaf, leafWords } from "./leaves";
import { ConditionMenu, Handle, keysOf, Moving, placeOf } from "./moves";
import { Sentence } from "./Sentence";
import { sentenceOf } from "./sentences";
import { StartEvent } from "./startEvent";
import { useKnown } from "./useKnown";

const words = catalogue("rules.leafRow", {
	condition: "Condition {number}",
	running: "Contacts whose time is not over yet are not included.",
});

type Props = {
	leaf: Leaf;
	path: number[];
	isLast: boolean;
	root: Group;
	fields: FieldInfo[];
	onChange: (group: Group) => void;
	fault?: Fault | null;
};

/** LeafRow edits one condition as a sentence. */
export function LeafRow({ leaf, path, isLast, root, fields, onChange, fault }: Props) {
	const id = useId();
	const moves = useContext(Moving);
	const startEvent = useContext(StartEvent);
	const known = useKnown(leaf, fields);
	const row = useRef<HTMLFieldSetElement>(null);
	const touched = useTouched(row);
	const [isNew] = useState(() => moves?.isAdded(path) ?? false);
	const name = words.condition({ number: (path.at(-1) ?? 0) + 1 });
	const problems = touched ? problemsIn(fault, pathText(path)) : [];
	const warning = moves?.warning(path, leaf);
	const canWrap = path.length < deepest;
	const kind = kindOf(leaf);
	const change = (next: Leaf) => onChange(replaceAt(root, path, next));
	return (
		<fieldset
			ref={row}
			id={id}
			aria-label={name}
			className={css.leaf}
			{...placeOf(moves, path)}
			data-kind={kind}
			data-bad={problems.length > 0 || undefined}
			onKeyDown={keysOf(moves, path, canWrap)}
		>
			<Handle path={path} name={name} />
			<div className={css.condition}>
				<Sentence
					of={id}
					pieces={sentenceOf(leaf, known)}
					isNew={isNew}
					problems={problems}
					control={(part) => leafControl(part, { leaf, fields, startEvent, onChange: change })}
					lead={{ part: { id: "type", text: leafWords.kinds[kind] ?? kind }, icon: leafIcon(kind) }}
					more={additionChoices(leaf)}
					onMore={(addition) => {
						const next = add(leaf, addition as Addition);
						change(next.leaf);
						return next.part;
					}}
				/>
				{leaf.operator === "not_followed" && <p className={css.note}>{words.running}</p>}
				{warning && <p className={css.warning}>{warning}</p>}
			</div>
			<ConditionMenu path={path} isLast={isLast} canWrap={canWrap} />
		</fieldset>
	);
}
