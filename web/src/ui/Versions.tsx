import { useState } from "react";
import { catalogue } from "../base/words/catalogue";
import type { DraftStore } from "../sync/store";
import { Dialog } from "./Dialog";
import { Diff } from "./Diff";
import { Radios } from "./Field";
import css from "./Versions.module.css";

const words = catalogue("shell.versions", {
	title: "Two versions of the same part",
	text: "{who} changed the same parts in the meantime. Changes that only one of you made are kept. Choose for the rest.",
	timed: "{who} changed the same parts at {at}. Changes that only one of you made are kept. Choose for the rest.",
	somebody: "Somebody else",
	mine: "Yours",
	theirs: "Theirs",
	keep: "Keep",
	compared: "{part}: their text and yours",
	legend: "− theirs, + yours",
	settle: "Keep these versions",
	later: "Decide later",
	empty: "Empty",
	yes: "On",
	no: "Off",
});

/** Version is a part that two people changed differently: what each of them made of it, as text. */
export type Version = { id: string; name: string; mine: string; theirs: string; code?: boolean };

type Props = {
	/** Who saved the other versions, and when, as it is shown; if they are known. */
	who?: string | null;
	at?: string;
	versions: Version[];
	onResolve: (theirs: Set<string>) => void;
	onClose: () => void;
};

/** Versions asks, for each part that both sides have changed, which of the two versions stays. */
export function Versions({ who, at, versions, onResolve, onClose }: Props) {
	const name = who || words.somebody;
	const [theirs, setTheirs] = useState<ReadonlySet<string>>(new Set());
	const choose = (id: string, side: string) => {
		const next = new Set(theirs);
		if (side === "theirs") next.add(id);
		else next.delete(id);
		setTheirs(next);
	};
	return (
		<Dialog
			drawer="wide"
			title={words.title}
			onClose={onClose}
			onSubmit={() => onResolve(new Set(theirs))}
			submit={{ label: words.settle, cancel: words.later }}
		>
			<p>{at ? words.timed({ who: name, at }) : words.text({ who: name })}</p>
			{versions.map((version) => (
				<section key={version.id} className={css.clash} aria-label={version.name}>
					<h3>{version.name}</h3>
					{version.code || version.mine.includes("\n") || version.theirs.includes("\n") ? (
						<>
							<p className={css.muted}>{words.legend}</p>
							<Diff label={words.compared({ part: version.name })} before={version.theirs} after={version.mine} />
						</>
					) : (
						<dl className={css.sides}>
							<div>
								<dt>{words.mine}</dt>
								<dd>{version.mine || <i>{words.empty}</i>}</dd>
							</div>
							<div>
								<dt>{words.theirs}</dt>
								<dd>{version.theirs || <i>{words.empty}</i>}</dd>
							</div>
						</dl>
					)}
					<Radios
						label={words.keep}
						value={theirs.has(version.id) ? "theirs" : "mine"}
						onChange={(side) => choose(version.id, side)}
						choices={[
							{ value: "mine", label: words.mine },
							{ value: "theirs", label: words.theirs },
						]}
					/>
				</section>
			))}
		</Dialog>
	);
}

/** shown writes the value of a field. */
function shown(value: unknown): string {
	if (typeof value === "boolean") return value ? words.yes : words.no;
	if (Array.isArray(value) && value.every((item) => typeof item !== "object")) return value.join("\n");
	return value === null || value === undefined
		? ""
		: typeof value === "object"
			? JSON.stringify(value, null, 2)
			: String(value);
}

type ChooseProps<Row, D extends object> = {
	draft: DraftStore<Row, D>;
	names?: { [F in keyof D]?: string };
	/** The fields that are code. */
	codes?: (keyof D)[];
	onResolved?: () => void;
	onClose: () => void;
};

/** Choose asks for the versions of the fields that both sides have changed of a draft, and settles them. */
export function Choose<Row, D extends object>({
	draft,
	names,
	codes = [],
	onClose,
	onResolved = onClose,
}: ChooseProps<Row, D>) {
	const { conflict, values } = draft.state;
	if (!conflict) return null;
	const theirs = draft.codec.fieldsOf(conflict.theirs.data);
	return (
		<Versions
			who={conflict.author?.name}
			versions={conflict.conflicts.map(({ group }) => ({
				id: group,
				name: names?.[group as keyof D] ?? group,
				mine: shown(values[group as keyof D]),
				theirs: shown(theirs[group as keyof D]),
				code: codes.includes(group as keyof D),
			}))}
			onResolve={(taken) => {
				draft.resolveConflict(taken);
				onResolved();
			}}
			onClose={onClose}
		/>
	);
}
