import { Plus, Trash2 } from "lucide-react";
import { Button, IconButton } from "../../../ui/Button";
import { NumberField, TextField } from "../../../ui/Field";
import type { Config } from "../graph";
import css from "../StepFields.module.css";
import { words } from "./words";
import { type Part, known } from "./props";
import { RuleField } from "./Rule";

type Branch = { label: string; definition?: unknown; weight?: number };

const branchesOf = (config: Config): Branch[] => (Array.isArray(config.branches) ? (config.branches as Branch[]) : []);

/** freeLabel returns a letter that no edge has. */
const freeLabel = (all: Branch[]) =>
	[..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"].find((label) => !all.some((branch) => branch.label === label)) ??
	String(all.length + 1);

/** Branches edits the edges of a branch and their rules. */
export function Branches({ config, set, problem }: Part) {
	const all = branchesOf(config);
	const replaceBranch = (i: number, branch: Branch) => set({ branches: all.map((x, j) => (j === i ? branch : x)) });
	return (
		<>
			<p className={css.help}>{words.branchHelp}</p>
			{all.map((branch, i) => (
				<fieldset key={i} className={css.group}>
					<legend className="visually-hidden">{words.way({ number: i + 1 })}</legend>
					<div className={css.line}>
						<TextField
							label={words.label}
							path={`branches[${i}].label`}
							value={branch.label}
							maxLength={64}
							onChange={(label) => replaceBranch(i, { ...branch, label })}
							error={problem(`branches[${i}]: label`)}
						/>
						{all.length > 1 && (
							<IconButton
								label={words.removeWay({ name: branch.label })}
								icon={<Trash2 aria-hidden />}
								onClick={() => set({ branches: all.filter((_, j) => j !== i) })}
							/>
						)}
					</div>
					<RuleField
						value={branch.definition}
						onChange={(definition) => replaceBranch(i, { ...branch, definition })}
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

/** Shares edits the edges of a split and their weights. */
export function Shares({ config, set, problem }: Part) {
	const all = branchesOf(config);
	const replaceBranch = (i: number, branch: Branch) => set({ branches: all.map((x, j) => (j === i ? branch : x)) });
	return (
		<>
			<p className={css.help}>{words.splitHelp}</p>
			{all.map((branch, i) => (
				<div key={i} className={css.line}>
					<TextField
						label={words.label}
						value={branch.label}
						maxLength={64}
						onChange={(label) => replaceBranch(i, { ...branch, label })}
						error={problem(`branches[${i}]: label`)}
					/>
					<NumberField
						label={words.weight}
						min={0}
						value={branch.weight}
						onChange={(value) => replaceBranch(i, { ...branch, weight: known(value) })}
						error={problem(`branches[${i}].weight`)}
					/>
					{all.length > 2 && (
						<IconButton
							label={words.removeWay({ name: branch.label })}
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
