import { useState } from "react";
import { catalogue } from "../base/words/catalogue";
import { Button } from "./Button";
import { Dialog } from "./Dialog";
import { Diff } from "./Diff";
import { Radios } from "./Field";
import css from "./Versions.module.css";

const words = catalogue("shell.versions", {
	title: "Two versions of the same part",
	mine: "Yours",
	theirs: "Theirs",
	keep: "Keep",
	compared: "{part}: their text and yours",
	legend: "− theirs, + yours",
	save: "Save",
	later: "Decide later",
	empty: "Empty",
});

/** Version is a part that two people changed differently: what each of them made of it, as text. */
export type Version = { id: string; name: string; mine: string; theirs: string; code?: boolean };

type Props = {
	text: string;
	versions: Version[];
	onResolve: (theirs: Set<string>) => void;
	onClose: () => void;
};

/** Versions asks, for each part that both sides have changed, which of the two versions stays. */
export function Versions({ text, versions, onResolve, onClose }: Props) {
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
			footer={
				<>
					<Button onClick={onClose}>{words.later}</Button>
					<Button type="submit" variant="primary">
						{words.save}
					</Button>
				</>
			}
		>
			<p>{text}</p>
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
