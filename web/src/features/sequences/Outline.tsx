import { CornerDownRight, Flag, RotateCcw } from "lucide-react";
import { catalogue } from "../../base/words/catalogue";
import css from "./Flow.module.css";
import type { View } from "./flowView";
import { type Block, outline, type Slot, stepOf } from "./graph";
import { AddButton, Numbers, StartButton, StepButton, StepMenuButton } from "./Parts";
import { labelOf, titleOf } from "./steps";

const words = catalogue("sequences.outline", {
	label: "Steps",
	goals: "Goals, from anywhere",
	apart: "Not reachable",
	end: "The path ends",
	join: "Continues at step {number}: {title}",
	loop: "Back to step {number}: {title}",
	way: "Path: {label}",
	after: "Then",
});

/** Outline shows a graph as a list: each step, and below a step with several ways a list for each. */
export function OutlineView({ view: v, clip }: { view: View; clip: boolean }) {
	const { roots } = outline(v.graph);
	const main = roots.filter((r) => r.step.id === v.graph.entry);
	const goals = roots.filter((r) => r.step.id !== v.graph.entry && r.step.type === "goal");
	const others = roots.filter((r) => !main.includes(r) && !goals.includes(r));
	return (
		<div className={css.outline}>
			<StartButton view={v} />
			<AddButton view={v} place={{ from: null, label: null }} />
			{main.map((b) => (
				<Items key={b.step.id} view={v} block={b} clip={clip} label={words.label} />
			))}
			{goals.length > 0 && (
				<section className={css.apart} aria-label={words.goals}>
					<h2>
						<Flag aria-hidden size={14} /> {words.goals}
					</h2>
					{goals.map((b) => (
						<Items key={b.step.id} view={v} block={b} clip={clip} label={titleOf(b.step, v.names, v.graph)} />
					))}
				</section>
			)}
			{others.length > 0 && (
				<section className={css.apart} aria-label={words.apart}>
					<h2>{words.apart}</h2>
					{others.map((b) => (
						<Items key={b.step.id} view={v} block={b} clip={clip} label={titleOf(b.step, v.names, v.graph)} />
					))}
				</section>
			)}
		</div>
	);
}

/** chain returns the blocks that follow one another without a fork, and what the last of them leads to. */
function chain(b: Block): { blocks: Block[]; last: Slot | null } {
	const blocks = [b];
	let at = b;
	for (;;) {
		const [only] = at.slots;
		if (at.slots.length !== 1 || at.joins.length > 0 || !only) return { blocks, last: null };
		if (only.kind !== "block") return { blocks, last: only };
		at = only.block;
		blocks.push(at);
	}
}

function Items({ view: v, block, clip, label }: { view: View; block: Block; clip: boolean; label: string }) {
	const { blocks, last } = chain(block);
	return (
		<ol className={css.items} aria-label={label}>
			{blocks.map((b) => (
				<li key={b.step.id}>
					<div className={css.row}>
						<StepButton view={v} step={b.step} />
						<Numbers view={v} step={b.step} />
						<StepMenuButton view={v} step={b.step} clip={clip} />
					</div>
					{b.slots.length === 1 && b.slots[0] && (
						<AddButton view={v} place={{ from: b.step.id, label: b.slots[0].label }} />
					)}
					{b.slots.length > 1 && (
						<ul className={css.ways}>
							{b.slots.map((s) => (
								<li key={s.label}>
									<p className={css.way}>{labelOf(b.step, s.label)}</p>
									<AddButton view={v} place={{ from: b.step.id, label: s.label }} />
									{s.kind === "block" ? (
										<Items
											view={v}
											block={s.block}
											clip={clip}
											label={words.way({ label: labelOf(b.step, s.label) })}
										/>
									) : (
										<End view={v} slot={s} />
									)}
								</li>
							))}
						</ul>
					)}
					{b.joins.map((j) => (
						<Items key={j.step.id} view={v} block={j} clip={clip} label={words.after} />
					))}
				</li>
			))}
			{last && (
				<li>
					<End view={v} slot={last} />
				</li>
			)}
		</ol>
	);
}

/** End tells where a path ends, or goes on. */
export function End({ view: v, slot }: { view: View; slot: Slot }) {
	if (slot.kind === "end" || slot.kind === "block") return <span className={css.end}>{words.end}</span>;
	const s = stepOf(v.graph, slot.to);
	const text = (slot.kind === "loop" ? words.loop : words.join)({
		number: v.steps.indexOf(slot.to) + 1,
		title: s ? titleOf(s, v.names, v.graph) : "",
	});
	return (
		<button
			type="button"
			className={css.jump}
			onClick={() => document.querySelector<HTMLElement>(`[data-step="${slot.to}"]`)?.focus()}
		>
			{slot.kind === "loop" ? <RotateCcw aria-hidden size={14} /> : <CornerDownRight aria-hidden size={14} />}
			{text}
		</button>
	);
}
