import { Plus, Trash2 } from "lucide-react";
import { Button, IconButton } from "../../../ui/Button";
import { NumberField, TextField } from "../../../ui/Field";
import type { Config } from "../graph";
import css from "../StepFields.module.css";
import { words } from "./words";
import { type Part, known } from "./part";
import { RuleField } from "./Rule";

type Branch = { label: string; definition?: unknown; weight?: number };

const branchesOf = (c: Config): Branch[] => (Array.isArray(c.branches) ? (c.branches as Branch[]) : []);

/** freeLabel returns a letter that no way has. */
const freeLabel = (all: Branch[]) =>
	[..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"].find((l) => !all.some((b) => b.label === l)) ?? String(all.length + 1);

/** Branches edits the ways of a branch and their rules. */
export function Branches({ config: c, set, problem }: Part) {
	const all = branchesOf(c);
	const put = (i: number, b: Branch) => set({ branches: all.map((x, j) => (j === i ? b : x)) });
	return (
		<>
			<p className={css.help}>{words.branchHelp}</p>
			{all.map((b, i) => (
				<fieldset key={i} className={css.group}>
					<legend className="visually-hidden">{words.way({ number: i + 1 })}</legend>
					<div className={css.line}>
						<TextField
							label={words.label}
							path={`branches[${i}].label`}
							value={b.label}
							maxLength={64}
							onChange={(label) => put(i, { ...b, label })}
							error={problem(`branches[${i}]: label`)}
						/>
						{all.length > 1 && (
							<IconButton
								label={words.removeWay({ name: b.label })}
								icon={<Trash2 aria-hidden />}
								onClick={() => set({ branches: all.filter((_, j) => j !== i) })}
							/>
						)}
					</div>
					<RuleField
						value={b.definition}
						onChange={(definition) => put(i, { ...b, definition })}
						error={problem(`branches[${i}].definition`)}
					/>
				</fieldset>
			))}
			<div>
				<Button
					small
					icon={<Plus aria-hidden />}
					onClick={() =>
						set({ branches: [...all, { label: freeLabel(all), definition: { logic: "and", conditions: [] } }] })
					}
				>
					{words.addWay}
				</Button>
			</div>
		</>
	);
}

/** Shares edits the ways of a split and their weights. */
export function Shares({ config: c, set, problem }: Part) {
	const all = branchesOf(c);
	const put = (i: number, b: Branch) => set({ branches: all.map((x, j) => (j === i ? b : x)) });
	return (
		<>
			<p className={css.help}>{words.splitHelp}</p>
			{all.map((b, i) => (
				<div key={i} className={css.line}>
					<TextField
						label={words.label}
						value={b.label}
						maxLength={64}
						onChange={(label) => put(i, { ...b, label })}
						error={problem(`branches[${i}]: label`)}
					/>
					<NumberField
						label={words.weight}
						min={0}
						value={b.weight}
						onChange={(n) => put(i, { ...b, weight: known(n) })}
						error={problem(`branches[${i}].weight`)}
					/>
					{all.length > 2 && (
						<IconButton
							label={words.removeWay({ name: b.label })}
							icon={<Trash2 aria-hidden />}
							onClick={() => set({ branches: all.filter((_, j) => j !== i) })}
						/>
					)}
				</div>
			))}
			{problem("branches") && <p role="alert">{problem("branches")}</p>}
			<div>
				<Button
					small
					icon={<Plus aria-hidden />}
					onClick={() => set({ branches: [...all, { label: freeLabel(all), weight: 50 }] })}
				>
					{words.addWay}
				</Button>
			</div>
		</>
	);
}
